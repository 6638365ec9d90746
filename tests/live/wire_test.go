package live_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire carries requests to the simulated Azure, and spoils the answers to one of them.
type wire struct {
	azure http.Handler
	spoil string // the request, as method and path; "" for none
	with  fault

	mu   sync.Mutex
	seen map[string]bool
}

// fault is how an answer is spoilt.
type fault struct {
	name   string
	status int
	body   string
}

// faults are those that a subscription meets: not logged in, no right, asked too much,
// Azure's own fault, and answers that are none.
var faults = []fault{
	{"401", http.StatusUnauthorized, `{"error":{"code":"ExpiredAuthenticationToken","message":"expired"}}`},
	{"403", http.StatusForbidden, `{"error":{"code":"AuthorizationFailed","message":"no"}}`},
	{"429", http.StatusTooManyRequests, `{"error":{"code":"TooManyRequests","message":"slow down"}}`},
	{"500", http.StatusInternalServerError, `oops`},
	{"no JSON", http.StatusOK, `<html>welcome to the captive portal</html>`},
	{"half of it", http.StatusOK, `{"value":[{"na`},
	{"an empty object", http.StatusOK, `{}`},
	{"a list of nothing", http.StatusOK, `{"value":[null,{}]}`},
}

// Do implements policy.Transporter.
func (w *wire) Do(req *http.Request) (*http.Response, error) {
	what := req.Method + " " + req.URL.Path
	if body := req.Body; body != nil && req.Method == http.MethodPost { // checks of names differ by what they ask
		raw, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		what += " " + string(raw)
		req.Body = io.NopCloser(bytes.NewReader(raw))
	}
	w.mu.Lock()
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[what] = true
	w.mu.Unlock()
	if what != w.spoil {
		answer := httptest.NewRecorder()
		if req.Body == nil {
			req.Body = http.NoBody
		}
		w.azure.ServeHTTP(answer, req)
		res := answer.Result()
		res.Request = req
		return res, nil
	}
	return &http.Response{
		StatusCode: w.with.status, Status: http.StatusText(w.with.status), Request: req, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(w.with.body)), ContentLength: int64(len(w.with.body)),
	}, nil
}

// requests are those that were sent, sorted.
func (w *wire) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for what := range w.seen {
		out = append(out, what)
	}
	slices.Sort(out)
	return out
}

// client makes what exists already.
type client struct {
	t     testing.TB
	azure http.Handler
}

// put writes a resource as any client would.
func (c *client) put(id, version, body string) {
	c.t.Helper()
	raw, status := c.send(http.MethodPut, id, version, strings.NewReader(body))
	require.Less(c.t, status, 300, "%s: %s", id, raw)
}

// get reads a resource into v.
func (c *client) get(id, version string, v any) {
	c.t.Helper()
	raw, status := c.send(http.MethodGet, id, version, http.NoBody)
	require.Equal(c.t, http.StatusOK, status, "%s: %s", id, raw)
	require.NoError(c.t, json.Unmarshal(raw, v))
}

func (c *client) send(method, id, version string, body io.Reader) (raw []byte, status int) {
	c.t.Helper()
	req := httptest.NewRequestWithContext(c.t.Context(), method, endpoint+strings.ReplaceAll(id, " ", "%20")+"?api-version="+version, body)
	req.Header.Set("Authorization", "Bearer x")
	answer := httptest.NewRecorder()
	c.azure.ServeHTTP(answer, req)
	return answer.Body.Bytes(), answer.Code
}

// body is v as JSON.
func body(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
