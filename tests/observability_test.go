package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/alerts"
	"onedoor/internal/armtypes"
	"onedoor/internal/az/monitor"
	"onedoor/internal/engine"
)

// logged are the ids, in lower case, of what a stack's diagnostic settings are for.
func logged(result *engine.Result) map[string]bool {
	ids := map[string]bool{}
	for _, r := range result.Resources {
		if strings.HasSuffix(r.Type, ":DiagnosticSetting") {
			uri, _ := r.Inputs["resourceUri"].(string)
			ids[strings.ToLower(uri)] = true
		}
	}
	return ids
}

// Whatever can say who did what says so: a resource without a diagnostic setting
// is one that nobody can prove anything about.
func TestNoResourceKeepsItsLogsToItself(t *testing.T) {
	t.Parallel()
	catalog, err := armtypes.Load()
	require.NoError(t, err)
	for stack, file := range stackFiles {
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			_, result := preview(t, stack, file)
			ids, seen := logged(result), 0
			require.NotEmpty(t, ids)
			subscription := ""
			for _, r := range result.Resources {
				if r.Type == "pulumi:providers:azure-native" {
					subscription, _ = r.Inputs["subscriptionId"].(string)
				}
			}
			tables := map[string]bool{} // accounts with tables, by name
			for _, r := range result.Resources {
				if account, ok := r.Inputs["accountName"].(string); ok && strings.HasSuffix(r.Type, ":Table") {
					tables[account] = true
				}
			}
			for _, r := range result.Resources {
				typ, known := catalog.ByToken(r.Type)
				if !known {
					continue
				}
				id, problems := typ.ID(r.Inputs, subscription)
				require.Empty(t, problems, r.URN)
				if account, ok := r.Inputs["accountName"].(string); ok && tables[account] && strings.HasSuffix(r.Type, ":StorageAccount") {
					seen++
					assert.True(t, ids[strings.ToLower(id+"/tableServices/default")], "%s: its tables keep their logs to themselves", r.URN)
				}
				source, ok := monitor.SourceOf(typ.ARMType)
				if _, quiet := monitor.Quiet[strings.ToLower(typ.ARMType)]; !ok || quiet || len(source.Logs) == 0 {
					continue
				}
				seen++
				assert.True(t, ids[strings.ToLower(id)], "%s has no diagnostic setting", r.URN)
			}
			assert.Greater(t, seen, 8, "the test must have met resources")
		})
	}
}

// Every alert of the table is in every stack, tells an action group, and leads to a
// page that is there.
func TestStacksHaveEveryAlert(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(projectDir, "docs", "runbooks", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for stack, file := range stackFiles {
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			_, result := preview(t, stack, file)
			text := map[string]string{} // by logical name, all inputs
			for _, r := range result.Resources {
				if strings.Contains(r.Type, "lert") || strings.HasSuffix(r.Type, ":ScheduledQueryRule") || strings.HasSuffix(r.Type, ":PrometheusRuleGroup") {
					text[r.Name] = strings.Join(flatten(r.Inputs), "\n")
				}
			}
			for _, a := range alerts.All() {
				found := ""
				for name, inputs := range text {
					if name == "observability-"+a.ID || strings.HasPrefix(name, "observability-"+a.ID+"-") || strings.HasSuffix(name, "-work") && strings.Contains(inputs, a.ID) || strings.HasSuffix(name, "-serving") && strings.Contains(inputs, a.ID) {
						found = inputs
					}
				}
				require.NotEmpty(t, found, a.ID)
				assert.Contains(t, found, "/actionGroups/", a.ID)
				assert.Contains(t, found, a.ID+".md", a.ID)
				_, err := os.Stat(filepath.Join(projectDir, a.Page()))
				assert.NoError(t, err, a.ID)
			}
		})
	}
}
