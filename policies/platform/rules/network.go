package rules

import (
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// withoutGroup are the subnets for which Azure refuses a security group.
// https://learn.microsoft.com/azure/virtual-network/virtual-network-vnet-plan-design-arm
var withoutGroup = []string{"azurefirewallsubnet", "azurefirewallmanagementsubnet", "gatewaysubnet", "routeserversubnet"}

// network are the rules of subnets and their security groups.
func network() []policypack.Rule {
	return []policypack.Rule{{
		ID: "NET-01", Severity: policypack.High,
		Title:     "Every subnet has a security group that lets nothing in from everywhere and denies what leaves",
		Rationale: "One flat network undoes the separation that the doors rely on.",
		Remedy:    "Give the subnet a security group; name sources and ports; end with a rule that denies all that leaves.",
		Controls:  []string{"MCSB NS-1", "MCSB NS-3", "Azure Policy e71308d3-144b-4262-b144-efdc3cc90517"},
		Sources:   []string{"https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview"},
		Types:     []string{azure.Subnet, azure.VirtualNetwork, azure.SecurityGroup, azure.SecurityRule},
		Stack: func(st *policypack.Stack, c *policypack.Case) {
			switch c.Type {
			case azure.SecurityRule:
				ownWay(c, c.Get())
			case azure.SecurityGroup:
				deniesEgress(st, c)
			default:
				segments, known := azure.SegmentsOf(c.Resource)
				if !known {
					c.Undecided(c.At("subnets"), "subnets that are known")
				}
				if len(segments) == 0 {
					c.NotApplicable("its subnets are resources of their own")
				}
				for _, subnet := range segments {
					hasGroup(st, c, subnet)
				}
			}
		},
	}}
}

// hasGroup judges a subnet.
func hasGroup(st *policypack.Stack, c *policypack.Case, subnet azure.Segment) {
	if name, _ := subnet.Name.Text(); slices.Contains(withoutGroup, strings.ToLower(name)) {
		c.NotApplicable("Azure takes no security group on %s", name)
		return
	}
	group := subnet.At("networkSecurityGroup", "id")
	if group.State() == propvalue.Unknown && len(st.Behind(c.Resource, "networkSecurityGroup", azure.SecurityGroup)) > 0 {
		c.Saw(group, "a security group")
		return
	}
	c.MustBeSet(group, "a security group")
}

// ownWay judges a security rule by itself: one that lets in, or out, names who or
// which ports.
func ownWay(c *policypack.Case, rule propvalue.Value) (w azure.Wall, known bool) {
	w, unknown, known := azure.WallOf(rule)
	if !known {
		c.Undecided(unknown, "known, as all that decides who gets through")
		return w, false
	}
	who := w.From
	if !w.Inbound {
		who = w.To
	}
	if w.Allows && w.AllPorts && azure.Everybody(who) {
		c.Fail(rule, "named addresses or named ports in a rule that allows")
	}
	return w, true
}

// deniesEgress judges a security group with the rules inside it and those that
// are resources of their own; the latter are judged by themselves as well.
func deniesEgress(st *policypack.Stack, c *policypack.Case) {
	rules, known := azure.RulesOf(st, c.Resource)
	const expected = "a rule that denies all that leaves"
	if !known {
		c.Undecided(c.At("securityRules"), expected)
		return
	}
	denies := false
	for _, rule := range rules {
		w, unknown, known := azure.WallOf(rule.Value)
		switch {
		case rule.By == c.Resource:
			w, known = ownWay(c, rule.Value)
		case !known:
			c.Undecidedf(rule.Where(), expected, "%s is not known: %s", rule.Where(), unknown.Path())
		}
		if known && !w.Allows && !w.Inbound && w.AllPorts && w.AllProtocols && azure.Everybody(w.To) {
			c.Saw(w.At("access"), expected)
			denies = true
		}
	}
	if !denies {
		c.Failf("securityRules", "without one", expected)
	}
}
