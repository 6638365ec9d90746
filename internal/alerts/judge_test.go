package alerts

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/az/monitor"
	"onedoor/internal/kqltest"
	"onedoor/internal/prices"
)

// facts are those of a small stack, with a value in every function.
func facts() Facts {
	return Facts{
		Stack: "test", Gateway: gateway, Insights: insights,
		Callers: []Caller{{Account: syncAccount, Door: DoorGateway, Principal: "gateway-principal"}, {Account: batchAccount, Door: DoorBatch, Principal: "control-plane-principal"}},
		Tenants: []Tenant{{Name: "labs", Owner: "labs@example.com", Budget: 100}, {Name: "helpdesk", Owner: "helpdesk@example.com"}},
		Models: []Model{
			{Name: "chat-zone", Door: DoorGateway, Alias: "chat", Price: prices.Tokens{Model: "gpt-5.1", SKU: "DataZoneStandard", Input: prices.Dollars(2), Cached: prices.Dollars(1), Output: prices.Dollars(10)}},
			{Name: "chat", Door: DoorBatch, Alias: "chat", Price: prices.Tokens{Model: "gpt-5.1", SKU: "GlobalBatch", Input: prices.Dollars(1), Cached: prices.Dollars(1), Output: prices.Dollars(5)}},
		},
	}
}

// The ids of the small stack, as logs write them.
const (
	group        = "/subscriptions/s/resourcegroups/rg/providers/"
	gateway      = group + "microsoft.apimanagement/service/apim"
	insights     = group + "microsoft.insights/components/appi"
	syncAccount  = group + "microsoft.cognitiveservices/accounts/oai-sync"
	batchAccount = group + "microsoft.cognitiveservices/accounts/oai-batch"
)

func schema() kqltest.Schema {
	s := kqltest.Schema{Tables: map[string]string{}}
	for name, table := range monitor.Tables {
		s.Tables[name] = table.Columns
	}
	for _, f := range Functions(facts()) {
		s.Functions = append(s.Functions, kqltest.Named{Name: f.Name, Text: f.KQL})
	}
	return s
}

// queries are the alerts' queries, named as their alerts.
func queries() []kqltest.Named {
	var list []kqltest.Named
	for _, a := range All() {
		if q, ok := a.Signal.(Query); ok {
			list = append(list, kqltest.Named{Name: a.ID, Text: Named(q.KQL, "test")})
		}
	}
	return list
}

func TestQueriesMeanSomethingToKusto(t *testing.T) {
	t.Parallel()
	list := queries()
	for _, a := range All() {
		q, ok := a.Signal.(Query)
		for _, column := range q.Split {
			if ok { // the judge refuses a column that the query does not return
				list = append(list, kqltest.Named{Name: a.ID + " split by " + column, Text: Named(q.KQL, "test") + "\n| summarize by " + column})
			}
		}
	}
	assert.Empty(t, kqltest.Check(t, schema(), list...))
}

// The judge judges: what it must refuse, it refuses.
func TestKustoRefusesNonsense(t *testing.T) {
	t.Parallel()
	nonsense := map[string]string{
		"a column that is not there":   `AppEvents | where Nmae == "x"`,
		"a table that is not there":    `AppEvent | take 1`,
		"a function that is not there": `OneDoorTestJob() | take 1`,
		"a function of another stack":  `OneDoorJobs() | take 1`,
		"types that do not compare":    `AppMetrics | where Sum has "x"`,
		"a split that is not returned": Named(tenantThrottled, "test") + "\n| summarize by code",
		"a stray word":                 `AppEvents | were Name == "x"`,
	}
	var list []kqltest.Named
	for name, text := range nonsense {
		list = append(list, kqltest.Named{Name: name, Text: text})
	}
	refused := map[string]bool{}
	for _, f := range kqltest.Check(t, schema(), list...) {
		refused[f.Name] = true
	}
	for name := range nonsense {
		assert.True(t, refused[name], name)
	}
}
