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

// anybody are the sources and destinations that mean the whole internet.
var anybody = []string{"*", "0.0.0.0/0", "internet", "any", "::/0"}

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
			case azure.Subnet:
				hasGroup(st, c, c.Get())
			case azure.VirtualNetwork:
				inline, state := c.At("subnets").Items()
				if unsure(state) {
					c.Undecided(c.At("subnets"), "subnets that are known")
				}
				if len(inline) == 0 {
					c.NotApplicable("its subnets are resources of their own")
				}
				for _, subnet := range inline {
					hasGroup(st, c, subnet)
				}
			case azure.SecurityRule:
				notFromEverywhere(c, c.Get())
			case azure.SecurityGroup:
				deniesEgress(st, c)
			}
		},
	}}
}

// hasGroup judges a subnet.
func hasGroup(st *policypack.Stack, c *policypack.Case, subnet propvalue.Value) {
	name, _ := subnet.At("subnetName").Text()
	if name == "" {
		name, _ = subnet.At("name").Text()
	}
	if slices.Contains(withoutGroup, strings.ToLower(name)) {
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

// notFromEverywhere judges a security rule.
func notFromEverywhere(c *policypack.Case, rule propvalue.Value) {
	access, a := rule.At("access").Text()
	direction, d := rule.At("direction").Text()
	if a != propvalue.Known || d != propvalue.Known {
		c.Undecided(rule.At("access"), "access and direction that are known")
		return
	}
	if !strings.EqualFold(access, "Allow") || !strings.EqualFold(direction, "Inbound") {
		return
	}
	source, port := rule.At("sourceAddressPrefix"), rule.At("destinationPortRange")
	from, s := source.Text()
	to, p := port.Text()
	switch {
	case unsure(s) || unsure(p):
		c.Undecided(source, "a source and ports that are known")
	case slices.Contains(anybody, strings.ToLower(from)) && (to == "*" || to == "0-65535"):
		c.Fail(source, "named sources or named ports in rules that let in")
	}
	for _, key := range []string{"sourceAddressPrefixes", "destinationPortRanges"} {
		if _, state := rule.At(key).Items(); unsure(state) {
			c.Undecided(rule.At(key), "a list that is known")
		}
	}
}

// deniesEgress judges a security group with the rules inside it and those that
// are resources of their own.
func deniesEgress(st *policypack.Stack, c *policypack.Case) {
	list := c.At("securityRules")
	rules, state := list.Items()
	const expected = "a rule that denies all that leaves and that no other rule allows"
	if unsure(state) {
		c.Undecided(list, expected)
		return
	}
	for _, rule := range rules {
		notFromEverywhere(c, rule)
	}
	for _, own := range azure.Children(st, c.Resource, "networkSecurityGroupName", azure.SecurityRule) {
		rules = append(rules, own.Get())
	}
	for _, rule := range rules {
		all := true
		for key, want := range map[string][]string{
			"access": {"deny"}, "direction": {"outbound"}, "protocol": {"*"}, "destinationPortRange": {"*", "0-65535"}, "destinationAddressPrefix": anybody,
		} {
			text, state := rule.At(key).Text()
			all = all && state == propvalue.Known && slices.Contains(want, strings.ToLower(text))
		}
		if all {
			c.Saw(rule.At("access"), expected)
			return
		}
	}
	c.Failf(list.Path(), "without one", expected)
}
