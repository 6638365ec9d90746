package core

import (
	"slices"
	"strings"
)

// ModelUnits are the units of capacity that the deployments of a subscription hold of
// a quota in a region (A933).
func ModelUnits(s State, subscription, region, usage string) float64 {
	used := 0.0
	for _, r := range s.Resources {
		if !isType(r.Type, deploymentType) || usageName(r) != usage || !strings.EqualFold(SubscriptionOf(r.ID), subscription) {
			continue
		}
		if account := s.holder(r.ID); account != nil && Region(root(account.Body).get("location").text()) == region {
			n, _ := root(r.Body).get("sku.capacity").number()
			used += n
		}
	}
	return used
}

// Recoverable are the resources of a type that were deleted and still keep their
// names, sorted by id (A936).
func Recoverable(s State, armType string) []*Resource {
	var out []*Resource
	for _, key := range sortedKeys(s.SoftDeleted) {
		if r := s.SoftDeleted[key]; isType(r.Type, armType) {
			out = append(out, r)
		}
	}
	return out
}

// SeedDeleted adds resources that were deleted before anybody looked, and can still be
// recovered.
func SeedDeleted(s State, resources ...Resource) State {
	s = s.clone()
	for _, r := range resources {
		r.ID, r.Type, r.DeletedAt = Clean(r.ID), TypeOf(r.ID), s.Now
		s.SoftDeleted[Key(r.ID)] = &r
	}
	return s
}

// RoleByGUID is a role that somebody defined, in the stack or beside it (A940).
func RoleByGUID(s State, guid string) (*Resource, bool) {
	if r := s.definition(guid); r != nil {
		return r, true
	}
	for _, key := range sortedKeys(s.External) {
		if r := s.External[key]; isType(r.Type, definitionType) && strings.EqualFold(Name(r.ID), guid) {
			return r, true
		}
	}
	return nil, false
}

// BuiltInRole is the name of a built-in role (A303).
func BuiltInRole(guid string) (string, bool) {
	name, ok := builtInRoles[strings.ToLower(guid)]
	return name, ok
}

// AtOrAbove are the resources of an extension type at a scope and at what is above it,
// sorted by id: its group, its subscription, and every management group (A941).
func AtOrAbove(s State, armType, scope string) []*Resource {
	var out []*Resource
	for _, pool := range []map[string]*Resource{s.Resources, s.External} {
		for _, key := range sortedKeys(pool) {
			r := pool[key]
			at := Key(scopeOf(r.ID))
			above := strings.HasPrefix(at, "/providers/microsoft.management/managementgroups/") || atOrBelow(scope, at)
			if isType(r.Type, armType) && r.Provisioning != Deleting && above {
				out = append(out, r)
			}
		}
	}
	slices.SortFunc(out, byID)
	return out
}
