package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/aks"
)

// Combinations that AKS refuses: that every property which a rule looks at is read
// (A420), subnets and what is attached to them included (A422). The rules
// themselves are tested in package aks.
func TestIllegalClusters(t *testing.T) {
	t.Parallel()
	const private = `'apiServerAccessProfile':{'enablePrivateCluster':true`
	network := func(edit string) string { return aksProps(`'networkProfile':{` + edit + `}`) }
	first := func(more string) string { return aksProps(`'agentPoolProfiles':[` + inline(more) + `]`) }
	at := func(subnet string) string {
		return aksProps(`'agentPoolProfiles':[` + strings.Replace(inline(""), "/subnets/nodes", "/subnets/"+subnet, 1) + `]`)
	}
	bare := aksProps(`'agentPoolProfiles':[{'name':'system','mode':'System','vmSize':'Standard_D4s_v5'}]`)
	bad := func(text string, edits ...string) ruleCase {
		return ruleCase{reason: text, id: aksID, body: aksCluster(edits...), want: InvalidParameter, text: text}
	}
	legal := func(reason string, edits ...string) ruleCase {
		return ruleCase{reason: reason, id: aksID, body: aksCluster(edits...)}
	}
	coded := func(c ruleCase, code Code) ruleCase { c.want = code; return c }
	try(t, aksLand(t), map[string]ruleCase{
		"C1 no issuer":           bad("oidcIssuerProfile.enabled", aksProps(`'oidcIssuerProfile':{'enabled':false}`)),
		"C1 neither":             legal("neighbour", aksProps(`'oidcIssuerProfile':{'enabled':false},'securityProfile':null`)),
		"C2 local accounts":      bad("disableLocalAccounts", aksProps(`'aadProfile':null`)),
		"C2 Azure roles":         bad("aadProfile.enableAzureRBAC", aksProps(`'aadProfile':{'managed':false},'disableLocalAccounts':false`)),
		"C3 pods without range":  bad("networkProfile.podCidr", network(`'networkPluginMode':null`)),
		"C3 pods in the subnet":  legal("neighbour", network(`'networkPluginMode':null,'podCidr':null`)),
		"C4 pod subnet":          bad("podSubnetID of pool system", first(`,'podSubnetID':'`+vnet+`/subnets/gpus'`)),
		"C5 plugin":              bad("networkProfile.networkPlugin", network(`'networkPlugin':'kubenet','networkPluginMode':null`)),
		"C5 policy":              bad("networkProfile.networkPolicy", network(`'networkPolicy':'calico'`)),
		"C6 security":            bad("networkProfile.advancedNetworking.security.enabled", network(`'networkDataplane':'azure','networkPolicy':'azure','advancedNetworking':{'enabled':true,'security':{'enabled':true}}`)),
		"C6 with cilium":         legal("neighbour", network(`'advancedNetworking':{'enabled':true,'security':{'enabled':true}}`)),
		"C7 no gateway":          bad("vnetSubnetID of pool system", at("bare")),
		"C7 no routes":           bad("a route table", network(`'outboundType':'userDefinedRouting'`)),
		"C7 routes":              {reason: "neighbour", id: aksID, body: aksCluster(network(`'outboundType':'userDefinedRouting'`), at("routed")), before: []write{{vnet + "/subnets/routed", `{'properties':{'addressPrefix':'10.0.14.0/24','routeTable':{'id':'$netrouteTables/routes'}}}`}}},
		"C7 gateway of AKS":      bad("NAT gateway", network(`'outboundType':'managedNATGateway'`)),
		"C7 isolated":            bad("bootstrapProfile.artifactSource", network(`'outboundType':'none'`)),
		"C7 cached":              legal("neighbour", network(`'outboundType':'none'`), aksProps(`'bootstrapProfile':{'artifactSource':'Cache'}`)),
		"C7 balancer":            legal("needs nothing", network(`'outboundType':'loadBalancer'`), at("bare")),
		"C8 nameless":            bad("apiServerAccessProfile.privateDNSZone", aksProps(private+`,'privateDNSZone':'none','enablePrivateClusterPublicFQDN':false}`)),
		"C8 public name":         legal("the public name is on by default", aksProps(private+`,'privateDNSZone':'none'}`)),
		"C8 ranges":              bad("apiServerAccessProfile.authorizedIPRanges", aksProps(private+`,'authorizedIPRanges':['198.51.100.0/24']}`)),
		"C8 system identity":     bad("identity.type", aksProps(private+`,'privateDNSZone':'`+apiZone+`'}`), `{'identity':{'type':'SystemAssigned','userAssignedIdentities':null}}`),
		"C9 DNS":                 bad("networkProfile.dnsServiceIP", network(`'dnsServiceIP':'172.17.0.10'`)),
		"C9 default DNS":         bad("networkProfile.dnsServiceIP", network(`'dnsServiceIP':null`)),
		"C9 services in the net": bad("networkProfile.serviceCidr", network(`'serviceCidr':'10.0.0.0/16','dnsServiceIP':'10.0.0.10'`)),
		"C9 no range":            bad("networkProfile.serviceCidr", network(`'serviceCidr':'999.0.0.0/16'`)),
		"C9 no address":          bad("networkProfile.dnsServiceIP", network(`'dnsServiceIP':'172.016.0.10'`)),
		"C10 no name":            bad("dnsPrefix", aksProps(`'dnsPrefix':null`)),
		"C10 two names":          bad("fqdnSubdomain", aksProps(`'fqdnSubdomain':'aks'`)),
		"C11 no pool":            bad("agentPoolProfiles", aksProps(`'agentPoolProfiles':[]`)),
		"C11 user pool":          bad("agentPoolProfiles", aksProps(`'agentPoolProfiles':[{'name':'user','mode':'User','vmSize':'Standard_D4s_v5','vnetSubnetID':'`+vnet+`/subnets/nodes'}]`)),
		"C11 few pods":           bad("maxPods of pool system", first(`,'maxPods':29`)),
		"C11 enough pods":        legal("neighbour", first(`,'maxPods':30`)),
		"C23 few pod blocks":     coded(bad("networkProfile.podCidr", network(`'podCidr':'192.168.0.0/24'`)), InsufficientSubnetSize),
		"C23 small subnet":       coded(bad("Network.Subnets", at("tiny"), network(`'networkPluginMode':null,'podCidr':null`)), InsufficientSubnetSize),

		"P1 two system pools": legal("a rule of the project, not of AKS", aksProps(`'agentPoolProfiles':[`+inline("")+`,`+strings.Replace(inline(""), "'system'", "'second'", 1)+`]`)),
		"P2 KEDA alone":       legal("a rule of the project, not of AKS", aksProps(keda+`,'securityProfile':null`)),
		"plain":               legal("AKS makes a network", bare, network(`'outboundType':'loadBalancer'`)),
	})
	// All at once, each with what is wanted.
	_, a := Apply(aksLand(t), Op{Method: Put, ID: aksID, Body: j(t, aksCluster(aksProps(`'aadProfile':null,'dnsPrefix':null`), first(`,'maxPods':29`))), Instant: true})
	require.NotNil(t, a.Error)
	for _, part := range []string{"dnsPrefix: got nothing, want ", "disableLocalAccounts: got true, want ", "maxPods of pool system: got 29, want ", "fix: "} {
		assert.Contains(t, a.Error.Message, part)
	}
}

// The same for pools, made apart or with the cluster (A420).
func TestIllegalPools(t *testing.T) {
	t.Parallel()
	const more = aksID + "/agentPools/more"
	bad := func(text, edit string) ruleCase {
		return ruleCase{reason: text, id: more, body: aksPool(aksProps(edit)), want: InvalidParameter, text: text + " of pool more"}
	}
	legal := func(edit string) ruleCase {
		return ruleCase{reason: "neighbour", id: more, body: aksPool(aksProps(edit))}
	}
	whole := `'gpuInstanceProfile':null,`
	try(t, aksWorld(t), map[string]ruleCase{
		"C11 small":       bad("vmSize", whole+`'mode':'System','vmSize':'Standard_B4s_v2','minCount':1,'count':1,'nodeTaints':null`),
		"C11 big":         legal(whole + `'mode':'System','vmSize':'Standard_D4s_v5','minCount':1,'count':1,'nodeTaints':null`),
		"C12 no maximum":  bad("maxCount", `'maxCount':null`),
		"C12 min above":   bad("minCount", `'minCount':3`),
		"C12 equal":       legal(`'minCount':2`),
		"C12 not scaled":  bad("minCount", `'enableAutoScaling':false`),
		"C12 fixed count": legal(`'enableAutoScaling':false,'minCount':null,'maxCount':null,'count':2`),
		"C13 price":       bad("spotMaxPrice", `'spotMaxPrice':1.5`),
		"C13 spot price":  legal(whole + `'scaleSetPriority':'Spot','spotMaxPrice':1.5`),
		"C13 eviction":    bad("scaleSetEvictionPolicy", `'scaleSetEvictionPolicy':'Delete'`),
		"C13 surge":       bad("upgradeSettings.maxSurge", whole+`'scaleSetPriority':'Spot','upgradeSettings':{'maxSurge':'33%'}`),
		"C14 ephemeral":   bad("osDiskType", `'osDiskType':'Ephemeral','scaleDownMode':'Deallocate'`),
		"C14 by default":  bad("osDiskType", `'osDiskType':null,'scaleDownMode':'Deallocate'`),
		"C14 managed":     legal(`'scaleDownMode':'Deallocate'`),
		"C15 no MIG":      bad("vmSize", `'vmSize':'Standard_NV36ads_A10_v5'`),
		"C15 no driver":   bad("gpuProfile.driver", `'gpuProfile':{'driver':'None'}`),
		"C15 whole":       legal(whole + `'gpuProfile':{'driver':'None'}`),
		"C17 label":       bad("nodeLabels[kubernetes.azure.com/mine]", `'nodeLabels':{'kubernetes.azure.com/mine':'a'}`),
		"C17 own label":   legal(`'nodeLabels':{'example.com/mine':'a'}`),
		"C17 taint":       bad("nodeTaints[0]", `'nodeTaints':['sku:NoSchedule']`),
		"C18 zone twice":  bad("availabilityZones[1]", `'availabilityZones':['1','1']`),
		"C18 set":         bad("availabilityZones", `'type':'AvailabilitySet'`),
		"C19 elsewhere":   bad("vnetSubnetID", `'vnetSubnetID':'`+net+`virtualNetworks/spoke/subnets/nodes'`),
		"C19 beside":      legal(`'vnetSubnetID':'` + vnet + `/subnets/nodes'`),
		"C7 no gateway":   bad("vnetSubnetID", `'vnetSubnetID':'`+vnet+`/subnets/bare'`),
		"E1 surge":        bad("upgradeSettings.maxSurge", `'upgradeSettings':{'maxSurge':'many'}`),

		"changed": {reason: "a change is judged too", id: gpuPool, body: aksPool(aksProps(`'minCount':3`)), want: InvalidParameter, text: "minCount of pool gpu"},
	})
}

// Every field that a problem can name stands for a property.
func TestProblemsNameProperties(t *testing.T) {
	t.Parallel()
	c := aks.Cluster{Pools: []aks.Pool{{Name: "gpu"}}}
	for field, want := range map[string]string{
		"Version": "kubernetesVersion", "Pools[0].Version": "orchestratorVersion of pool gpu", "Pools[0].Labels[a/b]": "nodeLabels[a/b] of pool gpu",
		"Network.PodCIDR": "networkProfile.podCidr", "Pools": "agentPoolProfiles",
	} {
		assert.Equal(t, want, armName(c, aks.Problem{Field: field}), field)
	}
}
