package cluster_test

import (
	"net/netip"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/cluster"
	"onedoor/internal/az"
	"onedoor/internal/fake"
	"onedoor/internal/ref"
)

func args() cluster.Args {
	zone := fake.Zones("privatelink.swedencentral.azmk8s.io")["privatelink.swedencentral.azmk8s.io"]
	pool := func(name string) cluster.Pool {
		return cluster.Pool{Name: name, Subnet: fake.Subnet(name), Size: "Standard_D8s_v5", Max: 3, Zones: []string{"1", "2"}, MaxPods: 110, DiskGB: 128}
	}
	system := pool("system")
	system.Min = 2
	gpu := pool("a100")
	gpu.Size, gpu.GPU, gpu.MIG, gpu.Taints, gpu.Labels = "Standard_NC24ads_A100_v4", true, "MIG1g", []string{"sku=gpu:NoSchedule"}, map[string]string{"gpu": "a100"}
	spot := pool("spot")
	spot.Spot = true
	return cluster.Args{
		Scope: fake.Scope(az.Prod), TenantID: "66666666-7777-8888-9999-000000000000", Group: fake.Group(), Identity: fake.Identity("cluster"),
		Kubelet: fake.Identity("kubelet"), Logs: fake.Logs(),
		Version: "1.33", Admins: []string{"77777777-7777-8888-9999-000000000000"}, Access: cluster.Access{Private: true, Zone: &zone},
		Pods: netip.MustParsePrefix("10.244.0.0/16"), Services: netip.MustParsePrefix("10.245.0.0/16"), Hostname: true,
		Window: cluster.Maintenance{Day: "Sunday", Start: "01:00", UTCOffset: "+01:00", Hours: 6}, Login: cluster.LoginAzureCLI, Deployer: fake.Identity("runner"),
		System: system, Pools: []cluster.Pool{pool("workers"), gpu, spot},
	}
}

func program(a cluster.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		c, err := cluster.New(ctx, "cluster", a)
		if err != nil {
			return err
		}
		return fake.Reader(ctx, "reader", c.Ready.ID)
	}
}

// KEDA's operator that starts before the identity webhook never gets a token.
func TestKEDAComesAfterWorkloadIdentity(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program(args()))
		c := plan.Get(t, "cluster")
		assert.Nil(t, c.Input("workloadAutoScalerProfile"), "the cluster must not mention KEDA, not even to switch it off")
		assert.Equal(t, map[string]any{"enabled": true}, c.Input("securityProfile").(map[string]any)["workloadIdentity"])
		assert.Equal(t, map[string]any{"enabled": true}, c.Input("oidcIssuerProfile"))
		keda := plan.Get(t, "cluster-keda")
		assert.Equal(t, "armpatch:index:Patch", keda.Type)
		assert.Contains(t, keda.DependsOn, "cluster")
		assert.Equal(t, map[string]any{
			"/properties/oidcIssuerProfile/enabled": true, "/properties/securityProfile/workloadIdentity/enabled": true,
		}, keda.Input("preconditions"))
	}
}

// Every write to the cluster must be followed by the patch: its trigger changes
// with the configuration, and with nothing that is only known later.
func TestKEDAIsLookedAtAgainAfterEveryClusterWrite(t *testing.T) {
	t.Parallel()
	trigger := func(change func(*cluster.Args)) any {
		a := args()
		change(&a)
		return fake.Run(t, fake.Preview, program(a)).Get(t, "cluster-keda").Input("triggers").(map[string]any)["cluster"]
	}
	same := trigger(func(*cluster.Args) {})
	assert.Equal(t, same, trigger(func(*cluster.Args) {}))
	assert.NotEqual(t, same, trigger(func(a *cluster.Args) { a.Scope.Owner = "somebody else" }), "a tag is a write too")
	for what, change := range map[string]func(*cluster.Args){
		"version":  func(a *cluster.Args) { a.Version = "1.34" },
		"tenant":   func(a *cluster.Args) { a.TenantID = "another" },
		"admins":   func(a *cluster.Args) { a.Admins = append(a.Admins, "another") },
		"access":   func(a *cluster.Args) { a.Access = cluster.Access{} },
		"zone":     func(a *cluster.Args) { a.Access.Zone = nil },
		"ranges":   func(a *cluster.Args) { a.Access = cluster.Access{Ranges: []string{"203.0.113.0/24"}} },
		"hostname": func(a *cluster.Args) { a.Hostname = false },
		"services": func(a *cluster.Args) { a.Services = netip.MustParsePrefix("10.246.0.0/16") },
		"pods":     func(a *cluster.Args) { a.Pods = netip.MustParsePrefix("10.248.0.0/16") },
		"logs":     func(a *cluster.Args) { a.Logs.Workspace = ref.Ready("another") },
		"identity": func(a *cluster.Args) { a.Identity = fake.Identity("another") },
		"kubelet":  func(a *cluster.Args) { a.Kubelet = fake.Identity("another") },
	} {
		assert.NotEqual(t, same, trigger(change), what)
	}
	assert.Equal(t, same, trigger(func(a *cluster.Args) { a.System.Max++; a.Pools[0].Max++ }), "a pool is no write to the cluster")
}

// The cluster ignores its pool after it was made, so what changes is said here;
// what cannot change is refused instead of being forgotten.
func TestTheSystemPoolIsKeptAsDeclared(t *testing.T) {
	t.Parallel()
	a := args()
	a.Version, a.System.Min, a.System.Max = "1.34", 3, 7
	plan := fake.Run(t, fake.Update, program(a))
	system := plan.Get(t, "cluster-system")
	assert.Equal(t, fake.GroupID+"/providers/Microsoft.ContainerService/managedClusters/aks-onedoor-test/agentPools/system", system.Input("resourceId"))
	properties := system.Input("properties").(map[string]any)["properties"].(map[string]any)
	assert.Equal(t, 3.0, properties["minCount"])
	assert.Equal(t, 7.0, properties["maxCount"])
	assert.Equal(t, "1.34", properties["orchestratorVersion"])
	assert.NotContains(t, properties, "count", "the autoscaler's")
	fixed := map[string]any{
		"/properties/vmSize": "Standard_D8s_v5", "/properties/maxPods": 110.0, "/properties/osDiskSizeGB": 128.0, "/properties/availabilityZones": []any{"1", "2"},
	}
	assert.Equal(t, fixed, system.Input("preconditions"))
	a.System.Zones = nil
	delete(fixed, "/properties/availabilityZones")
	assert.Equal(t, fixed, fake.Run(t, fake.Update, program(a)).Get(t, "cluster-system").Input("preconditions"), "Azure names no zones where it chose")
	assert.Equal(t, "cluster", system.Options.DeletedWith)
	assert.Equal(t, plan.Get(t, "cluster-keda").Input("triggers"), system.Input("triggers"), "a write to the cluster may replay an old list of pools")
}

// Azure takes one write to a cluster or any of its pools at a time.
func TestPoolsFollowKEDAOneAfterAnother(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	after := "cluster-keda"
	for _, pool := range []string{"cluster-system", "cluster-workers", "cluster-a100", "cluster-spot"} {
		assert.Contains(t, plan.Get(t, pool).DependsOn, after)
		after = pool
	}
	assert.Subset(t, plan.Get(t, "reader").DependsOn, []string{"cluster-keda", "cluster-aksManagedNodeOSUpgradeSchedule"}, "ready means all of it")
}

func TestExactlyOneInlinePoolAndItIsTheSystems(t *testing.T) {
	t.Parallel()
	pools := fake.Run(t, fake.Preview, program(args())).Get(t, "cluster").Input("agentPoolProfiles").([]any)
	require.Len(t, pools, 1)
	system := pools[0].(map[string]any)
	assert.Equal(t, "System", system["mode"])
	assert.Equal(t, 2.0, system["minCount"])
}

func TestClusterTakesEntraAlone(t *testing.T) {
	t.Parallel()
	c := fake.Run(t, fake.Preview, program(args())).Get(t, "cluster")
	assert.Equal(t, true, c.Input("disableLocalAccounts"))
	aad := c.Input("aadProfile").(map[string]any)
	assert.Equal(t, true, aad["managed"])
	assert.Equal(t, true, aad["enableAzureRBAC"])
	access := c.Input("apiServerAccessProfile").(map[string]any)
	assert.Equal(t, true, access["disableRunCommand"])
	assert.Equal(t, true, access["enablePrivateCluster"])
	assert.Contains(t, access["privateDNSZone"], "azmk8s.io")
	assert.NotNil(t, c.Input("fqdnSubdomain"))
	assert.Nil(t, c.Input("dnsPrefix"), "one of the two, never both")
	assert.Equal(t, "Disabled", c.Input("publicNetworkAccess"))
	assert.True(t, c.Protect)
}

func TestPublicAPIServerTakesRanges(t *testing.T) {
	t.Parallel()
	a := args()
	a.Access = cluster.Access{Ranges: []string{"203.0.113.0/24"}, Nodes: pulumi.String("198.51.100.7")}
	c := fake.Run(t, fake.Preview, program(a)).Get(t, "cluster")
	assert.Equal(t, []any{"203.0.113.0/24", "198.51.100.7/32"}, c.Input("apiServerAccessProfile").(map[string]any)["authorizedIPRanges"],
		"nodes that leave through a NAT gateway of ours must be named too, or none becomes ready")
	assert.NotNil(t, c.Input("dnsPrefix"))
	assert.Nil(t, c.Input("fqdnSubdomain"))
	a.Access.Private = true
	a.Admins = nil
	_, err := fake.Try(fake.Preview, program(a))
	require.ErrorContains(t, err, "authorised ranges do not apply")
	require.ErrorContains(t, err, "no group of administrators")
}

// The SDK would fill in ranges that overlap with what is planned.
func TestNetworkLeavesNothingToDefaults(t *testing.T) {
	t.Parallel()
	network := fake.Run(t, fake.Preview, program(args())).Get(t, "cluster").Input("networkProfile").(map[string]any)
	for key, want := range map[string]any{
		"podCidr": "10.244.0.0/16", "serviceCidr": "10.245.0.0/16", "dnsServiceIP": "10.245.0.10", "outboundType": "userAssignedNATGateway",
		"networkPlugin": "azure", "networkPluginMode": "overlay", "networkDataplane": "cilium", "networkPolicy": "cilium",
	} {
		assert.Equal(t, want, network[key], key)
	}
	a := args()
	a.Hostname = false
	assert.Nil(t, fake.Run(t, fake.Preview, program(a)).Get(t, "cluster").Input("networkProfile").(map[string]any)["advancedNetworking"], "Azure refuses the block when everything in it is off")
}

// Azure refuses these changes in place and the provider would try them; a count
// that the autoscaler chose is no drift; and all goes with the cluster.
func TestWhatCannotChangeIsReplaced(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	c := plan.Get(t, "cluster")
	assert.Subset(t, c.Options.ReplaceOn, []string{"apiServerAccessProfile.enablePrivateCluster", "identityProfile"})
	assert.Equal(t, []string{"workloadAutoScalerProfile", "agentPoolProfiles"}, c.Options.Ignore)
	for _, name := range []string{"cluster-workers", "cluster-a100", "cluster-spot"} {
		pool := plan.Get(t, name)
		assert.Subset(t, pool.Options.ReplaceOn, []string{"vnetSubnetID", "maxPods", "scaleSetPriority", "availabilityZones"}, name)
		assert.Equal(t, []string{"count"}, pool.Options.Ignore, name)
		assert.Equal(t, "cluster", pool.Options.DeletedWith, name)
	}
	assert.Equal(t, "cluster", plan.Get(t, "cluster-keda").Options.DeletedWith)
}

func TestPoolsSayWhatAzureWouldAdd(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	spot := plan.Get(t, "cluster-spot")
	assert.Equal(t, []any{"kubernetes.azure.com/scalesetpriority=spot:NoSchedule"}, spot.Input("nodeTaints"))
	assert.Equal(t, map[string]any{"kubernetes.azure.com/scalesetpriority": "spot"}, spot.Input("nodeLabels"))
	assert.Equal(t, -1.0, spot.Input("spotMaxPrice"))
	assert.Nil(t, spot.Input("upgradeSettings"), "a spot pool takes no surge")
	gpu := plan.Get(t, "cluster-a100")
	assert.Equal(t, "MIG1g", gpu.Input("gpuInstanceProfile"))
	assert.Equal(t, map[string]any{"driver": "Install"}, gpu.Input("gpuProfile"), "without the driver nothing is cut")
	assert.Equal(t, []any{"sku=gpu:NoSchedule"}, gpu.Input("nodeTaints"))
	assert.Equal(t, "Regular", gpu.Input("scaleSetPriority"))
}

// Windows are writes below the cluster, so they too come one after another.
func TestMaintenanceWindowsFollowThePools(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	after := "cluster-spot"
	for _, name := range []string{"cluster-aksManagedAutoUpgradeSchedule", "cluster-aksManagedNodeOSUpgradeSchedule"} {
		window := plan.Get(t, name)
		assert.Contains(t, window.DependsOn, after)
		assert.Equal(t, map[string]any{
			"durationHours": 6.0, "startTime": "01:00", "utcOffset": "+01:00",
			"schedule": map[string]any{"weekly": map[string]any{"dayOfWeek": "Sunday", "intervalWeeks": 1.0}},
		}, window.Input("maintenanceWindow"))
		after = name
	}
}
