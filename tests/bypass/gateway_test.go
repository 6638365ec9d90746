package bypass_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/apimpolicy/interp"
	"onedoor/tests/bad/replay"
	"onedoor/tests/kit"
)

// request is what a caller with a key of a tenant sends. It is refused when no back
// end sees it as anything but a synchronous call.
type request struct{ Method, Path string }

// call sends a request to the gateway of the plan, and tells the answer's status and
// the path that reached a back end, "" for none.
func call(t *testing.T, s replay.Stack, method, path, body string) (status int, reached string) {
	t.Helper()
	backend := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached = r.URL.Path
		w.WriteHeader(http.StatusOK)
	})
	config := kit.Gateway(t, s.Resources, backend)
	g, err := interp.New(config)
	require.NoError(t, err)
	q := httptest.NewRequest(method, path, strings.NewReader(body))
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("api-key", "gateway-tenant-labs")
	w := httptest.NewRecorder()
	g.ServeHTTP(w, q)
	return w.Code, reached
}

func TestTheGatewayRefuses(t *testing.T) {
	t.Parallel()
	var synchronous []string
	for _, o := range apimpolicy.Synchronous() {
		synchronous = append(synchronous, o.Path)
	}
	const chat = `{"model": "chat", "messages": []}`
	status, reached := call(t, prod(t), http.MethodPost, "/openai/v1/chat/completions", chat)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "/chat/completions", reached, "a synchronous call is served")
	for _, w := range ways(t) {
		for _, r := range w.RefusedBy.Gateway {
			t.Run(w.Name+" "+r.Path, func(t *testing.T) {
				t.Parallel()
				_, reached := call(t, mutated(t, w), r.Method, r.Path, chat)
				if reached != "" { // the API's policy writes the path, whatever was asked for
					assert.Contains(t, synchronous, reached)
				}
			})
		}
	}
}
