package core

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a cluster keeps (A410), what it changes in one direction (A411), and that
// the refusal is a bad request, unlike that of other services.
func TestClusterImmutables(t *testing.T) {
	t.Parallel()
	s := aksWorld(t)
	fixed := func(text string, edits ...string) ruleCase {
		return ruleCase{reason: text, id: aksID, body: aksCluster(edits...), want: PropertyChangeNotAllowed, text: text}
	}
	taken := func(reason string, edits ...string) ruleCase {
		return ruleCase{reason: reason, id: aksID, body: aksCluster(edits...)}
	}
	network := func(edit string) string { return aksProps(`'networkProfile':{` + edit + `}`) }
	try(t, s, map[string]ruleCase{
		"A410 dnsPrefix":           fixed("dnsPrefix", aksProps(`'dnsPrefix':'other'`)),
		"A410 fqdnSubdomain":       fixed("fqdnSubdomain", aksProps(`'fqdnSubdomain':'other'`)),
		"A410 nodeResourceGroup":   fixed("nodeResourceGroup", aksProps(`'nodeResourceGroup':'other'`)),
		"A410 diskEncryptionSetID": fixed("diskEncryptionSetID", aksProps(`'diskEncryptionSetID':'/subscriptions/s/resourceGroups/x/providers/Microsoft.Compute/diskEncryptionSets/d'`)),
		"A410 linuxProfile":        fixed("linuxProfile", aksProps(`'linuxProfile':{'adminUsername':'me','ssh':{'publicKeys':[{'keyData':'ssh-rsa AAAA'}]}}`)),
		"A410 private":             fixed("enablePrivateCluster", aksProps(`'apiServerAccessProfile':{'enablePrivateCluster':true}`)),
		"A410 not private":         taken("false is what it was", aksProps(`'apiServerAccessProfile':{'enablePrivateCluster':false}`)),
		"A410 enableRBAC":          fixed("enableRBAC", aksProps(`'enableRBAC':false,'aadProfile':null,'disableLocalAccounts':false`)),
		"A410 kubelet":             fixed("kubeletidentity", aksProps(`'identityProfile':{'kubeletidentity':{'resourceId':'`+controlID+`'}}`)),
		"A410 serviceCidr":         fixed("serviceCidr", network(`'serviceCidr':'172.17.0.0/16','dnsServiceIP':'172.17.0.10'`)),
		"A410 location":            {reason: "a resource never moves", id: aksID, body: aksCluster(`{'location':'westeurope'}`), want: InvalidResourceLocation},
		"A410 case":                taken("Azure ignores it", aksProps(`'dnsPrefix':'AKS'`)),
		"A410 mutable": taken("the rest changes in place", `{'tags':{'a':'b'},'sku':{'name':'Base','tier':'Standard'}}`,
			aksProps(`'autoUpgradeProfile':{'upgradeChannel':'none'},'aadProfile':{'adminGroupObjectIDs':['11111111-1111-4111-8111-111111111111']},'windowsProfile':{'adminUsername':'azureuser'}`)),
		"A413 omitted": {reason: "what is left out stays", id: aksID, body: `{'location':'swedencentral','properties':{'agentPoolProfiles':[{'name':'system','mode':'System','vmSize':'Standard_D4s_v5'}]}}`},

		"A411 issuer off":      fixed("oidcIssuerProfile.enabled", aksProps(`'oidcIssuerProfile':{'enabled':false},'securityProfile':null`)),
		"A411 no identity":     fixed("identity.type", `{'identity':{'type':'None','userAssignedIdentities':null}}`),
		"A411 system identity": fixed("identity.type", `{'identity':{'type':'SystemAssigned','userAssignedIdentities':null}}`),
		"A411 dataplane":       fixed("networkDataplane", network(`'networkDataplane':'azure','networkPolicy':'azure'`)),
		"A411 policy":          fixed("networkPolicy", network(`'networkPolicy':'azure'`)),
		"A411 plugin":          fixed("networkPlugin", network(`'networkPlugin':'kubenet'`)),
		"A411 fewer pods":      fixed("podCidr", network(`'podCidr':'192.168.0.0/17'`)),
		"A411 more pods":       taken("a range that holds the old one", network(`'podCidr':'192.160.0.0/12'`)),
		"A411 advanced":        taken("not part of what is fixed", network(`'advancedNetworking':{'enabled':true}`)),
	})
	_, a := Apply(s, Op{Method: Put, ID: aksID, Body: j(t, aksCluster(aksProps(`'dnsPrefix':'other'`))), Instant: true})
	require.NotNil(t, a.Error)
	assert.Equal(t, http.StatusBadRequest, a.Status)
	_, a = Apply(s, Op{Method: Put, ID: net + "publicIPAddresses/ip", Body: j(t, `{'location':'swedencentral','sku':{'name':'Standard'},'zones':['1','2'],'properties':{'publicIPAllocationMethod':'Static','publicIPAddressVersion':'IPv6'}}`), Instant: true})
	require.NotNil(t, a.Error)
	assert.Equal(t, http.StatusConflict, a.Status, "the same code of another service")

	private := `'apiServerAccessProfile':{'enablePrivateCluster':true,'privateDNSZone':`
	s = must(t, aksLand(t), aksID, aksCluster(aksProps(private+`'system'}`)))
	try(t, s, map[string]ruleCase{
		"A410 public again": fixed("enablePrivateCluster", aksProps(`'apiServerAccessProfile':{'enablePrivateCluster':false}`)),
		"A410 other zone":   fixed("privateDNSZone", aksProps(private+`'`+apiZone+`'}`)),
		"A410 no zone":      taken("a change to none is", aksProps(private+`'none'}`)),
		"A410 default zone": taken("system is the default", aksProps(`'apiServerAccessProfile':{'enablePrivateCluster':true}`)),
	})
	plain := aksCluster(aksProps(`'networkProfile':{'networkDataplane':'azure','networkPolicy':'azure','networkPluginMode':null,'podCidr':null}`))
	try(t, must(t, aksLand(t), aksID, plain), map[string]ruleCase{
		"A411 overlay": {reason: "one way", id: aksID, body: edited(plain, aksProps(`'networkProfile':{'networkPluginMode':'overlay','podCidr':'192.168.0.0/16'}`))},
		"A411 cilium":  {reason: "one way", id: aksID, body: edited(plain, aksProps(`'networkProfile':{'networkDataplane':'cilium','networkPolicy':'cilium'}`))},
		"A411 calico":  {reason: "neither engine becomes the other", id: aksID, body: edited(plain, aksProps(`'networkProfile':{'networkPolicy':'calico'}`)), want: PropertyChangeNotAllowed},
	})
}

// What a pool keeps (A412), by itself and as a profile of its cluster.
func TestPoolImmutables(t *testing.T) {
	t.Parallel()
	s := aksWorld(t)
	fixed := func(text, edit string) ruleCase {
		return ruleCase{reason: text, id: gpuPool, body: aksPool(aksProps(edit)), want: PropertyChangeNotAllowed, text: text}
	}
	taken := func(reason, edit string) ruleCase {
		return ruleCase{reason: reason, id: gpuPool, body: aksPool(aksProps(edit))}
	}
	try(t, s, map[string]ruleCase{
		"A412 vmSize":     fixed("vmSize", `'vmSize':'Standard_NC48ads_A100_v4'`),
		"A412 profile":    fixed("gpuInstanceProfile", `'gpuInstanceProfile':'MIG2g'`),
		"A412 zones":      fixed("availabilityZones", `'availabilityZones':['1','2','3']`),
		"A412 zone order": taken("an order means nothing", `'availabilityZones':['2','1']`),
		"A412 maxPods":    fixed("maxPods", `'maxPods':50`),
		"A412 disk":       fixed("osDiskSizeGB", `'osDiskSizeGB':256`),
		"A412 disk type":  fixed("osDiskType", `'osDiskType':'Ephemeral'`),
		"A412 subnet":     fixed("vnetSubnetID", `'vnetSubnetID':'`+vnet+`/subnets/nodes'`),
		"A412 spot":       fixed("scaleSetPriority", `'scaleSetPriority':'Spot'`),
		"A412 regular":    taken("the default is no change", `'scaleSetPriority':'Regular'`),
		"A412 no driver":  fixed("gpuProfile", `'gpuProfile':{'driver':'None'}`),
		"A412 driver":     taken("the default is no change", `'gpuProfile':{'driver':'Install'}`),
		"A412 FIPS":       fixed("enableFIPS", `'enableFIPS':true`),
		"A412 mutable":    taken("the rest changes in place", `'maxCount':5,'nodeLabels':{'a':'b'},'nodeTaints':[],'tags':{'a':'b'},'upgradeSettings':{'maxSurge':'50%'}`),
		"A412 osSKU":      taken("between the two Linuxes", `'osSKU':'AzureLinux'`),
		"A412 mariner":    fixed("osSKU", `'osSKU':'CBLMariner'`),
		"A413 omitted":    {reason: "what is left out stays", id: gpuPool, body: aksProps(`'mode':'User','enableAutoScaling':true,'minCount':0,'maxCount':3`)},

		"A412 profile of the cluster": {reason: "it is the same pool", id: aksID, body: aksCluster(aksProps(`'agentPoolProfiles':[` + inline(`,'maxPods':30`) + `]`)), want: PropertyChangeNotAllowed, text: "maxPods"},
	})
	kept := show(t, must(t, s, gpuPool, aksProps(`'mode':'User','enableAutoScaling':true,'minCount':0,'maxCount':3`)), gpuPool)
	assert.Equal(t, "MIG1g", kept.get("properties.gpuInstanceProfile").text())
	assert.Equal(t, 3.0, kept.get("properties.maxCount").v)
	assert.True(t, kept.get("properties.nodeTaints").absent(), "what can change goes")
}
