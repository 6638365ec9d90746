package core

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// spent is what a deployment was asked for in a minute of the virtual clock.
type spent struct {
	minute int64
	tokens int64
}

// call answers a synchronous request: chat, embeddings, responses.
func (s *State) call(rules Rules, r Request) Answer {
	var c call
	if err := json.Unmarshal(r.Body, &c); err != nil {
		return Refused(Invalid("", "The body is no JSON object of the expected form: %v", err))
	}
	name := r.Model
	if name == "" {
		name = c.Model
	}
	account, _ := s.account(r.Account)
	d, ok := account.deployment(name)
	switch {
	case !ok:
		return Refused(noDeployment())
	case d.batch():
		return Refused(Invalid("model", "The deployment %q is %s, which answers no synchronous calls.", d.Name, d.SKU)) // A852
	case c.Stream:
		return Refused(Invalid("stream", "stream is true, must be false: streaming is not simulated."))
	case c.Background:
		return Refused(Invalid("background", "background is true, must be false: background responses are not simulated."))
	case r.Operation == Chat && len(c.Messages) == 0:
		return Refused(Invalid("messages", "messages is empty, must hold at least one message."))
	case r.Operation != Chat && len(c.Input) == 0:
		return Refused(Invalid("input", "input is missing."))
	}
	tokens := rules.tokens(r.Body)
	if err := s.spend(account, d, tokens+c.maxTokens()); err != nil {
		return Refused(err)
	}
	if r.Operation == Embeddings {
		return s.embed(c, d, tokens)
	}
	url := "/v1/chat/completions"
	if r.Operation == Responses {
		url = "/v1/responses"
		c.Model = d.Name
	}
	outcome := rules.outcome(Row{URL: url, Body: r.Body})
	sum := sha256.Sum256(r.Body)
	status, body := result(rules, url, r.Body, outcome, d.version(), string(sum[:]), s.Now.Unix())
	if e, ok := body["error"].(*Error); ok {
		failure := *e
		failure.Status = status
		if status == http.StatusTooManyRequests {
			failure.RetryAfter = s.untilNextMinute()
		}
		return Refused(&failure)
	}
	return okay(status, body)
}

// spend counts the tokens of a call, with the most that it may answer, against those
// of the minute (A853). Provisioned throughput is not counted.
func (s *State) spend(account Account, d Deployment, tokens int64) *Error {
	if d.provisioned() {
		return nil
	}
	key, minute := holder{account.Name, d.Name}, s.Now.Unix()/60
	used := s.spent[key]
	if used.minute != minute {
		used = spent{minute: minute}
	}
	used.tokens += tokens
	if used.tokens > d.tokens() {
		wait := s.untilNextMinute()
		return &Error{
			Status: http.StatusTooManyRequests, Code: "429", RetryAfter: wait,
			Message: fmt.Sprintf("Requests to the deployment %s have exceeded its limit of %d tokens per minute. Please retry after %d seconds.", d.Name, d.tokens(), wait),
		}
	}
	s.spent = with(s.spent, key, used)
	return nil
}

func (s *State) untilNextMinute() int { return 60 - int(s.Now.Unix()%60) }

// vectorSize is that of the common embedding models.
const vectorSize = 1536

// embed answers with unit vectors that follow from the texts (A854).
func (s *State) embed(c call, d Deployment, tokens int64) Answer {
	var texts []string
	var one string
	if json.Unmarshal(c.Input, &one) == nil {
		texts = []string{one}
	} else if err := json.Unmarshal(c.Input, &texts); err != nil {
		return Refused(Invalid("input", "input must be a text or a list of texts: %v", err))
	}
	size := c.Dimensions
	if size == 0 {
		size = vectorSize
	}
	if size < 1 || size > vectorSize {
		return Refused(Invalid("dimensions", "dimensions is %d, must be 1..%d.", size, vectorSize))
	}
	data := make([]any, len(texts))
	for i, text := range texts {
		vector := unit(text, size)
		item := map[string]any{"object": "embedding", "index": i, "embedding": vector}
		if c.EncodingFormat == "base64" {
			raw := make([]byte, 4*len(vector))
			for k, v := range vector {
				binary.LittleEndian.PutUint32(raw[4*k:], math.Float32bits(v))
			}
			item["embedding"] = base64.StdEncoding.EncodeToString(raw)
		}
		data[i] = item
	}
	return okay(http.StatusOK, map[string]any{
		"object": "list", "data": data, "model": d.version(),
		"usage": map[string]any{"prompt_tokens": tokens, "total_tokens": tokens},
	})
}

// unit is a vector of length 1 that follows from a text.
func unit(text string, size int) []float32 {
	sum := sha256.Sum256([]byte(text))
	seed := binary.BigEndian.Uint64(sum[:]) | 1
	out, length := make([]float32, size), 0.0
	for i := range out {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		v := float64(int64(seed)) / (1 << 63)
		out[i] = float32(v)
		length += v * v
	}
	for i := range out {
		out[i] = float32(float64(out[i]) / math.Sqrt(length))
	}
	return out
}

// listModels shows the models that the account's deployments have (A855).
func (s *State) listModels(r Request) Answer {
	account, _ := s.account(r.Account)
	data, seen := []any{}, map[string]bool{}
	for _, d := range account.Deployments {
		if seen[d.version()] {
			continue
		}
		seen[d.version()] = true
		data = append(data, map[string]any{
			"id": d.version(), "object": "model", "created": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), "owned_by": "system",
			"status": "succeeded", "lifecycle_status": "generally-available",
			"capabilities": map[string]any{
				"chat_completion": !strings.HasPrefix(d.Model, "text-embedding"), "embeddings": strings.HasPrefix(d.Model, "text-embedding"),
				"inference": true, "completion": false, "fine_tune": false,
			},
		})
	}
	return okay(http.StatusOK, map[string]any{"object": "list", "data": data})
}
