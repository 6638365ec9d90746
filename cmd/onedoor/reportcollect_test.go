package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/policypack/results"
)

// TestCollectMakesTheDocumentOfALiveRun: of the same lines that the packs write in a
// simulated one.
func TestCollectMakesTheDocumentOfALiveRun(t *testing.T) {
	t.Parallel()
	dir := project(t)
	code, _, stderr := call(dir, "preview")
	require.Equal(t, exitOK, code, stderr)
	lines := filepath.Join(dir, ".onedoor", "judged", "dev")

	code, stdout, stderr := call(dir, "report", "collect", lines, "--out", "live", "--json")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, `"fail": 0`)
	var simulated, live results.Document
	for file, into := range map[string]*results.Document{"out/dev/policy.json": &simulated, "live/dev/policy.json": &live} {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, into))
	}
	assert.Equal(t, simulated.Results, live.Results)
	assert.Equal(t, "onedoor", live.Subject.Project)
	assert.False(t, live.Subject.Simulated)
	assert.Empty(t, live.Subject.PlanSHA256)

	code, _, stderr = call(dir, "report", "collect", t.TempDir())
	assert.Equal(t, exitUser, code)
	assert.Contains(t, stderr, "ONEDOOR_RESULTS")
	assert.NotContains(t, stderr, "SIMULATED")
}
