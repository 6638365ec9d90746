package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/policypack/results"
	reporting "onedoor/internal/report"
)

const openAccount = "urn:pulumi:dev::platform::azure-native:storage:StorageAccount::results"

// judgedRun writes the policy.json of a run in which ST-01 is in the state for one
// account, and returns its path.
func judgedRun(t *testing.T, dir, stack string, state results.State) string {
	t.Helper()
	d, err := results.Make(results.Subject{Project: "platform", Stack: stack, Commit: "0123abc", Simulated: true}, []results.Run{{
		Pack: results.Pack{Name: "platform", Version: "1.0.0"}, Profile: "strict", Complete: true,
		Rules:      []results.Rule{{ID: "ST-01", Severity: "critical", Level: results.Mandatory, Controls: []string{"MCSB IM-1"}}},
		Judgements: []results.Judgement{{Rule: "ST-01", URN: openAccount, State: state, Reason: "allowSharedKeyAccess is true, want false"}},
	}}, nil)
	require.NoError(t, err)
	path, err := embedded.WritePolicy(&d, dir)
	require.NoError(t, err)
	return path
}

func TestReportWritesEveryFormatBesideItsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "out", "dev"), "dev", results.Fail)
	code, stdout, stderr := call(dir, "report", "out/dev/policy.json", "--at", "2026-11-29T12:00:00Z")
	require.Equal(t, exitOK, code, "a failed run is what needs a report: %s", stderr)
	assert.Contains(t, stdout, "platform/dev: 1 fail (1 of mandatory rules)")
	for name, want := range map[string]string{
		"report.sarif": `"ruleId": "ST-01"`, "report.junit.xml": "<failure", "report.md": "**Refused: 1 failures",
		"report.html": "Storage takes no keys", "report.oscal.json": `"collected": "2026-11-29T12:00:00Z"`,
	} {
		assert.Contains(t, stdout, filepath.Join("out", "dev", name))
		raw, err := os.ReadFile(filepath.Join(dir, "out", "dev", name))
		require.NoError(t, err)
		assert.Contains(t, string(raw), want, name)
	}
}

func TestReportOfSeveralRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "a"), "dev", results.Pass)
	judgedRun(t, filepath.Join(dir, "b"), "prod", results.Fail)
	code, stdout, stderr := call(dir, "report", "a/policy.json", "b/policy.json", "--out", "reports", "--json")
	require.Equal(t, exitOK, code, stderr)
	var got struct{ Reports []written }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Reports, 2)
	assert.Equal(t, 1, got.Reports[1].Summary.Blocking)
	for _, file := range append(got.Reports[0].Files, got.Reports[1].Files...) {
		assert.FileExists(t, filepath.Join(dir, file))
	}
	assert.Contains(t, got.Reports[1].Files, filepath.Join("reports", "prod", "report.html"))

	code, _, stderr = call(dir, "report", "a/policy.json", "a/policy.json", "--out", "twice")
	assert.Equal(t, exitUser, code)
	assert.Contains(t, stderr, "would replace those of the first")
	assert.NoDirExists(t, filepath.Join(dir, "twice"), "nothing is written then")
}

func TestReportRefusesWhatIsNoRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.json":   "{}",
		"other.json":   `{"subject": {"stack": "dev"}, "unknown": 1}`,
		"silent.json":  `{"subject": {"stack": "dev"}, "packs": [{"name": "platform"}], "results": []}`,
		"nothing.json": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	good := judgedRun(t, dir, "dev", results.Pass)
	for want, args := range map[string][]string{
		"got no file":              {"report"},
		"no such file":             {"report", "gone.json"},
		"0 packs":                  {"report", "empty.json"},
		"unknown field":            {"report", "other.json"},
		"silence is not a pass":    {"report", "silent.json"},
		"EOF":                      {"report", "nothing.json"},
		`--at: got "noon"`:         {"report", good, "--at", "noon"},
		"the old policy.json":      {"report", "diff", good},
		"0 packs and 0 results":    {"report", "diff", good, "empty.json"},
		"got 0 files":              {"report", "waivers"},
		"--config and --out":       {"report", "waivers", good, "--out", "x"},
		"want a file of waivers":   {"report", "waivers", good, "--waivers", "gone.yaml"},
		`--today: got "tomorrow"`:  {"report", "waivers", good, "--today", "tomorrow"},
		"unknown flag: --profiles": {"report", good, "--profiles"},
	} {
		code, _, stderr := call(dir, args...)
		assert.Equal(t, exitUser, code, "%v: %s", args, stderr)
		assert.Contains(t, stderr, want, args)
	}
}

func TestReportDiffEndsWithOneWhenSomethingIsWorse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pass := judgedRun(t, filepath.Join(dir, "a"), "dev", results.Pass)
	fail := judgedRun(t, filepath.Join(dir, "b"), "dev", results.Fail)
	prod := judgedRun(t, filepath.Join(dir, "c"), "prod", results.Pass)
	code, stdout, stderr := call(dir, "report", "diff", pass, fail)
	assert.Equal(t, exitUser, code)
	assert.Contains(t, stdout, "new: 1\n  ST-01 StorageAccount results: allowSharedKeyAccess is true, want false")
	assert.Contains(t, stderr, "is worse than")
	code, stdout, stderr = call(dir, "report", "diff", fail, pass, "--json")
	assert.Equal(t, exitOK, code, stderr)
	var got reporting.Difference
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Changes, 1)
	assert.Equal(t, reporting.Fixed, got.Changes[0].Kind)
	code, _, stderr = call(dir, "report", "diff", fail, fail)
	assert.Equal(t, exitOK, code, "what was open before is no change: %s", stderr)
	code, _, stderr = call(dir, "report", "diff", pass, prod)
	assert.Equal(t, exitUser, code)
	assert.Contains(t, stderr, "two runs of one stack")
}
