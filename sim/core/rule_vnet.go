package core

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// spaceOf returns the address space of a network; decided is false when it is
// not (wholly) known, as in a preview or for a foreign network.
func spaceOf(r *Resource) (space []netip.Prefix, decided bool) {
	if r == nil {
		return nil, false
	}
	v := r.props("addressSpace.addressPrefixes")
	if v.absent() || v.hasUnknown() {
		return nil, false
	}
	space, bad := prefixes(v.texts())
	return space, bad == ""
}

// networkSpace: the space is one or more CIDR blocks in canonical form that do
// not overlap, and every subnet stays inside (A032).
func networkSpace(s State, r, old *Resource) *Error {
	v := r.props("addressSpace.addressPrefixes")
	if v.hasUnknown() {
		return nil
	}
	if len(v.list()) == 0 && r.props("addressSpace.ipamPoolPrefixAllocations").absent() {
		return refuse(InvalidRequestFormat, "addressSpace", "address space of "+r.ID, "nothing", "at least one CIDR block", "set addressSpace.addressPrefixes")
	}
	space, bad := prefixes(v.texts())
	if bad != "" {
		return refuse(InvalidRequestFormat, "addressSpace", "address space of "+r.ID, strconv.Quote(bad), "a CIDR block such as 10.0.0.0/16", "correct it")
	}
	for i, p := range space {
		if p != p.Masked() {
			return refuse(InvalidRequestFormat, "addressSpace", "address space of "+r.ID, p.String(), p.Masked().String()+", the block's first address", "use that")
		}
		for _, q := range space[:i] {
			if p.Overlaps(q) {
				return refuse(NetcfgSubnetRangesOverlap, "addressSpace", "address space of "+r.ID, fmt.Sprintf("%s and %s", q, p), "blocks that do not overlap", "drop one")
			}
		}
	}
	if old == nil || root(r.Body).get("properties.subnets").known() {
		return nil
	}
	for _, subnet := range s.subnetsOf(r.ID) {
		for _, p := range subnetSpace(subnet) {
			if !covers(space, p) {
				return refuse(NetcfgInvalidSubnet, "addressSpace", "address space of "+r.ID, quoted(space),
					fmt.Sprintf("one that still holds %s of subnet %s", p, Name(subnet.ID)), "move or delete that subnet first")
			}
		}
	}
	return nil
}

// networkSubnets checks the subnets written inside a network.
func networkSubnets(s State, r, _ *Resource) *Error {
	inline := root(r.Body).get("properties.subnets")
	if !inline.known() {
		return nil
	}
	seen := map[string]bool{}
	for i, item := range inline.list() {
		child := inlineSubnet(r, item)
		if child == nil {
			continue
		}
		if seen[Key(child.ID)] {
			return refuse(InvalidRequestFormat, fmt.Sprintf("subnets[%d]", i), "subnets of "+r.ID, "two of the name "+Name(child.ID), "one", "rename one")
		}
		seen[Key(child.ID)] = true
		siblings := map[string][]netip.Prefix{}
		for _, other := range inline.list() {
			if c := inlineSubnet(r, other); c != nil && Key(c.ID) != Key(child.ID) {
				siblings[Name(c.ID)] = subnetSpace(c)
			}
		}
		space, decided := spaceOf(r)
		if err := fits(child, space, decided, siblings); err != nil {
			return err
		}
		if err := subnetDelegations(s, child, nil); err != nil {
			return err
		}
		if err := subnetLinks(s, child, root(r.Body).get("location")); err != nil {
			return err
		}
	}
	for _, subnet := range s.subnetsOf(r.ID) {
		if !seen[Key(subnet.ID)] {
			if err := subnetInUse(s, subnet, subnet); err != nil {
				return err
			}
		}
	}
	return nil
}

func inlineSubnet(network *Resource, item value) *Resource {
	name := item.get("name").text()
	if name == "" {
		return nil
	}
	props, _ := item.get("properties").v.(map[string]any)
	return &Resource{
		ID: network.ID + "/subnets/" + name, Type: "Microsoft.Network/virtualNetworks/subnets", APIVersion: network.APIVersion,
		Body: map[string]any{"properties": copyBody(props)}, Generation: 1, Born: 1, Provisioning: Succeeded,
	}
}

func completeNetwork(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	setDefault(props, "enableDdosProtection", false)
	setDefault(props, "privateEndpointVNetPolicies", "Disabled")
	props["resourceGuid"] = GUID(r, "resourceGuid")
}

// networkChildren turns the subnets inside a network's body into resources. A
// body without the key keeps those that exist, as in Azure and as azure-native
// does by itself (A033); a list replaces them.
func networkChildren(s *State, r, _ *Resource) {
	props := object(r.Body, "properties")
	inline := root(r.Body).get("properties.subnets")
	delete(props, "subnets")
	delete(props, "virtualNetworkPeerings")
	if !inline.known() {
		return
	}
	keep := map[string]bool{}
	for _, item := range inline.list() {
		child := inlineSubnet(r, item)
		if child == nil {
			continue
		}
		keep[Key(child.ID)] = true
		if old, ok := s.Find(child.ID); ok {
			child.ID, child.Born, child.Generation = old.ID, old.Born, old.Generation+1
		} else {
			child.Born = s.Births[Key(child.ID)] + 1
		}
		s.normalise(child)
		completeSubnet(*s, child, nil)
		child.Etag = etag(child)
		s.Births[Key(child.ID)] = child.Born
		s.Resources[Key(child.ID)] = child
	}
	for _, subnet := range s.subnetsOf(r.ID) {
		if !keep[Key(subnet.ID)] {
			s.drop(subnet)
		}
	}
}

func viewNetwork(s State, r *Resource, body map[string]any) {
	props := object(body, "properties")
	subnets, peerings := []any{}, []any{}
	for _, child := range s.under(r.ID) {
		switch {
		case isType(child.Type, subnetType):
			subnets = append(subnets, s.Show(child))
		case isType(child.Type, peeringType):
			peerings = append(peerings, s.Show(child))
		}
	}
	if _, seeded := s.External[Key(r.ID)]; seeded {
		others, _ := props["virtualNetworkPeerings"].([]any)
		peerings = append(peerings, others...) // with networks that nobody here declares (A942)
	}
	props["subnets"], props["virtualNetworkPeerings"] = subnets, peerings
}

// subnetsOf returns the stored subnets of a network, sorted by id.
func (s State) subnetsOf(network string) []*Resource {
	var out []*Resource
	for _, child := range s.under(network) {
		if isType(child.Type, subnetType) {
			out = append(out, child)
		}
	}
	return out
}

// network returns the network that id lies in, ours or a seeded one.
func (s State) network(id string) *Resource {
	at := strings.Index(Key(id), "/providers/"+vnetType+"/")
	if at < 0 {
		return nil
	}
	parts := strings.SplitN(Clean(id)[at:], "/", 6)
	key := Key(Clean(id)[:at] + strings.Join(parts[:min(5, len(parts))], "/"))
	if r, ok := s.Resources[key]; ok {
		return r
	}
	return s.External[key]
}
