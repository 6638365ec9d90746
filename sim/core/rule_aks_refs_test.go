package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/armtypes"
)

// What a cluster and a pool name is there, and in their region (A421).
func TestAKSReferences(t *testing.T) {
	t.Parallel()
	const more = aksID + "/agentPools/more"
	foreign := sub + "/resourceGroups/hub/providers/Microsoft.Network/"
	bad := func(id, body string) ruleCase {
		return ruleCase{reason: "it must be there", id: id, body: body, want: InvalidResourceReference}
	}
	subnet := func(id string) string { return aksPool(aksProps(`'vnetSubnetID':'` + id + `'`)) }
	try(t, aksWorld(t), map[string]ruleCase{
		"A421 subnet":          bad(more, subnet(vnet+"/subnets/nope")),
		"A421 no subnet":       bad(more, subnet(vnet)),
		"A421 subnet there":    {reason: "neighbour", id: more, body: subnet(vnet + "/subnets/nodes")},
		"A421 pod subnet":      bad(more, aksPool(aksProps(`'podSubnetID':'`+vnet+`/subnets/nope'`))),
		"A421 other region":    {reason: "nodes live where their cluster does", id: more, body: subnet(net + "virtualNetworks/far/subnets/nodes"), want: InvalidResourceReference, text: "swedencentral"},
		"A421 identity":        bad(aksID, aksCluster(`{'identity':{'userAssignedIdentities':{'`+controlID+`2':{}}}}`)),
		"A421 kubelet":         bad(aksID, aksCluster(aksProps(`'identityProfile':{'kubeletidentity':{'resourceId':'`+kubeletID+`2'}}`))),
		"A421 zone":            bad(aksID, aksCluster(aksProps(`'apiServerAccessProfile':{'enablePrivateCluster':true,'privateDNSZone':'`+apiZone+`2'}`))),
		"A421 workspace":       bad(aksID, aksCluster(aksProps(`'securityProfile':{'defender':{'logAnalyticsWorkspaceResourceId':'`+ws+`2'}}`))),
		"A421 workspace there": {reason: "neighbour", id: aksID, body: aksCluster(aksProps(`'securityProfile':{'defender':{'logAnalyticsWorkspaceResourceId':'` + ws + `'}}`))},
	})
	inHub := strings.ReplaceAll(aksCluster(), vnet, foreign+"virtualNetworks/hub")
	_, a := Apply(aksLand(t), Op{Method: Put, ID: aksID, Body: j(t, inHub), Instant: true})
	assert.Nil(t, a.Error, "what is somebody else's is taken to exist")
}

// Before a cluster is made its identity may join the subnets (A423), hand out the
// nodes' identity (A424) and write to the caller's private zone (A425).
func TestAKSRoles(t *testing.T) {
	t.Parallel()
	land := aksLand(t)
	me := show(t, land, controlID).get("properties.principalId").text()
	const (
		join, hand, zoned = vnet + grants + "00000000-0000-4000-8000-000000000001", kubeletID + grants + "00000000-0000-4000-8000-000000000002", apiZone + grants + "00000000-0000-4000-8000-000000000003"
		custom            = sub + "/providers/Microsoft.Authorization/roleDefinitions/00000000-0000-4000-8000-000000000009"
	)
	without := func(id string) func(State) State { return func(s State) State { return gone(t, s, id) } }
	other := func(role string) []write { return []write{{join, grant(me, role)}} }
	role := func(actions, not string) write {
		return write{custom, `{'properties':{'roleName':'joins','assignableScopes':['` + sub + `'],'permissions':[{'actions':['` + actions + `'],'notActions':[` + not + `]}]}}`}
	}
	try(t, land, map[string]ruleCase{
		"A423 may join":         {reason: "neighbour", id: aksID, body: aksCluster()},
		"A423 no role":          {reason: "nodes join the subnet", id: aksID, body: aksCluster(), edit: without(join), want: LinkedAuthorizationFailed, text: "Network Contributor"},
		"A424 no role":          {reason: "nodes get the identity", id: aksID, body: aksCluster(), edit: without(hand), want: KubeletIdentityMissingPermission, text: "Managed Identity Operator"},
		"A424 no such identity": {reason: "AKS makes it", id: aksID, body: aksCluster(aksProps(`'identityProfile':null`)), edit: without(hand)},
		"A425 no role": {
			reason: "the API server is named there", id: aksID, want: PrivateDNSZoneMissingPermission, text: "Private DNS Zone Contributor",
			body: aksCluster(aksProps(`'apiServerAccessProfile':{'enablePrivateCluster':true,'privateDNSZone':'` + apiZone + `'}`)),
		},
		"A425 may write": {
			reason: "neighbour", id: aksID, before: []write{{zoned, grant(me, zoneContributor)}},
			body: aksCluster(aksProps(`'apiServerAccessProfile':{'enablePrivateCluster':true,'privateDNSZone':'` + apiZone + `'}`)),
		},
		"A423 later": {reason: "an update asks no more", id: aksID, body: aksCluster(), before: []write{{aksID, aksCluster()}}, edit: without(join)},
	})
	for name, c := range map[string]struct {
		before []write
		want   Code
	}{
		"reader":                 {other(plainReader), LinkedAuthorizationFailed},
		"custom role that may":   {append([]write{role("Microsoft.Network/*/subnets/join/action", "")}, other("/providers/Microsoft.Authorization/roleDefinitions/"+Name(custom))...), ""},
		"custom role that reads": {append([]write{role("Microsoft.Network/virtualNetworks/read", "")}, other("/providers/Microsoft.Authorization/roleDefinitions/"+Name(custom))...), LinkedAuthorizationFailed},
		"custom role with a gap": {append([]write{role("Microsoft.Network/*", `'Microsoft.Network/virtualNetworks/subnets/*'`)}, other("/providers/Microsoft.Authorization/roleDefinitions/"+Name(custom))...), LinkedAuthorizationFailed},
	} {
		s := gone(t, land, join)
		for _, w := range c.before {
			s = must(t, s, w.id, w.body)
		}
		_, a := Apply(s, Op{Method: Put, ID: aksID, Body: j(t, aksCluster()), Instant: true})
		if c.want == "" {
			assert.Nil(t, a.Error, name)
			continue
		}
		require.NotNil(t, a.Error, name)
		assert.Equal(t, c.want, a.Error.Code, name)
	}

	_, a := Apply(gone(t, aksWorld(t), join), Op{Method: Put, ID: gpuPool, Body: j(t, aksPool()), Instant: true})
	assert.Nil(t, a.Error, "an update of a pool asks no more either")

	// A new pool in a subnet that nobody thought of; and what a preview cannot know.
	const join2 = vnet + "/subnets/nodes" + grants + "00000000-0000-4000-8000-000000000004"
	narrow := must(t, must(t, gone(t, land, join), join2, grant(me, networkContributor)), aksID, aksCluster())
	_, a = Apply(narrow, Op{Method: Put, ID: gpuPool, Body: j(t, aksPool()), Instant: true})
	require.NotNil(t, a.Error)
	assert.Equal(t, LinkedAuthorizationFailed, a.Error.Code)
	assert.Equal(t, 403, a.Status)
	body := j(t, grant(me, networkContributor))
	object(body, "properties")["principalId"] = armtypes.Unknown{}
	narrow, a = Apply(narrow, Op{Method: Put, ID: vnet + "/subnets/gpus" + grants + "00000000-0000-4000-8000-000000000005", Body: body, Instant: true})
	require.Nil(t, a.Error)
	_, a = Apply(narrow, Op{Method: Put, ID: gpuPool, Body: j(t, aksPool()), Instant: true})
	assert.Nil(t, a.Error, "a principal that is not known yet may be the one")
}

// Actions and patterns are compared as Azure does.
func TestActionPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		want    bool
	}{
		{"*", true}, {"Microsoft.Network/*", true}, {"microsoft.network/virtualNetworks/SUBNETS/join/action", true}, {"Microsoft.Network/*/action", true}, {"*/join/action", true},
		{"Microsoft.Network/*/subnets/*/action", true}, {"", false}, {"Microsoft.Network", false}, {"Microsoft.Network/virtualNetworks/subnets/join", false}, {"*/read", false}, {"Microsoft.Compute/*", false},
		{"Microsoft.Network/*/peerings/*/action", false},
	} {
		assert.Equal(t, c.want, matches(c.pattern, joinSubnet), c.pattern)
	}
}
