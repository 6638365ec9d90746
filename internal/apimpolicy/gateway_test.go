package apimpolicy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/apimpolicy/interp"
	"onedoor/internal/routing"
)

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

// A model that is asked about a text must see that text, and none that the gateway
// made of it.
func TestTextsArriveAsTheyWereSent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"2024-05-01T10:00:00+02:00", `2024-05-01T10:00:00\u002B02:00`, "2024-05-01T10:00:00.500Z", "2024-05-01T10:00:00.123456789",
		"/Date(1198908717056)/", `\/Date(1198908717056-0700)\/`, "/Date(99999999999999999)/", "/Dates",
		`\"2024-05-01T10:00:00+02:00\"`, `it says \"\/Date(1)\/\"`, "2024-05-01", "2024", "\uFDD0", `\uFDD0stream`, "",
	} {
		member := `{"` + text + `":["` + text + `"]}`
		for _, path := range []string{chatPath, "/openai/v1/embeddings", "/openai/v1/responses"} {
			s := run(t, given())
			s.answer["sweden-gpt-41"] = status(429)
			require.Equal(t, http.StatusOK, s.post(path, `{"model":"gpt-4.1","input":`+member+`}`, "api-key", "key-of-initech").Code, text)
			require.Len(t, s.calls, 2)
			for _, c := range s.calls {
				sent, err := json.Marshal(c.body["input"])
				require.NoError(t, err)
				assert.JSONEq(t, member, string(sent), path)
			}
		}
	}
}

// What the gateway takes out of a body leaves no member behind that it would refuse.
func TestNoMemberHidesBehindAMark(t *testing.T) {
	t.Parallel()
	s := run(t, given())
	require.Equal(t, http.StatusOK, s.post("/openai/v1/responses", "{\"model\":\"gpt-4.1\",\"\uFDD0background\":true,\"\\uFDD0tools\":[{\"type\":\"mcp\"}]}", "api-key", "key-of-acme").Code)
	assert.NotContains(t, s.calls[0].body, "background")
	assert.NotContains(t, s.calls[0].body, "tools")
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
