package network

import (
	"fmt"
	"slices"

	dns "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240601"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/ref"
)

const zoneType = "Microsoft.Network/privateDnsZones"

// zones declares the private DNS zones. Those of the doors are linked to the
// peers too, whose callers must resolve them.
func (b *builder) zones(n *Network, vnet vnet) error {
	for _, zoneName := range slices.Sorted(slices.Values(b.args.DNS.Existing)) {
		id := fmt.Sprintf("%s/providers/%s/%s", b.args.DNS.ExistingIn, zoneType, zoneName)
		n.Zones[zoneName] = ref.Zone{Name: zoneName, Resource: ref.Ready(id)}
	}
	for _, zoneName := range slices.Sorted(slices.Values(b.args.DNS.Endpoints)) {
		if err := b.zone(n, vnet, zoneName, nil); err != nil {
			return err
		}
	}
	for _, zoneName := range slices.Sorted(slices.Values(b.args.DNS.Doors)) {
		if err := b.zone(n, vnet, zoneName, b.peers()); err != nil {
			return err
		}
	}
	return nil
}

// zone declares one zone with its links to the network and to peers.
func (b *builder) zone(n *Network, vnet vnet, zoneName string, peers []Peer) error {
	zone, err := dns.NewPrivateZone(b.ctx, b.name+"-zone-"+zoneName, &dns.PrivateZoneArgs{
		PrivateZoneName:   pulumi.String(zoneName),
		ResourceGroupName: b.args.Group.Name,
		Location:          pulumi.String("Global"),
		Tags:              b.args.Scope.Tags(component),
	}, b.in)
	if err != nil {
		return fmt.Errorf("network %q: zone %s: %w", b.name, zoneName, err)
	}
	ready := []pulumi.Resource{zone}
	link := func(to string, id pulumi.StringInput) error {
		made, err := dns.NewVirtualNetworkLink(b.ctx, b.name+"-zone-"+zoneName+"-link"+to, &dns.VirtualNetworkLinkArgs{
			VirtualNetworkLinkName: pulumi.String(b.args.Scope.Name(az.DNSZoneLink, to)),
			PrivateZoneName:        ref.After(pulumi.String(zoneName), zone),
			ResourceGroupName:      b.args.Group.Name,
			Location:               pulumi.String("Global"),
			RegistrationEnabled:    pulumi.Bool(false),
			VirtualNetwork:         dns.SubResourceArgs{Id: id},
			Tags:                   b.args.Scope.Tags(component),
		}, b.in)
		if err != nil {
			return fmt.Errorf("network %q: link of zone %s: %w", b.name, zoneName, err)
		}
		ready = append(ready, made)
		return nil
	}
	if err := link("", vnet.ID); err != nil {
		return err
	}
	for _, peer := range peers {
		if err := link("-"+peer.Name, pulumi.String(peer.ID)); err != nil {
			return err
		}
	}
	id := b.args.Scope.ResourceID(b.args.Group.PlainName, zoneType, zoneName)
	n.Zones[zoneName] = ref.Zone{Name: zoneName, Resource: ref.Ready(id, ready...)}
	return nil
}
