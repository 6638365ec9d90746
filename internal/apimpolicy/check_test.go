package apimpolicy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
)

// sections writes a document of those sections; each has <base /> first unless
// it is the backend, which has what is given.
func sections(inbound, backend, outbound string) string {
	if backend == "" {
		backend = "<base />"
	}
	return "<policies><inbound><base />" + inbound + "</inbound><backend>" + backend + "</backend><outbound><base />" + outbound +
		"</outbound><on-error><base /></on-error></policies>"
}

const (
	limitOf  = `<llm-token-limit counter-key="@(context.Subscription.Id)" estimate-prompt-tokens="false" `
	retryOf  = `<retry condition='@(context.Response == null || context.Response.StatusCode == 429)' count="2" interval="1">`
	forwards = `<forward-request buffer-request-body="true" buffer-response="false" />`
)

// silent are the mistakes below that Azure takes.
var silent = []string{
	"BaseMissing", "BackendNone", "GlobalForwards", "LimitComputed", "OneBucket", "RetryNoGuard", "BodyNotKept", "HeldBack", "BodyRead", "Reason",
	"Secret", "Unreachable", "AnyAudience", "Unsigned", "AnyClient", "CacheLeaks", "CacheLoose",
}

// Each mistake beside what is legal: the two differ in the mistake alone.
func TestCheckTellsMistakesFromTheirLegalNeighbours(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bad, good  string
		scope      apimpolicy.Scope // the API's without one
		want, path string
	}{
		"NotXML":          {"<policies><inbound></policies>", sections("", "", ""), "", "well-formed XML", "doc"},
		"RawInFormatXML":  {sections(`<set-variable name="a" value="@(1 < 2)" />`, "", ""), sections(`<set-variable name="a" value="@(1 &lt; 2)" />`, "", ""), "", "well-formed XML", "doc"},
		"Root":            {"<fragment />", sections("", "", ""), "", "the root <policies>", "fragment"},
		"RootOfFragment":  {"<policies />", "<fragment />", apimpolicy.FragmentScope, "the root <fragment>", "policies"},
		"SectionUnknown":  {"<policies><inbound><base /></inbound><between /></policies>", "<policies><inbound><base /></inbound></policies>", "", "one of the sections", "between"},
		"SectionOrder":    {"<policies><outbound><base /></outbound><inbound><base /></inbound></policies>", "<policies><inbound><base /></inbound><outbound><base /></outbound></policies>", "", "in the order", "inbound"},
		"SectionTwice":    {"<policies><inbound><base /></inbound><inbound><base /></inbound></policies>", "<policies><inbound><base /></inbound></policies>", "", "each section once", "inbound"},
		"BaseMissing":     {"<policies><inbound /></policies>", "<policies><inbound><base /></inbound></policies>", "", "the policies of outer scopes do not run", "inbound"},
		"BaseTwice":       {"<policies><inbound><base /><base /></inbound></policies>", "<policies><inbound><base /></inbound></policies>", "", "<base /> once", "inbound/base"},
		"BaseDeep":        {sections("<choose><when condition='@(true)'><base /></when></choose>", "", ""), sections("<choose><when condition='@(true)'></when></choose>", "", ""), "", "directly in a section", "inbound/choose/when/base"},
		"BaseGlobal":      {"<policies><inbound><base /></inbound></policies>", "<policies><inbound /></policies>", apimpolicy.GlobalScope, "no <base />", "inbound/base"},
		"BaseInFragment":  {"<fragment><base /></fragment>", "<fragment />", apimpolicy.FragmentScope, "no <base /> in a fragment", "fragment/base"},
		"BackendTwo":      {sections("", "<base />"+forwards, ""), sections("", forwards, ""), "", "exactly one", "backend"},
		"BackendNone":     {"<policies><backend /></policies>", "<policies><backend><base /></backend></policies>", "", "exactly one", "backend"},
		"GlobalForwards":  {"<policies><backend><limit-concurrency /></backend></policies>", "<policies><backend>" + forwards + "</backend></policies>", apimpolicy.GlobalScope, "no API forwards", "backend"},
		"Section":         {sections("", "", limitOf+`tokens-per-minute="1" />`), sections(limitOf+`tokens-per-minute="1" />`, "", ""), "", "section inbound", "outbound/llm-token-limit"},
		"ForwardInbound":  {sections(forwards, "", ""), sections("", forwards, ""), "", "section backend", "inbound/forward-request"},
		"IdentityLate":    {sections("", `<retry condition="@(true)" count="1" interval="1"><authentication-managed-identity resource="r" /></retry>`, ""), sections("", `<retry condition="@(true)" count="1" interval="1"><send-request><authentication-managed-identity resource="r" /></send-request></retry>`, ""), "", "section inbound", "backend/retry/authentication-managed-identity"},
		"NoLimit":         {sections(limitOf+"/>", "", ""), sections(limitOf+`tokens-per-minute="1" />`, "", ""), "", "tokens-per-minute, token-quota, or both", "inbound/llm-token-limit"},
		"QuotaNoPeriod":   {sections(limitOf+`token-quota="5" />`, "", ""), sections(limitOf+`token-quota="5" token-quota-period="Daily" />`, "", ""), "", "together", "inbound/llm-token-limit"},
		"PeriodUnknown":   {sections(limitOf+`token-quota="5" token-quota-period="Fortnightly" />`, "", ""), sections(limitOf+`token-quota="5" token-quota-period="Weekly" />`, "", ""), "", "one of Hourly", "inbound/llm-token-limit@token-quota-period"},
		"NoEstimate":      {sections(`<llm-token-limit counter-key="a" tokens-per-minute="1" />`, "", ""), sections(`<llm-token-limit counter-key="a" tokens-per-minute="1" estimate-prompt-tokens="true" />`, "", ""), "", "it is required", "inbound/llm-token-limit@estimate-prompt-tokens"},
		"LimitComputed":   {sections(limitOf+`tokens-per-minute="@(5)" />`, "", ""), sections(limitOf+`tokens-per-minute="5" />`, "", ""), "", "a literal", "inbound/llm-token-limit@tokens-per-minute"},
		"OneBucket":       {sections(limitOf+`tokens-per-minute="1" />`+limitOf+`tokens-per-minute="2" />`, "", ""), sections(limitOf+`tokens-per-minute="1" />`+limitOf+`tokens-per-minute="1" />`, "", ""), "", "they share one bucket", "inbound/llm-token-limit[2]@tokens-per-minute"},
		"Dimensions":      {sections("<llm-emit-token-metric>"+strings.Repeat(`<dimension name="x" value="y" />`, 6)+"</llm-emit-token-metric>", "", ""), sections("<llm-emit-token-metric>"+strings.Repeat(`<dimension name="x" value="y" />`, 5)+`<dimension name="API ID" /></llm-emit-token-metric>`, "", ""), "", "at most 5", "inbound/llm-emit-token-metric"},
		"DimensionEmpty":  {sections(`<llm-emit-token-metric><dimension name="x" /></llm-emit-token-metric>`, "", ""), sections(`<llm-emit-token-metric><dimension name="Product ID" /></llm-emit-token-metric>`, "", ""), "", "a value", "inbound/llm-emit-token-metric/dimension"},
		"RetryTooOften":   {sections("", strings.Replace(retryOf, `"2"`, `"51"`, 1)+"</retry>", ""), sections("", strings.Replace(retryOf, `"2"`, `"50"`, 1)+"</retry>", ""), "", "from 1 to 50", "backend/retry@count"},
		"RetryNoGuard":    {sections("", strings.Replace(retryOf, "context.Response == null || ", "", 1)+"</retry>", ""), sections("", retryOf+"</retry>", ""), "", "looked at first", "backend/retry@condition"},
		"BodyNotKept":     {sections("", retryOf+`<forward-request buffer-response="false" /></retry>`, ""), sections("", retryOf+forwards+"</retry>", ""), "", "cannot be sent again", "backend/retry/forward-request@buffer-request-body"},
		"HeldBack":        {sections("", `<forward-request />`, ""), sections("", `<forward-request buffer-response="false" />`, ""), "", "come in lumps", "backend/forward-request@buffer-response"},
		"BodyRead":        {sections("", "", "<set-variable name='a' value='@(context.Response.Body.As&lt;string&gt;())' />"), sections("", "", "<set-variable name='a' value='@(context.Request.Body.As&lt;string&gt;())' />"), "", "held back until a stream ends", "outbound/set-variable@value"},
		"Reason":          {sections("", "", "<choose><when condition='@(context.Response.StatusReason == \"x\")' /></choose>"), sections("", "", "<choose><when condition='@(context.Response.StatusCode == 1)' /></choose>"), "", "Azure changes the texts", "outbound/choose/when@condition"},
		"OneBackend":      {sections(`<set-backend-service base-url="https://a" backend-id="a" />`, "", ""), sections(`<set-backend-service backend-id="a" />`, "", ""), "", "exactly one of base-url, backend-id", "inbound/set-backend-service"},
		"BackendUnknown":  {sections(`<set-backend-service backend-id="b" />`, "", ""), sections(`<set-backend-service backend-id="a" />`, "", ""), "", "a back end that is declared", "inbound/set-backend-service@backend-id"},
		"FragmentUnknown": {sections(`<include-fragment fragment-id="g" />`, "", ""), sections(`<include-fragment fragment-id="f" />`, "", ""), "", "a fragment that is declared", "inbound/include-fragment"},
		"FragmentID":      {sections(`<include-fragment fragment-id="a.b" />`, "", ""), sections(`<include-fragment fragment-id="a_b" />`, "", ""), "", "letters, digits", "inbound/include-fragment@fragment-id"},
		"BackendID":       {sections(`<set-backend-service backend-id="gpt-4.1" />`, "", ""), sections(`<set-backend-service backend-id="gpt-41" />`, "", ""), "", "letters, digits", "inbound/set-backend-service@backend-id"},
		"CacheStoreEarly": {sections(`<azure-openai-semantic-cache-store duration="60" />`, "", ""), sections("", "", `<azure-openai-semantic-cache-store duration="60" />`), "", "section outbound", "inbound/azure-openai-semantic-cache-store"},
		"FragmentNested":  {`<fragment><include-fragment fragment-id="f" /></fragment>`, `<fragment><set-variable name="a" value="b" /></fragment>`, apimpolicy.FragmentScope, "no fragment within a fragment", "fragment/include-fragment"},
		"FragmentLarge":   {"<fragment><set-variable name='a' value='" + strings.Repeat("x", 512<<10) + "' /></fragment>", "<fragment><set-variable name='a' value='" + strings.Repeat("x", 511<<10) + "' /></fragment>", apimpolicy.FragmentScope, "at most 524288", "fragment"},
		"ValueUnknown":    {sections(`<set-variable name="a" value="{{w}}" />`, "", ""), sections(`<set-variable name="a" value="{{v}}" />`, "", ""), "", "a named value that is declared", "inbound/set-variable@value"},
		"Secret":          {sections(`<set-header name="api-key" exists-action="override"><value>abc</value></set-header>`, "", ""), sections(`<set-header name="api-key" exists-action="override"><value>{{v}}</value></set-header>`, "", ""), "", "policies are not secret", "inbound/set-header"},
		"HeaderValueless": {sections(`<set-header name="a" exists-action="override" />`, "", ""), sections(`<set-header name="a" exists-action="delete" />`, "", ""), "", "a <value>", "inbound/set-header"},
		"ChooseEmpty":     {sections("<choose><otherwise /></choose>", "", ""), sections("<choose><when condition='@(true)' /><otherwise /></choose>", "", ""), "", "a <when>", "inbound/choose"},
		"OtherwiseFirst":  {sections("<choose><otherwise /><when condition='@(true)' /></choose>", "", ""), sections("<choose><when condition='@(true)' /><otherwise /></choose>", "", ""), "", "it last", "inbound/choose/otherwise"},
		"ResponseOrder":   {sections("<return-response><set-body>a</set-body><set-status code='403' /></return-response>", "", ""), sections("<return-response><set-status code='403' /><set-body>a</set-body></return-response>", "", ""), "", "the order", "inbound/return-response/set-status"},
		"Unreachable":     {sections("<return-response /><set-variable name='a' value='b' />", "", ""), sections("<set-variable name='a' value='b' /><return-response />", "", ""), "", "never reached", "inbound/set-variable"},
		"Renewal":         {sections(`<rate-limit-by-key calls="1" renewal-period="301" counter-key="a" />`, "", ""), sections(`<rate-limit-by-key calls="1" renewal-period="300" counter-key="a" />`, "", ""), "", "from 1 to 300", "inbound/rate-limit-by-key@renewal-period"},
		"AnyAudience":     {sections(`<validate-jwt header-name="Authorization" />`, "", ""), sections(`<validate-jwt header-name="Authorization"><audiences /></validate-jwt>`, "", ""), "", "another service", "inbound/validate-jwt"},
		"Unsigned":        {sections(`<validate-jwt header-name="a" require-signed-tokens="false"><audiences /></validate-jwt>`, "", ""), sections(`<validate-jwt header-name="a" require-signed-tokens="true"><audiences /></validate-jwt>`, "", ""), "", "anybody", "inbound/validate-jwt@require-signed-tokens"},
		"AnyClient":       {sections(`<validate-azure-ad-token tenant-id="t" />`, "", ""), sections(`<validate-azure-ad-token tenant-id="t"><client-application-ids /></validate-azure-ad-token>`, "", ""), "", "another service", "inbound/validate-azure-ad-token"},
		"Severity":        {sections(`<llm-content-safety backend-id="a"><categories><category name="Hate" threshold="8" /></categories></llm-content-safety>`, "", ""), sections(`<llm-content-safety backend-id="a"><categories><category name="Hate" threshold="7" /></categories></llm-content-safety>`, "", ""), "", "from 0 to 7", "inbound/llm-content-safety/categories/category@threshold"},
		"CacheLeaks":      {sections(`<llm-semantic-cache-lookup score-threshold="0.05" embeddings-backend-id="a" embeddings-backend-auth="system-assigned" />`, "", ""), sections(`<llm-semantic-cache-lookup score-threshold="0.05" embeddings-backend-id="a" embeddings-backend-auth="system-assigned"><vary-by>x</vary-by></llm-semantic-cache-lookup>`, "", ""), "", "would go to another", "inbound/llm-semantic-cache-lookup"},
		"CacheLoose":      {sections(`<llm-semantic-cache-lookup score-threshold="0.8" embeddings-backend-id="a" embeddings-backend-auth="system-assigned"><vary-by>x</vary-by></llm-semantic-cache-lookup>`, "", ""), sections(`<llm-semantic-cache-lookup score-threshold="0.2" embeddings-backend-id="a" embeddings-backend-auth="system-assigned"><vary-by>x</vary-by></llm-semantic-cache-lookup>`, "", ""), "", "other questions match", "inbound/llm-semantic-cache-lookup@score-threshold"},
		"CacheTooLoose":   {sections(`<llm-semantic-cache-lookup score-threshold="1.5" embeddings-backend-id="a" embeddings-backend-auth="system-assigned"><vary-by>x</vary-by></llm-semantic-cache-lookup>`, "", ""), sections(`<llm-semantic-cache-lookup score-threshold="0.1" embeddings-backend-id="a" embeddings-backend-auth="system-assigned"><vary-by>x</vary-by></llm-semantic-cache-lookup>`, "", ""), "", "from 0 to 1", "inbound/llm-semantic-cache-lookup@score-threshold"},
		"Brackets":        {sections(`<set-variable name="a" value="@((1)" />`, "", ""), sections(`<set-variable name="a" value="@((1))" />`, "", ""), "", "brackets that match", "inbound/set-variable@value"},
		"StringOpen":      {sections(`<set-variable name="a" value='@("x)' />`, "", ""), sections(`<set-variable name="a" value='@("x")' />`, "", ""), "", "does not end", "inbound/set-variable@value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := apimpolicy.Document{
				Name: "doc", Scope: c.scope, Streams: true, Text: c.bad,
				Declared: &apimpolicy.Declared{Fragments: []string{"f", "a.b", "a_b"}, Backends: []string{"a", "gpt-4.1", "gpt-41"}, NamedValues: []string{"v"}},
			}
			if doc.Scope == "" {
				doc.Scope = apimpolicy.APIScope
			}
			problems := apimpolicy.Check(doc)
			require.Len(t, problems, 1, "%v", problems)
			assert.Equal(t, c.path, problems[0].Path)
			assert.Contains(t, problems[0].Error(), c.want)
			assert.Equal(t, slices.Contains(silent, name), problems[0].Silent, "refused by Azure, or taken")
			doc.Text = c.good
			assert.Empty(t, apimpolicy.Check(doc), "the legal neighbour")
		})
	}
}

// Branches of a choice never run together, so each may have its own limit.
func TestBranchesMayLimitDifferently(t *testing.T) {
	t.Parallel()
	branches := "<choose><when condition='@(true)'>" + limitOf + `tokens-per-minute="1" /></when><otherwise>` + limitOf + `tokens-per-minute="2" /></otherwise></choose>`
	check := func(inbound string) []apimpolicy.Problem {
		return apimpolicy.Check(apimpolicy.Document{Scope: apimpolicy.APIScope, Text: sections(inbound, "", "")})
	}
	assert.Empty(t, check(branches))
	assert.Len(t, check(limitOf+`tokens-per-minute="2" />`+branches), 1, "one of them runs beside the first")
}

func TestCheckReadsRawDocuments(t *testing.T) {
	t.Parallel()
	raw := sections(`<choose><when condition="@(context.Request.Headers.GetValueOrDefault("a", ")\"") == "b" && 1 < 2)"><set-header name="x" exists-action="override">
		<value>@{ var a = @"c:\"; return a + "<" + '"'; }</value></set-header></when></choose>`, "", "")
	assert.Empty(t, apimpolicy.Check(apimpolicy.Document{Scope: apimpolicy.APIScope, Raw: true, Text: raw}))
	assert.Len(t, apimpolicy.Check(apimpolicy.Document{Scope: apimpolicy.APIScope, Text: raw}), 1, "it is not XML")
	root, err := apimpolicy.Parse(raw, true)
	require.NoError(t, err)
	condition, _ := root.Children[0].Children[1].Children[0].Attr("condition")
	assert.Equal(t, `@(context.Request.Headers.GetValueOrDefault("a", ")\"") == "b" && 1 < 2)`, condition)
}

// Without a list of what exists, nothing is missing from it.
func TestUndeclaredNamesAreNotGuessedAt(t *testing.T) {
	t.Parallel()
	text := sections(`<include-fragment fragment-id="f" /><set-backend-service backend-id="b" /><set-variable name="a" value="{{v}}" />`, "", "")
	assert.Empty(t, apimpolicy.Check(apimpolicy.Document{Scope: apimpolicy.APIScope, Text: text}))
	assert.Len(t, apimpolicy.Check(apimpolicy.Document{Scope: apimpolicy.APIScope, Text: text, Declared: &apimpolicy.Declared{}}), 3)
}

// Whatever a stranger's document is, the checker answers.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{sections("", "", ""), "<fragment/>", "<policies><inbound><choose><when condition='@(", "<a b=\"@{ 'x\">", "<policies><backend/></policies>"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(_ *testing.T, text string, raw bool) {
		for _, scope := range []apimpolicy.Scope{apimpolicy.GlobalScope, apimpolicy.APIScope, apimpolicy.FragmentScope} {
			apimpolicy.Check(apimpolicy.Document{Scope: scope, Raw: raw, Streams: true, Text: text, Declared: &apimpolicy.Declared{}})
		}
	})
}
