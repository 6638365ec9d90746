package sim_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"onedoor/internal/az/rights"
	"onedoor/sim"
	"onedoor/sim/core"
)

const anyVersion = "?api-version=2022-04-01"

// surrounded serves a cloud with a group and these surroundings.
func surrounded(t *testing.T, around sim.Surroundings, opts ...sim.Option) *client {
	t.Helper()
	e := open(t, append(opts, sim.WithSurroundings(around))...)
	e.mustCreate(groupToken, "group", groupIn)
	server := httptest.NewTLSServer(e.cloud.ARM())
	t.Cleanup(server.Close)
	return &client{t, server, e.cloud}
}

// expect asks for a path and compares the answer, or its list, with what is wanted in
// JSON; what is wanted may leave out properties.
func (c *client) expect(method, path, body, want string) {
	c.t.Helper()
	r := c.do(method, path, body)
	if r.StatusCode != 200 {
		c.t.Errorf("%s %s: %d %v", method, path, r.StatusCode, r.body)
		return
	}
	var wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		c.t.Fatal(err)
	}
	var got any = r.body
	if _, list := wanted.([]any); list {
		got = r.body["value"]
	}
	if !holds(got, wanted) {
		text, _ := json.Marshal(got)
		c.t.Errorf("%s %s:\n got %s\nwant %s", method, path, text, want)
	}
}

// holds tells whether got has everything that want has; lists have the same length.
func holds(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for key, value := range want {
			ok = ok && holds(object[key], value)
		}
		return ok
	case []any:
		list, ok := got.([]any)
		ok = ok && len(list) == len(want)
		for i := range want {
			ok = ok && holds(list[i], want[i])
		}
		return ok
	default:
		return got == want
	}
}

const subscriptionPath = "/subscriptions/" + subscription

// The subscription and its providers (A930, A931).
func TestHTTPSubscription(t *testing.T) {
	t.Parallel()
	c := surrounded(t, sim.Surroundings{State: "Warned", Unregistered: []string{"microsoft.compute"}})
	c.expect("GET", subscriptionPath+anyVersion, "", `{"state":"Warned","subscriptionId":"`+subscription+`"}`)
	c.expect("GET", subscriptionPath+"/providers/Microsoft.Compute"+anyVersion, "", `{"registrationState":"NotRegistered"}`)
	c.expect("GET", subscriptionPath+"/providers/Microsoft.Network"+anyVersion, "", `{"registrationState":"Registered"}`)
	surrounded(t, sim.Surroundings{}).expect("GET", subscriptionPath+anyVersion, "", `{"state":"Enabled"}`)
}

// What regions offer and how much of it is used: models (A932, A933), cores (A934) and
// sizes of machines (A935).
func TestHTTPQuotas(t *testing.T) {
	t.Parallel()
	c := surrounded(t, sim.Surroundings{
		Models:      []sim.OfferedModel{{Region: "swedencentral", Name: "gpt-4o", Version: "2024-11-20", SKUs: []string{"GlobalBatch"}}, {Region: "westus", Name: "gpt-5"}},
		ModelsInUse: map[string]float64{"swedencentral/OpenAI.GlobalBatch.gpt-4o": 7},
		Cores:       map[string]sim.Quota{"swedencentral/standardNCADSA100v4Family": {Used: 24, Limit: 48}, "westus/cores": {Limit: 10}},
		Sizes: []sim.MachineSize{
			{Region: "swedencentral", Name: "Standard_NC24ads_A100_v4", Family: "standardNCADSA100v4Family", CPUs: 24, Zones: []string{"1", "2"}, Closed: []string{"2"}},
			{Region: "westus", Name: "Standard_D2s_v5", Family: "standardDSv5Family", CPUs: 2, Restricted: true},
		},
	}, sim.WithModelQuota(map[string]float64{"swedencentral/OpenAI.GlobalBatch.gpt-4o": 50, "westus/OpenAI.Standard.gpt-5": 1}), sim.WithTypesOnly())
	const ai, compute = subscriptionPath + "/providers/Microsoft.CognitiveServices/locations/", subscriptionPath + "/providers/Microsoft.Compute/"
	c.expect("GET", ai+"SwedenCentral/models"+anyVersion, "", `[{"model":{"name":"gpt-4o","version":"2024-11-20","skus":[{"name":"GlobalBatch","usageName":"OpenAI.GlobalBatch.gpt-4o"}]}}]`)
	c.expect("GET", ai+"swedencentral/usages"+anyVersion, "", `[{"name":{"value":"OpenAI.GlobalBatch.gpt-4o"},"currentValue":7,"limit":50}]`)
	account := groupID + "/providers/Microsoft.CognitiveServices/accounts/oai"
	deployment := `{"sku":{"name":"GlobalBatch","capacity":20},"properties":{"model":{"format":"OpenAI","name":"gpt-4o","version":"2024-11-20"}}}`
	for _, write := range [][2]string{
		{account, `{"location":"swedencentral","kind":"OpenAI","sku":{"name":"S0"},"properties":{"customSubDomainName":"oai"}}`},
		{account + "/deployments/d", deployment},
		{account + "2/deployments/d", deployment}, // of an account that is not there
	} {
		if r := c.do("PUT", write[0]+"?api-version=2024-10-01", write[1]); r.StatusCode >= 300 {
			t.Fatalf("PUT %s: %d %v", write[0], r.StatusCode, r.body)
		}
	}
	c.expect("GET", ai+"swedencentral/usages"+anyVersion, "", `[{"currentValue":27}]`)
	c.expect("GET", compute+"locations/swedencentral/usages"+anyVersion, "", `[{"name":{"value":"standardNCADSA100v4Family"},"currentValue":24,"limit":48}]`)
	c.expect("GET", compute+"skus"+anyVersion+"&$filter=location%20eq%20'swedencentral'", "", `[{"name":"Standard_NC24ads_A100_v4","resourceType":"virtualMachines",
		"capabilities":[{"name":"vCPUs","value":"24"}],"locationInfo":[{"zones":["1","2"]}],"restrictions":[{"type":"Zone","restrictionInfo":{"zones":["2"]}}]}]`)
	c.expect("GET", compute+"skus"+anyVersion, "", `[{},{"restrictions":[{"type":"Location","reasonCode":"NotAvailableForSubscription"}]}]`)
}

// What was deleted (A936), and whether a name is free (A937).
func TestHTTPNames(t *testing.T) {
	t.Parallel()
	c := surrounded(t, sim.Surroundings{TakenNames: []string{"taken"}})
	c.cloud.SeedDeleted(
		core.Resource{ID: groupID + "/providers/Microsoft.CognitiveServices/accounts/gone", Body: m{"location": "swedencentral"}},
		core.Resource{ID: groupID + "/providers/Microsoft.ApiManagement/service/gone", Body: m{"location": "swedencentral"}},
		core.Resource{ID: groupID + "/providers/Microsoft.KeyVault/vaults/gone", Body: m{"location": "swedencentral", "properties": m{"enablePurgeProtection": true}}},
		core.Resource{ID: strings.Replace(groupID, subscription, "99999999-0000-4000-8000-000000000000", 1) + "/providers/Microsoft.KeyVault/vaults/elsewhere"},
	)
	providers := subscriptionPath + "/providers/"
	c.expect("GET", providers+"Microsoft.CognitiveServices/deletedAccounts"+anyVersion, "", `[{"name":"gone","location":"swedencentral","properties":{"scheduledPurgeDate":"2027-01-01T00:00:00Z"}}]`)
	c.expect("GET", providers+"Microsoft.ApiManagement/deletedservices"+anyVersion, "", `[{"name":"gone","properties":{"serviceId":"`+groupID+`/providers/Microsoft.ApiManagement/service/gone"}}]`)
	c.expect("GET", providers+"Microsoft.KeyVault/deletedVaults"+anyVersion, "", `[{"name":"gone","properties":{"purgeProtectionEnabled":true,"location":"swedencentral"}}]`)

	c.expect("POST", providers+"Microsoft.Storage/checkNameAvailability"+anyVersion, `{"name":"TAKEN","type":"Microsoft.Storage/storageAccounts"}`, `{"nameAvailable":false,"reason":"AlreadyExists"}`)
	c.expect("POST", providers+"Microsoft.Storage/checkNameAvailability"+anyVersion, `{"name":"free"}`, `{"nameAvailable":true}`)
	c.expect("POST", providers+"Microsoft.CognitiveServices/checkDomainAvailability"+anyVersion, `{"subdomainName":"taken"}`, `{"isSubdomainAvailable":false}`)
	c.do("PUT", groupID+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/ours?api-version=2023-01-31", `{"location":"swedencentral"}`)
	c.expect("POST", providers+"Microsoft.ManagedIdentity/checkNameAvailability"+anyVersion, `{"name":"ours"}`, `{"nameAvailable":false}`)
	c.expect("POST", providers+"Microsoft.Storage/checkNameAvailability"+anyVersion, `{"name":"ours"}`, `{"nameAvailable":true}`) // a name of another provider
	if r := c.do("POST", providers+"Microsoft.Storage/checkNameAvailability"+anyVersion, `{}`); r.code() != "InvalidRequestContent" {
		t.Errorf("no name: %d %s", r.StatusCode, r.code())
	}
}

// Who may do what: the caller (A938), classic administrators (A939), roles by their
// GUID (A940), and what holds at a scope (A941).
func TestHTTPAccess(t *testing.T) {
	t.Parallel()
	const (
		management = "/providers/Microsoft.Management/managementGroups/root"
		custom     = "dddddddd-0000-4000-8000-000000000001"
		owner      = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
	)
	assignment := func(scope, name string) core.Resource {
		return core.Resource{ID: scope + "/providers/Microsoft.Authorization/roleAssignments/" + name, Body: m{"properties": m{"scope": scope}}}
	}
	c := surrounded(t, sim.Surroundings{Permissions: []rights.Role{{Actions: []string{"*/read"}}}, Administrators: []string{"old@example.com"}}, sim.WithSeed(
		assignment(management, "1"), assignment(subscriptionPath, "2"), assignment(groupID, "3"), assignment(groupID+"-other", "4"), assignment(vnetID, "5"),
		core.Resource{ID: management + "/providers/Microsoft.Authorization/roleDefinitions/" + custom, Body: m{"properties": m{"roleName": "custom", "permissions": []any{}}}},
		core.Resource{ID: subscriptionPath + "/providers/Microsoft.Authorization/denyAssignments/d", Type: "Microsoft.Authorization/denyAssignments", Body: m{"properties": m{"denyAssignmentName": "d"}}},
	))
	const authorization = "/providers/Microsoft.Authorization/"
	c.expect("GET", subscriptionPath+authorization+"permissions"+anyVersion, "", `[{"actions":["*/read"],"notActions":[]}]`)
	surrounded(t, sim.Surroundings{}).expect("GET", subscriptionPath+authorization+"permissions"+anyVersion, "", `[{"actions":["*"]}]`)
	c.expect("GET", subscriptionPath+authorization+"classicAdministrators"+anyVersion, "", `[{"properties":{"emailAddress":"old@example.com","role":"CoAdministrator"}}]`)
	c.expect("GET", subscriptionPath+authorization+"roleDefinitions/"+owner+anyVersion, "", `{"properties":{"roleName":"Owner","permissions":[{"actions":["*"]}]}}`)
	c.expect("GET", subscriptionPath+authorization+"roleDefinitions/"+custom+anyVersion, "", `{"properties":{"roleName":"custom"}}`)
	c.expect("GET", subscriptionPath+authorization+"roleDefinitions/7f951dda-4ed3-4680-a7ca-43fe172d538d"+anyVersion, "", `{"properties":{"roleName":"AcrPull"}}`)
	if r := c.do("GET", subscriptionPath+authorization+"roleDefinitions/dddddddd-0000-4000-8000-00000000dead"+anyVersion, ""); r.code() != "RoleDefinitionDoesNotExist" {
		t.Errorf("a role that there is not: %d %s", r.StatusCode, r.code())
	}
	const atScope = anyVersion + "&$filter=atScope()"
	for scope, want := range map[string]string{
		subscriptionPath:   `[{"name":"1"},{"name":"2"}]`,
		groupID:            `[{"name":"1"},{"name":"2"},{"name":"3"}]`,
		vnetID:             `[{"name":"1"},{"name":"2"},{"name":"3"},{"name":"5"}]`,
		groupID + "-other": `[{"name":"1"},{"name":"2"},{"name":"4"}]`,
	} {
		r := c.do("GET", scope+authorization+"roleAssignments"+atScope, "")
		var got []string
		items, _ := r.body["value"].([]any)
		for _, item := range items {
			got = append(got, item.(map[string]any)["name"].(string))
		}
		for _, name := range []string{"1", "2", "3", "4", "5"} {
			if in := strings.Contains(strings.Join(got, ""), name); in != strings.Contains(want, name) {
				t.Errorf("%s: %v, want %s", scope, got, want)
			}
		}
	}
	c.expect("GET", groupID+authorization+"denyAssignments"+atScope, "", `[{"properties":{"denyAssignmentName":"d"}}]`)
	c.expect("GET", groupID+authorization+"roleEligibilityScheduleInstances"+atScope, "", `[]`)
}

// A network of somebody else shows what it is joined with (A942).
func TestHTTPForeignPeerings(t *testing.T) {
	t.Parallel()
	hub := core.Resource{ID: netID + "virtualNetworks/hub", Body: m{"location": "swedencentral", "properties": m{
		"addressSpace":           m{"addressPrefixes": []any{"10.0.0.0/16"}},
		"virtualNetworkPeerings": []any{m{"name": "spoke"}},
	}}}
	surrounded(t, sim.Surroundings{}, sim.WithSeed(hub)).expect("GET", hub.ID+netVersion, "", `{"properties":{"virtualNetworkPeerings":[{"name":"spoke"}]}}`)
}
