package az

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ID is an ARM resource id inside a resource group, taken apart.
type ID struct {
	SubscriptionID string
	ResourceGroup  string
	Type           string   // as in "Microsoft.Network/virtualNetworks/subnets"; "" for the group itself
	Names          []string // one per segment of Type after the provider
}

// Name is the last name of the id.
func (id ID) Name() string {
	if len(id.Names) == 0 {
		return id.ResourceGroup
	}
	return id.Names[len(id.Names)-1]
}

// String writes the id the way Azure answers it.
func (id ID) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/subscriptions/%s/resourceGroups/%s", id.SubscriptionID, id.ResourceGroup)
	if id.Type == "" {
		return b.String()
	}
	provider, segments, _ := strings.Cut(id.Type, "/")
	fmt.Fprintf(&b, "/providers/%s", provider)
	for i, segment := range strings.Split(segments, "/") {
		fmt.Fprintf(&b, "/%s/%s", segment, id.Names[i])
	}
	return b.String()
}

// subscription is the form of a subscription id: a GUID.
var subscription = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// IsGUID tells whether s has the form of a subscription or tenant id.
func IsGUID(s string) bool { return subscription.MatchString(s) }

// ParseID takes an ARM resource id apart. Fixed segments are matched without
// regard to case, as Azure does.
func ParseID(s string) (ID, error) {
	parts := strings.Split(strings.TrimPrefix(s, "/"), "/")
	fail := func(why string) (ID, error) {
		return ID{}, fmt.Errorf("%q is not a resource id: %s", s, why)
	}
	if !strings.HasPrefix(s, "/") || len(parts) < 4 || !strings.EqualFold(parts[0], "subscriptions") || !strings.EqualFold(parts[2], "resourceGroups") {
		return fail("it must start with /subscriptions/<id>/resourceGroups/<name>")
	}
	if !IsGUID(parts[1]) {
		return fail(fmt.Sprintf("%q is not a subscription GUID", parts[1]))
	}
	id := ID{SubscriptionID: parts[1], ResourceGroup: parts[3]}
	rest := parts[4:]
	if len(rest) > 0 {
		if len(rest) < 4 || len(rest)%2 != 0 || !strings.EqualFold(rest[0], "providers") {
			return fail("after the resource group it must go on with /providers/<namespace>/<type>/<name>")
		}
		id.Type = rest[1]
		for i := 2; i < len(rest); i += 2 {
			id.Type += "/" + rest[i]
			id.Names = append(id.Names, rest[i+1])
		}
	}
	if id.ResourceGroup == "" || slices.Contains(id.Names, "") {
		return fail("a name is empty")
	}
	return id, nil
}

// GroupID is the id of a resource group of this stack's subscription.
func (s Scope) GroupID(group string) string {
	return ID{SubscriptionID: s.SubscriptionID, ResourceGroup: group}.String()
}

// ResourceID is the id that a resource will have, before it exists: a plain
// string, so previews and policies can compare it. typ is the ARM type and
// names has one entry for each of its segments.
func (s Scope) ResourceID(group, typ string, names ...string) string {
	return ID{SubscriptionID: s.SubscriptionID, ResourceGroup: group, Type: typ, Names: names}.String()
}
