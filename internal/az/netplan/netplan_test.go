package netplan

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// valid is an input without problems; a test changes only its subject.
func valid() Input {
	return Input{
		AddressSpace: prefix("10.40.0.0/20"),
		Overrides:    map[Role]netip.Prefix{},
		Peers:        map[string][]netip.Prefix{"hub": {prefix("10.0.0.0/16")}},
		Pods:         prefix("10.244.0.0/16"),
		Services:     prefix("10.245.0.0/16"),
		SystemNodes:  3, WorkerNodes: 10, BatchNodes: 2,
		GPU:     map[string]GPU{"a100": {Slot: 0, Nodes: 2}, "h100": {Slot: 1, Nodes: 2}},
		Gateway: GatewayNetwork{Mode: Classic, Internal: true},
	}
}

func TestPlanHasOneSubnetPerRole(t *testing.T) {
	t.Parallel()
	plan, problems := Make(valid())
	require.Empty(t, problems)
	got := map[Role]string{}
	for _, s := range plan.Subnets {
		got[s.Role] = s.Prefix.String()
	}
	assert.Equal(t, map[Role]string{
		WorkerNodes: "10.40.0.0/23", SystemNodes: "10.40.2.0/24", BatchNodes: "10.40.3.0/24",
		GPUNodes("a100"): "10.40.4.0/25", GPUNodes("h100"): "10.40.4.128/25",
		Gateway: "10.40.8.0/27", Doors: "10.40.9.0/25", Runner: "10.40.9.128/27",
		EndpointsData: "10.40.10.0/26", EndpointsModels: "10.40.10.128/26", EndpointsBatch: "10.40.11.0/27",
	}, got)
}

// A subnet that moved would be a replacement of everything in it.
func TestAnotherGPUKindMovesNoSubnet(t *testing.T) {
	t.Parallel()
	before, _ := Make(valid())
	in := valid()
	in.GPU["a10"] = GPU{Slot: 7, Nodes: 1}
	after, problems := Make(in)
	require.Empty(t, problems)
	for _, s := range before.Subnets {
		assert.Equal(t, s.Prefix, after.Subnet(s.Role).Prefix, s.Role)
	}
	assert.Len(t, after.Subnets, len(before.Subnets)+1)
}

// Whatever the mode and the slots, planned subnets lie inside the space and
// never overlap.
func TestPlannedSubnetsNeverOverlap(t *testing.T) {
	t.Parallel()
	for _, mode := range GatewayModes {
		in := valid()
		in.Gateway = GatewayNetwork{Mode: mode, Internal: true}
		in.GPU = map[string]GPU{}
		for slot := range GPUSlots {
			in.GPU[string(rune('a'+slot))] = GPU{Slot: slot, Nodes: 1}
		}
		plan, problems := Make(in)
		require.Empty(t, problems)
		require.Len(t, plan.Subnets, 9+GPUSlots)
		for i, a := range plan.Subnets {
			assert.True(t, in.AddressSpace.Overlaps(a.Prefix) && a.Prefix.Bits() >= in.AddressSpace.Bits())
			for _, b := range plan.Subnets[i+1:] {
				assert.False(t, a.Prefix.Overlaps(b.Prefix), "%s %s overlaps %s %s", a.Role, a.Prefix, b.Role, b.Prefix)
			}
		}
	}
}

func TestGatewayModeDecidesDelegationSizeAndZone(t *testing.T) {
	t.Parallel()
	for mode, want := range map[GatewayMode]struct {
		delegation, zone string
		bits             int
	}{
		Classic:  {"", "apim-x.azure-api.net", 27},
		Endpoint: {"Microsoft.Web/serverFarms", "privatelink.azure-api.net", 26},
		Injected: {"Microsoft.Web/hostingEnvironments", "apim-x.azure-api.net", 24},
	} {
		in := valid()
		in.Gateway = GatewayNetwork{Mode: mode, Internal: true}
		plan, problems := Make(in)
		require.Empty(t, problems)
		s := plan.Subnet(Gateway)
		assert.Equal(t, want.delegation, s.Delegation, mode)
		assert.Equal(t, want.bits, s.Prefix.Bits(), mode)
		assert.Equal(t, want.zone, in.Gateway.Zone("apim-x"), mode)
	}
	assert.Empty(t, GatewayNetwork{Mode: Classic}.Zone("apim-x"), "an external gateway answers on its public name")
}

// Each case breaks one thing of a valid input; legal is its nearest legal
// neighbour.
func TestProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		broken, legal func(*Input)
		want          Problem
	}{
		"SpaceTooSmall": {
			func(in *Input) { in.AddressSpace = prefix("10.40.0.0/21") }, func(in *Input) { in.AddressSpace = prefix("10.40.0.0/19") },
			Problem{FieldAddressSpace, "", "10.40.0.0/21", "a /20 or larger: the subnets of a platform need 4096 addresses"},
		},
		"SpaceNotMasked": {
			func(in *Input) { in.AddressSpace = prefix("10.40.0.1/20") }, func(*Input) {},
			Problem{FieldAddressSpace, "", "10.40.0.1/20", "the first address of the range, 10.40.0.0/20"},
		},
		"SpaceIsIPv6": {
			func(in *Input) { in.AddressSpace = prefix("fd00::/20") }, func(*Input) {},
			Problem{FieldAddressSpace, "", "fd00::/20", "an IPv4 range such as 10.40.0.0/20"},
		},
		"SpaceReserved": {
			func(in *Input) { in.AddressSpace = prefix("172.30.0.0/20") }, func(in *Input) { in.AddressSpace = prefix("172.29.0.0/20") },
			Problem{FieldAddressSpace, "", "172.30.0.0/20", "a range outside 172.30.0.0/16, which Azure keeps for itself"},
		},
		"PodsOverlapSpace": {
			func(in *Input) { in.Pods = prefix("10.40.0.0/16") }, func(in *Input) { in.Pods = prefix("10.41.0.0/16") },
			Problem{FieldPods, "", "10.40.0.0/16", "a range that does not overlap the address space 10.40.0.0/20"},
		},
		"ServicesOverlapPods": {
			func(in *Input) { in.Services = prefix("10.244.8.0/24") }, func(in *Input) { in.Services = prefix("10.246.8.0/24") },
			Problem{FieldServices, "", "10.244.8.0/24", "a range that does not overlap the pod range 10.244.0.0/16"},
		},
		"PeerOverlapsSpace": {
			func(in *Input) { in.Peers["hub"] = []netip.Prefix{prefix("10.40.15.0/24")} }, func(in *Input) { in.Peers["hub"] = []netip.Prefix{prefix("10.40.16.0/24")} },
			Problem{FieldPeers, "hub", "10.40.15.0/24", "a range that does not overlap the address space 10.40.0.0/20"},
		},
		"ServicesTooLarge": {
			func(in *Input) { in.Services = prefix("100.64.0.0/11") }, func(in *Input) { in.Services = prefix("100.64.0.0/12") },
			Problem{FieldServices, "", "100.64.0.0/11", "a /12 or smaller, the limit of AKS"},
		},
		"PodsTooFew": {
			func(in *Input) { in.Pods = prefix("10.244.0.0/20") }, func(in *Input) { in.Pods = prefix("10.244.0.0/19") },
			Problem{FieldPods, "", "10.244.0.0/20", "room for 27 nodes (all pools at their maximum, and the nodes an upgrade adds) at a /24 each; it has room for 16"},
		},
		"TooManyNodes": {
			func(in *Input) { in.BatchNodes, in.Pods = 189, prefix("10.240.0.0/14") }, func(in *Input) { in.BatchNodes, in.Pods = 188, prefix("10.240.0.0/14") },
			Problem{FieldOverrides, "batch-nodes", "10.40.3.0/24", "at least 252 usable addresses (189 nodes + 63 that an upgrade adds); a /24 has 251 after the 5 that Azure keeps"},
		},
		"SlotTaken": {
			func(in *Input) { in.GPU["h100"] = GPU{Slot: 0, Nodes: 1} }, func(in *Input) { in.GPU["h100"] = GPU{Slot: 2, Nodes: 1} },
			Problem{FieldGPU, "h100", "slot 0", `a slot of its own; "a100" has this one`},
		},
		"SlotOutOfRange": {
			func(in *Input) { in.GPU["h100"] = GPU{Slot: 8, Nodes: 1} }, func(in *Input) { in.GPU["h100"] = GPU{Slot: 7, Nodes: 1} },
			Problem{FieldGPU, "h100", "slot 8", "a slot from 0 to 7, one per kind of GPU node"},
		},
		"OverrideOverlaps": {
			func(in *Input) { in.Overrides[WorkerNodes] = prefix("10.40.2.0/23") }, func(in *Input) { in.Overrides[WorkerNodes] = prefix("10.40.12.0/23") },
			Problem{FieldOverrides, "worker-nodes", "10.40.2.0/23", "a range that no other subnet uses; system-nodes has 10.40.2.0/24"},
		},
		"OverrideOutside": {
			func(in *Input) { in.Overrides[Runner] = prefix("10.41.0.0/27") }, func(in *Input) { in.Overrides[Runner] = prefix("10.40.15.0/27") },
			Problem{FieldOverrides, "runner", "10.41.0.0/27", "a range inside the address space 10.40.0.0/20, written with its first address"},
		},
		"OverrideOfNothing": {
			func(in *Input) { in.Overrides["workers"] = prefix("10.40.12.0/23") }, func(in *Input) { in.Overrides["worker-nodes"] = prefix("10.40.12.0/23") },
			Problem{FieldOverrides, "workers", "10.40.12.0/23", "the role of a subnet of this stack, one of batch-nodes, doors, endpoints-batch, endpoints-data, endpoints-models, gateway, gpu-nodes-a100, gpu-nodes-h100, runner, system-nodes, worker-nodes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := valid()
			c.broken(&in)
			_, problems := Make(in)
			assert.Contains(t, problems, c.want)
			in = valid()
			c.legal(&in)
			_, problems = Make(in)
			assert.Empty(t, problems)
		})
	}
}

func TestPeersMayOverlapOneAnother(t *testing.T) {
	t.Parallel()
	in := valid()
	in.Peers["spoke"] = []netip.Prefix{prefix("10.0.8.0/24")}
	plan, problems := Make(in)
	assert.Empty(t, problems)
	assert.Equal(t, []netip.Prefix{prefix("10.0.0.0/16"), prefix("10.0.8.0/24")}, plan.Peers)
}
