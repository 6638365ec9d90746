package netplan

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
)

// Input is what a plan is made of. Every value is plain.
type Input struct {
	AddressSpace netip.Prefix              // the platform's own range, /20 or larger
	Overrides    map[Role]netip.Prefix     // subnets that lie elsewhere in the address space, or are larger
	Peers        map[string][]netip.Prefix // ranges of peered networks, by peer
	Pods         netip.Prefix              // overlay addresses of pods
	Services     netip.Prefix              // addresses of Kubernetes services
	SystemNodes  int                       // most nodes of the system pool
	WorkerNodes  int                       // most nodes of the worker pool
	BatchNodes   int                       // most nodes of the batch control plane's pool
	GPU          map[string]GPU            // by kind
	Gateway      GatewayNetwork
}

// GPU is one kind of GPU node. Each has a subnet of its own, because only a
// subnet tells nodes apart to a network rule.
type GPU struct {
	Slot  int // 0 to GPUSlots-1, fixed for the life of the pool: it decides where the subnet lies
	Nodes int // most nodes of the kind
}

// GPUSlots is how many kinds of GPU node an address space has room for.
const GPUSlots = 8

// MinBits is the prefix length of the smallest address space.
const MinBits = 20

// azureReserved is how many addresses of each subnet Azure keeps.
// https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq
const azureReserved = 5

// Subnet is one planned subnet.
type Subnet struct {
	Role       Role
	Prefix     netip.Prefix
	Delegation string // service that the subnet is delegated to, "" for none
	Need       Need
}

// Need is how many addresses a subnet must have, and why.
type Need struct {
	Addresses int
	Why       string // the arithmetic
}

// Plan is a network's addresses.
type Plan struct {
	AddressSpace netip.Prefix
	Subnets      []Subnet // sorted by role
	Gateway      GatewayNetwork
	Pods         netip.Prefix
	Peers        []netip.Prefix // every range of every peer, sorted
}

// Problem is one reason why a plan does not work.
type Problem struct {
	Field Field
	Key   string // which entry, where Field is a map
	Got   string
	Want  string // what it must be and why
}

// Field names the part of Input that a problem is about.
type Field string

// The fields.
const (
	FieldAddressSpace Field = "AddressSpace"
	FieldOverrides    Field = "Overrides"
	FieldPeers        Field = "Peers"
	FieldPods         Field = "Pods"
	FieldServices     Field = "Services"
	FieldGPU          Field = "GPU"
)

// slots is where each subnet lies in the first /20 of the address space: an
// offset in addresses and a prefix length. Offsets never change: a subnet that
// moved would be a replacement of everything in it.
var slots = map[Role]struct{ offset, bits int }{
	WorkerNodes:     {0, 23},
	SystemNodes:     {512, 24},
	BatchNodes:      {768, 24},
	Gateway:         {2048, 0}, // up to a /24, by mode
	Doors:           {2304, 25},
	Runner:          {2432, 27},
	EndpointsData:   {2560, 26},
	EndpointsModels: {2688, 26},
	EndpointsBatch:  {2816, 27},
}

const (
	gpuOffset = 1024
	gpuBits   = 25
)

// Make plans the subnets and reports everything that is wrong, sorted. The
// plan is whole only when there are no problems.
func Make(in Input) (Plan, []Problem) {
	plan := Plan{AddressSpace: in.AddressSpace, Gateway: in.Gateway, Pods: in.Pods}
	for _, prefixes := range in.Peers {
		plan.Peers = append(plan.Peers, prefixes...)
	}
	slices.SortFunc(plan.Peers, comparePrefix)
	problems := checkSpaces(in)
	if in.AddressSpace.IsValid() && in.AddressSpace.Addr().Is4() && in.AddressSpace.Bits() <= MinBits {
		var more []Problem
		plan.Subnets, more = place(in)
		problems = append(problems, more...)
	}
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Want, b.Want))
	})
	return plan, problems
}

// place puts every subnet where it belongs.
func place(in Input) ([]Subnet, []Problem) {
	var problems []Problem
	placed := map[Role]netip.Prefix{}
	for role, slot := range slots {
		bits := slot.bits
		if role == Gateway {
			bits = in.Gateway.bits()
		}
		placed[role] = at(in.AddressSpace, slot.offset, bits)
	}
	slotOf := map[int]string{}
	for _, kind := range slices.Sorted(maps.Keys(in.GPU)) {
		slot := in.GPU[kind].Slot
		if slot < 0 || slot >= GPUSlots {
			problems = append(problems, Problem{FieldGPU, kind, fmt.Sprintf("slot %d", slot), fmt.Sprintf("a slot from 0 to %d, one per kind of GPU node", GPUSlots-1)})
			continue
		}
		if other, taken := slotOf[slot]; taken {
			problems = append(problems, Problem{FieldGPU, kind, fmt.Sprintf("slot %d", slot), fmt.Sprintf("a slot of its own; %q has this one", other)})
			continue
		}
		slotOf[slot] = kind
		placed[GPUNodes(kind)] = at(in.AddressSpace, gpuOffset+slot<<(32-gpuBits), gpuBits)
	}
	for _, role := range slices.Sorted(maps.Keys(in.Overrides)) {
		prefix := in.Overrides[role]
		if _, known := placed[role]; !known {
			problems = append(problems, Problem{FieldOverrides, string(role), prefix.String(), fmt.Sprintf("the role of a subnet of this stack, one of %s", list(slices.Sorted(maps.Keys(placed))))})
			continue
		}
		if prefix != prefix.Masked() || !in.AddressSpace.Contains(prefix.Addr()) || prefix.Bits() < in.AddressSpace.Bits() {
			problems = append(problems, Problem{FieldOverrides, string(role), prefix.String(), fmt.Sprintf("a range inside the address space %s, written with its first address", in.AddressSpace)})
			continue
		}
		placed[role] = prefix
	}

	subnets := make([]Subnet, 0, len(placed))
	for _, role := range slices.Sorted(maps.Keys(placed)) {
		s := Subnet{Role: role, Prefix: placed[role], Need: need(in, role)}
		if role == Gateway {
			s.Delegation = in.Gateway.Delegation()
		}
		subnets = append(subnets, s)
		if usable := usable(s.Prefix); usable < s.Need.Addresses {
			problems = append(problems, Problem{FieldOverrides, string(role), s.Prefix.String(),
				fmt.Sprintf("at least %d usable addresses (%s); a /%d has %d after the %d that Azure keeps", s.Need.Addresses, s.Need.Why, s.Prefix.Bits(), max(usable, 0), azureReserved)})
		}
	}
	for i, a := range subnets {
		for _, b := range subnets[i+1:] {
			if a.Prefix.Overlaps(b.Prefix) {
				at, other := a, b
				if _, moved := in.Overrides[at.Role]; !moved {
					at, other = b, a
				}
				problems = append(problems, Problem{FieldOverrides, string(at.Role), at.Prefix.String(), fmt.Sprintf("a range that no other subnet uses; %s has %s", other.Role, other.Prefix)})
			}
		}
	}
	return subnets, problems
}

// at is the prefix of length bits that starts offset addresses into space.
func at(space netip.Prefix, offset, bits int) netip.Prefix {
	start := space.Masked().Addr().As4()
	binary.BigEndian.PutUint32(start[:], binary.BigEndian.Uint32(start[:])+uint32(offset))
	return netip.PrefixFrom(netip.AddrFrom4(start), bits)
}

// usable is how many addresses of the subnet can be given to anything.
func usable(p netip.Prefix) int { return 1<<(32-p.Bits()) - azureReserved }

// surge is how many nodes above the maximum an upgrade adds: maxSurge 33 %,
// rounded up, as AKS does.
// https://learn.microsoft.com/azure/aks/upgrade-aks-cluster
func surge(nodes int) int { return int(math.Ceil(float64(nodes) * 0.33)) }

// need is how many addresses the subnet of role must offer.
func need(in Input, role Role) Need {
	nodes := func(n int) Need {
		return Need{n + surge(n), fmt.Sprintf("%d nodes + %d that an upgrade adds", n, surge(n))}
	}
	switch {
	case role == SystemNodes:
		n := nodes(in.SystemNodes)
		return Need{n.Addresses + 1, n.Why + " + 1 endpoint of the API server"}
	case role == WorkerNodes:
		return nodes(in.WorkerNodes)
	case role == BatchNodes:
		return nodes(in.BatchNodes)
	case role.IsGPU():
		return nodes(in.GPU[string(role[len(gpuPrefix):])].Nodes)
	case role == Gateway && in.Gateway.Mode == Classic:
		return Need{7, "3 units, one a zone, x 2 addresses + 1 when internal"}
	case role == Gateway:
		return Need{1<<(32-in.Gateway.bits()) - azureReserved, fmt.Sprintf("a /%d is what Azure advises for mode %s", in.Gateway.bits(), in.Gateway.Mode)}
	case role == EndpointsData:
		return Need{8, "blob 1 + table 1 + bus 1 + vaults 2 + registry 2 (login and data) + 1 spare"}
	case role == EndpointsModels:
		return Need{12, "3 a model account (its three host names) x 4 accounts"}
	case role == EndpointsBatch:
		return Need{3, "3 for the batch account (its three host names)"}
	case role == Doors:
		return Need{4, "control plane 1 + serving edge 1 + gateway 1 + 1 spare"}
	default:
		return Need{1, "one machine"}
	}
}

// Subnet is the planned subnet of role. It panics when the plan has none: a
// role that the program names and no plan can lack.
func (p Plan) Subnet(role Role) Subnet {
	for _, s := range p.Subnets {
		if s.Role == role {
			return s
		}
	}
	panic(fmt.Sprintf("netplan: no subnet %q in the plan", role))
}

func comparePrefix(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}

func list(roles []Role) string {
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}
