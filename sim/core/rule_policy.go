package core

import (
	"fmt"
	"slices"
	"strings"

	"onedoor/internal/az/policyrule"
)

const (
	policyDefinitionType = "microsoft.authorization/policydefinitions"
	policyAssignmentType = "microsoft.authorization/policyassignments"
)

// allowed refuses a write that an assigned policy denies (A700). Azure needs some
// minutes to learn of a new assignment; here it counts at once (A701).
// https://learn.microsoft.com/azure/governance/policy/concepts/effect-deny
func (s State) allowed(r *Resource) *Error {
	for _, a := range s.assignments(r.ID) {
		definition, found := s.Find(a.props("policyDefinitionId").text())
		if !found {
			continue // a built-in one, or another subscription's: not evaluated (A702)
		}
		rule, err := ruleOfPolicy(definition)
		if err != nil {
			continue // it was refused when it was written
		}
		body := policyrule.Body{ID: r.ID, Type: r.Type, Content: r.Body, Unknown: func(v any) bool { return value{v}.unknown() }}
		if rule.Denies(body, given(a)) == policyrule.Yes {
			why := a.props("nonComplianceMessages").list()
			message := definition.props("displayName").text()
			if len(why) > 0 {
				message = why[0].get("message").text()
			}
			return refuse(RequestDisallowedByPolicy, r.ID, "write to "+r.ID, "what the policy "+Name(definition.ID)+" denies",
				"a resource that its assignment "+a.ID+" allows: "+message, "change the resource, or ask whoever assigned the policy for an exemption")
		}
	}
	return nil
}

// assignments are those that hold for id, sorted by id: at it or above, without
// the scopes that they leave out, and not switched off.
func (s State) assignments(id string) []*Resource {
	var found []*Resource
	for _, a := range s.Resources {
		if !isType(a.Type, policyAssignmentType) || strings.EqualFold(a.props("enforcementMode").text(), "DoNotEnforce") || !within(id, scopeOf(a.ID)) {
			continue
		}
		if !slices.ContainsFunc(a.props("notScopes").texts(), func(not string) bool { return within(id, not) }) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, byID)
	return found
}

// within tells whether id is scope or lies below it.
func within(id, scope string) bool {
	return Key(id) == Key(scope) || strings.HasPrefix(Key(id), Key(scope)+"/")
}

// given are the parameters that an assignment sets.
func given(a *Resource) map[string]any {
	out := map[string]any{}
	set, _ := a.props("parameters").v.(map[string]any)
	for name := range set {
		out[name] = value{set[name]}.get("value").v
	}
	return out
}

// ruleOfPolicy is the rule of a definition.
func ruleOfPolicy(definition *Resource) (policyrule.Rule, error) {
	rule, _ := definition.props("policyRule").v.(map[string]any)
	parameters, _ := definition.props("parameters").v.(map[string]any)
	return policyrule.Parse(rule, parameters)
}

// policyUnderstood refuses a definition whose rule cannot be evaluated here
// (A703): a rule that is not understood would seem to allow everything.
func policyUnderstood(_ State, r, _ *Resource) *Error {
	if r.props("policyRule").hasUnknown() {
		return nil
	}
	if _, err := ruleOfPolicy(r); err != nil {
		return refuse(InvalidPolicyRule, "properties.policyRule", "rule of "+r.ID, strings.ReplaceAll(err.Error(), "\n", "; "),
			"a rule of the part of the language that is known here", "correct it, or teach it to internal/az/policyrule")
	}
	return nil
}

// policyAssignable refuses an assignment of a definition of this subscription that
// does not exist, and one with parameters that it does not have (A704).
func policyAssignable(s State, r, _ *Resource) *Error {
	id := r.props("policyDefinitionId")
	if id.unknown() || !isType(TypeOf(id.text()), policyDefinitionType) {
		return nil
	}
	definition, found := s.Find(id.text())
	switch {
	case !found && strings.HasPrefix(Key(id.text()), "/subscriptions/"):
		return refuse(PolicyDefinitionNotFound, "properties.policyDefinitionId", "policy of "+r.ID, id.text()+", which does not exist",
			"an existing definition", "create it first and take its id from it")
	case !found:
		return nil
	}
	declared, _ := definition.props("parameters").v.(map[string]any)
	for _, name := range sortedKeys(given(r)) {
		if _, known := declared[name]; !known {
			return refuse(InvalidPolicyParameters, "properties.parameters."+name, "parameter of "+r.ID, fmt.Sprintf("%q", name),
				fmt.Sprintf("one of %q, which the definition has", sortedKeys(declared)), "correct the name")
		}
	}
	return nil
}

// policyInUse refuses to delete a definition that is assigned (A705).
func policyInUse(s State, r, with *Resource) *Error {
	for _, key := range sortedKeys(s.Resources) {
		a := s.Resources[key]
		if isType(a.Type, policyAssignmentType) && Key(a.props("policyDefinitionId").text()) == Key(r.ID) && !within(a.ID, with.ID) {
			return refuse(PolicyDefinitionInUse, r.ID, "deletion of "+r.ID, "a definition that "+a.ID+" assigns", "one without assignments", "delete the assignment first")
		}
	}
	return nil
}

// completePolicyDefinition adds what Azure answers (A706).
func completePolicyDefinition(_ State, r, _ *Resource) {
	if props := object(r.Body, "properties"); props != nil {
		setDefault(props, "policyType", "Custom")
		setDefault(props, "mode", "Indexed")
	}
}

// completePolicyAssignment adds what Azure answers (A706).
func completePolicyAssignment(_ State, r, _ *Resource) {
	if props := object(r.Body, "properties"); props != nil {
		props["scope"] = scopeOf(r.ID)
		setDefault(props, "enforcementMode", "Default")
	}
}
