package flows

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az"
	"onedoor/internal/az/netplan"
)

func site(t *testing.T, env az.Environment, gateway netplan.GatewayNetwork) Site {
	t.Helper()
	plan, problems := netplan.Make(netplan.Input{
		AddressSpace: netip.MustParsePrefix("10.40.0.0/20"),
		Peers:        map[string][]netip.Prefix{"hub": {netip.MustParsePrefix("10.0.0.0/16")}},
		Pods:         netip.MustParsePrefix("10.244.0.0/16"),
		Services:     netip.MustParsePrefix("10.245.0.0/16"),
		SystemNodes:  3, WorkerNodes: 10, BatchNodes: 2,
		GPU:     map[string]netplan.GPU{"a100": {Nodes: 1}},
		Gateway: gateway,
	})
	require.Empty(t, problems)
	return Site{Environment: env, Location: "swedencentral", Plan: plan, PrivateBus: env == az.Prod, PrivateRegistry: env == az.Prod}
}

// sites are all sensible sites.
func sites(t *testing.T) map[string]Site {
	t.Helper()
	out := map[string]Site{"classic external": site(t, az.Dev, netplan.GatewayNetwork{Mode: netplan.Classic})}
	for _, mode := range netplan.GatewayModes {
		out[string(mode)] = site(t, az.Prod, netplan.GatewayNetwork{Mode: mode, Internal: true})
	}
	return out
}

// opens tells whether the security group of the subnet lets the flow through:
// the first rule by priority that matches decides.
func opens(s Site, role netplan.Role, direction Direction, from, to, port string, protocol Protocol) bool {
	rules := Rules(s, role)
	slices.SortFunc(rules, func(a, b Rule) int { return a.Priority - b.Priority })
	for _, r := range rules {
		if r.Direction == direction && (r.Protocol == protocol || r.Protocol == Any) &&
			covers(r.Sources, from) && covers(r.Destinations, to) && (slices.Contains(r.Ports, port) || slices.Contains(r.Ports, "*")) {
			return r.Allow
		}
	}
	return true // Azure's own default inside a network
}

func covers(prefixes []string, one string) bool {
	for _, p := range prefixes {
		if p == "*" || p == one {
			return true
		}
		outer, err := netip.ParsePrefix(p)
		inner, err2 := netip.ParsePrefix(one)
		if err == nil && err2 == nil && outer.Overlaps(inner) && outer.Bits() <= inner.Bits() {
			return true
		}
	}
	return false
}

// connects tells whether both ends let the flow through.
func connects(s Site, from, to netplan.Role, port string) bool {
	a, b := s.Plan.Subnet(from).Prefix.String(), s.Plan.Subnet(to).Prefix.String()
	return opens(s, from, Outbound, a, b, port, TCP) && opens(s, to, Inbound, a, b, port, TCP)
}

// The walls: who reaches the endpoints of models.
func TestOnlyTheDoorsReachModels(t *testing.T) {
	t.Parallel()
	for name, s := range sites(t) {
		for _, sub := range s.Plan.Subnets {
			assert.Equal(t, sub.Role == netplan.BatchNodes, connects(s, sub.Role, netplan.EndpointsBatch, "443"), "%s: %s to the batch account", name, sub.Role)
			assert.Equal(t, sub.Role == netplan.Gateway, connects(s, sub.Role, netplan.EndpointsModels, "443"), "%s: %s to the model accounts", name, sub.Role)
			assert.False(t, opens(s, netplan.EndpointsBatch, Inbound, "10.0.0.0/16", s.Plan.Subnet(netplan.EndpointsBatch).Prefix.String(), "443", TCP), "peers to the batch account")
			assert.False(t, opens(s, netplan.EndpointsModels, Inbound, "Internet", s.Plan.Subnet(netplan.EndpointsModels).Prefix.String(), "443", TCP), "internet to the model accounts")
		}
	}
}

// What the platform cannot work without.
func TestRequiredFlowsConnect(t *testing.T) {
	t.Parallel()
	for name, s := range sites(t) {
		s.PrivateBus = true
		for _, f := range []struct {
			from, to netplan.Role
			port     string
		}{
			{netplan.SystemNodes, netplan.EndpointsData, "443"},
			{netplan.WorkerNodes, netplan.EndpointsData, "5671"},
			{netplan.WorkerNodes, netplan.EndpointsData, "443"},
			{netplan.BatchNodes, netplan.EndpointsData, "5671"},
			{netplan.GPUNodes("a100"), netplan.EndpointsData, "443"},
			{netplan.WorkerNodes, netplan.SystemNodes, "10250"},
			{netplan.SystemNodes, netplan.GPUNodes("a100"), "53"},
			{netplan.Gateway, netplan.Doors, "443"},
			{netplan.Runner, netplan.EndpointsData, "443"},
			{netplan.Runner, netplan.SystemNodes, "443"},
		} {
			assert.True(t, connects(s, f.from, f.to, f.port), "%s: %s to %s on %s", name, f.from, f.to, f.port)
		}
		assert.False(t, connects(s, netplan.GPUNodes("a100"), netplan.EndpointsData, "5671"), "%s: GPU nodes have no business with the bus", name)
		assert.False(t, connects(s, netplan.Runner, netplan.WorkerNodes, "22"), name)
	}
}

// Without these the per-tenant limits of a gateway with several units would
// count apart, and its secrets would be out of reach.
func TestTheGatewayWorks(t *testing.T) {
	t.Parallel()
	s := sites(t)["classic"]
	gateway := s.Plan.Subnet(netplan.Gateway).Prefix.String()
	assert.True(t, connects(s, netplan.Gateway, netplan.EndpointsData, "443"), "its vault")
	assert.True(t, opens(s, netplan.Gateway, Outbound, gateway, gateway, "4290", UDP), "shared counters")
	assert.True(t, opens(s, netplan.Gateway, Inbound, gateway, gateway, "4290", UDP), "shared counters")
	assert.True(t, opens(s, netplan.Gateway, Inbound, gateway, gateway, "6381-6383", TCP), "shared cache")
	assert.False(t, connects(sites(t)["endpoint"], netplan.Gateway, netplan.EndpointsData, "443"), "its own endpoint is elsewhere")
}

func TestOwnDNSServersAreReached(t *testing.T) {
	t.Parallel()
	s := sites(t)["classic"]
	worker := s.Plan.Subnet(netplan.WorkerNodes).Prefix.String()
	assert.False(t, opens(s, netplan.WorkerNodes, Outbound, worker, "10.0.0.4/32", "53", UDP))
	s.DNSServers = []netip.Addr{netip.MustParseAddr("10.0.0.4")}
	for _, role := range []netplan.Role{netplan.WorkerNodes, netplan.SystemNodes, netplan.Runner, netplan.Gateway} {
		assert.True(t, opens(s, role, Outbound, s.Plan.Subnet(role).Prefix.String(), "10.0.0.4/32", "53", UDP), role)
	}
}

func TestCallersReachTheGatewayWhereItAnswers(t *testing.T) {
	t.Parallel()
	all := sites(t)
	reach := func(s Site, from string, to netplan.Role) bool {
		return opens(s, to, Inbound, from, s.Plan.Subnet(to).Prefix.String(), "443", TCP)
	}
	assert.True(t, reach(all["classic external"], "Internet", netplan.Gateway))
	assert.False(t, reach(all["classic"], "Internet", netplan.Gateway))
	assert.True(t, reach(all["classic"], "10.0.0.0/16", netplan.Gateway))
	assert.True(t, reach(all["injected"], "10.0.0.0/16", netplan.Gateway))
	assert.False(t, reach(all["endpoint"], "10.0.0.0/16", netplan.Gateway), "its subnet only goes out")
	assert.True(t, reach(all["endpoint"], "10.0.0.0/16", netplan.Doors), "its endpoint stands with the doors")
	assert.True(t, connects(all["classic"], netplan.WorkerNodes, netplan.Gateway, "443"))
	assert.True(t, connects(all["endpoint"], netplan.WorkerNodes, netplan.Doors, "443"))
}

// The back ends of a load balancer see its address as the destination.
func TestLoadBalancedCallsReachTheirNodes(t *testing.T) {
	t.Parallel()
	s := sites(t)["classic"]
	doors := s.Plan.Subnet(netplan.Doors).Prefix.String()
	for _, c := range []struct {
		role          netplan.Role
		gateway, peer bool
	}{
		{netplan.SystemNodes, true, false}, // the edge is the gateway's
		{netplan.BatchNodes, false, true},  // the control plane is everybody's
		{netplan.WorkerNodes, false, false},
	} {
		assert.Equal(t, c.gateway, opens(s, c.role, Inbound, s.Plan.Subnet(netplan.Gateway).Prefix.String(), doors, "443", TCP), "gateway to %s", c.role)
		assert.Equal(t, c.peer, opens(s, c.role, Inbound, "10.0.0.0/16", doors, "443", TCP), "peers to %s", c.role)
	}
}

// Nodes need the internet for their packages, whose publishers name no fixed
// addresses; nothing else does.
func TestOnlyNodesAndDeploymentsReachTheInternet(t *testing.T) {
	t.Parallel()
	s := sites(t)["classic"]
	for _, sub := range s.Plan.Subnets {
		want := sub.Role.IsNodes() || sub.Role == netplan.Runner
		assert.Equal(t, want, opens(s, sub.Role, Outbound, sub.Prefix.String(), "Internet", "443", TCP), sub.Role)
		assert.False(t, opens(s, sub.Role, Outbound, sub.Prefix.String(), "Internet", "22", TCP), sub.Role)
	}
	assert.True(t, opens(s, netplan.WorkerNodes, Outbound, s.Plan.Subnet(netplan.WorkerNodes).Prefix.String(), "Internet", "123", UDP))
}

// Azure refuses a group that breaks one of these.
func TestRulesFitAzuresLimits(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,78}[a-zA-Z0-9_]$`)
	for where, s := range sites(t) {
		for _, sub := range s.Plan.Subnets {
			names, priorities := map[string]bool{}, map[Direction]map[int]bool{Inbound: {}, Outbound: {}}
			for _, r := range Rules(s, sub.Role) {
				at := where + " " + string(sub.Role) + " " + r.Name
				assert.Regexp(t, name, r.Name, at)
				assert.False(t, names[r.Name], at)
				assert.False(t, priorities[r.Direction][r.Priority], at)
				assert.True(t, r.Priority >= 100 && r.Priority <= 4096, at)
				assert.LessOrEqual(t, len(r.Description), 140, at)
				assert.NotEmpty(t, r.Sources, at)
				assert.NotEmpty(t, r.Destinations, at)
				names[r.Name], priorities[r.Direction][r.Priority] = true, true
			}
			assert.True(t, names["deny-all-inbound"] && names["deny-all-outbound"], sub.Role)
		}
	}
}

func TestTableIsWellFormed(t *testing.T) {
	t.Parallel()
	last := 0
	for _, f := range Table {
		assert.Greater(t, f.Number, last, "numbers rise and are never reused")
		last = f.Number
		assert.NotEmpty(t, f.Why)
		assert.True(t, strings.HasPrefix(f.Source, "https://") || f.Source == oneDoor, f.Source)
		assert.NotEmpty(t, f.Ports.Numbers)
	}
}
