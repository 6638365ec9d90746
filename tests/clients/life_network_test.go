package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v6"

	"onedoor/sim/core"
)

const (
	networkLife  = "Microsoft.Network/virtualNetworks/vnet"
	spokeLife    = "Microsoft.Network/virtualNetworks/spoke"
	subnetLife   = networkLife + "/subnets/endpoints"
	endpointLife = "Microsoft.Network/privateEndpoints/blobs"
	zoneLife     = "Microsoft.Network/privateDnsZones/privatelink.blob.core.windows.net"
)

var networkLives = []life{
	virtualNetwork("vnet", "10.0.0.0/16", "10.1.0.0/16"),
	virtualNetwork("spoke", "10.8.0.0/16", "10.9.0.0/16"),
	{
		of: subnetLife, needs: []string{networkLife}, busy: core.AnotherOperationInProgress, made: armnetwork.VirtualNetworkPrivateEndpointNetworkPoliciesDisabled, changed: armnetwork.VirtualNetworkPrivateEndpointNetworkPoliciesEnabled,
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.network.NewSubnetsClient().BeginCreateOrUpdate(ctx, "rg", "vnet", "endpoints", armnetwork.Subnet{Properties: &armnetwork.SubnetPropertiesFormat{
				AddressPrefix:                  new("10.0.1.0/24"),
				PrivateEndpointNetworkPolicies: pick(again, armnetwork.VirtualNetworkPrivateEndpointNetworkPoliciesDisabled, armnetwork.VirtualNetworkPrivateEndpointNetworkPoliciesEnabled),
			}}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armnetwork.Subnet) *armnetwork.VirtualNetworkPrivateEndpointNetworkPolicies {
			return m.Properties.PrivateEndpointNetworkPolicies
		}),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.network.NewSubnetsClient().BeginDelete(ctx, "rg", "vnet", "endpoints", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: networkLife + "/virtualNetworkPeerings/spoke", needs: []string{spokeLife, networkLife}, busy: core.AnotherOperationInProgress, made: false, changed: true,
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.network.NewVirtualNetworkPeeringsClient().BeginCreateOrUpdate(ctx, "rg", "vnet", "spoke", armnetwork.VirtualNetworkPeering{Properties: &armnetwork.VirtualNetworkPeeringPropertiesFormat{
				RemoteVirtualNetwork: &armnetwork.SubResource{ID: new(place + "/providers/" + spokeLife)}, AllowForwardedTraffic: pick(again, false, true),
			}}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armnetwork.VirtualNetworkPeering) *bool { return m.Properties.AllowForwardedTraffic }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.network.NewVirtualNetworkPeeringsClient().BeginDelete(ctx, "rg", "vnet", "spoke", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: "Microsoft.Network/networkSecurityGroups/wall", busy: core.AnotherOperationInProgress, made: 0, changed: 1,
		write: func(ctx context.Context, a *azure, again bool) error {
			group := armnetwork.SecurityGroup{Location: new("swedencentral"), Properties: &armnetwork.SecurityGroupPropertiesFormat{}}
			if again {
				group.Properties.SecurityRules = []*armnetwork.SecurityRule{securityRule("https", 100)}
			}
			poller, err := a.network.NewSecurityGroupsClient().BeginCreateOrUpdate(ctx, "rg", "wall", group, nil)
			return ended(ctx, poller, err)
		},
		shows: func(model any) any {
			group, _ := model.(armnetwork.SecurityGroup)
			return len(group.Properties.SecurityRules)
		},
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.network.NewSecurityGroupsClient().BeginDelete(ctx, "rg", "wall", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: "Microsoft.Network/publicIPAddresses/door", busy: core.AnotherOperationInProgress, made: int32(4), changed: int32(15),
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.network.NewPublicIPAddressesClient().BeginCreateOrUpdate(ctx, "rg", "door", armnetwork.PublicIPAddress{
				Location: new("swedencentral"), SKU: &armnetwork.PublicIPAddressSKU{Name: new(armnetwork.PublicIPAddressSKUNameStandard)},
				Properties: &armnetwork.PublicIPAddressPropertiesFormat{PublicIPAllocationMethod: new(armnetwork.IPAllocationMethodStatic), IdleTimeoutInMinutes: pick[int32](again, 4, 15)},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armnetwork.PublicIPAddress) *int32 { return m.Properties.IdleTimeoutInMinutes }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.network.NewPublicIPAddressesClient().BeginDelete(ctx, "rg", "door", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: "Microsoft.Network/natGateways/out", busy: core.AnotherOperationInProgress, made: int32(4), changed: int32(30),
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.network.NewNatGatewaysClient().BeginCreateOrUpdate(ctx, "rg", "out", armnetwork.NatGateway{
				Location: new("swedencentral"), SKU: &armnetwork.NatGatewaySKU{Name: new(armnetwork.NatGatewaySKUNameStandard)},
				Properties: &armnetwork.NatGatewayPropertiesFormat{IdleTimeoutInMinutes: pick[int32](again, 4, 30)},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armnetwork.NatGateway) *int32 { return m.Properties.IdleTimeoutInMinutes }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.network.NewNatGatewaysClient().BeginDelete(ctx, "rg", "out", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: endpointLife, needs: []string{networkLife, subnetLife, accountLife}, busy: core.AnotherOperationInProgress, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.network.NewPrivateEndpointsClient().BeginCreateOrUpdate(ctx, "rg", "blobs", armnetwork.PrivateEndpoint{
				Location: new("swedencentral"), Tags: map[string]*string{"version": pick(again, "one", "two")},
				Properties: &armnetwork.PrivateEndpointProperties{
					Subnet: &armnetwork.Subnet{ID: new(place + "/providers/" + subnetLife)},
					PrivateLinkServiceConnections: []*armnetwork.PrivateLinkServiceConnection{{Name: new("blobs"), Properties: &armnetwork.PrivateLinkServiceConnectionProperties{
						PrivateLinkServiceID: new(place + "/providers/" + accountLife), GroupIDs: []*string{new("blob")},
					}}},
				},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armnetwork.PrivateEndpoint) *string { return m.Tags["version"] }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.network.NewPrivateEndpointsClient().BeginDelete(ctx, "rg", "blobs", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		// Zones have a client of their own, which is not among the judges: any
		// resource of ARM is made as this one.
		of: zoneLife, busy: core.AnotherOperationInProgress,
		write: func(ctx context.Context, a *azure, _ bool) error {
			return a.put(ctx, place+"/providers/"+zoneLife, "2024-06-01", `{"location":"global"}`)
		},
	},
	{
		of: endpointLife + "/privateDnsZoneGroups/default", needs: []string{networkLife, subnetLife, accountLife, zoneLife, endpointLife}, busy: core.AnotherOperationInProgress, made: "blob", changed: "blobs",
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.network.NewPrivateDNSZoneGroupsClient().BeginCreateOrUpdate(ctx, "rg", "blobs", "default", armnetwork.PrivateDNSZoneGroup{
				Properties: &armnetwork.PrivateDNSZoneGroupPropertiesFormat{PrivateDNSZoneConfigs: []*armnetwork.PrivateDNSZoneConfig{{
					Name: pick(again, "blob", "blobs"), Properties: &armnetwork.PrivateDNSZonePropertiesFormat{PrivateDNSZoneID: new(place + "/providers/" + zoneLife)},
				}}},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armnetwork.PrivateDNSZoneGroup) *string { return m.Properties.PrivateDNSZoneConfigs[0].Name }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.network.NewPrivateDNSZoneGroupsClient().BeginDelete(ctx, "rg", "blobs", "default", nil)
			return ended(ctx, poller, err)
		},
	},
}

// virtualNetwork is a network of one block, to which the change adds another.
func virtualNetwork(name, block, other string) life {
	return life{
		of: "Microsoft.Network/virtualNetworks/" + name, busy: core.AnotherOperationInProgress, made: 1, changed: 2,
		write: func(ctx context.Context, a *azure, again bool) error {
			blocks := []*string{&block}
			if again {
				blocks = append(blocks, &other)
			}
			poller, err := a.network.NewVirtualNetworksClient().BeginCreateOrUpdate(ctx, "rg", name, armnetwork.VirtualNetwork{
				Location: new("swedencentral"), Properties: &armnetwork.VirtualNetworkPropertiesFormat{AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: blocks}},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: func(model any) any {
			network, _ := model.(armnetwork.VirtualNetwork)
			return len(network.Properties.AddressSpace.AddressPrefixes)
		},
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.network.NewVirtualNetworksClient().BeginDelete(ctx, "rg", name, nil)
			return ended(ctx, poller, err)
		},
	}
}

// securityRule lets HTTPS in.
func securityRule(name string, priority int32) *armnetwork.SecurityRule {
	return &armnetwork.SecurityRule{Name: &name, Properties: &armnetwork.SecurityRulePropertiesFormat{
		Priority: &priority, Direction: new(armnetwork.SecurityRuleDirectionInbound), Access: new(armnetwork.SecurityRuleAccessAllow), Protocol: new(armnetwork.SecurityRuleProtocolTCP),
		SourceAddressPrefix: new("VirtualNetwork"), SourcePortRange: new("*"), DestinationAddressPrefix: new("*"), DestinationPortRange: new("443"),
	}}
}
