package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
)

// writes are the writes to the cluster and its pools that an update made, in
// the order in which the simulated Azure took them, and whether KEDA is on after
// it.
type writes struct {
	list []sim.LogEntry
	keda any
}

// see fills w from the cloud after an operation.
func (w *writes) see(cloud *sim.Cloud) {
	*w = writes{}
	for _, entry := range cloud.Log() {
		if strings.Contains(entry.ID, "/managedClusters/") {
			w.list = append(w.list, entry)
		}
	}
	for _, r := range cloud.State().Resources {
		if r.Type == "Microsoft.ContainerService/managedClusters" {
			profile, _ := r.Body["properties"].(map[string]any)["workloadAutoScalerProfile"].(map[string]any)
			keda, _ := profile["keda"].(map[string]any)
			w.keda = keda["enabled"]
		}
	}
}

// The order that everything in the cluster relies on, as Azure sees it: the
// cluster with workload identity, then KEDA, then pool after pool, none
// overlapping another.
func TestAzureSeesWorkloadIdentityThenKEDAThenPools(t *testing.T) {
	t.Parallel()
	s := session(t, "dev", stackFiles["dev"])
	var seen writes
	s.Inspect = seen.see
	_, err := s.Up(t.Context())
	require.NoError(t, err)
	var order []string
	for i, w := range seen.list {
		order = append(order, w.ID[strings.Index(w.ID, "/managedClusters/")+len("/managedClusters/"):])
		if i > 0 {
			assert.GreaterOrEqual(t, w.Start, seen.list[i-1].End, "%s began before %s had ended", w.ID, seen.list[i-1].ID)
		}
	}
	const name = "aks-onedoor-dev"
	assert.Equal(t, []string{name, name, name + "/agentPools/worker", name + "/agentPools/batch", name + "/agentPools/a100"}, order)
	assert.Equal(t, true, seen.keda)

	_, err = s.Up(t.Context())
	require.NoError(t, err)
	assert.Empty(t, seen.list, "a second update has nothing to write")

	// A tag is a write to the cluster that does not mention KEDA.
	raw, err := os.ReadFile(stackFiles["dev"])
	require.NoError(t, err)
	s.StackFile = filepath.Join(t.TempDir(), "dev.yaml")
	changed := strings.Replace(string(raw), "owner: platform@example.com", "owner: somebody@example.com", 1)
	require.NotEqual(t, string(raw), changed)
	require.NoError(t, os.WriteFile(s.StackFile, []byte(changed), 0o644))
	_, err = s.Up(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, seen.list)
	assert.Equal(t, true, seen.keda, "KEDA is on after every update")
}
