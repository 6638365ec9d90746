package core

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/armtypes"
)

const (
	aksID      = rg + "/providers/Microsoft.ContainerService/managedClusters/aks"
	gpuPool    = aksID + "/agentPools/gpu"
	systemPool = aksID + "/agentPools/system"
	controlID  = rg + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/control"
	kubeletID  = rg + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/kubelet"
	apiZone    = net + "privateDnsZones/private.swedencentral.azmk8s.io"

	networkContributor = "/providers/Microsoft.Authorization/roleDefinitions/4d97b98b-1d4f-4787-a291-c67834d212e7"
	identityOperator   = "/providers/Microsoft.Authorization/roleDefinitions/f1a07417-d97a-45cb-824c-7a7467783830"
	zoneContributor    = "/providers/Microsoft.Authorization/roleDefinitions/b12aa53e-6015-4669-85d0-8515ebb3ae7f"
	plainReader        = "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
)

// edited is a body with JSON merge patches upon it.
func edited(base string, edits ...string) string {
	parse := func(text string) (m map[string]any) {
		if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "'", `"`)), &m); err != nil {
			panic(fmt.Sprintf("%v in %s", err, text))
		}
		return m
	}
	m := parse(base)
	for _, edit := range edits {
		merge(m, parse(edit))
	}
	text, _ := json.Marshal(m)
	return string(text)
}

// aksCluster is a legal cluster that shows most of what the rules look at.
func aksCluster(edits ...string) string {
	return edited(`{'location':'swedencentral','identity':{'type':'UserAssigned','userAssignedIdentities':{'`+controlID+`':{}}},'properties':{
		'dnsPrefix':'aks','kubernetesVersion':'1.33','enableRBAC':true,'disableLocalAccounts':true,'aadProfile':{'managed':true,'enableAzureRBAC':true},
		'oidcIssuerProfile':{'enabled':true},'securityProfile':{'workloadIdentity':{'enabled':true}},'autoUpgradeProfile':{'upgradeChannel':'patch'},
		'identityProfile':{'kubeletidentity':{'resourceId':'`+kubeletID+`'}},
		'networkProfile':{'networkPlugin':'azure','networkPluginMode':'overlay','networkDataplane':'cilium','networkPolicy':'cilium','outboundType':'userAssignedNATGateway',
			'podCidr':'192.168.0.0/16','serviceCidr':'172.16.0.0/16','dnsServiceIP':'172.16.0.10'},
		'agentPoolProfiles':[`+inline("")+`]}}`, edits...)
}

// inline is the system pool as part of a cluster; more are further properties.
func inline(more string) string {
	return `{'name':'system','mode':'System','vmSize':'Standard_D4s_v5','osType':'Linux','osDiskType':'Managed','count':1,'vnetSubnetID':'` + vnet + `/subnets/nodes'` + more + `}`
}

// aksPool is a legal pool of GPUs.
func aksPool(edits ...string) string {
	return edited(`{'properties':{'mode':'User','vmSize':'Standard_NC24ads_A100_v4','osDiskType':'Managed','enableAutoScaling':true,'minCount':0,'maxCount':2,'count':0,
		'maxPods':110,'availabilityZones':['1','2'],'gpuInstanceProfile':'MIG1g','vnetSubnetID':'`+vnet+`/subnets/gpus','nodeTaints':['sku=gpu:NoSchedule']}}`, edits...)
}

func aksProps(edit string) string { return `{'properties':{` + edit + `}}` }

// aksLand is the landscape with all that a cluster needs, and no cluster.
func aksLand(t testing.TB) State {
	t.Helper()
	s := platform(t)
	const nat = `,'natGateway':{'id':'$netnatGateways/nat'}`
	for _, r := range []struct{ id, body string }{
		{vnet + "/subnets/nodes", `{'properties':{'addressPrefix':'10.0.10.0/24'` + nat + `}}`},
		{vnet + "/subnets/gpus", `{'properties':{'addressPrefix':'10.0.11.0/24'` + nat + `}}`},
		{vnet + "/subnets/bare", `{'properties':{'addressPrefix':'10.0.12.0/24'}}`},
		{vnet + "/subnets/tiny", `{'properties':{'addressPrefix':'10.0.13.0/29'` + nat + `}}`},
		{net + "virtualNetworks/spoke/subnets/nodes", `{'properties':{'addressPrefix':'10.1.1.0/24'` + nat + `}}`},
		{net + "virtualNetworks/far", `{'location':'westeurope','properties':{'addressSpace':{'addressPrefixes':['10.3.0.0/16']},'subnets':[{'name':'nodes','properties':{'addressPrefix':'10.3.0.0/24'}}]}}`},
		{apiZone, `{'location':'global'}`},
		{controlID, `{'location':'swedencentral'}`},
		{kubeletID, `{'location':'swedencentral'}`},
	} {
		s = must(t, s, r.id, r.body)
	}
	principal := show(t, s, controlID).get("properties.principalId").text()
	s = must(t, s, vnet+grants+"00000000-0000-4000-8000-000000000001", grant(principal, networkContributor))
	return must(t, s, kubeletID+grants+"00000000-0000-4000-8000-000000000002", grant(principal, identityOperator))
}

// aksWorld is the landscape with a cluster and two pools.
func aksWorld(t testing.TB) State {
	t.Helper()
	return must(t, must(t, aksLand(t), aksID, aksCluster()), gpuPool, aksPool())
}

// A cluster and all its pools take one write at a time, in whatever order they
// come, and say so in AKS's own code (A400), also while the cluster is being made
// or has failed (A401).
func TestAKSTakesTurns(t *testing.T) {
	t.Parallel()
	put := func(s State, id, body string) (State, Answer) {
		return Apply(s, Op{Method: Put, ID: id, Body: j(t, body)})
	}
	world := aksWorld(t)
	for name, first := range map[string]Op{
		"cluster": {Method: Put, ID: aksID, Body: j(t, aksCluster())},
		"pool":    {Method: Put, ID: gpuPool, Body: j(t, aksPool())},
		"removal": {Method: Delete, ID: gpuPool},
	} {
		s, a := Apply(world, first)
		require.Nil(t, a.Error, name)
		for _, second := range []Op{
			{Method: Put, ID: aksID, Body: j(t, aksCluster())}, {Method: Put, ID: aksID + "/agentPools/more", Body: j(t, aksPool())}, {Method: Put, ID: systemPool, Body: j(t, aksPool())}, {Method: Delete, ID: aksID},
		} {
			_, a := Apply(s, second)
			require.NotNil(t, a.Error, "%s, then %s %s", name, second.Method, second.ID)
			assert.Equal(t, OperationNotAllowed, a.Error.Code, "%s, then %s %s", name, second.Method, second.ID)
			assert.Equal(t, http.StatusConflict, a.Status)
		}
		_, a = put(Settle(s), aksID, aksCluster())
		assert.Nil(t, a.Error, "after %s", name)
	}

	land := aksLand(t)
	s, a := put(land, aksID, aksCluster())
	require.Nil(t, a.Error)
	_, a = put(s, gpuPool, aksPool())
	require.NotNil(t, a.Error, "a cluster that is being made takes no pool")
	assert.Equal(t, OperationNotAllowed, a.Error.Code)
	failed, a := Apply(land, Op{Method: Put, ID: aksID, Body: j(t, aksCluster()), Fail: &Error{Code: Conflict}})
	require.Nil(t, a.Error)
	failed = Settle(failed)
	_, a = put(failed, gpuPool, aksPool())
	require.NotNil(t, a.Error, "nor one that has failed")
	assert.Equal(t, OperationNotAllowed, a.Error.Code)
	repaired, a := put(failed, aksID, aksCluster())
	require.Nil(t, a.Error)
	_, a = put(Settle(repaired), gpuPool, aksPool())
	assert.Nil(t, a.Error, "one that was repaired does")
	_, a = put(land, gpuPool, aksPool())
	require.NotNil(t, a.Error)
	assert.Equal(t, ParentResourceNotFound, a.Error.Code)
	assert.Equal(t, http.StatusNotFound, a.Status)

	// Other services have a code of their own.
	s, a = put(world, vnet+"/subnets/nodes2", `{'properties':{'addressPrefix':'10.0.20.0/24'}}`)
	require.Nil(t, a.Error)
	_, a = put(s, vnet+"/subnets/nodes3", `{'properties':{'addressPrefix':'10.0.21.0/24'}}`)
	require.NotNil(t, a.Error)
	assert.Equal(t, AnotherOperationInProgress, a.Error.Code)
}

// On demand AKS writes to a new cluster by itself: it looks Succeeded and refuses
// all the same, for a while, and once (A402).
func TestAKSWritesInTheBackground(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{true, false} {
		s := aksLand(t)
		s.BackgroundWrites = background
		s, a := Apply(s, Op{Method: Put, ID: aksID, Body: j(t, aksCluster())})
		require.Nil(t, a.Error)
		s = Advance(s, a.Operation.End)
		assert.Equal(t, Succeeded, show(t, s, aksID).get("properties.provisioningState").text())
		_, a = Apply(s, Op{Method: Put, ID: gpuPool, Body: j(t, aksPool())})
		if !background {
			assert.Nil(t, a.Error, "not unless asked for")
			continue
		}
		require.NotNil(t, a.Error)
		assert.Equal(t, OperationNotAllowed, a.Error.Code)
		assert.Equal(t, s.Now+backgroundTime, a.RetryAt)
		s = Advance(s, a.RetryAt)
		s, a = Apply(s, Op{Method: Put, ID: gpuPool, Body: j(t, aksPool())})
		require.Nil(t, a.Error, "once it is over")
		s, a = Apply(Settle(s), Op{Method: Put, ID: aksID, Body: j(t, aksCluster())})
		require.Nil(t, a.Error)
		_, a = Apply(Settle(s), Op{Method: Put, ID: aksID, Body: j(t, aksCluster())})
		assert.Nil(t, a.Error, "an update is followed by none")
	}
	s := aksLand(t)
	s.BackgroundWrites = true
	s, a := Apply(s, Op{Method: Put, ID: aksID, Body: j(t, aksCluster()), Fail: &Error{Code: Conflict}})
	require.Nil(t, a.Error)
	_, a = Apply(Advance(s, a.Operation.End), Op{Method: Put, ID: aksID, Body: j(t, aksCluster())})
	assert.Nil(t, a.Error, "a creation that failed is followed by none")
}

// Twenty writes at once to each cluster and pool, then one a minute; refused ones
// count (A403).
func TestAKSThrottles(t *testing.T) {
	t.Parallel()
	buckets, op := Buckets{}, Op{Method: Put, ID: aksID}
	take := func(now time.Duration, op Op) time.Duration {
		refusal, retryAt := buckets.Take(now, op)
		if refusal != nil {
			assert.Equal(t, TooManyRequests, refusal.Code)
			assert.Equal(t, http.StatusTooManyRequests, refusal.Status())
		}
		return retryAt
	}
	for range 20 {
		assert.Zero(t, take(0, op))
	}
	assert.Equal(t, time.Minute, take(0, op), "the 21st waits a minute")
	assert.Equal(t, time.Minute, take(59*time.Second, op))
	assert.Zero(t, take(59*time.Second, Op{Method: Put, ID: gpuPool}), "a pool has its own")
	assert.Zero(t, take(59*time.Second, Op{Method: Get, ID: aksID}), "reading is not counted")
	assert.Zero(t, take(59*time.Second, Op{Method: Put, ID: vnet}), "nor are others")
	assert.Zero(t, take(60*time.Second, Op{Method: Put, ID: strings.ToUpper(aksID)}), "one more a minute, in any case")
	assert.Equal(t, 2*time.Minute, take(60*time.Second, op))
	for range 20 {
		assert.Zero(t, take(time.Hour, op), "full again after a while, and no fuller")
	}
	assert.NotZero(t, take(time.Hour, op))
}

// Clusters and pools show their etag where AKS has it, each write changes it, and
// If-Match guards (A404).
func TestAKSEtags(t *testing.T) {
	t.Parallel()
	s := aksWorld(t)
	for id, c := range map[string]struct{ at, body string }{
		aksID:   {"eTag", aksCluster(`{'tags':{'a':'b'}}`)},
		gpuPool: {"properties.eTag", aksPool(aksProps(`'maxCount':3`))},
	} {
		tag := show(t, s, id).get(c.at).text()
		require.NotEmpty(t, tag)
		next, a := Apply(s, Op{Method: Put, ID: id, Body: j(t, c.body), IfMatch: tag, Instant: true})
		require.Nil(t, a.Error)
		assert.NotEqual(t, tag, show(t, next, id).get(c.at).text())
		_, a = Apply(next, Op{Method: Put, ID: id, Body: j(t, c.body), IfMatch: tag, Instant: true})
		require.NotNil(t, a.Error)
		assert.Equal(t, http.StatusPreconditionFailed, a.Status)
	}
	profile := poolIn(t, s, "gpu")
	assert.Equal(t, show(t, s, gpuPool).get("properties.eTag").text(), profile.get("eTag").text())
}

// poolIn is a profile as the cluster shows it.
func poolIn(t testing.TB, s State, name string) value {
	t.Helper()
	for _, profile := range show(t, s, aksID).get("properties.agentPoolProfiles").list() {
		if profile.get("name").text() == name {
			return profile
		}
	}
	t.Fatalf("no pool %s", name)
	return value{}
}

const keda = `'workloadAutoScalerProfile':{'keda':{'enabled':true}}`

// A write that leaves workloadAutoScalerProfile out keeps KEDA, or drops it where
// that is asked for; one that switches it off does (A405).
func TestOmittedProfile(t *testing.T) {
	t.Parallel()
	on := func(s State) bool {
		return show(t, s, aksID).get("properties.workloadAutoScalerProfile.keda.enabled").flag()
	}
	s := must(t, aksWorld(t), aksID, aksCluster(aksProps(keda)))
	require.True(t, on(s))
	assert.True(t, on(must(t, s, aksID, aksCluster(`{'tags':{'a':'b'}}`))), "omitted")
	assert.True(t, on(must(t, s, aksID, aksCluster(aksProps(`'workloadAutoScalerProfile':{}`)))), "empty is what an unset one looks like")
	assert.True(t, on(must(t, s, gpuPool, aksPool(aksProps(`'maxCount':3`)))), "a pool does not matter")
	assert.False(t, on(must(t, s, aksID, aksCluster(aksProps(`'workloadAutoScalerProfile':{'keda':{'enabled':false}}`)))), "switched off")
	s.ResetOmittedProfiles = true
	assert.False(t, on(must(t, s, aksID, aksCluster(`{'tags':{'a':'b'}}`))), "reset")
	assert.True(t, on(must(t, s, aksID, aksCluster(aksProps(keda)))), "and not omitted")
}

// What AKS answers although nobody said it, and {} for a profile that is not set (A406).
func TestAKSAnswers(t *testing.T) {
	t.Parallel()
	s := must(t, platform(t), aksID, `{'location':'swedencentral','identity':{'type':'SystemAssigned'},'properties':{'dnsPrefix':'aks',
		'addonProfiles':{'azurepolicy':{'enabled':true},'omsagent':{'enabled':false}},'agentPoolProfiles':[{'name':'system','mode':'System','vmSize':'Standard_D4s_v5'}]}}`)
	got := show(t, s, aksID)
	for path, want := range map[string]any{
		"properties.workloadAutoScalerProfile": map[string]any{}, "properties.securityProfile": map[string]any{},
		"sku": map[string]any{"name": "Base", "tier": "Free"}, "properties.enableRBAC": true, "properties.disableLocalAccounts": false,
		"properties.kubernetesVersion": "1.33", "properties.currentKubernetesVersion": "1.33.5", "properties.oidcIssuerProfile.enabled": false,
		"properties.networkProfile.podCidr": "10.244.0.0/16", "properties.networkProfile.serviceCidr": "10.0.0.0/16", "properties.networkProfile.outboundType": "loadBalancer",
		"properties.networkProfile.loadBalancerProfile.backendPoolType": "NodeIPConfiguration", "properties.networkProfile.networkDataplane": nil,
		"properties.nodeResourceGroup": "MC_rg_aks_swedencentral", "properties.powerState.code": "Running", "properties.storageProfile.diskCSIDriver.enabled": true,
		"properties.autoUpgradeProfile.nodeOSUpgradeChannel": "NodeImage", "properties.addonProfiles.omsagent.identity": nil, "properties.privateFQDN": nil,
	} {
		assert.Equal(t, want, got.get(path).v, path)
	}
	assert.NotEmpty(t, got.get("properties.addonProfiles.azurepolicy.identity.objectId").text())
	assert.True(t, strings.HasSuffix(got.get("properties.fqdn").text(), ".hcp.swedencentral.azmk8s.io"))
	system := show(t, s, systemPool)
	for path, want := range map[string]any{
		"type": "VirtualMachineScaleSets", "osType": "Linux", "osSKU": "Ubuntu", "osDiskType": "Managed", "osDiskSizeGB": 128.0, "maxPods": 110.0, "count": 1.0,
		"scaleDownMode": "Delete", "upgradeSettings": map[string]any{"maxSurge": "10%"}, "orchestratorVersion": "1.33", "currentOrchestratorVersion": "1.33.5",
		"provisioningState": Succeeded, "spotMaxPrice": nil, "scaleSetEvictionPolicy": nil,
	} {
		assert.Equal(t, want, system.get("properties."+path).v, path)
	}

	s = must(t, aksWorld(t), aksID+"/agentPools/spot", aksPool(aksProps(`'scaleSetPriority':'Spot','gpuInstanceProfile':null,'maxPods':null,'osDiskType':null`)))
	spot := show(t, s, aksID+"/agentPools/spot")
	for path, want := range map[string]any{
		"maxPods": 250.0, "osDiskType": "Ephemeral", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1.0, "upgradeSettings": nil,
	} {
		assert.Equal(t, want, spot.get("properties."+path).v, "spot: "+path)
	}
	kubelet, identity := show(t, s, aksID).get("properties.identityProfile.kubeletidentity"), show(t, s, kubeletID)
	assert.Equal(t, identity.get("properties.principalId").text(), kubelet.get("objectId").text(), "the kubelet is who was given")
	assert.Equal(t, identity.get("properties.clientId").text(), kubelet.get("clientId").text())
	assert.True(t, show(t, must(t, aksLand(t), aksID, aksCluster(aksProps(`'kubernetesVersion':'1.34','securityProfile':null,'oidcIssuerProfile':null`))), aksID).get("properties.oidcIssuerProfile.enabled").flag(), "the issuer is on by default from 1.34 on")

	private := must(t, aksLand(t), aksID, aksCluster(aksProps(`'apiServerAccessProfile':{'enablePrivateCluster':true,'enablePrivateClusterPublicFQDN':false}`)))
	assert.Empty(t, show(t, private, aksID).get("properties.fqdn").text(), "it declined a public name")
	assert.Contains(t, show(t, private, aksID).get("properties.privateFQDN").text(), ".privatelink.swedencentral.azmk8s.io")
}

// Pools are resources of their own however they came about, and the cluster shows
// all of them, in an order of its own (A407). A write to the cluster keeps those
// that it does not list, changes those that it lists, and adds none (A408).
func TestAgentPoolProfiles(t *testing.T) {
	t.Parallel()
	names := func(s State) (out []string) {
		for _, profile := range show(t, s, aksID).get("properties.agentPoolProfiles").list() {
			out = append(out, profile.get("name").text())
		}
		return out
	}
	s := aksWorld(t)
	assert.Equal(t, []string{"gpu", "system"}, names(s))
	assert.Equal(t, "Standard_D4s_v5", show(t, s, systemPool).get("properties.vmSize").text(), "the inline pool can be read")
	assert.Equal(t, "MIG1g", poolIn(t, s, "gpu").get("gpuInstanceProfile").text())

	tagged := must(t, s, aksID, aksCluster(`{'tags':{'a':'b'}}`))
	assert.Equal(t, []string{"gpu", "system"}, names(tagged), "the list has the inline pool alone")
	grown := must(t, s, aksID, aksCluster(aksProps(`'agentPoolProfiles':[`+inline(`,'nodeLabels':{'a':'b'}`)+`]`)))
	assert.Equal(t, "b", show(t, grown, systemPool).get("properties.nodeLabels.a").text())
	assert.Equal(t, show(t, s, gpuPool).get("properties.eTag"), show(t, grown, gpuPool).get("properties.eTag"), "the other pool is as it was")

	smaller := gone(t, s, gpuPool)
	assert.Equal(t, []string{"system"}, names(smaller))
	stale := copyBody(map[string]any{"location": "swedencentral", "properties": show(t, s, aksID).get("properties").v})
	_, a := Apply(smaller, Op{Method: Put, ID: aksID, Body: stale, Instant: true})
	require.NotNil(t, a.Error, "a list that still has a deleted pool")
	assert.Equal(t, BadRequest, a.Error.Code)
	assert.Contains(t, a.Error.Message, `"gpu", a new agent pool`)
	_, a = Apply(s, Op{Method: Put, ID: aksID, Body: stale, Instant: true})
	assert.Nil(t, a.Error, "what was read can be written back")

	none := gone(t, s, aksID)
	assert.Empty(t, none.under(aksID), "pools go with their cluster")
}

// The last system pool stays as long as its cluster does (A415).
func TestLastSystemPool(t *testing.T) {
	t.Parallel()
	s := aksWorld(t)
	second := write{aksID + "/agentPools/second", aksPool(aksProps(`'mode':'System','vmSize':'Standard_D4s_v5','gpuInstanceProfile':null,'minCount':1,'count':1,'nodeTaints':null`))}
	try(t, s, map[string]ruleCase{
		"last":   {reason: "system pods need a place", method: Delete, id: systemPool, want: OperationNotAllowed, text: "last system pool"},
		"one of": {reason: "another is left", method: Delete, id: systemPool, before: []write{second}},
		"user":   {reason: "neighbour", method: Delete, id: gpuPool},
		"group":  {reason: "all goes", method: Delete, id: rg},
	})
}

// A cluster made again under its name is another one (A409); a write leaves it the same.
func TestResourceUID(t *testing.T) {
	t.Parallel()
	s := aksWorld(t)
	uid := func(s State) string { return show(t, s, aksID).get("properties.resourceUID").text() }
	require.NotEmpty(t, uid(s))
	assert.Equal(t, uid(s), uid(must(t, s, aksID, aksCluster(`{'tags':{'a':'b'}}`))))
	again := must(t, gone(t, s, aksID), aksID, aksCluster())
	assert.NotEqual(t, uid(s), uid(again))
	assert.NotEqual(t, show(t, s, aksID).get("properties.oidcIssuerProfile.issuerURL"), show(t, again, aksID).get("properties.oidcIssuerProfile.issuerURL"))
}

// What is not known in a preview is not judged.
func TestUnknownClusterIsNotJudged(t *testing.T) {
	t.Parallel()
	u := armtypes.Unknown{}
	base := func() map[string]any { return j(t, aksCluster()) }
	for path, edit := range map[string]func(map[string]any){
		"dnsPrefix":         func(m map[string]any) { object(m, "properties")["dnsPrefix"] = u },
		"kubernetesVersion": func(m map[string]any) { object(m, "properties")["kubernetesVersion"] = u },
		"networkProfile":    func(m map[string]any) { object(m, "properties")["networkProfile"] = u },
		"pools":             func(m map[string]any) { object(m, "properties")["agentPoolProfiles"] = u },
		"identity":          func(m map[string]any) { m["identity"] = u },
		"kubelet":           func(m map[string]any) { object(m, "properties")["identityProfile"] = u },
		"subnet": func(m map[string]any) {
			object(m, "properties")["agentPoolProfiles"].([]any)[0].(map[string]any)["vnetSubnetID"] = u
		},
	} {
		for name, s := range map[string]State{"new": aksLand(t), "there": aksWorld(t)} {
			body := base()
			edit(body)
			if _, a := Apply(s, Op{Method: Put, ID: aksID, Body: body, Instant: true}); path != "pools" || name != "new" {
				assert.Nil(t, a.Error, "%s, %s", path, name)
			}
		}
	}
}
