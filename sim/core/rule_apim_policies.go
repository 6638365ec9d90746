package core

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/apimpolicy/csharp"
)

// gatewayPolicyName: a scope has one policy, and it is called policy (A535).
func gatewayPolicyName(_ State, r, _ *Resource) *Error {
	if Name(r.ID) == "policy" {
		return nil
	}
	return invalidField("policyId", "name of policy "+r.ID, strconv.Quote(Name(r.ID)), `"policy", the only one that a scope has`, "name it so")
}

// scopeOfPolicy is where a policy document holds.
func scopeOfPolicy(r *Resource) apimpolicy.Scope {
	switch strings.ToLower(r.Type) {
	case productPolicyType:
		return apimpolicy.ProductScope
	case apiPolicyType:
		return apimpolicy.APIScope
	case operationPolicyType:
		return apimpolicy.OperationScope
	case fragmentType:
		return apimpolicy.FragmentScope
	}
	return apimpolicy.GlobalScope
}

// The largest documents, in bytes (A536).
// https://learn.microsoft.com/azure/api-management/service-limits
// https://learn.microsoft.com/azure/api-management/policy-fragments
const (
	maxPolicy   = 256 << 10
	maxFragment = 512 << 10
)

// policyText: a policy is well-formed XML of a certain size, with policies where
// they may stand and as they may be (A536), and what it names is there (A538). A document behind a
// link is not fetched here, and so refused (A539).
func policyText(s State, r, _ *Resource) *Error {
	v, format := r.props("value"), r.props("format")
	if !v.known() || format.unknown() {
		return nil
	}
	if strings.HasSuffix(format.text(), "-link") {
		return invalidField("format", "format of "+r.ID, strconv.Quote(format.text()), "xml or rawxml, because the simulator fetches nothing", "pass the document itself")
	}
	limit := maxPolicy
	scope, raw := scopeOfPolicy(r), format.text() == "rawxml"
	if scope == apimpolicy.FragmentScope {
		limit = maxFragment
	}
	if n := len(v.text()); n > limit {
		return invalidField("value", "size of "+r.ID, fmt.Sprintf("%d bytes", n), fmt.Sprintf("at most %d", limit), "move parts of it into fragments")
	}
	document, err := apimpolicy.Parse(v.text(), raw)
	if err != nil {
		return invalidField("value", "XML of "+r.ID, err.Error(), "a well-formed document; in format xml the C# in it is escaped", "escape < and & in expressions, or use rawxml")
	}
	var problems []string
	for _, problem := range apimpolicy.Check(apimpolicy.Document{Name: Name(r.ID), Scope: scope, Raw: raw, Text: v.text()}) {
		if !problem.Silent {
			problems = append(problems, problem.Error())
		}
	}
	if len(problems) > 0 {
		return invalidField("value", "policy "+r.ID, strings.Join(problems, "; "), "a document that the service takes in scope "+string(scope), "correct it")
	}
	return s.policyNames(r, document)
}

var namedValue = regexp.MustCompile(`\{\{([A-Za-z0-9._-]+)\}\}`)

// policyNames: fragments, back ends, loggers and named values that a document
// names exist in its service (A538).
func (s State) policyNames(r *Resource, document *apimpolicy.Node) *Error {
	gateway, ours := s.Find(topLevel(r.ID))
	if !ours {
		return nil
	}
	var wrong *Error
	missing := func(what, name, remedy string) bool {
		wrong = invalidField("value", "policy "+r.ID, what+" "+strconv.Quote(name)+", which could not be found", "one of "+gateway.ID, remedy)
		return false
	}
	named := func(text string) bool {
		for _, match := range namedValue.FindAllStringSubmatch(text, -1) {
			if !s.hasNamedValue(gateway, match[1]) {
				return missing("named value", match[1], "make it first and depend on it; a policy names it by displayName")
			}
		}
		return true
	}
	var walk func(node *apimpolicy.Node) bool
	walk = func(node *apimpolicy.Node) bool {
		if !named(node.Text) {
			return false
		}
		for _, attr := range node.Attrs {
			if !named(attr.Value) {
				return false
			}
			kind := policyReference(node.Name, attr.Name)
			if kind == "" || csharp.Is(attr.Value) || strings.Contains(attr.Value, "{{") {
				continue
			}
			if target, ok := s.Find(gateway.ID + "/" + kind + "/" + attr.Value); !ok || target.Provisioning == Deleting {
				return missing(kind, attr.Value, "make it first and depend on it")
			}
		}
		return !slices.ContainsFunc(node.Children, func(child *apimpolicy.Node) bool { return !walk(child) })
	}
	walk(document)
	return wrong
}

// policyReference says what an attribute of a policy names, "" if nothing.
func policyReference(element, attribute string) string {
	switch {
	case element == "include-fragment" && attribute == "fragment-id":
		return "policyFragments"
	case attribute == "backend-id" || attribute == "embeddings-backend-id":
		return "backends"
	case element == "log-to-eventhub" && attribute == "logger-id":
		return "loggers"
	}
	return ""
}

// hasNamedValue says whether a service has a named value of this displayName; one
// whose displayName is not known yet may be it.
func (s State) hasNamedValue(gateway *Resource, displayName string) bool {
	return slices.ContainsFunc(s.under(gateway.ID), func(other *Resource) bool {
		v := other.props("displayName")
		return isType(other.Type, namedValueType) && other.Provisioning != Deleting && (v.unknown() || strings.EqualFold(v.text(), displayName))
	})
}

// completeGatewayPolicy answers the document in the service's own form, without the
// format (A537).
func completeGatewayPolicy(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	if text, ok := props["value"].(string); ok {
		if document, err := apimpolicy.Parse(text, props["format"] == "rawxml"); err == nil {
			props["value"] = serviceForm(document)
		}
	}
	delete(props, "format")
}

// fragmentInUse: a fragment that a policy includes stays (A565).
func fragmentInUse(s State, r, with *Resource) *Error {
	return inUseBy(ValidationError, r, with, s.holders(r, `fragment-id="`+Name(r.ID)+`"`), "change those first")
}
