package alerts

import "onedoor/internal/event"

// The queries of the alerts. A row is an incident. They read the tables of
// tables.go and the functions of functions.go, and nothing that a stack decides:
// that is in the functions.

// bypassed are the calls of a door's accounts by anybody else than its caller.
// Calls with a key carry no object id. Azure has written the field's name in two
// ways.
// https://learn.microsoft.com/azure/azure-monitor/reference/tables/azurediagnostics
func bypassed(door string) string {
	return `AzureDiagnostics
| where ResourceProvider == "MICROSOFT.COGNITIVESERVICES" and Category == "RequestResponse"
| extend account = tolower(_ResourceId), request = parse_json(column_ifexists("properties_s", "{}"))
| extend object = coalesce(tostring(request["objectId"]), tostring(request["objectid"]))
| join kind=inner (OneDoorCallers() | where door == "` + door + `") on account
| where object != principal
| extend caller = iff(isempty(object), "key or unknown", object)
| summarize calls = count(), operations = make_set(OperationName, 20), addresses = make_set(CallerIPAddress, 10) by account, caller`
}

const jobRefusals = `OneDoorJobs()
| where event == "` + event.Terminal + `" and answered + refused > 0
| extend share = refused / (answered + refused)
| where share > ` + mostRefusals + ` and answered + refused >= ` + leastCalls + `
| project tenant, alias, job, share`

const jobUnsuccessful = `OneDoorJobs()
| where event == "` + event.Terminal + `" and status == "completed" and items > 0
| extend share = (answered + refused) / items
| where share < ` + leastSuccess + `
| project tenant, alias, job, share`

const gatewayFailing = `OneDoorCalls()
| summarize calls = count(), failures = countif(failed) by api
| where calls >= ` + leastCalls + ` and failures > (1 - ` + leastSuccess + `) * calls`

const tenantThrottled = `OneDoorCalls()
| where code == 429
| summarize calls = count() by tenant
| where calls >= ` + throttledRows

// https://learn.microsoft.com/azure/azure-monitor/logs/daily-cap
const logsCapped = `_LogOperation
| where Category == "Ingestion" and Detail has "OverQuota"
| project TimeGenerated, Detail`

// overBudget are the tenants whose pace is at least so many per cent of their
// monthly budget. A log alert sees two days at most, so it is the pace of these
// that is compared: thirty days of it are a month.
func overBudget(percent string) string {
	return `OneDoorUsage()
| summarize usd = sum(usd) by tenant
| extend month = usd / 2 * 30
| join kind=inner (OneDoorTenants() | where budget > 0) on tenant
| extend share = 100 * month / budget
| where share >= ` + percent + `
| project tenant, owner, month, budget, share`
}
