package sim_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"onedoor/sim"
	"onedoor/sim/core"
)

const (
	identityToken   = "azure-native:managedidentity/v20230131:UserAssignedIdentity"
	credentialToken = "azure-native:managedidentity/v20230131:FederatedIdentityCredential"
	assignmentToken = "azure-native:authorization/v20220401:RoleAssignment"
	definitionToken = "azure-native:authorization/v20220501preview:RoleDefinition"
	vaultToken      = "azure-native:keyvault/v20230701:Vault"
	secretToken     = "azure-native:keyvault/v20230701:Secret"
	registryToken   = "azure-native:containerregistry/v20230701:Registry"
	cacheToken      = "azure-native:containerregistry/v20230701:CacheRule"
	endpointToken   = "azure-native:network/v20240501:PrivateEndpoint"
	zoneGroupToken  = "azure-native:network/v20240501:PrivateDnsZoneGroup"

	roleGUID  = "11111111-aaaa-4bbb-8ccc-dddddddddddd"
	grantGUID = "22222222-aaaa-4bbb-8ccc-dddddddddddd"
	vaultID   = groupID + "/providers/Microsoft.KeyVault/vaults/kv-1"
	blobRole  = "/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleDefinitions/ba92f5b4-2d11-453d-a403-e96b0029c9fe"
)

var (
	identityIn   = m{"resourceGroupName": "rg", "resourceName": "worker"}
	credentialIn = m{"resourceGroupName": "rg", "resourceName": "worker", "federatedIdentityCredentialResourceName": "fic", "issuer": "https://oidc.example/a/", "subject": "system:serviceaccount:ns:app", "audiences": list("api://AzureADTokenExchange")}
	definitionIn = m{"roleDefinitionId": roleGUID, "scope": groupID, "roleName": "mine", "roleType": "CustomRole", "assignableScopes": list(groupID), "permissions": list(m{"actions": list(), "dataActions": list("Microsoft.CognitiveServices/accounts/OpenAI/responses/write")})}
	vaultIn      = m{"resourceGroupName": "rg", "vaultName": "kv-1", "properties": m{"tenantId": roleGUID, "sku": m{"family": "A", "name": "standard"}, "enableRbacAuthorization": true, "networkAcls": m{"defaultAction": "Deny"}}}
	secretIn     = m{"resourceGroupName": "rg", "vaultName": "kv-1", "secretName": "s", "properties": m{"value": "v"}}
	registryIn   = m{"resourceGroupName": "rg", "registryName": "images", "sku": m{"name": "Premium"}, "dataEndpointEnabled": true, "policies": m{"retentionPolicy": m{"status": "enabled"}}}
	plainIn      = m{"resourceGroupName": "rg", "registryName": "plain", "sku": m{"name": "Basic"}}
	cacheIn      = m{"resourceGroupName": "rg", "registryName": "images", "cacheRuleName": "first", "sourceRepository": "docker.io/library/a", "targetRepository": "a"}
	vaultZoneIn  = m{"resourceGroupName": "rg", "privateZoneName": "privatelink.vaultcore.azure.net", "location": "global"}
	endpointIn   = m{"resourceGroupName": "rg", "privateEndpointName": "pe", "subnet": id(vnetID + "/subnets/a"), "privateLinkServiceConnections": list(m{"name": "c", "privateLinkServiceId": vaultID, "groupIds": list("vault")})}
	zoneGroupIn  = m{"resourceGroupName": "rg", "privateEndpointName": "pe", "privateDnsZoneGroupName": "default", "privateDnsZoneConfigs": list(m{"name": "vault", "privateDnsZoneId": netID + "privateDnsZones/privatelink.vaultcore.azure.net"})}
)

func assignmentIn(principal any) m {
	return m{"roleAssignmentName": grantGUID, "scope": groupID, "principalId": principal, "principalType": "ServicePrincipal", "roleDefinitionId": blobRole}
}

// groupWith is a group with a worker identity.
func groupWith(t testing.TB, opts ...sim.Option) (e *engine, principal string) {
	t.Helper()
	e = open(t, opts...)
	e.mustCreate(groupToken, "group", groupIn)
	worker := e.mustCreate(identityToken, "worker", identityIn)
	return e, worker.outputs["principalId"].StringValue()
}

// What Azure adds, also later and because of others, is no change of the
// program: a refresh finds nothing, and the next preview neither (A307, A327,
// A335, A344, A345, A347).
func TestAccessHasNoDiffAfterRefresh(t *testing.T) {
	t.Parallel()
	e, principal := groupWith(t)
	programs := []struct {
		token, name string
		in          m
	}{
		{vnetToken, "vnet", vnetIn}, {subnetToken, "subnet", m{"resourceGroupName": "rg", "virtualNetworkName": "vnet", "subnetName": "a", "addressPrefix": "10.0.1.0/24"}},
		{zoneToken, "zone", vaultZoneIn}, {credentialToken, "credential", credentialIn}, {definitionToken, "definition", definitionIn},
		{assignmentToken, "assignment", assignmentIn(principal)}, {vaultToken, "vault", vaultIn}, {secretToken, "secret", secretIn},
		{registryToken, "registry", registryIn}, {registryToken, "plain", plainIn}, {cacheToken, "cache", cacheIn},
		{endpointToken, "endpoint", endpointIn}, {zoneGroupToken, "group-dns", zoneGroupIn},
	}
	var all []*made
	for _, p := range programs {
		all = append(all, e.mustCreate(p.token, p.name, p.in))
	}
	for i, r := range all {
		read := e.read(r)
		if d := e.diff(&made{id: r.id, urn: r.urn, in: read.in, outputs: read.outputs}, r.in); d.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
			t.Errorf("%s: after a refresh the program differs in %v", programs[i].name, d.GetDetailedDiff())
		}
		updated, err := e.update(read, r.in, false)
		if err != nil {
			t.Errorf("%s: the same again: %v", programs[i].name, err)
			continue
		}
		if d := e.diff(e.read(updated), r.in); d.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
			t.Errorf("%s: after an update and a refresh the program differs in %v", programs[i].name, d.GetDetailedDiff())
		}
		imported := e.read(&made{id: r.id, urn: r.urn})
		if imported.id == "" || len(imported.in) == 0 {
			t.Errorf("%s: import finds nothing", programs[i].name)
		}
	}
	records, ok := e.cloud.State().Find(netID + "privateDnsZones/privatelink.vaultcore.azure.net/A/kv-1")
	if !ok || !records.ByAzure {
		t.Error("the zone has no record of the endpoint")
	}
}

// azure-native replaces an assignment for another principal, scope or name; for
// another role it updates, which Azure refuses (A305, A318).
func TestAssignmentDiff(t *testing.T) {
	t.Parallel()
	e, principal := groupWith(t)
	r := e.mustCreate(assignmentToken, "grant", assignmentIn(principal))
	for name, c := range map[string]struct {
		key, to string
		replace bool
	}{
		"principal":   {"principalId", roleGUID, true},
		"scope":       {"scope", vnetID, true},
		"name":        {"roleAssignmentName", roleGUID, true},
		"role":        {"roleDefinitionId", strings.Replace(blobRole, "ba92f5b4", "aa92f5b4", 1), false},
		"description": {"description", "d", false},
	} {
		next := r.in.Copy()
		next[resource.PropertyKey(c.key)] = resource.NewProperty(c.to)
		d := e.diff(r, next)
		if got := len(d.GetReplaces()) > 0; got != c.replace || got != d.GetDeleteBeforeReplace() || d.GetChanges() != pulumirpc.DiffResponse_DIFF_SOME {
			t.Errorf("%s: replaces %v, delete first %v", name, d.GetReplaces(), d.GetDeleteBeforeReplace())
		}
	}
	next := r.in.Copy()
	next["roleDefinitionId"] = resource.NewProperty(strings.Replace(blobRole, "ba92f5b4-2d11-453d-a403-e96b0029c9fe", "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1", 1))
	e.configure()
	for _, preview := range []bool{true, false} {
		if _, err := e.update(r, next, preview); err == nil || !strings.Contains(err.Error(), string(core.RoleAssignmentUpdateNotPermitted)) {
			t.Errorf("another role, preview %v: got %v", preview, err)
		}
	}
}

// Two credentials of one identity at once: one of the creations fails, because
// azure-native does not try again on this code (A315).
func TestConcurrentCredentialsFail(t *testing.T) {
	t.Parallel()
	e, _ := groupWith(t, sim.WithQuiet(50*time.Millisecond))
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, name := range []string{"one", "two"} {
		in := e.pack(props(with(credentialIn, m{"federatedIdentityCredentialResourceName": "fic-" + name, "subject": name})))
		wg.Go(func() {
			_, errs[i] = e.p.Create(context.Background(), &pulumirpc.CreateRequest{Urn: urn(credentialToken, name), Properties: in})
		})
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("got %v and %v, want one failure", errs[0], errs[1])
	}
	for _, err := range errs {
		if err != nil && !strings.Contains(err.Error(), string(core.ConcurrentFederatedWrites)) {
			t.Errorf("got %v", err)
		}
	}
}

// A stranger is refused in a closed tenant, or once on demand (A304).
func TestPrincipalNotFoundOnDemand(t *testing.T) {
	t.Parallel()
	e, principal := groupWith(t, sim.WithClosedTenant())
	if _, err := e.create(assignmentToken, "grant", props(assignmentIn(roleGUID)), false); err == nil || !strings.Contains(err.Error(), string(core.PrincipalNotFound)) {
		t.Errorf("stranger: got %v", err)
	}
	e.cloud.Inject(sim.Fault{Type: assignmentToken, Code: core.PrincipalNotFound})
	if _, err := e.create(assignmentToken, "grant", props(assignmentIn(principal)), false); err == nil || !strings.Contains(err.Error(), string(core.PrincipalNotFound)) {
		t.Errorf("not replicated yet: got %v", err)
	}
	e.mustCreate(assignmentToken, "grant", assignmentIn(principal))
}

// A deleted vault holds its name: previews and updates say so, also in a
// replacement under the same name, until it is purged (A322, A329).
func TestDeletedVaultHoldsItsName(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.mustCreate(groupToken, "group", groupIn)
	r := e.mustCreate(vaultToken, "vault", vaultIn)
	moved := r.in.Copy()
	moved["location"] = resource.NewProperty("westeurope")
	e.diff(r, moved)
	if _, err := e.create(vaultToken, "vault", moved, true); err == nil || !strings.Contains(err.Error(), "exists in deleted state") {
		t.Errorf("preview of a replacement: got %v", err)
	}
	if err := e.delete(r); err != nil {
		t.Fatal(err)
	}
	for _, preview := range []bool{true, false} {
		e.configure()
		if _, err := e.create(vaultToken, "vault", props(vaultIn), preview); err == nil || !strings.Contains(err.Error(), string(core.ConflictError)) {
			t.Errorf("preview %v: got %v", preview, err)
		}
	}
	if err := e.cloud.Purge(r.id); err != nil {
		t.Fatal(err)
	}
	e.mustCreate(vaultToken, "vault", vaultIn)
	if err := e.cloud.Purge(r.id); err == nil {
		t.Error("a live vault was purged")
	}
}
