// Package identity owns the managed identities, the custom roles, and the roles
// that the cluster needs before it exists. Roles on what other components make
// are granted there.
package identity

import (
	"fmt"
	"maps"
	"slices"

	authorization "github.com/pulumi/pulumi-azure-native-sdk/authorization/v2/v20220501preview"
	managedidentity "github.com/pulumi/pulumi-azure-native-sdk/managedidentity/v2/v20230131"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/live"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:identity:Identities"

// component is the value of the component tag.
const component = "identity"

// Args are the inputs of New.
type Args struct {
	Scope     az.Scope
	Group     ref.Group             // holds the identities; the scope of the sync-only role
	BatchDoor ref.Group             // the scope of the batch-submitter role
	Queues    []string              // modalities, in any order: each has a worker of its own
	Joins     map[string]ref.Subnet // by role: the subnets of the cluster's nodes and load balancers
	VNet      ref.Resource          // that holds them
	APIZone   *ref.Zone             // of its private API server; nil where Azure Policy owns the zones
}

// Identities are the platform's principals. Fields below ResourceState are its
// outputs.
type Identities struct {
	pulumi.ResourceState
	Cluster      ref.Identity            // of the AKS control plane, ready once its roles exist
	Kubelet      ref.Identity            // of the nodes: pulls images
	Gateway      ref.Identity            // of API Management: calls the synchronous model accounts
	ControlPlane ref.Identity            // submits batch jobs and sends work: the only one
	Scaler       ref.Identity            // of KEDA: reads the lengths of queues
	Serving      ref.Identity            // of model servers: reads weights
	Edge         ref.Identity            // of the door that they stand behind: reads its certificate
	Runner       ref.Identity            // of deployments from inside the network
	Workers      map[string]ref.Identity // by modality

	SyncOnly       az.Role // the stack's definition of az.SyncOnly
	BatchSubmitter az.Role // the stack's definition of az.BatchSubmitter
}

// New declares the identities. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Identities, error) {
	i := &Identities{Workers: map[string]ref.Identity{}}
	if err := ctx.RegisterComponentResource(Type, name, i, opts...); err != nil {
		return nil, err
	}
	in := pulumi.Parent(i)
	for _, one := range []struct {
		role  string
		field *ref.Identity
	}{
		{"cluster", &i.Cluster},
		{"kubelet", &i.Kubelet},
		{"gateway", &i.Gateway},
		{"control-plane", &i.ControlPlane},
		{"scaler", &i.Scaler},
		{"serving", &i.Serving},
		{"edge", &i.Edge},
		{"runner", &i.Runner},
	} {
		made, err := identity(ctx, name, one.role, args, i)
		if err != nil {
			return nil, err
		}
		*one.field = made
	}
	for _, queue := range slices.Sorted(slices.Values(args.Queues)) {
		made, err := identity(ctx, name, "worker-"+queue, args, i)
		if err != nil {
			return nil, err
		}
		i.Workers[queue] = made
	}
	if err := i.grantCluster(ctx, name, args, in); err != nil {
		return nil, err
	}
	if err := i.defineRoles(ctx, name, args, in); err != nil {
		return nil, err
	}
	return i, ctx.RegisterResourceOutputs(i, pulumi.Map{
		"gatewayClientId":      i.Gateway.ClientID,
		"controlPlaneClientId": i.ControlPlane.ClientID,
	})
}

// identity declares one user-assigned identity.
func identity(ctx *pulumi.Context, name, role string, args Args, parent pulumi.Resource) (ref.Identity, error) {
	plain := args.Scope.Name(az.UserAssignedIdentity, role)
	made, err := managedidentity.NewUserAssignedIdentity(ctx, name+"-"+role, &managedidentity.UserAssignedIdentityArgs{
		ResourceName:      pulumi.String(plain),
		ResourceGroupName: args.Group.Name,
		Location:          pulumi.String(args.Scope.Location),
		Tags:              args.Scope.Tags(component),
	}, pulumi.Parent(parent))
	if err != nil {
		return ref.Identity{}, fmt.Errorf("identity %q: %s: %w", name, role, err)
	}
	id := args.Scope.ResourceID(args.Group.PlainName, "Microsoft.ManagedIdentity/userAssignedIdentities", plain)
	answer := live.Ask(ctx, "azure-native:managedidentity/v20230131:getUserAssignedIdentity", map[string]any{
		"resourceGroupName": args.Group.PlainName, "resourceName": plain,
	}, made, parent)
	return ref.Identity{Resource: ref.Ready(id, made), PrincipalID: answer.Text("principalId"), ClientID: answer.Text("clientId")}, nil
}

// grantCluster gives the cluster's identity what AKS checks when the cluster is
// created: joining the node subnets and the load balancers', handing out the
// kubelet's identity, and registering a private API server in its zone.
// https://learn.microsoft.com/azure/aks/use-managed-identity
func (i *Identities) grantCluster(ctx *pulumi.Context, name string, args Args, in pulumi.ResourceOption) error {
	type grant struct {
		name string
		role az.Role
		at   ref.Resource
	}
	var grants []grant
	for _, role := range slices.Sorted(maps.Keys(args.Joins)) {
		grants = append(grants, grant{"joins-" + role, az.NetworkContributor, args.Joins[role].Resource})
	}
	grants = append(grants, grant{"hands-out-kubelet", az.ManagedIdentityOperator, i.Kubelet.Resource})
	if args.APIZone != nil {
		// AKS links the zone to the network itself, which takes a role on the whole
		// of it.
		// https://github.com/Azure/AKS/issues/2711
		grants = append(grants,
			grant{"writes-api-zone", az.PrivateDNSZoneContributor, args.APIZone.Resource},
			grant{"links-api-zone", az.NetworkContributor, args.VNet})
	}
	var ready []pulumi.Resource
	for _, g := range grants {
		made, err := args.Scope.Grant(ctx, name+"-cluster-"+g.name, g.role, i.Cluster, g.at, in)
		if err != nil {
			return err
		}
		ready = append(ready, made)
	}
	// The cluster must not be created before its roles exist.
	i.Cluster.ID = ref.After(i.Cluster.ID, ready...)
	return nil
}

// defineRoles declares the custom roles, each at the one group in which it may
// be granted.
func (i *Identities) defineRoles(ctx *pulumi.Context, name string, args Args, in pulumi.ResourceOption) error {
	for _, definition := range []struct {
		custom az.CustomRole
		at     ref.Group
		role   *az.Role
	}{
		{az.SyncOnly, args.Group, &i.SyncOnly},
		{az.BatchSubmitter, args.BatchDoor, &i.BatchSubmitter},
	} {
		role := args.Scope.Custom(definition.custom)
		made, err := authorization.NewRoleDefinition(ctx, name+"-"+definition.custom.Name, &authorization.RoleDefinitionArgs{
			RoleDefinitionId: pulumi.String(role.GUID),
			RoleName:         pulumi.String(role.Name),
			RoleType:         pulumi.String("CustomRole"),
			Description:      pulumi.String(definition.custom.Description),
			Scope:            definition.at.ID,
			AssignableScopes: pulumi.StringArray{definition.at.ID},
			Permissions: authorization.PermissionArray{authorization.PermissionArgs{
				Actions:        pulumi.StringArray{},
				DataActions:    pulumi.ToStringArray(definition.custom.DataActions),
				NotActions:     pulumi.StringArray{},
				NotDataActions: pulumi.StringArray{},
			}},
		}, in)
		if err != nil {
			return fmt.Errorf("identity %q: role %s: %w", name, definition.custom.Name, err)
		}
		role.Defined = made
		*definition.role = role
	}
	return nil
}
