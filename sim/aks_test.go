package sim_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
	"onedoor/sim/core"
)

const (
	clusterToken = "azure-native:containerservice/v20250101:ManagedCluster"
	poolToken    = "azure-native:containerservice/v20250101:AgentPool"
	aksID        = groupID + "/providers/Microsoft.ContainerService/managedClusters/aks"
	aksVersion   = "?api-version=2025-01-01"
)

var (
	systemIn = m{"name": "system", "mode": "System", "vmSize": "Standard_D4s_v5", "osDiskType": "Managed", "count": 1.0}
	// aksIn is a cluster without KEDA, which needs nothing but a group.
	aksIn = m{
		"resourceGroupName": "rg", "resourceName": "aks", "location": "swedencentral", "dnsPrefix": "aks", "kubernetesVersion": "1.33", "identity": m{"type": "SystemAssigned"},
		"oidcIssuerProfile": m{"enabled": true}, "securityProfile": m{"workloadIdentity": m{"enabled": true}}, "autoUpgradeProfile": m{"upgradeChannel": "patch"},
		"networkProfile":    m{"networkPlugin": "azure", "networkPluginMode": "overlay", "outboundType": "loadBalancer", "podCidr": "10.244.0.0/16", "serviceCidr": "10.0.0.0/16", "dnsServiceIP": "10.0.0.10"},
		"agentPoolProfiles": list(systemIn),
	}
	gpuIn = m{
		"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "gpu", "mode": "User", "vmSize": "Standard_NC24ads_A100_v4", "osDiskType": "Managed",
		"enableAutoScaling": true, "count": 0.0, "minCount": 0.0, "maxCount": 2.0, "gpuInstanceProfile": "MIG1g",
	}
)

// clusterUp makes a group, a cluster and a pool.
func (e *engine) clusterUp() (cluster, pool *made) {
	e.t.Helper()
	e.mustCreate(groupToken, "group", groupIn)
	return e.mustCreate(clusterToken, "aks", aksIn), e.mustCreate(poolToken, "gpu", gpuIn)
}

// azure-native replaces for its own list alone; for the rest it tries an update,
// which AKS refuses (A414, A410, A412).
func TestAKSDiff(t *testing.T) {
	t.Parallel()
	e := open(t)
	cluster, pool := e.clusterUp()
	network := func(changes m) m { return m{"networkProfile": with(aksIn["networkProfile"].(m), changes)} }
	for name, c := range map[string]struct {
		of       *made
		in       m
		change   m
		replaces []string
	}{
		"dnsPrefix":           {cluster, aksIn, m{"dnsPrefix": "other"}, []string{"dnsPrefix"}},
		"fqdnSubdomain":       {cluster, aksIn, m{"fqdnSubdomain": "other"}, []string{"fqdnSubdomain"}},
		"nodeResourceGroup":   {cluster, aksIn, m{"nodeResourceGroup": "other"}, []string{"nodeResourceGroup"}},
		"diskEncryptionSetID": {cluster, aksIn, m{"diskEncryptionSetID": "x"}, []string{"diskEncryptionSetID"}},
		"linuxProfile":        {cluster, aksIn, m{"linuxProfile": m{"adminUsername": "me"}}, []string{"linuxProfile"}},
		"windowsProfile":      {cluster, aksIn, m{"windowsProfile": m{"adminUsername": "me"}}, []string{"windowsProfile"}},
		"location":            {cluster, aksIn, m{"location": "westeurope"}, []string{"location"}},
		"whole network":       {cluster, aksIn, network(m{"advancedNetworking": m{"enabled": true}}), []string{"networkProfile"}},
		"kubernetesVersion":   {cluster, aksIn, m{"kubernetesVersion": "1.34"}, nil},
		"private":             {cluster, aksIn, m{"apiServerAccessProfile": m{"enablePrivateCluster": true}}, nil},
		"agentPoolProfiles":   {cluster, aksIn, m{"agentPoolProfiles": list(with(systemIn, m{"name": "other"}))}, nil},
		"vmSize":              {pool, gpuIn, m{"vmSize": "Standard_NC48ads_A100_v4"}, []string{"vmSize"}},
		"gpuInstanceProfile":  {pool, gpuIn, m{"gpuInstanceProfile": "MIG2g"}, []string{"gpuInstanceProfile"}},
		"maxPods":             {pool, gpuIn, m{"maxPods": 50.0}, nil},
		"availabilityZones":   {pool, gpuIn, m{"availabilityZones": list("1")}, nil},
		"scaleSetPriority":    {pool, gpuIn, m{"scaleSetPriority": "Spot"}, nil},
	} {
		d := e.diff(c.of, props(with(c.in, c.change)))
		assert.NotEmpty(t, d.GetDiffs(), name)
		assert.Equal(t, c.replaces, d.GetReplaces(), name)
	}
	for name, change := range map[string]m{"maxPods": {"maxPods": 50.0}, "availabilityZones": {"availabilityZones": list("1")}} {
		_, err := e.update(pool, props(with(gpuIn, change)), false)
		require.ErrorContains(t, err, "PropertyChangeNotAllowed", name)
		require.ErrorContains(t, err, "Status=400", name)
	}
}

// A pool of its own shows in the cluster at the next refresh, as an input too
// (A407); a write of that list is taken as long as the pools are there (A408).
func TestRefreshFindsPools(t *testing.T) {
	t.Parallel()
	e := open(t)
	cluster, pool := e.clusterUp()
	seen := e.read(cluster)
	profiles := seen.in["agentPoolProfiles"].ArrayValue()
	require.Len(t, profiles, 2)
	assert.Equal(t, "gpu", profiles[0].ObjectValue()["name"].StringValue(), "in an order of Azure's")
	assert.NotEmpty(t, e.diff(seen, props(aksIn)).GetDiffs(), "the program lists one")
	assert.Empty(t, e.diff(seen, props(aksIn), "agentPoolProfiles").GetDiffs(), "unless it ignores the list")
	stale := seen.in.Copy()
	stale["tags"] = props(m{"tags": m{"a": "b"}})["tags"]
	_, err := e.update(seen, stale, false)
	require.NoError(t, err, "the list as it is")
	require.NoError(t, e.delete(pool))
	_, err = e.update(seen, stale, false)
	require.ErrorContains(t, err, "a new agent pool")
	_, err = e.update(seen, props(with(aksIn, m{"tags": m{"a": "b"}})), false)
	require.NoError(t, err, "the list of the program")
}

// A patch that Azure installs by itself changes nothing that the program declared
// (A431).
func TestPatchUpgradeIsNoDrift(t *testing.T) {
	t.Parallel()
	e := open(t)
	_, pool := e.clusterUp()
	cluster := e.read(&made{id: aksID, urn: urn(clusterToken, "aks"), in: props(aksIn)})
	cluster.in = props(aksIn)
	require.NoError(t, e.cloud.UpgradePatch(aksID))
	seen := e.read(cluster)
	assert.Equal(t, "1.33.6", seen.outputs["currentKubernetesVersion"].StringValue())
	assert.Empty(t, e.diff(seen, props(aksIn), "agentPoolProfiles").GetDiffs())
	pool = e.read(pool)
	assert.Equal(t, "1.33.6", pool.outputs["currentOrchestratorVersion"].StringValue())
	assert.Empty(t, e.diff(pool, props(gpuIn)).GetDiffs())
	require.ErrorContains(t, e.cloud.UpgradePatch(aksID+"2"), "ResourceNotFound")
}

// azure-native does not try again on AKS's code, so writes at once fail (A400), and
// so does one that meets a write by AKS itself (A402).
func TestAKSWritesAtOnceFail(t *testing.T) {
	t.Parallel()
	e := open(t, sim.WithQuiet(50*time.Millisecond))
	e.mustCreate(groupToken, "group", groupIn)
	e.mustCreate(clusterToken, "aks", aksIn)
	failed := make(chan error, 2)
	for _, name := range []string{"gpu", "gpu2"} {
		go func() {
			_, err := e.create(poolToken, name, props(with(gpuIn, m{"agentPoolName": name})), false)
			failed <- err
		}()
	}
	first, second := <-failed, <-failed
	if first == nil {
		first, second = second, first
	}
	require.ErrorContains(t, first, "OperationNotAllowed")
	require.NoError(t, second)

	e = open(t, sim.WithBackgroundWrites())
	e.mustCreate(groupToken, "group", groupIn)
	e.mustCreate(clusterToken, "aks", aksIn)
	_, err := e.create(poolToken, "gpu", props(gpuIn), false)
	require.ErrorContains(t, err, "OperationNotAllowed")
	require.NoError(t, e.cloud.Sleep(t.Context(), 2*time.Minute))
	e.mustCreate(poolToken, "gpu", gpuIn)
}

// A write that leaves the profile out keeps it, or resets it on demand (A405).
func TestResetOmittedProfiles(t *testing.T) {
	t.Parallel()
	for _, reset := range []bool{false, true} {
		var opts []sim.Option
		if reset {
			opts = append(opts, sim.WithResetOmittedProfiles())
		}
		e := open(t, opts...)
		cluster, _ := e.clusterUp()
		on, err := e.update(cluster, props(with(aksIn, m{"workloadAutoScalerProfile": m{"keda": m{"enabled": true}}})), false)
		require.NoError(t, err)
		off, err := e.update(on, props(with(aksIn, m{"tags": m{"a": "b"}})), false)
		require.NoError(t, err)
		keda := off.outputs["workloadAutoScalerProfile"].ObjectValue()["keda"]
		assert.Equal(t, reset, keda.IsNull(), "reset: %v, got %v", reset, keda)
	}
}

// Whoever sends too much, refused writes included, is told how long to stay away,
// and azure-native does (A403).
func TestThrottledClients(t *testing.T) {
	t.Parallel()
	c := serveARM(t)
	e := over(t, c.cloud)
	cluster := e.mustCreate(clusterToken, "aks", aksIn)
	require.NoError(t, e.cloud.Sleep(t.Context(), time.Hour))
	statuses := map[int]int{}
	var last response
	for range 21 {
		last = c.do("PUT", aksID+aksVersion, `{"location":"westeurope"}`)
		statuses[last.StatusCode]++
	}
	assert.Equal(t, map[int]int{http.StatusConflict: 20, http.StatusTooManyRequests: 1}, statuses)
	assert.Equal(t, "TooManyRequests", last.code())
	assert.Equal(t, "60", last.Header.Get("Retry-After"))

	before := c.cloud.State().Now
	_, err := e.update(cluster, props(with(aksIn, m{"tags": m{"a": "b"}})), false)
	require.NoError(t, err)
	assert.Equal(t, time.Minute+3*time.Minute, c.cloud.State().Now-before, "it waited, and then wrote")
}

// Microsoft's own client for AKS makes clusters and pools and reads them back
// typed; it sees conflicts, etags and what is not there (A081, A400, A404).
func TestAKSClient(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.mustCreate(groupToken, "group", groupIn)
	server := httptest.NewTLSServer(e.cloud.ARM())
	t.Cleanup(server.Close)
	factory, err := armcontainerservice.NewClientFactory(subscription, token{}, &arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{
		APIVersion: "2025-01-01", // the one that the program pins
		Transport:  server.Client(), Retry: policy.RetryOptions{MaxRetries: -1},
		Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: server.URL, Audience: server.URL}}},
	}})
	require.NoError(t, err)
	clusters, pools, ctx := factory.NewManagedClustersClient(), factory.NewAgentPoolsClient(), t.Context()
	refusal := func(err error, status int, code core.Code) {
		t.Helper()
		var refused *azcore.ResponseError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, status, refused.StatusCode)
		assert.Equal(t, string(code), refused.ErrorCode)
	}

	_, err = clusters.Get(ctx, "rg", "aks", nil)
	refusal(err, http.StatusNotFound, core.ResourceNotFound)
	wanted := armcontainerservice.ManagedCluster{
		Location: new("swedencentral"), Identity: &armcontainerservice.ManagedClusterIdentity{Type: new(armcontainerservice.ResourceIdentityTypeSystemAssigned)},
		Properties: &armcontainerservice.ManagedClusterProperties{
			DNSPrefix: new("aks"), KubernetesVersion: new("1.33"), OidcIssuerProfile: &armcontainerservice.ManagedClusterOIDCIssuerProfile{Enabled: new(true)},
			AgentPoolProfiles: []*armcontainerservice.ManagedClusterAgentPoolProfile{{
				Name: new("system"), Mode: new(armcontainerservice.AgentPoolModeSystem), VMSize: new("Standard_D4s_v5"), Count: new(int32(1)),
			}},
		},
	}
	running, err := clusters.BeginCreateOrUpdate(ctx, "rg", "aks", wanted, nil)
	require.NoError(t, err)
	_, err = clusters.BeginCreateOrUpdate(ctx, "rg", "aks", wanted, nil)
	refusal(err, http.StatusConflict, core.OperationNotAllowed)
	gpu := armcontainerservice.AgentPool{Properties: &armcontainerservice.ManagedClusterAgentPoolProfileProperties{
		Mode: new(armcontainerservice.AgentPoolModeUser), VMSize: new("Standard_NC24ads_A100_v4"), GpuInstanceProfile: new(armcontainerservice.GPUInstanceProfileMIG1G),
		OSDiskType: new(armcontainerservice.OSDiskTypeManaged), EnableAutoScaling: new(true), MinCount: new(int32(0)), MaxCount: new(int32(2)), NodeTaints: []*string{new("sku=gpu:NoSchedule")},
	}}
	_, err = pools.BeginCreateOrUpdate(ctx, "rg", "aks", "gpu", gpu, nil)
	refusal(err, http.StatusConflict, core.OperationNotAllowed)
	made, err := running.PollUntilDone(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, "1.33.5", *made.Properties.CurrentKubernetesVersion)
	assert.NotEmpty(t, *made.Properties.ResourceUID)
	assert.NotEmpty(t, *made.Properties.OidcIssuerProfile.IssuerURL)
	assert.NotEmpty(t, *made.Properties.IdentityProfile["kubeletidentity"].ObjectID)
	assert.Equal(t, armcontainerservice.ManagedClusterWorkloadAutoScalerProfile{}, *made.Properties.WorkloadAutoScalerProfile)

	making, err := pools.BeginCreateOrUpdate(ctx, "rg", "aks", "gpu", gpu, nil)
	require.NoError(t, err)
	_, err = making.PollUntilDone(ctx, nil)
	require.NoError(t, err)
	pool, err := pools.Get(ctx, "rg", "aks", "gpu", nil)
	require.NoError(t, err)
	assert.Equal(t, armcontainerservice.GPUInstanceProfileMIG1G, *pool.Properties.GpuInstanceProfile)
	assert.Equal(t, "1.33.5", *pool.Properties.CurrentOrchestratorVersion)
	assert.Equal(t, "Succeeded", *pool.Properties.ProvisioningState)
	var names []string
	for pages := pools.NewListPager("rg", "aks", nil); pages.More(); {
		page, err := pages.NextPage(ctx)
		require.NoError(t, err)
		for _, p := range page.Value {
			names = append(names, *p.Name)
		}
	}
	assert.Equal(t, []string{"gpu", "system"}, names)

	// What was read, written back with one change and the etag, as a client does.
	seen, err := clusters.Get(ctx, "rg", "aks", nil)
	require.NoError(t, err)
	require.Len(t, seen.Properties.AgentPoolProfiles, 2)
	seen.Properties.WorkloadAutoScalerProfile.Keda = &armcontainerservice.ManagedClusterWorkloadAutoScalerProfileKeda{Enabled: new(true)}
	patching, err := clusters.BeginCreateOrUpdate(ctx, "rg", "aks", seen.ManagedCluster, &armcontainerservice.ManagedClustersClientBeginCreateOrUpdateOptions{IfMatch: seen.ETag})
	require.NoError(t, err)
	after, err := patching.PollUntilDone(ctx, nil)
	require.NoError(t, err)
	assert.True(t, *after.Properties.WorkloadAutoScalerProfile.Keda.Enabled)
	assert.NotEqual(t, *seen.ETag, *after.ETag)
	assert.Equal(t, *seen.Properties.ResourceUID, *after.Properties.ResourceUID)
	_, err = clusters.BeginCreateOrUpdate(ctx, "rg", "aks", seen.ManagedCluster, &armcontainerservice.ManagedClustersClientBeginCreateOrUpdateOptions{IfMatch: seen.ETag})
	refusal(err, http.StatusPreconditionFailed, core.PreconditionFailed)
	_, err = pools.BeginDelete(ctx, "rg", "aks", "gpu", &armcontainerservice.AgentPoolsClientBeginDeleteOptions{IfMatch: new("stale")})
	refusal(err, http.StatusPreconditionFailed, core.PreconditionFailed)

	deleting, err := clusters.BeginDelete(ctx, "rg", "aks", nil)
	require.NoError(t, err)
	_, err = deleting.PollUntilDone(ctx, nil)
	require.NoError(t, err)
	_, err = pools.Get(ctx, "rg", "aks", "gpu", nil)
	var refused *azcore.ResponseError
	require.True(t, errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound, "pools go with their cluster: %v", err)
}
