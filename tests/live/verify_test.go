package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"onedoor/internal/az/openai"
	"onedoor/internal/finding"
	"onedoor/internal/verify"
	"onedoor/sim/core"
)

// walls is what the cluster's network lets pass: from every place the gateway alone.
type walls struct {
	gateway string
	through map[string]verify.Outcome // other targets by host, or by place and host
}

func (w walls) Try(_ context.Context, place verify.Place, host string) (verify.Outcome, string) {
	if outcome, ok := w.through[place.String()+" "+host]; ok {
		return outcome, "planted"
	}
	if outcome, ok := w.through[host]; ok {
		return outcome, "planted"
	}
	if host == w.gateway {
		return verify.RefusedByService, "HTTP 404"
	}
	return verify.RefusedByNetwork, "no connection"
}

// made is a subscription in which the plan was brought up, and what a test changes.
type made struct {
	*world
	verify.Design
	walls
	known []string
}

func madeWorld(t testing.TB) *made {
	t.Helper()
	w := calm(t)
	existing(t, w)
	resources, err := plan()
	require.NoError(t, err)
	design, err := verify.DesignOf("prod", resources)
	require.NoError(t, err)
	return &made{world: w, Design: design, walls: walls{design.Gateway, map[string]verify.Outcome{}}}
}

func (m *made) verify(t testing.TB) verify.Result {
	t.Helper()
	a, _ := m.open(t)
	return verify.Run(t.Context(), m.Design, verify.Options{Azure: a, Audience: endpoint, Known: m.known, Prober: m.walls})
}

// after adds something to what is made once the plan stands.
func (m *made) after(more func(*client)) {
	make := m.make
	m.make = func(c *client) { make(c); more(c) }
}

// account is the first account of a kind.
func (m *made) account(batch bool) verify.Account {
	for _, a := range m.Accounts {
		if a.Batch == batch {
			return a
		}
	}
	panic("no account")
}

const (
	stranger   = "eeeeeeee-0000-4000-8000-000000000001"
	management = "/providers/Microsoft.Management/managementGroups/root"
	openAIUser = "5e0bd9bd-7b93-4f28-af87-19fc36ad61bd"
	owner      = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
	rbacAdmin  = "f58310d9-a9f6-439a-9e8d-f62e7b41a168"
	contribute = "b24988ac-6180-42a0-ab88-20f7382dd24c"
	everything = "a001fd3d-188f-4b5d-821b-7da978bf7442"
)

func (m *made) subscription() string { return "/subscriptions/" + m.Design.Subscription }

// grant seeds an assignment of somebody else's making; kind is roleAssignments or
// roleEligibilityScheduleInstances.
func (m *made) grant(kind, scope, role, principal, typ string) {
	id := fmt.Sprintf("%s/providers/Microsoft.Authorization/%s/ffffffff-0000-4000-8000-%012d", scope, kind, len(m.seeds))
	m.seeds = append(m.seeds, core.Resource{ID: id, Type: "Microsoft.Authorization/" + kind, Body: map[string]any{"properties": map[string]any{
		"principalId": principal, "principalType": typ, "scope": scope,
		"roleDefinitionId": m.subscription() + "/providers/Microsoft.Authorization/roleDefinitions/" + role,
	}}})
}

// role seeds a custom role.
func (m *made) role(guid string, permission map[string]any) {
	m.seeds = append(m.seeds, core.Resource{
		ID: management + "/providers/Microsoft.Authorization/roleDefinitions/" + guid, Type: "Microsoft.Authorization/roleDefinitions",
		Body: map[string]any{"properties": map[string]any{"roleName": "custom", "type": "CustomRole", "permissions": []any{permission}}},
	})
}

const dataPlane = "Microsoft.CognitiveServices/accounts/OpenAI/"

// wrong are problems in a subscription in which the plan was brought up.
var wrong = map[string]struct {
	code  string
	plant func(*made)
	says  string // a part of the message
}{
	"an account is gone": {verify.AccountExists, func(m *made) {
		m.Design.Accounts[0].ID += "x" // nobody made it under this name
		m.Design.Accounts[0].Callers = nil
	}, "no such account"},
	"keys are on":            {verify.KeysOff, func(m *made) { m.set(m.account(true), "disableLocalAuth", false) }, "false"},
	"an account is public":   {verify.NetworkClosed, func(m *made) { m.set(m.account(false), "publicNetworkAccess", "Enabled") }, "Enabled"},
	"batch beside the rest":  {verify.SKUsApart, func(m *made) { m.deploy(m.account(false), "GlobalBatch") }, "hidden"},
	"chat beside batch jobs": {verify.SKUsApart, func(m *made) { m.deploy(m.account(true), "GlobalStandard") }, "hidden"},
	"a stranger calls a model": {verify.OnlyCallers, func(m *made) {
		m.role("dddddddd-0000-4000-8000-000000000001", map[string]any{"dataActions": []any{dataPlane + "deployments/*/completions/action"}})
		m.grant("roleAssignments", m.account(false).ID, "dddddddd-0000-4000-8000-000000000001", stranger, "User")
	}, "user " + stranger},
	"a stranger submits batch jobs": {verify.OnlySubmitters, func(m *made) {
		m.role("dddddddd-0000-4000-8000-000000000002", map[string]any{"dataActions": []any{dataPlane + "batch-jobs/write"}})
		m.grant("roleAssignments", m.account(true).ID, "dddddddd-0000-4000-8000-000000000002", stranger, "ServicePrincipal")
	}, stranger},
	"all but writing may still read": {verify.OnlySubmitters, func(m *made) {
		m.role("dddddddd-0000-4000-8000-000000000003", map[string]any{"dataActions": []any{dataPlane + "*"}, "notDataActions": []any{dataPlane + "*/write", dataPlane + "*/action", dataPlane + "*/delete"}})
		m.grant("roleAssignments", m.account(true).ID, "dddddddd-0000-4000-8000-000000000003", stranger, "User")
	}, "reads what others stored"},
	"a role of a management group": {verify.OnlySubmitters, func(m *made) {
		m.role("dddddddd-0000-4000-8000-000000000004", map[string]any{"dataActions": []any{"*/files/read"}})
		m.grant("roleAssignments", management, "dddddddd-0000-4000-8000-000000000004", stranger, "User")
	}, "at " + management},
	"a group of people": {verify.OnlyCallers, func(m *made) {
		m.role("dddddddd-0000-4000-8000-000000000005", map[string]any{"dataActions": []any{dataPlane + "responses/*"}})
		m.grant("roleAssignments", m.subscription()+"/resourceGroups/"+strings.Split(m.account(false).ID, "/")[4], "dddddddd-0000-4000-8000-000000000005", stranger, "Group")
	}, "whoever is in it"},
	"somebody may activate it": {verify.OnlyCallers, func(m *made) {
		m.role("dddddddd-0000-4000-8000-000000000006", map[string]any{"dataActions": []any{dataPlane + "deployments/embeddings/action"}})
		m.grant("roleEligibilityScheduleInstances", m.subscription(), "dddddddd-0000-4000-8000-000000000006", stranger, "User")
	}, "once activated"},
	"somebody lists keys":    {verify.NobodyReopens, func(m *made) { m.grant("roleAssignments", m.subscription(), contribute, stranger, "User") }, "Contributor at /subscriptions"},
	"who runs this does":     {verify.NobodyReopens, func(m *made) { m.grant("roleAssignments", m.subscription(), contribute, caller, "User") }, "who runs this"},
	"somebody assigns roles": {verify.NobodyGrants, func(m *made) { m.grant("roleAssignments", management, rbacAdmin, stranger, "User") }, "assigns roles"},
	"the gateway lost its role": {verify.CallersHaveRole, func(m *made) {
		for i := range m.Accounts {
			if !m.Accounts[i].Batch {
				m.Accounts[i].Callers[0].Role = openAIUser // what the plan wants is another role than what there is
			}
		}
	}, "does not hold role"},
	"there is a denial":           {verify.NoDenials, func(m *made) { m.deny(stranger, dataPlane+"files/*") }, "denies something"},
	"a classic administrator":     {verify.NoClassicAdmins, func(m *made) { m.around.Administrators = []string{"old@example.com"} }, "old@example.com (CoAdministrator)"},
	"a wall is open":              {verify.WaysRefused, func(m *made) { m.through[m.account(true).Host] = verify.RefusedByService }, "refused by the service, want refused by the network"},
	"a wall is open in one place": {verify.WaysRefused, func(m *made) { m.through[m.Places[0].String()+" "+m.account(false).Host] = verify.GotThrough }, "got through"},
}

// set changes a property of an account behind everybody's back.
func (m *made) set(a verify.Account, key string, value any) {
	m.after(func(c *client) {
		var now map[string]any
		c.get(a.ID, a.APIVersion, &now)
		properties := map[string]any{"customSubDomainName": a.Name, "disableLocalAuth": true, "publicNetworkAccess": "Disabled", key: value}
		c.put(a.ID, a.APIVersion, body(map[string]any{"location": now["location"], "kind": "OpenAI", "sku": now["sku"], "properties": properties}))
	})
}

// deploy makes a deployment behind everybody's back.
func (m *made) deploy(a verify.Account, sku string) {
	m.after(func(c *client) {
		c.put(a.ID+"/deployments/hidden", a.APIVersion, body(map[string]any{
			"sku": map[string]any{"name": sku, "capacity": 1.0}, "properties": map[string]any{"model": map[string]any{"format": "OpenAI", "name": "gpt-4o", "version": "2024-11-20"}},
		}))
	})
}

// deny seeds a deny assignment for a principal.
func (m *made) deny(principal string, operations ...any) {
	m.seeds = append(m.seeds, core.Resource{
		ID: m.subscription() + "/providers/Microsoft.Authorization/denyAssignments/ffffffff-0000-4000-8000-00000000dead", Type: "Microsoft.Authorization/denyAssignments",
		Body: map[string]any{"properties": map[string]any{
			"denyAssignmentName": "closed", "scope": m.subscription(), "principals": []any{map[string]any{"id": principal, "type": "SystemDefined"}},
			"permissions": []any{map[string]any{"dataActions": operations}},
		}},
	})
}

func TestVerifyPassesWhereThePlanStands(t *testing.T) {
	t.Parallel()
	result := madeWorld(t).verify(t)
	assert.Empty(t, result.Findings)
	assert.Equal(t, finding.ExitOK, result.ExitCode())
	for _, c := range result.Checks {
		assert.Equal(t, finding.OK, c.State, c.Code)
	}
	assert.Len(t, result.Access, len(madeWorld(t).Accounts), "each account has one caller and no more")
	assert.Contains(t, result.Access[0].Known, "of the plan")
}

func TestVerifyNamesEveryPlantedProblem(t *testing.T) {
	t.Parallel()
	codes := map[string]bool{}
	for what, p := range wrong {
		codes[p.code] = true
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := madeWorld(t)
			p.plant(m)
			result := m.verify(t)
			found := map[string]bool{}
			for _, f := range result.Findings {
				if f.Severity != finding.NotChecked {
					found[f.Code] = true
					if f.Code == p.code {
						assert.Contains(t, f.Message, p.says)
					}
				}
			}
			assert.True(t, found[p.code], "%v", result.Findings)
			delete(found, p.code)
			if p.code == verify.CallersHaveRole { // whoever has another role than planned is nobody planned
				delete(found, verify.OnlyCallers)
			}
			assert.Empty(t, found, "%v", result.Findings)
		})
	}
	for _, c := range verify.Codes {
		assert.True(t, codes[c.ID], "%s: no problem is planted for it", c.ID)
	}
}

// Built-in roles are wide: what each gives is said, all of it.
func TestVerifyOfBuiltInRoles(t *testing.T) {
	t.Parallel()
	for role, want := range map[string][]verify.Power{
		openAIUser: {verify.Calls, verify.Submits},
		everything: {verify.Calls, verify.Reopens, verify.Submits},
		owner:      {verify.Grants, verify.Reopens},
		contribute: {verify.Reopens},
		rbacAdmin:  {verify.Grants},
	} {
		m := madeWorld(t)
		m.grant("roleAssignments", management, role, stranger, "User")
		for _, a := range m.verify(t).Access {
			if a.Principal == stranger {
				assert.Equal(t, want, a.Powers, role)
			}
		}
	}
}

// A denial for everybody takes away what roles give; one for somebody does not.
func TestVerifyTakesDenialsIntoAccount(t *testing.T) {
	t.Parallel()
	for principal, want := range map[string]finding.State{
		"00000000-0000-0000-0000-000000000000": finding.OK,
		stranger:                               finding.Found,
	} {
		m := madeWorld(t)
		m.role("dddddddd-0000-4000-8000-000000000007", map[string]any{"dataActions": []any{dataPlane + "files/read"}})
		m.grant("roleAssignments", management, "dddddddd-0000-4000-8000-000000000007", stranger, "User")
		m.deny(principal, dataPlane+"files/*")
		assert.Equal(t, want, m.verify(t).State(verify.OnlySubmitters), principal)
	}
}

// Who deploys may be named, for the rights that deploying needs and no others.
func TestVerifyKnowsWhoIsAnsweredFor(t *testing.T) {
	t.Parallel()
	m := madeWorld(t)
	m.known = []string{strings.ToUpper(stranger)}
	m.grant("roleAssignments", m.subscription(), owner, stranger, "ServicePrincipal")
	assert.Empty(t, m.verify(t).Findings)
	m.grant("roleAssignments", m.subscription(), everything, stranger, "ServicePrincipal")
	result := m.verify(t)
	assert.Equal(t, finding.Found, result.State(verify.OnlyCallers))
	assert.Equal(t, finding.OK, result.State(verify.NobodyReopens))
}

// A refusal proves nothing where nothing can connect.
func TestVerifyOfAPlaceWithoutANetwork(t *testing.T) {
	t.Parallel()
	m := madeWorld(t)
	for _, outcome := range []verify.Outcome{verify.RefusedByNetwork, verify.Unclear} {
		m.through[m.Places[0].String()+" "+m.Gateway] = outcome
		assert.Equal(t, finding.Open, m.verify(t).State(verify.WaysRefused), outcome)
	}
	m.through[m.Places[0].String()+" "+m.Gateway] = verify.GotThrough
	assert.Equal(t, finding.OK, m.verify(t).State(verify.WaysRefused))
	m.through[m.account(true).Host] = verify.Unclear
	assert.Equal(t, finding.Open, m.verify(t).State(verify.WaysRefused))
}

func TestVerifyWithoutCredentialsChecksNothing(t *testing.T) {
	t.Parallel()
	m := madeWorld(t)
	m.noToken[endpoint] = errors.New("DefaultAzureCredential: failed to acquire a token")
	m.wire = &wire{}
	result := m.verify(t)
	assert.Empty(t, m.wire.requests())
	for _, c := range result.Checks {
		if c.Code != verify.WaysRefused {
			assert.Equal(t, finding.Open, c.State, c.Code)
		}
	}
	assert.Equal(t, finding.ExitIncomplete, result.ExitCode())
}

// Whatever read fails, and however, verify is not sure; and a problem is found or not
// checked.
func TestVerifyIsNeverSureOfWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	clean := madeWorld(t)
	clean.wire = &wire{}
	require.Equal(t, finding.ExitOK, clean.verify(t).ExitCode())
	reads := clean.wire.requests()
	require.Greater(t, len(reads), 15)
	callers := map[string]bool{} // reads of identities that are no callers only cost a name
	for _, a := range clean.Accounts {
		for _, c := range a.Callers {
			callers["GET "+c.Identity] = true
		}
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for _, read := range reads {
				m := madeWorld(t)
				m.wire = &wire{spoil: read, with: f}
				result := m.verify(t)
				if strings.Contains(read, "userAssignedIdentities") && !callers[read] {
					assert.Empty(t, result.Findings, read)
					continue
				}
				assert.NotEqual(t, finding.ExitOK, result.ExitCode(), "%s: read badly, and all is well", read)
				if f.status != 200 {
					assert.Zero(t, result.Count(finding.Error), "%s: %v", read, result.Findings)
				}
			}
		})
	}
	i := 0
	for what, p := range wrong {
		fault := faults[i%len(faults)]
		i++
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, read := range reads {
				m := madeWorld(t)
				p.plant(m)
				m.wire = &wire{spoil: read, with: fault}
				assert.Contains(t, []finding.State{finding.Found, finding.Open}, m.verify(t).State(p.code), "%s %s", read, fault.name)
			}
		})
	}
}

// Every way round the doors that the network closes to a workload is tried live, and
// every principal that must hold no role is looked for.
func TestVerifyRepeatsTheRecordedWays(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../bypass.yaml")
	require.NoError(t, err)
	var ways []struct {
		Name      string `yaml:"name"`
		RefusedBy struct {
			Network struct {
				Closed []struct{ From, To string } `yaml:"closed"`
			} `yaml:"network"`
			Roles []struct{ Principal, At string } `yaml:"roles"`
		} `yaml:"refusedBy"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &ways))
	m := madeWorld(t)
	tried := map[string]bool{}
	for _, a := range m.verify(t).Attempts {
		tried[strings.Split(a.Place, "/")[0]+" "+a.Target] = true
	}
	hosts := map[string]string{}
	for _, a := range m.Accounts {
		for _, name := range []string{"batch", "swedencentral", "westeurope"} {
			if strings.Contains(a.Name, "-"+name+"-") {
				hosts[name+" account"] = a.Host
			}
		}
		assert.Equal(t, "https://"+a.Host, openai.Endpoint(a.Name))
	}
	closed, roles := 0, 0
	for _, w := range ways {
		for _, c := range w.RefusedBy.Network.Closed {
			if c.From == "workers" { // the others are outside the cluster, or need a node with GPUs
				closed++
				assert.True(t, tried["onedoor-workers "+hosts[c.To]], "%s: nobody tries from %s to %s", w.Name, c.From, c.To)
			}
		}
		for _, r := range w.RefusedBy.Roles {
			roles++
			known := false
			for _, identity := range m.Identities {
				known = known || strings.Contains(identity.ID, strings.TrimPrefix(r.Principal, "identity-"))
			}
			assert.True(t, known, "%s: %s is not looked for", w.Name, r.Principal)
		}
	}
	assert.Positive(t, closed)
	assert.Positive(t, roles)
}

// A management group, a subscription, a group and an account are each a scope above.
func TestScopesAbove(t *testing.T) {
	t.Parallel()
	m := madeWorld(t)
	a := m.account(true)
	group := strings.Join(strings.Split(a.ID, "/")[:5], "/")
	scopes := []string{management, m.subscription(), group, a.ID}
	for _, scope := range append(scopes, group+"-other", m.account(false).ID) {
		m.grant("roleAssignments", scope, owner, stranger, "User")
	}
	azure, _ := m.open(t)
	found, err := azure.Assignments(t.Context(), a.ID)
	require.NoError(t, err)
	var got []string
	for _, f := range found {
		if f.Principal == stranger {
			got = append(got, f.Scope)
		}
	}
	assert.ElementsMatch(t, scopes, got)
}
