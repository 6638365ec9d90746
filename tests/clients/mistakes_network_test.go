package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v6"
)

// subnet tries to make a subnet.
func subnet(name, prefix string, delegations ...string) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		properties := &armnetwork.SubnetPropertiesFormat{AddressPrefix: &prefix}
		for _, service := range delegations {
			properties.Delegations = append(properties.Delegations, &armnetwork.Delegation{Name: &service, Properties: &armnetwork.ServiceDelegationPropertiesFormat{ServiceName: &service}})
		}
		poller, err := a.network.NewSubnetsClient().BeginCreateOrUpdate(ctx, "rg", "vnet", name, armnetwork.Subnet{Properties: properties}, nil)
		return ended(ctx, poller, err)
	}
}

// wall tries to make a security group of rules that differ from securityRule.
func wall(edit func(rules []*armnetwork.SecurityRule)) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		rules := []*armnetwork.SecurityRule{securityRule("one", 100), securityRule("two", 200)}
		edit(rules)
		poller, err := a.network.NewSecurityGroupsClient().BeginCreateOrUpdate(ctx, "rg", "wall", armnetwork.SecurityGroup{
			Location: new("swedencentral"), Properties: &armnetwork.SecurityGroupPropertiesFormat{SecurityRules: rules},
		}, nil)
		return ended(ctx, poller, err)
	}
}

// address tries to make a public address.
func address(location string, sku armnetwork.PublicIPAddressSKUName, method armnetwork.IPAllocationMethod) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		poller, err := a.network.NewPublicIPAddressesClient().BeginCreateOrUpdate(ctx, "rg", "door", armnetwork.PublicIPAddress{
			Location: &location, SKU: &armnetwork.PublicIPAddressSKU{Name: &sku}, Properties: &armnetwork.PublicIPAddressPropertiesFormat{PublicIPAllocationMethod: &method},
		}, nil)
		return ended(ctx, poller, err)
	}
}

// endpoint tries to make a private endpoint to a part of a resource.
func endpoint(to, part string) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		poller, err := a.network.NewPrivateEndpointsClient().BeginCreateOrUpdate(ctx, "rg", "new", armnetwork.PrivateEndpoint{
			Location: new("swedencentral"), Properties: &armnetwork.PrivateEndpointProperties{
				Subnet: &armnetwork.Subnet{ID: new(place + "/providers/" + subnetLife)},
				PrivateLinkServiceConnections: []*armnetwork.PrivateLinkServiceConnection{{Name: new("new"), Properties: &armnetwork.PrivateLinkServiceConnectionProperties{
					PrivateLinkServiceID: new(place + "/providers/" + to), GroupIDs: []*string{&part},
				}}},
			},
		}, nil)
		return ended(ctx, poller, err)
	}
}

var networkMistakes = map[string]mistake{
	"network: subnet outside": {
		after: []string{networkLife}, send: subnet("new", "10.9.0.0/24"),
		status: 400, code: "NetcfgInvalidSubnet", target: "addressPrefix", says: []string{"got 10.9.0.0/24", "want a block inside its network's 10.0.0.0/16"},
	},
	"network: subnets overlap": {
		after: []string{networkLife, subnetLife}, send: subnet("new", "10.0.1.128/25"),
		status: 400, code: "NetcfgSubnetRangesOverlap", target: "addressPrefix", says: []string{"got 10.0.1.128/25", "want a block apart from 10.0.1.0/24 of subnet endpoints"},
	},
	"network: subnet of four": {
		after: []string{networkLife}, send: subnet("new", "10.0.2.0/30"),
		status: 400, code: "NetcfgInvalidSubnet", target: "addressPrefix", says: []string{"got 10.0.2.0/30", "want /29 or larger, because Azure keeps five addresses of each subnet"},
	},
	"network: block with host bits": {
		after: []string{networkLife}, send: subnet("new", "10.0.2.9/24"),
		status: 400, code: "NetcfgInvalidSubnet", target: "addressPrefix", says: []string{"got 10.0.2.9/24", "want 10.0.2.0/24, the block's first address"},
	},
	"network: two delegations": {
		after: []string{networkLife}, send: subnet("new", "10.0.2.0/24", "Microsoft.Web/serverFarms", "Microsoft.App/environments"),
		status: 400, code: "InvalidRequestFormat", target: "delegations", says: []string{"got 2", "want at most one, because a delegated service owns its subnet"},
	},
	"network: delegation to nobody": {
		after: []string{networkLife}, send: subnet("new", "10.0.2.0/24", "Microsoft.Web/serverFarm"),
		status: 400, code: "InvalidRequestFormat", target: "delegations", says: []string{`got "Microsoft.Web/serverFarm"`, "want a service that takes delegations, nearest is Microsoft.Web/serverFarms"},
	},
	"network: priority 99": {
		send:   wall(func(r []*armnetwork.SecurityRule) { r[0].Properties.Priority = new(int32(99)) }),
		status: 400, code: "InvalidRequestContent", target: "properties.securityRules[0].properties.priority", says: []string{"got 99", "want 100..4096"},
	},
	"network: priority twice": {
		send:   wall(func(r []*armnetwork.SecurityRule) { r[1].Properties.Priority = new(int32(100)) }),
		status: 400, code: "SecurityRuleConflict", target: "securityRules[1].priority", says: []string{"got 100", "want one that no other Inbound rule has"},
	},
	"network: port 70000": {
		send:   wall(func(r []*armnetwork.SecurityRule) { r[0].Properties.DestinationPortRange = new("70000") }),
		status: 400, code: "SecurityRuleInvalidPortRange", target: "destinationPortRange", says: []string{`got "70000"`, `want "*", 0..65535, or a range such as 1024-2048`},
	},
	"network: tag that is none": {
		send:   wall(func(r []*armnetwork.SecurityRule) { r[0].Properties.SourceAddressPrefix = new("VirtualNetworks") }),
		status: 400, code: "SecurityRuleInvalidAddressPrefix", target: "sourceAddressPrefix", says: []string{`got "VirtualNetworks"`, `want an address, a block, "*" or a known service tag, nearest is VirtualNetwork`},
	},
	"network: address without a host": {
		send:   wall(func(r []*armnetwork.SecurityRule) { r[0].Properties.SourceAddressPrefix = new("10.0.0.256") }),
		status: 400, code: "SecurityRuleInvalidAddressPrefix", target: "sourceAddressPrefix", says: []string{`got "10.0.0.256"`, `want an address, a block, "*" or a known service tag, nearest is AppService`},
	},
	"network: Basic address": {
		send:   address("swedencentral", armnetwork.PublicIPAddressSKUNameBasic, armnetwork.IPAllocationMethodStatic),
		status: 409, code: "OperationNotAllowed", target: "sku.name", says: []string{`got "Basic"`, `want "Standard"`},
	},
	"network: dynamic address": {
		send:   address("swedencentral", armnetwork.PublicIPAddressSKUNameStandard, armnetwork.IPAllocationMethodDynamic),
		status: 400, code: "InvalidRequestFormat", target: "publicIPAllocationMethod", says: []string{`got "Dynamic"`, `want "Static", the only one of a Standard address`},
	},
	"network: address moves": {
		after: []string{"Microsoft.Network/publicIPAddresses/door"}, send: address("westeurope", armnetwork.PublicIPAddressSKUNameStandard, armnetwork.IPAllocationMethodStatic),
		status: 409, code: "InvalidResourceLocation", target: "location", says: []string{`got "westeurope"`, `want "swedencentral", where it exists`},
	},
	"network: endpoint to no part": {
		after: []string{networkLife, subnetLife, accountLife}, send: endpoint(accountLife, "blobs"),
		status: 400, code: "BadRequest", target: "groupIds", says: []string{`got "blobs"`, "want a group id of Microsoft.Storage/storageAccounts"},
	},
	"network: endpoint to nothing": {
		after: []string{networkLife, subnetLife}, send: endpoint(accountLife, "blob"),
		status: 400, code: "InvalidResourceReference", target: "privateLinkServiceId", says: []string{"want an existing microsoft.storage/storageaccounts"},
	},
	"network: endpoint to Standard": {
		after: []string{networkLife, subnetLife, busLife}, send: endpoint(busLife, "namespace"),
		status: 400, code: "BadRequest", target: "privateLinkServiceId", says: []string{"want tier Premium, the only one with private endpoints"},
	},
	"network: subnet in use is deleted": {
		status: 400, code: "InUseSubnetCannotBeDeleted", target: place + "/providers/Microsoft.Network/virtualNetworks/vnet/subnets/endpoints", says: []string{"want one that nothing uses"},
		after: []string{networkLife, subnetLife, accountLife, endpointLife}, send: func(ctx context.Context, a *azure) error {
			poller, err := a.network.NewSubnetsClient().BeginDelete(ctx, "rg", "vnet", "endpoints", nil)
			return ended(ctx, poller, err)
		}},
	"network: peering with itself": {
		status: 400, code: "InvalidRequestFormat", target: "remoteVirtualNetwork", says: []string{"got the network itself", "want another network"},
		after: []string{networkLife}, send: func(ctx context.Context, a *azure) error {
			poller, err := a.network.NewVirtualNetworkPeeringsClient().BeginCreateOrUpdate(ctx, "rg", "vnet", "self", armnetwork.VirtualNetworkPeering{Properties: &armnetwork.VirtualNetworkPeeringPropertiesFormat{
				RemoteVirtualNetwork: &armnetwork.SubResource{ID: new(place + "/providers/" + networkLife)},
			}}, nil)
			return ended(ctx, poller, err)
		}},
}
