package service_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/alerts"
	"onedoor/internal/az/monitor"
	"onedoor/internal/kqltest"
	"onedoor/internal/prices"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/schedule"
	"onedoor/services/controlplane/usage"
	"onedoor/services/internal/ingestion"
)

// asked is what a query answers over the rows that ingestion has, with the functions
// and the tables that a stack has.
func (w *world) asked(query string) []kqltest.Row {
	w.t.Helper()
	table, err := prices.Load()
	require.NoError(w.t, err)
	price, _ := table.Tokens("gpt-5.1", "GlobalBatch")
	schema := kqltest.Schema{Tables: map[string]string{}}
	for name, table := range monitor.Tables {
		schema.Tables[name] = table.Columns
	}
	for _, f := range alerts.Functions(alerts.Facts{
		Stack: "test", Insights: w.sink.Resource,
		Models: []alerts.Model{{Name: "chat", Door: alerts.DoorBatch, Alias: "chat", Price: price}},
	}) {
		schema.Functions = append(schema.Functions, kqltest.Named{Name: f.Name, Text: f.KQL})
	}
	var rows []kqltest.Row
	for _, row := range w.sink.Rows() {
		rows = append(rows, row)
	}
	found, err := kqltest.Run(kqltest.World{Schema: schema, Rows: map[string][]kqltest.Row{"AppEvents": rows}, Now: w.sim.Now(), Window: monitor.MaxLogWindow}, query)
	require.NoError(w.t, err)
	return found
}

// shown is the value of a metric without labels.
func (w *world) shown(name string) float64 {
	w.t.Helper()
	page := httptest.NewRecorder()
	w.Status().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(page.Body.String()) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(w.t, err)
			return number
		}
	}
	require.Fail(w.t, "no such metric", name)
	return 0
}

// noOutbox is a table that takes everything but events.
type noOutbox struct {
	ledger.Table
	works bool
}

func (n *noOutbox) Insert(ctx context.Context, d ledger.Document) (string, error) {
	if d.Partition == "outbox" && !n.works {
		return "", errDown
	}
	return n.Table.Insert(ctx, d)
}

// What the queries read is what the ledger has, field by field: a job with answers, a
// refusal and lines that failed.
func TestQueriesReadWhatTheLedgerHas(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.submit("desk", line("a", "chat", "x")+line("b", "chat", "[sim:refused]")+line("c", "chat", "[sim:broken]"), nil)
	j := w.ended("desk", id)
	entries, err := usage.Store{Table: w.table}.Between(t.Context(), "desk", start, start.AddDate(0, 0, 9))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.NotNil(t, j.Cost)
	require.Positive(t, j.Results.Input)
	require.Equal(t, []int{1, 1, 1}, []int{j.Results.Answered, j.Results.Refused, j.Results.Failed})

	assert.Equal(t, []kqltest.Row{{
		"TimeGenerated": w.sink.Rows()[1]["TimeGenerated"], "at": entries[0].At.UTC().Truncate(time.Second),
		"event": schedule.Terminal, "tenant": j.Tenant, "alias": j.Alias, "job": j.ID, "status": string(j.Status), "detail": "",
		"items": float64(j.Lines), "answered": float64(j.Results.Answered), "refused": float64(j.Results.Refused),
		"input": float64(j.Results.Input), "cached": float64(j.Results.Cached), "output": float64(j.Results.Output),
	}}, w.asked(`OneDoorTestJobs() | where event == "batch.job.terminal"`))
	used := w.asked(`OneDoorTestUsageBatch()`)
	require.Len(t, used, 1)
	assert.InDelta(t, entries[0].Cost.Dollars(), used[0]["usd"], 1e-6, "to the ledger's millionth")
	assert.Equal(t, []any{"gpt-5.1", float64(entries[0].Used.Input), entries[0].At.UTC().Truncate(time.Second)}, []any{used[0]["model"], used[0]["input"], used[0]["TimeGenerated"]})
}

// Every event comes through, whatever ingestion does, and counts once.
func TestEventsComeThroughOnce(t *testing.T) {
	t.Parallel()
	refuse := func(status, n int) []ingestion.Fault {
		faults := make([]ingestion.Fault, n)
		for i := range faults {
			faults[i] = ingestion.Fault{Status: status}
		}
		return faults
	}
	for name, faults := range map[string][]ingestion.Fault{
		"all is well":             nil,
		"it is down for hours":    refuse(http.StatusServiceUnavailable, 40),
		"the day's cap is spent":  refuse(439, 3),
		"no role yet":             refuse(http.StatusForbidden, 5),
		"answers are lost":        {{Lost: true}, {Lost: true}, {Lost: true}},
		"a part is refused":       {{Item: true}, {Item: true}},
		"lost, refused, and down": {{Lost: true}, {Item: true}, {Status: http.StatusTooManyRequests}, {Lost: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			w.faulty = true
			w.sink.Inject(faults...)
			desk := map[string]bool{}
			for range 3 {
				desk[w.submit("desk", lines(2), nil)] = true
			}
			late := w.submit("labs", lines(1), map[string]string{"deadline": "1m"}) // which is over before it is submitted
			for id := range desk {
				w.ended("desk", id)
			}
			w.ended("labs", late)
			w.pass(6 * time.Hour)
			got := map[string]int{}
			for _, row := range w.asked("OneDoorTestJobs()") {
				got[row["event"].(string)+" "+row["tenant"].(string)]++
				if row["event"] == schedule.Terminal && row["tenant"] == "desk" {
					assert.True(t, desk[row["job"].(string)])
					delete(desk, row["job"].(string))
				}
			}
			assert.Equal(t, map[string]int{
				"batch.job.submitted desk": 3, "batch.job.terminal desk": 3, "batch.job.late labs": 1, "batch.job.terminal labs": 1,
			}, got)
			assert.Empty(t, desk)
			assert.Zero(t, w.shown("onedoor_batch_events_waiting_seconds"))
		})
	}
}

// While events cannot get out, jobs go on, and the metric says for how long.
func TestEventsThatWaitAreSeen(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.faulty = true
	for range 1000 {
		w.sink.Inject(ingestion.Fault{Status: http.StatusServiceUnavailable})
	}
	j := w.ended("desk", w.submit("desk", lines(1), nil))
	assert.Equal(t, 1, j.Results.Answered)
	w.pass(time.Hour)
	assert.Empty(t, w.sink.Rows())
	assert.InDelta(t, w.sim.Now().Sub(j.Started).Seconds(), w.shown("onedoor_batch_events_waiting_seconds"), 1)
}

// An event that cannot be kept keeps from being what it is about: a job that has
// ended, and that nobody hears of, is what must not be.
func TestNothingHappensUnsaid(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.faulty = true
	table := &noOutbox{Table: w.table}
	w.table = table
	w.start(given())
	id := w.submit("desk", lines(1), nil)
	w.pass(4 * time.Hour)
	assert.True(t, w.job("desk", id).Open())
	table.works = true
	assert.Equal(t, 1, w.ended("desk", id).Results.Answered)
	assert.Len(t, w.asked(`OneDoorTestJobs() | where event == "batch.job.terminal"`), 1)
}
