package faults

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stateful are the types that hold what cannot be made again, or take an hour to make.
var stateful = []string{
	"ResourceGroup", "Workspace", "StorageAccount", "BlobContainer", "Table", "Vault", "Registry", "Namespace", "Queue", "Topic",
	"ManagedCluster", "Account", "ApiManagementService",
}

// testdata holds the state and the simulated cloud of dev as the first version with all
// components made it (commit 57d1c76). The program of today must plan to take it over in place.
// It is a plan alone: the products of that version had other ids, and Azure does not delete a
// product that has subscriptions.
func TestTodaysProgramReplacesNothingStatefulOfTheFirstVersion(t *testing.T) {
	t.Parallel()
	s := session(t, "dev")
	unpack(t, "first.state.json.gz", filepath.Join(s.Home, "state", ".pulumi", "stacks", "onedoor", "dev.json"))
	unpack(t, "first.azure.json.gz", filepath.Join(s.Home, "azure", "dev.json"))
	before := stateOf(t, s)
	require.NotEmpty(t, before.Resources)

	plan, err := s.Preview(t.Context())
	require.NoError(t, err)
	for _, r := range plan.Resources {
		if r.Op == "replace" || r.Op == "delete" {
			t.Log(r.Op, r.URN, r.Because)
		}
	}
	kept := 0
	for _, r := range plan.Resources {
		kind := r.Type[strings.LastIndex(r.Type, ":")+1:]
		if !strings.HasPrefix(r.Type, "azure-native:") || !slices.Contains(stateful, kind) {
			continue
		}
		assert.NotContains(t, []string{"replace", "delete"}, r.Op, "%s because of %v", r.URN, r.Because)
		if r.Op == "same" || r.Op == "update" {
			kept++
		}
	}
	assert.Greater(t, kept, 20, "what holds data is there still")
}

// unpack writes a recorded file.
func unpack(t *testing.T, name, to string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	raw, err := io.ReadAll(z)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
	require.NoError(t, os.WriteFile(to, raw, 0o600))
}
