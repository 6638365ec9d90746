package core

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
)

// The ARM types that rules speak about, in lower case.
const (
	vnetType        = "microsoft.network/virtualnetworks"
	subnetType      = "microsoft.network/virtualnetworks/subnets"
	peeringType     = "microsoft.network/virtualnetworks/virtualnetworkpeerings"
	nsgType         = "microsoft.network/networksecuritygroups"
	routeTableType  = "microsoft.network/routetables"
	publicIPType    = "microsoft.network/publicipaddresses"
	natType         = "microsoft.network/natgateways"
	zoneType        = "microsoft.network/privatednszones"
	linkType        = "microsoft.network/privatednszones/virtualnetworklinks"
	workspaceType   = "microsoft.operationalinsights/workspaces"
	componentType   = "microsoft.insights/components"
	actionGroupType = "microsoft.insights/actiongroups"
	detectorType    = "microsoft.alertsmanagement/smartdetectoralertrules"
)

// refer checks that v, found at path of r, is the id of an existing resource of
// the wanted type. It returns the resource when the state knows it. A reference
// into a group of ours must resolve; one to somewhere else is taken to exist
// (A014); an unknown one is not judged.
func (s State) refer(r *Resource, path string, v value, want string) (*Resource, *Error) {
	if v.absent() || v.unknown() {
		return nil, nil
	}
	id := v.text()
	if !isType(TypeOf(id), want) {
		return nil, refuse(InvalidResourceReference, path, path+" of "+r.ID, strconv.Quote(id),
			"the id of a "+want, "pass that resource's id")
	}
	if target, ok := s.Find(id); ok {
		if target.Provisioning == Creating || target.Provisioning == Deleting || target.Provisioning == Failed {
			return nil, refuse(ReferencedResourceNotProvisioned, path, path+" of "+r.ID,
				target.ID+" in state "+target.Provisioning, "state Succeeded", "depend on that resource, or repair it first")
		}
		return target, nil
	}
	if target, ok := s.External[Key(id)]; ok {
		return target, nil
	}
	if _, ours := s.Find(GroupOf(id)); ours {
		return nil, refuse(InvalidResourceReference, path, path+" of "+r.ID, strconv.Quote(id)+", which does not exist",
			"an existing "+want, "create it first and pass its id")
	}
	return nil, nil
}

// near checks that a referenced resource is in the same region and subscription
// as r, which Azure's network wants (A024). location is r's.
func near(r, target *Resource, path string, location value) *Error {
	if target == nil {
		return nil
	}
	if !strings.EqualFold(SubscriptionOf(r.ID), SubscriptionOf(target.ID)) {
		return refuse(InvalidResourceReference, path, path+" of "+r.ID, target.ID, "a resource of the same subscription", "make one there")
	}
	at := root(target.Body).get("location")
	if at.text() != "" && location.text() != "" && Region(at.text()) != Region(location.text()) {
		return refuse(InvalidResourceReference, path, path+" of "+r.ID, fmt.Sprintf("%s in %s", target.ID, Region(at.text())),
			"a resource in "+Region(location.text())+", the same region", "make one there")
	}
	return nil
}

// users returns the live resources of the given types that hold id anywhere in
// their body, sorted by id.
func (s State) users(id string, types ...string) []*Resource {
	var out []*Resource
	for _, r := range s.Resources {
		if r.Provisioning != Deleting && slices.ContainsFunc(types, func(t string) bool { return isType(r.Type, t) }) && mentions(r.Body, id) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, byID)
	return out
}

func mentions(v any, id string) bool {
	switch v := v.(type) {
	case string:
		return len(v) == len(id) && strings.EqualFold(v, id)
	case map[string]any:
		for _, item := range v {
			if mentions(item, id) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if mentions(item, id) {
				return true
			}
		}
	}
	return false
}

// notWithin drops the resources that would go together with what is deleted.
func notWithin(users []*Resource, with *Resource) []*Resource {
	prefix := Key(with.ID) + "/"
	return slices.DeleteFunc(users, func(r *Resource) bool {
		return Key(r.ID) == Key(with.ID) || strings.HasPrefix(Key(r.ID), prefix)
	})
}

// inUseBy refuses a deletion because of users outside of what is deleted.
func inUseBy(code Code, r, with *Resource, users []*Resource, remedy string) *Error {
	users = notWithin(users, with)
	if len(users) == 0 {
		return nil
	}
	ids := make([]string, 0, len(users))
	for _, u := range users {
		ids = append(ids, u.ID)
	}
	return refuse(code, r.ID, "deletion of "+r.ID, "a resource in use by "+strings.Join(ids, ", "), "one that nothing uses", remedy)
}

// prefixes parses known CIDR strings; the first bad one is returned as bad.
func prefixes(texts []string) (out []netip.Prefix, bad string) {
	for _, t := range texts {
		p, err := netip.ParsePrefix(t)
		if err != nil {
			return nil, t
		}
		out = append(out, p)
	}
	return out, ""
}

func covers(space []netip.Prefix, p netip.Prefix) bool {
	return slices.ContainsFunc(space, func(s netip.Prefix) bool { return s.Bits() <= p.Bits() && s.Contains(p.Addr()) })
}

func quoted(prefixes []netip.Prefix) string {
	out := make([]string, len(prefixes))
	for i, p := range prefixes {
		out[i] = p.String()
	}
	return strings.Join(out, ", ")
}

// closest returns the candidate nearest to text.
func closest(text string, candidates []string) string {
	best, distance := "", 1<<30
	for _, c := range candidates {
		if d := levenshtein.Distance(strings.ToLower(text), strings.ToLower(c), nil); d < distance {
			best, distance = c, d
		}
	}
	return best
}
