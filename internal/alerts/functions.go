package alerts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/event"
	"onedoor/internal/prices"
)

// Function is a query that others call by name, kept in the workspace.
// https://learn.microsoft.com/azure/azure-monitor/logs/functions
type Function struct {
	Name  string // what queries call it by
	Title string // what it gives
	KQL   string
}

// Facts are what a stack decides: who may call what, who the tenants are, and
// which model stands behind which name.
type Facts struct {
	Stack    string // goes into the names of functions: others may share the workspace
	Gateway  string // ARM id of API Management
	Insights string // ARM id of Application Insights
	Callers  []Caller
	Tenants  []Tenant
	Models   []Model
}

// Caller is the one identity that may call a model account.
type Caller struct {
	Account   string // ARM id
	Door      string // "gateway" or "batch"
	Principal string // object id of the identity's service principal
}

// Tenant is one tenant with what it may spend.
type Tenant struct {
	Name, Owner string
	Budget      int // US dollars a month; 0 for none
}

// Model is what one name stands for: a deployment, or an alias, which costs what
// its dearest deployment does.
type Model struct {
	Name  string // that logs show
	Door  string // "gateway" or "batch"
	Alias string
	Price prices.Tokens
}

// Functions are the functions of a stack. Those that hold the stack's facts come
// first: the others call them.
func Functions(f Facts) []Function {
	list := []Function{
		{"OneDoorCallers", "who may call which model account", callers(f.Callers)},
		{"OneDoorTenants", "tenants with their owners and monthly budgets", tenants(f.Tenants)},
		{"OneDoorModels", "what each name of a model costs, in US dollars per million tokens", models(f.Models)},
		{"OneDoorCalls", "calls of the gateway with their tenant", of(calls, f.Gateway)},
		{"OneDoorJobs", "what happened to batch jobs", of(jobs, f.Insights)},
		{"OneDoorUsageGateway", "tokens and cost of the gateway's calls, exact", of(usageGateway, f.Gateway)},
		{"OneDoorUsageEstimate", "tokens of the gateway by tenant, alias and door, within minutes", of(usageEstimate, f.Insights)},
		{"OneDoorUsageBatch", "tokens and cost of batch jobs, exact", usageBatch},
		{"OneDoorUsage", "tokens and cost of both doors, exact", usage},
		{"OneDoorSpend", "what each tenant has spent this month, with its budget", spend},
	}
	for i, function := range list {
		list[i].Name, list[i].KQL = Named(function.Name, f.Stack), Named(function.KQL, f.Stack)
	}
	return list
}

// family begins the name of every function.
const family = "OneDoor"

// Named is a query, or a name, with the functions of that stack.
func Named(kql, stack string) string {
	var word strings.Builder
	word.WriteString(family)
	for part := range strings.SplitSeq(stack, "-") {
		word.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return strings.ReplaceAll(kql, family, word.String())
}

// own stands for the id of the resource whose rows a query reads.
const own = "{own}"

// of is a query of one resource's rows: others may log to the same workspace. Ids
// are in lower case there.
func of(kql, id string) string { return strings.ReplaceAll(kql, own, quote(strings.ToLower(id))) }

// calls find the tenant of a call: of one with a key it is the subscription, of
// one with a token what the gateway's answer says in a header, which the log keeps.
// Callers are told to come back (429) also when every deployment fails or none answers,
// so whether a call failed is what the last of them answered.
// https://learn.microsoft.com/azure/azure-monitor/reference/tables/apimanagementgatewaylogs
const calls = `ApiManagementGatewayLogs
| where _ResourceId == ` + own + ` and isnotempty(ApiId)
| extend named = coalesce(ApimSubscriptionId, tostring(ResponseHeaders["` + apimpolicy.TenantHeader + `"]))
| project TimeGenerated, call = CorrelationId, api = ApiId, operation = OperationId, code = ResponseCode,
    failed = ResponseCode >= 500 or coalesce(BackendResponseCode, 0) >= 500 or LastErrorSource == "forward-request", tenant = iff(isempty(named), "unknown", named)`

// jobs are the events of the control plane, each once: one that was sent again, with
// its answer lost, has the same id. Numbers are nothing where an event has none.
var jobs = `AppEvents
| where _ResourceId == ` + own + ` and Name startswith "` + event.Family + `"
| extend id = ` + property(event.ID) + `
| summarize arg_min(TimeGenerated, *) by id
| project TimeGenerated, at = todatetime(` + property(event.At) + `), event = Name, tenant = ` + property(event.Tenant) + `, alias = ` + property(event.Alias) + `, job = ` + property(event.Job) + `, status = ` + property(event.Status) + `, detail = ` + property(event.Detail) + `,
    items = ` + measurement(event.Items) + `, answered = ` + measurement(event.Answered) + `, refused = ` + measurement(event.Refused) + `,
    input = ` + measurement(event.Input) + `, cached = ` + measurement(event.Cached) + `, output = ` + measurement(event.Output)

func property(name string) string { return `tostring(Properties["` + name + `"])` }

func measurement(name string) string { return `coalesce(todouble(Measurements["` + name + `"]), 0.0)` }

// usageGateway counts each call once: a long prompt or answer has several rows,
// of which one has the tokens. The log does not say what came from the model's
// cache, so the cost is the most that it can be.
// https://learn.microsoft.com/azure/azure-monitor/reference/tables/apimanagementgatewayllmlog
const usageGateway = `ApiManagementGatewayLlmLog
| where _ResourceId == ` + own + `
| summarize TimeGenerated = min(TimeGenerated), input = max(PromptTokens), output = max(CompletionTokens), name = max(DeploymentName) by call = CorrelationId
| join kind=leftouter (OneDoorCalls() | project call, tenant) on call
| join kind=leftouter (OneDoorModels() | where door == "gateway") on name
| project TimeGenerated, tenant = iff(isempty(tenant), "unknown", tenant), alias = iff(isempty(alias), name, alias), door = "gateway", model, input = todouble(input), cached = 0.0, output = todouble(output),
    usd = coalesce((input * inputPrice + output * outputPrice) / 1000000, 0.0)`

// usageEstimate is what the gateway's policy emits. Tokens of streams without
// usage are guessed there.
// https://learn.microsoft.com/azure/api-management/llm-emit-token-metric-policy
const usageEstimate = `AppMetrics
| where _ResourceId == ` + own + ` and Name in ("Prompt Tokens", "Completion Tokens")
| extend tenant = tostring(Properties["tenant"]), alias = tostring(Properties["alias"]), door = tostring(Properties["door"])
| summarize input = sumif(Sum, Name == "Prompt Tokens"), output = sumif(Sum, Name == "Completion Tokens") by bin(TimeGenerated, 1h), tenant, alias, door`

// usageBatch has the time at which a job ended, whenever that was heard of: so the
// ledger has it, too.
const usageBatch = `OneDoorJobs()
| where event == "` + event.Terminal + `"
| join kind=leftouter (OneDoorModels() | where door == "batch") on alias
| project TimeGenerated = at, tenant, alias, door = "batch", model, input, cached, output,
    usd = coalesce(((input - cached) * inputPrice + cached * cachedPrice + output * outputPrice) / 1000000, 0.0)`

const usage = `union OneDoorUsageGateway(), OneDoorUsageBatch()`

const spend = `OneDoorUsage()
| where TimeGenerated >= startofmonth(now())
| summarize usd = sum(usd), input = sum(input), output = sum(output) by tenant
| join kind=fullouter OneDoorTenants() on tenant
| project tenant = coalesce(tenant, tenant1), owner, usd = coalesce(usd, 0.0), budget, share = iff(budget > 0, 100 * coalesce(usd, 0.0) / budget, real(null))`

func callers(list []Caller) string {
	return table("account:string, door:string, principal:string", list, func(c Caller) []string {
		return []string{quote(strings.ToLower(c.Account)), quote(c.Door), quote(c.Principal)}
	})
}

func tenants(list []Tenant) string {
	return table("tenant:string, owner:string, budget:real", list, func(t Tenant) []string {
		return []string{quote(t.Name), quote(t.Owner), fmt.Sprintf("real(%d)", t.Budget)}
	})
}

func models(list []Model) string {
	return table("name:string, door:string, alias:string, model:string, sku:string, inputPrice:real, cachedPrice:real, outputPrice:real", list, func(m Model) []string {
		row := []string{quote(m.Name), quote(m.Door), quote(m.Alias), quote(m.Price.Model), quote(m.Price.SKU)}
		for _, usd := range []prices.USD{m.Price.Input, m.Price.Cached, m.Price.Output} {
			row = append(row, "real("+strconv.FormatFloat(usd.Float(), 'f', -1, 64)+")")
		}
		return row
	})
}

// table writes rows as a table, sorted: where they came from has no order.
func table[T any](columns string, list []T, row func(T) []string) string {
	var rows []string
	for _, item := range list {
		rows = append(rows, "    "+strings.Join(row(item), ", "))
	}
	slices.Sort(rows)
	return "datatable(" + columns + ")[\n" + strings.Join(slices.Compact(rows), ",\n") + "\n]"
}

// quote writes a text as KQL does.
// https://learn.microsoft.com/kusto/query/scalar-data-types/string
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// The doors, as functions and usage name them.
const (
	DoorGateway = "gateway"
	DoorBatch   = "batch"
)
