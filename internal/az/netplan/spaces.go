package netplan

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// reserved are ranges that neither a network nor a cluster may use.
// https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq
// https://learn.microsoft.com/azure/aks/configure-azure-cni (172.30, 172.31, 169.254)
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("172.30.0.0/16"),
	netip.MustParsePrefix("172.31.0.0/16"),
	netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("255.255.255.255/32"),
}

const (
	podBitsPerNode = 24 // overlay gives each node a /24 of the pod range
	minServiceBits = 12 // AKS takes a service range no larger than a /12
)

// space is one range with its place in the input.
type space struct {
	field  Field
	key    string
	what   string
	prefix netip.Prefix
}

// checkSpaces checks the ranges by themselves and against one another.
func checkSpaces(in Input) []Problem {
	spaces := []space{
		{FieldAddressSpace, "", "the address space", in.AddressSpace},
		{FieldPods, "", "the pod range", in.Pods},
		{FieldServices, "", "the service range", in.Services},
	}
	for _, peer := range slices.Sorted(maps.Keys(in.Peers)) {
		for _, prefix := range in.Peers[peer] {
			spaces = append(spaces, space{FieldPeers, peer, fmt.Sprintf("peer %q", peer), prefix})
		}
	}
	var problems []Problem
	add := func(s space, want string, args ...any) {
		problems = append(problems, Problem{s.field, s.key, s.prefix.String(), fmt.Sprintf(want, args...)})
	}
	valid := spaces[:0:0]
	for _, s := range spaces {
		if !s.prefix.IsValid() || !s.prefix.Addr().Is4() {
			add(s, "an IPv4 range such as 10.40.0.0/20")
			continue
		}
		if s.prefix != s.prefix.Masked() {
			add(s, "the first address of the range, %s", s.prefix.Masked())
			continue
		}
		valid = append(valid, s)
		for _, r := range reserved {
			if s.field != FieldPeers && s.prefix.Overlaps(r) {
				add(s, "a range outside %s, which Azure keeps for itself", r)
			}
		}
	}
	for i, a := range valid {
		for _, b := range valid[i+1:] {
			if a.field == FieldPeers && b.field == FieldPeers {
				continue // peers of ours need not be peers of one another
			}
			if a.prefix.Overlaps(b.prefix) {
				add(b, "a range that does not overlap %s %s", a.what, a.prefix)
			}
		}
	}
	return append(problems, checkSizes(in)...)
}

// checkSizes checks that the ranges are large and small enough.
func checkSizes(in Input) []Problem {
	var problems []Problem
	if in.AddressSpace.IsValid() && in.AddressSpace.Bits() > MinBits {
		problems = append(problems, Problem{FieldAddressSpace, "", in.AddressSpace.String(), fmt.Sprintf("a /%d or larger: the subnets of a platform need %d addresses", MinBits, 1<<(32-MinBits))})
	}
	if in.Services.IsValid() && in.Services.Bits() < minServiceBits {
		problems = append(problems, Problem{FieldServices, "", in.Services.String(), fmt.Sprintf("a /%d or smaller, the limit of AKS", minServiceBits)})
	}
	nodes := in.SystemNodes + surge(in.SystemNodes) + in.WorkerNodes + surge(in.WorkerNodes) + in.BatchNodes + surge(in.BatchNodes)
	for _, gpu := range in.GPU {
		nodes += gpu.Nodes + surge(gpu.Nodes)
	}
	if in.Pods.IsValid() && in.Pods.Addr().Is4() {
		room := 0
		if in.Pods.Bits() <= podBitsPerNode {
			room = 1 << (podBitsPerNode - in.Pods.Bits())
		}
		if room < nodes {
			problems = append(problems, Problem{FieldPods, "", in.Pods.String(),
				fmt.Sprintf("room for %d nodes (all pools at their maximum, and the nodes an upgrade adds) at a /%d each; it has room for %d", nodes, podBitsPerNode, room)})
		}
	}
	return problems
}
