package sim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"onedoor/sim/core"
)

const (
	busPkg     = "azure-native:servicebus/v20240101:"
	storagePkg = "azure-native:storage/v20240101:"

	busID     = groupID + "/providers/Microsoft.ServiceBus/namespaces/onedoor-bus"
	accountID = groupID + "/providers/Microsoft.Storage/storageAccounts/stone"
)

func inBus(more m) m {
	return with(m{"resourceGroupName": "rg", "namespaceName": "onedoor-bus"}, more)
}

func inAccount(more m) m {
	return with(m{"resourceGroupName": "rg", "accountName": "stone"}, more)
}

var (
	namespaceIn    = inBus(m{"sku": m{"name": "Premium", "tier": "Premium", "capacity": 1.0}, "publicNetworkAccess": "Disabled", "disableLocalAuth": true})
	ruleSetIn      = inBus(m{"defaultAction": "Deny", "publicNetworkAccess": "Disabled", "trustedServiceAccessEnabled": true})
	queueIn        = inBus(m{"queueName": "jobs", "requiresDuplicateDetection": true, "lockDuration": "PT1M"})
	topicIn        = inBus(m{"topicName": "ingest"})
	subscriptionIn = inBus(m{"topicName": "ingest", "subscriptionName": "jobs", "forwardTo": "jobs"})
	filterIn       = inBus(m{"topicName": "ingest", "subscriptionName": "jobs", "ruleName": "mine", "filterType": "CorrelationFilter", "correlationFilter": m{"contentType": "a/b"}})
	authIn         = inBus(m{"queueName": "jobs", "authorizationRuleName": "all", "rights": list("Send", "Manage", "Listen")})
	accountIn      = inAccount(m{"kind": "StorageV2", "sku": m{"name": "Standard_ZRS"}, "allowSharedKeyAccess": false, "networkRuleSet": m{"defaultAction": "Deny", "bypass": "None"}})
	blobsIn        = inAccount(m{"blobServicesName": "default", "isVersioningEnabled": true, "deleteRetentionPolicy": m{"enabled": true, "days": 7.0}})
	tablesIn       = inAccount(m{"tableServiceName": "default"})
	containerIn    = inAccount(m{"containerName": "payloads"})
	tableIn        = inAccount(m{"tableName": "ledger"})
	policyIn       = inAccount(m{"managementPolicyName": "default", "policy": m{"rules": list(m{
		"name": "expire", "type": "Lifecycle", "definition": m{
			"filters": m{"blobTypes": list("blockBlob"), "prefixMatch": list("payloads/")},
			"actions": m{"baseBlob": m{"delete": m{"daysAfterModificationGreaterThan": 7.0}}},
		},
	})}})
	busEndpointIn = m{
		"resourceGroupName": "rg", "privateEndpointName": "bus", "subnet": id(vnetID + "/subnets/endpoints"),
		"privateLinkServiceConnections": list(m{"name": "bus", "privateLinkServiceId": busID, "groupIds": list("namespace")}),
	}
	blobEndpointIn = m{
		"resourceGroupName": "rg", "privateEndpointName": "blob", "subnet": id(vnetID + "/subnets/endpoints"),
		"privateLinkServiceConnections": list(m{"name": "blob", "privateLinkServiceId": accountID, "groupIds": list("blob")}),
	}
)

// messaging lists a bus and an account with all that is in them, in an order in
// which they can be made.
func messaging() []declared {
	return []declared{
		{groupToken, "group", groupIn, nil},
		{vnetToken, "vnet", vnetIn, nil},
		{subnetToken, "endpoints", m{"resourceGroupName": "rg", "virtualNetworkName": "vnet", "subnetName": "endpoints", "addressPrefix": "10.0.2.0/24"}, nil},
		{busPkg + "Namespace", "bus", namespaceIn, m{"sku": m{"name": "Premium", "tier": "Premium", "capacity": 2.0}}},
		{busPkg + "NamespaceNetworkRuleSet", "bus-rules", ruleSetIn, m{"trustedServiceAccessEnabled": false}},
		{busPkg + "Queue", "jobs", queueIn, m{"maxDeliveryCount": 3.0}},
		{busPkg + "QueueAuthorizationRule", "jobs-all", authIn, m{"rights": list("Listen")}},
		{busPkg + "Topic", "ingest", topicIn, m{"maxSizeInMegabytes": 5120.0}},
		{busPkg + "Subscription", "ingest-jobs", subscriptionIn, m{"maxDeliveryCount": 3.0}},
		{busPkg + "Rule", "ingest-jobs-rule", filterIn, m{"correlationFilter": m{"contentType": "c/d"}}},
		{storagePkg + "StorageAccount", "account", accountIn, m{"allowSharedKeyAccess": true}},
		{storagePkg + "BlobServiceProperties", "blobs", blobsIn, m{"isVersioningEnabled": false}},
		{storagePkg + "TableServiceProperties", "tables", tablesIn, m{"cors": m{"corsRules": list()}}},
		{storagePkg + "BlobContainer", "payloads", containerIn, m{"metadata": m{"owner": "me"}}},
		{storagePkg + "Table", "ledger", tableIn, nil},
		{storagePkg + "ManagementPolicy", "lifecycle", policyIn, m{"policy": m{"rules": list()}}},
		{"azure-native:network/v20240501:PrivateEndpoint", "bus-endpoint", busEndpointIn, nil},
		{"azure-native:network/v20240501:PrivateEndpoint", "blob-endpoint", blobEndpointIn, nil},
	}
}

// A bus and an account go through their life: what Azure answers beyond the
// inputs makes no difference, neither at once nor after endpoints were made (A072,
// A205, A228, A247, A257), and every one but the singletons (A209) goes.
func TestBusAndStorageLifeCycle(t *testing.T) {
	t.Parallel()
	e := open(t)
	var made []*made
	for _, d := range messaging() {
		e.configure()
		e.mustPreview(d.token, d.name, d.in)
		r := e.mustCreate(d.token, d.name, d.in)
		if got := e.read(r); r.in.Diff(got.in) != nil || r.outputs.Diff(got.outputs) != nil {
			t.Errorf("%s: read after create changes inputs %v, outputs %v", d.name, r.in.Diff(got.in), r.outputs.Diff(got.outputs))
		}
		made = append(made, r)
	}
	for i, d := range messaging() {
		read := e.read(made[i])
		if got := e.diff(read, made[i].in); got.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
			t.Errorf("%s: after a refresh: %v", d.name, got)
		}
		if shown := read.outputs["privateEndpointConnections"]; (d.name == "bus" || d.name == "account") && (!shown.IsArray() || len(shown.ArrayValue()) != 1) {
			t.Errorf("%s: shows endpoints %v, want one", d.name, shown)
		}
		if d.change == nil {
			continue
		}
		next := props(with(d.in, d.change))
		if v := made[i].in["location"]; !v.IsNull() {
			next["location"] = v
		}
		if got := e.diff(read, next); got.GetChanges() != pulumirpc.DiffResponse_DIFF_SOME || len(got.GetReplaces()) > 0 {
			t.Errorf("%s: change %v: %v", d.name, d.change, got)
		}
		updated, err := e.update(read, next, false)
		if err != nil {
			t.Errorf("%s: update: %v", d.name, err)
			continue
		}
		if got := e.diff(e.read(updated), next); got.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
			t.Errorf("%s: after update and refresh: %v", d.name, got)
		}
		if made[i], err = e.update(updated, made[i].in, false); err != nil {
			t.Fatalf("%s: update back: %v", d.name, err)
		}
	}
	for i, r := range slices.Backward(made) {
		name := messaging()[i].name
		if name == "bus-rules" {
			continue // see TestSingletonsAreReset
		}
		if err := e.delete(r); err != nil {
			t.Errorf("%s: delete: %v", name, err)
		}
		if left := e.read(r).id != ""; left != (name == "blobs" || name == "tables") {
			t.Errorf("%s: after the deletion: there %v", name, left)
		}
	}
}

// Singletons are created although they exist, and instead of being deleted get a
// state that azure-native takes for the default (A270). For a rule set that is
// one that Azure refuses: a destroy fails.
func TestSingletonsAreReset(t *testing.T) {
	t.Parallel()
	e := open(t)
	all := map[string]*made{}
	for _, d := range messaging()[:14] {
		all[d.name] = e.mustCreate(d.token, d.name, d.in)
	}
	if err := e.delete(all["blobs"]); err != nil {
		t.Fatal(err)
	}
	read := e.read(all["blobs"])
	if v := read.outputs["isVersioningEnabled"]; read.id == "" || !v.IsNull() {
		t.Errorf("after the deletion: id %q, versioning %v", read.id, v)
	}
	err := e.delete(all["bus-rules"])
	if err == nil || !strings.Contains(err.Error(), string(core.InvalidNetworkRuleSetUpdate)) {
		t.Errorf("deletion of the rule set: %v, want %s", err, core.InvalidNetworkRuleSetUpdate)
	}
	if err := e.delete(all["bus"]); err != nil {
		t.Errorf("deletion of the namespace: %v", err)
	}
	if e.read(all["bus-rules"]).id != "" || e.read(all["jobs"]).id != "" {
		t.Error("something of the namespace is left")
	}
}

// What azure-native replaces, and what it updates although Azure refuses it
// (A223, A204, A243): the preview of an update says so too.
func TestBusAndStorageReplacements(t *testing.T) {
	t.Parallel()
	e := open(t)
	all := map[string]*made{}
	for _, d := range messaging()[:14] {
		all[d.name] = e.mustCreate(d.token, d.name, d.in)
	}
	for name, c := range map[string]struct { //nolint:paralleltest // they share an engine
		of     string
		change m
		want   core.Code // "" for a replacement
	}{
		"duplicates of a queue":      {of: "jobs", change: m{"requiresDuplicateDetection": false}},
		"sessions of a queue":        {of: "jobs", change: m{"requiresSession": true}},
		"partitions of a topic":      {of: "ingest", change: m{"enablePartitioning": true}},
		"name of a topic":            {of: "ingest", change: m{"topicName": "other"}},
		"tree of an account":         {of: "account", change: m{"isHnsEnabled": false}},
		"sessions of a subscription": {of: "ingest-jobs", change: m{"requiresSession": true, "forwardTo": nil}, want: core.MessagingGatewayBadRequest},
		"tier of a namespace":        {of: "bus", change: m{"sku": m{"name": "Standard", "tier": "Standard"}}, want: core.BadRequest},
		"kind of an account":         {of: "account", change: m{"kind": "BlobStorage", "sku": m{"name": "Standard_LRS"}}, want: core.AccountPropertyNotUpdated},
		"immutability of a container": {
			of: "payloads", change: m{"immutableStorageWithVersioning": m{"enabled": true}}, want: core.ContainerOperationFailure,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e.t = t
			e.configure() // a run of its own
			r := all[c.of]
			next := r.in.Copy()
			for k, v := range c.change {
				next[resource.PropertyKey(k)] = resource.NewPropertyValue(v)
				if v == nil {
					delete(next, resource.PropertyKey(k))
				}
			}
			d := e.diff(r, next)
			if replaced := len(d.GetReplaces()) > 0; replaced != (c.want == "") {
				t.Errorf("replaces %v", d.GetReplaces())
			}
			if c.want == "" {
				return
			}
			for _, preview := range []bool{true, false} {
				if _, err := e.update(r, next, preview); err == nil || !strings.Contains(err.Error(), string(c.want)) {
					t.Errorf("update (preview %v): %v, want %s", preview, err, c.want)
				}
			}
		})
	}
}

// A program cannot create the rule that Azure has made (A230): it is there.
func TestDefaultRuleIsTaken(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, d := range messaging()[:9] {
		e.mustCreate(d.token, d.name, d.in)
	}
	own := with(filterIn, m{"ruleName": "$Default"})
	if _, err := e.create(busPkg+"Rule", "default", props(own), false); err == nil || !strings.Contains(err.Error(), "already existing") {
		t.Errorf("creation of $Default: %v", err)
	}
	e.mustCreate(busPkg+"Rule", "mine", filterIn)
	e.mustCreate(busPkg+"Rule", "default", own)
}
