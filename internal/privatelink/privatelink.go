// Package privatelink makes private endpoints: the one way in which the
// platform's components put a service into the network.
package privatelink

import (
	"fmt"

	network "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240501"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/ref"
)

// Args are the inputs of New.
type Args struct {
	Scope     az.Scope
	Component string // that owns the endpoint, for its tags
	Group     ref.Group
	Subnet    ref.Subnet
	Target    ref.Resource
	GroupID   string // the part of the target to connect, as in "blob"
	Zone      string // the private DNS zone of that part
	Zones     ref.Zones
}

// New declares a private endpoint and registers it in its DNS zone. Whoever
// waits for the resources that it returns can reach the target by name. Where
// the zone is not among the zones, Azure Policy registers the endpoint.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) ([]pulumi.Resource, error) {
	plain := args.Scope.Name(az.PrivateEndpoint, name)
	endpoint, err := network.NewPrivateEndpoint(ctx, name+"-endpoint", &network.PrivateEndpointArgs{
		PrivateEndpointName: pulumi.String(plain),
		ResourceGroupName:   args.Group.Name,
		Location:            pulumi.String(args.Scope.Location),
		Subnet:              network.SubnetTypeArgs{Id: args.Subnet.ID},
		PrivateLinkServiceConnections: network.PrivateLinkServiceConnectionArray{network.PrivateLinkServiceConnectionArgs{
			Name:                 pulumi.String(plain),
			PrivateLinkServiceId: args.Target.ID,
			GroupIds:             pulumi.StringArray{pulumi.String(args.GroupID)},
		}},
		Tags: args.Scope.Tags(args.Component),
	}, append(opts, pulumi.IgnoreChanges([]string{"customDnsConfigs"}))...) // Azure empties them once the zone group has them
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", name, err)
	}
	zone, ours := args.Zones[args.Zone]
	if !ours {
		return []pulumi.Resource{endpoint}, nil
	}
	registration, err := network.NewPrivateDnsZoneGroup(ctx, name+"-endpoint-dns", &network.PrivateDnsZoneGroupArgs{
		PrivateDnsZoneGroupName: pulumi.String("default"),
		PrivateEndpointName:     ref.After(pulumi.String(plain), endpoint),
		ResourceGroupName:       args.Group.Name,
		PrivateDnsZoneConfigs: network.PrivateDnsZoneConfigArray{network.PrivateDnsZoneConfigArgs{
			Name: pulumi.String(args.GroupID), PrivateDnsZoneId: zone.ID,
		}},
	}, opts...)
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: dns: %w", name, err)
	}
	return []pulumi.Resource{endpoint, registration}, nil
}
