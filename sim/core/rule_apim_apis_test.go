package core

import (
	"strings"
	"testing"

	"onedoor/internal/apimpolicy"
)

func TestGatewayAPIRules(t *testing.T) {
	t.Parallel()
	api, operation := gw+"/apis/new", gw+"/apis/chat/operations/new"
	route := func(method, template, parameters string) string {
		return properties(`'displayName':'x','method':'` + method + `','urlTemplate':'` + template + `','templateParameters':[` + parameters + `]`)
	}
	id := `{'name':'id','type':'string'}`
	runAll(t, map[string]writeCase{
		"A520 path of another":          {reason: "its own, in any case", id: api, body: properties(`'displayName':'New','path':'OpenAI'`), want: ValidationError, text: "with the same Path"},
		"A520 path of its own":          {reason: "neighbour", id: api, body: properties(`'displayName':'New','path':'openai/v1'`)},
		"A520 empty path":               {reason: "neighbour: once", id: api, body: properties(`'displayName':'New','path':''`)},
		"A520 slash in front":           {reason: "no slash at its ends", id: api, body: properties(`'displayName':'New','path':'/v1'`), want: ValidationError},
		"A520 update":                   {reason: "neighbour", id: gw + "/apis/chat", body: properties(`'displayName':'Chat','path':'openai'`)},
		"A521 name of another":          {reason: "its own", id: api, body: properties(`'displayName':'chat','path':'v1'`), want: ValidationError, text: "API with specified name already exists"},
		"A521 no name":                  {reason: "an API has one", id: api, body: properties(`'path':'v1'`), want: ValidationError, text: "displayName"},
		"A521 import without a name":    {reason: "neighbour", id: api, body: properties(`'path':'v1','format':'openapi','value':'openapi: 3.0.0'`)},
		"A522 revision of nothing":      {reason: "there is an API", id: gw + "/apis/nope;rev=2", body: properties(`'displayName':'x','path':'nope'`), want: ValidationError, text: "does not exist"},
		"A522 revision at another path": {reason: "the API's", id: gw + "/apis/chat;rev=2", body: properties(`'displayName':'Chat','path':'v2'`), want: ValidationError},
		"A522 other number":             {reason: "as its name says", id: gw + "/apis/chat;rev=2", body: properties(`'displayName':'Chat','path':'openai','apiRevision':'3'`), want: ValidationError},
		"A522 revision":                 {reason: "neighbour", id: gw + "/apis/chat;rev=2", body: properties(`'displayName':'Chat','path':'openai','apiRevision':'2'`)},
		"A522 number changes":           {reason: "never", id: gw + "/apis/chat", body: properties(`'displayName':'Chat','path':'openai','apiRevision':'2'`), want: ValidationError, text: ";rev=2"},
		"A525 the gateway's path":       {reason: "it answers there", id: api, body: properties(`'displayName':'New','path':'status-0123456789abcdef'`), want: ValidationError},
		"A530 same route":               {reason: "once", id: operation, body: route("post", "deployments/{name}/chat", `{'name':'name','type':'string'}`), want: ValidationError, text: "operations/complete"},
		"A530 another method":           {reason: "neighbour", id: operation, body: route("GET", "/deployments/{id}/chat", id)},
		"A530 another template":         {reason: "neighbour", id: operation, body: route("POST", "/deployments/{id}/embeddings", id)},
		"A531 parameter not listed":     {reason: "each is", id: operation, body: route("POST", "/x/{id}", ""), want: ValidationError, text: `["id"]`},
		"A531 parameter not used":       {reason: "each is", id: operation, body: route("POST", "/x", id), want: ValidationError},
		"A531 catch-all":                {reason: "neighbour", id: operation, body: route("POST", "/x/{*id}", id)},
		"A531 wildcard":                 {reason: "neighbour", id: operation, body: route("POST", "/*", "")},
		"A535 another name":             {reason: "it is called policy", id: gw + "/apis/chat/operations/complete/policies/mine", body: policy(aPolicy, "xml"), want: ValidationError, text: "policy"},
		"A535 policy of an operation":   {reason: "neighbour", id: gw + "/apis/chat/operations/complete/policies/policy", body: policy(aPolicy, "xml")},
		"A535 policy of a product":      {reason: "neighbour", id: gw + "/products/gold/policies/policy", body: policy(aPolicy, "xml")},
		"A535 policy without operation": {reason: "it has a parent", id: gw + "/apis/chat/operations/nope/policies/policy", body: policy(aPolicy, "xml"), want: ParentResourceNotFound},
		"A536 not closed":               {reason: "well-formed", id: gw + "/apis/chat/policies/policy", body: policy("<policies><inbound></policies>", "xml"), want: ValidationError, text: "<inbound> closed by </policies>"},
		"A536 raw C# in xml":            {reason: "escaped there", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><inbound><when condition="@(1 < 2 && "a" == "b")" /></inbound></policies>`, "xml"), want: ValidationError},
		"A536 raw C# in rawxml":         {reason: "neighbour", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><inbound><when condition="@(1 < 2 && "a)" == "b")" /></inbound></policies>`, "rawxml")},
		"A536 no policy":                {reason: "the root", id: gw + "/apis/chat/policies/policy", body: policy("<fragment />", "xml"), want: ValidationError, text: "<policies>"},
		"A536 unknown section":          {reason: "four sections", id: gw + "/apis/chat/policies/policy", body: policy("<policies><inbond /></policies>", "xml"), want: ValidationError, text: "inbond: want one of the sections"},
		"A536 section twice":            {reason: "once", id: gw + "/apis/chat/policies/policy", body: policy("<policies><inbound /><inbound /></policies>", "xml"), want: ValidationError, text: "each section once"},
		"A536 limit in outbound":        {reason: "policies have their sections", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><outbound><rate-limit-by-key calls="1" renewal-period="60" counter-key="a" /></outbound></policies>`, "xml"), want: ValidationError, text: "section inbound"},
		"A536 limit in inbound":         {reason: "neighbour", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><inbound><rate-limit-by-key calls="1" renewal-period="60" counter-key="a" /></inbound></policies>`, "xml")},
		"A536 two in backend":           {reason: "one", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><backend><base /><forward-request /></backend></policies>`, "xml"), want: ValidationError, text: "exactly one"},
		"A536 what only goes wrong":     {reason: "neighbour: Azure takes it", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><inbound /><backend><forward-request buffer-response="true" /></backend></policies>`, "xml")},
		"A536 two roots":                {reason: "one", id: gw + "/apis/chat/policies/policy", body: policy("<policies /><policies />", "xml"), want: ValidationError, text: "a second root"},
		"A536 too large":                {reason: "256 KB", id: gw + "/apis/chat/policies/policy", body: policy("<policies><!--"+strings.Repeat("x", maxPolicy)+"--></policies>", "xml"), want: ValidationError, text: "262144"},
		"A536 large":                    {reason: "neighbour", id: gw + "/apis/chat/policies/policy", body: policy("<policies><!--"+strings.Repeat("x", maxPolicy-30)+"--></policies>", "xml")},
		"A538 back end missing":         {reason: "it exists", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><inbound><set-backend-service backend-id="nope" /></inbound></policies>`, "xml"), want: ValidationError, text: "nope"},
		"A538 back end by expression":   {reason: "neighbour: not known", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><inbound><set-backend-service backend-id="@(x)" /></inbound></policies>`, "xml")},
		"A538 fragment missing":         {reason: "it exists", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><inbound><include-fragment fragment-id="nope" /></inbound></policies>`, "xml"), want: ValidationError, text: "nope"},
		"A538 named value missing":      {reason: "by displayName", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><inbound><set-body>{{url}}</set-body></inbound></policies>`, "xml"), want: ValidationError, text: "displayName"},
		"A538 named value":              {reason: "neighbour", id: gw + "/apis/chat/policies/policy", body: policy(`<policies><inbound><set-body>{{Control-URL}}</set-body></inbound></policies>`, "xml")},
		"A539 behind a link":            {reason: "nothing is fetched", id: gw + "/apis/chat/policies/policy", body: policy(`https://example.org/policy.xml`, "xml-link"), want: ValidationError, text: "fetches nothing"},
		"A565 policy as a fragment":     {reason: "its root", id: gw + "/policyFragments/new", body: policy(aPolicy, "xml"), want: ValidationError, text: "<fragment>"},
		"A565 fragment":                 {reason: "neighbour", id: gw + "/policyFragments/new", body: policy("<fragment><trace /></fragment>", "xml")},
		"A565 fragment in use":          {reason: "a policy includes it", method: Delete, id: gw + "/policyFragments/tail", want: ValidationError, text: "apis/chat/policies"},
		"A565 idle fragment":            {reason: "neighbour", method: Delete, id: gw + "/policyFragments/idle"},
	})
}

// Documents come back in the service's form: tabs, CR and LF, C# escaped, no
// format (A537).
func TestPolicyIsNormalised(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, format, want string }{
		"indented": {
			"<policies>\n  <inbound><base/>\n<set-header name='x' exists-action='override'><value>a</value></set-header></inbound></policies>", "xml",
			"<policies>\r\n\t<inbound>\r\n\t\t<base />\r\n\t\t<set-header name=\"x\" exists-action=\"override\">\r\n\t\t\t<value>a</value>\r\n\t\t</set-header>\r\n\t</inbound>\r\n</policies>",
		},
		"raw attribute": {
			`<policies><inbound><when condition="@(a < b && c.Get<int>("x)", 0) > 1)"><base /></when></inbound></policies>`, "rawxml",
			"<policies>\r\n\t<inbound>\r\n\t\t<when condition=\"@(a &lt; b &amp;&amp; c.Get&lt;int&gt;(&quot;x)&quot;, 0) &gt; 1)\">\r\n\t\t\t<base />\r\n\t\t</when>\r\n\t</inbound>\r\n</policies>",
		},
		"raw text": {
			`<policies><inbound><set-body>@{ if (a < b) { return "}"; } return ""; }</set-body></inbound></policies>`, "rawxml",
			"<policies>\r\n\t<inbound>\r\n\t\t<set-body>@{ if (a &lt; b) { return &quot;}&quot;; } return &quot;&quot;; }</set-body>\r\n\t</inbound>\r\n</policies>",
		},
		"escaped and comments": {
			`<policies><!-- why < --><inbound><when condition="@(a &lt; b)" /></inbound></policies>`, "xml",
			"<policies>\r\n\t<inbound>\r\n\t\t<when condition=\"@(a &lt; b)\" />\r\n\t</inbound>\r\n</policies>",
		},
	} {
		document, err := apimpolicy.Parse(c.in, c.format == "rawxml")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := serviceForm(document); got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, c.want)
		}
		again, err := apimpolicy.Parse(serviceForm(document), false)
		if err != nil || serviceForm(again) != c.want {
			t.Errorf("%s: written back: %v, %q", name, err, again)
		}
	}
	s := servedBy(t)
	if got := shown(t, s, gw+"/apis/chat/policies/policy", "properties.format"); got != nil {
		t.Errorf("format: %v", got)
	}
	if text, _ := shown(t, s, gw+"/policyFragments/tail", "properties.value").(string); !strings.HasPrefix(text, "<fragment>\r\n\t<set-header ") {
		t.Errorf("fragment: %q", text)
	}
}
