package apimpolicy_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/apimpolicy/interp"
)

func TestLimitsArePerTenant(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][2]string{
		"Key":    {"api-key", "key-of-hooli"},
		"Worker": {"Authorization", "Bearer token-of-worker"}, // without a key the same limits hold
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(0, 0)
			s := run(t, given(), func(c *interp.Config) { c.Now = func() time.Time { return now } })
			call := func() *httptest.ResponseRecorder {
				return s.post(chatPath, chatBody, headers[0], headers[1], apimpolicy.TenantHeader, "hooli")
			}
			for range 2 { // 60 tokens each of 100 a minute: the second call is the last
				assert.Equal(t, http.StatusOK, call().Code)
			}
			w := call()
			assert.Equal(t, http.StatusTooManyRequests, w.Code)
			assert.NotEmpty(t, w.Header().Get("Retry-After"))
			assert.Len(t, s.calls, 2)
			assert.Equal(t, http.StatusOK, s.post(chatPath, chatBody, "api-key", "key-of-acme").Code, "another tenant is not held up")
			now = now.Add(time.Minute)
			assert.Equal(t, http.StatusOK, call().Code)
		})
	}
}

// A key and a token are two ways to one allowance.
func TestKeyAndTokenShareOneAllowance(t *testing.T) {
	t.Parallel()
	g := given()
	g.Plans[0].TokensPerMinute = 100
	s := run(t, g)
	assert.Equal(t, http.StatusOK, s.post(chatPath, chatBody, "api-key", "key-of-acme").Code)
	assert.Equal(t, http.StatusOK, s.post(chatPath, chatBody, "Authorization", "Bearer token-of-acme").Code)
	assert.Equal(t, http.StatusTooManyRequests, s.post(chatPath, chatBody, "api-key", "key-of-acme").Code)
	assert.Equal(t, http.StatusTooManyRequests, s.post(chatPath, chatBody, "Authorization", "Bearer token-of-acme").Code)
}

func TestUsedUpQuotaIsRefused(t *testing.T) {
	t.Parallel()
	g := given()
	g.Plans[0].Quota = 60
	s := run(t, g)
	assert.Equal(t, http.StatusOK, s.post(chatPath, chatBody, "api-key", "key-of-acme").Code)
	assert.Equal(t, http.StatusForbidden, s.post(chatPath, chatBody, "api-key", "key-of-acme").Code)
}

func TestNextDeploymentIsTriedWhenOneFails(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"TooMany": status(429, "Retry-After", "7"), "Unavailable": status(503), "Internal": status(500),
		"Hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := run(t, given())
			s.answer["sweden-gpt-41"] = answer
			w := s.post(chatPath, chatBody, "api-key", "key-of-initech")
			assert.Equal(t, http.StatusOK, w.Code, w.Body.String())
			assert.Equal(t, []string{"sweden-gpt-41", "sweden-gpt-41-zone"}, s.tried(), "each once, in order")
			assert.Equal(t, "gpt-41", s.calls[0].body["model"])
			assert.Equal(t, "gpt-41-zone", s.calls[1].body["model"])
			assert.Equal(t, s.calls[0].body["messages"], s.calls[1].body["messages"])
		})
	}
	s := run(t, given())
	s.answer["sweden-gpt-41"] = status(400)
	assert.Equal(t, http.StatusBadRequest, s.post(chatPath, chatBody, "api-key", "key-of-initech").Code)
	assert.Len(t, s.calls, 1, "the caller's own mistake is not tried again")
}

func TestAllDeploymentsBusyIsOne429(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last  http.HandlerFunc
		after string
	}{
		"Busy":      {status(429, "Retry-After", "7"), "7"},
		"Broken":    {status(503), "10"},
		"Hangs up":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "10"},
		"Anonymous": {status(599), "10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := run(t, given())
			for _, id := range []string{"sweden-gpt-41", "sweden-gpt-41-zone"} {
				s.answer[id] = status(429, "retry-after-ms", "12")
			}
			s.answer["east-gpt-41"] = c.last
			w := s.post(chatPath, chatBody, "api-key", "key-of-initech")
			assert.Equal(t, http.StatusTooManyRequests, w.Code)
			assert.Equal(t, c.after, w.Header().Get("Retry-After"))
			assert.Equal(t, apimpolicy.CodeBusy, code(t, w))
			assert.Equal(t, []string{"sweden-gpt-41", "sweden-gpt-41-zone", "east-gpt-41"}, s.tried())
			assert.NotContains(t, w.Body.String(), "sweden")
		})
	}
}

// Answers stay below the alias's limit, whatever the caller asks for.
func TestAnswersAreHeldToTheAliassLimit(t *testing.T) {
	t.Parallel()
	const responsesPath = "/openai/v1/responses"
	for name, c := range map[string]struct {
		path, body string
		want       map[string]any // of the members that limit
		status     int
	}{
		"Unsaid":            {chatPath, `{"model":"gpt-4.1"}`, map[string]any{"max_completion_tokens": 1000.0}, 200},
		"Null":              {chatPath, `{"model":"gpt-4.1","max_tokens":null}`, map[string]any{"max_completion_tokens": 1000.0, "max_tokens": nil}, 200},
		"Less":              {chatPath, `{"model":"gpt-4.1","max_completion_tokens":999}`, map[string]any{"max_completion_tokens": 999.0}, 200},
		"AsMuch":            {chatPath, `{"model":"gpt-4.1","max_completion_tokens":1000}`, map[string]any{"max_completion_tokens": 1000.0}, 200},
		"More":              {chatPath, `{"model":"gpt-4.1","max_completion_tokens":1001}`, map[string]any{"max_completion_tokens": 1000.0}, 200},
		"MoreByItsOldName":  {chatPath, `{"model":"gpt-4.1","max_tokens":1001}`, map[string]any{"max_tokens": 1000.0}, 200},
		"MoreByBoth":        {chatPath, `{"model":"gpt-4.1","max_tokens":5000,"max_completion_tokens":5000}`, map[string]any{"max_tokens": 1000.0, "max_completion_tokens": 1000.0}, 200},
		"MoreAsText":        {chatPath, `{"model":"gpt-4.1","max_tokens":"5000"}`, map[string]any{"max_tokens": 1000.0}, 200},
		"TooMuchToCount":    {chatPath, `{"model":"gpt-4.1","max_tokens":99999999999999999999}`, nil, 400},
		"NoNumber":          {chatPath, `{"model":"gpt-4.1","max_tokens":{}}`, nil, 400},
		"Dated":             {"/openai/deployments/gpt-4.1/chat/completions", `{}`, map[string]any{"max_completion_tokens": 1000.0}, 200},
		"Completion":        {"/openai/v1/completions", `{"model":"gpt-4.1","max_tokens":1001}`, map[string]any{"max_tokens": 1000.0}, 200},
		"CompletionUnsaid":  {"/openai/v1/completions", `{"model":"gpt-4.1"}`, map[string]any{"max_tokens": 1000.0}, 200},
		"Response":          {responsesPath, `{"model":"gpt-4.1","max_output_tokens":1001}`, map[string]any{"max_output_tokens": 1000.0}, 200},
		"ResponseUnsaid":    {responsesPath, `{"model":"gpt-4.1"}`, map[string]any{"max_output_tokens": 1000.0}, 200},
		"AliasWithoutLimit": {chatPath, `{"model":"llama","max_tokens":5000}`, map[string]any{"max_tokens": 5000.0}, 200},
		"Embedding":         {"/openai/v1/embeddings", `{"model":"gpt-4.1"}`, map[string]any{}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := run(t, given())
			w := s.post(c.path, c.body, "api-key", "key-of-acme")
			require.Equal(t, c.status, w.Code, w.Body.String())
			if c.status != 200 {
				assert.Equal(t, apimpolicy.CodeBody, code(t, w))
				assert.Empty(t, s.calls)
				return
			}
			got := map[string]any{}
			for _, member := range []string{"max_completion_tokens", "max_tokens", "max_output_tokens"} {
				if v, there := s.calls[0].body[member]; there {
					got[member] = v
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}
