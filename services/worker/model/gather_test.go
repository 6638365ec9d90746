package model

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vectors answers embeddings with the length of each text.
type vectors struct {
	mu    sync.Mutex
	calls []Request
	// Of calls of more than one.
	err     error
	refuses bool
}

func (v *vectors) Call(_ context.Context, r Request) (Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls = append(v.calls, r)
	var body struct{ Input any }
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return Answer{}, err
	}
	texts, many := body.Input.([]any)
	if !many {
		texts = []any{body.Input}
	} else if v.err != nil || v.refuses {
		return Answer{Refused: v.refuses}, v.err
	}
	var data []any
	for i, text := range slices.Backward(texts) { // in another order than they were asked
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": []float64{float64(len(text.(string)))}})
	}
	out, err := json.Marshal(map[string]any{"object": "list", "model": "m", "data": data})
	return Answer{Status: 200, Body: out, Usage: Usage{Prompt: 10 * len(texts)}}, err
}

func embed(tenant, text string) Request {
	return Request{Path: Embeddings, Tenant: tenant, Body: fmt.Appendf(nil, `{"input":%q,"model":"v"}`, text)}
}

// together makes calls at the same time, and returns their answers in order.
func together(t *testing.T, c Caller, requests ...Request) []Answer {
	t.Helper()
	out := make([]Answer, len(requests))
	var group sync.WaitGroup
	for i, r := range requests {
		group.Go(func() {
			var err error
			out[i], err = c.Call(t.Context(), r)
			assert.NoError(t, err)
		})
		synctest.Wait() // one after another, so that places are known
	}
	group.Wait()
	return out
}

func TestSmallItemsOfATenantShareACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vectors{}
		began := time.Now()
		got := together(t, Gather(v, 3), embed("a", "x"), embed("a", "xx"), embed("a", "xxxx"))
		assert.Zero(t, time.Since(began), "a full call waits for nobody")
		require.Len(t, v.calls, 1)
		assert.JSONEq(t, `{"input":["x","xx","xxxx"],"model":"v"}`, string(v.calls[0].Body))
		tokens := 0
		for i, want := range []int{1, 2, 4} {
			var body struct {
				Data  []struct{ Index, Embedding any }
				Usage struct {
					Prompt int `json:"prompt_tokens"`
				}
			}
			require.NoError(t, json.Unmarshal(got[i].Body, &body))
			require.Len(t, body.Data, 1)
			assert.Equal(t, []any{float64(want)}, body.Data[0].Embedding, "each its own")
			assert.Zero(t, body.Data[0].Index)
			assert.Equal(t, got[i].Usage.Prompt, body.Usage.Prompt)
			tokens += got[i].Usage.Prompt
		}
		assert.Equal(t, 30, tokens, "no token is lost")
	})
}

func TestACallThatDoesNotFillGoesAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vectors{}
		began := time.Now()
		together(t, Gather(v, 3), embed("a", "x"), embed("a", "y"))
		assert.Equal(t, 5*time.Second, time.Since(began))
		assert.Len(t, v.calls, 1)
	})
}

func TestWhatDoesNotBelongTogetherIsCalledForItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size int
		with Request
	}{
		"OtherTenant":     {2, embed("b", "y")},
		"OtherParameters": {2, Request{Path: Embeddings, Tenant: "a", Body: []byte(`{"input":"y","model":"v","dimensions":5}`)}},
		"ManyInputs":      {2, Request{Path: Embeddings, Tenant: "a", Body: []byte(`{"input":["y","z"],"model":"v"}`)}},
		"Chat":            {2, Request{Path: Chat, Tenant: "a", Body: []byte(`{"input":"y","model":"v"}`)}},
		"NotAllowed":      {1, embed("a", "y")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v := &vectors{}
				together(t, Gather(v, c.size), embed("a", "x"), c.with)
				assert.Len(t, v.calls, 2)
			})
		})
	}
}

// One item that the model takes no request of must not spoil those of others. Each is
// told so, since a second call takes quota, and then calls alone.
func TestASpoiledCallIsMadeForEachItem(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]*vectors{"Rejected": {err: &Rejected{400, "bad"}}, "Refused": {refuses: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := Gather(v, 2)
				var group sync.WaitGroup
				for range 2 {
					group.Go(func() {
						_, err := g.Call(t.Context(), embed("a", "x"))
						assert.ErrorIs(t, err, ErrSpoiled)
					})
				}
				group.Wait()
				assert.Len(t, v.calls, 1)
				alone := embed("a", "x")
				alone.Alone = true
				got, err := g.Call(t.Context(), alone)
				require.NoError(t, err)
				assert.Equal(t, 10, got.Usage.Prompt)
			})
		})
	}
}

func TestATryThatFailsFailsForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vectors{err: &Throttled{time.Second}}
		g := Gather(v, 2)
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				_, err := g.Call(t.Context(), embed("a", "x"))
				var throttled *Throttled
				assert.ErrorAs(t, err, &throttled)
			})
		}
		group.Wait()
		assert.Len(t, v.calls, 1)
	})
}

// That one who shares a call gives up must not end it for the others.
func TestWhoGivesUpLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vectors{}
		g := Gather(v, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() {
			_, err := g.Call(ctx, embed("a", "x"))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		}()
		synctest.Wait()
		a, err := g.Call(t.Context(), embed("a", "xx"))
		require.NoError(t, err)
		assert.Contains(t, string(a.Body), `"embedding":[2]`)
	})
}
