package apimpolicy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/apimpolicy/csharp"
)

// allowedIn are the sections that a policy may stand in. A policy that is not
// listed may stand in all.
// https://learn.microsoft.com/azure/api-management/api-management-policies
var allowedIn = map[string][]string{}

func init() {
	for section, names := range map[string]string{
		"inbound": "llm-token-limit azure-openai-token-limit llm-emit-token-metric azure-openai-emit-token-metric llm-content-safety " +
			"llm-semantic-cache-lookup azure-openai-semantic-cache-lookup rate-limit rate-limit-by-key quota quota-by-key authentication-managed-identity " +
			"validate-azure-ad-token validate-jwt validate-client-certificate cors ip-filter check-header rewrite-uri cache-lookup " +
			"set-backend-service set-query-parameter set-method",
		"backend":  "forward-request set-backend-service set-query-parameter set-method",
		"outbound": "llm-semantic-cache-store azure-openai-semantic-cache-store cache-store jsonp redirect-content-urls",
	} {
		for name := range strings.FieldsSeq(names) {
			allowedIn[name] = append(allowedIn[name], section)
			slices.SortFunc(allowedIn[name], func(a, b string) int { return slices.Index(sections, a) - slices.Index(sections, b) })
		}
	}
}

// rules check one policy each.
var rules map[string]func(c *checker, n *Node, at string)

func init() { // the rules walk the tree, which looks up rules
	rules = map[string]func(c *checker, n *Node, at string){
		"base":                               base,
		"include-fragment":                   includeFragment,
		"choose":                             chooseRule,
		"when":                               whenRule,
		"return-response":                    returnResponse,
		"retry":                              retry,
		"forward-request":                    forwardRequest,
		"set-backend-service":                setBackendService,
		"set-header":                         setHeader,
		"llm-token-limit":                    tokenLimit,
		"azure-openai-token-limit":           tokenLimit,
		"llm-emit-token-metric":              tokenMetric,
		"azure-openai-emit-token-metric":     tokenMetric,
		"rate-limit-by-key":                  rateLimitByKey,
		"validate-jwt":                       validateJWT,
		"validate-azure-ad-token":            validateEntra,
		"authentication-managed-identity":    managedIdentity,
		"llm-content-safety":                 contentSafety,
		"llm-semantic-cache-lookup":          semanticLookup,
		"azure-openai-semantic-cache-lookup": semanticLookup,
	}
}

// need reports attributes that are missing.
func (c *checker) need(n *Node, at string, attrs ...string) {
	for _, name := range attrs {
		if v, ok := n.Attr(name); !ok || v == "" {
			c.problem(at+"@"+name, "", "it: it is required")
		}
	}
}

// oneOf reports an attribute that is there, is a literal, and is no legal value.
func (c *checker) oneOf(n *Node, at, attr string, legal ...string) {
	if v, ok := n.Attr(attr); ok && !computed(v) && !slices.Contains(legal, v) {
		c.problem(at+"@"+attr, strconv.Quote(v), "one of "+strings.Join(legal, ", "))
	}
}

// number reports an attribute that is there, is a literal, and is no number in
// the range.
func (c *checker) number(n *Node, at, attr string, from, to float64, why string) {
	v, ok := n.Attr(attr)
	if !ok || computed(v) {
		return
	}
	if f, err := strconv.ParseFloat(v, 64); err != nil || f < from || f > to {
		c.problem(at+"@"+attr, strconv.Quote(v), fmt.Sprintf("a number from %v to %v: %s", from, to, why))
	}
}

// exactlyOne reports that none or several of the attributes are there.
func (c *checker) exactlyOne(n *Node, at string, attrs ...string) {
	var found []string
	for _, name := range attrs {
		if _, ok := n.Attr(name); ok {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		c.problem(at, strings.Join(found, " and "), "exactly one of "+strings.Join(attrs, ", "))
	}
}

// computed tells whether a value is known only when a call comes.
func computed(v string) bool { return csharp.Is(v) || namedValue.MatchString(v) }

func base(c *checker, _ *Node, at string) {
	switch {
	case c.doc.Scope == FragmentScope:
		c.problem(at, "", "no <base /> in a fragment")
	case strings.Count(at, "/") != 1:
		c.problem(at, "", "<base /> directly in a section")
	}
}

// childID is the form of the ids of fragments and back ends.
// https://learn.microsoft.com/azure/templates/microsoft.apimanagement/service/policyfragments
var childID = regexp.MustCompile(`^\w([\w-]{0,78}\w)?$`)

// id reports an attribute that is there, is a literal, and can be no id.
func (c *checker) id(n *Node, at, attr string) {
	if v, ok := n.Attr(attr); ok && v != "" && !computed(v) && !childID.MatchString(v) {
		c.problem(at+"@"+attr, strconv.Quote(v), "letters, digits, underscores and inner hyphens, at most 80")
	}
}

func includeFragment(c *checker, n *Node, at string) {
	c.need(n, at, "fragment-id")
	c.id(n, at, "fragment-id")
	id, _ := n.Attr("fragment-id")
	if c.doc.Scope == FragmentScope {
		c.problem(at, id, "no fragment within a fragment")
	}
	if c.doc.Declared != nil && !slices.Contains(c.doc.Declared.Fragments, id) {
		c.problem(at, strconv.Quote(id), "a fragment that is declared")
	}
}

func chooseRule(c *checker, n *Node, at string) {
	whens := 0
	for i, child := range n.Children {
		switch {
		case child.Name == "when":
			whens++
		case child.Name != "otherwise":
			c.problem(at+"/"+child.Name, "", "<when> and <otherwise> only")
		case i != len(n.Children)-1:
			c.problem(at+"/otherwise", "", "it last, and once")
		}
	}
	if whens == 0 {
		c.problem(at, "", "a <when>")
	}
}

func whenRule(c *checker, n *Node, at string) { c.need(n, at, "condition") }

func returnResponse(c *checker, n *Node, at string) {
	order := []string{"set-status", "set-header", "set-body"}
	last := 0
	for _, child := range n.Children {
		i := slices.Index(order, child.Name)
		if i < last {
			c.problem(at+"/"+child.Name, "", "the order "+strings.Join(order, ", "))
		}
		last = max(last, i)
	}
}

func retry(c *checker, n *Node, at string) {
	c.need(n, at, "condition", "count", "interval")
	c.number(n, at, "count", 1, 50, "Azure takes no more retries")
	condition, _ := n.Attr("condition")
	flat := strings.ReplaceAll(condition, " ", "")
	if strings.Contains(flat, "context.Response.") && !strings.Contains(flat, "context.Response==null") && !strings.Contains(flat, "context.Response!=null") {
		c.silent(at+"@condition", "", "context.Response == null looked at first: there is none when the back end did not answer")
	}
}

func forwardRequest(c *checker, n *Node, at string) {
	c.oneOf(n, at, "buffer-request-body", "true", "false")
	c.oneOf(n, at, "buffer-response", "true", "false")
	if v, _ := n.Attr("buffer-request-body"); c.retries > 0 && v != "true" {
		c.silent(at+"@buffer-request-body", strconv.Quote(v), "true: a body that is not kept cannot be sent again")
	}
	if v, _ := n.Attr("buffer-response"); c.doc.Streams && v != "false" {
		c.silent(at+"@buffer-response", strconv.Quote(v), "false: streamed answers come in lumps otherwise")
	}
}

func setBackendService(c *checker, n *Node, at string) {
	c.exactlyOne(n, at, "base-url", "backend-id")
	c.id(n, at, "backend-id")
	if id, ok := n.Attr("backend-id"); ok && !computed(id) && c.doc.Declared != nil && !slices.Contains(c.doc.Declared.Backends, id) {
		c.problem(at+"@backend-id", strconv.Quote(id), "a back end that is declared")
	}
}

// secretHeaders carry keys: a literal in one is a secret in the document.
var secretHeaders = []string{"authorization", "api-key", "ocp-apim-subscription-key", "x-functions-key"}

func setHeader(c *checker, n *Node, at string) {
	c.need(n, at, "name")
	c.oneOf(n, at, "exists-action", "override", "skip", "append", "delete")
	action, _ := n.Attr("exists-action")
	value := n.Child("value")
	switch {
	case value == nil && action != "delete":
		c.problem(at, "", "a <value>: without one the header is not set")
	case value != nil && !computed(value.Text):
		if name, _ := n.Attr("name"); slices.Contains(secretHeaders, strings.ToLower(name)) {
			c.silent(at, "a literal", "a named value from a key vault: policies are not secret")
		}
	}
}

func tokenLimit(c *checker, n *Node, at string) {
	c.need(n, at, "counter-key", "estimate-prompt-tokens")
	c.oneOf(n, at, "estimate-prompt-tokens", "true", "false")
	c.oneOf(n, at, "token-quota-period", "Hourly", "Daily", "Weekly", "Monthly", "Yearly")
	perMinute, hasRate := n.Attr("tokens-per-minute")
	_, hasQuota := n.Attr("token-quota")
	_, hasPeriod := n.Attr("token-quota-period")
	if !hasRate && !hasQuota {
		c.problem(at, "", "tokens-per-minute, token-quota, or both")
	}
	if hasQuota != hasPeriod {
		c.problem(at, "", "token-quota and token-quota-period together")
	}
	c.number(n, at, "tokens-per-minute", 1, 1e12, "a limit")
	if csharp.Is(perMinute) {
		c.silent(at+"@tokens-per-minute", "an expression", "a literal: Azure documents none")
	}
	key, _ := n.Attr("counter-key")
	if other, seen := c.limits[key]; seen && hasRate && other != perMinute {
		c.silent(at+"@tokens-per-minute", perMinute, other+", as elsewhere with this counter key: they share one bucket")
	}
	if hasRate {
		c.limits[key] = perMinute
	}
}

// metricDefaults are the dimensions that need no value.
var metricDefaults = []string{"API ID", "Operation ID", "Product ID", "User ID", "Subscription ID", "Location", "Gateway ID", "Backend ID"}

// maxCustomDimensions is how many dimensions of one's own a metric may have.
// https://learn.microsoft.com/azure/api-management/llm-emit-token-metric-policy
const maxCustomDimensions = 5

func tokenMetric(c *checker, n *Node, at string) {
	custom := 0
	for _, d := range n.Children {
		name, _ := d.Attr("name")
		if slices.Contains(metricDefaults, name) {
			continue
		}
		custom++
		if _, ok := d.Attr("value"); !ok {
			c.problem(at+"/dimension", strconv.Quote(name), "a value: only "+strings.Join(metricDefaults, ", ")+" have one of their own")
		}
	}
	if len(n.Children) == 0 {
		c.problem(at, "", "a <dimension>")
	}
	if custom > maxCustomDimensions {
		c.problem(at, fmt.Sprintf("%d dimensions", custom), fmt.Sprintf("at most %d of one's own", maxCustomDimensions))
	}
}

func rateLimitByKey(c *checker, n *Node, at string) {
	c.need(n, at, "calls", "renewal-period", "counter-key")
	c.number(n, at, "renewal-period", 1, 300, "seconds")
}

func validateJWT(c *checker, n *Node, at string) {
	c.exactlyOne(n, at, "header-name", "query-parameter-name", "token-value")
	if n.Child("audiences") == nil {
		c.silent(at, "", "<audiences>: a token for another service would do")
	}
	for _, off := range []string{"require-expiration-time", "require-signed-tokens"} {
		if v, _ := n.Attr(off); v == "false" {
			c.silent(at+"@"+off, v, "true: anybody could make such a token")
		}
	}
}

func validateEntra(c *checker, n *Node, at string) {
	c.need(n, at, "tenant-id")
	if n.Child("client-application-ids") == nil && n.Child("audiences") == nil {
		c.silent(at, "", "<client-application-ids> or <audiences>: a token for another service would do")
	}
}

func managedIdentity(c *checker, n *Node, at string) { c.need(n, at, "resource") }

func contentSafety(c *checker, n *Node, at string) {
	c.need(n, at, "backend-id")
	categories := n.Child("categories")
	if categories == nil {
		return
	}
	c.oneOf(categories, at+"/categories", "output-type", "FourSeverityLevels", "EightSeverityLevels")
	for _, category := range categories.Children {
		c.oneOf(category, at+"/categories/category", "name", "Hate", "SelfHarm", "Sexual", "Violence")
		c.number(category, at+"/categories/category", "threshold", 0, 7, "a severity")
	}
}

// maxScore is the loosest match of the semantic cache that does not mix up
// questions.
// https://learn.microsoft.com/azure/api-management/llm-semantic-cache-lookup-policy
const maxScore = 0.2

// attr is an attribute's value, "" for none.
func attr(n *Node, name string) string {
	v, _ := n.Attr(name)
	return v
}

func semanticLookup(c *checker, n *Node, at string) {
	c.need(n, at, "score-threshold", "embeddings-backend-id", "embeddings-backend-auth")
	c.number(n, at, "score-threshold", 0, 1, "a distance")
	if score, err := strconv.ParseFloat(attr(n, "score-threshold"), 64); err == nil && score > maxScore && score <= 1 {
		c.silent(at+"@score-threshold", attr(n, "score-threshold"), fmt.Sprintf("at most %v: above, other questions match", maxScore))
	}
	c.oneOf(n, at, "embeddings-backend-auth", "system-assigned")
	if n.Child("vary-by") == nil {
		c.silent(at, "", "<vary-by> on the tenant: answers of one would go to another")
	}
}
