package apimpolicy_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

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

const (
	chatPath = "/openai/v1/chat/completions"
	chatBody = `{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"}]}`
)

func TestBothShapesReachTheDeploymentInOneForm(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		chatPath: chatBody,
		"/openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21": `{"messages":[{"role":"user","content":"hi"}]}`,
		// The path decides, as it does with Azure.
		"/openai/deployments/gpt-4.1/chat/completions": `{"model":"embed","messages":[{"role":"user","content":"hi"}]}`,
	} {
		s := run(t, given())
		w := s.post(path, body, "api-key", "key-of-acme")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, []string{"sweden-gpt-41"}, s.tried())
		assert.Equal(t, "/openai/v1/chat/completions", s.calls[0].path)
		assert.Empty(t, s.calls[0].query)
		assert.Equal(t, "gpt-41", s.calls[0].body["model"], "the deployment's name, not the alias")
		assert.Equal(t, "Bearer token of "+gatewayID+" for https://cognitiveservices.azure.com", s.calls[0].header.Get("Authorization"))
	}
}

func TestOnlyTenantsAreServed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headers []string
		status  int
		code    string
		change  func(*interp.Config)
	}{
		"Key":          {headers: []string{"api-key", "key-of-acme"}, status: 200},
		"Token":        {headers: []string{"Authorization", "Bearer token-of-acme"}, status: 200},
		"Nothing":      {status: 401},
		"UnknownKey":   {headers: []string{"api-key", "guess"}, status: 401},
		"UnknownToken": {headers: []string{"Authorization", "Bearer guess"}, status: 401},
		"NoScheme":     {headers: []string{"Authorization", "token-of-acme"}, status: 401},
		"Stranger":     {headers: []string{"Authorization", "Bearer token-of-stranger"}, status: 403, code: apimpolicy.CodeTenant},
		"OtherAudience": {headers: []string{"Authorization", "Bearer token-of-acme"}, status: 401, change: func(c *interp.Config) {
			c.Tokens["token-of-acme"] = interp.Token{Audience: "api://other", Issuer: "https://sts.windows.net/" + directory + "/", Claims: map[string]string{"appid": acmeApp}}
		}},
		"OtherDirectory": {headers: []string{"Authorization", "Bearer token-of-acme"}, status: 401, change: func(c *interp.Config) {
			c.Tokens["token-of-acme"] = interp.Token{Audience: audience, Issuer: "https://sts.windows.net/" + gatewayID + "/", Claims: map[string]string{"appid": acmeApp}}
		}},
		"VersionOneToken": {headers: []string{"Authorization", "Bearer token-of-acme"}, status: 200, change: func(c *interp.Config) {
			c.Tokens["token-of-acme"] = interp.Token{Audience: audience, Issuer: "https://sts.windows.net/" + directory + "/", Claims: map[string]string{"appid": acmeApp}}
		}},
		"TokenWithoutApplication": {headers: []string{"Authorization", "Bearer token-of-acme"}, status: 403, code: apimpolicy.CodeTenant, change: func(c *interp.Config) {
			c.Tokens["token-of-acme"] = interp.Token{Audience: audience, Issuer: "https://sts.windows.net/" + directory + "/"}
			c.Fragments[len(c.Fragments)-1] = apimpolicy.Workers(nil) // an empty table has no empty word in it
		}},
		// The key of all APIs would go past every plan's limits.
		"KeyOfAllAPIs": {headers: []string{"api-key", "master"}, status: 403, code: apimpolicy.CodeTenant, change: func(c *interp.Config) {
			c.Keys["master"] = interp.Key{ID: "acme"}
		}},
		"KeyOfAnotherPlan": {headers: []string{"api-key", "old"}, status: 403, code: apimpolicy.CodeTenant, change: func(c *interp.Config) {
			c.Keys["old"] = interp.Key{ID: "acme", Product: apimpolicy.ProductID("tin")}
		}},
		// The display name is for people, who change it.
		"KeyCalledLikeATenant": {headers: []string{"api-key", "renamed"}, status: 403, code: apimpolicy.CodeTenant, change: func(c *interp.Config) {
			c.Keys["renamed"] = interp.Key{ID: "somebody", Name: "acme", Product: apimpolicy.ProductID("gold")}
		}},
		"KeyOfNoTenant": {headers: []string{"api-key", "odd"}, status: 403, code: apimpolicy.CodeTenant, change: func(c *interp.Config) {
			c.Keys["odd"] = interp.Key{ID: "acme=gold,regional,-;x", Product: apimpolicy.ProductID("gold")}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := c.change
			if change == nil {
				change = func(*interp.Config) {}
			}
			s := run(t, given(), change)
			w := s.post(chatPath, chatBody, c.headers...)
			assert.Equal(t, c.status, w.Code, w.Body.String())
			if c.code != "" {
				assert.Equal(t, c.code, code(t, w))
			}
			assert.Equal(t, c.status == 200, len(s.calls) == 1, "only a tenant's call goes on")
		})
	}
}

// Whoever calls with a key or a token of a tenant is that tenant, whatever a
// header says. Only a worker's header counts.
func TestOnlyWorkersNameTheTenant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headers      []string
		status       int
		tenant, door string
	}{
		"Worker":                {[]string{"Authorization", "Bearer token-of-worker", apimpolicy.TenantHeader, "initech"}, 200, "initech", apimpolicy.DoorQueue},
		"WorkerForNobody":       {[]string{"Authorization", "Bearer token-of-worker"}, 403, "", ""},
		"WorkerForAStranger":    {[]string{"Authorization", "Bearer token-of-worker", apimpolicy.TenantHeader, "globex"}, 403, "", ""},
		"WorkerWithAPattern":    {[]string{"Authorization", "Bearer token-of-worker", apimpolicy.TenantHeader, ".*"}, 403, "", ""},
		"WorkerWithAnEntry":     {[]string{"Authorization", "Bearer token-of-worker", apimpolicy.TenantHeader, "acme=gold,regional,-;hooli"}, 403, "", ""},
		"TenantByTokenAsserts":  {[]string{"Authorization", "Bearer token-of-acme", apimpolicy.TenantHeader, "initech"}, 200, "acme", apimpolicy.DoorGateway},
		"TenantByKeyAsserts":    {[]string{"api-key", "key-of-acme", apimpolicy.TenantHeader, "initech"}, 200, "acme", apimpolicy.DoorGateway},
		"StrangerAsserts":       {[]string{"Authorization", "Bearer token-of-stranger", apimpolicy.TenantHeader, "initech"}, 403, "", ""},
		"KeyBesideWorkersToken": {[]string{"api-key", "key-of-acme", "Authorization", "Bearer token-of-worker", apimpolicy.TenantHeader, "initech"}, 200, "acme", apimpolicy.DoorGateway},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := run(t, given())
			w := s.post(chatPath, chatBody, c.headers...)
			require.Equal(t, c.status, w.Code, w.Body.String())
			if c.status != 200 {
				assert.Empty(t, s.calls)
				return
			}
			assert.Equal(t, c.tenant, w.Header().Get(apimpolicy.TenantHeader), "the log knows it by the answer")
			assert.Equal(t, []interp.Metric{{Dimensions: map[string]string{"tenant": c.tenant, "alias": "gpt-4.1", "door": c.door}, Tokens: 60}}, s.Metrics())
		})
	}
}

// spellings of one route, however a caller may write it.
func spellings(path string) []string {
	last := path[strings.LastIndex(path, "/")+1:]
	return []string{
		path, path + "/", path + "?api-version=2024-10-21", strings.ToUpper(path), strings.Replace(path, last, strings.ToUpper(last[:1])+last[1:], 1),
		strings.Replace(path, "/"+last, "//"+last, 1), strings.Replace(path, "/openai", "//openai", 1),
		strings.Replace(path, last, fmt.Sprintf("%%%02x", last[0])+last[1:], 1), strings.Replace(path, last, fmt.Sprintf("%%%02X", last[0])+last[1:], 1),
		strings.Replace(path, "/"+last, "%2F"+last, 1),
	}
}

func TestBatchRoutesAreRefusedHoweverSpelled(t *testing.T) {
	t.Parallel()
	// An operation that somebody adds by hand must forward nothing either.
	handMade := func(c *interp.Config) {
		for _, method := range []string{"GET", "POST", "DELETE", "PUT"} {
			c.Operations = append(c.Operations, apimpolicy.Operation{ID: "hand-made-" + method, Method: method, Template: "/*", Path: "/"})
		}
	}
	exact := func(c *interp.Config) { c.Route = interp.Exact }
	gateways := map[string]*site{
		"lenient": run(t, given()), "exact": run(t, given(), exact),
		"lenient, with a wildcard": run(t, given(), handMade), "exact, with a wildcard": run(t, given(), exact, handMade),
	}
	refused := map[string]int{}
	for _, route := range []struct{ method, path string }{
		{"POST", "/openai/v1/batches"}, {"GET", "/openai/v1/batches"}, {"GET", "/openai/v1/batches/b1"}, {"POST", "/openai/v1/batches/b1/cancel"},
		{"POST", "/openai/v1/files"}, {"GET", "/openai/v1/files/f1"}, {"DELETE", "/openai/v1/files/f1"}, {"GET", "/openai/v1/files/f1/content"},
		{"POST", "/openai/v1/uploads"}, {"POST", "/openai/v1/uploads/u1/parts"},
		{"POST", "/openai/batches"}, {"POST", "/openai/files"}, {"POST", "/openai/files/import"}, {"POST", "/openai/uploads"},
		{"POST", "/openai/deployments/gpt-4.1/batches"}, {"POST", "/openai/deployments/gpt-4.1/files"},
	} {
		for _, path := range spellings(route.path) {
			for name, s := range gateways {
				w := s.do(route.method, path, `{"model":"gpt-4.1","input_file_id":"f1"}`, "api-key", "key-of-acme")
				switch w.Code {
				case http.StatusForbidden:
					assert.Equal(t, apimpolicy.CodeBatch, code(t, w), "%s: %s %s", name, route.method, path)
					assert.Contains(t, w.Body.String(), controlPlane)
					refused[name]++
				default:
					// A gateway that takes a path letter by letter has no such operation.
					assert.Equal(t, http.StatusNotFound, w.Code, "%s: %s %s", name, route.method, path)
					assert.NotEqual(t, "lenient", name, path)
				}
				assert.Empty(t, s.calls, "%s: %s %s", name, route.method, path)
			}
		}
	}
	assert.Equal(t, 160, refused["lenient"])
	assert.GreaterOrEqual(t, refused["exact"], 32, "at least the routes as they are published")
	assert.GreaterOrEqual(t, refused["exact, with a wildcard"], 120)
}

func TestBackgroundResponsesAreBatchWork(t *testing.T) {
	t.Parallel()
	s := run(t, given())
	for _, body := range []string{`{"model":"gpt-4.1","input":"hi","background":true}`, `{"model":"gpt-4.1","input":"hi","background":"true"}`, `{"model":"gpt-4.1","input":"hi","background":1}`} {
		w := s.post("/openai/v1/responses", body, "api-key", "key-of-acme")
		assert.Equal(t, http.StatusForbidden, w.Code)
		assert.Equal(t, apimpolicy.CodeBatch, code(t, w))
	}
	assert.Equal(t, http.StatusBadRequest, s.post("/openai/v1/responses", `{"model":"gpt-4.1","background":{"a":1}}`, "api-key", "key-of-acme").Code)
	assert.Empty(t, s.calls)
	for _, body := range []string{`{"model":"gpt-4.1","input":"hi","background":false}`, `{"model":"gpt-4.1","input":"hi","background":null}`, `{"model":"gpt-4.1","input":"hi"}`} {
		assert.Equal(t, http.StatusOK, s.post("/openai/v1/responses", body, "api-key", "key-of-acme").Code)
	}
	assert.Equal(t, false, s.calls[0].body["store"], "nobody could fetch what is stored")
}

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

func TestResidencyIsKept(t *testing.T) {
	t.Parallel()
	all := []string{"sweden-gpt-41", "sweden-gpt-41-zone", "east-gpt-41"}
	for tenant, want := range map[string][]string{"acme": all[:1], "hooli": all[:2], "initech": all} {
		s := run(t, given())
		for _, id := range all {
			s.answer[id] = status(429)
		}
		w := s.post(chatPath, chatBody, "api-key", "key-of-"+tenant, "x-ms-spillover-deployment", "gpt-41-global")
		assert.Equal(t, http.StatusTooManyRequests, w.Code)
		assert.Equal(t, want, s.tried(), tenant)
		for _, c := range s.calls {
			assert.Empty(t, c.header.Get("x-ms-spillover-deployment"), "a caller could leave its residency with it")
		}
	}
	s := run(t, given())
	w := s.post("/openai/v1/embeddings", `{"model":"embed","input":"hi"}`, "api-key", "key-of-acme")
	assert.Equal(t, http.StatusForbidden, w.Code)
	assert.Equal(t, apimpolicy.CodeResidency, code(t, w))
	assert.Empty(t, s.calls)
	assert.Equal(t, http.StatusOK, s.post("/openai/v1/embeddings", `{"model":"embed","input":"hi"}`, "api-key", "key-of-initech").Code)
}

func TestAliases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body   string
		key    string
		status int
		code   string
	}{
		"Known":        {`{"model":"gpt-4.1"}`, "hooli", 200, ""},
		"NotInPlan":    {`{"model":"embed"}`, "hooli", 403, apimpolicy.CodePlan},
		"Unknown":      {`{"model":"gpt-9"}`, "hooli", 400, apimpolicy.CodeModel},
		"None":         {`{}`, "hooli", 400, apimpolicy.CodeModel},
		"Pattern":      {`{"model":"gpt-.*"}`, "hooli", 400, apimpolicy.CodeModel},
		"AnyCharacter": {`{"model":"gpt-4x1"}`, "hooli", 400, apimpolicy.CodeModel},
		"LineBreak":    {`{"model":"gpt-4.1\n"}`, "hooli", 400, apimpolicy.CodeModel},
		"Entry":        {`{"model":"embed/dataZone=;embed"}`, "hooli", 400, apimpolicy.CodeModel},
		"Number":       {`{"model":4}`, "hooli", 400, apimpolicy.CodeModel},
		"Object":       {`{"model":{"a":1}}`, "hooli", 400, apimpolicy.CodeBody},
		"NoJSON":       {`model=gpt-4.1`, "hooli", 400, apimpolicy.CodeBody},
		"Array":        {`[{"model":"gpt-4.1"}]`, "hooli", 400, apimpolicy.CodeBody},
		"Empty":        {``, "hooli", 400, apimpolicy.CodeBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := run(t, given())
			w := s.post(chatPath, c.body, "api-key", "key-of-"+c.key)
			assert.Equal(t, c.status, w.Code, w.Body.String())
			if c.code != "" {
				assert.Equal(t, c.code, code(t, w))
				assert.Empty(t, s.calls)
			}
		})
	}
}

// A dot in an alias is a dot, and does not stand for any character.
func TestAliasesThatLookAlikeAreTwo(t *testing.T) {
	t.Parallel()
	g := given()
	g.Aliases = append(g.Aliases, routing.New("gpt-4-1", region, azure("sweden-other", "sweden", "other", "Standard", region, routing.Regional)))
	g.Plans[0].Aliases = append(g.Plans[0].Aliases, "gpt-4-1")
	s := run(t, g)
	for _, alias := range []string{"gpt-4.1", "gpt-4-1"} {
		require.Equal(t, http.StatusOK, s.post(chatPath, `{"model":"`+alias+`"}`, "api-key", "key-of-acme").Code)
	}
	assert.Equal(t, []string{"sweden-gpt-41", "sweden-other"}, s.tried())
}

func TestNothingOfTheCallerLeaksUpstream(t *testing.T) {
	t.Parallel()
	s := run(t, given())
	headers := []string{
		"api-key", "key-of-acme", "Ocp-Apim-Subscription-Key", "secret-1", "Authorization", "Bearer secret-2",
		apimpolicy.TenantHeader, "initech", "Cookie", "secret-3", "x-kept", "yes",
	}
	w := s.post("/openai/deployments/llama/chat/completions?api-version=1&api-key=secret-4", `{"messages":[]}`, headers...)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	w = s.post(chatPath, chatBody, headers...)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, []string{"ray-llama", "sweden-gpt-41"}, s.tried())
	for _, c := range s.calls {
		text := fmt.Sprint(c)
		assert.NotContains(t, text, "secret")
		assert.NotContains(t, text, "key-of-acme")
		assert.Empty(t, c.header.Get(apimpolicy.TenantHeader))
		assert.Equal(t, "yes", c.header.Get("x-kept"))
	}
	assert.Equal(t, "Bearer token of "+gatewayID+" for "+servingAudience, s.calls[0].header.Get("Authorization"), "a model of one's own does not get Azure's token")
	assert.Equal(t, "llama-3.3", s.calls[0].body["model"])
	assert.Contains(t, s.calls[1].header.Get("Authorization"), "token of "+gatewayID)

	// Somebody else's model whose key nobody has written.
	g := given()
	g.Aliases[2].Targets[0].Kind = routing.External
	keyless := run(t, g, func(c *interp.Config) {
		c.Backends["ray-llama"] = interp.Backend{URL: "https://serving", Handler: c.Backends["ray-llama"].Handler}
	})
	require.Equal(t, http.StatusOK, keyless.post(chatPath, `{"model":"llama"}`, "Authorization", "Bearer token-of-acme").Code)
	assert.Empty(t, keyless.calls[0].header.Get("Authorization"), "the caller's own token goes no further")
}

func TestNothingOfTheBackendLeaksToCallers(t *testing.T) {
	t.Parallel()
	s := run(t, given())
	w := s.post(chatPath, chatBody, "api-key", "key-of-acme")
	require.Equal(t, http.StatusOK, w.Code)
	assert.Empty(t, w.Header().Get("x-ms-region"))
	assert.Empty(t, w.Header().Get("x-ms-deployment-name"))
	assert.Equal(t, "20000", w.Header().Get("x-ratelimit-remaining-tokens"), "the tenant's own, not the deployment's")
	for _, code := range []int{401, 403, 404} {
		s.answer["sweden-gpt-41"] = status(code)
		w := s.post(chatPath, chatBody, "api-key", "key-of-acme")
		assert.Equal(t, http.StatusBadGateway, w.Code)
		assert.NotContains(t, w.Body.String(), "sweden")
	}
}

// A plan's limit counts whatever kind of call takes tokens.
func TestEveryOperationCounts(t *testing.T) {
	t.Parallel()
	g := given()
	g.Plans[1].Aliases = []string{"gpt-4.1", "llama"}
	g.Plans[1].TokensPerMinute = 60
	for _, path := range []string{
		chatPath, "/openai/v1/completions", "/openai/v1/embeddings", "/openai/v1/responses", "/openai/responses",
		"/openai/deployments/gpt-4.1/chat/completions", "/openai/deployments/gpt-4.1/completions", "/openai/deployments/gpt-4.1/embeddings",
	} {
		for name, headers := range map[string][]string{
			"key": {"api-key", "key-of-hooli"}, "token": {"Authorization", "Bearer token-of-worker", apimpolicy.TenantHeader, "hooli"},
		} {
			s := run(t, g)
			require.Equal(t, http.StatusOK, s.post(path, chatBody, headers...).Code, "%s by %s", path, name)
			assert.Equal(t, http.StatusTooManyRequests, s.post(path, chatBody, headers...).Code, "%s by %s", path, name)
			assert.Len(t, s.calls, 1)
			assert.Equal(t, []interp.Metric{{Dimensions: map[string]string{"tenant": "hooli", "alias": "gpt-4.1", "door": s.Metrics()[0].Dimensions["door"]}, Tokens: 60}}, s.Metrics(), "%s by %s", path, name)
		}
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

// What the service itself would run is refused: it could reach other servers, or
// work elsewhere than the tenant's residency allows.
func TestOnlyToolsOfTheCallerAreOffered(t *testing.T) {
	t.Parallel()
	for body, status := range map[string]int{
		`"tools":[{"type":"function","name":"f"}]`:                          200,
		`"tools":[{"type":"custom","name":"f"}]`:                            200,
		`"tools":[]`:                                                        200,
		`"input":"type: mcp"`:                                               200,
		`"tools":[{"type":"mcp","server_url":"https://example.com"}]`:       403,
		`"tools":[{"type":"function"},{"type":"image_generation"}]`:         403,
		`"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]`: 403,
		`"tools":[{"type":"file_search","vector_store_ids":["v"]}]`:         403,
		`"tools":[{"type":"web_search_preview"}]`:                           403,
		`"tools":[{"type":"tool of next year"}]`:                            403,
		`"tools":[{"type":"MCP"}]`:                                          403,
		`"tools":[{"name":"f"}]`:                                            403,
		`"tools":["mcp"]`:                                                   403,
		`"data_sources":[{"type":"azure_search"}]`:                          403,
		`"web_search_options":{}`:                                           403,
	} {
		for _, path := range []string{"/openai/v1/responses", "/openai/responses", chatPath} {
			s := run(t, given())
			w := s.post(path, `{"model":"gpt-4.1",`+body+`}`, "api-key", "key-of-acme")
			assert.Equal(t, status, w.Code, "%s %s", path, body)
			if status != 200 {
				assert.Equal(t, apimpolicy.CodeTool, code(t, w))
				assert.Empty(t, s.calls)
			}
		}
	}
}

// Nothing is kept with the account, whatever the caller asks for.
func TestNothingIsStored(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]map[string]any{
		`{"model":"gpt-4.1"}`:               {chatPath: nil, "/openai/v1/responses": false},
		`{"model":"gpt-4.1","store":true}`:  {chatPath: false, "/openai/v1/responses": false},
		`{"model":"gpt-4.1","store":false}`: {chatPath: false, "/openai/v1/responses": false},
	} {
		for path, store := range want {
			s := run(t, given())
			require.Equal(t, http.StatusOK, s.post(path, body, "api-key", "key-of-acme").Code)
			assert.Equal(t, store, s.calls[0].body["store"], "%s %s", path, body)
		}
	}
}

// A caller sees the models of its plan, and no back end is asked.
func TestModelsAreThoseOfThePlan(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][]string{"key-of-acme": {"embed", "gpt-4.1", "llama"}, "key-of-hooli": {"gpt-4.1"}} {
		for _, path := range []string{"/openai/v1/models", "/openai/models?api-version=2024-10-21"} {
			s := run(t, given())
			w := s.do("GET", path, "", "api-key", key)
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			var list struct {
				Object string
				Data   []struct{ ID, Object string }
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &list), w.Body.String())
			assert.Equal(t, "list", list.Object)
			var got []string
			for _, model := range list.Data {
				assert.Equal(t, "model", model.Object)
				got = append(got, model.ID)
			}
			assert.Equal(t, want, got)
			assert.Empty(t, s.calls)
			assert.Empty(t, s.Metrics())
		}
	}
	s := run(t, given())
	assert.Equal(t, http.StatusUnauthorized, s.do("GET", "/openai/v1/models", "").Code)
	assert.Equal(t, http.StatusForbidden, s.do("GET", "/openai/v1/models", "", "Authorization", "Bearer token-of-stranger").Code)
}

// A service outside Azure is no part of any residency: only who agreed to such
// gets there.
func TestOnlyWhoAgreedLeavesAzure(t *testing.T) {
	t.Parallel()
	g := given()
	g.Aliases[0] = routing.New("gpt-4.1", region, append(g.Aliases[0].Targets, routing.Target{
		Backend: "external_partner", Kind: routing.External, Deployment: "vendor/model", URL: "https://api.example.com/v1", Residency: routing.Anywhere,
	})...)
	for residency, want := range map[routing.Residency]int{routing.Regional: 1, routing.DataZone: 2, routing.Global: 3, routing.Anywhere: 4} {
		g.Tenants[0].Residency = residency
		s := run(t, g)
		for _, target := range g.Aliases[0].Targets {
			s.answer[target.Backend] = status(429)
		}
		require.Equal(t, http.StatusTooManyRequests, s.post(chatPath, chatBody, "api-key", "key-of-acme").Code)
		require.Len(t, s.tried(), want, residency)
		assert.Equal(t, residency == routing.Anywhere, s.tried()[want-1] == "external_partner", residency)
	}
}

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

func TestOnlyThoseWhoAgreedAreLogged(t *testing.T) {
	t.Parallel()
	g := given()
	logged := func(c *interp.Config) { c.Path, c.API = apimpolicy.LoggedPath, g.API(true) }
	s := run(t, g, logged)
	w := s.post("/logged"+chatPath, chatBody, "api-key", "key-of-acme")
	assert.Equal(t, http.StatusForbidden, w.Code)
	assert.Equal(t, apimpolicy.CodeLogging, code(t, w))
	assert.Empty(t, s.calls)
	assert.Equal(t, http.StatusOK, s.post("/logged"+chatPath, chatBody, "api-key", "key-of-initech").Code)
}
