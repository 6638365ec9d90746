package reach

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/az/flows"
)

// securityGroup is a network security group, its rules by priority.
type securityGroup struct {
	name  string
	rules []rule
	named []netip.Prefix // every address that a rule names
	tags  []string       // every service tag that a rule names
}

// rule is one rule of a group.
type rule struct {
	name         string
	priority     int
	direction    flows.Direction
	allow        bool
	protocol     flows.Protocol
	sources      []string
	destinations []string
	ports        []string
	partly       bool // some of it could not be known
}

// defaults are the rules that every group ends with.
// https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview#default-security-rules
var defaults = []rule{
	defaultRule("AllowVnetInBound", 65000, flows.Inbound, true, virtualNetwork, virtualNetwork),
	defaultRule("AllowAzureLoadBalancerInBound", 65001, flows.Inbound, true, loadBalancerTag, "*"),
	defaultRule("DenyAllInBound", 65500, flows.Inbound, false, "*", "*"),
	defaultRule("AllowVnetOutBound", 65000, flows.Outbound, true, virtualNetwork, virtualNetwork),
	defaultRule("AllowInternetOutBound", 65001, flows.Outbound, true, "*", internetTag),
	defaultRule("DenyAllOutBound", 65500, flows.Outbound, false, "*", "*"),
}

func defaultRule(name string, priority int, direction flows.Direction, allow bool, from, to string) rule {
	return rule{name, priority, direction, allow, flows.Any, []string{from}, []string{to}, []string{"*"}, false}
}

// readGroup reads the rules of a network security group.
func readGroup(r Resource) securityGroup {
	g := securityGroup{name: r.in("networkSecurityGroupName").text(), rules: slices.Clone(defaults)}
	for _, item := range r.in("securityRules").list() {
		g.rules = append(g.rules, readRule(item))
	}
	if r.in("securityRules").unknown() {
		for _, direction := range []flows.Direction{flows.Inbound, flows.Outbound} {
			all := defaultRule("rules that the plan does not know", 0, direction, true, "*", "*")
			all.partly = true
			g.rules = append(g.rules, all)
		}
	}
	slices.SortStableFunc(g.rules, func(a, b rule) int { return cmp.Compare(a.priority, b.priority) })
	for _, r := range g.rules {
		for _, text := range append(slices.Clone(r.sources), r.destinations...) {
			if p, isPrefix := ipv4(text); isPrefix {
				g.named = append(g.named, p)
			} else if text != "*" {
				g.tags = append(g.tags, text)
			}
		}
	}
	return g
}

func readRule(v in) rule {
	out := rule{
		name: v.at("name").text(), priority: v.at("priority").number(), direction: flows.Direction(v.at("direction").text()),
		allow: strings.EqualFold(v.at("access").text(), "Allow"), protocol: flows.Protocol(v.at("protocol").text()),
	}
	all := func(one, many string) []string {
		list, whole := v.at(many).texts()
		if v.at(one).unknown() || !whole {
			out.partly = true
		}
		if text := v.at(one).text(); text != "" {
			list = append(list, text)
		}
		return list
	}
	out.sources = all("sourceAddressPrefix", "sourceAddressPrefixes")
	out.destinations = all("destinationAddressPrefix", "destinationAddressPrefixes")
	out.ports = all("destinationPortRange", "destinationPortRanges")
	for _, groups := range []string{"sourceApplicationSecurityGroups", "destinationApplicationSecurityGroups"} {
		out.partly = out.partly || len(v.at(groups).list()) > 0 // their members are no part of a plan
	}
	out.partly = out.partly || v.at("access").unknown() || v.at("priority").unknown() || v.at("protocol").unknown() || v.at("direction").unknown()
	return out
}

// packet is the first one of a connection.
type packet struct {
	from, to party
	port     string
	protocol flows.Protocol
}

// meets tells whether the rule is about the packet.
func (r rule) meets(p packet, direction flows.Direction) verdict {
	switch {
	case r.partly && (r.direction == direction || r.direction == ""):
		return maybe
	case r.direction != direction:
		return no
	case r.protocol != flows.Any && p.protocol != flows.Any && !strings.EqualFold(string(r.protocol), string(p.protocol)):
		return no
	}
	return of(slices.ContainsFunc(r.sources, p.from.in) && slices.ContainsFunc(r.destinations, p.to.in) && inPorts(r.ports, p.port))
}

// inPorts tells whether the ports of a rule hold port.
func inPorts(ports []string, port string) bool {
	n, err := strconv.Atoi(port)
	return slices.ContainsFunc(ports, func(p string) bool {
		first, last, isRange := strings.Cut(p, "-")
		if !isRange {
			return p == "*" || p == port
		}
		low, lowErr := strconv.Atoi(first)
		high, highErr := strconv.Atoi(last)
		return err == nil && lowErr == nil && highErr == nil && low <= n && n <= high
	})
}

// decide is what the group says to the packet: the first rule that is about it
// decides. Where a rule before may be about it and says otherwise, nobody knows.
func (g *securityGroup) decide(p packet, direction flows.Direction) decision {
	if g == nil {
		return decision{yes, "no security group"}
	}
	var doubt *rule
	for _, r := range g.rules {
		switch r.meets(p, direction) {
		case yes:
			if doubt != nil && doubt.allow != r.allow {
				return decision{maybe, g.name + "/" + doubt.name}
			}
			return decision{of(r.allow), g.name + "/" + r.name}
		case maybe:
			if doubt == nil {
				doubt = &r
			}
		}
	}
	return decision{no, g.name}
}
