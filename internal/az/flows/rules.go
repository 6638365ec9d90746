package flows

import (
	"fmt"
	"slices"
	"strings"

	"onedoor/internal/az/netplan"
)

// Rule is one rule of a network security group.
type Rule struct {
	Name         string // at most 80 characters
	Priority     int    // 100 to 4096, unique per direction
	Direction    Direction
	Allow        bool
	Protocol     Protocol
	Sources      []string // prefixes or one service tag
	Destinations []string // prefixes or one service tag
	Ports        []string // of the destination
	Description  string   // at most 140 characters
}

// Direction is that of the first packet, seen from the subnet.
type Direction string

// The directions.
const (
	Inbound  Direction = "Inbound"
	Outbound Direction = "Outbound"
)

// Limits of a rule.
// https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview
const (
	firstPriority  = 100
	priorityStep   = 10
	lastPriority   = 4096
	maxDescription = 140 // characters
)

// Rules are the rules of the security group of the subnet of role at site:
// one for each row that starts or ends there, then a denial of everything else
// in both directions. Rows that differ only in what they reach behind the same
// addresses share a rule, so the rule opens the ports of all of them: what keeps
// a principal from a service behind a shared endpoint subnet is its role. Azure's
// own DNS and metadata addresses are outside the reach of rules and need none.
func Rules(site Site, role netplan.Role) []Rule {
	var rules []Rule
	for _, flow := range Table {
		if flow.When != nil && !flow.When(site) {
			continue
		}
		if flow.From.Holds(role) {
			rules = merge(rules, flow.rule(Outbound, flow.To, flow.From.Own(site, role), flow.To.Prefixes(site)))
		}
		if flow.To.Holds(role) {
			rules = merge(rules, flow.rule(Inbound, flow.From, flow.From.Prefixes(site), flow.To.Own(site, role)))
		}
	}
	for _, direction := range []Direction{Inbound, Outbound} {
		rules = append(rules, Rule{
			Name: "deny-all-" + strings.ToLower(string(direction)), Priority: lastPriority, Direction: direction, Protocol: Any,
			Sources: []string{"*"}, Destinations: []string{"*"}, Ports: []string{"*"}, Description: "what no flow allows is denied",
		})
	}
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	return rules
}

// rule is the flow's rule in one direction; other is the far end.
func (f Flow) rule(direction Direction, other Place, sources, destinations []string) Rule {
	way := map[Direction]string{Inbound: "in", Outbound: "out"}[direction]
	far := strings.NewReplacer(".", "-", "{location}", "region", " ", "-").Replace(other.String())
	return Rule{
		Name:         fmt.Sprintf("%s-f%02d-%s", way, f.Number, strings.ToLower(far)),
		Priority:     firstPriority + priorityStep*f.Number,
		Direction:    direction,
		Allow:        true,
		Protocol:     f.Ports.Protocol,
		Sources:      sources,
		Destinations: destinations,
		Ports:        f.Ports.Numbers,
		Description:  f.Why,
	}
}

// merge adds the rule, or widens one that joins the same addresses by the same
// protocol. A rule with an end that has no addresses (no peers, say) is left
// out: Azure would take an empty list for a mistake.
func merge(rules []Rule, r Rule) []Rule {
	if len(r.Sources) == 0 || len(r.Destinations) == 0 {
		return rules
	}
	for i, have := range rules {
		if have.Direction == r.Direction && have.Protocol == r.Protocol && slices.Equal(have.Sources, r.Sources) && slices.Equal(have.Destinations, r.Destinations) {
			ports := append(slices.Clone(have.Ports), r.Ports...)
			slices.Sort(ports)
			rules[i].Ports = slices.Compact(ports)
			if joined := have.Description + "; " + r.Description; len(joined) <= maxDescription {
				rules[i].Description = joined
			}
			return rules
		}
	}
	return append(rules, r)
}
