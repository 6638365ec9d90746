package core

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az"
	"onedoor/internal/az/guard"
)

// The landscape of the tests: a batch group, a platform group and the policies of
// the stack, as JSON renders them.
const (
	batchGroup    = sub + "/resourceGroups/batch"
	policies      = sub + "/providers/Microsoft.Authorization/policyDefinitions/"
	assignments   = "/providers/Microsoft.Authorization/policyAssignments/"
	accountPath   = "/providers/Microsoft.CognitiveServices/accounts/models"
	closedAccount = `{'location':'swedencentral','kind':'OpenAI','sku':{'name':'S0'},'properties':{'customSubDomainName':'models-%','disableLocalAuth':true,'publicNetworkAccess':'Disabled','networkAcls':{'defaultAction':'Deny'}}}`
)

func closedModels(name string) string { return strings.Replace(closedAccount, "%", name, 1) }

func deployment(sku string) string {
	return `{'sku':{'name':'` + sku + `','capacity':10},'properties':{'model':{'format':'OpenAI','name':'gpt-4o-mini','version':'2024-07-18'}}}`
}

// guarded is a subscription with the stack's policies, and the subscription-wide
// one where wide is set.
func guarded(t *testing.T, wide bool) State {
	t.Helper()
	s := must(t, must(t, New(), rg, `{'location':'swedencentral'}`), batchGroup, `{'location':'swedencentral'}`)
	var groups []string
	if wide {
		groups = []string{batchGroup}
	}
	scope := az.Scope{Project: "onedoor", Stack: "test", SubscriptionID: sub[len("/subscriptions/"):], Generation: 1}
	raw, err := guard.JSON(scope, guard.Groups{Platform: rg, BatchDoor: batchGroup}, groups)
	require.NoError(t, err)
	var documents []struct {
		ID         string
		Properties map[string]any
	}
	require.NoError(t, json.Unmarshal(raw, &documents))
	for _, d := range documents {
		next, a := Apply(s, Op{Method: Put, ID: d.ID, Body: map[string]any{"properties": d.Properties}, Instant: true})
		require.Nil(t, a.Error, d.ID)
		s = next
	}
	return s
}

// Assigned policies refuse what they deny, wherever it comes from (A700, A701).
func TestAssignedPoliciesRefuseWrites(t *testing.T) {
	t.Parallel()
	other := sub + "/resourceGroups/other"
	for name, c := range map[string]struct {
		wide  bool
		group string
		sku   string
		want  Code
	}{
		"BatchOutside":         {false, rg, "GlobalBatch", RequestDisallowedByPolicy},
		"DataZoneBatchOutside": {false, rg, "DataZoneBatch", RequestDisallowedByPolicy},
		"SyncOutside":          {false, rg, "GlobalStandard", ""},
		"SyncInside":           {false, batchGroup, "GlobalStandard", RequestDisallowedByPolicy},
		"BatchInside":          {false, batchGroup, "GlobalBatch", ""},
		"BatchElsewhere":       {false, other, "GlobalBatch", ""},
		"GuardedElsewhere":     {true, other, "GlobalBatch", RequestDisallowedByPolicy},
		"SyncElsewhere":        {true, other, "GlobalStandard", ""},
		"GuardedInside":        {true, batchGroup, "GlobalBatch", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := must(t, guarded(t, c.wide), other, `{'location':'swedencentral'}`)
			s = must(t, s, c.group+accountPath, closedModels("one"))
			op := Op{Method: Put, ID: c.group + accountPath + "/deployments/d", Body: j(t, deployment(c.sku)), Instant: true}
			_, a := Apply(s, op)
			if c.want == "" {
				require.Nil(t, a.Error)
				return
			}
			require.NotNil(t, a.Error)
			assert.Equal(t, c.want, a.Error.Code)
			assert.Equal(t, 403, a.Error.Status())
			assert.Contains(t, a.Error.Message, "batch", "it says what the assignment says")
			op.TypesOnly = true
			_, a = Apply(s, op)
			assert.Nil(t, a.Error, "policies are behaviour, which can be switched off")
		})
	}
}

// Accounts take Entra tokens and private endpoints alone (A700).
func TestPoliciesCloseAccounts(t *testing.T) {
	t.Parallel()
	s := guarded(t, false)
	for name, c := range map[string]struct {
		change []string // old, new
		denied bool
	}{
		"Closed":     {[]string{"Disabled", "Disabled"}, false},
		"Keys":       {[]string{"'disableLocalAuth':true", "'disableLocalAuth':false"}, true},
		"KeysUnsaid": {[]string{"'disableLocalAuth':true,", ""}, true},
		"Public":     {[]string{"'Disabled'", "'Enabled'"}, true},
		"Unsaid":     {[]string{"'publicNetworkAccess':'Disabled',", ""}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, a := Apply(s, Op{Method: Put, ID: batchGroup + accountPath, Body: j(t, strings.Replace(closedModels("two"), c.change[0], c.change[1], 1)), Instant: true})
			assert.Equal(t, c.denied, a.Error != nil && a.Error.Code == RequestDisallowedByPolicy, "%v", a.Error)
		})
	}
}

// What is assigned, and how, decides (A701, A702, A706).
func TestAssignmentsDecideWhatCounts(t *testing.T) {
	t.Parallel()
	base := must(t, must(t, New(), rg, `{'location':'swedencentral'}`), policies+"no-keys", `{'properties':{'mode':'All','displayName':'no keys',
		'parameters':{'effect':{'type':'String','defaultValue':'Deny'}},
		'policyRule':{'if':{'field':'Microsoft.CognitiveServices/accounts/disableLocalAuth','notEquals':true},'then':{'effect':'[parameters(\u0027effect\u0027)]'}}}}`)
	definition := `'policyDefinitionId':'` + policies + `no-keys'`
	builtIn := `'policyDefinitionId':'/providers/Microsoft.Authorization/policyDefinitions/71ef260a-8f18-47b7-abcb-62d0673d94dc'`
	for name, c := range map[string]struct {
		at, properties string
		denied         bool
	}{
		"AtTheGroup":     {rg, definition, true},
		"AtSubscription": {sub, definition, true},
		"LeftOut":        {sub, definition + `,'notScopes':['` + rg + `']`, false},
		"OtherLeftOut":   {sub, definition + `,'notScopes':['` + sub + `/resourceGroups/r']`, true},
		"NotEnforced":    {rg, definition + `,'enforcementMode':'DoNotEnforce'`, false},
		"Watching":       {rg, definition + `,'parameters':{'effect':{'value':'Audit'}}`, false},
		"BuiltIn":        {rg, builtIn, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := must(t, base, c.at+assignments+"a", `{'properties':{`+c.properties+`}}`)
			_, a := Apply(s, Op{Method: Put, ID: rg + accountPath, Body: j(t, strings.Replace(closedModels("three"), "'disableLocalAuth':true,", "", 1)), Instant: true})
			assert.Equal(t, c.denied, a.Error != nil && a.Error.Code == RequestDisallowedByPolicy, "%v", a.Error)
			made, found := s.Find(c.at + assignments + "a")
			require.True(t, found)
			assert.Equal(t, c.at, made.props("scope").text())
		})
	}
}

// Definitions and assignments are checked when they are written and deleted (A703,
// A704, A705).
func TestPolicyDefinitionsAndAssignmentsAreChecked(t *testing.T) {
	t.Parallel()
	s := guarded(t, false)
	const rule = `'then':{'effect':'deny'}}}}`
	id := policies + "policy-onedoor-test-no-batch"
	for name, c := range map[string]struct {
		id, body string
		want     Code
		text     string
	}{
		"Known":            {policies + "p", `{'properties':{'policyRule':{'if':{'field':'type','equals':'a'},` + rule, "", ""},
		"UnknownOperator":  {policies + "p", `{'properties':{'policyRule':{'if':{'field':'type','matches':'a'},` + rule, InvalidPolicyRule, "want exactly one of equals, exists"},
		"UnknownAlias":     {policies + "p", `{'properties':{'policyRule':{'if':{'field':'Microsoft.CognitiveServices/accounts/skuu.name','equals':'a'},` + rule, InvalidPolicyRule, "no alias that is known here"},
		"NoSuchDefinition": {rg + assignments + "a", `{'properties':{'policyDefinitionId':'` + policies + `none'}}`, PolicyDefinitionNotFound, "which does not exist"},
		"Definition":       {rg + assignments + "a", `{'properties':{'policyDefinitionId':'` + id + `'}}`, "", ""},
		"NoSuchParameter":  {rg + assignments + "a", `{'properties':{'policyDefinitionId':'` + id + `','parameters':{'efect':{'value':'Audit'}}}}`, InvalidPolicyParameters, `"efect"`},
		"Parameter":        {rg + assignments + "a", `{'properties':{'policyDefinitionId':'` + id + `','parameters':{'effect':{'value':'Audit'}}}}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, a := Apply(s, Op{Method: Put, ID: c.id, Body: j(t, c.body), Instant: true})
			if c.want == "" {
				require.Nil(t, a.Error)
				return
			}
			require.NotNil(t, a.Error)
			assert.Equal(t, c.want, a.Error.Code)
			assert.Contains(t, a.Error.Message, c.text)
		})
	}
	_, a := Apply(s, Op{Method: Delete, ID: id, Instant: true})
	require.NotNil(t, a.Error)
	assert.Equal(t, PolicyDefinitionInUse, a.Error.Code)
	s, a = Apply(s, Op{Method: Delete, ID: rg + assignments + "assign-onedoor-test-no-batch-platform", Instant: true})
	require.Nil(t, a.Error)
	_, a = Apply(s, Op{Method: Delete, ID: id, Instant: true})
	assert.Nil(t, a.Error)
}
