package model

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/services/internal/busfake"
)

func request() Request {
	return Request{Path: Chat, Body: []byte(`{"model":"small"}`), Tenant: "contoso", Correlation: "c1", Key: "job:1"}
}

// most is what answers may have.
const most = 1 << 10

// answered is what the client makes of an answer.
func answered(t *testing.T, status int, header map[string]string, body string) (Answer, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	c := &Client{URL: server.URL, Token: busfake.Credential{}, HTTP: server.Client(), Most: most}
	return c.Call(t.Context(), request())
}

func TestTheHeaderOfTheTenantIsTheGateways(t *testing.T) {
	t.Parallel()
	assert.Equal(t, apimpolicy.TenantHeader, TenantHeader)
}

func TestACallNamesTheTenantAndItself(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got, body = r, string(data)
		_, _ = io.WriteString(w, `{}`)
	}))
	defer server.Close()
	c := &Client{URL: server.URL + "/openai/v1", Token: busfake.Credential{}, HTTP: server.Client(), Most: most}
	_, err := c.Call(t.Context(), request())
	require.NoError(t, err)
	assert.Equal(t, "POST /openai/v1/chat/completions", got.Method+" "+got.URL.Path)
	assert.JSONEq(t, `{"model":"small"}`, body)
	for name, want := range map[string]string{
		"Authorization": "Bearer token", "Content-Type": "application/json", "x-onedoor-tenant": "contoso",
		"Idempotency-Key": "job:1", "x-ms-client-request-id": "c1",
	} {
		assert.Equal(t, want, got.Header.Get(name), name)
	}
}

func TestAnswersAndRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		refused bool
	}{
		"Answer":         {200, `{"choices":[{"finish_reason":"stop","message":{"content":"x","refusal":null}}]}`, false},
		"EmptyRefusal":   {200, `{"choices":[{"finish_reason":"stop","message":{"refusal":""}}]}`, false},
		"CutOff":         {200, `{"choices":[{"finish_reason":"length","message":{}}]}`, false},
		"ModelRefused":   {200, `{"choices":[{"finish_reason":"stop","message":{"refusal":"I will not"}}]}`, true},
		"AnswerFiltered": {200, `{"choices":[{"finish_reason":"content_filter","message":{}}]}`, true},
		"PromptFiltered": {400, `{"error":{"code":"content_filter","innererror":{}}}`, true},
		"PolicyViolated": {400, `{"error":{"code":"content_policy_violation"}}`, true},
		"Embedding":      {200, `{"data":[{"embedding":[1]}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := answered(t, c.status, map[string]string{"x-request-id": "r9"}, c.body)
			require.NoError(t, err)
			assert.Equal(t, c.refused, a.Refused)
			assert.Equal(t, c.status, a.Status)
			assert.Equal(t, "r9", a.RequestID)
			assert.JSONEq(t, c.body, string(a.Body))
		})
	}
	a, err := answered(t, 200, nil, `{"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}`)
	require.NoError(t, err)
	assert.Equal(t, Usage{7, 2, 3}, a.Usage)
}

func TestWhatMayBeTriedAgainAndWhatNot(t *testing.T) {
	t.Parallel()
	const failed, rejected = "failed", "rejected"
	for name, c := range map[string]struct {
		status int
		body   string
		kind   string
		text   string
	}{
		"ServerError":    {500, `{"error":{"code":"InternalServerError"}}`, failed, "status: 500 InternalServerError"},
		"BadGateway":     {502, `<html>`, failed, "status: 502 without a code"},
		"TimedOut":       {408, `{}`, failed, "408"},
		"TokenRefused":   {401, `{}`, failed, "401"},
		"Moved":          {302, ``, failed, "302"},
		"NoJSON":         {200, `hello`, failed, "200 without JSON"},
		"BadRequest":     {400, `{"error":{"code":"invalid_prompt"}}`, rejected, "rejected with 400 invalid_prompt"},
		"NotInPlan":      {403, `{"error":{"code":"model_not_in_plan"}}`, rejected, "model_not_in_plan"},
		"NoModel":        {404, `{"error":{"code":404}}`, rejected, "rejected with 404 404"},
		"TooLarge":       {413, ``, rejected, "413"},
		"CodeIsAMessage": {400, `{"error":{"code":"the prompt said: secret"}}`, rejected, "rejected with 400 without a code"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := answered(t, c.status, nil, c.body)
			var isFailed *Failed
			var isRejected *Rejected
			assert.Equal(t, c.kind == failed, errors.As(err, &isFailed))
			assert.Equal(t, c.kind == rejected, errors.As(err, &isRejected))
			require.ErrorContains(t, err, c.text)
		})
	}
}

func TestA429SaysHowLong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"Seconds":      {map[string]string{"Retry-After": "7"}, 7 * time.Second},
		"Milliseconds": {map[string]string{"retry-after-ms": "1500", "Retry-After": "7"}, 1500 * time.Millisecond},
		"Date":         {map[string]string{"Retry-After": time.Now().Add(30 * time.Second).UTC().Format(http.TimeFormat)}, 30 * time.Second},
		"Past":         {map[string]string{"Retry-After": time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)}, 0},
		"Silent":       {nil, 10 * time.Second},
		"Nonsense":     {map[string]string{"Retry-After": "soon"}, 10 * time.Second},
		"Negative":     {map[string]string{"Retry-After": "-5"}, 0},
		"ForEver":      {map[string]string{"Retry-After": "99999999"}, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := answered(t, 429, c.header, `{}`)
			var throttled *Throttled
			require.ErrorAs(t, err, &throttled)
			assert.InDelta(t, c.want.Seconds(), throttled.After.Seconds(), 2)
		})
	}
}

// transport answers as it is told.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestABrokenConnectionMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]transport{
		"NoConnection": func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") },
		"CutShort": func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"choices":`), broken{}))}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &Client{URL: "http://gateway", Token: busfake.Credential{}, HTTP: &http.Client{Transport: do}, Most: most}
			_, err := c.Call(t.Context(), request())
			var failed *Failed
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, "connection", failed.Reason)
		})
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A slow answer is waited for longer than the gateway waits for a deployment, but
// not for ever; who ends the work before says why.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	slow := func(d time.Duration) *Client {
		return &Client{URL: "http://gateway", Token: busfake.Credential{}, HTTP: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			select {
			case <-time.After(d):
				return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{}`))}, nil
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})}, Most: most}
	}
	synctest.Test(t, func(t *testing.T) {
		_, err := slow(241*time.Second).Call(t.Context(), request())
		require.NoError(t, err)
		_, err = slow(time.Hour).Call(t.Context(), request())
		var failed *Failed
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, "timeout", failed.Reason)
		why := errors.New("the lock is lost")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, why)
		defer cancel()
		_, err = slow(time.Hour).Call(ctx, request())
		assert.ErrorIs(t, err, why)
	})
}

// An answer that there is no memory for is not asked for again. What a gateway says of
// its failures is as long as it likes.
func TestAnswersThatAreTooLarge(t *testing.T) {
	t.Parallel()
	body := `{"data":"` + strings.Repeat("x", most-len(`{"data":""}`)) + `"}`
	a, err := answered(t, 200, nil, body)
	require.NoError(t, err)
	assert.Len(t, a.Body, most)
	_, err = answered(t, 200, nil, body+" ")
	var large *TooLarge
	require.ErrorAs(t, err, &large)
	require.ErrorContains(t, err, "more than 1024 bytes")
	_, err = answered(t, 503, nil, body+" ")
	var failed *Failed
	require.ErrorAs(t, err, &failed)
}
