package rules

import (
	"net/netip"
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// endpoints are the rules of the subnets that hold private endpoints of models.
func endpoints(s *settings) []policypack.Rule {
	subnets := []string{azure.Subnet, azure.VirtualNetwork}
	return []policypack.Rule{
		{
			ID: "BAT-11", Severity: policypack.Critical,
			Title:     "The subnet of model endpoints lets in nobody but its door",
			Rationale: "Azure lets the whole network in unless a security group denies it; whoever reaches an endpoint needs but a token.",
			Remedy:    "Allow the subnet of the door alone, the control plane's nodes or the gateway, and end with a rule that denies all that comes in.",
			Controls:  []string{"MCSB NS-1", "MCSB NS-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview#default-security-rules"},
			Types:     subnets,
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				s.eachDoor(st, c, func(g azure.Segment, doors []string) { onlyDoor(st, c, g, doors) })
			},
		},
		{
			ID: "BAT-12", Severity: policypack.Critical,
			Title:     "Security groups hold at the private endpoints of models",
			Rationale: "Azure does not apply a security group to private endpoints unless the subnet says so.",
			Remedy:    `Set privateEndpointNetworkPolicies of the subnet to "Enabled" or "NetworkSecurityGroupEnabled".`,
			Controls:  []string{"MCSB NS-1", "MCSB NS-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/private-link/disable-private-endpoint-network-policy"},
			Types:     subnets,
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				s.eachDoor(st, c, func(g azure.Segment, _ []string) {
					c.Must(g.At("privateEndpointNetworkPolicies"), "Enabled", "NetworkSecurityGroupEnabled")
				})
			},
		},
	}
}

// eachDoor calls judge with every subnet of the case that holds endpoints of
// models, by its name or by what lies in it, and with the subnets of its door. It
// reports when there is none.
func (s *settings) eachDoor(st *policypack.Stack, c *policypack.Case, judge func(g azure.Segment, doors []string)) {
	segments, known := azure.SegmentsOf(c.Resource)
	if !known {
		c.Undecided(c.Get("subnets"), "subnets that are known")
	}
	found := false
	for _, g := range segments {
		name, state := g.Name.Text()
		if state != propvalue.Known {
			c.Undecided(g.Name, "a name that is known")
			continue
		}
		batch, sync := like(s.BatchSubnets, name), like(s.ModelSubnets, name)
		inside, sure := g.EndpointsIn(st)
		for _, endpoint := range inside {
			to := s.leads(st, endpoint)
			batch, sync, sure = batch || to.batch, sync || to.sync, sure && to.known
		}
		switch {
		case batch: // the narrower door, whatever else lies there
			judge(g, s.ControlPlaneSubnets)
		case sync:
			judge(g, s.GatewaySubnets)
		case !sure:
			c.Undecidedf(g.Path(), "endpoints whose subnet and target are known", "what lies in subnet %s is not known", name)
		default:
			continue
		}
		found = true
	}
	if !found {
		c.NotApplicable("no endpoint of a model lies there")
	}
}

// onlyDoor judges the security group of a subnet.
func onlyDoor(st *policypack.Stack, c *policypack.Case, g azure.Segment, doors []string) {
	expected := "nobody but subnets like " + strings.Join(doors, " or ")
	id := g.At("networkSecurityGroup", "id")
	group := azure.Find(st, g.Holder, "networkSecurityGroup", id, azure.SecurityGroup)
	switch {
	case id.State() == propvalue.Absent:
		c.Fail(id, "a security group that lets in "+expected)
		return
	case group == nil:
		c.Undecided(id, "a security group of the stack")
		return
	}
	rules, known := azure.RulesOf(st, group)
	if !known {
		c.Undecidedf("securityRules of "+group.Name, expected, "the rules of %s are not known", group.Name)
		return
	}
	closed := false
	inside, sure := doorPrefixes(st, doors)
	for _, rule := range rules {
		w, unknown, known := azure.WallOf(rule.Value)
		at := rule.Where()
		switch {
		case !known:
			c.Undecidedf(at, expected, "%s is not known: %s", at, unknown.Path())
		case !w.Inbound:
		case !w.Allows:
			closed = closed || w.AllPorts && w.AllProtocols && azure.Everybody(w.From) && azure.Everybody(w.To)
		case len(w.From) == 0:
			c.Failf(at, "Allow without a source", expected)
		default:
			for _, from := range w.From {
				if within(from, inside) {
					continue
				}
				if !sure {
					c.Undecidedf(at, expected, "the addresses of a subnet of the door are not known")
					continue
				}
				c.Failf(at, "Allow from "+shown(rule.Value, from), expected)
			}
		}
	}
	if !closed {
		c.Failf("securityRules of "+group.Name, "without a rule that denies all that comes in", "one: otherwise Azure lets the whole network in")
	}
}

// shown is a source as evidence.
func shown(rule propvalue.Value, from string) string {
	if rule.HoldsSecret() {
		return propvalue.ShownSecret
	}
	return from
}

// doorPrefixes are the addresses of the subnets of the stack with names like those
// of a door; known is false when some are not known.
func doorPrefixes(st *policypack.Stack, doors []string) (out []netip.Prefix, known bool) {
	known = true
	for _, g := range azure.Segments(st) {
		name, state := g.Name.Text()
		if state == propvalue.Known && !like(doors, name) {
			continue
		}
		prefixes, sure := g.Prefixes()
		out, known = append(out, prefixes...), known && sure && state == propvalue.Known
	}
	return out, known
}

// within tells whether a source is an address or a range inside one of prefixes.
func within(source string, prefixes []netip.Prefix) bool {
	p, err := netip.ParsePrefix(source)
	if err != nil {
		address, err := netip.ParseAddr(source)
		if err != nil {
			return false
		}
		p = netip.PrefixFrom(address, address.BitLen())
	}
	return slices.ContainsFunc(prefixes, func(outer netip.Prefix) bool {
		return outer.Bits() <= p.Bits() && outer.Contains(p.Addr())
	})
}
