package alerts

import (
	"time"

	"onedoor/internal/event"
)

// The thresholds that more than one alert or page names.
const (
	leastSuccess  = "0.95" // of what was asked for
	mostRefusals  = "0.1"  // of what was answered
	leastCalls    = "50"   // below which a share says nothing
	throttledRows = "100"
)

// happened holds for a quarter of an hour after the control plane has counted an
// event of those labels. A counter that has just come into being has increased by
// nothing, so it counts by being new.
func happened(labels string) string {
	events := "onedoor_batch_events_total{" + labels + "}"
	return "sum by (event, status) (increase(" + events + "[15m])) > 0 or sum by (event, status) (" + events + " unless " + events + " offset 15m) > 0"
}

var all = []Alert{
	{
		ID: "batch-door-bypassed", Title: "Somebody other than the control plane called the batch account",
		Why:      "work went to a model without a tenant, a limit or a record; one call is an incident",
		Severity: Critical, Owner: Security,
		Signal: Query{KQL: bypassed("batch"), Every: 5 * time.Minute, Window: 15 * time.Minute, Split: []string{"caller"}},
	},
	{
		ID: "batch-events-waiting", Title: "Events of batch jobs have not got out for half an hour",
		Why:      "usage, budgets and the alerts on how jobs end lag behind; nothing is lost, it waits in the ledger",
		Severity: Warning, Owner: Platform,
		Signal: Rule{Group: Work, For: 5 * time.Minute, Expr: `max(onedoor_batch_events_waiting_seconds) > 1800`},
	},
	{
		ID: "batch-job-failed", Title: "A batch job failed or expired",
		Why:      "a job that ends so is a status and not an exception: nothing else says that its answers will not come",
		Severity: Warning, Owner: Platform,
		Signal: Rule{Group: Work, For: time.Minute, Expr: happened(`event="` + event.Terminal + `",status=~"failed|expired"`)},
	},
	{
		ID: "batch-job-late", Title: "A batch job is past its deadline",
		Why:      "Azure does not end jobs after their day, so a job without an end can wait for ever",
		Severity: Warning, Owner: Platform,
		Signal: Rule{Group: Work, For: time.Minute, Expr: happened(`event="`+event.Late+`"`) + ` or min(onedoor_batch_deadline_seconds) < 0`},
	},
	{
		ID: "batch-job-refusals", Title: "More than a tenth of a batch job's answers are refusals",
		Why:      "a refusal is a result and is paid for, so nothing fails while a tenant gets little for its money",
		Severity: Notice, Owner: Platform,
		Signal: Query{KQL: jobRefusals, Every: 15 * time.Minute, Window: 30 * time.Minute, Split: []string{"tenant"}},
	},
	{
		ID: "batch-job-unknown", Title: "The batch account holds a job that nobody here submitted",
		Why:      "somebody else has a way in, whatever the logs say",
		Severity: Critical, Owner: Security,
		Signal: Rule{Group: Work, For: time.Minute, Expr: happened(`event="` + event.Foreign + `"`)},
	},
	{
		ID: "batch-job-unsuccessful", Title: "A batch job completed with less than 95 % results",
		Why:      "completed says nothing about the rows: those that failed are in another file",
		Severity: Warning, Owner: Platform,
		Signal: Query{KQL: jobUnsuccessful, Every: 15 * time.Minute, Window: 30 * time.Minute, Split: []string{"tenant"}},
	},
	{
		ID: "batch-leader", Title: "No control plane leads, or two do",
		Why:      "without a leader no job is submitted, polled or cancelled; with two, some are twice",
		Severity: Error, Owner: Platform,
		Signal: Rule{Group: Work, For: 5 * time.Minute, Expr: `sum(onedoor_leader) != 1 or absent(onedoor_leader)`},
	},
	{
		ID: "batch-nightly-missed", Title: "A nightly batch job did not start",
		Why:      "whoever counts on its results in the morning does not know",
		Severity: Warning, Owner: Platform,
		Signal: Rule{Group: Work, For: time.Minute, Expr: happened(`event="` + event.Missed + `"`)},
	},
	{
		ID: "batch-outputs-expiring", Title: "Results of a batch job are deleted at Azure within three days, and nobody has copied them",
		Why:      "the control plane copies results at once, so it cannot; what is deleted can only be had by paying for the job again",
		Severity: Warning, Owner: Platform,
		Signal: Rule{Group: Work, For: time.Hour, Expr: `min by (tenant, batch_job) (onedoor_batch_outputs_seconds) < 3 * 86400`},
	},
	{
		ID: "bypass-denied", Title: "Azure Policy refused a model deployment or account",
		Why:      "somebody tried to open a way round a door; it did not work, and they may have a reason",
		Severity: Warning, Owner: Security,
		Signal: Operation{In: Subscription, Category: "Policy", Operations: []string{"Microsoft.Authorization/policies/deny/action"}},
	},
	{
		ID: "dead-letters", Title: "A queue has dead letters",
		Why:      "work that was accepted has been given up, and a dead-letter queue fills without a sound",
		Severity: Warning, Owner: Platform,
		Signal: Metric{Of: Bus, Name: "DeadletteredMessages", Total: Maximum, Every: 5 * time.Minute, Window: 5 * time.Minute, Split: "EntityName"},
	},
	{
		ID: "gateway-bypassed", Title: "Somebody other than the gateway called a model account",
		Why:      "a call went to a model without a tenant, a limit or a record; one call is an incident",
		Severity: Critical, Owner: Security,
		Signal: Query{KQL: bypassed("gateway"), Every: 5 * time.Minute, Window: 15 * time.Minute, Split: []string{"account", "caller"}},
	},
	{
		ID: "gateway-failing", Title: "The gateway answers less than 95 % of its calls",
		Why:      "callers get no answer: every deployment of the model failed, or the gateway itself",
		Severity: Error, Owner: Platform,
		Signal: Query{KQL: gatewayFailing, Every: 5 * time.Minute, Window: 15 * time.Minute, Split: []string{"api"}},
	},
	{
		ID: "gpu-idle", Title: "A GPU node has run no model for an hour",
		Why:      "a GPU node costs the same whether it works or not",
		Severity: Notice, Owner: Platform,
		Signal: Rule{Group: Serving, For: time.Hour, Expr: `kube_node_status_allocatable{resource=~"nvidia_com_.+"} > 0 unless on (node) (sum by (node) (kube_pod_container_resource_requests{resource=~"nvidia_com_.+"}) > 0)`},
	},
	{
		ID: "logs-capped", Title: "The workspace takes no more logs today",
		Why:      "every alert on logs is blind until the day's cap ends, those on bypasses too",
		Severity: Error, Owner: Platform,
		Signal: Query{KQL: logsCapped, Every: 5 * time.Minute, Window: 15 * time.Minute},
	},
	{
		ID: "logs-turned-off", Title: "A diagnostic setting was deleted",
		Why:      "what a resource does not log, nobody can prove",
		Severity: Error, Owner: Security,
		Signal: Operation{In: Groups, Category: "Administrative", Operations: []string{"Microsoft.Insights/diagnosticSettings/delete"}},
	},
	{
		ID: "model-account-changed", Title: "A model account was written or deleted",
		Why:      "its network and its keys are part of that write",
		Severity: Warning, Owner: Security,
		Signal: Operation{In: Groups, Category: "Administrative", Operations: []string{
			"Microsoft.CognitiveServices/accounts/write", "Microsoft.CognitiveServices/accounts/delete",
			"Microsoft.CognitiveServices/accounts/privateEndpointConnections/write",
		}},
	},
	{
		ID: "model-deployment-written", Title: "A model deployment was written or deleted, somewhere in the subscription",
		Why:      "the event does not say of which SKU: a batch SKU outside the batch account is a second door",
		Severity: Warning, Owner: Security,
		Signal: Operation{In: Subscription, Category: "Administrative", Operations: []string{
			"Microsoft.CognitiveServices/accounts/deployments/write", "Microsoft.CognitiveServices/accounts/deployments/delete",
		}},
	},
	{
		ID: "model-idle", Title: "A served model has answered nothing for an hour",
		Why:      "its replicas hold GPUs that nobody uses",
		Severity: Notice, Owner: Platform,
		Signal: Rule{Group: Serving, For: 15 * time.Minute, Expr: `sum by (model_name) (increase(ray_vllm_request_success_total[1h])) == 0 and sum by (model_name) (ray_vllm_num_requests_running) == 0`},
	},
	{
		ID: "model-keys", Title: "Somebody read or renewed the keys of a model account",
		Why:      "no program needs a key here; whoever has one passes every door once keys are turned on",
		Severity: Error, Owner: Security,
		Signal: Operation{In: Groups, Category: "Administrative", Operations: []string{
			"Microsoft.CognitiveServices/accounts/listKeys/action", "Microsoft.CognitiveServices/accounts/regenerateKey/action",
		}},
	},
	{
		ID: "model-roles-changed", Title: "A role was given or taken in the stack's groups",
		Why:      "a role on a model account is a way round its door",
		Severity: Error, Owner: Security,
		Signal: Operation{In: Groups, Category: "Administrative", Operations: []string{
			"Microsoft.Authorization/roleAssignments/write", "Microsoft.Authorization/roleAssignments/delete",
		}},
	},
	{
		ID: "models-throttled", Title: "A model deployment answers 429",
		Why:      "the gateway tries other deployments; once all are full, callers wait",
		Severity: Notice, Owner: Platform,
		Signal: Metric{Of: Accounts, Name: "AzureOpenAIRequests", Total: Sum, Above: 50, Every: 5 * time.Minute, Window: 15 * time.Minute, Split: "ModelDeploymentName", Dimension: "StatusCode", Is: "429"},
	},
	{
		ID: "queue-refusals", Title: "More than a tenth of a queue's answers are refusals",
		Why:      "a refusal is a result, so nothing fails while tenants get little for their money",
		Severity: Notice, Owner: Platform,
		Signal: Rule{Group: Work, For: 15 * time.Minute, Expr: `sum by (queue) (increase(onedoor_worker_items_total{outcome="refused"}[1h])) / sum by (queue) (increase(onedoor_worker_items_total{outcome=~"answered|refused"}[1h])) > ` + mostRefusals +
			` and sum by (queue) (increase(onedoor_worker_items_total[1h])) >= ` + leastCalls},
	},
	{
		ID: "queue-stands", Title: "A queue has not been empty for six hours",
		Why:      "Service Bus does not say how old a message is; whoever waits in this queue waits long",
		Severity: Warning, Owner: Platform,
		Signal: Metric{Of: Bus, Name: "ActiveMessages", Total: Minimum, Every: 15 * time.Minute, Window: 6 * time.Hour, Split: "EntityName"},
	},
	{
		ID: "queue-throttled", Title: "Service Bus throttles the namespace",
		Why:      "senders and workers wait; a namespace has one allowance for all its queues",
		Severity: Notice, Owner: Platform,
		Signal: Metric{Of: Bus, Name: "ThrottledRequests", Total: Sum, Every: 5 * time.Minute, Window: 15 * time.Minute},
	},
	{
		ID: "queue-unsuccessful", Title: "Less than 95 % of a queue's items get a result",
		Why:      "the rest becomes dead letters, one by one",
		Severity: Warning, Owner: Platform,
		Signal: Rule{Group: Work, For: 15 * time.Minute, Expr: `sum by (queue) (increase(onedoor_worker_items_total{outcome=~"answered|refused"}[1h])) / sum by (queue) (increase(onedoor_worker_items_total[1h])) < ` + leastSuccess +
			` and sum by (queue) (increase(onedoor_worker_items_total[1h])) >= ` + leastCalls},
	},
	{
		ID: "serving-cache-full", Title: "A served model's KV cache is above 90 %",
		Why:      "beyond it requests are preempted and computed again",
		Severity: Warning, Owner: Platform,
		Signal: Rule{Group: Serving, For: 10 * time.Minute, Expr: `max by (model_name) (ray_vllm_kv_cache_usage_perc) > 0.9`},
	},
	{
		ID: "serving-queue", Title: "Requests wait for a served model",
		Why:      "its replicas are full; the gateway's other deployments, if there are any, take over only at 429",
		Severity: Warning, Owner: Platform,
		Signal: Rule{Group: Serving, For: 5 * time.Minute, Expr: `sum by (model_name) (ray_vllm_num_requests_waiting) > 10`},
	},
	{
		ID: "serving-slow-first-token", Title: "A served model takes more than five seconds to its first token",
		Why:      "a person waits for it",
		Severity: Warning, Owner: Platform,
		Signal: Rule{Group: Serving, For: 5 * time.Minute, Expr: `histogram_quantile(0.95, sum by (le, model_name) (rate(ray_vllm_time_to_first_token_seconds_bucket[5m]))) > 5`},
	},
	{
		ID: "serving-slow-tokens", Title: "A served model takes more than a fifth of a second a token",
		Why:      "that is slower than people read",
		Severity: Notice, Owner: Platform,
		Signal: Rule{Group: Serving, For: 10 * time.Minute, Expr: `histogram_quantile(0.95, sum by (le, model_name) (rate(ray_vllm_request_time_per_output_token_seconds_bucket[5m]))) > 0.2`},
	},
	{
		ID: "tenant-budget-100", Title: "A tenant spends at a pace above its monthly budget",
		Why:      "calls go on; the month will cost more than was agreed",
		Severity: Warning, Owner: Finance,
		Signal: Query{KQL: overBudget("100"), Every: 6 * time.Hour, Window: 48 * time.Hour, Split: []string{"tenant"}},
	},
	{
		ID: "tenant-budget-80", Title: "A tenant spends at a pace above 80 % of its monthly budget",
		Why:      "calls go on; somebody must decide before the budget is used up",
		Severity: Notice, Owner: Finance,
		Signal: Query{KQL: overBudget("80 and share < 100"), Every: 6 * time.Hour, Window: 48 * time.Hour, Split: []string{"tenant"}},
	},
	{
		ID: "tenant-throttled", Title: "A tenant runs into its plan's limit",
		Why:      "its callers get 429; it needs another plan, or has a program that runs wild",
		Severity: Notice, Owner: Platform,
		Signal: Query{KQL: tenantThrottled, Every: 5 * time.Minute, Window: 15 * time.Minute, Split: []string{"tenant"}},
	},
	{
		ID: "workers-at-max", Title: "A queue grows although all its workers run",
		Why:      "replicas are capped by the model's quota: only more quota, or less work, makes it shorter",
		Severity: Warning, Owner: Platform,
		Signal: Rule{Group: Work, For: 15 * time.Minute, Expr: `label_replace(kube_horizontalpodautoscaler_status_current_replicas{namespace="onedoor-workers"} >= on (namespace, horizontalpodautoscaler) kube_horizontalpodautoscaler_spec_max_replicas{namespace="onedoor-workers"}, "modality", "$1", "horizontalpodautoscaler", "keda-hpa-worker-(.+)")` +
			` and on (modality) (sum by (modality) (rate(onedoor_intake_items_total{outcome="accepted"}[15m])) > sum by (modality) (label_replace(rate(onedoor_worker_items_total[15m]), "modality", "$1", "queue", "(.+)")))`},
	},
}
