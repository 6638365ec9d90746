// Package cluster owns the AKS cluster: workload identity first, then KEDA, then
// the node pools one after another. The order is by construction, because Azure
// does not keep it: KEDA's operator that starts before the identity webhook
// exists never gets a token.
// https://learn.microsoft.com/azure/aks/keda-about
package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20250101"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/aks"
	"onedoor/internal/diagnostics"
	"onedoor/internal/ref"
	armpatch "onedoor/plugins/armpatch/sdk"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:cluster:Cluster"

// component is the value of the component tag.
const component = "cluster"

// apiVersion is that of the pinned module, for the requests of the patch.
const apiVersion = "2025-01-01"

// logged are the logs of the control plane that are kept: who changed what, who
// logged in, what the API server and the autoscaler decided. Reads, which
// kube-audit would add, are most of the volume.
// https://learn.microsoft.com/azure/aks/monitor-aks#aks-control-planeresource-logs
var logged = []string{"cluster-autoscaler", "guard", "kube-apiserver", "kube-audit-admin"}

// Args are the inputs of New.
type Args struct {
	Scope    az.Scope
	TenantID string // GUID of the Entra tenant whose people and services log in
	Group    ref.Group
	Identity ref.Identity // of the control plane, ready once its roles exist
	Kubelet  ref.Identity // of the nodes
	Logs     ref.Logs
	Version  string   // Kubernetes minor version, as in "1.33"; Azure chooses the patch
	Admins   []string // object ids of the Entra groups that administer the cluster, sorted
	Access   Access
	Pods     netip.Prefix // overlay addresses
	Services netip.Prefix
	Hostname bool // egress rules by host name, which take advanced networking and cost money
	Window   Maintenance
	Login    Login        // of whoever deploys
	Deployer ref.Identity // administers the cluster, as Admins do
	System   Pool         // the one pool that is declared with the cluster
	Pools    []Pool       // made one after another, in this order
}

// Access is who can open a connection to the API server.
type Access struct {
	Private bool               // the network alone; otherwise the internet
	Ranges  []string           // without Private: address ranges that may, sorted; none lets everybody try
	Nodes   pulumi.StringInput // the address that nodes come from, which Azure does not add to ranges by itself; nil without ranges
	Zone    *ref.Zone          // with Private: the zone its name is registered in; nil lets Azure make one
}

func (a Args) check() error {
	var found []error
	if len(a.Admins) == 0 {
		found = append(found, errors.New("no group of administrators: with local accounts off, nobody could log in"))
	}
	if a.Access.Private && len(a.Access.Ranges) > 0 {
		found = append(found, errors.New("authorised ranges do not apply to a private API server"))
	}
	return errors.Join(found...)
}

// Cluster holds the AKS cluster. Fields below ResourceState are its outputs.
type Cluster struct {
	pulumi.ResourceState
	Name   string              // of the cluster, plain
	Ready  ref.Resource        // the cluster, once KEDA is on and every pool exists
	Issuer pulumi.StringOutput // of the tokens of its service accounts, byte for byte; known after an update

	// Kubeconfig lets whoever deploys in, once they may; not known before the
	// cluster exists. It holds no secret.
	Kubeconfig pulumi.StringOutput
	// Made is the cluster itself: what lives in it goes with it.
	Made pulumi.Resource
}

// New declares a cluster. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Cluster, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("cluster %q: %w", name, err)
	}
	c := &Cluster{Name: args.Scope.Name(az.ManagedCluster)}
	if err := ctx.RegisterComponentResource(Type, name, c, opts...); err != nil {
		return nil, err
	}
	in := pulumi.Parent(c)
	scope := args.Scope
	made, err := containerservice.NewManagedCluster(ctx, name, args.cluster(c.Name), in, pulumi.Protect(scope.Protect()),
		pulumi.IgnoreChanges([]string{
			// Owned by the patch below: a cluster that mentioned it would switch KEDA
			// on together with workload identity, in an order that nothing documents.
			"workloadAutoScalerProfile",
			// After a refresh it lists every pool as it is at that moment, and every write
			// sends that list: it must be a fresh one, so Pulumi.yaml has every update
			// refresh first. A list of our own would show a change after each refresh.
			// https://github.com/pulumi/pulumi-azure-native/issues/2719
			"agentPoolProfiles",
		}),
		pulumi.ReplaceOnChanges(aks.ReplaceOnChanges(aks.ClusterImmutables)),
		pulumi.DeleteBeforeReplace(true)) // its name is fixed
	if err != nil {
		return nil, fmt.Errorf("cluster %q: %w", name, err)
	}
	id := scope.ResourceID(args.Group.PlainName, "Microsoft.ContainerService/managedClusters", c.Name)
	keda, err := args.keda(ctx, name+"-keda", ref.Ready(id, made), made, in)
	if err != nil {
		return nil, fmt.Errorf("cluster %q: keda: %w", name, err)
	}
	// Azure takes one write to a cluster or any of its pools at a time.
	system, err := args.system(ctx, name, id, made, keda, in)
	if err != nil {
		return nil, fmt.Errorf("cluster %q: pool %s: %w", name, args.System.Name, err)
	}
	last := pulumi.Resource(system)
	for _, pool := range args.Pools {
		next, err := pool.declare(ctx, name, args, c.Name, made, last, in)
		if err != nil {
			return nil, fmt.Errorf("cluster %q: pool %s: %w", name, pool.Name, err)
		}
		last = next
	}
	if last, err = args.Window.declare(ctx, name, args, c.Name, made, last, in); err != nil {
		return nil, fmt.Errorf("cluster %q: %w", name, err)
	}
	enters, err := scope.Grant(ctx, name+"-deployer-administers", az.ClusterAdmin, args.Deployer, ref.Ready(id, made), in)
	if err != nil {
		return nil, fmt.Errorf("cluster %q: deployer: %w", name, err)
	}
	err = diagnostics.Send(ctx, name, ref.Ready(id, made).ID, args.Logs, diagnostics.Setting{Categories: logged}, in,
		pulumi.DeletedWith(made), pulumi.DependsOn([]pulumi.Resource{last})) // out of the way of the pools
	if err != nil {
		return nil, fmt.Errorf("cluster %q: %w", name, err)
	}
	c.Made = made
	c.Ready = ref.Ready(id, keda, last)
	c.Issuer = made.OidcIssuerProfile.IssuerURL().Elem()
	c.Kubeconfig = ref.After(args.kubeconfig(ctx, c.Name, made, c), enters, last)
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"id": c.Ready.ID, "issuer": c.Issuer})
}

// cluster is the declaration of the cluster, without KEDA.
func (a Args) cluster(plain string) *containerservice.ManagedClusterArgs {
	tier := "Free"
	if a.Scope.Environment == az.Prod {
		tier = "Standard" // with an uptime agreement
	}
	args := &containerservice.ManagedClusterArgs{
		ResourceName:      pulumi.String(plain),
		ResourceGroupName: a.Group.Name,
		Location:          pulumi.String(a.Scope.Location),
		Sku:               containerservice.ManagedClusterSKUArgs{Name: pulumi.String("Base"), Tier: pulumi.String(tier)},
		KubernetesVersion: pulumi.String(a.Version),
		NodeResourceGroup: pulumi.String(a.Scope.Name(az.ResourceGroup, "nodes")),
		Identity: containerservice.ManagedClusterIdentityArgs{
			Type: containerservice.ResourceIdentityTypeUserAssigned, UserAssignedIdentities: pulumi.StringArray{a.Identity.ID},
		},
		IdentityProfile: containerservice.UserAssignedIdentityMap{"kubeletidentity": containerservice.UserAssignedIdentityArgs{
			ResourceId: a.Kubelet.ID, ClientId: a.Kubelet.ClientID, ObjectId: a.Kubelet.PrincipalID,
		}},
		EnableRBAC:           pulumi.Bool(true),
		DisableLocalAccounts: pulumi.Bool(true), // Entra alone
		AadProfile: containerservice.ManagedClusterAADProfileArgs{
			Managed: pulumi.Bool(true), EnableAzureRBAC: pulumi.Bool(true), TenantID: pulumi.String(a.TenantID), AdminGroupObjectIDs: pulumi.ToStringArray(a.Admins),
		},
		OidcIssuerProfile: containerservice.ManagedClusterOIDCIssuerProfileArgs{Enabled: pulumi.Bool(true)},
		SecurityProfile: containerservice.ManagedClusterSecurityProfileArgs{
			WorkloadIdentity: containerservice.ManagedClusterSecurityProfileWorkloadIdentityArgs{Enabled: pulumi.Bool(true)},
			ImageCleaner:     containerservice.ManagedClusterSecurityProfileImageCleanerArgs{Enabled: pulumi.Bool(true), IntervalHours: pulumi.Int(168)},
			Defender: containerservice.ManagedClusterSecurityProfileDefenderArgs{
				LogAnalyticsWorkspaceResourceId: a.Logs.Workspace.ID,
				SecurityMonitoring:              containerservice.ManagedClusterSecurityProfileDefenderSecurityMonitoringArgs{Enabled: pulumi.Bool(true)},
			},
		},
		NetworkProfile:         a.network(),
		ApiServerAccessProfile: a.apiServer(),
		AddonProfiles: containerservice.ManagedClusterAddonProfileMap{
			"azurepolicy":                  containerservice.ManagedClusterAddonProfileArgs{Enabled: pulumi.Bool(true)},
			"azureKeyvaultSecretsProvider": containerservice.ManagedClusterAddonProfileArgs{Enabled: pulumi.Bool(true), Config: pulumi.StringMap{"enableSecretRotation": pulumi.String("true"), "rotationPollInterval": pulumi.String("2m")}},
		},
		AzureMonitorProfile: containerservice.ManagedClusterAzureMonitorProfileArgs{
			Metrics: containerservice.ManagedClusterAzureMonitorProfileMetricsArgs{Enabled: pulumi.Bool(true)},
		},
		StorageProfile: containerservice.ManagedClusterStorageProfileArgs{
			BlobCSIDriver: containerservice.ManagedClusterStorageProfileBlobCSIDriverArgs{Enabled: pulumi.Bool(true)},
		},
		AutoUpgradeProfile: containerservice.ManagedClusterAutoUpgradeProfileArgs{
			UpgradeChannel: pulumi.String("patch"), NodeOSUpgradeChannel: pulumi.String("NodeImage"),
		},
		AgentPoolProfiles: containerservice.ManagedClusterAgentPoolProfileArray{a.System.inline(a)},
		Tags:              a.Scope.Tags(component),
	}
	if a.Access.Private {
		args.PublicNetworkAccess = pulumi.String("Disabled")
	}
	if a.Access.Private && a.Access.Zone != nil { // the only case that takes one
		args.FqdnSubdomain = pulumi.String(plain)
	} else {
		args.DnsPrefix = pulumi.String(plain)
	}
	return args
}

// network is the cluster's network. The four defaults that the SDK would fill in
// are set: they would overlap with what is planned. So is what Azure would add: an
// imported cluster has it among its inputs, and any difference here makes the
// provider replace the cluster.
// https://github.com/pulumi/pulumi-azure-native/issues/4756
func (a Args) network() containerservice.ContainerServiceNetworkProfileArgs {
	profile := containerservice.ContainerServiceNetworkProfileArgs{
		NetworkPlugin:     pulumi.String("azure"),
		NetworkPluginMode: pulumi.String("overlay"),
		NetworkDataplane:  pulumi.String("cilium"),
		NetworkPolicy:     pulumi.String("cilium"),
		LoadBalancerSku:   pulumi.String("standard"),
		OutboundType:      pulumi.String("userAssignedNATGateway"), // of the node subnets
		PodCidr:           pulumi.String(a.Pods.String()),
		PodCidrs:          pulumi.StringArray{pulumi.String(a.Pods.String())},
		ServiceCidr:       pulumi.String(a.Services.String()),
		ServiceCidrs:      pulumi.StringArray{pulumi.String(a.Services.String())},
		IpFamilies:        pulumi.StringArray{pulumi.String("IPv4")},
		DnsServiceIP:      pulumi.String(dnsAddress(a.Services).String()),
	}
	if a.Hostname {
		profile.AdvancedNetworking = containerservice.AdvancedNetworkingArgs{
			Enabled:  pulumi.Bool(true),
			Security: containerservice.AdvancedNetworkingSecurityArgs{Enabled: pulumi.Bool(true)},
		}
	}
	return profile
}

// dnsAddress is the address of the cluster's DNS service: the tenth of the
// range, because the first is Kubernetes' own.
func dnsAddress(services netip.Prefix) netip.Addr {
	at := services.Masked().Addr()
	for range 10 {
		at = at.Next()
	}
	return at
}

// apiServer is who can reach the API server. Commands through Azure, which
// would pass it by, are off.
func (a Args) apiServer() containerservice.ManagedClusterAPIServerAccessProfileArgs {
	profile := containerservice.ManagedClusterAPIServerAccessProfileArgs{
		DisableRunCommand:    pulumi.Bool(true),
		EnablePrivateCluster: pulumi.Bool(a.Access.Private),
	}
	switch {
	case !a.Access.Private:
		ranges := pulumi.ToStringArray(a.Access.Ranges)
		if len(ranges) > 0 && a.Access.Nodes != nil {
			ranges = append(ranges, pulumi.Sprintf("%s/32", a.Access.Nodes))
		}
		profile.AuthorizedIPRanges = ranges
	case a.Access.Zone != nil:
		profile.PrivateDNSZone = a.Access.Zone.ID
		profile.EnablePrivateClusterPublicFQDN = pulumi.Bool(false)
	default:
		profile.PrivateDNSZone = pulumi.String("system")
		profile.EnablePrivateClusterPublicFQDN = pulumi.Bool(false)
	}
	return profile
}

// keda enables KEDA once the cluster has workload identity.
func (a Args) keda(ctx *pulumi.Context, name string, at ref.Resource, cluster pulumi.Resource, in pulumi.ResourceOption) (*armpatch.Patch, error) {
	return armpatch.NewPatch(ctx, name, &armpatch.PatchArgs{
		ResourceID: at.ID,
		APIVersion: pulumi.String(apiVersion),
		Properties: pulumi.Map{"properties": pulumi.Map{"workloadAutoScalerProfile": pulumi.Map{"keda": pulumi.Map{"enabled": pulumi.Bool(true)}}}},
		Preconditions: pulumi.Map{
			"/properties/oidcIssuerProfile/enabled":                pulumi.Bool(true),
			"/properties/securityProfile/workloadIdentity/enabled": pulumi.Bool(true),
		},
		Triggers:   pulumi.StringMap{"cluster": pulumi.String(a.written())},
		UIDPointer: pulumi.String("/properties/resourceUID"),
		OnDelete:   pulumi.String(armpatch.Keep), // it goes with the cluster
	}, in, pulumi.DeletedWith(cluster))
}

// written is a hash of the plain configuration that writes to the cluster are made
// of. What is triggered by it follows every such write in the same update: should
// Azure drop something with a write that does not mention it, it comes back.
func (a Args) written() string {
	ids := []string{a.Identity.Plain, a.Kubelet.Plain, a.Logs.Workspace.Plain}
	if a.Access.Zone != nil {
		ids = append(ids, a.Access.Zone.Plain)
	}
	plain, err := json.Marshal(struct {
		Scope             az.Scope
		TenantID, Version string
		Admins, Ranges    []string
		Private, Hostname bool
		Pods, Services    netip.Prefix
		IDs               []string
	}{a.Scope, a.TenantID, a.Version, a.Admins, a.Access.Ranges, a.Access.Private, a.Hostname, a.Pods, a.Services, ids})
	if err != nil {
		panic(err) // nothing in it can fail
	}
	sum := sha256.Sum256(plain)
	return hex.EncodeToString(sum[:8])
}
