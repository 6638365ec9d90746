package preflight_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/azread"
	"onedoor/internal/preflight"
)

func needs(t *testing.T, stack string) preflight.Needs {
	t.Helper()
	raw, err := os.ReadFile("../../tests/testdata/" + stack + ".preview.json")
	require.NoError(t, err)
	var record struct {
		Resources []preflight.Resource `json:"resources"`
	}
	require.NoError(t, json.Unmarshal(raw, &record))
	n, err := preflight.NeedsOf(stack, record.Resources)
	require.NoError(t, err)
	return n
}

func TestNeedsOfDev(t *testing.T) {
	t.Parallel()
	n := needs(t, "dev")
	assert.Equal(t, "11111111-2222-3333-4444-555555555555", n.Subscription)
	assert.Equal(t, "66666666-7777-8888-9999-000000000000", n.Tenant)
	for _, namespace := range []string{"Microsoft.CognitiveServices", "Microsoft.ContainerService", "Microsoft.Compute", "Microsoft.AlertsManagement", "Microsoft.Insights"} {
		assert.Contains(t, n.Providers, namespace)
	}
	assert.Contains(t, n.Models, preflight.Models{
		Region: "swedencentral", Offer: azread.Offer{Format: "OpenAI", Model: "gpt-5.1", Version: "2025-11-13", SKU: "GlobalBatch"}, Units: 1000,
		Deployments: []string{"/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg-onedoor-dev-batch-door/providers/Microsoft.CognitiveServices/accounts/oai-onedoor-dev-batch-b5a46c/deployments/chat"},
	})
	assert.Equal(t, []string{"api://onedoor-batch-dev"}, n.Audiences)
	require.NotNil(t, n.Cluster)
	assert.False(t, n.Private)
	assert.True(t, n.InCluster)
	types := map[string]int{}
	for _, item := range n.Names {
		types[item.ARMType]++
	}
	assert.Equal(t, map[string]int{
		"Microsoft.ApiManagement/service": 1, "Microsoft.CognitiveServices/accounts": 3, "Microsoft.ContainerRegistry/registries": 1,
		"Microsoft.KeyVault/vaults": 2, "Microsoft.ServiceBus/namespaces": 1, "Microsoft.Storage/storageAccounts": 1,
	}, types)
}

func TestNeedsOfProd(t *testing.T) {
	t.Parallel()
	n := needs(t, "prod")
	assert.True(t, n.Private)
	require.Len(t, n.Peers, 1)
	assert.Equal(t, "vnet-hub", n.Peers[0].Name)
	pools := map[string]preflight.Pool{}
	for _, p := range n.Pools {
		pools[p.Name] = p
	}
	assert.Equal(t, preflight.Pool{Name: "a100", Region: "swedencentral", Size: "Standard_NC24ads_A100_v4", Nodes: 4, Surge: 2, GPU: true}, pools["a100"], "a third of 4, rounded up")
	assert.Equal(t, preflight.Pool{Name: "system", Region: "swedencentral", Size: "Standard_D4s_v5", Zones: []string{"1", "2", "3"}, Nodes: 5, Surge: 2}, pools["system"], "the pool that the cluster itself holds")
	inside := map[string]bool{}
	for _, r := range n.Ranges {
		inside[r.Prefix.String()] = r.Inside
	}
	assert.Equal(t, map[string]bool{"10.48.0.0/20": false, "10.240.0.0/15": true, "10.245.0.0/16": true}, inside)
}

func TestNeedsAreThoseOfAnyOrder(t *testing.T) {
	t.Parallel()
	assert.Equal(t, needs(t, "existing"), needs(t, "existing"))
}

func TestAPlanWithoutASubscriptionIsRefused(t *testing.T) {
	t.Parallel()
	_, err := preflight.NeedsOf("dev", nil)
	assert.ErrorContains(t, err, "subscriptionId")
	_, err = preflight.NeedsOf("dev", []preflight.Resource{{Type: "pulumi:providers:azure-native", Inputs: map[string]any{"subscriptionId": "[unknown]"}}})
	assert.ErrorContains(t, err, "subscriptionId")
	_, err = preflight.NeedsOf("dev", []preflight.Resource{{Type: "pulumi:providers:azure-native", Inputs: map[string]any{"subscriptionId": "11111111-2222-3333-4444-555555555555"}}})
	assert.NoError(t, err)
}
