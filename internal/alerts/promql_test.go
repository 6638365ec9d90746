package alerts

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/prices"
)

// The question and the answer of tools/promqlcheck.
type (
	promRule struct {
		Name       string  `json:"name"`
		Expr       string  `json:"expr"`
		ForSeconds float64 `json:"forSeconds"`
	}
	promIncident struct {
		Name      string  `json:"name"`
		Load      string  `json:"load"`
		AtSeconds float64 `json:"atSeconds"`
	}
	promAnswer struct {
		Problems []string            `json:"problems"`
		Fires    map[string][]string `json:"fires"`
		Answers  [][]promSeries      `json:"answers"`
	}
	promSeries struct {
		Labels map[string]string `json:"labels"`
		Values []*float64        `json:"values"`
	}
)

// prometheus asks Prometheus's own parser and engine. Their first build needs the
// network.
func prometheus(t *testing.T, rules []promRule, incidents []promIncident) promAnswer {
	t.Helper()
	return askPrometheus(t, map[string]any{"rules": rules, "incidents": incidents})
}

func askPrometheus(t *testing.T, asked map[string]any) promAnswer {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: builds Prometheus's engine")
	}
	question, err := json.Marshal(asked)
	require.NoError(t, err)
	run := exec.CommandContext(t.Context(), "go", "run", "-C", "../../tools/promqlcheck", ".")
	run.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	run.Stdin = bytes.NewReader(question)
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	require.NoError(t, err, stderr.String())
	var answer promAnswer
	require.NoError(t, json.Unmarshal(out, &answer))
	return answer
}

func promRules() []promRule {
	var list []promRule
	for _, a := range All() {
		if rule, ok := a.Signal.(Rule); ok {
			list = append(list, promRule{a.ID, rule.Expr, rule.For.Seconds()})
		}
	}
	return list
}

// healthy are the series of a cluster in which all is well, a point a minute for
// two hours.
var healthy = []string{
	`onedoor_batch_events_total{event="batch.job.terminal",status="completed"} 0+1x120`,
	`onedoor_batch_events_total{event="batch.job.terminal",status="expired"} 3x120`,
	`onedoor_batch_events_total{event="batch.door.foreign",status=""} `,
	`onedoor_batch_events_total{event="batch.job.late",status=""} `,
	`onedoor_batch_events_total{event="batch.nightly.missed",status=""} `,
	`onedoor_batch_deadline_seconds{batch_job="j"} 50000-60x120`,
	`onedoor_batch_events_waiting_seconds{pod="a"} 0x60 10+60x20 0x40`, `onedoor_batch_events_waiting_seconds{pod="b"} 0x120`,
	`onedoor_leader{pod="a"} 1x120`, `onedoor_leader{pod="b"} 0x120`,
	`onedoor_batch_outputs_seconds{tenant="labs",batch_job="j"} 1000000-60x120`,
	`onedoor_worker_items_total{queue="text",outcome="answered"} 0+10x120`,
	`onedoor_worker_items_total{queue="text",outcome="refused"} 0+0.2x120`,
	`onedoor_worker_items_total{queue="text",outcome="dead_lettered"} 0+0.1x120`,
	`onedoor_intake_items_total{tenant="labs",modality="text",outcome="accepted"} 0+10x120`,
	`kube_horizontalpodautoscaler_status_current_replicas{namespace="onedoor-workers",horizontalpodautoscaler="keda-hpa-worker-text"} 2x120`,
	`kube_horizontalpodautoscaler_spec_max_replicas{namespace="onedoor-workers",horizontalpodautoscaler="keda-hpa-worker-text"} 4x120`,
	`ray_vllm_num_requests_waiting{model_name="small",pod="r"} 0x120`,
	`ray_vllm_num_requests_running{model_name="small",pod="r"} 3x120`,
	`ray_vllm_kv_cache_usage_perc{model_name="small",pod="r"} 0.5x120`,
	`ray_vllm_request_success_total{model_name="small",pod="r"} 0+30x120`,
	`ray_vllm_prompt_tokens_total{model_name="small",pod="r"} 0+600x120`,
	`ray_vllm_generation_tokens_total{model_name="small",pod="r"} 0+300x120`,
	`ray_vllm_time_to_first_token_seconds_bucket{model_name="small",le="1"} 0+29x120`,
	`ray_vllm_time_to_first_token_seconds_bucket{model_name="small",le="10"} 0+30x120`,
	`ray_vllm_time_to_first_token_seconds_bucket{model_name="small",le="+Inf"} 0+30x120`,
	`ray_vllm_request_time_per_output_token_seconds_bucket{model_name="small",le="0.1"} 0+30x120`,
	`ray_vllm_request_time_per_output_token_seconds_bucket{model_name="small",le="1"} 0+30x120`,
	`ray_vllm_request_time_per_output_token_seconds_bucket{model_name="small",le="+Inf"} 0+30x120`,
	`kube_node_status_allocatable{node="gpu-0",resource="nvidia_com_gpu"} 7x120`,
	`kube_node_status_allocatable{node="cpu-0",resource="cpu"} 4x120`,
	`kube_pod_container_resource_requests{node="gpu-0",pod="r",resource="nvidia_com_gpu"} 1x120`,
}

// clusterIncidents are what differs from a healthy cluster, by series, and what
// fires. A series without values is gone.
var clusterIncidents = map[string]struct {
	change map[string]string
	fires  []string
}{
	"nothing":                {nil, nil},
	"no leader":              {map[string]string{`onedoor_leader{pod="a"}`: "0x120"}, []string{"batch-leader"}},
	"two leaders":            {map[string]string{`onedoor_leader{pod="b"}`: "1x120"}, []string{"batch-leader"}},
	"a change of leaders":    {map[string]string{`onedoor_leader{pod="a"}`: "1x117 0x2", `onedoor_leader{pod="b"}`: "0x120"}, nil},
	"nobody tells who leads": {map[string]string{`onedoor_leader{pod="a"}`: "", `onedoor_leader{pod="b"}`: ""}, []string{"batch-leader"}},
	"a job at the account that nobody submitted": {map[string]string{`onedoor_batch_events_total{event="batch.door.foreign",status=""}`: "_x113 1x6"}, []string{"batch-job-unknown"}},
	"one of an hour ago":                         {map[string]string{`onedoor_batch_events_total{event="batch.door.foreign",status=""}`: "_x59 1x60"}, nil},
	"a job expires after others have":            {map[string]string{`onedoor_batch_events_total{event="batch.job.terminal",status="expired"}`: "3x113 4x6"}, []string{"batch-job-failed"}},
	"events wait for an hour":                    {map[string]string{`onedoor_batch_events_waiting_seconds{pod="a"}`: "0x60 0+60x60"}, []string{"batch-events-waiting"}},
	"a job misses its deadline":                  {map[string]string{`onedoor_batch_events_total{event="batch.job.late",status=""}`: "_x113 1x6"}, []string{"batch-job-late"}},
	"a job goes on after it":                     {map[string]string{`onedoor_batch_deadline_seconds{batch_job="j"}`: "5000-60x120"}, []string{"batch-job-late"}},
	"a nightly job does not start":               {map[string]string{`onedoor_batch_events_total{event="batch.nightly.missed",status=""}`: "_x113 1x6"}, []string{"batch-nightly-missed"}},
	"results go in two days":                     {map[string]string{`onedoor_batch_outputs_seconds{tenant="labs",batch_job="j"}`: "180000-60x120"}, []string{"batch-outputs-expiring"}},
	"a tenth of a queue's items is lost":         {map[string]string{`onedoor_worker_items_total{queue="text",outcome="dead_lettered"}`: "0+1.3x120"}, []string{"queue-unsuccessful"}},
	"a queue's answers are refusals":             {map[string]string{`onedoor_worker_items_total{queue="text",outcome="refused"}`: "0+2x120"}, []string{"queue-refusals"}},
	"workers at max keep up":                     {map[string]string{`kube_horizontalpodautoscaler_status_current_replicas{namespace="onedoor-workers",horizontalpodautoscaler="keda-hpa-worker-text"}`: "4x120"}, nil},
	"workers at max fall behind": {map[string]string{
		`kube_horizontalpodautoscaler_status_current_replicas{namespace="onedoor-workers",horizontalpodautoscaler="keda-hpa-worker-text"}`: "4x120",
		`onedoor_intake_items_total{tenant="labs",modality="text",outcome="accepted"}`:                                                     "0+20x120",
	}, []string{"workers-at-max"}},
	"more comes than goes, and workers start": {map[string]string{`onedoor_intake_items_total{tenant="labs",modality="text",outcome="accepted"}`: "0+20x120"}, nil},
	"requests wait":              {map[string]string{`ray_vllm_num_requests_waiting{model_name="small",pod="r"}`: "20x120"}, []string{"serving-queue"}},
	"the cache is full":          {map[string]string{`ray_vllm_kv_cache_usage_perc{model_name="small",pod="r"}`: "0.95x120"}, []string{"serving-cache-full"}},
	"the first token is late":    {map[string]string{`ray_vllm_time_to_first_token_seconds_bucket{model_name="small",le="1"}`: "0+20x120"}, []string{"serving-slow-first-token"}},
	"tokens are slow":            {map[string]string{`ray_vllm_request_time_per_output_token_seconds_bucket{model_name="small",le="0.1"}`: "0+10x120"}, []string{"serving-slow-tokens"}},
	"a GPU node without a model": {map[string]string{`kube_pod_container_resource_requests{node="gpu-0",pod="r",resource="nvidia_com_gpu"}`: ""}, []string{"gpu-idle"}},
	"a model that nobody asks": {map[string]string{
		`ray_vllm_request_success_total{model_name="small",pod="r"}`: "7x120", `ray_vllm_num_requests_running{model_name="small",pod="r"}`: "0x120",
		`ray_vllm_time_to_first_token_seconds_bucket{model_name="small",le="1"}`: "7x120", `ray_vllm_time_to_first_token_seconds_bucket{model_name="small",le="10"}`: "7x120", `ray_vllm_time_to_first_token_seconds_bucket{model_name="small",le="+Inf"}`: "7x120",
	}, []string{"model-idle"}},
}

func TestIncidentsInTheCluster(t *testing.T) {
	t.Parallel()
	var incidents []promIncident
	for name, incident := range clusterIncidents {
		var load strings.Builder
		load.WriteString("load 1m\n")
		left := len(incident.change)
		for _, line := range healthy {
			series, values, _ := strings.Cut(line, "} ")
			series += "}"
			if changed, ok := incident.change[series]; ok {
				values = changed
				left--
			}
			if values != "" {
				load.WriteString("  " + series + " " + values + "\n")
			}
		}
		require.Zero(t, left, "%s changes a series that is not there", name)
		incidents = append(incidents, promIncident{name, load.String(), 120 * 60})
	}
	slices.SortFunc(incidents, func(a, b promIncident) int { return strings.Compare(a.Name, b.Name) })
	answer := prometheus(t, append(promRules(), promRule{"nonsense", "sum by (", 0}, promRule{"scalar", "1", 0}), incidents)
	require.Len(t, answer.Problems, 2, "the judge judges: %v", answer.Problems)
	assert.Contains(t, answer.Problems[0], "nonsense")
	assert.Contains(t, answer.Problems[1], "scalar")
	seen := map[string]bool{}
	for name, incident := range clusterIncidents {
		got := slices.DeleteFunc(answer.Fires[name], func(rule string) bool { return rule == "scalar" })
		assert.ElementsMatch(t, incident.fires, got, name)
		for _, id := range incident.fires {
			seen[id] = true
		}
	}
	for _, rule := range promRules() {
		assert.True(t, seen[rule.Name], "%s: no incident sets it off", rule.Name)
	}
}

// 900 tokens a minute on half a GPU are 108,000 for a GPU-hour; at 2 dollars an hour
// for the replica a million of them cost 37.
func TestWhatServedModelsCost(t *testing.T) {
	t.Parallel()
	records := Records([]Served{{Model: "small", GPUs: 0.5, Hour: prices.Dollars(2)}, {Model: "free", GPUs: 1}})
	require.Len(t, records, 3, "without a price there is no cost")
	rules := []promRule{
		{records[0].Name, "abs(" + records[0].Expr + " - 108000) < 1", 0},
		{records[1].Name, "abs(" + records[1].Expr + " - 37.037) < 0.001", 0},
		{"of nobody", records[2].Expr, 0},
	}
	series := slices.DeleteFunc(slices.Clone(healthy), func(line string) bool { return strings.HasSuffix(line, "} ") })
	answer := prometheus(t, rules, []promIncident{{"healthy", "load 1m\n  " + strings.Join(series, "\n  ") + "\n", 120 * 60}})
	assert.Empty(t, answer.Problems)
	assert.Equal(t, []string{"onedoor:served_tokens_per_gpu_hour", "onedoor:served_usd_per_million_tokens"}, answer.Fires["healthy"])
}

// dashboard is as much of Grafana's model as is read here.
// https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
type dashboard struct {
	UID        string `json:"uid"`
	Title      string `json:"title"`
	Templating struct {
		List []struct {
			Name string `json:"name"`
		} `json:"list"`
	} `json:"templating"`
	Panels []struct {
		ID          int                      `json:"id"`
		Type        string                   `json:"type"`
		Title       string                   `json:"title"`
		Datasource  struct{ UID string }     `json:"datasource"`
		GridPos     struct{ X, Y, W, H int } `json:"gridPos"`
		FieldConfig struct {
			Defaults struct {
				Unit string `json:"unit"`
			} `json:"defaults"`
		} `json:"fieldConfig"`
		Targets []struct {
			Expr         string `json:"expr"`
			LegendFormat string `json:"legendFormat"`
		} `json:"targets"`
	} `json:"panels"`
}

// Dashboards ask what Prometheus understands, and nothing that is not collected.
func TestDashboards(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/dashboards/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var rules []promRule
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var board dashboard
		require.NoError(t, json.Unmarshal(text, &board), file)
		assert.NotEmpty(t, board.UID, file)
		require.NotEmpty(t, board.Templating.List, file)
		ids, places := map[int]bool{}, map[[2]int]bool{}
		for _, panel := range board.Panels {
			assert.False(t, ids[panel.ID], "%s: %s", file, panel.Title)
			at := [2]int{panel.GridPos.X, panel.GridPos.Y}
			assert.False(t, places[at], "%s: %s lies on another", file, panel.Title)
			assert.LessOrEqual(t, panel.GridPos.X+panel.GridPos.W, 24, "%s: %s", file, panel.Title)
			ids[panel.ID], places[at] = true, true
			assert.Equal(t, "${"+board.Templating.List[0].Name+"}", panel.Datasource.UID, "%s: %s", file, panel.Title)
			require.NotEmpty(t, panel.Targets, "%s: %s", file, panel.Title)
			for _, target := range panel.Targets {
				rules = append(rules, promRule{board.Title + ": " + panel.Title, target.Expr, 0})
			}
		}
	}
	assert.Empty(t, prometheus(t, rules, nil).Problems)
}
