package alerts

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/kqltest"
)

// now is when every incident is looked at.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// ago is a moment before now.
func ago(d time.Duration) time.Time { return now.Add(-d) }

// The rows as the services write them.

// said is an event of the control plane, as Application Insights keeps it. What the
// service itself sends is compared with the functions in services/controlplane.
func said(at time.Time, name, tenant, job string, more kqltest.Row) kqltest.Row {
	properties := map[string]any{"id": name + tenant + job, "at": at.Format(time.RFC3339), "tenant": tenant, "alias": "chat", "jobId": job}
	if status, ok := more["status"]; ok {
		properties["status"] = status
	}
	measurements := map[string]any{}
	for key, value := range more {
		if key != "status" {
			measurements[key] = value
		}
	}
	return kqltest.Row{"TimeGenerated": at, "Name": name, "Properties": properties, "Measurements": measurements, "_ResourceId": insights}
}

// request is a call that a model account has logged. object is the caller's id; none for a key.
func request(at time.Time, account, object string) kqltest.Row {
	return kqltest.Row{
		"TimeGenerated": at, "ResourceProvider": "MICROSOFT.COGNITIVESERVICES", "Category": "RequestResponse", "OperationName": "Create_Batch",
		"CallerIPAddress": "203.0.113.***", "properties_s": `{"apiName":"Azure OpenAI API","objectId":"` + object + `"}`, "_ResourceId": account,
	}
}

// answered are calls that the gateway has logged, each with a code. A call with a
// key names its subscription, one with a token has the tenant in a header alone.
func answered(n int, at time.Time, subscription, header string, code int) []kqltest.Row {
	rows := make([]kqltest.Row, n)
	for i := range rows {
		rows[i] = kqltest.Row{
			"TimeGenerated": at, "CorrelationId": subscription + header + at.Format(time.RFC3339) + string(rune('a'+i%26)) + time.Duration(i).String(), "ApiId": "openai", "OperationId": "chat",
			"ApimSubscriptionId": subscription, "ResponseHeaders": map[string]any{apimpolicy.TenantHeader: header}, "ResponseCode": int64(code), "_ResourceId": gateway,
		}
	}
	return rows
}

// each is rows with one more column.
func each(rows []kqltest.Row, column string, value any) []kqltest.Row {
	for _, row := range rows {
		row[column] = value
	}
	return rows
}

// tokens is what a call of the gateway used: a long answer has several rows, of
// which one has the tokens.
func tokens(call, deployment string, at time.Time, prompt, completion int64) []kqltest.Row {
	return []kqltest.Row{
		{"TimeGenerated": at, "CorrelationId": call, "DeploymentName": deployment, "ModelName": "gpt-5.1", "PromptTokens": prompt, "CompletionTokens": completion, "TotalTokens": prompt + completion, "SequenceNumber": int64(0), "_ResourceId": gateway},
		{"TimeGenerated": at, "CorrelationId": call, "DeploymentName": deployment, "PromptTokens": int64(0), "CompletionTokens": int64(0), "TotalTokens": int64(0), "SequenceNumber": int64(1), "_ResourceId": gateway},
	}
}

// calm is what goes on all the time, and must alert nobody.
func calm() map[string][]kqltest.Row {
	return map[string][]kqltest.Row{
		"AzureDiagnostics": {
			request(ago(time.Minute), syncAccount, "gateway-principal"),
			request(ago(time.Minute), batchAccount, "control-plane-principal"),
			request(ago(time.Minute), group+"microsoft.cognitiveservices/accounts/of-others", "somebody"),
		},
		"ApiManagementGatewayLogs": slices.Concat(
			answered(60, ago(time.Minute), "labs", "", 200), answered(2, ago(time.Minute), "labs", "", 500), answered(20, ago(time.Minute), "labs", "", 429),
			[]kqltest.Row{{"TimeGenerated": ago(time.Minute), "CorrelationId": "paid", "ApiId": "openai", "ApimSubscriptionId": "labs", "ResponseCode": int64(200), "_ResourceId": gateway}},
		),
		"ApiManagementGatewayLlmLog": tokens("paid", "chat-zone", ago(time.Minute), 1_000_000, 100_000), // 3 dollars
		"AppEvents": {
			said(ago(30*time.Hour), "batch.job.submitted", "labs", "done", nil),
			said(ago(5*time.Minute), "batch.job.terminal", "labs", "done", kqltest.Row{"status": "completed", "items": 100.0, "answered": 95.0, "refused": 5.0, "inputTokens": 1e6, "cachedTokens": 0.0, "outputTokens": 1e5}), // 1.5 dollars
			said(ago(3*time.Hour), "batch.job.submitted", "labs", "running", nil),
		},
		"_LogOperation": {{"TimeGenerated": ago(time.Minute), "Category": "Ingestion", "Operation": "Data collection Status", "Detail": "Data collection started"}},
	}
}

// with is what goes on all the time, and something else.
func with(table string, rows ...kqltest.Row) map[string][]kqltest.Row {
	world := calm()
	world[table] = append(world[table], rows...)
	return world
}

// logIncidents are incidents that logs show, with the alerts that fire.
var logIncidents = map[string]struct {
	rows  map[string][]kqltest.Row
	fires []string
}{
	"nothing": {calm(), nil},
	"a person submits a batch job": {
		with("AzureDiagnostics", request(ago(2*time.Minute), batchAccount, "person")), []string{"batch-door-bypassed"},
	},
	"somebody uses a key of a model account": {
		with("AzureDiagnostics", request(ago(2*time.Minute), syncAccount, "")), []string{"gateway-bypassed"},
	},
	"the gateway calls the batch account": {
		with("AzureDiagnostics", request(ago(2*time.Minute), batchAccount, "gateway-principal")), []string{"batch-door-bypassed"},
	},
	"a job completes with a tenth of its rows failed": {
		with("AppEvents", said(ago(2*time.Minute), "batch.job.terminal", "labs", "j", kqltest.Row{"status": "completed", "items": 100.0, "answered": 88.0, "refused": 2.0})), []string{"batch-job-unsuccessful"},
	},
	"a fifth of a job is refused, which is a result": {
		with("AppEvents", said(ago(2*time.Minute), "batch.job.terminal", "labs", "j", kqltest.Row{"status": "completed", "items": 100.0, "answered": 80.0, "refused": 20.0})), []string{"batch-job-refusals"},
	},
	"the gateway may not call a deployment": {
		with("ApiManagementGatewayLogs", answered(20, ago(2*time.Minute), "labs", "", 502)...), []string{"gateway-failing"},
	},
	"the models behind the gateway fail": {
		with("ApiManagementGatewayLogs", each(answered(20, ago(2*time.Minute), "labs", "", 429), "BackendResponseCode", int64(503))...), []string{"gateway-failing"},
	},
	"the models behind the gateway do not answer": {
		with("ApiManagementGatewayLogs", each(answered(20, ago(2*time.Minute), "labs", "", 429), "LastErrorSource", "forward-request")...), []string{"gateway-failing"},
	},
	"the models behind the gateway have too much to do": {
		with("ApiManagementGatewayLogs", each(answered(20, ago(2*time.Minute), "labs", "", 429), "BackendResponseCode", int64(429))...), nil,
	},
	"a tenant with tokens of Entra runs into its limit": {
		with("ApiManagementGatewayLogs", answered(100, ago(2*time.Minute), "", "helpdesk", 429)...), []string{"tenant-throttled"},
	},
	"a tenant spends 90 of 100 dollars a month": {
		with("ApiManagementGatewayLlmLog", tokens("paid", "chat-zone", ago(time.Minute), 1_750_000, 0)...), []string{"tenant-budget-80"}, // 3.5 with 1 of calm's output, 1.5 of its job: 6 in two days
	},
	"a job at half the price takes a tenant above its budget": {
		with("AppEvents", said(ago(time.Minute), "batch.job.terminal", "labs", "j", kqltest.Row{"status": "completed", "items": 100.0, "answered": 100.0, "inputTokens": 3e6})), []string{"tenant-budget-100"},
	},
	"an event that takes a tenant above 80 per cent is sent three times": { // 5.5 dollars in two days with those of calm; three times would be 7.5, above the budget
		with("AppEvents",
			said(ago(4*time.Minute), "batch.job.terminal", "labs", "j", kqltest.Row{"status": "completed", "items": 100.0, "answered": 100.0, "inputTokens": 1e6}),
			said(ago(3*time.Minute), "batch.job.terminal", "labs", "j", kqltest.Row{"status": "completed", "items": 100.0, "answered": 100.0, "inputTokens": 1e6}),
			said(ago(2*time.Minute), "batch.job.terminal", "labs", "j", kqltest.Row{"status": "completed", "items": 100.0, "answered": 100.0, "inputTokens": 1e6}),
		), []string{"tenant-budget-80"},
	},
	"a tenant without a budget spends": {
		with("AppEvents", said(ago(time.Minute), "batch.job.terminal", "helpdesk", "j", kqltest.Row{"status": "completed", "items": 100.0, "answered": 100.0, "inputTokens": 1e9})), nil,
	},
	"the workspace is full": {
		with("_LogOperation", kqltest.Row{"TimeGenerated": ago(time.Minute), "Category": "Ingestion", "Detail": "OverQuota: the data collection stopped for today"}), []string{"logs-capped"},
	},
	"a bypass of yesterday": {
		with("AzureDiagnostics", request(ago(25*time.Hour), batchAccount, "person")), nil,
	},
	"another stack logs to the same workspace": {
		with("AppEvents", kqltest.Row{
			"TimeGenerated": ago(time.Minute), "Name": "batch.job.terminal", "Properties": map[string]any{"jobId": "x", "status": "completed"},
			"Measurements": map[string]any{"items": 100.0, "answered": 1.0}, "_ResourceId": insights + "-other",
		}), nil,
	},
}

func TestIncidentsInLogs(t *testing.T) {
	t.Parallel()
	for name, incident := range logIncidents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fires []string
			for _, a := range All() {
				q, ok := a.Signal.(Query)
				if !ok {
					continue
				}
				rows, err := kqltest.Run(kqltest.World{Schema: schema(), Rows: incident.rows, Now: now, Window: q.Window}, Named(q.KQL, "test"))
				require.NoError(t, err, a.ID)
				if len(rows) > 0 {
					fires = append(fires, a.ID)
				}
			}
			assert.Equal(t, incident.fires, fires)
		})
	}
}

// An incident for every alert: one that nothing sets off is not known to work.
func TestEveryQueryHasAnIncident(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, incident := range logIncidents {
		for _, id := range incident.fires {
			seen[id] = true
		}
	}
	for _, a := range All() {
		if _, ok := a.Signal.(Query); ok {
			assert.True(t, seen[a.ID], a.ID)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	world := kqltest.World{Schema: schema(), Rows: calm(), Now: now, Window: 48 * time.Hour}
	world.Rows["ApiManagementGatewayLlmLog"] = append(world.Rows["ApiManagementGatewayLlmLog"], tokens("nobody", "ray-small", ago(time.Hour), 10, 20)...)
	rows, err := kqltest.Run(world, "OneDoorTestUsage()\n| summarize usd = sum(usd), input = sum(input), output = sum(output) by tenant, alias, door, model\n| order by usd desc")
	require.NoError(t, err)
	assert.Equal(t, []kqltest.Row{
		{"tenant": "labs", "alias": "chat", "door": "gateway", "model": "gpt-5.1", "usd": 3.0, "input": 1e6, "output": 1e5}, // once, though it has two rows
		{"tenant": "labs", "alias": "chat", "door": "batch", "model": "gpt-5.1", "usd": 1.5, "input": 1e6, "output": 1e5},
		{"tenant": "unknown", "alias": "ray-small", "door": "gateway", "model": nil, "usd": 0.0, "input": 10.0, "output": 20.0},
	}, rows)
	rows, err = kqltest.Run(world, "OneDoorTestSpend()\n| order by usd desc")
	require.NoError(t, err)
	assert.Equal(t, []kqltest.Row{
		{"tenant": "labs", "owner": "labs@example.com", "usd": 4.5, "budget": 100.0, "share": 4.5},
		{"tenant": "unknown", "owner": nil, "usd": 0.0, "budget": nil, "share": nil},
		{"tenant": "helpdesk", "owner": "helpdesk@example.com", "usd": 0.0, "budget": 0.0, "share": nil},
	}, rows)
	world.Rows["AppMetrics"] = []kqltest.Row{
		{"TimeGenerated": ago(time.Hour), "Name": "Prompt Tokens", "Sum": 7.0, "Properties": map[string]any{"tenant": "labs", "alias": "chat", "door": "queue"}, "_ResourceId": insights},
		{"TimeGenerated": ago(time.Hour), "Name": "Completion Tokens", "Sum": 5.0, "Properties": map[string]any{"tenant": "labs", "alias": "chat", "door": "queue"}, "_ResourceId": insights},
		{"TimeGenerated": ago(time.Hour), "Name": "Total Tokens", "Sum": 12.0, "Properties": map[string]any{"tenant": "labs", "alias": "chat", "door": "queue"}, "_ResourceId": insights},
	}
	rows, err = kqltest.Run(world, "OneDoorTestUsageEstimate()\n| project tenant, door, input, output")
	require.NoError(t, err)
	assert.Equal(t, []kqltest.Row{{"tenant": "labs", "door": "queue", "input": 7.0, "output": 5.0}}, rows)
}
