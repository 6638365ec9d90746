package alerts

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/event"
	"onedoor/internal/kqltest"
	"onedoor/internal/picture"
	"onedoor/internal/prices"
)

var update = flag.Bool("update", false, "draw the pictures of dashboards and workbook anew")

// Where the definitions are, and their pictures.
const (
	boards   = "../../docs/dashboards"
	workbook = "../../components/observability/workbook.json"
)

// compare holds a picture to the one in the documents.
func compare(t *testing.T, page picture.Page, name string) {
	t.Helper()
	path, drawn := filepath.Join(boards, name), picture.SVG(page)
	if *update {
		require.NoError(t, os.WriteFile(path, drawn, 0o644))
		return
	}
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, string(kept) == string(drawn), "%s shows another page: go test ./internal/alerts -run Pictures -update, and look at it", path)
}

// The pictures in the documents show the dashboards as they are: each panel of the
// definition, with what Prometheus's own engine answers to its query over made-up
// series of the cluster.
func TestPicturesShowTheDashboards(t *testing.T) {
	t.Parallel()
	records := Records([]Served{{Model: "llama", GPUs: 1, Hour: prices.Dollars(3)}, {Model: "qwen", GPUs: 2, Hour: prices.Dollars(6)}})
	for _, name := range []string{"work", "serving"} {
		text, err := os.ReadFile(filepath.Join(boards, name+".json"))
		require.NoError(t, err)
		var board dashboard
		require.NoError(t, json.Unmarshal(text, &board))
		var queries []string
		for _, panel := range board.Panels {
			require.Len(t, panel.Targets, 1, panel.Title)
			queries = append(queries, computed(panel.Targets[0].Expr, records))
		}
		answer := askPrometheus(t, map[string]any{"panels": map[string]any{
			"load": madeUp(), "queries": queries, "fromSeconds": 3600, "toSeconds": 7 * 3600, "stepSeconds": 300,
		}})
		page := picture.Page{Title: board.Title, Note: "Drawn from " + name + ".json. The data is made up; the answers to the queries are those of Prometheus's engine. Six hours."}
		for i, panel := range board.Panels {
			assert.NotEmpty(t, answer.Answers[i], "%s: no series answers it", panel.Title)
			assert.Equal(t, "timeseries", panel.Type, panel.Title)
			drawn := picture.Panel{
				Title: panel.Title, X: panel.GridPos.X, Y: panel.GridPos.Y, W: panel.GridPos.W, H: panel.GridPos.H,
				Query: panel.Targets[0].Expr, Unit: picture.Unit(panel.FieldConfig.Defaults.Unit), Shape: picture.Lines,
			}
			for _, s := range answer.Answers[i] {
				drawn.Series = append(drawn.Series, picture.Series{Name: legend(panel.Targets[0].LegendFormat, s.Labels), Values: values(s.Values)})
			}
			page.Panels = append(page.Panels, drawn)
		}
		compare(t, page, name+".svg")
	}
}

// computed is a query in which what rules compute is written out.
func computed(query string, records []Record) string {
	var parts []string
	for _, r := range records {
		if r.Name == query {
			parts = append(parts, "("+r.Expr+")")
		}
	}
	if parts == nil {
		return query
	}
	return strings.Join(parts, " or ")
}

// legend is the name of a series, as Grafana makes it.
func legend(format string, labels map[string]string) string {
	return regexp.MustCompile(`\{\{(\w+)\}\}`).ReplaceAllStringFunc(format, func(word string) string { return labels[strings.Trim(word, "{}")] })
}

func values(list []*float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = math.NaN()
		if v != nil {
			out[i] = *v
		}
	}
	return out
}

// madeUp are the series of a day's work in a cluster, a point a minute for seven hours,
// as promqltest loads them.
func madeUp() string {
	var out strings.Builder
	out.WriteString("load 1m\n")
	gauge := func(series string, at func(minute int) int) {
		out.WriteString("  " + series)
		for minute := range 421 {
			fmt.Fprintf(&out, " %d", at(minute))
		}
		out.WriteString("\n")
	}
	counter := func(series string, each func(minute int) int) {
		total := 0
		gauge(series, func(minute int) int { total += each(minute); return total })
	}
	steady := func(n int) func(int) int { return func(int) int { return n } }
	// wave goes from low to high and back in so many minutes; below nothing it is nothing.
	wave := func(low, high, period, shift int) func(int) int {
		return func(minute int) int {
			at := (minute + shift) % period
			return max(0, low+(high-low)*min(at, period-at)*2/period)
		}
	}
	for i, queue := range []string{"text", "vision"} {
		busy := wave(60, 240/(i+1), 200, 60*i)
		counter(`onedoor_intake_items_total{tenant="labs",modality="`+queue+`",outcome="accepted"}`, busy)
		counter(`onedoor_worker_items_total{queue="`+queue+`",outcome="answered"}`, wave(55, 200/(i+1), 200, 60*i-10))
		counter(`onedoor_worker_items_total{queue="`+queue+`",outcome="refused"}`, steady(3))
		counter(`onedoor_worker_items_total{queue="`+queue+`",outcome="dead_lettered"}`, wave(0, 8, 400, 90*i))
		gauge(`kube_horizontalpodautoscaler_status_current_replicas{namespace="onedoor-workers",horizontalpodautoscaler="keda-hpa-worker-`+queue+`"}`, wave(1, 8, 200, 60*i-15))
		gauge(`kube_horizontalpodautoscaler_spec_max_replicas{namespace="onedoor-workers",horizontalpodautoscaler="keda-hpa-worker-`+queue+`"}`, steady(8))
	}
	for kind, n := range map[string]int{"input": 4000, "output": 900} {
		counter(`onedoor_worker_tokens_total{kind="`+kind+`"}`, wave(n/2, 4*n, 200, 0))
	}
	counter(`onedoor_worker_throttled_total`, wave(-40, 60, 200, 0))
	for le, n := range map[string]int{"1": 40, "5": 90, "30": 119, "+Inf": 120} {
		counter(`onedoor_worker_item_seconds_bucket{le="`+le+`"}`, steady(n))
	}
	for state, most := range map[string]int{"validating": 2, "in_progress": 9, "finalizing": 3} {
		gauge(`onedoor_batch_jobs{state="`+state+`"}`, wave(0, most, 140, 20*most))
	}
	gauge(`onedoor_batch_enqueued_tokens{deployment="chat-batch"}`, wave(2_000_000, 48_000_000, 300, 0))
	gauge(`onedoor_batch_outputs_seconds{tenant="labs",batch_job="j"}`, func(minute int) int { return 13*86_400 - 60*minute })
	for i, model := range []string{"llama", "qwen"} {
		of := `{model_name="` + model + `"`
		gauge(`ray_vllm_num_requests_running`+of+`,pod="r"}`, wave(4, 60/(i+1), 180, 50*i))
		gauge(`ray_vllm_num_requests_waiting`+of+`,pod="r"}`, wave(-30, 14/(i+1), 180, 50*i))
		out.WriteString("  ray_vllm_kv_cache_usage_perc" + of + `,pod="r"}`)
		for minute := range 421 {
			fmt.Fprintf(&out, " 0.%02d", wave(20, 88/(i+1), 180, 50*i)(minute))
		}
		out.WriteString("\n")
		counter(`ray_vllm_prompt_tokens_total`+of+`,pod="r"}`, wave(30_000, 400_000/(i+1), 180, 50*i))
		counter(`ray_vllm_generation_tokens_total`+of+`,pod="r"}`, wave(9_000, 90_000/(i+1), 180, 50*i))
		for _, bucket := range []struct {
			le         string
			least, all int // of 120 requests, those whose first token came so soon
		}{{"0.25", 20, 70}, {"0.5", 60 - 20*i, 112 - 10*i}, {"1", 80, 118 - 4*i}, {"5", 120, 120}, {"+Inf", 120, 120}} {
			counter(`ray_vllm_time_to_first_token_seconds_bucket`+of+`,le="`+bucket.le+`"}`, wave(bucket.least, bucket.all, 180, 90+50*i))
		}
		for _, bucket := range []struct {
			le         string
			least, all int // of 120 requests, those whose tokens came so soon
		}{{"0.02", 60, 100}, {"0.05", 90 - 10*i, 116 - 2*i}, {"0.1", 116, 120}, {"+Inf", 120, 120}} {
			counter(`ray_vllm_request_time_per_output_token_seconds_bucket`+of+`,le="`+bucket.le+`"}`, wave(bucket.least, bucket.all, 180, 90+50*i))
		}
		node := fmt.Sprintf("gpu-%d", i)
		gauge(`kube_pod_container_resource_requests{node="`+node+`",pod="r",resource="nvidia_com_gpu"}`, steady(i+1))
		gauge(`kube_node_status_allocatable{node="`+node+`",resource="nvidia_com_gpu"}`, steady(2))
	}
	return out.String()
}

// The picture of the workbook shows each of its queries, with what the evaluator of
// this project answers over made-up rows of a month.
func TestPicturesShowTheWorkbook(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(workbook)
	require.NoError(t, err)
	var book struct {
		Items []struct {
			Type    int `json:"type"`
			Content struct {
				Query         string `json:"query"`
				Title         string `json:"title"`
				Visualization string `json:"visualization"`
			} `json:"content"`
		} `json:"items"`
	}
	require.NoError(t, json.Unmarshal(text, &book))
	page := picture.Page{Title: "OneDoor usage and cost", Note: "Drawn from workbook.json. The data is made up; the answers to the queries are those of internal/kqltest. Thirty days."}
	world := kqltest.World{Schema: schema(), Rows: month(), Now: now, Window: 30 * 24 * time.Hour}
	row := 0
	for _, item := range book.Items {
		if item.Type != 3 { // a query
			continue
		}
		panel := picture.Panel{Title: item.Content.Title, Y: row, W: picture.Columns, H: 8, Query: item.Content.Query, Shape: picture.Tables}
		columns, rows, err := kqltest.Ask(world, Named(item.Content.Query, "test"))
		require.NoError(t, err, item.Content.Title)
		require.NotEmpty(t, rows, item.Content.Title)
		switch item.Content.Visualization {
		case "table":
			panel.Table = tabled(columns, rows)
			panel.H = 3 + len(rows)
		case "barchart":
			panel.Shape, panel.Unit, panel.Series = picture.Bars, picture.Dollars, charted(columns, rows, 24*time.Hour)
		case "areachart":
			panel.Shape, panel.Series = picture.Areas, charted(columns, rows, time.Hour)
		default:
			require.Fail(t, "no way to draw it", item.Content.Visualization)
		}
		row += panel.H
		page.Panels = append(page.Panels, panel)
	}
	require.Greater(t, len(page.Panels), 5)
	compare(t, page, "workbook.svg")
}

// tabled is an answer as a table.
func tabled(columns []string, rows []kqltest.Row) *picture.Table {
	out := &picture.Table{Columns: columns, Numbers: make([]bool, len(columns))}
	for _, row := range rows {
		var cells []string
		for i, column := range columns {
			switch v := row[column].(type) {
			case nil:
				cells = append(cells, "")
			case float64:
				cells, out.Numbers[i] = append(cells, picture.Short.Text(v)), true
			case int64:
				cells, out.Numbers[i] = append(cells, picture.Short.Text(float64(v))), true
			default:
				cells = append(cells, fmt.Sprint(v))
			}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// charted is an answer of a number by time and one more column, as series.
func charted(columns []string, rows []kqltest.Row, step time.Duration) []picture.Series {
	var by, of string
	for _, column := range columns {
		switch rows[0][column].(type) {
		case string:
			by = column
		case float64, int64:
			of = column
		}
	}
	first := now.Add(-30 * 24 * time.Hour).Truncate(step)
	list := map[string][]float64{}
	var names []string
	for _, row := range rows {
		name := row[by].(string)
		if list[name] == nil {
			list[name] = make([]float64, int(now.Sub(first)/step)+1)
			names = append(names, name)
		}
		at := row["TimeGenerated"].(time.Time).Sub(first) / step
		switch v := row[of].(type) {
		case int64:
			list[name][at] = float64(v)
		case float64:
			list[name][at] = v
		}
	}
	slices.Sort(names)
	var out []picture.Series
	for _, name := range names {
		out = append(out, picture.Series{Name: name, Values: list[name]})
	}
	return out
}

// month is what services write in thirty days.
func month() map[string][]kqltest.Row {
	rows := map[string][]kqltest.Row{}
	add := func(table string, more ...kqltest.Row) { rows[table] = append(rows[table], more...) }
	for hour := range 30 * 24 {
		at := ago(time.Duration(hour)*time.Hour + time.Minute)
		day := hour % 24
		for n, tenant := range []string{"labs", "helpdesk"} {
			add("ApiManagementGatewayLogs", answered(2+min(day, 24-day)/(3*(n+1)), at, tenant, "", 200)...)
			if hour%7 == n {
				add("ApiManagementGatewayLogs", answered(1+n, at, tenant, "", 429)...)
			}
			if hour%6 != 0 {
				continue
			}
			call := fmt.Sprintf("%s-%d", tenant, hour)
			add("ApiManagementGatewayLogs", kqltest.Row{"TimeGenerated": at, "CorrelationId": call, "ApiId": "openai", "ApimSubscriptionId": tenant, "ResponseCode": int64(200), "_ResourceId": gateway})
			add("ApiManagementGatewayLlmLog", tokens(call, "chat-zone", at, int64(120_000+1000*(hour%90)), int64(20_000-5000*n))...)
			for kind, sum := range map[string]float64{"Prompt Tokens": 120_000, "Completion Tokens": 20_000} {
				add("AppMetrics", kqltest.Row{"TimeGenerated": at, "Name": kind, "Sum": sum / float64(n+1), "Properties": map[string]any{"tenant": tenant, "alias": "chat", "door": []string{"person", "queue"}[n]}, "_ResourceId": insights})
			}
		}
		if day == 5 {
			add("AppEvents", said(at, event.Terminal, "labs", strconv.Itoa(hour), kqltest.Row{
				"status": []string{"completed", "completed", "completed", "expired"}[hour/24%4], "items": 1000.0, "answered": 960.0, "refused": 15.0, "inputTokens": 1.4e6, "cachedTokens": 2e5, "outputTokens": 2.2e5,
			}))
		}
	}
	return rows
}
