package network_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/network"
	"onedoor/internal/az"
	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
	"onedoor/internal/fake"
)

const subscription = "/subscriptions/" + fake.SubscriptionID

func args(t *testing.T) network.Args {
	t.Helper()
	plan, problems := netplan.Make(netplan.Input{
		AddressSpace: netip.MustParsePrefix("10.40.0.0/20"),
		Pods:         netip.MustParsePrefix("10.244.0.0/16"),
		Services:     netip.MustParsePrefix("10.245.0.0/16"),
		SystemNodes:  3, WorkerNodes: 10, BatchNodes: 2,
		GPU:     map[string]netplan.GPU{"a100": {Nodes: 1}},
		Gateway: netplan.GatewayNetwork{Mode: netplan.Endpoint, Internal: true},
	})
	require.Empty(t, problems)
	return network.Args{
		Scope: fake.Scope(az.Dev),
		Group: fake.Group(),
		Site:  flows.Site{Environment: az.Dev, Location: "swedencentral", Plan: plan},
		Peers: []network.Peer{
			{Name: "spoke", ID: subscription + "/resourceGroups/rg-spoke/providers/Microsoft.Network/virtualNetworks/spoke"},
			{Name: "hub", ID: subscription + "/resourceGroups/rg-hub/providers/Microsoft.Network/virtualNetworks/hub"},
		},
		DNS: network.DNS{Endpoints: []string{az.ZoneVault, az.ZoneBlob}, Doors: []string{"apim.azure-api.net"}},
	}
}

// program declares a network and a reader of each output.
func program(a network.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		n, err := network.New(ctx, "network", a)
		if err != nil {
			return err
		}
		for role, subnet := range n.Subnets {
			if err := fake.Reader(ctx, "reader-"+string(role), subnet.ID); err != nil {
				return err
			}
		}
		for name, zone := range n.Zones {
			if err := fake.Reader(ctx, "reader-"+name, zone.ID); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestEverySubnetHasItsRules(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			a := args(t)
			plan := fake.Run(t, mode, program(a))
			for _, planned := range a.Site.Plan.Subnets {
				subnet := plan.Get(t, "network-"+string(planned.Role))
				group := plan.Get(t, "network-"+string(planned.Role)+"-rules")
				id := subscription + "/resourceGroups/rg/providers/Microsoft.Network/networkSecurityGroups/" + group.Input("networkSecurityGroupName").(string)
				assert.Equal(t, map[string]any{"id": id}, subnet.Input("networkSecurityGroup"), planned.Role)
				assert.Contains(t, subnet.DependsOn, group.Name)
				assert.Equal(t, planned.Prefix.String(), subnet.Input("addressPrefix"))
				assert.Len(t, group.Input("securityRules"), len(flows.Rules(a.Site, planned.Role)))
				assert.Equal(t, "network", subnet.Parent)
				assert.Contains(t, plan.Get(t, "reader-"+string(planned.Role)).DependsOn, subnet.Name, "its id must wait for it")
			}
		})
	}
}

// Without it Azure ignores the rules in front of private endpoints.
func TestEndpointSubnetsEnforceTheirRules(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args(t)))
	for role, want := range map[netplan.Role]string{
		netplan.EndpointsBatch: "Enabled", netplan.EndpointsModels: "Enabled", netplan.EndpointsData: "Enabled", netplan.Doors: "Enabled",
		netplan.WorkerNodes: "Disabled", netplan.Gateway: "Disabled",
	} {
		assert.Equal(t, want, plan.Get(t, "network-"+string(role)).Input("privateEndpointNetworkPolicies"), role)
	}
}

func TestOwnDNSServersAreTold(t *testing.T) {
	t.Parallel()
	a := args(t)
	assert.Nil(t, fake.Run(t, fake.Preview, program(a)).Get(t, "network").Input("dhcpOptions"))
	a.Site.DNSServers = []netip.Addr{netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr("10.0.0.4")}
	assert.Equal(t, map[string]any{"dnsServers": []any{"10.0.0.4", "10.0.0.5"}}, fake.Run(t, fake.Preview, program(a)).Get(t, "network").Input("dhcpOptions"))
}

func TestOneWayOut(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args(t)))
	var out []string
	for _, name := range plan.Names("Subnet") {
		s := plan.Get(t, name)
		if s.Input("natGateway") != nil {
			out = append(out, name)
			assert.Contains(t, s.DependsOn, "network-nat")
		}
		if name != "network-gateway" {
			assert.Equal(t, false, s.Input("defaultOutboundAccess"), name)
		}
	}
	assert.Equal(t, []string{"network-batch-nodes", "network-gpu-nodes-a100", "network-runner", "network-system-nodes", "network-worker-nodes"}, out)
	assert.Contains(t, plan.Get(t, "network-nat").DependsOn, "network-nat-address")
}

func TestGatewaySubnetIsDelegatedByMode(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args(t)))
	assert.Equal(t, []any{map[string]any{"name": "gateway", "serviceName": "Microsoft.Web/serverFarms"}}, plan.Get(t, "network-gateway").Input("delegations"))
	assert.Nil(t, plan.Get(t, "network-runner").Input("delegations"))
}

// Azure answers 409 to a second write to one virtual network.
func TestWritesToTheNetworkAreSerial(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args(t)))
	writes := append(plan.Names("Subnet"), "network-peer-hub", "network-peer-spoke")
	for i, name := range writes[1:] {
		assert.Contains(t, plan.Get(t, name).DependsOn, writes[i], "%s must follow %s", name, writes[i])
	}
}

func TestZonesResolveBeforeTheyAreUsed(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args(t)))
	reader := plan.Get(t, "reader-"+az.ZoneBlob)
	zone := "network-zone-" + az.ZoneBlob
	assert.Subset(t, reader.DependsOn, []string{zone, zone + "-link"})
	assert.Equal(t, subscription+"/resourceGroups/rg/providers/Microsoft.Network/privateDnsZones/"+az.ZoneBlob, reader.Input("value"))
	assert.Equal(t, false, plan.Get(t, zone+"-link").Input("registrationEnabled"))
}

// A peer resolves the doors, and nothing else: it has zones of its own for
// endpoints, and Azure links a network to one zone of a name.
func TestOnlyTheDoorsResolveInPeers(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args(t)))
	assert.Equal(t, []string{
		"network-zone-apim.azure-api.net-link", "network-zone-apim.azure-api.net-link-hub", "network-zone-apim.azure-api.net-link-spoke",
		"network-zone-" + az.ZoneBlob + "-link", "network-zone-" + az.ZoneVault + "-link",
	}, plan.Names("VirtualNetworkLink"))
}

func TestExistingZonesAreOnlyNamed(t *testing.T) {
	t.Parallel()
	a := args(t)
	a.DNS = network.DNS{Existing: []string{az.ZoneBlob}, ExistingIn: subscription + "/resourceGroups/rg-dns"}
	plan := fake.Run(t, fake.Preview, program(a))
	assert.Empty(t, plan.Names("PrivateZone"))
	assert.Empty(t, plan.Names("VirtualNetworkLink"))
	assert.Equal(t, subscription+"/resourceGroups/rg-dns/providers/Microsoft.Network/privateDnsZones/"+az.ZoneBlob, plan.Get(t, "reader-"+az.ZoneBlob).Input("value"))
}

func TestExistingNetworkIsBuiltInto(t *testing.T) {
	t.Parallel()
	a := args(t)
	id, err := az.ParseID(subscription + "/resourceGroups/rg-net/providers/Microsoft.Network/virtualNetworks/shared")
	require.NoError(t, err)
	a.Existing = &id
	plan := fake.Run(t, fake.Update, program(a))
	assert.Empty(t, plan.Names(":VirtualNetwork"))
	assert.Empty(t, plan.Names("VirtualNetworkPeering"), "its owner peers it")
	subnet := plan.Get(t, "network-runner")
	assert.Equal(t, "rg-net", subnet.Input("resourceGroupName"))
	assert.Equal(t, "shared", subnet.Input("virtualNetworkName"))
	assert.Equal(t, map[string]any{"id": id.String()}, plan.Get(t, "network-zone-"+az.ZoneBlob+"-link").Input("virtualNetwork"))
}

func TestOrderOfPeersAndZonesMeansNothing(t *testing.T) {
	t.Parallel()
	a, b := args(t), args(t)
	slices.Reverse(b.Peers)
	slices.Reverse(b.DNS.Endpoints)
	assert.Equal(t, fake.Run(t, fake.Preview, program(a)).Resources, fake.Run(t, fake.Preview, program(b)).Resources)
}
