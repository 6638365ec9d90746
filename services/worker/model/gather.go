package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// gatherWait is how long the first item of a call waits for others.
const gatherWait = 5 * time.Second

// Gatherer puts small embeddings requests of one tenant, with the same parameters,
// into one call. Requests of other kinds pass through.
type Gatherer struct {
	to   Caller
	size int

	mu     sync.Mutex
	groups map[string]*group // that still wait, by what their members have in common
}

// Gather makes calls of up to size items, or of those that came within 5 seconds.
// Below 2 it leaves requests alone.
func Gather(to Caller, size int) Caller {
	if size < 2 {
		return to
	}
	return &Gatherer{to: to, size: size, groups: map[string]*group{}}
}

// group is one call of many items.
type group struct {
	common map[string]json.RawMessage // the body without its inputs
	first  Request
	inputs []json.RawMessage
	full   chan struct{} // closed when no more fit
	done   chan struct{} // closed when answers are there
	all    []Answer
	err    error
}

// Call implements Caller.
func (g *Gatherer) Call(ctx context.Context, r Request) (Answer, error) {
	input, common, ok := parts(r)
	if !ok || r.Alone {
		return g.to.Call(ctx, r)
	}
	key, err := json.Marshal(common) // sorted
	if err != nil {
		return g.to.Call(ctx, r)
	}
	at, place := g.join(ctx, r, string(key), input, common)
	select {
	case <-at.done:
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
	if at.err != nil {
		return Answer{}, at.err
	}
	return at.all[place], nil
}

// parts takes a request of one input apart; false when it is another kind.
func parts(r Request) (input json.RawMessage, common map[string]json.RawMessage, ok bool) {
	if r.Path != Embeddings || json.Unmarshal(r.Body, &common) != nil {
		return nil, nil, false
	}
	input = bytes.TrimSpace(common["input"])
	delete(common, "input")
	return input, common, len(input) > 0 && input[0] == '"'
}

// join adds an input to the group that waits for such, and returns its place there.
// Who comes first makes the group, and sees to its call.
func (g *Gatherer) join(ctx context.Context, r Request, key string, input json.RawMessage, common map[string]json.RawMessage) (*group, int) {
	key = r.Tenant + "\n" + key
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.groups[key]
	if at == nil {
		at = &group{common: common, first: r, full: make(chan struct{}), done: make(chan struct{})}
		g.groups[key] = at
		// The call is everybody's: that the first one gives up must not end it.
		go g.run(context.WithoutCancel(ctx), key, at)
	}
	at.inputs = append(at.inputs, input)
	if len(at.inputs) == g.size {
		delete(g.groups, key)
		close(at.full)
	}
	return at, len(at.inputs) - 1
}

// run waits for the group to fill, and calls.
func (g *Gatherer) run(ctx context.Context, key string, at *group) {
	timer := time.NewTimer(gatherWait)
	defer timer.Stop()
	select {
	case <-at.full:
	case <-timer.C:
		g.mu.Lock()
		if g.groups[key] == at {
			delete(g.groups, key)
		}
		g.mu.Unlock()
	}
	defer close(at.done)
	body, err := json.Marshal(at.inputs)
	if err != nil {
		at.err = err
		return
	}
	at.common["input"] = body
	if body, err = json.Marshal(at.common); err != nil {
		at.err = err
		return
	}
	r := at.first
	r.Body = body
	answer, err := g.to.Call(ctx, r)
	var rejected *Rejected
	var large *TooLarge
	switch {
	case errors.As(err, &rejected), errors.As(err, &large), err == nil && answer.Refused:
		at.err = ErrSpoiled
	case err != nil:
		at.err = err
	default:
		at.all, at.err = split(answer, at.inputs)
	}
}

// split gives each input its own answer. Tokens are divided by the inputs' lengths.
func split(whole Answer, inputs []json.RawMessage) ([]Answer, error) {
	var body struct {
		Object string           `json:"object"`
		Model  string           `json:"model"`
		Data   []map[string]any `json:"data"`
	}
	decoder := json.NewDecoder(bytes.NewReader(whole.Body))
	decoder.UseNumber() // numbers stay as they were written
	if err := decoder.Decode(&body); err != nil || len(body.Data) != len(inputs) {
		return nil, &Failed{"status", fmt.Errorf("%d answers to %d inputs", len(body.Data), len(inputs))}
	}
	tokens := divide(whole.Usage.Prompt, inputs)
	out := make([]Answer, len(inputs))
	for _, data := range body.Data {
		index, _ := data["index"].(json.Number)
		place, err := index.Int64()
		if err != nil || place < 0 || int(place) >= len(inputs) || out[place].Body != nil {
			return nil, &Failed{"status", fmt.Errorf("an answer to input %q", index)}
		}
		data["index"] = 0
		own, err := json.Marshal(map[string]any{
			"object": body.Object, "model": body.Model, "data": []any{data},
			"usage": map[string]int{"prompt_tokens": tokens[place], "total_tokens": tokens[place]},
		})
		if err != nil {
			return nil, err
		}
		out[place] = Answer{Status: http.StatusOK, RequestID: whole.RequestID, Body: own, Usage: Usage{Prompt: tokens[place]}}
	}
	return out, nil
}

// divide divides tokens in proportion to the inputs' lengths, without a rest.
func divide(tokens int, inputs []json.RawMessage) []int {
	length := 0
	for _, input := range inputs {
		length += len(input)
	}
	out, before, given := make([]int, len(inputs)), 0, 0
	for i, input := range inputs {
		before += len(input)
		out[i] = tokens*before/length - given
		given += out[i]
	}
	return out
}
