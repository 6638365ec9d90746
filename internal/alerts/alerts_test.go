package alerts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/monitor"
)

// pages is where the runbook pages are.
const pages = "../../docs/runbooks"

// A message without a page helps nobody, and a page without an alert is out of date.
func TestEveryAlertHasItsPage(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(pages)
	require.NoError(t, err)
	var have, want []string
	for _, entry := range entries {
		if entry.Name() != "README.md" {
			have = append(have, entry.Name())
		}
	}
	for _, a := range All() {
		want = append(want, a.ID+".md")
	}
	slices.Sort(want)
	assert.Equal(t, want, have)
	sections := []string{"## What it means", "## Confirm", "## Act", "## Silence"}
	for _, a := range All() {
		text, err := os.ReadFile(filepath.Join(pages, a.ID+".md"))
		require.NoError(t, err)
		lines := strings.Split(string(text), "\n")
		assert.Equal(t, "# "+a.Title, lines[0], a.ID)
		var found []string
		for i, line := range lines {
			if strings.HasPrefix(line, "## ") {
				found = append(found, line)
				assert.NotEmpty(t, strings.TrimSpace(strings.Join(lines[i+1:min(i+3, len(lines))], "")), "%s: %s is empty", a.ID, line)
			}
		}
		assert.Equal(t, sections, found, a.ID)
		for _, link := range regexp.MustCompile(`\]\(([^)]+\.md)\)`).FindAllStringSubmatch(string(text), -1) {
			assert.FileExists(t, filepath.Join(pages, link[1]), a.ID)
		}
	}
}

// The index lists every alert as the table has it.
func TestTheIndexIsTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(pages, "README.md"))
	require.NoError(t, err)
	assert.Contains(t, string(text), index(), "docs/runbooks/README.md is behind the table: copy this in\n"+index())
}

func TestAlertsAreComplete(t *testing.T) {
	t.Parallel()
	list := All()
	assert.True(t, slices.IsSortedFunc(list, func(a, b Alert) int { return strings.Compare(a.ID, b.ID) }))
	seen := map[string]bool{}
	for _, a := range list {
		assert.False(t, seen[a.ID], a.ID)
		seen[a.ID] = true
		assert.Regexp(t, `^[a-z][a-z0-9]*(-[a-z0-9]+)*$`, a.ID)
		assert.NotEmpty(t, a.Title, a.ID)
		assert.NotEmpty(t, a.Why, a.ID)
		assert.Contains(t, []Owner{Platform, Security, Finance}, a.Owner, a.ID)
		assert.True(t, a.Severity >= Critical && a.Severity <= Notice, a.ID)
		switch s := a.Signal.(type) {
		case Metric:
			assert.GreaterOrEqual(t, s.Window, s.Every, a.ID)
			assert.Contains(t, monitor.Frequencies, s.Every, a.ID)
			assert.Contains(t, monitor.Windows, s.Window, a.ID)
			known, ok := monitor.MetricsOf(string(s.Of))
			require.True(t, ok, a.ID)
			metric, ok := known[s.Name]
			require.True(t, ok, "%s: %s", a.ID, s.Name)
			assert.Contains(t, metric.Totals, string(s.Total), a.ID)
			for _, dimension := range []string{s.Split, s.Dimension} {
				assert.True(t, dimension == "" || slices.Contains(metric.Dimensions, dimension), "%s: %s", a.ID, dimension)
			}
		case Query:
			assert.GreaterOrEqual(t, s.Window, s.Every, a.ID+": rows between two looks would be missed")
			assert.LessOrEqual(t, s.Window, MaxWindow, a.ID)
			assert.LessOrEqual(t, len(s.Split), 6, a.ID)
		case Operation:
			assert.NotEmpty(t, s.Operations, a.ID)
			for _, operation := range s.Operations {
				assert.Regexp(t, `^Microsoft\.[A-Za-z]+(/[A-Za-z]+)+/(write|delete|action)$`, operation, a.ID)
			}
		case Rule:
			assert.Positive(t, s.For, a.ID)
		default:
			t.Errorf("%s: signal %T", a.ID, a.Signal)
		}
	}
	list[0].ID = "changed"
	assert.NotEqual(t, "changed", All()[0].ID, "each caller has a copy")
}

// What the issue of a bypass is about is watched by more than one means.
func TestBypassesAreWatchedTwice(t *testing.T) {
	t.Parallel()
	byID := map[string]Alert{}
	for _, a := range All() {
		byID[a.ID] = a
	}
	for _, id := range []string{"batch-door-bypassed", "gateway-bypassed", "batch-job-unknown"} {
		assert.Equal(t, Critical, byID[id].Severity, id)
		assert.Equal(t, Security, byID[id].Owner, id)
	}
	for _, id := range []string{"model-keys", "model-roles-changed", "model-account-changed", "model-deployment-written", "logs-turned-off", "bypass-denied"} {
		assert.IsType(t, Operation{}, byID[id].Signal, id)
		assert.Equal(t, Security, byID[id].Owner, id)
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"PT1M": time.Minute, "PT15M": 15 * time.Minute, "PT90M": 90 * time.Minute, "PT1H": time.Hour, "PT6H": 6 * time.Hour, "P1D": 24 * time.Hour, "P2D": 48 * time.Hour, "PT36H": 36 * time.Hour,
	} {
		assert.Equal(t, want, Duration(d))
	}
}

func TestFunctionsHoldTheFactsOfTheirStack(t *testing.T) {
	t.Parallel()
	functions := Functions(Facts{
		Stack: "my-stack", Gateway: "/subscriptions/S/GW", Insights: "/subscriptions/S/AI",
		Callers: []Caller{{Account: "/A", Door: DoorBatch, Principal: "p"}, {Account: "/A", Door: DoorBatch, Principal: "p"}},
		Tenants: []Tenant{{Name: "b", Owner: `x"y\z`, Budget: 5}, {Name: "a"}},
	})
	texts := map[string]string{}
	for _, f := range functions {
		assert.Regexp(t, `^OneDoorMyStack[A-Z][A-Za-z]+$`, f.Name)
		assert.NotContains(t, f.KQL, own, f.Name)
		assert.NotRegexp(t, `OneDoor[A-Z][a-z]+\(`, strings.ReplaceAll(f.KQL, "OneDoorMyStack", ""), f.Name)
		texts[f.Name] = f.KQL
	}
	assert.Equal(t, "datatable(account:string, door:string, principal:string)[\n    \"/a\", \"batch\", \"p\"\n]", texts["OneDoorMyStackCallers"])
	assert.Equal(t, "datatable(tenant:string, owner:string, budget:real)[\n    \"a\", \"\", real(0),\n    \"b\", \"x\\\"y\\\\z\", real(5)\n]", texts["OneDoorMyStackTenants"])
	assert.Contains(t, texts["OneDoorMyStackCalls"], `_ResourceId == "/subscriptions/s/gw"`)
	assert.Contains(t, texts["OneDoorMyStackJobs"], `_ResourceId == "/subscriptions/s/ai"`)
}

// index is the list of all alerts, as a table of the pages' index.
func index() string {
	var b strings.Builder
	b.WriteString("| alert | severity | owner | what happened |\n|---|---|---|---|\n")
	for _, a := range all {
		fmt.Fprintf(&b, "| [%s](%s.md) | %d | %s | %s |\n", a.ID, a.ID, a.Severity, a.Owner, a.Title)
	}
	return b.String()
}
