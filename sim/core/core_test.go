package core

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"onedoor/internal/armtypes"
)

// A write is accepted at once, is visible as Creating, and ends when its time has come (A001, A002).
func TestWriteHasTwoPhases(t *testing.T) {
	t.Parallel()
	s := platform(t)
	id := net + "natGateways/new"
	s, a := Apply(s, Op{Method: Put, ID: id, Body: j(t, `{'location':'swedencentral','sku':{'name':'Standard'}}`)})
	if a.Status != http.StatusCreated || a.Operation == nil || a.Operation.End != 20*time.Second {
		t.Fatalf("PUT: %d %+v, want 201 and an operation of 20 s", a.Status, a.Operation)
	}
	state := func(s State) string {
		_, a := Apply(s, Op{Method: Get, ID: id})
		return root(a.Body).get("properties.provisioningState").text()
	}
	if got := state(Advance(s, 19*time.Second)); got != Creating {
		t.Errorf("after 19 s: %s, want Creating", got)
	}
	s = Advance(s, 20*time.Second)
	if got := state(s); got != Succeeded {
		t.Errorf("after 20 s: %s, want Succeeded", got)
	}
	s, a = Apply(s, Op{Method: Delete, ID: id})
	if a.Status != http.StatusAccepted || state(s) != Deleting {
		t.Errorf("DELETE: %d, state %s, want 202 and Deleting", a.Status, state(s))
	}
	if s = Settle(s); len(s.Operations) != 0 {
		t.Errorf("%d operations after Settle", len(s.Operations))
	}
	if _, ok := s.Find(id); ok {
		t.Error("the gateway is there after its deletion ended")
	}
}

// An operation that is to fail leaves a resource in state Failed; a failed deletion leaves it there.
func TestFailedOperationsLeaveTheResource(t *testing.T) {
	t.Parallel()
	fail := &Error{Code: Conflict, Message: "injected"}
	s, a := Apply(platform(t), Op{Method: Put, ID: net + "privateDnsZones/new.internal", Body: j(t, `{'location':'global'}`), Fail: fail})
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	s = Settle(s)
	if r, _ := s.Find(net + "privateDnsZones/new.internal"); r == nil || r.Provisioning != Failed {
		t.Errorf("after a failed creation: %+v, want Failed", r)
	}
	s, _ = Apply(s, Op{Method: Delete, ID: net + "privateDnsZones/lab.internal", Fail: fail})
	if r, _ := Settle(s).Find(net + "privateDnsZones/lab.internal"); r == nil || r.Provisioning != Failed {
		t.Errorf("after a failed deletion: %+v, want Failed", r)
	}
}

// A network takes one write at a time (A016); a parent that is being made takes no children (A004).
func TestWritesTakeTurns(t *testing.T) {
	t.Parallel()
	s := platform(t)
	subnet := func(s State, network, name, prefix string) (State, Answer) {
		return Apply(s, Op{Method: Put, ID: net + "virtualNetworks/" + network + "/subnets/" + name, Body: j(t, `{'properties':{'addressPrefix':'`+prefix+`'}}`)})
	}
	s, a := subnet(s, "vnet", "x", "10.0.10.0/24")
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	_, b := subnet(s, "vnet", "y", "10.0.11.0/24")
	if b.Error == nil || b.Error.Code != AnotherOperationInProgress || b.Status != http.StatusConflict || b.RetryAt != a.Operation.End {
		t.Errorf("second subnet: %v until %s, want AnotherOperationInProgress until %s", b.Error, b.RetryAt, a.Operation.End)
	}
	if _, b := subnet(s, "spoke", "y", "10.1.1.0/24"); b.Error != nil {
		t.Errorf("subnet of another network: %v", b.Error)
	}
	if _, b := Apply(s, Op{Method: Put, ID: vnet, Body: j(t, `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.0.0/16']}}}`)}); b.Error == nil || b.Error.Code != AnotherOperationInProgress {
		t.Errorf("write to the network itself: %v, want AnotherOperationInProgress", b.Error)
	}
	if _, b := Apply(s, Op{Method: Delete, ID: rg}); b.Error == nil || b.Error.Code != AnotherOperationInProgress {
		t.Errorf("deletion of the group: %v, want AnotherOperationInProgress", b.Error)
	}
	if _, b := Apply(s, Op{Method: Delete, ID: vnet + "/subnets/a"}); b.Error == nil || b.Error.Code != AnotherOperationInProgress {
		t.Errorf("deletion of another subnet: %v, want AnotherOperationInProgress", b.Error)
	}
	s = Settle(s)
	if _, b := subnet(s, "vnet", "y", "10.0.11.0/24"); b.Error != nil {
		t.Errorf("second subnet, later: %v", b.Error)
	}
	s, _ = Apply(s, Op{Method: Put, ID: net + "privateDnsZones/new.internal", Body: j(t, `{'location':'global'}`)})
	_, b = Apply(s, Op{Method: Put, ID: net + "privateDnsZones/new.internal/virtualNetworkLinks/l", Body: j(t, `{'location':'global','properties':{'virtualNetwork':{'id':'$netvirtualNetworks/spoke'}}}`)})
	if b.Error == nil || b.Error.Code != ReferencedResourceNotProvisioned {
		t.Errorf("link into a zone that is being made: %v, want ReferencedResourceNotProvisioned", b.Error)
	}
	_, b = Apply(s, Op{Method: Put, ID: vnet + "/subnets/y", Body: j(t, `{'properties':{'addressPrefix':'10.0.11.0/24'}}`)})
	if b.Error != nil {
		t.Fatal(b.Error)
	}
}

// What refers to a resource waits until it is ready (A004).
func TestReferenceWaitsForItsTarget(t *testing.T) {
	t.Parallel()
	s, _ := Apply(platform(t), Op{Method: Put, ID: net + "natGateways/new", Body: j(t, `{'location':'swedencentral','sku':{'name':'Standard'}}`)})
	op := Op{Method: Put, ID: vnet + "/subnets/x", Body: j(t, `{'properties':{'addressPrefix':'10.0.9.0/24','natGateway':{'id':'$netnatGateways/new'}}}`)}
	if _, a := Apply(s, op); a.Error == nil || a.Error.Code != ReferencedResourceNotProvisioned {
		t.Errorf("subnet with a gateway that is being made: %v, want ReferencedResourceNotProvisioned", a.Error)
	}
	if _, a := Apply(Settle(s), op); a.Error != nil {
		t.Errorf("later: %v", a.Error)
	}
}

// A group takes everything with it, in whatever use it is among itself (A008), and nothing new while it goes (A018).
func TestGroupDeletionTakesEverything(t *testing.T) {
	t.Parallel()
	s, a := Apply(platform(t), Op{Method: Delete, ID: strings.ToUpper(rg)})
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	_, b := Apply(s, Op{Method: Put, ID: net + "privateDnsZones/new.internal", Body: j(t, `{'location':'global'}`)})
	if b.Error == nil || b.Error.Code != ResourceGroupBeingDeleted {
		t.Errorf("write into a group that goes: %v, want ResourceGroupBeingDeleted", b.Error)
	}
	if s = Settle(s); len(s.Resources) != 0 {
		t.Errorf("%d resources left", len(s.Resources))
	}
	if _, b := Apply(s, Op{Method: Delete, ID: rg}); b.Status != http.StatusNoContent { // A017
		t.Errorf("second deletion: %d, want 204", b.Status)
	}
}

// A PUT replaces: what the body leaves out is gone, what Azure set stays (A007, A053).
func TestPutReplacesButKeepsWhatAzureSet(t *testing.T) {
	t.Parallel()
	s := must(t, platform(t), ws, `{'location':'swedencentral','tags':{'a':'b'},'properties':{'retentionInDays':60}}`)
	_, before := Apply(s, Op{Method: Get, ID: ws})
	s = must(t, s, ws, `{'location':'swedencentral'}`)
	_, after := Apply(s, Op{Method: Get, ID: ws})
	if after.Body["tags"] != nil {
		t.Errorf("tags %v are still there", after.Body["tags"])
	}
	if n, _ := root(after.Body).get("properties.retentionInDays").number(); n != 30 {
		t.Errorf("retention %v, want the default 30", n)
	}
	if a, b := root(before.Body).get("properties.customerId").text(), root(after.Body).get("properties.customerId").text(); a == "" || a != b {
		t.Errorf("customerId was %q, is %q, want the same", a, b)
	}
	s, a := Apply(s, Op{Method: Patch, ID: ws, Body: j(t, `{'tags':{'c':'d'}}`), Instant: true})
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	if n, _ := root(a.Body).get("properties.retentionInDays").number(); n != 30 || root(a.Body).get("tags.c").text() != "d" {
		t.Errorf("PATCH: %v, want the tag added and the rest kept", a.Body)
	}
	if _, a := Apply(s, Op{Method: Patch, ID: ws + "x", Body: map[string]any{}}); a.Status != http.StatusNotFound {
		t.Errorf("PATCH of nothing: %d, want 404", a.Status)
	}
}

// Answers are Azure's: canonical location and ids, defaults, views, its own order (A009, A010, A040, A041, A053, A064).
func TestAnswersAreAzures(t *testing.T) {
	t.Parallel()
	s := must(t, platform(t), strings.ToUpper(vnet)+"/subnets/Late", `{'properties':{'addressPrefix':'10.0.9.0/24','networkSecurityGroup':{'id':'`+strings.ToLower(net)+`networksecuritygroups/NSG'}}}`)
	s = must(t, s, net+"networkSecurityGroups/nsg", nsg(nsgRule("zz", 100), nsgRule("aa", 200)))
	s = must(t, s, vnet+"/virtualNetworkPeerings/spoke", `{'properties':{'remoteVirtualNetwork':{'id':'$netvirtualNetworks/spoke'}}}`)
	for _, c := range []struct{ id, path, want string }{
		{rg, "location", "swedencentral"},
		{vnet + "/subnets/late", "id", vnet + "/subnets/Late"},
		{vnet + "/subnets/late", "properties.networkSecurityGroup.id", net + "networkSecurityGroups/nsg"},
		{vnet + "/subnets/late", "properties.privateEndpointNetworkPolicies", "Disabled"},
		{vnet + "/virtualNetworkPeerings/spoke", "properties.peeringState", "Initiated"},
		{net + "privateDnsZones/corp.internal/virtualNetworkLinks/vnet", "properties.virtualNetworkLinkState", "Completed"},
		{app, "properties.provisioningState", "Succeeded"},
		{mon + "actionGroups/oncall", "location", "global"},
	} {
		_, a := Apply(s, Op{Method: Get, ID: c.id})
		if got := root(a.Body).get(c.path).text(); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.path, c.id, got, c.want)
		}
	}
	names := func(id, path string) string {
		_, a := Apply(s, Op{Method: Get, ID: id})
		var out []string
		for _, item := range root(a.Body).get(path).list() {
			out = append(out, item.get("name").text())
		}
		return strings.Join(out, " ")
	}
	if got := names(vnet, "properties.subnets"); got != "a endpoints Late" {
		t.Errorf("subnets of the network: %q", got)
	}
	if got := names(net+"networkSecurityGroups/nsg", "properties.securityRules"); got != "aa zz" {
		t.Errorf("security rules: %q, want them sorted", got)
	}
	if got := names(net+"networkSecurityGroups/nsg", "properties.defaultSecurityRules"); !strings.HasPrefix(got, "AllowVnetInBound") {
		t.Errorf("default rules: %q", got)
	}
	_, a := Apply(s, Op{Method: Get, ID: app})
	key, text := root(a.Body).get("properties.InstrumentationKey").text(), root(a.Body).get("properties.ConnectionString").text()
	if key == "" || !strings.Contains(text, "InstrumentationKey="+key+";IngestionEndpoint=https://swedencentral-") {
		t.Errorf("connection string %q with key %q", text, key)
	}
	_, a = Apply(s, Op{Method: Get, ID: net + "publicIPAddresses/ip"})
	if ip := root(a.Body).get("properties.ipAddress").text(); !strings.HasPrefix(ip, "198.51.100.") && !strings.HasPrefix(ip, "203.0.113.") {
		t.Errorf("address %q, want one for documentation", ip)
	}
	// The other half of a peering connects both.
	s = must(t, s, net+"virtualNetworks/spoke/virtualNetworkPeerings/vnet", `{'properties':{'remoteVirtualNetwork':{'id':'$vnet'}}}`)
	_, a = Apply(s, Op{Method: Get, ID: vnet + "/virtualNetworkPeerings/spoke"})
	if got := root(a.Body).get("properties.peeringState").text(); got != "Connected" {
		t.Errorf("peering %q, want Connected", got)
	}
}

// A type that Microsoft's data knows at another version is asked for by that version.
func TestUnknownVersionNamesThePinnedOne(t *testing.T) {
	t.Parallel()
	_, a := Apply(platform(t), Op{Method: Get, ID: vnet, APIVersion: "2099-01-01"})
	if a.Error == nil || a.Error.Code != InvalidAPIVersion || !strings.Contains(a.Error.Message, "2024-05-01") {
		t.Errorf("got %v, want InvalidApiVersionParameter and 2024-05-01", a.Error)
	}
}

// Every answer of a GET is a legal request body, so that what was read can be written back.
func TestAnswersCanBeWrittenBack(t *testing.T) {
	t.Parallel()
	s := platform(t)
	for _, key := range sortedKeys(s.Resources) {
		r := s.Resources[key]
		if _, a := Apply(s, Op{Method: Put, ID: r.ID, Body: s.Show(r), Instant: true}); a.Error != nil {
			t.Errorf("PUT of GET: %v", a.Error)
		}
	}
}

// A network without a list of subnets keeps them; a list replaces them, unless one is in use (A033).
func TestInlineSubnets(t *testing.T) {
	t.Parallel()
	const space = `'addressSpace':{'addressPrefixes':['10.0.0.0/16']}`
	s := must(t, platform(t), vnet, `{'location':'swedencentral','properties':{`+space+`}}`)
	if n := len(s.subnetsOf(vnet)); n != 2 {
		t.Errorf("%d subnets after a PUT without the list, want 2", n)
	}
	s = must(t, s, vnet, `{'location':'swedencentral','properties':{`+space+`,'subnets':[{'name':'endpoints','properties':{'addressPrefix':'10.0.2.0/24'}},{'name':'c','properties':{'addressPrefix':'10.0.3.0/24'}}]}}`)
	if n := len(s.subnetsOf(vnet)); n != 2 || s.Resources[Key(vnet+"/subnets/c")] == nil || s.Resources[Key(vnet+"/subnets/a")] != nil {
		t.Errorf("subnets %v, want endpoints and c", s.subnetsOf(vnet))
	}
	s = must(t, s, net+"privateEndpoints/pe", `{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/endpoints'}}}`)
	if _, a := Apply(s, Op{Method: Put, ID: vnet, Body: j(t, `{'location':'swedencentral','properties':{`+space+`,'subnets':[]}}`)}); a.Error == nil || a.Error.Code != InUseSubnet {
		t.Errorf("list without a subnet in use: %v, want InUseSubnetCannotBeDeleted", a.Error)
	}
}

// If-Match and If-None-Match protect (A011).
func TestEtags(t *testing.T) {
	t.Parallel()
	s := platform(t)
	r, _ := s.Find(ws)
	put := Op{Method: Put, ID: ws, Body: j(t, `{'location':'swedencentral'}`), Instant: true, IfMatch: r.Etag}
	s2, a := Apply(s, put)
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	if _, a := Apply(s2, put); a.Status != http.StatusPreconditionFailed {
		t.Errorf("old etag: %d, want 412", a.Status)
	}
	put.IfMatch, put.IfNoneMatch = "", "*"
	if _, a := Apply(s, put); a.Status != http.StatusPreconditionFailed {
		t.Errorf("If-None-Match * on an existing one: %d, want 412", a.Status)
	}
	put.ID, put.IfNoneMatch, put.IfMatch = ws+"2", "", "*"
	if _, a := Apply(s, put); a.Status != http.StatusPreconditionFailed {
		t.Errorf("If-Match * on none: %d, want 412", a.Status)
	}
}

// What is not there is 404, and the first thing that lacks is named.
func TestMissing(t *testing.T) {
	t.Parallel()
	nope := sub + "/resourceGroups/nope"
	for id, want := range map[string]Code{nope: ResourceGroupNotFound, nope + "/providers/Microsoft.Network/virtualNetworks/vnet": ResourceGroupNotFound, vnet + "2": ResourceNotFound} {
		if _, a := Apply(platform(t), Op{Method: Get, ID: id}); a.Error == nil || a.Error.Code != want || a.Status != http.StatusNotFound {
			t.Errorf("%s: %v, want %s", id, a.Error, want)
		}
	}
}

// Azure makes identities and addresses for what carries them (A100, A101).
func TestServiceMadeValues(t *testing.T) {
	t.Parallel()
	id := rg + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/worker"
	s := must(t, platform(t), id, `{'location':'swedencentral'}`)
	storage := rg + "/providers/Microsoft.Storage/storageAccounts/stone"
	s = must(t, s, storage, `{'location':'swedencentral','kind':'StorageV2','sku':{'name':'Standard_ZRS'},'identity':{'type':'SystemAssigned,UserAssigned','userAssignedIdentities':{'`+id+`':{}}}}`)
	get := func(id, path string) string {
		_, a := Apply(s, Op{Method: Get, ID: id})
		return root(a.Body).get(path).text()
	}
	principal := get(id, "properties.principalId")
	_, a := Apply(s, Op{Method: Get, ID: storage})
	assigned, _ := root(a.Body).get("identity.userAssignedIdentities").v.(map[string]any)
	if principal == "" || (value{assigned[id]}).get("principalId").text() != principal {
		t.Errorf("identity %q, on the account %v", principal, assigned)
	}
	if own := get(storage, "identity.principalId"); own == "" || own == principal {
		t.Errorf("the account's own identity is %q", own)
	}
	if got := get(storage, "properties.primaryEndpoints.blob"); got != "https://stone.blob.core.windows.net/" {
		t.Errorf("blob endpoint %q", got)
	}
	vault := rg + "/providers/Microsoft.KeyVault/vaults/vault1"
	s = must(t, s, vault, `{'location':'swedencentral','properties':{'tenantId':'`+tenant+`','sku':{'family':'A','name':'standard'},'accessPolicies':[]}}`)
	s = must(t, s, vault+"/secrets/key", `{'properties':{'value':'hunter2'}}`)
	if got := get(vault, "properties.vaultUri"); got != "https://vault1.vault.azure.net/" {
		t.Errorf("vault %q", got)
	}
	if got := get(vault+"/secrets/key", "properties.secretUri"); got != "https://vault1.vault.azure.net/secrets/key" || get(vault+"/secrets/key", "properties.value") != "" {
		t.Errorf("secret %q, value %q", got, get(vault+"/secrets/key", "properties.value"))
	}
	cluster := rg + "/providers/Microsoft.ContainerService/managedClusters/aks"
	s = must(t, s, cluster, `{'location':'swedencentral','identity':{'type':'SystemAssigned'},'properties':{'dnsPrefix':'aks','kubernetesVersion':'1.31','oidcIssuerProfile':{'enabled':true},'agentPoolProfiles':[{'name':'system','mode':'System','vmSize':'Standard_D4s_v5'}]}}`)
	if issuer := get(cluster, "properties.oidcIssuerProfile.issuerURL"); !strings.HasPrefix(issuer, "https://swedencentral.oic.prod-aks.azure.com/") {
		t.Errorf("issuer %q", issuer)
	}
	others := map[string][2]string{
		"Microsoft.ContainerRegistry/registries/onedoor1": {`{'location':'swedencentral','sku':{'name':'Premium'}}`, "properties.loginServer"},
		"Microsoft.ServiceBus/namespaces/onedoor-bus":     {`{'location':'swedencentral','sku':{'name':'Premium'}}`, "properties.serviceBusEndpoint"},
		"Microsoft.CognitiveServices/accounts/models-1":   {`{'location':'swedencentral','kind':'OpenAI','sku':{'name':'S0'},'properties':{'customSubDomainName':'models-1'}}`, "properties.endpoint"},
		"Microsoft.ApiManagement/service/gateway":         {`{'location':'swedencentral','sku':{'name':'Developer','capacity':1},'properties':{'publisherEmail':'a@example.org','publisherName':'a'}}`, "properties.gatewayUrl"},
		"Microsoft.Network/privateEndpoints/pe":           {`{'location':'swedencentral','properties':{'subnet':{'id':'$vnet/subnets/endpoints'},'privateLinkServiceConnections':[{'name':'c','properties':{'privateLinkServiceId':'` + storage + `','groupIds':['blob']}}]}}`, "properties.provisioningState"},
	}
	for _, name := range sortedKeys(others) {
		s = must(t, s, rg+"/providers/"+name, others[name][0])
		if got := get(rg+"/providers/"+name, others[name][1]); got == "" {
			t.Errorf("%s has no %s", name, others[name][1])
		}
	}
	// All of it is what the types know.
	for _, key := range sortedKeys(s.Resources) {
		r := s.Resources[key]
		body := s.Show(r)
		if isType(r.Type, "microsoft.keyvault/vaults/secrets") {
			body["properties"].(map[string]any)["value"] = "again"
		}
		if _, a := Apply(s, Op{Method: Put, ID: r.ID, Body: body, Instant: true}); a.Error != nil {
			t.Errorf("PUT of GET: %v", a.Error)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	s := platform(t)
	for id, want := range map[string]int{vnet + "/subnets": 2, sub + "/resourceGroups": 1, net + "virtualNetworks": 3, net + "privateDnsZones/lab.internal/virtualNetworkLinks": 0} {
		if _, a := Apply(s, Op{Method: List, ID: id}); a.Error != nil || len(a.Items) != want {
			t.Errorf("list of %s: %d items, %v, want %d", id, len(a.Items), a.Error, want)
		}
	}
	if _, a := Apply(s, Op{Method: List, ID: net + "virtualNetworks/nope/subnets"}); a.Status != http.StatusNotFound {
		t.Errorf("list in a network that is not there: %d, want 404", a.Status)
	}
}

// A deleted workspace comes back by its name with its old id, in its region only, for 14 days (A052).
func TestWorkspaceIsSoftDeleted(t *testing.T) {
	t.Parallel()
	s := platform(t)
	id := func(s State) string {
		_, a := Apply(s, Op{Method: Get, ID: ws})
		return root(a.Body).get("properties.customerId").text()
	}
	first := id(s)
	s, _ = Apply(s, Op{Method: Delete, ID: ws})
	s = Settle(s)
	if _, a := Apply(s, Op{Method: Put, ID: ws, Body: j(t, `{'location':'westeurope'}`)}); a.Error == nil || a.Error.Code != Conflict {
		t.Errorf("elsewhere: %v, want Conflict", a.Error)
	}
	if got := id(must(t, s, ws, `{'location':'swedencentral'}`)); got != first {
		t.Errorf("recovered id %q, want the old %q", got, first)
	}
	late := Advance(s, s.Now+15*24*time.Hour)
	if got := id(must(t, late, ws, `{'location':'westeurope'}`)); got == first {
		t.Error("after 15 days the workspace is another one, but has the old id")
	}
}

// Azure adds a smart detector rule ten minutes after a component, unless there is one (A061).
func TestFailureAnomaliesAppear(t *testing.T) {
	t.Parallel()
	s := platform(t)
	s = Advance(s, s.Now+11*time.Minute)
	if n := len(s.Resources); n != 18 {
		t.Errorf("%d resources, want 18: a rule was there already", n)
	}
	bare := must(t, platform(t), mon+"components/bare", `{'location':'swedencentral','kind':'web','properties':{'Application_Type':'web','WorkspaceResourceId':'$ws'}}`)
	name := rg + "/providers/Microsoft.AlertsManagement/smartDetectorAlertRules/Failure Anomalies - bare"
	if _, ok := Advance(bare, bare.Now+9*time.Minute).Find(name); ok {
		t.Error("the rule is there after 9 minutes")
	}
	bare = Advance(bare, bare.Now+10*time.Minute)
	if r, ok := bare.Find(name); !ok || !r.ByAzure {
		t.Error("no rule after 10 minutes")
	}
	if r, ok := bare.Find(mon + "actionGroups/Application Insights Smart Detection"); !ok || !r.ByAzure {
		t.Error("no action group after 10 minutes")
	}
}

// A resource made again under its old id is another one (A012).
func TestRebornResourceHasNewIDs(t *testing.T) {
	t.Parallel()
	s := platform(t)
	guid := func(s State) string {
		_, a := Apply(s, Op{Method: Get, ID: net + "publicIPAddresses/spare"})
		return root(a.Body).get("properties.resourceGuid").text()
	}
	first := guid(s)
	s, _ = Apply(s, Op{Method: Delete, ID: net + "publicIPAddresses/spare"})
	s = must(t, Settle(s), net+"publicIPAddresses/spare", `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'publicIPAllocationMethod':'Static'}}`)
	if again := guid(s); first == "" || first == again {
		t.Errorf("resourceGuid %q, then %q", first, again)
	}
}

// A seeded network gives its space to the subnets made in it (A014).
func TestSeededNetworkHasASpace(t *testing.T) {
	t.Parallel()
	hub := sub + "/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub"
	s := Seed(platform(t), Resource{ID: hub, Body: j(t, `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.7.0.0/16']}}}`)})
	if _, a := Apply(s, Op{Method: Put, ID: hub + "/subnets/a", Body: j(t, `{'properties':{'addressPrefix':'10.8.0.0/24'}}`)}); a.Error == nil || a.Error.Code != NetcfgInvalidSubnet {
		t.Errorf("outside of the seeded space: %v, want NetcfgInvalidSubnet", a.Error)
	}
	s = must(t, s, hub+"/subnets/a", `{'properties':{'addressPrefix':'10.7.0.0/24'}}`)
	if _, a := Apply(s, Op{Method: Put, ID: hub + "/subnets/b", Body: j(t, `{'properties':{'addressPrefix':'10.7.0.0/25'}}`)}); a.Error == nil || a.Error.Code != NetcfgSubnetRangesOverlap {
		t.Errorf("over a sibling: %v, want NetcfgSubnetRangesOverlap", a.Error)
	}
	if _, a := Apply(s, Op{Method: Get, ID: hub}); a.Status != http.StatusOK {
		t.Errorf("GET of a seeded network: %d", a.Status)
	}
}

// Values that a preview does not know are not judged, and come back unknown.
func TestUnknownsAreNotJudged(t *testing.T) {
	t.Parallel()
	var u armtypes.Unknown
	for id, body := range map[string]map[string]any{
		vnet + "/subnets/x":                {"properties": map[string]any{"addressPrefix": u, "networkSecurityGroup": map[string]any{"id": u}, "delegations": u}},
		vnet + "/subnets/y":                {"properties": map[string]any{"addressPrefix": "10.0.9.0/24", "networkSecurityGroup": u, "natGateway": u}},
		net + "networkSecurityGroups/x":    {"location": u, "properties": map[string]any{"securityRules": u}},
		net + "publicIPAddresses/x":        {"location": "swedencentral", "sku": u, "zones": u, "properties": map[string]any{"publicIPAllocationMethod": u}},
		net + "natGateways/x":              {"location": "swedencentral", "sku": map[string]any{"name": u}, "zones": []any{u}, "properties": map[string]any{"publicIpAddresses": []any{map[string]any{"id": u}}}},
		net + "virtualNetworks/xx":         {"location": "swedencentral", "tags": u, "properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{u}}, "subnets": u}},
		vnet + "/virtualNetworkPeerings/x": {"properties": map[string]any{"remoteVirtualNetwork": map[string]any{"id": u}}},
		ws:                                 {"location": "swedencentral", "properties": map[string]any{"retentionInDays": u, "sku": u, "features": u, "workspaceCapping": u}},
		app:                                {"location": "swedencentral", "kind": "web", "properties": map[string]any{"Application_Type": "web", "WorkspaceResourceId": u}},
		mon + "actionGroups/x":             {"location": u, "properties": map[string]any{"enabled": true, "groupShortName": u, "emailReceivers": []any{map[string]any{"name": u, "emailAddress": u}}}},
		anomalies:                          {"location": "global", "properties": map[string]any{"state": "Enabled", "severity": "Sev3", "frequency": u, "detector": u, "scope": []any{u}, "actionGroups": u}},
		net + "routeTables/x":              {"location": "swedencentral", "properties": map[string]any{"routes": []any{map[string]any{"name": "r", "properties": map[string]any{"addressPrefix": u, "nextHopType": u}}}}},
		net + "privateDnsZones/lab.internal/virtualNetworkLinks/x": {"location": "global", "properties": map[string]any{"registrationEnabled": u, "virtualNetwork": u}},
	} {
		if _, a := Apply(platform(t), Op{Method: Put, ID: id, Body: body, Instant: true}); a.Error != nil {
			t.Errorf("%s: %v", id, a.Error)
		}
	}
}

// Apply and Advance leave their argument as it was, whatever they do.
func TestApplyDoesNotChangeItsArgument(t *testing.T) {
	t.Parallel()
	s := platform(t)
	s, _ = Apply(s, Op{Method: Put, ID: net + "natGateways/running", Body: j(t, `{'location':'swedencentral','sku':{'name':'Standard'}}`)})
	dump := func(s State) string {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := dump(s)
	body := j(t, `{'location':'SWEDEN central','properties':{'addressSpace':{'addressPrefixes':['10.0.0.0/16']},'subnets':[{'name':'b','properties':{'addressPrefix':'10.0.3.0/24'}}]}}`)
	kept := copyBody(body)
	for _, op := range []Op{
		{Method: Put, ID: vnet, Body: body}, {Method: Put, ID: vnet, Body: body, Instant: true}, {Method: Put, ID: vnet + "/subnets/a", Body: j(t, `{'properties':{'addressPrefix':'10.0.1.0/24'}}`)},
		{Method: Patch, ID: ws, Body: j(t, `{'tags':{'a':'b'}}`)}, {Method: Delete, ID: ws}, {Method: Delete, ID: rg, Instant: true, TypesOnly: true},
		{Method: Get, ID: vnet}, {Method: List, ID: vnet + "/subnets"}, {Method: Put, ID: vnet, Body: j(t, `{}`)},
	} {
		next, _ := Apply(s, op)
		Settle(next)
		Advance(next, next.Now+time.Hour)
		Seed(next, Resource{ID: vnet})
		if dump(s) != before {
			t.Fatalf("%s %s changed the state it was given", op.Method, op.ID)
		}
	}
	if !reflect.DeepEqual(body, kept) {
		t.Error("Apply changed the body it was given")
	}
	// An answer shares nothing with the state.
	_, a := Apply(s, Op{Method: Get, ID: vnet})
	object(a.Body, "properties")["addressSpace"] = nil
	root(a.Body).get("properties.subnets").list()[0].v.(map[string]any)["name"] = "gone"
	if dump(s) != before {
		t.Error("changing an answer changed the state")
	}
}

// The same operations give the same bytes; independent ones may come in any order.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	ops := []Op{
		{Method: Put, ID: ws + "2", Body: j(t, `{'location':'swedencentral'}`)},
		{Method: Put, ID: net + "privateDnsZones/x.internal", Body: j(t, `{'location':'global'}`)},
		{Method: Put, ID: net + "publicIPAddresses/x", Body: j(t, `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'publicIPAllocationMethod':'Static'}}`)},
		{Method: Delete, ID: net + "virtualNetworks/clash"},
	}
	run := func(order ...int) (all, resources string) {
		s := platform(t)
		for _, i := range order {
			next, a := Apply(s, ops[i])
			if a.Error != nil {
				t.Fatal(a.Error)
			}
			s = next
		}
		s = Settle(s)
		a, _ := json.Marshal(s)
		b, _ := json.Marshal(s.Resources)
		return string(a), string(b)
	}
	all, resources := run(0, 1, 2, 3)
	if again, _ := run(0, 1, 2, 3); again != all {
		t.Error("the same operations gave another state")
	}
	for _, order := range [][]int{{3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}} {
		if _, other := run(order...); other != resources {
			t.Errorf("order %v gave other resources", order)
		}
	}
}

// Every code has a status, and no status is without a code.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	for code, status := range statuses {
		if status < 400 || status > 499 {
			t.Errorf("%s has status %d", code, status)
		}
		if (&Error{Code: code}).Status() != status {
			t.Errorf("Status of %s is not %d", code, status)
		}
	}
}

// No body makes Apply panic.
func FuzzApply(f *testing.F) {
	f.Add(vnet, `{"location":"x","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]},"subnets":[{"name":"a"}]}}`)
	f.Add(vnet+"/subnets/x", `{"properties":{"addressPrefix":"10.0.9.0/24","delegations":[null,{"name":"x"}]}}`)
	f.Add(net+"networkSecurityGroups/x", `{"location":"swedencentral","properties":{"securityRules":[{},{"name":"a","properties":null}]}}`)
	f.Add(ws, `{"location":"x","properties":null}`)
	f.Add(anomalies, `{"properties":{"frequency":"P","detector":{"id":"x"}}}`)
	f.Add(rg+"/providers/Microsoft.ContainerService/managedClusters/aks", `{"location":"x","identity":{"type":"SystemAssigned"},"properties":{"dnsPrefix":"a","oidcIssuerProfile":{"enabled":true},"agentPoolProfiles":[{"name":"system","mode":"System"},null,{"name":"x","count":"1","nodeLabels":[]}]}}`)
	f.Add(rg+"/providers/Microsoft.Storage/storageAccounts/stone", `{"location":"x","kind":"StorageV2","sku":{"name":"Standard_LRS"},"identity":{"type":"None","userAssignedIdentities":null}}`)
	s := platform(f)
	f.Fuzz(func(t *testing.T, id, text string) {
		var body map[string]any
		if json.Unmarshal([]byte(text), &body) != nil {
			return
		}
		for _, only := range []bool{false, true} {
			if next, a := Apply(s, Op{Method: Put, ID: id, Body: body, TypesOnly: only}); a.Error == nil {
				Settle(next)
			}
		}
	})
}

func BenchmarkApplySubnetIn300(b *testing.B) {
	s := platform(b)
	for i := range 280 {
		s = must(b, s, net+"publicIPAddresses/b"+string(rune('a'+i/26))+string(rune('a'+i%26)), `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'publicIPAllocationMethod':'Static'}}`)
	}
	op := Op{Method: Put, ID: vnet + "/subnets/x", Body: j(b, `{'properties':{'addressPrefix':'10.0.9.0/24','networkSecurityGroup':{'id':'$netnetworkSecurityGroups/nsg'}}}`), Instant: true}
	for b.Loop() {
		if _, a := Apply(s, op); a.Error != nil {
			b.Fatal(a.Error)
		}
	}
}
