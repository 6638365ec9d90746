// Package network owns the virtual network: its subnets with their security
// groups, the way out, and the private DNS zones. Addresses are planned by
// netplan and rules are generated from flows; this package only declares them.
package network

import (
	"fmt"
	"net/netip"
	"slices"

	network "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240501"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
	"onedoor/internal/live"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:network:Network"

// component is the value of the component tag.
const component = "network"

// Args are the inputs of New.
type Args struct {
	Scope    az.Scope
	Group    ref.Group  // what is made here lives in it
	Logs     ref.Logs   // which rules apply where
	Site     flows.Site // the planned subnets, and what decides their rules
	Existing *az.ID     // a virtual network that others own; nil makes one
	Peers    []Peer     // in any order
	DNS      DNS
}

// Peer is a network whose callers may open the doors.
type Peer struct {
	Name string // part of names
	ID   string // ARM id of its virtual network
}

// DNS says which private zones to make and where the others are.
type DNS struct {
	Endpoints  []string // zones of private endpoints, made and linked here; peers have their own, and Azure links a network to one zone of a name
	Doors      []string // zones of the doors, made here and linked to the peers too
	Existing   []string // zones that exist, linked already
	ExistingIn string   // ARM id of the group that holds the existing ones
}

// Network holds the virtual network. Fields below ResourceState are its
// outputs.
type Network struct {
	pulumi.ResourceState
	VNet    ref.Resource
	Subnets map[netplan.Role]ref.Subnet
	Zones   ref.Zones
	// Outbound is the address that everything in the subnets reaches the internet
	// from; known after an update.
	Outbound pulumi.StringOutput
}

// New declares a network. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Network, error) {
	n := &Network{Subnets: map[netplan.Role]ref.Subnet{}, Zones: ref.Zones{}}
	if err := ctx.RegisterComponentResource(Type, name, n, opts...); err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, name: name, args: args, in: pulumi.Parent(n)}
	vnet, err := b.vnet()
	if err != nil {
		return nil, err
	}
	n.VNet = vnet.Resource
	nat, outbound, err := b.natGateway(n)
	if err != nil {
		return nil, err
	}
	n.Outbound = outbound
	if err := b.subnets(n, vnet, nat); err != nil {
		return nil, err
	}
	if err := b.zones(n, vnet); err != nil {
		return nil, err
	}
	outputs := pulumi.Map{"vnetId": n.VNet.ID}
	for role, subnet := range n.Subnets {
		outputs[string(role)+"-id"] = subnet.ID
	}
	return n, ctx.RegisterResourceOutputs(n, outputs)
}

// builder carries what every step needs.
type builder struct {
	ctx  *pulumi.Context
	name string
	args Args
	in   pulumi.ResourceOption // the component as parent
}

// vnet is the virtual network to build into.
type vnet struct {
	ref.Resource
	plain az.ID
	name  pulumi.StringInput
	group pulumi.StringInput
	made  bool // here
}

// vnet declares the virtual network, or names the existing one.
func (b *builder) vnet() (vnet, error) {
	if existing := b.args.Existing; existing != nil {
		return vnet{
			Resource: ref.Ready(existing.String()),
			plain:    *existing,
			name:     pulumi.String(existing.Name()),
			group:    pulumi.String(existing.ResourceGroup),
		}, nil
	}
	scope := b.args.Scope
	plain := az.ID{
		SubscriptionID: scope.SubscriptionID, ResourceGroup: b.args.Group.PlainName,
		Type: "Microsoft.Network/virtualNetworks", Names: []string{scope.Name(az.VirtualNetwork)},
	}
	made, err := network.NewVirtualNetwork(b.ctx, b.name, &network.VirtualNetworkArgs{
		VirtualNetworkName: pulumi.String(plain.Name()),
		ResourceGroupName:  b.args.Group.Name,
		Location:           pulumi.String(scope.Location),
		AddressSpace:       network.AddressSpaceArgs{AddressPrefixes: pulumi.StringArray{pulumi.String(b.args.Site.Plan.AddressSpace.String())}},
		DhcpOptions:        b.dnsServers(),
		Tags:               scope.Tags(component),
	}, b.in)
	if err != nil {
		return vnet{}, fmt.Errorf("network %q: virtual network: %w", b.name, err)
	}
	return vnet{
		Resource: ref.Ready(plain.String(), made),
		plain:    plain,
		name:     ref.After(pulumi.String(plain.Name()), made),
		group:    b.args.Group.Name,
		made:     true,
	}, nil
}

// dnsServers are the network's own DNS servers; nil leaves it to Azure's.
func (b *builder) dnsServers() network.DhcpOptionsPtrInput {
	servers := slices.SortedFunc(slices.Values(b.args.Site.DNSServers), netip.Addr.Compare)
	if len(servers) == 0 {
		return nil
	}
	addresses := pulumi.StringArray{}
	for _, server := range servers {
		addresses = append(addresses, pulumi.String(server.String()))
	}
	return network.DhcpOptionsArgs{DnsServers: addresses}
}

// natGateway declares the one way out: a fixed public address that peers can
// allow. No subnet gets outbound access by default.
func (b *builder) natGateway(parent pulumi.Resource) (id, outbound pulumi.StringOutput, err error) {
	scope := b.args.Scope
	addressName := scope.Name(az.PublicIPAddress, "nat")
	address, err := network.NewPublicIPAddress(b.ctx, b.name+"-nat-address", &network.PublicIPAddressArgs{
		PublicIpAddressName:      pulumi.String(addressName),
		ResourceGroupName:        b.args.Group.Name,
		Location:                 pulumi.String(scope.Location),
		Sku:                      network.PublicIPAddressSkuArgs{Name: pulumi.String("Standard"), Tier: pulumi.String("Regional")},
		PublicIPAddressVersion:   pulumi.String("IPv4"),
		PublicIPAllocationMethod: pulumi.String("Static"), // the only method of the Standard tier
		IdleTimeoutInMinutes:     pulumi.Int(4),
		Zones:                    pulumi.StringArray{pulumi.String("1"), pulumi.String("2"), pulumi.String("3")},
		Tags:                     scope.Tags(component),
	}, b.in)
	if err != nil {
		return id, outbound, fmt.Errorf("network %q: nat address: %w", b.name, err)
	}
	addressID := scope.ResourceID(b.args.Group.PlainName, "Microsoft.Network/publicIPAddresses", addressName)
	natName := scope.Name(az.NatGateway)
	nat, err := network.NewNatGateway(b.ctx, b.name+"-nat", &network.NatGatewayArgs{
		NatGatewayName:       pulumi.String(natName),
		ResourceGroupName:    b.args.Group.Name,
		Location:             pulumi.String(scope.Location),
		Sku:                  network.NatGatewaySkuArgs{Name: pulumi.String("Standard")},
		IdleTimeoutInMinutes: pulumi.Int(4),
		PublicIpAddresses:    network.SubResourceArray{network.SubResourceArgs{Id: ref.After(pulumi.String(addressID), address)}},
		Tags:                 scope.Tags(component),
	}, b.in)
	if err != nil {
		return id, outbound, fmt.Errorf("network %q: nat gateway: %w", b.name, err)
	}
	outbound = live.Ask(b.ctx, "azure-native:network/v20240501:getPublicIPAddress", map[string]any{
		"resourceGroupName": b.args.Group.PlainName, "publicIpAddressName": addressName,
	}, address, parent).Text("ipAddress")
	return ref.After(pulumi.String(scope.ResourceID(b.args.Group.PlainName, "Microsoft.Network/natGateways", natName)), nat), outbound, nil
}

// subnets declares every planned subnet with its security group, then the
// peerings. Azure takes one write to a virtual network at a time, so they
// follow one another; the order comes from the plan's sorted roles.
func (b *builder) subnets(n *Network, vnet vnet, nat pulumi.StringOutput) error {
	var last pulumi.Resource
	serial := func() []pulumi.ResourceOption {
		if last == nil {
			return []pulumi.ResourceOption{b.in}
		}
		return []pulumi.ResourceOption{b.in, pulumi.DependsOn([]pulumi.Resource{last})}
	}
	for _, planned := range b.args.Site.Plan.Subnets {
		group, err := b.securityGroup(planned.Role)
		if err != nil {
			return err
		}
		subnetName := b.args.Scope.Name(az.Subnet, string(planned.Role))
		subnet, err := network.NewSubnet(b.ctx, b.name+"-"+string(planned.Role), b.subnet(planned, subnetName, vnet, group, nat), serial()...)
		if err != nil {
			return fmt.Errorf("network %q: subnet %s: %w", b.name, planned.Role, err)
		}
		last = subnet
		id := az.ID{
			SubscriptionID: vnet.plain.SubscriptionID, ResourceGroup: vnet.plain.ResourceGroup,
			Type: "Microsoft.Network/virtualNetworks/subnets", Names: []string{vnet.plain.Name(), subnetName},
		}
		n.Subnets[planned.Role] = ref.Subnet{Resource: ref.Ready(id.String(), subnet), Prefix: planned.Prefix}
	}
	if !vnet.made {
		return nil // whoever owns the network owns its peerings
	}
	for _, peer := range b.peers() {
		peering, err := network.NewVirtualNetworkPeering(b.ctx, b.name+"-peer-"+peer.Name, &network.VirtualNetworkPeeringArgs{
			VirtualNetworkPeeringName: pulumi.String(b.args.Scope.Name(az.Peering, peer.Name)),
			VirtualNetworkName:        vnet.name,
			ResourceGroupName:         vnet.group,
			RemoteVirtualNetwork:      network.SubResourceArgs{Id: pulumi.String(peer.ID)},
			AllowVirtualNetworkAccess: pulumi.Bool(true),
			AllowForwardedTraffic:     pulumi.Bool(true), // a hub forwards its spokes
			AllowGatewayTransit:       pulumi.Bool(false),
			UseRemoteGateways:         pulumi.Bool(false),
		}, append(serial(), pulumi.IgnoreChanges([]string{"peeringState"}))...) // Azure sets it when the other side peers back
		if err != nil {
			return fmt.Errorf("network %q: peering %s: %w", b.name, peer.Name, err)
		}
		last = peering
	}
	return nil
}

// subnet is the declaration of one planned subnet.
func (b *builder) subnet(planned netplan.Subnet, subnetName string, vnet vnet, group, nat pulumi.StringOutput) *network.SubnetArgs {
	args := &network.SubnetArgs{
		SubnetName:                        pulumi.String(subnetName),
		VirtualNetworkName:                vnet.name,
		ResourceGroupName:                 vnet.group,
		AddressPrefix:                     pulumi.String(planned.Prefix.String()),
		NetworkSecurityGroup:              network.NetworkSecurityGroupTypeArgs{Id: group},
		PrivateEndpointNetworkPolicies:    pulumi.String("Disabled"),
		PrivateLinkServiceNetworkPolicies: pulumi.String("Enabled"),
	}
	if planned.Role.IsEndpoints() || planned.Role == netplan.Doors {
		// Without it Azure ignores the security group for private endpoints.
		// https://learn.microsoft.com/azure/private-link/disable-private-endpoint-network-policy
		args.PrivateEndpointNetworkPolicies = pulumi.String("Enabled")
	}
	if planned.Role != netplan.Gateway { // a delegated or managed subnet's way out is the service's own
		args.DefaultOutboundAccess = pulumi.Bool(false)
	}
	if planned.Role.IsNodes() || planned.Role == netplan.Runner {
		args.NatGateway = network.SubResourceArgs{Id: nat}
	}
	if planned.Delegation != "" {
		args.Delegations = network.DelegationArray{network.DelegationArgs{Name: pulumi.String("gateway"), ServiceName: pulumi.String(planned.Delegation)}}
	}
	return args
}

// peers are the peers by name, so that their order means nothing.
func (b *builder) peers() []Peer {
	return slices.SortedFunc(slices.Values(b.args.Peers), func(x, y Peer) int {
		if x.Name < y.Name {
			return -1
		}
		return 1
	})
}
