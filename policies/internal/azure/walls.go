package azure

import (
	"net/netip"
	"slices"
	"strings"

	"onedoor/internal/az"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

// Wall is one rule of a security group.
// https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview
type Wall struct {
	propvalue.Value
	Allows, Inbound, AllPorts, AllProtocols bool
	From, To                                []string // prefixes, tags, or ids of application security groups
}

// everybody are the prefixes and tags that mean the whole internet.
var everybody = []string{"*", "any", "internet", "0.0.0.0/0", "::/0"}

// wide is the shortest prefix that is somebody in particular, in bits: no private
// range is larger than a /8.
const wide = 8

// Everybody tells whether one of the prefixes means everybody.
func Everybody(prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		parsed, err := netip.ParsePrefix(p)
		return slices.Contains(everybody, strings.ToLower(p)) || err == nil && parsed.Bits() < wide
	})
}

// WallOf reads a security rule; known is false, with the part, when something that
// decides is not known.
func WallOf(rule propvalue.Value) (w Wall, unknown propvalue.Value, known bool) {
	w = Wall{Value: rule}
	for _, key := range []string{"access", "direction", "protocol"} {
		if _, state := rule.At(key).Text(); state != propvalue.Known && (state != propvalue.Absent || key != "protocol") {
			return w, rule.At(key), false
		}
	}
	access, _ := rule.At("access").Text()
	direction, _ := rule.At("direction").Text()
	protocol, _ := rule.At("protocol").Text()
	w.Allows, w.Inbound, w.AllProtocols = strings.EqualFold(access, "Allow"), strings.EqualFold(direction, "Inbound"), protocol == "*"
	var ports []string
	for _, part := range []struct {
		to    *[]string
		one   string
		many  string
		group string
	}{
		{&w.From, "sourceAddressPrefix", "sourceAddressPrefixes", "sourceApplicationSecurityGroups"},
		{&w.To, "destinationAddressPrefix", "destinationAddressPrefixes", "destinationApplicationSecurityGroups"},
		{&ports, "destinationPortRange", "destinationPortRanges", ""},
	} {
		if unknown, known = texts(part.to, rule.At(part.one), rule.At(part.many), rule.At(part.group)); !known {
			return w, unknown, false
		}
	}
	w.AllPorts = slices.ContainsFunc(ports, func(p string) bool { return p == "*" || strings.HasSuffix(p, "-65535") && len(p) <= len("1-65535") })
	return w, rule, true
}

// texts adds what a value, a list of values and a list of ids say.
func texts(to *[]string, one, many, ids propvalue.Value) (unknown propvalue.Value, known bool) {
	text, state := one.Text()
	if unsure(one) {
		return one, false
	}
	if state == propvalue.Known {
		*to = append(*to, text)
	}
	for _, list := range []propvalue.Value{many, ids} {
		items, state := list.Items()
		if state == propvalue.Unknown || state == propvalue.Mistyped {
			return list, false
		}
		for _, item := range items {
			if item.Object() == propvalue.Known {
				item = item.At("id")
			}
			text, state := item.Text()
			if state != propvalue.Known {
				return item, false
			}
			*to = append(*to, text)
		}
	}
	return one, true
}

// Declared is a security rule and the resource that declares it.
type Declared struct {
	propvalue.Value
	By *policypack.Resource
}

// Where is where the rule stands, for evidence.
func (d Declared) Where() string {
	if d.Path() == "" {
		return d.By.Name
	}
	return d.Path() + " of " + d.By.Name
}

// RulesOf are the rules of a security group, those inside it and those that are
// resources of their own; known is false when the former are not known.
func RulesOf(s *policypack.Stack, group *policypack.Resource) (rules []Declared, known bool) {
	inside, state := group.Get("securityRules").Items()
	for _, rule := range inside {
		rules = append(rules, Declared{rule, group})
	}
	for _, own := range Children(s, group, "networkSecurityGroupName", SecurityRule) {
		rules = append(rules, Declared{own.Get(), own})
	}
	return rules, state == propvalue.Known || state == propvalue.Absent
}

// Segment is a subnet, as a resource of its own or inside its network.
type Segment struct {
	propvalue.Value
	Holder *policypack.Resource
	Name   propvalue.Value
	inline bool
}

// SegmentsOf are the subnets that a Subnet or a VirtualNetwork declares; known is
// false when those of the latter are not known.
func SegmentsOf(r *policypack.Resource) (out []Segment, known bool) {
	if r.Type == Subnet {
		return []Segment{{r.Get(), r, NameOf(r), false}}, true
	}
	items, state := r.Get("subnets").Items()
	for _, item := range items {
		out = append(out, Segment{item, r, item.At("name"), true})
	}
	return out, state == propvalue.Known || state == propvalue.Absent
}

// Segments are all subnets of the stack, as far as they are known.
func Segments(s *policypack.Stack) (out []Segment) {
	for _, r := range s.Of(Subnet, VirtualNetwork) {
		segments, _ := SegmentsOf(r)
		out = append(out, segments...)
	}
	return out
}

// Prefixes are the segment's addresses; known is false when one is not known.
func (g Segment) Prefixes() (out []netip.Prefix, known bool) {
	var written []string
	if _, known := texts(&written, g.At("addressPrefix"), g.At("addressPrefixes"), propvalue.Value{}); !known {
		return nil, false
	}
	for _, text := range written {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, false
		}
		out = append(out, prefix)
	}
	return out, len(out) > 0
}

// EndpointsIn are the private endpoints that lie in the segment; known is false
// when there may be more.
func (g Segment) EndpointsIn(s *policypack.Stack) (found []*policypack.Resource, known bool) {
	byName := s.By("subnet", PrivateEndpoint, func(endpoint *policypack.Resource) string {
		id, _ := endpoint.Get("subnet", "id").Text()
		return strings.ToLower(id[strings.LastIndex(id, "/")+1:])
	})
	name, _ := g.Name.Text()
	for _, endpoint := range byName[strings.ToLower(name)] {
		if name != "" && g.named(endpoint.Get("subnet", "id")) {
			found = append(found, endpoint)
		}
	}
	known = true
	for _, endpoint := range byName[""] { // whose subnet is not known yet
		switch behind := s.Behind(endpoint, "subnet", g.Holder.Type); {
		case len(behind) == 1 && behind[0] == g.Holder && !g.inline:
			found = append(found, endpoint)
		case len(behind) == 0 || slices.Contains(behind, g.Holder):
			known = false
		}
	}
	return found, known
}

// named tells whether an id is that of the segment.
func (g Segment) named(id propvalue.Value) bool {
	text, _ := id.Text()
	parsed, err := az.ParseID(text)
	if err != nil || !strings.EqualFold(parsed.Type, armTypes[Subnet]) {
		return true // the name is like it, and nothing else is known
	}
	network := g.Holder.Get("virtualNetworkName")
	written, state := network.Text()
	return state != propvalue.Known || strings.EqualFold(parsed.Names[0], written)
}
