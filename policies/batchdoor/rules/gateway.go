package rules

import (
	"regexp"
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

const apimDocs = "https://learn.microsoft.com/azure/api-management/azure-openai-api-from-specification"

// batchPath finds the routes of the batch API in a template or a document, in
// both URL families: /openai/v1/batches and /openai/batches?api-version=.
var batchPath = regexp.MustCompile(`(?i)/+(batches|files|uploads)([/?{"'\s:]|$)`)

// gateway are the rules of routes on API Management.
func gateway(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "BAT-05", Severity: policypack.Critical,
			Title:     "The gateway has no route to batches, files or uploads outside the control plane's API",
			Rationale: "Importing a whole specification publishes the batch routes beside the chat ones.",
			Remedy:    "Declare the synchronous routes one by one, and let batch, files and uploads routes answer 403.",
			Controls:  []string{"MCSB NS-2", "MCSB PA-7"},
			Sources:   []string{apimDocs},
			Types:     []string{azure.APIOperation, azure.API},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				if c.Type == azure.API {
					s.imported(c)
					return
				}
				template, state := c.At("urlTemplate").Text()
				switch {
				case state != propvalue.Known:
					c.Undecided(c.At("urlTemplate"), "a route that is known")
				case !batchPath.MatchString("/" + template):
					c.Saw(c.At("urlTemplate"), "a route other than batches, files and uploads")
				case !s.controlPlaneAPI(c):
					refused(st, c, c.At("urlTemplate"), refusesAll, "a policy that answers 403 to this operation whatever is asked")
				}
			},
		},
		{
			ID: "BAT-06", Severity: policypack.High,
			Title:     "Operations whose path may be one of batches, files and uploads refuse these",
			Rationale: "A template with * passes every path that the service knows and will get, and a parameter stands for any name.",
			Remedy:    "Declare routes one by one; or refuse the paths in the inbound section, before anything is forwarded.",
			Controls:  []string{"MCSB NS-2"},
			Sources:   []string{apimDocs},
			Types:     []string{azure.APIOperation},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				template, state := c.At("urlTemplate").Text()
				switch {
				case state != propvalue.Known:
					c.Undecided(c.At("urlTemplate"), "a route that is known")
				case !mayBeBatch(template):
					c.NotApplicable("the route leads to no batch, file or upload")
				case !s.controlPlaneAPI(c):
					refused(st, c, c.At("urlTemplate"), refusesBatchPaths, "a policy that answers 403 to paths with batches, files and uploads")
				}
			},
		},
	}
}

// batchRoutes are the routes of the batch API, with * for an id.
var batchRoutes = [][]string{
	{"batches"}, {"batches", "*"}, {"batches", "*", "cancel"}, {"files"}, {"files", "*"}, {"files", "*", "content"},
	{"uploads"}, {"uploads", "*"}, {"uploads", "*", "parts"}, {"uploads", "*", "complete"}, {"uploads", "*", "cancel"},
}

// mayBeBatch tells whether a template that does not say so can stand for a route of
// the batch API: by a wildcard, or by a parameter in the place of its name.
func mayBeBatch(template string) bool {
	if strings.Contains(template, "*") {
		return true
	}
	template, _, _ = strings.Cut(template, "?")
	if batchPath.MatchString("/" + template) {
		return false
	}
	segments := strings.FieldsFunc(strings.ToLower(template), func(r rune) bool { return r == '/' })
	for len(segments) > 0 && (segments[0] == "openai" || segments[0] == "v1") {
		segments = segments[1:]
	}
	return slices.ContainsFunc(batchRoutes, func(route []string) bool {
		return slices.EqualFunc(segments, route, func(written, part string) bool {
			return part == "*" || written == part || strings.Contains(written, "{")
		})
	})
}

// controlPlaneAPI tells whether the resource belongs to the control plane's API,
// where batch routes are right.
func (s *settings) controlPlaneAPI(c *policypack.Case) bool {
	id, state := c.At("apiId").Text()
	return state == propvalue.Known && like(s.ControlPlaneAPIs, id)
}

// imported judges an API that is made from a document.
func (s *settings) imported(c *policypack.Case) {
	value, format := c.At("value"), c.At("format")
	text, state := value.Text()
	kind, kindState := format.Text()
	const expected = "no document, or one without batches, files and uploads"
	switch {
	case state == propvalue.Absent:
		c.NotApplicable("the API is not imported from a document")
	case s.controlPlaneAPI(c):
		c.NotApplicable("it is the control plane's API")
	case state != propvalue.Known:
		c.Undecided(value, expected)
	case kindState == propvalue.Unknown:
		c.Undecided(format, expected)
	case strings.Contains(strings.ToLower(kind), "link"), strings.HasPrefix(text, "https://"), strings.HasPrefix(text, "http://"):
		c.Failf("value", "a link", expected+", and not a link, behind which the document can change")
	default:
		if found := batchPath.FindString(text); found != "" {
			c.Failf("value", "a document with the path "+strings.Trim(found, "\"'{?: \n"), expected)
		}
	}
}

// refused demands that the policy of the operation, or of its API, refuses.
func refused(st *policypack.Stack, c *policypack.Case, at propvalue.Value, refuses func(azure.Element) bool, expected string) {
	operation, _ := c.At("operationId").Text()
	unknown := false
	for _, policy := range st.Of(azure.APIOperationPolicy, azure.APIPolicy) {
		if !azure.SameOwner(st, policy, c.Resource, "apiId", azure.API) || !azure.SameOwner(st, policy, c.Resource, "serviceName", azure.Gateway) {
			continue
		}
		if policy.Type == azure.APIOperationPolicy && !azure.SameOwner(st, policy, c.Resource, "operationId", azure.APIOperation) {
			continue
		}
		doc, state, err := azure.PolicyOf(policy)
		unknown = unknown || state == propvalue.Unknown
		if inbound := doc.Child("inbound"); err == nil && (refuses(inbound) || allowsOthers(inbound, operation)) {
			c.Saw(at, expected)
			return
		}
	}
	if unknown {
		c.Undecidedf("value of the policy", expected, "the policy of the operation is not known")
		return
	}
	c.Fail(at, expected)
}

// refusesAll tells whether the section refuses every call.
func refusesAll(inbound azure.Element) bool { return inbound.Refuses() }

// operationList is a condition that asks for nothing but which operation it is.
var operationList = regexp.MustCompile(`^@\(\s*context\.Operation\.Id == "[^"\\]+"(\s*\|\|\s*context\.Operation\.Id == "[^"\\]+")*\s*\)$`)

// allowsOthers finds a list of the operations that may go on, which refuses all
// others, and this one is not on it.
func allowsOthers(inbound azure.Element, operation string) bool {
	for _, choose := range inbound.Children() {
		if choose.Name() != "choose" || !choose.Child("otherwise").Refuses() || operation == "" {
			continue
		}
		lists, named := true, false
		for _, when := range choose.All("when") {
			condition := when.Attr("condition")
			lists = lists && operationList.MatchString(condition)
			named = named || strings.Contains(condition, `"`+operation+`"`)
		}
		if lists && !named {
			return true
		}
	}
	return false
}

// refusesBatchPaths finds a branch that answers 403 when the path is one of the
// batch API. Its condition is C#, which is read as text.
func refusesBatchPaths(inbound azure.Element) bool {
	for _, choose := range inbound.Children() {
		if choose.Name() != "choose" {
			continue
		}
		for _, when := range choose.Children() {
			condition := strings.ToLower(when.Attr("condition"))
			if when.Name() == "when" && when.Refuses() && strings.Contains(condition, "batches") && strings.Contains(condition, "files") && strings.Contains(condition, "uploads") {
				return true
			}
		}
	}
	return false
}
