package observability_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/observability"
	"onedoor/internal/alerts"
	"onedoor/internal/az"
	"onedoor/internal/az/monitor"
	"onedoor/internal/fake"
	"onedoor/internal/kqltest"
	"onedoor/internal/prices"
	"onedoor/internal/ref"
)

const providers = fake.GroupID + "/providers/"

// logs are those of tests, with an action group.
func logs() ref.Logs {
	l := fake.Logs()
	l.ActionGroup = ref.Ready(providers + "Microsoft.Insights/actionGroups/ag")
	return l
}

// args are valid; a test changes only its subject.
func args() observability.Args {
	account := func(name string) ref.Resource {
		return ref.Ready(providers + "Microsoft.CognitiveServices/accounts/" + name)
	}
	return observability.Args{
		Scope: fake.Scope(az.Dev), Group: fake.Group(), Logs: logs(), Runbooks: "https://example.com/runbooks/",
		Cluster: ref.Ready(providers + "Microsoft.ContainerService/managedClusters/aks"), Gateway: providers + "Microsoft.ApiManagement/service/apim",
		Bus: ref.Ready(providers + "Microsoft.ServiceBus/namespaces/bus"), Groups: []ref.Group{fake.Group()},
		Accounts: []observability.Account{
			{Name: "westeurope", Door: alerts.DoorGateway, Caller: fake.Identity("gateway"), Resource: account("west")},
			{Name: "swedencentral", Door: alerts.DoorGateway, Caller: fake.Identity("gateway"), Resource: account("sweden")},
			{Name: "batch", Door: alerts.DoorBatch, Caller: fake.Identity("control-plane"), Resource: account("batch")},
		},
		Tenants: []alerts.Tenant{{Name: "labs", Owner: "labs@example.com", Budget: 100}},
		Served:  []alerts.Served{{Model: "small", GPUs: 1, Hour: prices.Dollars(1)}},
		Models:  []alerts.Model{{Name: "chat-zone", Door: alerts.DoorGateway, Alias: "chat", Price: prices.Tokens{Model: "gpt-5.1", SKU: "DataZoneStandard", Input: prices.Dollars(1)}}},
	}
}

func run(t *testing.T, mode fake.Mode, a observability.Args) *fake.Plan {
	t.Helper()
	return fake.Run(t, mode, func(ctx *pulumi.Context) error {
		_, err := observability.New(ctx, "seen", a)
		return err
	})
}

// Every alert of the table is a resource, tells the action group, and leads to its
// page; those on model accounts once for each.
func TestEveryAlertIsDeclared(t *testing.T) {
	t.Parallel()
	for _, mode := range []fake.Mode{fake.Preview, fake.Update} {
		plan := run(t, mode, args())
		rules := map[string]map[string]any{}
		for _, group := range []string{"seen-work", "seen-serving"} {
			for _, rule := range plan.Get(t, group).Input("rules").([]any) {
				rule := rule.(map[string]any)
				rules[rule["alert"].(string)] = rule
			}
		}
		for _, a := range alerts.All() {
			page := "https://example.com/runbooks/" + a.ID + ".md"
			properties := map[string]any{"alert": a.ID, "owner": string(a.Owner), "runbook": page}
			group := providers + "Microsoft.Insights/actionGroups/ag"
			switch s := a.Signal.(type) {
			case alerts.Metric:
				names := []string{"seen-" + a.ID}
				if s.Of == alerts.Accounts {
					names = []string{"seen-" + a.ID + "-swedencentral", "seen-" + a.ID + "-westeurope"}
				}
				for _, name := range names {
					r := plan.Get(t, name)
					assert.Equal(t, []any{map[string]any{"actionGroupId": group, "webHookProperties": properties}}, r.Input("actions"), name)
					assert.EqualValues(t, a.Severity, r.Input("severity"), name)
					assert.Contains(t, r.Input("description"), page, name)
					criteria := r.Input("criteria").(map[string]any)["allOf"].([]any)[0].(map[string]any)
					assert.Equal(t, s.Name, criteria["metricName"], name)
					assert.Equal(t, alerts.Duration(s.Window), r.Input("windowSize"), name)
				}
			case alerts.Query:
				r := plan.Get(t, "seen-"+a.ID)
				assert.Equal(t, map[string]any{"actionGroups": []any{group}, "customProperties": properties}, r.Input("actions"), a.ID)
				assert.EqualValues(t, a.Severity, r.Input("severity"), a.ID)
				condition := r.Input("criteria").(map[string]any)["allOf"].([]any)[0].(map[string]any)
				assert.Equal(t, alerts.Named(s.KQL, "test"), condition["query"], "%s: known in previews too", a.ID)
				assert.Len(t, condition["dimensions"], len(s.Split), a.ID)
				assert.EqualValues(t, 0, condition["threshold"], a.ID)
			case alerts.Operation:
				r := plan.Get(t, "seen-"+a.ID)
				assert.Equal(t, map[string]any{"actionGroups": []any{map[string]any{"actionGroupId": group, "webhookProperties": properties}}}, r.Input("actions"), a.ID)
				scope := fake.GroupID
				if s.In == alerts.Subscription {
					scope = "/subscriptions/" + fake.SubscriptionID
				}
				assert.Equal(t, []any{scope}, r.Input("scopes"), a.ID)
			case alerts.Rule:
				rule := rules[a.ID]
				require.NotNil(t, rule, a.ID)
				assert.Equal(t, s.Expr, rule["expression"], a.ID)
				assert.Equal(t, []any{map[string]any{"actionGroupId": group, "actionProperties": properties}}, rule["actions"], a.ID)
				assert.Equal(t, page, rule["annotations"].(map[string]any)["runbook_url"], a.ID)
				delete(rules, a.ID)
			}
		}
		assert.Empty(t, rules, "a rule that the table lacks")
	}
}

// The one function that names identities is unknown in a preview; no alert is.
func TestCallersAreNamedInOneFunction(t *testing.T) {
	t.Parallel()
	plan := run(t, fake.Update, args())
	callers := plan.Get(t, "seen-onedoortestcallers").Input("query").(string)
	for account, principal := range map[string]string{"west": "gateway-principal", "sweden": "gateway-principal", "batch": "control-plane-principal"} {
		assert.Regexp(t, `(?m)^ +"[^"]*/accounts/`+account+`", "(gateway|batch)", "`+principal+`",?$`, callers)
	}
	for _, r := range plan.Resources {
		if r.Name != "seen-onedoortestcallers" && strings.HasPrefix(r.Type, "azure-native:") {
			text, err := json.Marshal(r.Inputs.Mappable())
			require.NoError(t, err)
			assert.NotContains(t, string(text), "gateway-principal", r.Name)
		}
	}
	bypassed := plan.Get(t, "seen-gateway-bypassed")
	for _, f := range alerts.Functions(alerts.Facts{Stack: "test"}) {
		assert.Contains(t, bypassed.DependsOn, "seen-"+strings.ToLower(f.Name), "an alert before its function is refused by Azure")
	}
}

// A workspace of another subscription gets nothing from this program; whoever owns
// it gets the functions as text.
func TestFunctionsForTheWorkspaceOfOthers(t *testing.T) {
	t.Parallel()
	a := args()
	a.Logs.Workspace = ref.Ready("/subscriptions/99999999-3333-4444-5555-666666666666/resourceGroups/rg/providers/Microsoft.OperationalInsights/workspaces/shared")
	var names []string
	plan := fake.Run(t, fake.Update, func(ctx *pulumi.Context) error {
		o, err := observability.New(ctx, "seen", a)
		for name := range o.Functions {
			names = append(names, name)
		}
		return err
	})
	for _, r := range plan.Resources {
		assert.NotEqual(t, "azure-native:operationalinsights/v20200801:SavedSearch", r.Type)
	}
	assert.Len(t, names, len(alerts.Functions(alerts.Facts{Stack: "test"})))
	for _, r := range run(t, fake.Update, args()).Resources {
		if r.Type == "azure-native:operationalinsights/v20200801:SavedSearch" {
			assert.Contains(t, names, r.Input("functionAlias"))
			names = slices.DeleteFunc(names, func(n string) bool { return n == r.Input("functionAlias") })
		}
	}
	assert.Empty(t, names)
}

// The cluster sends its metrics only through an association with a rule.
func TestMetricsHaveAWay(t *testing.T) {
	t.Parallel()
	plan := run(t, fake.Preview, args())
	association, rule := plan.Get(t, "seen-association"), plan.Get(t, "seen-collection")
	assert.Equal(t, providers+"Microsoft.ContainerService/managedClusters/aks", association.Input("resourceUri"))
	assert.Equal(t, providers+"Microsoft.Insights/dataCollectionRules/"+rule.Input("dataCollectionRuleName").(string), association.Input("dataCollectionRuleId"))
	account := rule.Input("destinations").(map[string]any)["monitoringAccounts"].([]any)[0].(map[string]any)["accountResourceId"]
	assert.Contains(t, plan.Get(t, "seen-work").Input("scopes"), account, "rules look where the metrics go")
}

// What is computed alerts nobody, and a group has at most twenty rules.
func TestServedModelsAreRecorded(t *testing.T) {
	t.Parallel()
	a := args()
	a.Served = nil
	for model := range strings.FieldsSeq("a b c d e f g h i j k") {
		a.Served = append(a.Served, alerts.Served{Model: model, GPUs: 1, Hour: prices.Dollars(1)})
	}
	plan := run(t, fake.Preview, a)
	assert.Len(t, plan.Get(t, "seen-usage-1").Input("rules"), monitor.MaxRules)
	rest := plan.Get(t, "seen-usage-2").Input("rules").([]any)
	require.Len(t, rest, 2)
	assert.NotContains(t, rest[0], "actions")
	assert.Contains(t, rest[0].(map[string]any)["expression"], `model_name="k"`)
}

// The workbook asks what Kusto understands, of functions that are there.
func TestWorkbook(t *testing.T) {
	t.Parallel()
	book := run(t, fake.Preview, args()).Get(t, "seen-usage")
	assert.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, book.Input("resourceName"))
	assert.Equal(t, strings.ToLower(book.Input("sourceId").(string)), book.Input("sourceId"))
	var content struct {
		Version string `json:"version"`
		Schema  string `json:"$schema"`
		Items   []struct {
			Type    int    `json:"type"`
			Name    string `json:"name"`
			Content struct {
				Query string `json:"query"`
				Title string `json:"title"`
			} `json:"content"`
		} `json:"items"`
	}
	require.NoError(t, json.Unmarshal([]byte(book.Input("serializedData").(string)), &content))
	assert.Equal(t, "Notebook/1.0", content.Version)
	assert.NotEmpty(t, content.Schema)
	schema := kqltest.Schema{Tables: map[string]string{}}
	for name, table := range monitor.Tables {
		schema.Tables[name] = table.Columns
	}
	a := args()
	for _, f := range alerts.Functions(alerts.Facts{Stack: "test", Tenants: a.Tenants, Models: a.Models}) {
		schema.Functions = append(schema.Functions, kqltest.Named{Name: f.Name, Text: f.KQL})
	}
	var queries []kqltest.Named
	names := map[string]bool{}
	for _, item := range content.Items {
		assert.False(t, names[item.Name], item.Name)
		names[item.Name] = true
		if item.Type == 3 {
			assert.NotEmpty(t, item.Content.Title, item.Name)
			assert.Regexp(t, regexp.MustCompile(`^OneDoorTest[A-Z]`), item.Content.Query)
			queries = append(queries, kqltest.Named{Name: item.Name, Text: item.Content.Query})
		}
	}
	require.NotEmpty(t, queries)
	assert.Empty(t, kqltest.Check(t, schema, queries...))
}

func TestArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*observability.Args)
		want   string // "" for legal
	}{
		"Valid":                {func(*observability.Args) {}, ""},
		"PagesInTheRepository": {func(a *observability.Args) { a.Runbooks = observability.RunbooksHere }, ""},
		"NoPages":              {func(a *observability.Args) { a.Runbooks = "" }, "runbooks"},
		"PagesInTheClear":      {func(a *observability.Args) { a.Runbooks = "http://example.com" }, "runbooks"},
		"NoGroups":             {func(a *observability.Args) { a.Groups = nil }, "groups"},
		"TwoOfAName":           {func(a *observability.Args) { a.Accounts[1].Name = a.Accounts[0].Name }, `"westeurope"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := args()
			c.change(&a)
			_, err := fake.Try(fake.Preview, func(ctx *pulumi.Context) error {
				_, err := observability.New(ctx, "seen", a)
				return err
			})
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.want)
		})
	}
}
