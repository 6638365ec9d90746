package models_test

import (
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/models"
	"onedoor/internal/az"
	"onedoor/internal/az/openai"
	"onedoor/internal/fake"
	"onedoor/internal/ref"
)

func deployment(name, sku string, filter openai.Filter) models.Deployment {
	return models.Deployment{Name: name, Model: "gpt-5.1", Version: "2025-11-13", SKU: sku, Capacity: 50, Filter: filter}
}

func args() models.Args {
	batchDoor := ref.Group{Resource: ref.Ready(fake.GroupID + "-batch"), PlainName: "rg-batch", Name: pulumi.String("rg-batch").ToStringOutput()}
	return models.Args{
		Scope: fake.Scope(az.Prod), Zones: fake.Zones(az.ZoneOpenAI, az.ZoneCognitiveServices, az.ZoneAIServices),
		Logs:  ref.Logs{Workspace: ref.Ready(fake.GroupID + "/providers/Microsoft.OperationalInsights/workspaces/logs")},
		Sync:  models.Door{Group: fake.Group(), Endpoints: fake.Subnet("endpoints-models"), Caller: fake.Identity("gateway"), Role: az.Role{Name: "sync", GUID: "sync-role"}},
		Batch: models.Door{Group: batchDoor, Endpoints: fake.Subnet("endpoints-batch"), Caller: fake.Identity("control-plane"), Role: az.Role{Name: "batch", GUID: "batch-role"}},
		Accounts: map[string][]models.Deployment{
			"swedencentral": {deployment("small", "Standard", openai.Standard), deployment("chat", "GlobalStandard", openai.Strict), deployment("embed", "Standard", openai.Standard)},
			"westeurope":    {deployment("chat", "DataZoneStandard", openai.Standard)},
		},
		BatchJobs: []models.Deployment{deployment("chat", "GlobalBatch", openai.Standard)},
	}
}

func program(a models.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		m, err := models.New(ctx, "models", a)
		if err != nil {
			return err
		}
		if m.Batch != nil {
			if err := fake.Reader(ctx, "submitter", m.Batch.Endpoint); err != nil {
				return err
			}
		}
		return fake.Reader(ctx, "reader", m.Accounts["swedencentral"].Endpoint)
	}
}

var accounts = []string{"models-batch", "models-swedencentral", "models-westeurope"}

func TestAccountsAreClosedFromTheFirstRequest(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program(args()))
		assert.Equal(t, accounts, plan.Names("cognitiveservices/v20241001:Account"))
		for _, name := range accounts {
			account := plan.Get(t, name)
			properties := account.Input("properties").(map[string]any)
			for input, want := range map[string]any{
				"disableLocalAuth": true, "publicNetworkAccess": "Disabled", "networkAcls": map[string]any{"defaultAction": "Deny", "bypass": "None"},
				"customSubDomainName": account.Input("accountName"), "restrictOutboundNetworkAccess": true, "allowedFqdnList": []any{},
			} {
				assert.Equal(t, want, properties[input], "%s: %s", name, input)
			}
			assert.NotContains(t, properties, "dynamicThrottlingEnabled", "Azure owns it")
			assert.NotContains(t, properties, "restore", "it fails where nothing was deleted")
			assert.Equal(t, "OpenAI", account.Input("kind"))
			assert.True(t, account.Protect, name)
		}
	}
}

func TestDevAccountsMayGo(t *testing.T) {
	t.Parallel()
	a := args()
	a.Scope = fake.Scope(az.Dev)
	assert.False(t, fake.Run(t, fake.Preview, program(a)).Get(t, "models-batch").Protect)
}

// One door, one caller: exactly these grants.
func TestEachDoorHasOneCaller(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	plain := func(name string) string { return plan.Get(t, name).Input("accountName").(string) }
	assert.ElementsMatch(t, []string{
		"gateway-principal sync-role at accounts/" + plain("models-swedencentral"),
		"gateway-principal sync-role at accounts/" + plain("models-westeurope"),
		"control-plane-principal batch-role at accounts/" + plain("models-batch"),
	}, plan.Grants())
}

// The batch account shares neither group nor subnet with the others.
func TestTheBatchDoorStandsApart(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	for name, want := range map[string]struct{ group, subnet, location string }{
		"models-batch":         {"rg-batch", "endpoints-batch", "swedencentral"},
		"models-swedencentral": {"rg", "endpoints-models", "swedencentral"},
		"models-westeurope":    {"rg", "endpoints-models", "westeurope"},
	} {
		account, endpoint := plan.Get(t, name), plan.Get(t, name+"-endpoint")
		assert.Equal(t, want.group, account.Input("resourceGroupName"), name)
		assert.Equal(t, want.location, account.Input("location"), name)
		assert.Equal(t, want.group, endpoint.Input("resourceGroupName"), name)
		assert.Equal(t, "swedencentral", endpoint.Input("location"), "%s: an endpoint lies where its network is", name)
		assert.Contains(t, endpoint.Input("subnet").(map[string]any)["id"], "subnets/"+want.subnet, name)
		connection := endpoint.Input("privateLinkServiceConnections").([]any)[0].(map[string]any)
		assert.Equal(t, []any{"account"}, connection["groupIds"], name)
		assert.Contains(t, connection["privateLinkServiceId"], account.Input("accountName"), name)
	}
}

func TestEndpointsAreRegisteredInAllZonesOfAccounts(t *testing.T) {
	t.Parallel()
	zones := func(a models.Args) []string {
		names := []string{}
		for _, config := range fake.Run(t, fake.Preview, program(a)).Get(t, "models-batch-endpoint-dns").Input("privateDnsZoneConfigs").([]any) {
			names = append(names, config.(map[string]any)["name"].(string))
		}
		return names
	}
	a := args()
	assert.Equal(t, []string{az.ZoneOpenAI, az.ZoneCognitiveServices, az.ZoneAIServices}, zones(a))
	a.Zones = fake.Zones(az.ZoneOpenAI)
	assert.Equal(t, []string{az.ZoneOpenAI}, zones(a), "a zone that others fill is left to them")
	a.Zones = nil
	plan := fake.Run(t, fake.Preview, program(a))
	assert.Empty(t, plan.Names("PrivateDnsZoneGroup"))
	assert.Len(t, plan.Names("PrivateEndpoint"), 3)
}

// Azure refuses a second write below an account with 409 while one runs.
func TestWritesBelowAnAccountComeOneAfterAnother(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program(args()))
		chain := []string{
			"models-swedencentral", "models-swedencentral-endpoint", "models-swedencentral-endpoint-dns",
			"models-swedencentral-filter-standard", "models-swedencentral-filter-strict",
			"models-swedencentral-chat", "models-swedencentral-embed", "models-swedencentral-small",
		}
		for i, name := range chain[1:] {
			assert.Contains(t, plan.Get(t, name).DependsOn, chain[i], "%s comes after", name)
		}
	}
}

func TestTheOrderOfTheConfigurationMeansNothing(t *testing.T) {
	t.Parallel()
	a := args()
	want := fake.Run(t, fake.Preview, program(a))
	slices.Reverse(a.Accounts["swedencentral"])
	given := slices.Clone(a.Accounts["swedencentral"])
	defer func() { assert.Equal(t, given, a.Accounts["swedencentral"], "the caller's list is its own") }()
	assert.Equal(t, want, fake.Run(t, fake.Preview, program(a)))
}

func TestDeploymentsArePinned(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	chat := plan.Get(t, "models-swedencentral-chat")
	assert.Equal(t, map[string]any{"name": "GlobalStandard", "capacity": 50.0}, chat.Input("sku"))
	assert.Equal(t, map[string]any{
		"model":         map[string]any{"format": "OpenAI", "name": "gpt-5.1", "version": "2025-11-13"},
		"raiPolicyName": "strict", "versionUpgradeOption": "NoAutoUpgrade",
	}, chat.Input("properties"), "and nothing that Azure owns, such as dynamic quota")
	assert.Equal(t, "standard", plan.Get(t, "models-westeurope-chat").Input("properties").(map[string]any)["raiPolicyName"])
	for _, account := range accounts {
		assert.False(t, slices.Contains(plan.Names("RaiPolicy"), account+"-filter-strict") && account != "models-swedencentral", "%s uses no strict filter", account)
	}
}

func TestFiltersAreMadeAsTheTableSays(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	properties := plan.Get(t, "models-swedencentral-filter-strict").Input("properties").(map[string]any)
	assert.Equal(t, "Microsoft.DefaultV2", properties["basePolicyName"])
	rules := properties["contentFilters"].([]any)
	require.Len(t, rules, len(openai.Strict.Rules()))
	assert.Equal(t, map[string]any{"name": "Hate", "source": "Prompt", "severityThreshold": "Low", "blocking": true, "enabled": true}, rules[0])
	assert.Equal(t, map[string]any{"name": "Jailbreak", "source": "Prompt", "blocking": true, "enabled": true}, rules[8], "a category without severities has no threshold")
	rules = plan.Get(t, "models-swedencentral-filter-standard").Input("properties").(map[string]any)["contentFilters"].([]any)
	assert.Equal(t, map[string]any{"name": "Protected Material Code", "source": "Completion", "blocking": false, "enabled": true}, rules[10])
}

// An endpoint that is known too early is called before it answers.
func TestCallersWaitForEverything(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program(args()))
		reader := plan.Get(t, "reader")
		for _, name := range []string{"models-swedencentral-caller", "models-swedencentral-endpoint-dns", "models-swedencentral-small"} {
			assert.Contains(t, reader.DependsOn, name)
		}
		assert.Regexp(t, `^https://oai-onedoor-test-swedencentral-[0-9a-f]{6}\.openai\.azure\.com$`, reader.Input("value"), "known before it exists")
		assert.Subset(t, plan.Get(t, "submitter").DependsOn, []string{"models-batch-caller", "models-batch-endpoint-dns", "models-batch-chat"})
	}
}

func TestWhoDidWhatGoesToTheWorkspace(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	for _, name := range accounts {
		setting := plan.Get(t, name+"-logs")
		assert.Contains(t, setting.Input("workspaceId"), "workspaces/logs", name)
		assert.Contains(t, setting.Input("resourceUri"), plan.Get(t, name).Input("accountName"), name)
		categories := []any{}
		for _, log := range setting.Input("logs").([]any) {
			assert.Equal(t, true, log.(map[string]any)["enabled"])
			categories = append(categories, log.(map[string]any)["category"])
		}
		assert.Equal(t, []any{"Audit", "RequestResponse", "Trace"}, categories)
	}
}

func TestWithoutBatchDeploymentsThereIsNoBatchAccount(t *testing.T) {
	t.Parallel()
	a := args()
	a.BatchJobs = nil
	plan := fake.Run(t, fake.Preview, program(a))
	assert.Equal(t, accounts[1:], plan.Names("cognitiveservices/v20241001:Account"))
	assert.Len(t, plan.Grants(), 2)
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*models.Args)
		want   string
	}{
		"BatchUnderSync": {func(a *models.Args) { a.Accounts["westeurope"][0].SKU = "GlobalBatch" }, `account of westeurope: deployment "chat": SKU "GlobalBatch", want one of`},
		"SyncUnderBatch": {func(a *models.Args) { a.BatchJobs[0].SKU = "GlobalStandard" }, `batch account: deployment "chat": SKU "GlobalStandard", want one of ["DataZoneBatch" "GlobalBatch"]`},
		"UnknownSKU":     {func(a *models.Args) { a.BatchJobs[0].SKU = "" }, `batch account: deployment "chat": SKU "", want one of`},
		"NoCapacity":     {func(a *models.Args) { a.BatchJobs[0].Capacity = 0 }, `batch account: deployment "chat": capacity 0, want at least 1`},
		"NoVersion":      {func(a *models.Args) { a.BatchJobs[0].Version = "" }, `batch account: deployment "chat": no version`},
		"NoFilter":       {func(a *models.Args) { a.BatchJobs[0].Filter = "" }, `batch account: deployment "chat": content filter "", want one of ["standard" "strict"]`},
		"NameTaken":      {func(a *models.Args) { a.Accounts["swedencentral"][0].Name = "chat" }, `account of swedencentral: deployment "chat": a second one of that name`},
		"Empty":          {func(a *models.Args) { a.Accounts["uksouth"] = nil }, "account of uksouth: no deployments"},
		"TooMany": {func(a *models.Args) {
			for i := range 30 {
				a.Accounts["swedencentral"] = append(a.Accounts["swedencentral"], deployment(string(rune('A'+i)), "Standard", openai.Standard))
			}
		}, "account of swedencentral: 33 deployments, want at most 32"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := args()
			c.change(&a)
			plan, err := fake.Try(fake.Preview, program(a))
			require.ErrorContains(t, err, c.want)
			assert.Empty(t, plan.Resources, "nothing is declared")
		})
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	a := args()
	a.BatchJobs[0].Capacity, a.BatchJobs[0].Version = 0, ""
	a.Accounts["westeurope"][0].Filter = "none"
	_, err := fake.Try(fake.Preview, program(a))
	for _, want := range []string{"capacity 0", "no version", `content filter "none"`} {
		require.ErrorContains(t, err, want)
	}
}

// Policies compare what queues may use with the rest, and see the plan alone.
func TestDeploymentsSayWhatIsKeptForPeople(t *testing.T) {
	t.Parallel()
	a := args()
	a.Accounts["westeurope"][0].Reserve = 20_000
	plan := fake.Run(t, fake.Preview, program(a))
	assert.Equal(t, "20000", plan.Get(t, "models-westeurope-chat").Input("tags").(map[string]any)["interactive-reserve"])
	assert.NotContains(t, plan.Get(t, "models-swedencentral-chat").Input("tags"), "interactive-reserve", "nothing is kept")
}
