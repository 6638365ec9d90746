package aks

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/armtypes"
)

// A property that the type does not have would be ignored in silence.
func TestImmutablesAreInputsOfTheirTypes(t *testing.T) {
	t.Parallel()
	catalog, err := armtypes.Load()
	require.NoError(t, err)
	for token, immutables := range map[string][]Immutable{
		"azure-native:containerservice/v20250101:AgentPool":      PoolImmutables,
		"azure-native:containerservice/v20250101:ManagedCluster": ClusterImmutables,
	} {
		resource, known := catalog.ByToken(token)
		require.True(t, known, token)
		seen := map[string]bool{}
		for _, i := range immutables {
			root, _, _ := strings.Cut(i.Property, ".")
			assert.True(t, resource.HasInput(root), "%s has no %s", token, i.Property)
			assert.False(t, seen[i.Property], "%s twice", i.Property)
			seen[i.Property] = true
			assert.Contains(t, []Force{ByProvider, ByService, OneWay}, i.Force)
			assert.Equal(t, i.Force == OneWay, i.Force == OneWay && i.Why != "", "%s: what changes are refused", i.Property)
		}
	}
}

// Every property that the check of a pool reads and that is made with the nodes
// replaces them; what AKS updates in place does not.
func TestReplaceOnChanges(t *testing.T) {
	t.Parallel()
	pool := ReplaceOnChanges(PoolImmutables)
	for _, property := range []string{
		"gpuProfile", "availabilityZones", "maxPods", "osType", "osDiskType", "osDiskSizeGB", "kubeletDiskType", "vnetSubnetID", "podSubnetID",
		"scaleSetPriority", "scaleSetEvictionPolicy", "spotMaxPrice", "enableFIPS", "enableEncryptionAtHost", "enableNodePublicIP",
		"nodePublicIPPrefixID", "enableUltraSSD", "kubeletConfig", "linuxOSConfig", "hostGroupID", "proximityPlacementGroupID",
		"capacityReservationGroupID", "type",
	} {
		assert.Contains(t, pool, property)
	}
	for _, property := range []string{
		"count", "minCount", "maxCount", "enableAutoScaling", "mode", "nodeLabels", "nodeTaints", "tags", "scaleDownMode", "upgradeSettings",
		"orchestratorVersion", "powerState", "osSKU", // in place
		"vmSize", "gpuInstanceProfile", // the provider replaces by itself
	} {
		assert.NotContains(t, pool, property)
	}
	assert.True(t, slices.IsSorted(pool))
	assert.Equal(t, []string{"apiServerAccessProfile.enablePrivateCluster", "apiServerAccessProfile.privateDNSZone", "enableRBAC", "identityProfile"},
		ReplaceOnChanges(ClusterImmutables))
}
