package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The resources of Azure Monitor that tests change one thing of.
const (
	busID     = rg + "/providers/Microsoft.ServiceBus/namespaces/bus-test"
	accountID = rg + "/providers/Microsoft.Monitor/accounts/metrics"
	onCall    = mon + "actionGroups/oncall"
	alertBody = `{'location':'global','properties':{'severity':2,'enabled':true,'scopes':['` + busID + `'],'evaluationFrequency':'PT5M','windowSize':'PT15M',` +
		`'criteria':{'odata.type':'Microsoft.Azure.Monitor.MultipleResourceMultipleMetricCriteria','allOf':[{'criterionType':'StaticThresholdCriterion','name':'c','metricNamespace':'Microsoft.ServiceBus/namespaces','metricName':'DeadletteredMessages','timeAggregation':'Maximum','operator':'GreaterThan','threshold':0,'dimensions':[{'name':'EntityName','operator':'Include','values':['*']}]}]},` +
		`'actions':[{'actionGroupId':'` + onCall + `'}]}}`
	logBody = `{'location':'swedencentral','kind':'LogAlert','properties':{'severity':2,'enabled':true,'scopes':['$ws'],'evaluationFrequency':'PT5M','windowSize':'PT15M','autoMitigate':true,'skipQueryValidation':true,` +
		`'criteria':{'allOf':[{'query':'AppEvents','timeAggregation':'Count','operator':'GreaterThan','threshold':0,'failingPeriods':{'minFailingPeriodsToAlert':1,'numberOfEvaluationPeriods':1}}]},'actions':{'actionGroups':['` + onCall + `']}}}`
	activityBody = `{'location':'global','properties':{'enabled':true,'scopes':['` + rg + `'],'condition':{'allOf':[{'field':'category','equals':'Administrative'},{'anyOf':[{'field':'operationName','equals':'a'},{'field':'operationName','equals':'b'}]}]},'actions':{'actionGroups':[{'actionGroupId':'` + onCall + `'}]}}}`
	settingBody  = `{'properties':{'workspaceId':'$ws','logs':[{'category':'OperationalLogs','enabled':true}],'metrics':[{'category':'AllMetrics','enabled':true}]}}`
	bookID       = mon + "workbooks/6d0f6f4e-3f2b-4a57-9d0d-1f6f7a2b0c11"
	bookBody     = `{'location':'swedencentral','kind':'shared','properties':{'category':'workbook','displayName':'w','serializedData':'{\"version\":\"Notebook/1.0\",\"items\":[{}]}'}}`
	flowsBody    = `{'location':'swedencentral','kind':'Linux','properties':{'dataCollectionEndpointId':'` + mon + `dataCollectionEndpoints/dc','dataSources':{'prometheusForwarder':[{'name':'p','streams':['Microsoft-PrometheusMetrics']}]},'destinations':{'monitoringAccounts':[{'name':'m','accountResourceId':'` + accountID + `'}]},'dataFlows':[{'streams':['Microsoft-PrometheusMetrics'],'destinations':['m']}]}}`
	groupID      = rg + "/providers/Microsoft.AlertsManagement/prometheusRuleGroups/g"
	groupBody    = `{'location':'swedencentral','properties':{'interval':'PT1M','scopes':['` + accountID + `'],'rules':[{'alert':'a','expression':'up == 0','for':'PT5M','severity':2,'actions':[{'actionGroupId':'` + onCall + `'}]},{'record':'r','expression':'up'}]}}`
)

// monitored is the landscape with what is watched, and one of each.
func monitored(t testing.TB) State {
	t.Helper()
	s := platform(t)
	for _, r := range []struct{ id, body string }{
		{busID, `{'location':'swedencentral','sku':{'name':'Standard','tier':'Standard'}}`},
		{accountID, `{'location':'swedencentral'}`},
		{mon + "dataCollectionEndpoints/dc", `{'location':'swedencentral','kind':'Linux','properties':{}}`},
		{mon + "dataCollectionRules/dc", flowsBody},
		{ws + "/savedSearches/one", `{'properties':{'category':'c','displayName':'d','query':'AppEvents','functionAlias':'One'}}`},
		{busID + "/providers/Microsoft.Insights/diagnosticSettings/first", settingBody},
	} {
		s = must(t, s, r.id, r.body)
	}
	return s
}

// swap replaces parts of a body: old, new, old, new. Each must be there.
func swap(t *testing.T, body string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, body, pairs[i])
		body = strings.Replace(body, pairs[i], pairs[i+1], 1)
	}
	return body
}

// Each rule refuses what it must, and lets the body pass that differs in nothing
// else: A900 A901 A902 A903 A904 A905 A906 A907 A908 A909 A910 A911 A912 A913 A914
// A915 A916 A917 A918.
func TestMonitorRules(t *testing.T) {
	t.Parallel()
	alert, log, activity, search := mon+"metricAlerts/a", mon+"scheduledQueryRules/a", mon+"activityLogAlerts/a", ws+"/savedSearches/two"
	setting, association := busID+"/providers/Microsoft.Insights/diagnosticSettings/second", busID+"/providers/Microsoft.Insights/dataCollectionRuleAssociations/a"
	other := `{'properties':{'workspaceId':'$ws','logs':[{'category':'RuntimeAuditLogs','enabled':true}]}}`
	searchBody, tied := `{'properties':{'category':'c','displayName':'d','query':'AppEvents','functionAlias':'Two'}}`, `{'properties':{'dataCollectionRuleId':'`+mon+`dataCollectionRules/dc'}}`
	for name, c := range map[string]struct {
		id, body string
		change   []string
		want     Code // "" for a legal neighbour
		text     string
	}{
		"A900 alert":                      {id: alert, body: alertBody},
		"A900 every two minutes":          {alert, alertBody, []string{"PT5M", "PT2M"}, BadRequest, "PT1M, PT5M"},
		"A900 over two hours":             {alert, alertBody, []string{"PT15M", "PT2H"}, BadRequest, "PT6H"},
		"A900 over six hours":             {alert, alertBody, []string{"PT15M", "PT6H"}, "", ""},
		"A900 window below frequency":     {alert, alertBody, []string{"PT15M", "PT1M"}, BadRequest, "PT5M"},
		"A901 no such metric":             {alert, alertBody, []string{"DeadletteredMessages", "DeadLetteredMessages"}, BadRequest, "DeadletteredMessages"},
		"A901 a metric to come":           {alert, alertBody, []string{"'DeadletteredMessages'", "'ToCome','skipMetricValidation':true"}, "", ""},
		"A901 no such total":              {alert, alertBody, []string{"'Maximum'", "'Total'"}, BadRequest, "Average, Maximum, Minimum"},
		"A901 no such dimension":          {alert, alertBody, []string{"EntityName", "QueueName"}, BadRequest, "EntityName"},
		"A902 nothing watched":            {alert, alertBody, []string{"'" + busID + "'", ""}, BadRequest, "scopes"},
		"A902 not there":                  {alert, alertBody, []string{busID, busID + "x"}, InvalidResourceReference, "bus-testx"},
		"A902 two":                        {alert, alertBody, []string{"'" + busID + "'", "'" + busID + "','" + busID + "'"}, BadRequest, "targetResourceType"},
		"A902 two of one kind":            {alert, alertBody, []string{"'" + busID + "'", "'" + busID + "','" + busID + "'", "'enabled'", "'targetResourceType':'t','targetResourceRegion':'r','enabled'"}, "", ""},
		"A903 nobody hears of a metric":   {alert, alertBody, []string{onCall, onCall + "x"}, InvalidResourceReference, "oncallx"},
		"A903 nobody hears of logs":       {log, logBody, []string{onCall, onCall + "x"}, InvalidResourceReference, "oncallx"},
		"A903 nobody hears of a change":   {activity, activityBody, []string{onCall, onCall + "x"}, InvalidResourceReference, "oncallx"},
		"A903 nobody hears of a rule":     {groupID, groupBody, []string{onCall, onCall + "x"}, InvalidResourceReference, "oncallx"},
		"A904 log alert":                  {id: log, body: logBody},
		"A904 every half minute":          {log, logBody, []string{"PT5M", "PT30S"}, BadRequest, "PT1M to P1D"},
		"A904 three days":                 {log, logBody, []string{"PT15M", "P3D"}, BadRequest, "P2D"},
		"A904 two days":                   {log, logBody, []string{"PT15M", "P2D"}, "", ""},
		"A904 window below frequency":     {log, logBody, []string{"PT15M", "PT1M"}, BadRequest, "PT5M"},
		"A905 no query":                   {log, logBody, []string{"'AppEvents'", "''"}, BadRequest, "query"},
		"A905 no condition":               {log, swap(t, logBody, "'allOf':[{'query':'AppEvents','timeAggregation':'Count','operator':'GreaterThan','threshold':0,'failingPeriods':{'minFailingPeriodsToAlert':1,'numberOfEvaluationPeriods':1}}]", "'allOf':[]"), nil, BadRequest, "conditions"},
		"A905 a sum of nothing":           {log, logBody, []string{"'Count'", "'Total'"}, BadRequest, "whose Total is compared"},
		"A905 a sum":                      {log, logBody, []string{"'Count'", "'Total','metricMeasureColumn':'n'"}, "", ""},
		"A905 two of one period":          {log, logBody, []string{"'minFailingPeriodsToAlert':1", "'minFailingPeriodsToAlert':2"}, BadRequest, "2 of 1"},
		"A905 muted and resolving":        {log, logBody, []string{"'autoMitigate':true", "'autoMitigate':true,'muteActionsDuration':'PT1H'"}, BadRequest, "autoMitigate"},
		"A905 muted":                      {log, logBody, []string{"'autoMitigate':true", "'autoMitigate':false,'muteActionsDuration':'PT1H'"}, "", ""},
		"A906 two workspaces":             {log, logBody, []string{"'$ws'", "'$ws','$ws'"}, BadRequest, "want one"},
		"A906 elsewhere":                  {log, logBody, []string{"swedencentral", "westeurope"}, BadRequest, "swedencentral"},
		"A906 no workspace":               {log, logBody, []string{"'$ws'", "'" + ws + "x'"}, InvalidResourceReference, "logsx"},
		"A907 not exported":               {log, logBody, []string{"'AppEvents'", `'AzureMetrics | where MetricName == \"ActiveMessages\"'`}, BadRequest, "ActiveMessages"},
		"A907 exported":                   {log, logBody, []string{"'AppEvents'", `'AzureMetrics | where MetricName == \"IncomingMessages\"'`}, "", ""},
		"A908 changes":                    {id: activity, body: activityBody},
		"A908 no category":                {activity, activityBody, []string{"{'field':'category','equals':'Administrative'},", ""}, BadRequest, "category"},
		"A908 compared with nothing":      {activity, activityBody, []string{",'equals':'b'", ""}, BadRequest, "equals"},
		"A909 two subscriptions":          {activity, activityBody, []string{"'" + rg + "'", "'" + rg + "','/subscriptions/22222222-2222-2222-2222-222222222222'"}, BadRequest, "one subscription"},
		"A909 nothing watched":            {activity, activityBody, []string{"'" + rg + "'", ""}, BadRequest, "scopes"},
		"A910 setting":                    {id: setting, body: other},
		"A910 no such category":           {setting, other, []string{"RuntimeAuditLogs", "RuntimeAuditLog"}, BadRequest, "RuntimeAuditLogs"},
		"A910 category and group":         {setting, other, []string{"'category'", "'categoryGroup':'allLogs','category'"}, BadRequest, "both"},
		"A910 nothing enabled":            {setting, other, []string{"true", "false"}, BadRequest, "enabled"},
		"A910 logs of what has none":      {net + "natGateways/nat/providers/Microsoft.Insights/diagnosticSettings/a", other, nil, BadRequest, "metrics alone"},
		"A910 metrics of what has none":   {net + "networkSecurityGroups/nsg/providers/Microsoft.Insights/diagnosticSettings/a", swap(t, settingBody, "OperationalLogs", "NetworkSecurityGroupEvent"), nil, BadRequest, "no metrics"},
		"A911 no destination":             {setting, other, []string{"'workspaceId':'$ws',", ""}, BadRequest, "destination"},
		"A911 a destination that is gone": {setting, other, []string{"'$ws'", "'" + ws + "x'"}, InvalidResourceReference, "logsx"},
		"A912 sent twice":                 {setting, settingBody, nil, Conflict, "data sink"},
		"A913 workbook":                   {id: bookID, body: bookBody},
		"A913 named by a word":            {mon + "workbooks/usage", bookBody, nil, BadRequest, "GUID"},
		"A913 no content":                 {bookID, bookBody, []string{`\"items\":[{}]`, `\"items\":[]`}, BadRequest, "items"},
		"A913 no JSON":                    {bookID, bookBody, []string{`{\"version\"`, `\"version\"`}, BadRequest, "JSON"},
		"A914 to nowhere":                 {mon + "dataCollectionRules/new", flowsBody, []string{"'destinations':['m']", "'destinations':['n']"}, BadRequest, `"n"`},
		"A914 from nowhere":               {mon + "dataCollectionRules/new", flowsBody, []string{"'prometheusForwarder':[{'name':'p','streams':['Microsoft-PrometheusMetrics']}]", ""}, BadRequest, "none of its sources"},
		"A914 no account":                 {mon + "dataCollectionRules/new", flowsBody, []string{accountID, accountID + "x"}, InvalidResourceReference, "metricsx"},
		"A914 no endpoint":                {mon + "dataCollectionRules/new", flowsBody, []string{"dataCollectionEndpoints/dc", "dataCollectionEndpoints/dx"}, InvalidResourceReference, "dx"},
		"A914 rule":                       {id: mon + "dataCollectionRules/new", body: flowsBody},
		"A915 association":                {id: association, body: tied},
		"A915 tied to nothing":            {association, `{'properties':{}}`, nil, BadRequest, "neither"},
		"A915 tied to what is gone":       {association, tied, []string{"dataCollectionRules/dc", "dataCollectionRules/dx"}, InvalidResourceReference, "dx"},
		"A916 function":                   {id: search, body: searchBody},
		"A916 a name twice":               {search, searchBody, []string{"'Two'", "'one'"}, BadRequest, "savedSearches/one"},
		"A916 no name for a query":        {search, searchBody, []string{"'Two'", "'a-b'"}, BadRequest, "letters"},
		"A917 group":                      {id: groupID, body: groupBody},
		"A917 no metrics":                 {groupID, groupBody, []string{"'" + accountID + "'", ""}, BadRequest, "0 workspaces"},
		"A918 alerts and records":         {groupID, groupBody, []string{"'record':'r'", "'record':'r','alert':'b'"}, BadRequest, "both"},
		"A918 a record that waits":        {groupID, groupBody, []string{"'record':'r'", "'record':'r','for':'PT5M'"}, BadRequest, "alerts nobody"},
		"A918 every half hour":            {groupID, groupBody, []string{"PT1M", "PT30M"}, BadRequest, "PT15M"},
		"A918 six actions":                {groupID, groupBody, []string{"'actions':[", "'actions':[" + strings.Repeat("{'actionGroupId':'"+onCall+"'},", 5)}, BadRequest, "at most 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, a := Apply(monitored(t), Op{Method: Put, ID: c.id, Body: j(t, swap(t, c.body, c.change...)), Instant: true})
			if c.want == "" {
				if a.Error != nil {
					t.Fatal(a.Error)
				}
				return
			}
			require.NotNil(t, a.Error)
			assert.Equal(t, c.want, a.Error.Code, a.Error)
			assert.Contains(t, a.Error.Message, c.text)
		})
	}
}

// A resource has five settings and no sixth (A912).
func TestFiveSettingsAreEnough(t *testing.T) {
	t.Parallel()
	s := monitored(t)
	at := busID + "/providers/Microsoft.Insights/diagnosticSettings/"
	for _, category := range []string{"RuntimeAuditLogs", "DiagnosticErrorLogs", "ApplicationMetricsLogs", "VNetAndIPFilteringLogs"} {
		s = must(t, s, at+category, `{'properties':{'workspaceId':'$ws','logs':[{'category':'`+category+`','enabled':true}]}}`)
	}
	_, a := Apply(s, Op{Method: Put, ID: at + "sixth", Body: j(t, `{'properties':{'storageAccountId':'x','logs':[{'category':'OperationalLogs','enabled':true}]}}`), Instant: true})
	require.NotNil(t, a.Error)
	assert.Contains(t, a.Error.Error(), "at most 5")
}
