package apimpolicy_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStreamedChatsEndWithTheirUsage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body string
		want       any
	}{
		"Streamed":     {chatPath, `{"model":"gpt-4.1","stream":true}`, map[string]any{"include_usage": true}},
		"OptionsKept":  {chatPath, `{"model":"gpt-4.1","stream":true,"stream_options":{"include_usage":false,"x":1}}`, map[string]any{"include_usage": true, "x": 1.0}},
		"NotStreamed":  {chatPath, `{"model":"gpt-4.1","stream":false}`, nil},
		"Unsaid":       {chatPath, `{"model":"gpt-4.1"}`, nil},
		"Dated":        {"/openai/deployments/gpt-4.1/chat/completions", `{"stream":true}`, map[string]any{"include_usage": true}},
		"ResponsesNot": {"/openai/v1/responses", `{"model":"gpt-4.1","stream":true}`, nil}, // they refuse the option
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := run(t, given())
			require.Equal(t, http.StatusOK, s.post(c.path, c.body, "api-key", "key-of-acme").Code)
			assert.Equal(t, c.want, s.calls[0].body["stream_options"])
		})
	}
}

// The back end waits for the caller to have read its first piece before it sends
// the second: a gateway that holds answers back never gets there.
func TestStreamsAreNotHeldBack(t *testing.T) {
	t.Parallel()
	s := run(t, given())
	read := make(chan struct{})
	s.answer["sweden-gpt-41"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[1]}\n\n")
		select {
		case <-read:
			fmt.Fprint(w, "data: {\"usage\":{\"total_tokens\":7}}\n\ndata: [DONE]\n\n")
		case <-time.After(10 * time.Second):
			fmt.Fprint(w, "data: held back\n\n")
		}
	}
	server := httptest.NewServer(s)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+chatPath, strings.NewReader(`{"model":"gpt-4.1","stream":true}`))
	require.NoError(t, err)
	r.Header.Set("api-key", "key-of-acme")
	answer, err := server.Client().Do(r)
	require.NoError(t, err)
	defer func() { assert.NoError(t, answer.Body.Close()) }()
	lines := bufio.NewReader(answer.Body)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, first, "choices")
	close(read)
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	assert.Contains(t, string(rest), "[DONE]")
	assert.NotContains(t, string(rest), "held back")
	server.Close() // the call is counted once it has ended
	assert.Equal(t, 7, s.Metrics()[0].Tokens, "counted from the last piece")
}
