package guard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az"
	"onedoor/internal/az/guard"
	"onedoor/internal/az/openai"
	"onedoor/internal/az/policyrule"
)

const subscription = "/subscriptions/11111111-2222-3333-4444-555555555555"

func scope(stack string) az.Scope {
	return az.Scope{Project: "onedoor", Stack: stack, SubscriptionID: subscription[len("/subscriptions/"):], Generation: 1}
}

var groups = guard.Groups{Platform: subscription + "/resourceGroups/platform", BatchDoor: subscription + "/resourceGroups/batch"}

// denies tells whether a policy refuses the body of a resource.
func denies(t *testing.T, p guard.Policy, armType string, content map[string]any) bool {
	t.Helper()
	rule, err := policyrule.Parse(p.Rule, guard.Parameters())
	require.NoError(t, err)
	return rule.Denies(policyrule.Body{ID: "/x/a", Type: armType, Content: content}, nil) == policyrule.Yes
}

// Every SKU that Azure has is on one side.
func TestSKUsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	const deployments = "Microsoft.CognitiveServices/accounts/deployments"
	for _, batch := range []bool{true, false} {
		names := openai.Names(batch)
		require.NotEmpty(t, names)
		for _, name := range names {
			body := map[string]any{"sku": map[string]any{"name": name}}
			assert.Equal(t, batch, denies(t, guard.NoBatch, deployments, body), name)
			assert.Equal(t, !batch, denies(t, guard.OnlyBatch, deployments, body), name)
			assert.False(t, denies(t, guard.OnlyBatch, "Microsoft.CognitiveServices/accounts", body), "an account has a SKU of another kind")
		}
	}
	assert.True(t, denies(t, guard.OnlyBatch, deployments, map[string]any{}), "no SKU is Azure's choice, and no batch one")
}

func TestAccountsAreClosed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		properties map[string]any
		denied     bool
	}{
		"Closed":  {map[string]any{"disableLocalAuth": true, "publicNetworkAccess": "Disabled"}, false},
		"Keys":    {map[string]any{"disableLocalAuth": false, "publicNetworkAccess": "Disabled"}, true},
		"Public":  {map[string]any{"disableLocalAuth": true, "publicNetworkAccess": "Enabled"}, true},
		"Nothing": {map[string]any{}, true},
	} {
		body := map[string]any{"properties": c.properties}
		assert.Equal(t, c.denied, denies(t, guard.ClosedAccounts, "Microsoft.CognitiveServices/accounts", body), name)
		assert.False(t, denies(t, guard.ClosedAccounts, "Microsoft.Storage/storageAccounts", body), name)
	}
}

func TestAssignmentsStayInTheStacksGroups(t *testing.T) {
	t.Parallel()
	var at []string
	for _, a := range guard.Assignments(scope("dev"), groups, nil) {
		at = append(at, a.Policy.Key+" at "+a.Scope[strings.LastIndex(a.Scope, "/")+1:])
		assert.Empty(t, a.NotScopes)
	}
	assert.Equal(t, []string{"closed-accounts at batch", "closed-accounts at platform", "no-batch at platform", "only-batch at batch"}, at)

	batch := []string{groups.BatchDoor, subscription + "/resourceGroups/other-batch"}
	all := guard.Assignments(scope("dev"), groups, batch)
	last := all[len(all)-1]
	assert.Equal(t, guard.Assignment{Policy: guard.NoBatch, Place: "subscription", Name: "assign-onedoor-dev-no-batch-subscription", Scope: subscription, NotScopes: batch}, last)
}

// Two stacks in one subscription do not meet.
func TestNamesCarryTheStack(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	long := strings.Repeat("long-", 20) + "stack"
	for _, stack := range []string{"dev", "prod", long, long + "-2"} {
		for _, p := range guard.All {
			for _, name := range []string{p.DefinitionName(scope(stack)), p.AssignmentName(scope(stack), "platform")} {
				assert.False(t, seen[name], name)
				assert.LessOrEqual(t, len(name), 64, name)
				seen[name] = true
			}
		}
	}
}

func TestJSONHasEverything(t *testing.T) {
	t.Parallel()
	raw, err := guard.JSON(scope("dev"), groups, []string{groups.BatchDoor})
	require.NoError(t, err)
	var documents []struct {
		ID         string
		Properties map[string]any
	}
	require.NoError(t, json.Unmarshal(raw, &documents))
	require.Len(t, documents, 3+5)
	ids := map[string]bool{}
	for _, d := range documents {
		ids[d.ID] = true
		if strings.Contains(d.ID, "/policyDefinitions/") {
			assert.Equal(t, "All", d.Properties["mode"], "deployments have no tags and no location")
			_, err := policyrule.Parse(d.Properties["policyRule"].(map[string]any), d.Properties["parameters"].(map[string]any))
			assert.NoError(t, err)
		} else {
			assert.Contains(t, ids, d.Properties["policyDefinitionId"], "definitions come first")
		}
	}
	assert.Equal(t, []any{groups.BatchDoor}, documents[7].Properties["notScopes"])
	again, err := guard.JSON(scope("dev"), groups, []string{groups.BatchDoor})
	require.NoError(t, err)
	assert.Equal(t, string(raw), string(again))
}
