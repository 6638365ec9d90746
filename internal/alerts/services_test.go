package alerts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/telemetry"
	"onedoor/services/worker/status"
)

// shown are the metrics that the platform's own programs show, each with its labels.
func shown(t *testing.T) map[string][]string {
	t.Helper()
	described := make(chan *client.Desc)
	go func() {
		defer close(described)
		telemetry.New(0).Registry.Describe(described)
		status.New("text", func() float64 { return 1 }).Registry.Describe(described)
	}()
	out := map[string][]string{}
	form := regexp.MustCompile(`fqName: "([^"]+)".*constLabels: \{(.*?)\}, variableLabels: \{(.*?)\}`)
	word := regexp.MustCompile(`[a-z_]+`)
	for d := range described {
		parts := form.FindStringSubmatch(d.String())
		require.NotNil(t, parts, "%s", d)
		labels := word.FindAllString(parts[3], -1)
		for pair := range strings.SplitSeq(parts[2], ",") {
			if name, _, ok := strings.Cut(pair, "="); ok {
				labels = append(labels, name)
			}
		}
		out[parts[1]] = labels
	}
	return out
}

// series are the platform's own metrics in PromQL, each with the labels that it is
// chosen by; grouped are the labels that results are grouped by.
func series(expr string) (chosen map[string][]string, grouped []string) {
	chosen = map[string][]string{}
	label := regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`)
	for _, found := range regexp.MustCompile(`\b(onedoor_[a-z_]+)(\{[^}]*\})?`).FindAllStringSubmatch(expr, -1) {
		name := found[1]
		for _, part := range []string{"_bucket", "_sum", "_count"} { // of a histogram
			name = strings.TrimSuffix(name, part)
		}
		labels := chosen[name]
		for _, l := range label.FindAllStringSubmatch(found[2], -1) {
			labels = append(labels, l[1])
		}
		chosen[name] = labels
	}
	for _, found := range regexp.MustCompile(`\bby \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		for l := range strings.SplitSeq(found[1], ",") {
			if l = strings.TrimSpace(l); l != "le" {
				grouped = append(grouped, l)
			}
		}
	}
	return chosen, grouped
}

// unknown are what an expression asks of metrics that no program shows.
func unknown(expr string, shown map[string][]string) []string {
	var out, known []string
	chosen, grouped := series(expr)
	for name, labels := range chosen {
		have, ok := shown[name]
		if !ok {
			out = append(out, name)
			continue
		}
		known = append(known, have...)
		for _, l := range labels {
			if !slices.Contains(have, l) {
				out = append(out, name+"{"+l+"}")
			}
		}
	}
	for _, l := range grouped {
		if len(chosen) > 0 && !slices.Contains(known, l) {
			out = append(out, "by "+l)
		}
	}
	slices.Sort(out)
	return out
}

// Rules and dashboards ask for metrics, and labels of them, that the programs show.
// A name that nobody shows is an alert that never fires.
func TestProgramsShowWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	have := shown(t)
	asked := map[string]bool{}
	check := func(where, expr string) {
		assert.Empty(t, unknown(expr, have), where)
		chosen, _ := series(expr)
		for name := range chosen {
			asked[name] = true
		}
	}
	for _, rule := range promRules() {
		check(rule.Name, rule.Expr)
	}
	files, err := filepath.Glob("../../docs/dashboards/*.json")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`"expr": ("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(string(text), -1) {
			var expr string
			require.NoError(t, json.Unmarshal([]byte(found[1]), &expr))
			check(filepath.Base(file), expr)
		}
	}
	for _, name := range []string{"onedoor_batch_events_total", "onedoor_batch_outputs_seconds", "onedoor_worker_items_total", "onedoor_worker_item_seconds"} {
		assert.True(t, asked[name], "%s: the test reads what is asked for", name)
	}
	assert.Equal(t, []string{"by job", "onedoor_batch_events_total{name}", "onedoor_batch_late"},
		unknown(`sum by (job, event) (onedoor_batch_events_total{name="x",event=~"y"}) or onedoor_batch_late`, have), "the test judges")
}
