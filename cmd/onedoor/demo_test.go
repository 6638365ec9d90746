package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/demo"
)

func TestDemoBatch(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := call(t.TempDir(), "demo", "batch", "--json")
	require.Equal(t, exitOK, code, stderr)
	var report demo.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	assert.Len(t, report.Tenants, 2)
	assert.Contains(t, stderr, simulated)

	code, stdout, stderr = call(t.TempDir(), "demo", "batch")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stderr, "30 of 30")
	assert.Contains(t, stdout, "content_filter")
}

func TestDemoRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"demo", "chat"}, {"demo", "batch", "now"}, {"demo", "batch", "--stack", "dev"}} {
		code, _, stderr := call(t.TempDir(), args...)
		assert.Equal(t, exitUser, code, "%q: %s", args, stderr)
	}
}
