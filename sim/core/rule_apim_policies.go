package core

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// gatewayPolicyName: a scope has one policy, and it is called policy (A535).
func gatewayPolicyName(_ State, r, _ *Resource) *Error {
	if Name(r.ID) == "policy" {
		return nil
	}
	return invalidField("policyId", "name of policy "+r.ID, strconv.Quote(Name(r.ID)), `"policy", the only one that a scope has`, "name it so")
}

// policyScope is where a policy document holds.
type policyScope string

const (
	globalScope    policyScope = "global"
	productScope   policyScope = "product"
	apiScope       policyScope = "api"
	operationScope policyScope = "operation"
	fragmentScope  policyScope = "fragment"
)

func scopeOfPolicy(r *Resource) policyScope {
	switch strings.ToLower(r.Type) {
	case productPolicyType:
		return productScope
	case apiPolicyType:
		return apiScope
	case operationPolicyType:
		return operationScope
	case fragmentType:
		return fragmentScope
	}
	return globalScope
}

// A policyChecker finds what is wrong with a well-formed document in a scope.
type policyChecker func(scope policyScope, document *xmlNode) []string

// checkPolicy is the checker in use.
var checkPolicy policyChecker = checkSections

var policySections = []string{"inbound", "backend", "outbound", "on-error"}

// checkSections: a policy has four sections, each once at most, a fragment none
// (A536).
func checkSections(scope policyScope, document *xmlNode) []string {
	if scope == fragmentScope {
		if document.name != "fragment" {
			return []string{"the root is <" + document.name + ">, want <fragment>"}
		}
		return nil
	}
	if document.name != "policies" {
		return []string{"the root is <" + document.name + ">, want <policies>"}
	}
	var problems []string
	seen := map[string]bool{}
	for _, section := range document.children {
		switch {
		case !slices.Contains(policySections, section.name):
			problems = append(problems, fmt.Sprintf("<%s> is no section, want %s", section.name, strings.Join(policySections, ", ")))
		case seen[section.name]:
			problems = append(problems, "<"+section.name+"> is there twice")
		}
		seen[section.name] = true
	}
	return problems
}

// The largest documents, in bytes (A536).
// https://learn.microsoft.com/azure/api-management/service-limits
// https://learn.microsoft.com/azure/api-management/policy-fragments
const (
	maxPolicy   = 256 << 10
	maxFragment = 512 << 10
)

// policyText: a policy is well-formed XML of a certain size (A536), with the
// sections of its scope, and what it names is there (A538). A document behind a
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
	if scopeOfPolicy(r) == fragmentScope {
		limit = maxFragment
	}
	if n := len(v.text()); n > limit {
		return invalidField("value", "size of "+r.ID, fmt.Sprintf("%d bytes", n), fmt.Sprintf("at most %d", limit), "move parts of it into fragments")
	}
	document, err := parsePolicy(v.text(), format.text() == "rawxml")
	if err != nil {
		return invalidField("value", "XML of "+r.ID, err.Error(), "a well-formed document; in format xml the C# in it is escaped", "escape < and & in expressions, or use rawxml")
	}
	if problems := checkPolicy(scopeOfPolicy(r), document); len(problems) > 0 {
		return invalidField("value", "policy "+r.ID, strings.Join(problems, "; "), "a document that the service takes in scope "+string(scopeOfPolicy(r)), "correct it")
	}
	return s.policyNames(r, document)
}

var namedValue = regexp.MustCompile(`\{\{([A-Za-z0-9._-]+)\}\}`)

// policyNames: fragments, back ends, loggers and named values that a document
// names exist in its service (A538).
func (s State) policyNames(r *Resource, document *xmlNode) *Error {
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
	document.walk(func(node *xmlNode) bool {
		if !named(node.text) {
			return false
		}
		for _, attr := range node.attrs {
			if !named(attr.Value) {
				return false
			}
			kind := policyReference(node.name, attr.Name.Local)
			if kind == "" || isExpression(attr.Value) || strings.Contains(attr.Value, "{{") {
				continue
			}
			if target, ok := s.Find(gateway.ID + "/" + kind + "/" + attr.Value); !ok || target.Provisioning == Deleting {
				return missing(kind, attr.Value, "make it first and depend on it")
			}
		}
		return true
	})
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
		if document, err := parsePolicy(text, props["format"] == "rawxml"); err == nil {
			props["value"] = document.String()
		}
	}
	delete(props, "format")
}

// fragmentInUse: a fragment that a policy includes stays (A565).
func fragmentInUse(s State, r, with *Resource) *Error {
	return inUseBy(ValidationError, r, with, s.holders(r, `fragment-id="`+Name(r.ID)+`"`), "change those first")
}
