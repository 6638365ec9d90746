// Package registry owns the container registry from which everything in the
// cluster runs.
package registry

import (
	"fmt"

	containerregistry "github.com/pulumi/pulumi-azure-native-sdk/containerregistry/v2/v20230701"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/diagnostics"
	"onedoor/internal/privatelink"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:registry:Registry"

// component is the value of the component tag.
const component = "registry"

// Args are the inputs of New.
type Args struct {
	Scope     az.Scope
	Group     ref.Group
	Logs      ref.Logs
	Existing  *az.ID     // a registry that others own; nil makes one
	Private   bool       // reachable through the network alone
	Endpoints ref.Subnet // of data endpoints
	Zones     ref.Zones
	Kubelet   ref.Identity // pulls
	Runner    ref.Identity // pushes and imports
}

// Registry holds images and charts. Fields below ResourceState are its outputs.
type Registry struct {
	pulumi.ResourceState
	Resource    ref.Resource        // ready once it can be reached
	LoginServer pulumi.StringOutput // host in image references; ready once nodes may pull
}

// New declares the registry. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Registry, error) {
	r := &Registry{}
	if err := ctx.RegisterComponentResource(Type, name, r, opts...); err != nil {
		return nil, err
	}
	in := pulumi.Parent(r)
	plain := args.Scope.Name(az.ContainerRegistry)
	if args.Existing != nil {
		plain = args.Existing.Name()
		r.Resource = ref.Ready(args.Existing.String())
	} else if err := r.create(ctx, name, plain, args, in); err != nil {
		return nil, err
	}
	if args.Private { // an existing registry gets an endpoint in this network too
		endpoint, err := privatelink.New(ctx, name, privatelink.Args{
			Scope: args.Scope, Component: component, Group: args.Group, Subnet: args.Endpoints,
			Target: r.Resource, GroupID: "registry", Zone: az.ZoneRegistry, Zones: args.Zones,
		}, in)
		if err != nil {
			return nil, err
		}
		r.Resource = ref.Ready(r.Resource.Plain, endpoint...)
	}
	pulls, err := args.Scope.Grant(ctx, name+"-kubelet-pulls", az.ImagePull, args.Kubelet, r.Resource, in)
	if err != nil {
		return nil, err
	}
	if _, err := args.Scope.Grant(ctx, name+"-runner-pushes", az.ImagePush, args.Runner, r.Resource, in); err != nil {
		return nil, err
	}
	if _, err := args.Scope.Grant(ctx, name+"-runner-imports", az.ImageImport, args.Runner, r.Resource, in); err != nil { // which pushing does not include
		return nil, err
	}
	r.LoginServer = ref.After(pulumi.String(plain+".azurecr.io"), pulls)
	return r, ctx.RegisterResourceOutputs(r, pulumi.Map{"loginServer": r.LoginServer})
}

// create declares a registry without an admin user. Private, it takes the
// Premium tier, the only one with endpoints, and is zone-redundant.
// https://learn.microsoft.com/azure/container-registry/container-registry-skus
// https://learn.microsoft.com/azure/container-registry/container-registry-import-images
func (r *Registry) create(ctx *pulumi.Context, name, plain string, args Args, in pulumi.ResourceOption) error {
	scope := args.Scope
	registry := &containerregistry.RegistryArgs{
		RegistryName:        pulumi.String(plain),
		ResourceGroupName:   args.Group.Name,
		Location:            pulumi.String(scope.Location),
		Sku:                 containerregistry.SkuArgs{Name: pulumi.String("Basic")},
		AdminUserEnabled:    pulumi.Bool(false),
		PublicNetworkAccess: pulumi.String("Enabled"),
		Tags:                scope.Tags(component),
	}
	if args.Private {
		registry.Sku = containerregistry.SkuArgs{Name: pulumi.String("Premium")}
		registry.PublicNetworkAccess = pulumi.String("Disabled")
		registry.NetworkRuleBypassOptions = pulumi.String("AzureServices") // imports are Azure's own requests
		registry.NetworkRuleSet = containerregistry.NetworkRuleSetArgs{DefaultAction: pulumi.String("Deny")}
		registry.DataEndpointEnabled = pulumi.Bool(true) // layers come from the registry's own host, not from any storage account
		registry.ZoneRedundancy = pulumi.String("Enabled")
	}
	made, err := containerregistry.NewRegistry(ctx, name, registry, in, pulumi.Protect(scope.Protect()))
	if err != nil {
		return fmt.Errorf("registry %q: %w", name, err)
	}
	r.Resource = ref.Ready(scope.ResourceID(args.Group.PlainName, "Microsoft.ContainerRegistry/registries", plain), made)
	return diagnostics.Send(ctx, name, r.Resource.ID, args.Logs, diagnostics.Setting{}, in)
}
