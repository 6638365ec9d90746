package flows

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// PodRule is one thing that the pods of a namespace may do, or have done to
// them.
type PodRule struct {
	Name       string    // of the row and its far end; unique for a namespace and direction
	Direction  Direction // seen from the pods
	Prefixes   []string  // addresses outside the cluster: no policy finds a pod or a node by its address
	Except     []string  // of Prefixes
	Namespaces []string  // pods inside the cluster
	Hosts      []string  // names outside the cluster
	Entity     Entity    // what the cluster has a word for
	Ports      Ports     // of the pods, where the destination is pods
	Why        string
}

// notInternet are addresses that are never the internet's: private networks, and
// those from which Azure serves a node its identity and its certificates.
// https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service
// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
var notInternet = []string{"10.0.0.0/8", "100.64.0.0/10", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}

// PodRules are what the pods of namespace may do at site, one for each row and
// direction, in the order of the rows. What they do not name is denied.
func PodRules(site Site, namespace string) []PodRule {
	var rules []PodRule
	for _, flow := range Table {
		if flow.When != nil && !flow.When(site) {
			continue
		}
		if slices.Contains(flow.From.namespaces, namespace) {
			rules = flow.podRule(rules, site, Outbound, flow.To)
		}
		if slices.Contains(flow.To.namespaces, namespace) {
			rules = flow.podRule(rules, site, Inbound, flow.From)
		}
	}
	slices.SortStableFunc(rules, func(a, b PodRule) int { return cmp.Compare(a.Direction, b.Direction) })
	return rules
}

// podRule adds the flow's rule in one direction; other is the far end. A far end
// without addresses, names or pods (no peers, say) needs no rule, and nodes are
// nobody that a policy of pods could name.
func (f Flow) podRule(rules []PodRule, site Site, direction Direction, other Place) []PodRule {
	r := PodRule{
		Name:      fmt.Sprintf("f%02d-%s", f.Number, strings.ToLower(strings.NewReplacer(".", "-", "{location}", "region", " ", "-").Replace(other.String()))),
		Direction: direction, Namespaces: other.namespaces, Hosts: other.Hosts(site), Entity: other.entity, Ports: f.Ports, Why: f.Why,
	}
	prefixes := other.Prefixes(site)
	if direction == Inbound && len(other.namespaces) > 0 {
		prefixes = nil // calls from pods keep their pod's identity and never show its node's address
	}
	for _, prefix := range prefixes {
		if _, err := netip.ParsePrefix(prefix); err == nil {
			r.Prefixes = append(r.Prefixes, prefix)
		} else { // a service tag, which clusters do not know
			r.Prefixes, r.Except = []string{"0.0.0.0/0"}, except(site)
		}
	}
	if len(r.Prefixes)+len(r.Namespaces)+len(r.Hosts) == 0 && r.Entity == "" {
		return rules
	}
	behindADoor := len(f.To.namespaces) > 0 && f.To.extra != nil
	switch {
	case behindADoor && direction == Inbound:
		r.Ports = tcp(DoorPort)
	case behindADoor:
		// Cilium puts the pod in the place of its load balancer before policies
		// look, so calls from inside the cluster show the pod's port.
		// https://docs.cilium.io/en/stable/network/kubernetes/kubeproxy-free/
		r.Ports = Ports{f.Ports.Protocol, append(slices.Clone(f.Ports.Numbers), DoorPort)}
	}
	return append(rules, r)
}

// except are the addresses that are not the internet's at site, each once.
func except(site Site) []string {
	out := slices.Clone(notInternet)
	inside := append([]netip.Prefix{site.Plan.AddressSpace, site.Plan.Pods}, site.Plan.Peers...)
	for _, prefix := range inside {
		covered := slices.ContainsFunc(out, func(o string) bool {
			outer := netip.MustParsePrefix(o)
			return outer.Bits() <= prefix.Bits() && outer.Contains(prefix.Addr())
		})
		if prefix.IsValid() && !covered {
			out = append(out, prefix.String())
		}
	}
	return sorted(out)
}
