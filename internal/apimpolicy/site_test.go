package apimpolicy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/apimpolicy/interp"
	"onedoor/internal/routing"
)

// site is a running gateway with back ends that record what they are sent.
type site struct {
	*interp.Gateway
	config interp.Config

	mu    sync.Mutex
	calls []upstream
	// answer is what a back end says, by its id; 200 with 60 tokens without one.
	answer map[string]http.HandlerFunc
}

// upstream is a request that reached a back end.
type upstream struct {
	backend, path, query string
	header               http.Header
	body                 map[string]any
}

// run starts the gateway that the values describe. change may alter how.
func run(t *testing.T, g apimpolicy.Gateway, change ...func(*interp.Config)) *site {
	t.Helper()
	require.NoError(t, g.Check())
	s := &site{answer: map[string]http.HandlerFunc{}}
	s.config = interp.Config{
		Path: apimpolicy.APIPath, API: g.API(false), Operations: append(apimpolicy.Synchronous(), apimpolicy.Refused()...), Fragments: fragments(g),
		Backends: map[string]interp.Backend{}, Keys: map[string]interp.Key{}, Tokens: map[string]interp.Token{}, Route: interp.Lenient,
	}
	for _, p := range g.Plans {
		s.config.Products = append(s.config.Products, apimpolicy.Product(p))
	}
	for _, tenant := range g.Tenants {
		s.config.Keys["key-of-"+tenant.Name] = interp.Key{ID: tenant.Name, Name: "key of " + tenant.Name, Product: apimpolicy.ProductID(tenant.Plan)}
	}
	for name, app := range map[string]string{"acme": acmeApp, "initech": initechApp, "worker": workerApp, "stranger": strangerApp} {
		s.config.Tokens["token-of-"+name] = interp.Token{
			Audience: audience, Issuer: "https://login.microsoftonline.com/" + directory + "/v2.0", Claims: map[string]string{"azp": app},
		}
	}
	targets, err := apimpolicy.Backends(g.Aliases)
	require.NoError(t, err)
	for _, target := range targets {
		backend := interp.Backend{URL: target.URL, Handler: s.backend(target.Backend)}
		if target.Kind == routing.External {
			backend.Headers = map[string]string{"Authorization": "Bearer key of " + target.Backend}
		}
		s.config.Backends[target.Backend] = backend
	}
	for _, c := range change {
		c(&s.config)
	}
	s.Gateway, err = interp.New(s.config)
	require.NoError(t, err)
	return s
}

func (s *site) backend(id string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		call := upstream{backend: id, path: r.URL.Path, query: r.URL.RawQuery, header: r.Header.Clone()}
		_ = json.NewDecoder(r.Body).Decode(&call.body) // a body that is no JSON shows as none
		s.mu.Lock()
		s.calls = append(s.calls, call)
		s.mu.Unlock()
		w.Header().Set("x-ms-region", "Sweden Central")
		w.Header().Set("x-ms-deployment-name", "gpt-41")
		if answer := s.answer[id]; answer != nil {
			answer(w, r)
			return
		}
		fmt.Fprint(w, `{"id":"1","usage":{"total_tokens":60}}`)
	}
}

// tried are the back ends that were called, in order.
func (s *site) tried() []string {
	var out []string
	for _, c := range s.calls {
		out = append(out, c.backend)
	}
	return out
}

// status answers that and nothing else.
func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, `{"error":{"message":"account sweden has trouble"}}`)
	}
}

// post sends a body; headers come as name, value.
func (s *site) post(path, body string, headers ...string) *httptest.ResponseRecorder {
	return s.do("POST", path, body, headers...)
}

func (s *site) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// code is error.code of an answer.
func code(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body struct {
		Error struct{ Code, Message string }
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body), w.Body.String())
	assert.NotEmpty(t, body.Error.Message)
	assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
	return body.Error.Code
}
