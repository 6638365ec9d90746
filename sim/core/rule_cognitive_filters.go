package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// contentFilters are the filters of a RAI policy in the order in which the
// service answers them (A481). Harms have a threshold, the others are on or off
// (A480).
// https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter
var contentFilters = []struct {
	name string
	harm bool
}{
	{"Hate", true},
	{"Sexual", true},
	{"Violence", true},
	{"Selfharm", true},
	{"Jailbreak", false},
	{"Indirect Attack", false},
	{"Protected Material Text", false},
	{"Protected Material Code", false},
	{"Profanity", false},
}

// filterPlace returns the place of a filter in contentFilters, -1 if it is none.
func filterPlace(name string) int {
	for i, filter := range contentFilters {
		if strings.EqualFold(filter.name, name) {
			return i
		}
	}
	return -1
}

// raiPolicyName: names that begin with Microsoft. are Microsoft's, and the base
// is one of them or another policy of the account (A479).
func raiPolicyName(s State, r, _ *Resource) *Error {
	if microsofts(Name(r.ID)) {
		return refuse(BadRequest, "name", "name of RAI policy "+r.ID, strconv.Quote(Name(r.ID)), "one that does not begin with Microsoft., which are the service's own", "rename it")
	}
	base := r.props("basePolicyName")
	if base.text() == "" || microsofts(base.text()) {
		return nil
	}
	if policy, ok := s.Find(ParentOf(r.ID) + "/raiPolicies/" + base.text()); ok && Key(policy.ID) != Key(r.ID) {
		return nil
	}
	return refuse(BadRequest, "basePolicyName", "base of RAI policy "+r.ID, strconv.Quote(base.text()), "Microsoft.DefaultV2, Microsoft.Default, or another policy of the account", "correct it")
}

// raiPolicyFilters: each filter is a known one, there once for each source, and
// a harm has a threshold (A480).
func raiPolicyFilters(_ State, r, _ *Resource) *Error {
	seen := map[string]bool{}
	for i, filter := range r.props("contentFilters").list() {
		path, name, source := fmt.Sprintf("contentFilters[%d]", i), filter.get("name"), filter.get("source")
		if filter.unknown() || name.unknown() || source.unknown() {
			continue
		}
		place := filterPlace(name.text())
		if place < 0 {
			names := make([]string, len(contentFilters))
			for i, known := range contentFilters {
				names[i] = known.name
			}
			return refuse(BadRequest, path+".name", "a filter of RAI policy "+r.ID, strconv.Quote(name.text()), "one of "+strings.Join(names, ", "), "use "+closest(name.text(), names))
		}
		if source.text() == "" {
			return refuse(BadRequest, path+".source", "filter "+name.text()+" of RAI policy "+r.ID, "no source", "Prompt or Completion", "set source")
		}
		key := fmt.Sprint(place, source.text())
		if seen[key] {
			return refuse(BadRequest, path, "filters of RAI policy "+r.ID, "two of "+name.text()+" for the "+source.text(), "one for each name and source", "drop one")
		}
		seen[key] = true
		if contentFilters[place].harm && filter.get("enabled").flag() && filter.get("severityThreshold").absent() {
			return refuse(BadRequest, path+".severityThreshold", "filter "+name.text()+" of RAI policy "+r.ID, "no threshold", "Low, Medium or High", "set severityThreshold")
		}
	}
	return nil
}

// raiPolicyInUse: a policy that a deployment names stays, unless both go (A482).
func raiPolicyInUse(s State, r, with *Resource) *Error {
	var users []*Resource
	for _, other := range s.under(ParentOf(r.ID)) {
		if isType(other.Type, deploymentType) && other.Provisioning != Deleting && strings.EqualFold(other.props("raiPolicyName").text(), Name(r.ID)) {
			users = append(users, other)
		}
	}
	return inUseBy(CannotDeleteResource, r, with, users, "give those another policy, or delete them first")
}

// completeRaiPolicy answers the filters in the service's order (A481).
func completeRaiPolicy(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "mode", "Default")
	props["type"] = "UserManaged"
	items, ok := props["contentFilters"].([]any)
	if !ok {
		return
	}
	slices.SortStableFunc(items, func(a, b any) int {
		if d := filterPlace(value{a}.get("name").text()) - filterPlace(value{b}.get("name").text()); d != 0 {
			return d
		}
		// "Prompt" comes before "Completion".
		return strings.Compare(value{b}.get("source").text(), value{a}.get("source").text())
	})
}
