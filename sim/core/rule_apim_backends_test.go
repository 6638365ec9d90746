package core

import (
	"fmt"
	"strings"
	"testing"
)

func TestGatewayBackendRules(t *testing.T) {
	t.Parallel()
	backend := gw + "/backends/new"
	rule := func(failure, more string) string {
		return `'protocol':'http','url':'https://x','circuitBreaker':{'rules':[{'name':'r','tripDuration':'PT30S','failureCondition':{'interval':'PT1M',` + failure + `}}` + more + `]}`
	}
	counted := `'count':1,'statusCodeRanges':[{'min':429,'max':429}]`
	members := func(n int) string {
		return `'type':'Pool','pool':{'services':[` + strings.TrimSuffix(strings.Repeat(`{'id':'/backends/chat'},`, n), ",") + `]}`
	}
	runAll(t, map[string]writeCase{
		"A550 https":                  {reason: "http also for https", id: backend, body: properties(`'protocol':'https','url':'https://x'`), want: ValidationError, text: "Protocol is not supported"},
		"A550 no protocol":            {reason: "a single one has one", id: backend, body: properties(`'url':'https://x'`), want: ValidationError},
		"A550 no address":             {reason: "a single one has one", id: backend, body: properties(`'protocol':'http'`), want: ValidationError, text: "url"},
		"A550 no scheme":              {reason: "http or https", id: backend, body: properties(`'protocol':'http','url':'example.org'`), want: ValidationError},
		"A550 both":                   {reason: "neighbour", id: backend, body: properties(`'protocol':'http','url':'https://x'`)},
		"A550 pool in a single one":   {reason: "type Pool", id: backend, body: properties(`'protocol':'http','url':'https://x','pool':{'services':[{'id':'/backends/chat'}]}`), want: ValidationError},
		"A551 address of a pool":      {reason: "its members have them", id: backend, body: properties(members(1) + `,'url':'https://x'`), want: ValidationError, text: "url"},
		"A551 breaker of a pool":      {reason: "its members have them", id: backend, body: properties(members(1) + `,'circuitBreaker':{'rules':[]}`), want: ValidationError},
		"A551 by path":                {reason: "neighbour", id: backend, body: properties(members(1))},
		"A551 by id":                  {reason: "neighbour", id: backend, body: properties(`'type':'Pool','pool':{'services':[{'id':'$gw/backends/chat','priority':1,'weight':100}]}`)},
		"A551 member missing":         {reason: "it exists", id: backend, body: properties(`'type':'Pool','pool':{'services':[{'id':'/backends/nope'}]}`), want: ValidationError},
		"A551 pool in a pool":         {reason: "no pools in it", id: backend, body: properties(`'type':'Pool','pool':{'services':[{'id':'/backends/pool'}]}`), want: ValidationError, text: "a pool"},
		"A551 member twice":           {reason: "once", id: backend, body: properties(members(2)), want: ValidationError, text: "twice"},
		"A551 31 members":             {reason: "30 at most", id: backend, body: properties(members(31)), want: ValidationError, text: "31"},
		"A552 breaker":                {reason: "neighbour", id: backend, body: properties(rule(counted, ""))},
		"A552 two rules":              {reason: "one", id: backend, body: properties(rule(counted, `,{'name':'s'}`)), want: ValidationError, text: "2 rules"},
		"A552 count and percentage":   {reason: "one of them", id: backend, body: properties(rule(counted+`,'percentage':10`, "")), want: ValidationError},
		"A552 neither":                {reason: "one of them", id: backend, body: properties(rule(`'statusCodeRanges':[{'min':429,'max':429}]`, "")), want: ValidationError},
		"A552 no failure":             {reason: "something counts", id: backend, body: properties(rule(`'count':1`, "")), want: ValidationError, text: "statusCodeRanges"},
		"A552 reasons":                {reason: "neighbour", id: backend, body: properties(rule(`'percentage':10,'errorReasons':['Timeout']`, ""))},
		"A552 backwards":              {reason: "min not above max", id: backend, body: properties(rule(`'count':1,'statusCodeRanges':[{'min':503,'max':500}]`, "")), want: ValidationError, text: "503..500"},
		"A552 no interval":            {reason: "it looks for so long", id: backend, body: properties(strings.Replace(rule(counted, ""), `'interval':'PT1M',`, "", 1)), want: ValidationError, text: "interval"},
		"A552 in Consumption":         {reason: "none there", id: gateways + "onedoor-cons/backends/new", body: properties(rule(counted, "")), want: ValidationError, text: "Consumption"},
		"A553 named by a policy":      {reason: "the policy goes first", method: Delete, id: gw + "/backends/chat", want: ValidationError, text: "apis/chat/policies/policy"},
		"A553 member of a pool":       {reason: "the pool goes first", method: Delete, id: gw + "/backends/spare", want: ValidationError, text: "backends/pool"},
		"A553 idle":                   {reason: "neighbour", method: Delete, id: gw + "/backends/idle"},
		"A553 value named by policy":  {reason: "the policy goes first", method: Delete, id: gw + "/namedValues/url", want: ValidationError, text: "apis/chat/policies/policy"},
		"A553 idle value":             {reason: "neighbour", method: Delete, id: gw + "/namedValues/idle"},
		"A555 both":                   {reason: "one of them", id: gw + "/namedValues/new", body: properties(`'displayName':'new','value':'x','keyVault':{}`), want: ValidationError},
		"A555 neither":                {reason: "one of them", id: gw + "/namedValues/new", body: properties(`'displayName':'new'`), want: ValidationError},
		"A555 blank":                  {reason: "a value", id: gw + "/namedValues/new", body: properties(`'displayName':'new','value':'  '`), want: ValidationError},
		"A555 name of another":        {reason: "its own", id: gw + "/namedValues/new", body: properties(`'displayName':'CONTROL-URL','value':'x'`), want: ValidationError, text: "namedValues/url"},
		"A555 a value":                {reason: "neighbour", id: gw + "/namedValues/new", body: properties(`'displayName':'new','value':'x'`)},
		"A560 insights without key":   {reason: "it has one", id: gw + "/loggers/new", body: properties(`'loggerType':'applicationInsights','credentials':{}`), want: ValidationError, text: "instrumentationKey"},
		"A560 insights by connection": {reason: "neighbour", id: gw + "/loggers/new", body: properties(`'loggerType':'applicationInsights','credentials':{'connectionString':'x'}`)},
		"A560 insights missing":       {reason: "it exists", id: gw + "/loggers/new", body: properties(`'loggerType':'applicationInsights','credentials':{'connectionString':'x'},'resourceId':'$rg/providers/Microsoft.Insights/components/nope'`), want: InvalidResourceReference},
		"A560 hub without a name":     {reason: "it has one", id: gw + "/loggers/new", body: properties(`'loggerType':'azureEventHub','credentials':{'connectionString':'x'}`), want: ValidationError},
		"A560 monitor with a key":     {reason: "it needs none", id: gw + "/loggers/new", body: properties(`'loggerType':'azureMonitor','credentials':{'a':'b'}`), want: ValidationError},
		"A560 another kind":           {reason: "chosen once", id: gw + "/loggers/monitor", body: properties(`'loggerType':'applicationInsights','credentials':{'connectionString':'x'}`), want: ValidationError},
		"A560 logger in use":          {reason: "a diagnostic names it", method: Delete, id: gw + "/loggers/monitor", want: ValidationError, text: "diagnostics/azuremonitor"},
		"A560 idle logger":            {reason: "neighbour", method: Delete, id: gw + "/loggers/idle"},
		"A561 another name":           {reason: "one of two", id: gw + "/diagnostics/mine", body: properties(`'loggerId':'$gw/loggers/monitor'`), want: ValidationError, text: "applicationinsights or azuremonitor"},
		"A561 logger missing":         {reason: "it exists", id: gw + "/diagnostics/azuremonitor", body: properties(`'loggerId':'$gw/loggers/nope'`), want: ValidationError},
		"A561 logger of another kind": {reason: "its kind", id: gw + "/diagnostics/azuremonitor", body: properties(`'loggerId':'/loggers/insights'`), want: ValidationError, text: "azureMonitor"},
		"A561 logger by path":         {reason: "neighbour", id: gw + "/diagnostics/azuremonitor", body: properties(`'loggerId':'/loggers/monitor'`)},
		"A561 metrics to Monitor":     {reason: "for Application Insights", id: gw + "/diagnostics/azuremonitor", body: properties(`'loggerId':'/loggers/monitor','metrics':true`), want: ValidationError, text: "metrics"},
		"A561 metrics to insights":    {reason: "neighbour", id: gw + "/apis/chat/diagnostics/applicationinsights", body: properties(`'loggerId':'/loggers/insights','metrics':true`)},
	})
}

// A named value from a vault is a secret that exists and that an identity of the
// service may read; a firewall lets the service's own one in alone (A556).
func TestGatewayReadsVaults(t *testing.T) {
	t.Parallel()
	s := servedBy(t)
	client := func(name string) string {
		return fmt.Sprintf(`,'identityClientId':'%v'`, shown(t, s, rg+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"+name, "properties.clientId"))
	}
	from := func(vault, secret, client string) string {
		return properties(`'displayName':'new','secret':true,'keyVault':{'secretIdentifier':'https://` + vault + `.vault.azure.net/secrets/` + secret + `'` + client + `}`)
	}
	value := gw + "/namedValues/new"
	runAll(t, map[string]writeCase{
		"A556 identity with a role":       {reason: "neighbour", id: value, body: from("kv-apim", "key", client("models"))},
		"A556 own identity without":       {reason: "it may not read", id: value, body: from("kv-apim", "key", ""), want: ValidationError, text: "Forbidden"},
		"A556 identity of somebody else":  {reason: "the service has it", id: value, body: from("kv-apim", "key", client("other")), want: ValidationError, text: "Can not find Managed Identity"},
		"A556 no identity of its own":     {reason: "it has one", id: gwV2 + "/namedValues/new", body: from("kv-shut", "key", ""), want: ValidationError, text: "Can not find Managed Identity"},
		"A556 secret missing":             {reason: "it exists", id: value, body: from("kv-apim", "nope", client("models")), want: ValidationError, text: "does not exist"},
		"A556 no secret":                  {reason: "its address", id: value, body: strings.Replace(from("kv-apim", "key", ""), "/secrets/", "/keys/", 1), want: ValidationError},
		"A556 firewall, own identity":     {reason: "neighbour", id: value, body: from("kv-shut", "key", "")},
		"A556 firewall, user's identity":  {reason: "no trusted service", id: value, body: from("kv-shut", "key", client("models")), want: ValidationError, text: "firewall"},
		"A556 firewall without exception": {reason: "no bypass", id: value, body: from("kv-tight", "key", ""), want: ValidationError, text: "bypass"},
		"A556 vault of somebody else":     {reason: "neighbour: taken to exist", id: value, body: from("kv-far", "key", "")},
	})
}

// Logs of what models are asked exist from 2024-06-01-preview on (A562).
func TestModelLogsNeedThePreview(t *testing.T) {
	t.Parallel()
	s := servedBy(t)
	body := properties(`'loggerId':'/loggers/%s','largeLanguageModel':{'logs':'enabled'}`)
	for _, c := range []struct {
		version, name, logger string
		want                  Code
	}{
		{"2024-05-01", "azuremonitor", "monitor", InvalidRequestContent},
		{"2024-06-01-preview", "azuremonitor", "monitor", ""},
		{"2024-06-01-preview", "applicationinsights", "insights", ValidationError},
	} {
		_, a := Apply(s, Op{Method: Put, ID: gw + "/apis/chat/diagnostics/" + c.name, APIVersion: c.version, Body: j(t, fmt.Sprintf(body, c.logger)), Instant: true})
		if got := a.Error; (got == nil) != (c.want == "") || got != nil && got.Code != c.want {
			t.Errorf("%s %s: %v, want %q", c.version, c.name, got, c.want)
		}
	}
}
