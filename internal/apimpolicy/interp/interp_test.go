package interp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/apimpolicy/interp"
)

// api is a gateway of one operation, whose policy has those sections.
func api(inbound, backend, outbound, onError string) interp.Config {
	return interp.Config{
		Path: "api", Operations: []apimpolicy.Operation{{ID: "op", Method: "POST", Template: "/a/{p}", Path: "/a"}},
		API: apimpolicy.Document{Name: "api", Text: "<policies><inbound><base />" + inbound + "</inbound><backend>" + backend +
			"</backend><outbound><base />" + outbound + "</outbound><on-error><base />" + onError + "</on-error></policies>"},
		Backends: map[string]interp.Backend{"echo": {URL: "https://echo/base", Headers: map[string]string{"x-key": "k"}, Handler: http.HandlerFunc(echo)}},
	}
}

// echo answers with what it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("x-from", "echo")
	fmt.Fprintf(w, "%s %s?%s key=%s body=%s", r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("x-key"), body)
}

const toEcho = `<retry condition="@(false)" count="1" interval="1"><set-backend-service backend-id="echo" /><forward-request timeout="1" buffer-request-body="true" buffer-response="false" /></retry>`

func call(t *testing.T, config interp.Config, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	g, err := interp.New(config)
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodPost, "/api/a/v?q=1", strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

func TestACallGoesOnAsItIs(t *testing.T) {
	t.Parallel()
	w := call(t, api("", toEcho, "", ""), "hi")
	assert.Equal(t, "POST /base/a/v?q=1 key=k body=hi", w.Body.String())
	assert.Equal(t, "echo", w.Header().Get("x-from"))
}

func TestRequestsAreChanged(t *testing.T) {
	t.Parallel()
	w := call(t, api(`<rewrite-uri template="/b" copy-unmatched-params="false" /><set-body>@(context.Request.MatchedParameters["p"] + "!")</set-body>`, toEcho,
		`<set-header name="x-from" exists-action="delete" /><set-header name="x-new" exists-action="override"><value>1</value></set-header>`, ""), "hi")
	assert.Equal(t, "POST /base/b? key=k body=v!", w.Body.String())
	assert.Empty(t, w.Header().Get("x-from"))
	assert.Equal(t, "1", w.Header().Get("x-new"))
}

// value evaluates an expression: its result becomes the body.
func value(t *testing.T, expression, body string) *httptest.ResponseRecorder {
	t.Helper()
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(expression)
	return call(t, api("<set-body>"+escaped+"</set-body>", toEcho, "", ""), body)
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	const parsed = `JObject.Parse(context.Request.Body.As<string>(preserveContent: true))`
	for expression, want := range map[string]string{
		`@(1 + 2 - 4)`:                                                "-1",
		`@("a" + "b")`:                                                "ab",
		`@("a,b".Split(',')[1])`:                                      "b",
		`@("a,b".Split(',').Length)`:                                  "2",
		`@("a.b".Replace(".", "-"))`:                                  "a-b",
		`@(Regex.Replace("a1b2", "([a-z])1", "-$1"))`:                 "-ab2",
		`@("abc".Contains("bc"))`:                                     "true",
		`@(true ? "y" : "n")`:                                         "y",
		`@(context.Subscription == null)`:                             "true",
		`@(context.Subscription?.Name ?? "none")`:                     "none",
		`@(false && context.Subscription.Name == "")`:                 "false", // the second is not looked at
		`@(true || context.Subscription.Name == "")`:                  "true",
		`@(1 < 2 && 2 >= 2 && 1 != 2)`:                                "true",
		`@(!Regex.IsMatch("ab", "^a\\z"))`:                            "true",
		`@(Regex.Match(";a=1;", ";a=([^;]*);").Groups[1].Value)`:      "1",
		`@(Regex.Match("", "(a)").Groups[1].Value + "none")`:          "none",
		`@(context.Request.Headers.GetValueOrDefault("X-None", "d"))`: "d",
		`@(context.Variables.GetValueOrDefault<int>("n", 3))`:         "3",
		`@(context.Operation.Id)`:                                     "op",
		`@((string)` + parsed + `["s"])`:                              "text",
		`@((string)` + parsed + `["n"])`:                              "1.50",
		`@((string)` + parsed + `["none"] ?? "null")`:                 "null",
		`@((string)` + parsed + `["null"] ?? "null")`:                 "null",
		`@((bool?)` + parsed + `["b"] == true)`:                       "true",
		`@((bool?)` + parsed + `["none"] == true)`:                    "false",
		`@(` + parsed + `["s"] as JObject == null)`:                   "true",
		`@{ var a = ` + parsed + `["o"] as JObject ?? new JObject(); a["x"] = 1; return a.ToString(Newtonsoft.Json.Formatting.None); }`: `{"k":2,"x":1}`,
		`@{ try { return (string)` + parsed + `["o"]; } catch { return "caught"; } }`:                                                   "caught",
		`@{ if (false) { return 1; } else { return 2; } }`:                                                                              "2",
		`@((long?)` + parsed + `["n"])`:                  "2",
		`@((long?)` + parsed + `["none"] == null)`:       "true",
		`@((long?)` + parsed + `["null"] > 1)`:           "false",
		`@((long?)` + parsed + `["n"] > int.Parse("1"))`: "true",
		`@(` + parsed + `["o"] as JArray == null)`:       "true",
		`@{ foreach (var a in ` + parsed + `["a"] as JArray ?? new JArray()) { if ((string)a == "y") { return "found"; } } return "none"; }`: "found",
		`@{ foreach (var a in ` + parsed + `["o"] as JArray ?? new JArray()) { return "found"; } return "none"; }`:                           "none",
	} {
		w := value(t, expression, `{"s":"text","n":1.50,"b":true,"null":null,"o":{"k":2},"a":["x","y"]}`)
		assert.True(t, strings.HasSuffix(w.Body.String(), "body="+want), "%s: %s", expression, w.Body.String())
	}
}

// As Newtonsoft.Json does it, which turns what looks like a date into one.
func TestTextsOfDatesAreWrittenAnew(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024-05-01T10:00:00+02:00":           "2024-05-01T08:00:00+00:00",
		"2024-05-01T10:00:00-0230":            "2024-05-01T12:30:00+00:00",
		"2024-05-01T10:00:00.500Z":            "2024-05-01T10:00:00.5Z",
		"2024-05-01T10:00:00.123456789":       "2024-05-01T10:00:00.1234567",
		`2024-05-01T10:00:00\u002b02:00`:      "2024-05-01T08:00:00+00:00",
		"/Date(1198908717056)/":               "2007-12-29T06:11:57.056Z",
		`\/Date(1198908717056-0700)\/`:        "2007-12-29T06:11:57.056+00:00",
		"2024-05-01T10:00:00":                 "2024-05-01T10:00:00",
		"2024-05-01T10:00:00.123456789+02:00": "2024-05-01T10:00:00.123456789+02:00",
		"2024-02-30T10:00:00+02:00":           "2024-02-30T10:00:00+02:00",
		"2024-05-01T10:00+02:00":              "2024-05-01T10:00+02:00",
		"at 2024-05-01T10:00:00+02:00":        "at 2024-05-01T10:00:00+02:00",
	} {
		w := value(t, `@(JObject.Parse(context.Request.Body.As<string>(preserveContent: true)).ToString(Newtonsoft.Json.Formatting.None))`, `{"a":[{"b":"`+text+`"}]}`)
		assert.Contains(t, w.Body.String(), `body={"a":[{"b":"`+want+`"}]}`, text)
	}
	w := value(t, `@((string)JObject.Parse("{\"a\":\"2024-05-01T10:00:00+02:00\"}")["a"])`, "")
	assert.Contains(t, w.Body.String(), "body=05/01/2024 08:00:00")
}

// What would throw in the real one fails the call, and runs on-error.
func TestExceptionsFailTheCall(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{
		`@(context.Subscription.Name)`, `@((string)context.Variables["none"])`, `@("a".Split(',')[1])`,
		`@(context.Request.Body.As<string>(preserveContent: true))`, `@((string)JObject.Parse("[1]")["a"])`, `@((bool?)JObject.Parse("{\"a\":{}}")["a"] == true)`,
		`@((long?)JObject.Parse("{\"a\":{}}")["a"] > 1)`, `@((long?)JObject.Parse("{\"a\":99999999999999999999}")["a"] > 1)`, `@(int.Parse("x"))`,
		`@(JObject.Parse("{\"a\":\"/Date(99999999999999999)/\"}"))`,
	} {
		w := value(t, expression, "")
		assert.Equal(t, http.StatusInternalServerError, w.Code, expression)
	}
	handled := call(t, api(`<set-body>@(context.Subscription.Name)</set-body>`, toEcho, "",
		`<choose><when condition='@(context.LastError.Source == "set-body")'><return-response><set-status code="418" reason="x" /></return-response></when></choose>`), "")
	assert.Equal(t, http.StatusTeapot, handled.Code)
}

// What is not known stops the test instead of being passed over.
func TestWhatIsNotKnownStopsTheTest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"<cors />", `<set-variable name="a" value="b" extra="c" />`, `<choose><when condition="@(true)"><trace /></when></choose>`} {
		_, err := interp.New(api(text, toEcho, "", ""))
		assert.ErrorContains(t, err, "is not known here", text)
	}
	for _, expression := range []string{
		`@(context.User)`, `@("a".ToUpper())`, `@(DateTime.UtcNow)`, `@(context.Request.Body.As<string>())`, `@((int)JObject.Parse("{}")["a"] ?? 1)`, `@(1 + "a")`,
	} {
		assert.Panics(t, func() { value(t, expression, "{}") }, expression)
	}
}

func TestRetryTriesAsOftenAsItSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    int
		status  int
	}{
		"UntilItWorks": {nil, 3, 200},
		"ThenGivesUp":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 4, 503},
		"Unreachable":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 4, 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			config := api("", strings.Replace(strings.Replace(toEcho, `count="1"`, `count="3"`, 1), "@(false)", "@(context.Response == null || context.Response.StatusCode == 503)", 1), "", "")
			config.Backends["echo"] = interp.Backend{URL: "https://x", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n++
				switch {
				case c.handler != nil:
					c.handler(w, r)
				case n < 3:
					w.WriteHeader(503)
				}
			})}
			w := call(t, config, "hi")
			assert.Equal(t, c.want, n)
			assert.Equal(t, c.status, w.Code)
		})
	}
}

func TestAnUnreachableBackendIsAnError(t *testing.T) {
	t.Parallel()
	config := api("", toEcho, "", "")
	config.Backends["echo"] = interp.Backend{URL: "https://x"}
	w := call(t, config, "")
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	assert.Contains(t, w.Body.String(), "cannot be reached")
}

func TestReturnedAnswersEndTheCall(t *testing.T) {
	t.Parallel()
	w := call(t, api(`<return-response><set-status code="403" reason="x" /><set-header name="a" exists-action="override"><value>b</value></set-header><set-body>no</set-body></return-response>`, toEcho,
		`<set-header name="a" exists-action="override"><value>outbound</value></set-header>`, ""), "")
	assert.Equal(t, 403, w.Code)
	assert.Equal(t, "no", w.Body.String())
	assert.Equal(t, "b", w.Header().Get("a"))
}

// A held-back answer comes whole, as the caller of a stream would notice.
func TestBufferedAnswersComeWhole(t *testing.T) {
	t.Parallel()
	for buffer, want := range map[string]int{"true": 1, "false": 2} {
		config := api("", strings.Replace(toEcho, `buffer-response="false"`, `buffer-response="`+buffer+`"`, 1), "", "")
		config.Backends["echo"] = interp.Backend{URL: "https://x", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "one")
			fmt.Fprint(w, "two")
		})}
		g, err := interp.New(config)
		require.NoError(t, err)
		w := &pieces{ResponseRecorder: httptest.NewRecorder()}
		g.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/api/a/v", nil))
		assert.Equal(t, want, w.n, buffer)
		assert.Equal(t, "onetwo", w.Body.String())
	}
}

// pieces counts writes.
type pieces struct {
	*httptest.ResponseRecorder
	n int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.n++
	return p.ResponseRecorder.Write(b)
}

func TestLimitsCountWhatAnswersSay(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	config := api(`<llm-token-limit counter-key="k" tokens-per-minute="10" token-quota="25" estimate-prompt-tokens="false" remaining-tokens-header-name="left" />`, toEcho, "", "")
	config.Now = func() time.Time { return now }
	config.Backends["echo"] = interp.Backend{URL: "https://x", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "data: {\"usage\":null}\n\ndata: {\"usage\":{\"total_tokens\":9}}\n\ndata: [DONE]\n\n")
	})}
	g, err := interp.New(config)
	require.NoError(t, err)
	for i, want := range []struct {
		status int
		left   string
		wait   time.Duration // before the call
	}{{200, "10", 0}, {200, "1", 0}, {429, "", 0}, {200, "10", time.Minute}, {403, "10", time.Minute}} {
		now = now.Add(want.wait)
		w := httptest.NewRecorder()
		g.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/api/a/v", nil))
		assert.Equal(t, want.status, w.Code, i)
		assert.Equal(t, want.left, w.Header().Get("left"), i)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]map[interp.Route]int{
		"/api/a/v":      {interp.Exact: 200, interp.Lenient: 200},
		"/API/A/v":      {interp.Exact: 404, interp.Lenient: 200},
		"/api//a/v":     {interp.Exact: 404, interp.Lenient: 200},
		"/api/a/v/":     {interp.Exact: 404, interp.Lenient: 200},
		"/api/%61/v":    {interp.Exact: 404, interp.Lenient: 200},
		"/api/a":        {interp.Exact: 404, interp.Lenient: 404},
		"/api/a/v/more": {interp.Exact: 404, interp.Lenient: 404},
	} {
		for route, status := range want {
			config := api("", toEcho, "", "")
			config.Route = route
			g, err := interp.New(config)
			require.NoError(t, err)
			w := httptest.NewRecorder()
			g.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
			assert.Equal(t, status, w.Code, "%s %v", path, route)
		}
	}
}

func TestProductsRunOutsideTheAPI(t *testing.T) {
	t.Parallel()
	config := api(`<set-variable name="order" value='@(context.Variables.GetValueOrDefault&lt;string&gt;("order", "") + "api")' /><set-body>@((string)context.Variables["order"])</set-body>`, toEcho, "", "")
	config.Products = []apimpolicy.Document{{Name: "p", Text: `<policies><inbound><base /><set-variable name="order" value="product then " /></inbound></policies>`}}
	config.Keys = map[string]interp.Key{"k": {ID: "n", Product: "p"}}
	assert.Contains(t, call(t, config, "", "api-key", "k").Body.String(), "body=product then api")
	assert.Contains(t, call(t, config, "", "api-key", "other").Body.String(), "body=api")
}
