package azure

import (
	"slices"
	"strings"

	"onedoor/internal/az"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

// NameOf is the resource's own name in Azure, and GroupOf that of its group.
func NameOf(r *policypack.Resource) propvalue.Value { return r.Get(nameProperties[r.Type]) }

// GroupOf is the name of the resource's group.
func GroupOf(r *policypack.Resource) propvalue.Value { return r.Get("resourceGroupName") }

// same compares names as Azure does; unknown names are not the same.
func same(a, b propvalue.Value) bool {
	x, xs := a.Text()
	y, ys := b.Text()
	return xs == propvalue.Known && ys == propvalue.Known && strings.EqualFold(x, y)
}

// unsure tells whether a value is set, and not to a text that is known.
func unsure(v propvalue.Value) bool {
	_, state := v.Text()
	return state == propvalue.Unknown || state == propvalue.Mistyped
}

// Owner finds the resource of type typ that r names in the input property: by
// its name and group, or, where these are not known yet, by what the input was
// made from. It is nil when the stack does not declare the owner.
func Owner(s *policypack.Stack, r *policypack.Resource, property, typ string) *policypack.Resource {
	named := r.Get(property)
	name, _ := named.Text()
	for _, candidate := range byName(s, typ, name) {
		if same(named, NameOf(candidate)) && (same(GroupOf(r), GroupOf(candidate)) || GroupOf(r).State() != propvalue.Known || GroupOf(candidate).State() != propvalue.Known) {
			return candidate
		}
	}
	if named.State() == propvalue.Known {
		return nil
	}
	if behind := s.Behind(r, property, typ); len(behind) == 1 {
		return behind[0]
	}
	return nil
}

// byName are the resources of a type that have the name.
func byName(s *policypack.Stack, typ, name string) []*policypack.Resource {
	return s.By("name", typ, func(r *policypack.Resource) string {
		own, _ := NameOf(r).Text()
		return strings.ToLower(own)
	})[strings.ToLower(name)]
}

// InGroup are the resources of a type in a resource group, and those whose group
// is not known.
func InGroup(s *policypack.Stack, typ, group string) []*policypack.Resource {
	index := s.By("group", typ, func(r *policypack.Resource) string {
		own, _ := GroupName(s, r)
		return strings.ToLower(own)
	})
	if group == "" {
		return index[""]
	}
	return append(slices.Clone(index[strings.ToLower(group)]), index[""]...)
}

// Children are the resources of type typ whose input property names owner.
func Children(s *policypack.Stack, owner *policypack.Resource, property, typ string) []*policypack.Resource {
	index := s.By("owner by "+property+" of "+owner.Type, typ, func(r *policypack.Resource) string {
		if found := Owner(s, r, property, owner.Type); found != nil {
			return found.URN
		}
		return ""
	})
	return index[owner.URN]
}

// Is tells whether an ARM id is that of r. known is false when neither the id
// nor what it was made from says so; property is the input that holds the id.
func Is(s *policypack.Stack, holder *policypack.Resource, property string, id propvalue.Value, r *policypack.Resource) (is, known bool) {
	if text, state := id.Text(); state == propvalue.Known {
		if parsed, err := az.ParseID(text); err == nil && strings.EqualFold(parsed.Type, armTypes[r.Type]) && unsure(NameOf(r)) {
			return false, false
		}
		return idOf(text, r), true
	}
	behind := s.Behind(holder, property, r.Type)
	if slices.Contains(behind, r) {
		return len(behind) == 1, len(behind) == 1
	}
	return false, len(behind) > 0
}

// idOf tells whether id names r. The subscription is not compared: resources
// do not say theirs.
func idOf(id string, r *policypack.Resource) bool {
	parsed, err := az.ParseID(id)
	if err != nil || !strings.EqualFold(parsed.Type, armTypes[r.Type]) {
		return false
	}
	name, state := NameOf(r).Text()
	if state != propvalue.Known || !strings.EqualFold(parsed.Name(), name) {
		return false
	}
	group, state := GroupOf(r).Text()
	return state != propvalue.Known || strings.EqualFold(parsed.ResourceGroup, group)
}

// Find is the resource among candidates that an ARM id names; nil if none.
func Find(s *policypack.Stack, holder *policypack.Resource, property string, id propvalue.Value, types ...string) *policypack.Resource {
	text, state := id.Text()
	parsed, err := az.ParseID(text)
	for _, typ := range types {
		candidates := s.Of(typ)
		if state == propvalue.Known && err == nil {
			candidates = byName(s, typ, parsed.Name())
		}
		for _, r := range candidates {
			if is, _ := Is(s, holder, property, id, r); is {
				return r
			}
		}
	}
	return nil
}

// GroupName is the name of the resource's group, also where it is known only
// from the group that the stack declares.
func GroupName(s *policypack.Stack, r *policypack.Resource) (string, propvalue.State) {
	name, state := GroupOf(r).Text()
	if state != propvalue.Unknown {
		return name, state
	}
	if behind := s.Behind(r, "resourceGroupName", ResourceGroup); len(behind) == 1 {
		return NameOf(behind[0]).Text()
	}
	return "", state
}

// SameOwner tells whether a and b name the same owner of type typ in the input
// property: by name, or, where that is not known yet, by what it was made from.
func SameOwner(s *policypack.Stack, a, b *policypack.Resource, property, typ string) bool {
	if same(a.Get(property), b.Get(property)) {
		return true
	}
	if a.Get(property).State() == propvalue.Known && b.Get(property).State() == propvalue.Known {
		return false
	}
	x, y := Owner(s, a, property, typ), Owner(s, b, property, typ)
	return x != nil && x == y
}
