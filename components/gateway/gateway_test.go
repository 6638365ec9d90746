package gateway_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/gateway"
	"onedoor/internal/apimpolicy"
	"onedoor/internal/az"
	"onedoor/internal/az/netplan"
	"onedoor/internal/fake"
	"onedoor/internal/ref"
	"onedoor/internal/routing"
)

const (
	region = "swedencentral"
	acme   = "aaaaaaaa-0000-0000-0000-000000000001"
)

// given is a production gateway: Premium, internal, over three zones.
func given() gateway.Args {
	scope := fake.Scope(az.Prod)
	network := netplan.GatewayNetwork{Mode: netplan.Classic, Internal: true}
	account := func(name string) ref.ModelAccount {
		id := fake.GroupID + "/providers/Microsoft.CognitiveServices/accounts/" + name
		return ref.ModelAccount{Resource: ref.Ready(id), Name: name, Endpoint: pulumi.String("https://" + name + ".openai.azure.com").ToStringOutput()}
	}
	return gateway.Args{
		Scope: scope, Group: fake.Group(), Network: network, Subnet: fake.Subnet("gateway"), Doors: fake.Subnet("doors"),
		Zones: fake.Zones(network.Zone(scope.Name(az.APIManagement))), SKU: gateway.SKU{Name: "Premium", Capacity: 3, Zones: []string{"1", "2", "3"}},
		Publisher: gateway.Publisher{Name: "Platform", Email: "platform@example.com"}, Identity: fake.Identity("gateway"),
		Logs: ref.Logs{
			Workspace: ref.Ready(fake.GroupID + "/providers/Microsoft.OperationalInsights/workspaces/log"),
			Component: ref.Ready(fake.GroupID + "/providers/Microsoft.Insights/components/appi"),
		},
		Insights: pulumi.String("InstrumentationKey=x"),
		Vault: gateway.Vault{
			Resource: ref.Ready(fake.GroupID + "/providers/Microsoft.KeyVault/vaults/kv-gateway"), URL: pulumi.String("https://kv-gateway.vault.azure.net/"),
		},
		Rules: apimpolicy.Gateway{
			Directory: "66666666-7777-8888-9999-000000000000", Audience: "api://onedoor", ControlPlane: "https://batch.internal", Region: region, Serving: "api://onedoor-serving",
			Plans: []apimpolicy.Plan{
				{Name: "tin", TokensPerMinute: 100, Aliases: []string{"gpt"}},
				{Name: "gold", TokensPerMinute: 20000, Quota: 5000000, Period: apimpolicy.Monthly, Aliases: []string{"gpt", "mistral"}},
			},
			Tenants: []apimpolicy.Tenant{
				{Name: "hooli", Plan: "tin", Residency: routing.Global},
				{Name: "acme", Plan: "gold", Residency: routing.Regional, Applications: []string{acme}},
			},
			Aliases: []routing.Alias{
				routing.New("gpt", region, azure("sweden", "gpt", "Standard"), azure("sweden", "gpt-ptu", "ProvisionedManaged")),
				routing.New("mistral", region,
					routing.Target{Backend: "mistral", Kind: routing.External, Deployment: "mistral-large", URL: "https://api.mistral.ai/v1", Residency: routing.Anywhere},
					routing.Target{Backend: "ray-mistral", Kind: routing.Ray, Deployment: "mistral", URL: "https://serving.internal/v1", Region: region, Residency: routing.Regional}),
			},
		},
		Workers:  map[string]ref.Identity{"text": fake.Identity("worker-text"), "video": fake.Identity("worker-video")},
		Accounts: []ref.ModelAccount{account("sweden")},
		Secrets:  map[string]string{"mistral": "mistral-api-key"},
		Keys:     map[string]gateway.Key{"acme": {Owner: "acme@example.com"}, "hooli": {Owner: "hooli@example.com"}},
	}
}

func azure(account, deployment, sku string) routing.Target {
	return routing.Target{
		Backend: account + "-" + deployment, Kind: routing.Azure, Account: account, Deployment: deployment,
		URL: "https://" + account + ".openai.azure.com/openai/v1", SKU: sku, Region: region, Residency: routing.Regional,
	}
}

// external is a development gateway on the internet.
func external() gateway.Args {
	a := given()
	a.Scope = fake.Scope(az.Dev)
	a.Network, a.Zones, a.SKU = netplan.GatewayNetwork{Mode: netplan.Classic}, nil, gateway.SKU{Name: "Developer", Capacity: 1}
	return a
}

// endpoint is a gateway behind a private endpoint.
func endpoint() gateway.Args {
	a := given()
	a.Network, a.SKU = netplan.GatewayNetwork{Mode: netplan.Endpoint, Internal: true}, gateway.SKU{Name: "StandardV2", Capacity: 2}
	a.Zones = fake.Zones("privatelink.azure-api.net")
	return a
}

// injected is a gateway of the second generation inside the network.
func injected() gateway.Args {
	a := given()
	a.Network, a.SKU = netplan.GatewayNetwork{Mode: netplan.Injected, Internal: true}, gateway.SKU{Name: "PremiumV2", Capacity: 2}
	return a
}

func program(a gateway.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		g, err := gateway.New(ctx, "gateway", a)
		if err != nil {
			return err
		}
		return fake.Reader(ctx, "caller", g.URL)
	}
}

func TestServiceSitsInTheNetworkAsItsModeSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args                  gateway.Args
		sku, kind             string
		address, record, link bool
		zones                 any
	}{
		"Internal": {given(), "Premium", "Internal", true, true, false, []any{"1", "2", "3"}},
		"External": {external(), "Developer", "External", true, false, false, nil},
		"Endpoint": {endpoint(), "StandardV2", "External", false, false, true, nil},
		"Injected": {injected(), "PremiumV2", "Internal", false, true, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			modes := fake.Modes
			if c.record {
				modes = modes[:1] // no Azure answers with an address here
			}
			for _, mode := range modes {
				plan := fake.Run(t, mode, program(c.args))
				service := plan.Get(t, "gateway")
				assert.Equal(t, "azure-native:apimanagement/v20240501:ApiManagementService", service.Type)
				assert.Equal(t, c.sku, service.Input("sku").(map[string]any)["name"])
				assert.Equal(t, c.kind, service.Input("virtualNetworkType"))
				assert.Equal(t, map[string]any{"subnetResourceId": fake.Subnet("gateway").Plain}, service.Input("virtualNetworkConfiguration"))
				assert.Equal(t, c.zones, service.Input("zones"))
				assert.Equal(t, c.address, service.Input("publicIpAddressId") != nil)
				assert.Equal(t, c.record, len(plan.Names(":PrivateRecordSet")) == 1)
				assert.Equal(t, c.link, len(plan.Names(":PrivateEndpoint")) == 1)
				assert.Equal(t, c.link, len(plan.Names("armpatch:index:Patch")) == 1)
				identity := service.Input("identity").(map[string]any)
				assert.Equal(t, "SystemAssigned, UserAssigned", identity["type"])
				assert.Equal(t, []string{fake.Identity("gateway").Plain}, slices.Collect(maps.Keys(identity["userAssignedIdentities"].(map[string]any))))
			}
		})
	}
}

// A default that nobody asked for has been refused for the Developer SKU, and
// restore would ignore everything else.
func TestNothingIsSentThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	service := fake.Run(t, fake.Preview, program(external())).Get(t, "gateway")
	for _, input := range []string{"enableClientCertificate", "disableGateway", "restore", "natGatewayState", "legacyPortalStatus", "developerPortalStatus", "publicNetworkAccess"} {
		assert.Nil(t, service.Input(input), input)
	}
	assert.False(t, service.Protect)
	assert.True(t, fake.Run(t, fake.Preview, program(given())).Get(t, "gateway").Protect)
}

func TestOldProtocolsAreOff(t *testing.T) {
	t.Parallel()
	for _, a := range []gateway.Args{given(), endpoint()} {
		off := fake.Run(t, fake.Preview, program(a)).Get(t, "gateway").Input("customProperties").(map[string]any)
		for _, protocol := range []string{"Protocols.Ssl30", "Protocols.Tls10", "Protocols.Tls11", "Backend.Protocols.Ssl30", "Backend.Protocols.Tls10", "Backend.Protocols.Tls11"} {
			assert.Equal(t, "False", off["Microsoft.WindowsAzure.ApiManagement.Gateway.Security."+protocol], protocol)
		}
		_, ciphers := off["Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Ciphers.TripleDes168"]
		assert.Equal(t, a.Network.Mode == netplan.Classic, ciphers, "the others have no such switch")
	}
}

func TestInternalGatewayIsFoundByItsOwnName(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(given()))
	record := plan.Get(t, "gateway-record")
	assert.Equal(t, given().Scope.Name(az.APIManagement)+".azure-api.net", record.Input("privateZoneName"))
	assert.Equal(t, "@", record.Input("relativeRecordSetName"))
	assert.Contains(t, plan.Get(t, "caller").DependsOn, "gateway-record")
	a := given()
	a.Zones = nil
	_, err := fake.Try(fake.Preview, program(a))
	require.ErrorContains(t, err, "nobody would find an internal gateway")
}

// Azure refuses to make a service without a public address, so it is closed
// once there is another way in.
func TestPublicAddressIsClosedOnceTheEndpointExists(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(endpoint()))
	closed := plan.Get(t, "gateway-closed")
	assert.Equal(t, map[string]any{"properties": map[string]any{"publicNetworkAccess": "Disabled"}}, closed.Input("properties"))
	assert.Subset(t, closed.DependsOn, []string{"gateway", "gateway-endpoint", "gateway-endpoint-dns"})
	connection := plan.Get(t, "gateway-endpoint").Input("privateLinkServiceConnections").([]any)[0].(map[string]any)
	assert.Equal(t, []any{"Gateway"}, connection["groupIds"])
	assert.Equal(t, []string{"publicNetworkAccess"}, plan.Get(t, "gateway").Options.Ignore)
	assert.Contains(t, plan.Get(t, "caller").DependsOn, "gateway-closed")

	a := endpoint()
	a.SKU.Capacity++
	assert.NotEqual(t, closed.Input("triggers"), fake.Run(t, fake.Update, program(a)).Get(t, "gateway-closed").Input("triggers"),
		"a write of the service could open it again")
}

func TestOneBackendForEachDeployment(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(given()))
	assert.Equal(t, []string{"gateway-backend-mistral", "gateway-backend-ray-mistral", "gateway-backend-sweden-gpt", "gateway-backend-sweden-gpt-ptu"}, plan.Names(":Backend"))
	for name, want := range map[string]struct {
		count, trip any
		wait        bool
		codes       []any
	}{
		"sweden-gpt":     {1.0, "PT30S", true, []any{429.0, 500.0}},
		"sweden-gpt-ptu": {3.0, "PT10S", false, []any{500.0}}, // its 429 last less than a second
		"mistral":        {5.0, "PT30S", false, []any{500.0}},
	} {
		backend := plan.Get(t, "gateway-backend-"+name)
		rules := backend.Input("circuitBreaker").(map[string]any)["rules"].([]any)
		require.Len(t, rules, 1, "Azure takes one")
		rule := rules[0].(map[string]any)
		failure := rule["failureCondition"].(map[string]any)
		assert.Equal(t, want.count, failure["count"], name)
		assert.Equal(t, want.trip, rule["tripDuration"], name)
		assert.Equal(t, want.wait, rule["acceptRetryAfter"], name)
		var codes []any
		for _, r := range failure["statusCodeRanges"].([]any) {
			codes = append(codes, r.(map[string]any)["min"])
		}
		assert.Equal(t, want.codes, codes, name)
		assert.Nil(t, backend.Input("pool"))
		assert.Equal(t, "http", backend.Input("protocol"))
	}
	assert.Equal(t, "https://sweden.openai.azure.com/openai/v1", plan.Get(t, "gateway-backend-sweden-gpt").Input("url"))
}

func TestKeysOfBackendsStayInTheVault(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(endpoint()))
	assert.Equal(t, []string{"gateway-key-mistral"}, plan.Names(":NamedValue"))
	value := plan.Get(t, "gateway-key-mistral")
	assert.Equal(t, map[string]any{"secretIdentifier": "https://kv-gateway.vault.azure.net/secrets/mistral-api-key"}, value.Input("keyVault"), "the system identity reads it, so none is named")
	assert.Equal(t, true, value.Input("secret"))
	assert.Nil(t, value.Input("value"))
	assert.Contains(t, value.DependsOn, "gateway-reads-vault")
	backend := plan.Get(t, "gateway-backend-mistral")
	assert.Equal(t, map[string]any{"header": map[string]any{"Authorization": []any{"Bearer {{key-mistral}}"}}}, backend.Input("credentials"))
	assert.Contains(t, backend.DependsOn, "gateway-key-mistral")
	assert.Nil(t, plan.Get(t, "gateway-backend-sweden-gpt").Input("credentials"), "Azure's take a token")
}

func TestEveryDocumentIsWellFormedAndPassesTheChecker(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(endpoint()))
	n := 0
	for suffix, scope := range map[string]apimpolicy.Scope{":ApiPolicy": apimpolicy.APIScope, ":ProductPolicy": apimpolicy.ProductScope, ":PolicyFragment": apimpolicy.FragmentScope} {
		for _, name := range plan.Names(suffix) {
			r := plan.Get(t, name)
			assert.Equal(t, "xml", r.Input("format"))
			assert.Empty(t, apimpolicy.Check(apimpolicy.Document{Name: name, Scope: scope, Streams: true, Text: r.Input("value").(string)}), name)
			if scope != apimpolicy.FragmentScope {
				assert.Equal(t, "policy", r.Input("policyId"))
			}
			n++
		}
	}
	assert.Equal(t, 1+2+6, n)
	assert.Contains(t, plan.Get(t, "gateway-fragment-models-token").Input("value"), `client-id="gateway-client"`)
	assert.Contains(t, plan.Get(t, "gateway-fragment-workers").Input("value"), `value=";worker-text-client;worker-video-client;"`)
	assert.Contains(t, plan.Get(t, "gateway-plan-gold-policy").Input("value"), `tokens-per-minute="20000"`)
}

// A rule can only judge a document that it can read.
func TestDocumentsAreKnownInPreviews(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(given()))
	for _, name := range append(plan.Names(":ApiPolicy"), plan.Names(":ProductPolicy")...) {
		assert.Contains(t, plan.Get(t, name).Input("value"), "<policies>", name)
	}
	for _, name := range []string{"limits", "routes", "tenants"} {
		assert.Contains(t, plan.Get(t, "gateway-fragment-"+name).Input("value"), "<fragment>", name)
	}
}

// What an API has is written one after another, the policy before any operation,
// and no product has the API before it is whole.
func TestNothingIsServedBeforeItIsLimited(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(endpoint()))
	policy := plan.Get(t, "gateway-openai-policy")
	assert.Subset(t, policy.DependsOn, []string{
		"gateway-openai", "gateway-backend-mistral", "gateway-backend-sweden-gpt", "gateway-fragment-limits", "gateway-fragment-models-token",
		"gateway-fragment-routes", "gateway-fragment-tenants", "gateway-fragment-workers",
	})
	var operations []string
	for _, o := range append(apimpolicy.Synchronous(), apimpolicy.Refused()...) {
		operations = append(operations, "gateway-openai-"+o.ID)
	}
	slices.Sort(operations)
	assert.Equal(t, operations, plan.Names(":ApiOperation"))
	chain := append([]string{"gateway-openai-policy", "gateway-openai-applicationinsights", "gateway-openai-azuremonitor"}, operations...)
	for i := 1; i < len(chain); i++ {
		assert.Contains(t, plan.Get(t, chain[i]).DependsOn, chain[i-1], chain[i])
	}
	last := operations[len(operations)-1]
	assert.Subset(t, plan.Get(t, "gateway-plan-gold-openai").DependsOn, []string{"gateway-plan-gold-policy", last})
	assert.Subset(t, plan.Get(t, "gateway-plan-tin-openai").DependsOn, []string{"gateway-plan-gold-openai", "gateway-plan-tin-policy"})
	assert.Contains(t, plan.Get(t, "caller").DependsOn, "gateway-plan-tin-openai")
	assert.Contains(t, plan.Get(t, "gateway-tenant-acme").DependsOn, "gateway-plan-gold-openai")
}

func TestOperationsNameTheirParametersAndForwardNothingElse(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(given()))
	for _, name := range plan.Names(":ApiOperation") {
		r := plan.Get(t, name)
		template := r.Input("urlTemplate").(string)
		assert.NotContains(t, template, "*", "a wildcard would take whatever Azure adds")
		assert.Len(t, r.Input("templateParameters"), strings.Count(template, "{"), template)
	}
	api := plan.Get(t, "gateway-openai")
	assert.Equal(t, []any{"https"}, api.Input("protocols"))
	assert.Equal(t, map[string]any{"header": "api-key", "query": "api-key"}, api.Input("subscriptionKeyParameterNames"))
	for _, input := range []string{"format", "value", "serviceUrl"} {
		assert.Nil(t, api.Input(input), "nothing is imported, and nothing is a back end by default")
	}
}

// A tenant adds its subscription and its key, and changes one table.
func TestATenantAddsTwoResources(t *testing.T) {
	t.Parallel()
	before := fake.Run(t, fake.Preview, program(given()))
	a := given()
	a.Rules.Tenants = append(a.Rules.Tenants, apimpolicy.Tenant{Name: "globex", Plan: "gold", Residency: routing.Global})
	a.Keys["globex"] = gateway.Key{Owner: "globex@example.com"}
	after := fake.Run(t, fake.Preview, program(a))
	added := slices.DeleteFunc(after.Names(""), func(name string) bool { return slices.Contains(before.Names(""), name) })
	assert.Equal(t, []string{"gateway-tenant-globex", "gateway-tenant-globex-key"}, added)
	for _, r := range before.Resources {
		if i := slices.IndexFunc(after.Resources, func(o fake.Resource) bool { return o.Name == r.Name && o.Type == r.Type }); r.Name != "gateway-fragment-tenants" {
			assert.Equal(t, r.Inputs, after.Resources[i].Inputs, r.Name)
		}
	}
}

func TestTenantsSubscribeToTheirPlanAndFindTheirKeyInTheVault(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(endpoint()))
	subscription := plan.Get(t, "gateway-tenant-acme")
	assert.Equal(t, "acme", subscription.Input("sid"))
	assert.Equal(t, "acme", subscription.Input("displayName"))
	assert.Equal(t, "active", subscription.Input("state"), "or the key does not work")
	scope := subscription.Input("scope").(string)
	assert.True(t, strings.HasSuffix(scope, "/products/plan-gold"), scope)
	key := plan.Get(t, "gateway-tenant-acme-key")
	assert.Equal(t, "kv-gateway", key.Input("vaultName"))
	assert.Equal(t, "gateway-key-acme", key.Input("secretName"))
	assert.Equal(t, "acme@example.com", key.Input("tags").(map[string]any)[az.TagTenantOwner])
	assert.Equal(t, "[secret]", key.Input("properties").(map[string]any)["value"])
	assert.Contains(t, key.DependsOn, "gateway-tenant-acme")
	var asked []string
	for _, call := range plan.Calls {
		if strings.HasSuffix(call.Token, ":listSubscriptionSecrets") {
			asked = append(asked, call.Args["sid"].StringValue())
		}
	}
	assert.ElementsMatch(t, []string{"acme", "hooli"}, asked)
}

// The name of a deleted secret is taken for as long as the secret can be recovered.
func TestATenantThatComesBackGetsAKeyOfAnotherName(t *testing.T) {
	t.Parallel()
	a := given()
	a.Keys["acme"] = gateway.Key{Owner: "acme@example.com", Generation: 2}
	assert.Equal(t, "gateway-key-acme--2", fake.Run(t, fake.Preview, program(a)).Get(t, "gateway-tenant-acme-key").Input("secretName"))
	assert.NotEqual(t, gateway.KeySecret("acme", 2), gateway.KeySecret("acme-2", 0), "no tenant has another's name")
}

func TestNoKeyIsShown(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(endpoint()))
	for _, r := range plan.Resources {
		for name := range r.Inputs {
			assert.NotContains(t, fmt.Sprint(r.Input(string(name))), "primary", "%s.%s", r.Name, name)
		}
	}
	assert.Equal(t, "[secret]", plan.Get(t, "gateway-applicationinsights").Input("credentials"))
}

func TestRoles(t *testing.T) {
	t.Parallel()
	const own = "[unknown]" // the service's own principal, which nobody knows before Azure answers
	assert.Equal(t, []string{
		own + " " + az.SecretsUser.GUID + " at vaults/kv-gateway",
		"gateway-principal " + az.MetricsPublisher.GUID + " at components/appi",
	}, fake.Run(t, fake.Preview, program(given())).Grants())
}

// Prompts are logged only for those who agreed, and then at another address.
func TestPromptsAreLoggedOnlyWhereTenantsAgreed(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(given()))
	assert.Equal(t, []string{"gateway-openai"}, plan.Names(":Api"))
	logs := func(plan *fake.Plan, api string) any {
		return plan.Get(t, "gateway-"+api+"-azuremonitor").Input("largeLanguageModel")
	}
	assert.Equal(t, map[string]any{"logs": "enabled"}, logs(plan, "openai"), "tokens, and nothing of what was said")

	a := given()
	a.Rules.Tenants[0].LogPrompts = true
	plan = fake.Run(t, fake.Preview, program(a))
	assert.Equal(t, []string{"gateway-openai", "gateway-openai-logged"}, plan.Names(":Api"))
	assert.Equal(t, map[string]any{"logs": "enabled"}, logs(plan, "openai"))
	said := map[string]any{"messages": "all", "maxSizeInBytes": 262144.0}
	assert.Equal(t, map[string]any{"logs": "enabled", "requests": said, "responses": said}, logs(plan, "openai-logged"))
	assert.Contains(t, plan.Get(t, "gateway-openai-logged-policy").Input("value"), apimpolicy.CodeLogging)
	assert.NotContains(t, plan.Get(t, "gateway-openai-policy").Input("value"), apimpolicy.CodeLogging)
	assert.Equal(t, apimpolicy.LoggedPath, plan.Get(t, "gateway-openai-logged").Input("path"))
}

func TestDiagnosticsCountTokensAndLogNoBodies(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(given()))
	assert.Equal(t, true, plan.Get(t, "gateway-openai-applicationinsights").Input("metrics"), "without it token metrics go nowhere")
	none := map[string]any{"body": map[string]any{"bytes": 0.0}}
	asked := map[string]any{"body": none["body"], "dataMasking": map[string]any{"queryParams": []any{map[string]any{"value": apimpolicy.KeyName, "mode": "Hide"}}}}
	for _, name := range []string{"gateway-openai-applicationinsights", "gateway-openai-azuremonitor"} {
		for _, side := range []string{"frontend", "backend"} {
			answered := none
			if name == "gateway-openai-azuremonitor" && side == "frontend" {
				answered = map[string]any{"body": none["body"], "headers": []any{apimpolicy.TenantHeader}} // or nobody knows whose call it was
			}
			assert.Equal(t, map[string]any{"request": asked, "response": answered}, plan.Get(t, name).Input(side), "%s: a key may be in the URL", name)
		}
	}
	setting := plan.Get(t, "gateway-logs")
	assert.Equal(t, "Dedicated", setting.Input("logAnalyticsDestinationType"))
	assert.Equal(t, []any{map[string]any{"category": "GatewayLlmLogs", "enabled": true}, map[string]any{"category": "GatewayLogs", "enabled": true}}, setting.Input("logs"))
}

func TestBadArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil, mend func(a *gateway.Args)
		want        string
	}{
		"SKUOfAnotherMode": {
			func(a *gateway.Args) { a.SKU = gateway.SKU{Name: "StandardV2", Capacity: 1} },
			func(a *gateway.Args) { a.SKU = gateway.SKU{Name: "Developer", Capacity: 1} },
			`SKU: got "StandardV2", want one of ["Developer" "Premium"]`,
		},
		"TooManyUnits": {
			func(a *gateway.Args) { a.SKU = gateway.SKU{Name: "Developer", Capacity: 2} },
			func(a *gateway.Args) { a.SKU = gateway.SKU{Name: "Premium", Capacity: 2} },
			"capacity: got 2 units, want 1 to 1 of SKU Developer",
		},
		"UnitsUnevenlySpread": {
			func(a *gateway.Args) { a.SKU.Capacity = 4 }, func(a *gateway.Args) { a.SKU.Capacity = 6 },
			"zones: got 3 for 4 units",
		},
		"NoPublisher": {
			func(a *gateway.Args) { a.Publisher.Name = "" }, func(a *gateway.Args) { a.Publisher.Name = "P" }, "publisher name: got 0 characters",
		},
		"TenantWithoutOwner": {
			func(a *gateway.Args) { a.Keys["acme"] = gateway.Key{} }, func(a *gateway.Args) { a.Keys["acme"] = gateway.Key{Owner: "a"} },
			`tenant "acme": no owner`,
		},
		"KeyGeneration": {
			func(a *gateway.Args) { a.Keys["acme"] = gateway.Key{Owner: "a", Generation: 100} },
			func(a *gateway.Args) { a.Keys["acme"] = gateway.Key{Owner: "a", Generation: 99} },
			`tenant "acme": got generation 100 of its key, want 0 to 99`,
		},
		"AccountUnknown": {
			func(a *gateway.Args) { a.Accounts[0].Name = "norway" }, func(a *gateway.Args) { a.Accounts[0].Name = "sweden" },
			`model account "sweden" is not among those given`,
		},
		"ProviderWithoutKey": {
			func(a *gateway.Args) { a.Secrets = nil }, func(a *gateway.Args) { a.Secrets = map[string]string{"mistral": "k"} },
			`back end "mistral": no secret with its key`,
		},
		"RulesAreWrong": {
			func(a *gateway.Args) { a.Rules.ControlPlane = "" }, func(a *gateway.Args) { a.Rules.ControlPlane = "https://c" }, "control plane: got",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := given()
			c.spoil(&a)
			_, err := fake.Try(fake.Preview, program(a))
			require.ErrorContains(t, err, c.want)
			c.mend(&a)
			_, err = fake.Try(fake.Preview, program(a))
			require.NoError(t, err)
		})
	}
}

func TestOrderOfTheConfigurationChangesNothing(t *testing.T) {
	t.Parallel()
	a := given()
	slices.Reverse(a.Rules.Plans)
	slices.Reverse(a.Rules.Tenants)
	slices.Reverse(a.Rules.Aliases)
	assert.Equal(t, fake.Run(t, fake.Preview, program(given())), fake.Run(t, fake.Preview, program(a)))
}

// The gateway can only name a secret that exists, and a key that somebody wrote
// must survive the next update.
func TestKeysOfBackEndsAreWrittenByHand(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(given()))
	secret := plan.Get(t, "gateway-secret-mistral-api-key")
	assert.Equal(t, "not written yet", secret.Input("properties").(map[string]any)["value"])
	assert.Equal(t, []string{"properties", "tags"}, secret.Options.Ignore)
	assert.Contains(t, plan.Get(t, "gateway-key-mistral").DependsOn, "gateway-secret-mistral-api-key")
	a := given()
	a.Secrets = map[string]string{"mistral": "shared", "other": "shared"}
	assert.Len(t, fake.Run(t, fake.Preview, program(a)).Names(":Secret"), len(a.Rules.Tenants)+1, "back ends of one provider share its key")
}
