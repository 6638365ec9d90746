package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/policypack/results"
	"onedoor/internal/report"
)

var update = flag.Bool("update", false, "rewrite generated files")

// collected is when the fixture was judged.
var collected = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

const (
	urn    = "urn:pulumi:prod::platform::onedoor:door:Batch$azure-native:cognitiveservices:"
	batch  = urn + "Deployment::batch"
	chat   = urn + "Deployment::chat"
	model  = urn + "Account::models"
	blobs  = "urn:pulumi:prod::platform::azure-native:storage:StorageAccount::results"
	hostil = "urn:pulumi:prod::platform::azure-native:storage:StorageAccount::<script>|x"
)

// everyState is a document with every state, two failures of one resource by one
// rule, and a resource whose name is markup.
func everyState(t *testing.T) results.Document {
	t.Helper()
	run := results.Run{
		Pack: results.Pack{Name: "batchdoor", Version: "1.2.0", SHA256: "aa11"}, Profile: "standard", Complete: true,
		Rules: []results.Rule{
			{ID: "AOA-01", Severity: "critical", Level: results.Mandatory, Controls: []string{"MCSB IM-1", "CIS AKS 5.5.1"}},
			{ID: "AOA-04", Severity: "medium", Level: results.Advisory, Controls: []string{"MCSB IM-3"}},
			{ID: "BAT-01", Severity: "critical", Level: results.Mandatory, Controls: []string{"MCSB AM-2", "MCSB AI-1"}},
			{ID: "BAT-07", Severity: "critical", Level: results.Mandatory, Controls: []string{"MCSB NS-10", "MCSB NS-2"}},
			{ID: "KV-01", Severity: "high", Level: results.Mandatory, Controls: []string{"MCSB DP-8"}},
			{ID: "ST-01", Severity: "critical", Level: results.Mandatory, Controls: []string{"MCSB IM-1", "MCSB NS-2"}},
			{ID: "ST-03", Severity: "low", Level: results.Advisory},
		},
		Judgements: []results.Judgement{
			{Rule: "AOA-01", URN: model, State: results.Pass, Evidence: results.Evidence{Path: "properties.disableLocalAuth", Value: "true", Expected: "true"}},
			{Rule: "AOA-04", URN: model, State: results.Fail, Reason: "identity.type is absent, want \"SystemAssigned\"", Evidence: results.Evidence{Path: "identity.type", Expected: `"SystemAssigned"`}},
			{Rule: "BAT-01", URN: batch, State: results.Pass, Evidence: results.Evidence{Path: "sku.name", Value: "GlobalBatch"}},
			{Rule: "BAT-01", URN: chat, State: results.Fail, Reason: "sku.name is GlobalBatch, want a synchronous SKU", Evidence: results.Evidence{Path: "sku.name", Value: "GlobalBatch", Expected: "a synchronous SKU"}},
			{Rule: "BAT-07", URN: model, State: results.NotChecked, Reason: "properties.subnet.id is unknown", Evidence: results.Evidence{Path: "properties.subnet.id", Value: "[unknown]"}},
			{Rule: "KV-01", State: results.NotApplicable, Reason: "no resource of its types in the stack"},
			{Rule: "ST-01", URN: blobs, State: results.Fail, Reason: "allowSharedKeyAccess is true, want false", Evidence: results.Evidence{Path: "allowSharedKeyAccess", Value: "true", Expected: "false"}},
			{Rule: "ST-01", URN: blobs, State: results.Fail, Reason: "allowBlobPublicAccess is true, want false", Evidence: results.Evidence{Path: "allowBlobPublicAccess", Value: "true", Expected: "false"}},
			{Rule: "ST-03", URN: hostil, State: results.Fail, Reason: "no rule deletes <b>prompts</b> | @all", Evidence: results.Evidence{Path: "policy.rules"}},
		},
	}
	waivers := []results.Waiver{
		{ID: "W-1", Rule: "ST-01", URN: blobs, Owner: "ann@example.com", Approver: "bob@example.com", Ticket: "SEC-7", Reason: "the old reader still uses keys", Expires: "2027-01-31", CompensatingControl: "keys rotate daily"},
		{ID: "W-2", Rule: "AOA-04", URN: model, Owner: "ann@example.com", Approver: "bob@example.com", Ticket: "SEC-8", Reason: "migration", Expires: "2026-10-31", CompensatingControl: "network is closed", Void: "expired"},
	}
	d, err := results.Make(results.Subject{
		Project: "platform", Stack: "prod", Commit: "0123abc", Dirty: true, PlanSHA256: "bb22", ConfigSHA256: "cc33", Simulated: true,
	}, []results.Run{run}, waivers)
	require.NoError(t, err)
	return d
}

// catalog is the real one.
func catalog(t *testing.T) report.Catalog {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "rules", "rules.json"))
	require.NoError(t, err)
	c, err := report.ParseCatalog(raw)
	require.NoError(t, err)
	return c
}

// fixed is a catalogue for goldens, which must not change with the packs.
var fixed = report.Catalog{
	{ID: "AOA-01", Pack: "platform", Title: "Model accounts take no keys", Rationale: "A key has no name.", Remedy: "Set disableLocalAuth to true."},
	{ID: "AOA-04", Pack: "platform", Title: "Model accounts have an identity", Rationale: "Without one they need keys.", Remedy: "Set identity.type."},
	{ID: "BAT-01", Pack: "batchdoor", Title: "A batch SKU stands only in the control plane's account", Rationale: "It is a second door.", Remedy: "Move the deployment."},
	{ID: "BAT-07", Pack: "batchdoor", Title: "Endpoints lie in one subnet", Rationale: "An endpoint is a way in.", Remedy: "Move the endpoint."},
	{ID: "ST-01", Pack: "platform", Title: "Storage takes no keys", Rationale: "A key has no name.", Remedy: "Set allowSharedKeyAccess to false."},
	{ID: "ST-03", Pack: "platform", Title: "Prompts are deleted on time", Rationale: "What is kept leaks.", Remedy: "Add a rule."},
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with -update")
	assert.Equal(t, string(want), string(got), "%s is out of date: write it with -update and read the difference", path)
}
