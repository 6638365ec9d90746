package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/internal/reach"
)

// record writes a preview of the Azure half of dev in which some text is another
// one.
func record(t *testing.T, dir, old, new string) string {
	t.Helper()
	raw, err := os.ReadFile("../../tests/testdata/dev.preview.json")
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(raw, &doc))
	doc["resources"] = slices.DeleteFunc(doc["resources"].([]any), func(r any) bool {
		return strings.HasPrefix(r.(map[string]any)["type"].(string), "kubernetes:")
	})
	raw, err = json.MarshalIndent(doc, "", "  ")
	require.NoError(t, err)
	require.Contains(t, string(raw), old)
	path := filepath.Join(dir, "plan.json")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(raw), old, new, 1)), 0o644))
	return path
}

func TestReachOfARecordNeedsNoProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	record(t, dir, "dev", "dev")
	code, stdout, stderr := call(dir, "reach", "--plan", "plan.json", "--html", "pages/reach.html")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "Who reaches what in dev.")
	assert.Regexp(t, `\n  blob +443 +yes`, stdout)
	assert.True(t, strings.HasSuffix(stdout, simulated+"\n"))

	page, err := os.ReadFile(filepath.Join(dir, "pages", "reach.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), `<th scope="row">blob</th><td class="open"`)
	for _, fetched := range []string{"<script", "http://", "https://", "src=", "@import", "url("} {
		assert.NotContains(t, string(page), fetched, "the page needs nothing else")
	}
}

func TestReachForMachines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan := record(t, dir, "dev", "dev")
	code, stdout, stderr := call(dir, "reach", "--plan", plan, "--json", "--out", "files")
	require.Equal(t, exitOK, code, stderr)
	var report reach.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	cell, found := report.Matrix.Cell("workers", "blob")
	require.True(t, found)
	assert.True(t, report.OK)
	assert.Equal(t, reach.Open, cell.State)
	assert.Contains(t, cell.By, "in-f03-worker-nodes")
	written, err := os.ReadFile(filepath.Join(dir, "files", "dev", "reach.json"))
	require.NoError(t, err)
	assert.Equal(t, stdout, string(written))
}

// What the platform needs and does not have is a refusal that says which rule.
func TestReachRefusesAPlanThatIsNotWhatItMustBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan := record(t, dir, `"name": "out-f03-blob"`, `"name": "renamed"`)
	code, _, stderr := call(dir, "reach", "--plan", plan)
	assert.Equal(t, exitOK, code, stderr)
	plan = record(t, dir, `"name": "out-f03-blob"`, `"name": "turned", "direction": "Inbound"`)
	code, stdout, stderr := call(dir, "reach", "--plan", plan, "--json")
	assert.Equal(t, exitUser, code)
	var report reach.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	assert.False(t, report.OK)
	require.NotEmpty(t, report.Findings)
	assert.Contains(t, report.Findings[0].Text, "flow 3, worker-nodes to blob (workers read payloads and write results): out of worker-nodes, port 443: held back by nsg-onedoor-dev-worker-nodes/deny-all-outbound")
	assert.Contains(t, stderr, "dev: the plan is not what it must be")
	assert.NotContains(t, stderr, "fault of OneDoor")
}

func TestReachMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "empty.json"), []byte(`{"resources": []}`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "list.json"), []byte(`[]`), 0o644))
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"NoFile":    {[]string{"--plan", "none.json"}, "onedoor preview writes one"},
		"Empty":     {[]string{"--plan", "empty.json"}, "is no record of a preview with resources"},
		"NoRecord":  {[]string{"--plan", "list.json"}, "is no record of a preview with resources"},
		"Both":      {[]string{"--plan", "empty.json", "--stack", "prod"}, "got both, want one"},
		"Word":      {[]string{"prod"}, "name the stack with --stack, or a record with --plan"},
		"NoProject": {nil, "run onedoor inside the project"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := call(dir, append([]string{"reach"}, c.args...)...)
			assert.Equal(t, exitUser, code)
			assert.Contains(t, stderr, c.want)
			assert.Empty(t, stdout)
		})
	}
}

func TestReachPreviewsTheStack(t *testing.T) {
	t.Parallel()
	dir := project(t)
	_, stdout, stderr := call(dir, "reach", "--stack", "prod")
	first, _, _ := strings.Cut(stderr, "\n")
	assert.Equal(t, "OneDoor reach of prod. "+simulated, first)
	require.Contains(t, stdout, "Who reaches what in prod.", stderr)
	raw, err := os.ReadFile(filepath.Join(dir, "out", "prod", "reach.json"))
	require.NoError(t, err)
	var report reach.Report
	require.NoError(t, json.Unmarshal(raw, &report))
	for _, f := range report.Findings {
		assert.NotEqual(t, reach.Missing, f.Kind, f.Text)
		assert.NotContains(t, f.Text, " account", "no way leads to an account but through its door")
	}
}

// Both packages mark what a preview does not know.
func TestReachKnowsTheMarksOfRecords(t *testing.T) {
	t.Parallel()
	m := reach.New([]reach.Resource{{URN: "a::storage", Type: "azure-native:storage:StorageAccount", Inputs: map[string]any{"publicNetworkAccess": engine.Unknown}}})
	cell, found := m.Matrix().Cell("internet", "blob")
	require.True(t, found)
	assert.Equal(t, reach.Unknown, cell.State)
}
