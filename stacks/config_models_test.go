package stacks

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/base"
	"onedoor/components/identity"
	"onedoor/components/models"
	"onedoor/components/network"
	"onedoor/internal/az"
	"onedoor/internal/az/netplan"
	"onedoor/internal/az/openai"
	"onedoor/internal/fake"
	"onedoor/internal/ref"
	"onedoor/internal/routing"
)

// Models that Azure, or the doors, could not serve.
func TestModelsAreChecked(t *testing.T) {
	t.Parallel()
	const chat = "models.chat."
	refuse(t, map[string]refusal{
		"AliasMalformed":     {"models.Chat_2", plainModel, nil, `onedoor:models.Chat_2: want a name of lower-case letters, digits and single hyphens, at most 30 characters`},
		"ModelMissing":       {chat + "model", "", "gpt-5.4", `onedoor:models.chat.model: got "", want the name of a model in Azure's catalogue`},
		"VersionMissing":     {chat + "version", nil, "2", `onedoor:models.chat.version: got "", want a version: without one Azure would move the deployment`},
		"FilterUnknown":      {chat + "contentFilter", "none", "strict", `onedoor:models.chat.contentFilter: got "none", want one of standard, strict`},
		"AnswerTooLong":      {chat + "maxOutputTokens", 128001, 128000, `onedoor:models.chat.maxOutputTokens: got 128001, want 1 to 128000 tokens, or 0`},
		"ShortNameMalformed": {chat + "deployments.west-1", plainDeployment, nil, `onedoor:models.chat.deployments.west-1: want a short name of 1 to 20 lower-case letters and digits`},
		"SKUUnknown":         {chat + "deployments.zone.sku", "Premium", "GlobalStandard", `onedoor:models.chat.deployments.zone.sku: got "Premium", want one of DataZoneProvisionedManaged, DataZoneStandard, GlobalProvisionedManaged, GlobalStandard, ProvisionedManaged, Standard`},
		"BatchUnderSync":     {chat + "deployments.zone.sku", "GlobalBatch", "Standard", `a SKU that takes batch jobs belongs to models.chat.batch, in an account of its own`},
		"SyncUnderBatch":     {chat + "batch.sku", "GlobalStandard", "DataZoneBatch", `onedoor:models.chat.batch.sku: got "GlobalStandard", want one of DataZoneBatch, GlobalBatch, the SKUs that take batch jobs`},
		"CapacityMissing":    {chat + "deployments.zone.capacity", nil, 1, `onedoor:models.chat.deployments.zone.capacity: got 0, want at least 1 unit`},
		"BatchCapacity":      {chat + "batch.capacity", nil, 1, `onedoor:models.chat.batch.capacity: got 0, want at least 1 unit of 1000 enqueued tokens`},
		"RegionIsAName":      {chat + "deployments.zone.region", "Sweden Central", "westeurope", `onedoor:models.chat.deployments.zone.region: got "Sweden Central", want a region's short name`},
		"PriorityTooHigh":    {chat + "deployments.zone.priority", 101, 100, `onedoor:models.chat.deployments.zone.priority: got 101, want 0 to 100`},
		"ReserveTooLarge":    {chat + "deployments.zone.reserveInteractive", 50001, 50000, `onedoor:models.chat.deployments.zone.reserveInteractive: got 50001, want 0 to 50000, the deployment's tokens per minute`},
		"TokensOfUnits":      {chat + "deployments.zone.tokensPerMinute", 50000, 0, `onedoor:models.chat.deployments.zone.tokensPerMinute: got 50000, want nothing: only provisioned throughput needs it`},
		"TokensMissing":      {chat + "deployments.paid", with(provisioned, "tokensPerMinute", 0), provisioned, `onedoor:models.chat.deployments.paid.tokensPerMinute: got 0, want what Azure's capacity calculator says`},
		"ReserveOfPaid":      {chat + "deployments.paid", with(provisioned, "reserveInteractive", 90001), with(provisioned, "reserveInteractive", 90000), `reserveInteractive: got 90001, want 0 to 90000`},
		"NothingAnswers":     {"models.idle", entry{}, nil, `onedoor:models.idle.deployments: want at least one deployment, or a provider that serves the alias`},
		"TooManyTargets":     {chat + "deployments", many(9, plainDeployment), many(8, plainDeployment), `onedoor:models.chat.deployments: got 9, want at most 8 deployments and providers together`},
		"AccountTooFull":     {"models", fullAccount(33), fullAccount(32), `onedoor:models: got 33, want at most 32 deployments in swedencentral`},
		"KeyUnknown":         {chat + "maxOutputToken", 5, nil, `onedoor:models.chat.maxOutputToken: unknown key, nearest is onedoor:models.chat.maxOutputTokens`},
		"AliasIsNoMap":       {"models.chat", "gpt-5.1", nil, `onedoor:models.chat: got "gpt-5.1", want a map of keys: model, version`},
		"CapacityIsAText":    {chat + "deployments.zone.capacity", "50", 50, `onedoor:models.chat.deployments.zone.capacity: got "50", want a whole number`},
	})
}

func TestRoutesFollowTheConfiguration(t *testing.T) {
	t.Parallel()
	v := values(t, "prod")
	set(t, v, "externalProviders.partner", with(plainProvider, "priority", 2))
	cfg, err := Parse("prod", v)
	require.NoError(t, err)
	routes := cfg.routes()
	assert.Equal(t, []string{"chat", "embed", "open", "reason", "small"}, sortedKeys(routes))
	chat := routes["chat"]
	var order []string
	for _, target := range chat.Targets {
		order = append(order, target.Backend)
	}
	assert.Equal(t, []string{"chat-reserved", "chat-regional", "chat-zone", "external_partner_chat", "chat-elsewhere"}, order)
	account := models.AccountName(cfg.Scope(), "swedencentral")
	assert.Equal(t, routing.Target{
		Backend: "chat-reserved", Kind: routing.Azure, Account: account, Deployment: "chat-reserved", URL: "https://" + account + ".openai.azure.com/openai/v1",
		SKU: "DataZoneProvisionedManaged", Region: "swedencentral", Residency: routing.DataZone, TokensPerMinute: 70000,
	}, chat.Targets[0])
	assert.Equal(t, 150_000, chat.Targets[1].TokensPerMinute, "units of a thousand")
	assert.Equal(t, 1, chat.Targets[2].Priority)
	assert.Equal(t, routing.Target{
		Backend: "external_partner_chat", Kind: routing.External, Deployment: "model-1", URL: "https://api.example.com/v1", Residency: routing.Anywhere, Priority: 2,
	}, chat.Targets[3])
	assert.Equal(t, []routing.Target{chat.Targets[1]}, chat.For(routing.Regional, "swedencentral"))
	assert.Equal(t, cfg.Models["chat"].MaxOutputTokens, chat.MaxOutputTokens)
}

func TestModelsBecomeAccounts(t *testing.T) {
	t.Parallel()
	for stack, want := range map[string]map[string]int{
		"dev": {"swedencentral": 4, "westeurope": 1}, "prod": {"swedencentral": 6, "westeurope": 4},
	} {
		cfg, err := Parse(stack, values(t, stack))
		require.NoError(t, err)
		p := givenPlatform()
		args := cfg.modelsArgs(p)
		accounts := map[string]int{}
		for region, deployments := range args.Accounts {
			accounts[region] = len(deployments)
			assert.True(t, slices.IsSortedFunc(deployments, func(a, b models.Deployment) int { return strings.Compare(a.Name, b.Name) }), "%s: %s", stack, region)
		}
		assert.Equal(t, want, accounts, stack)
		i := slices.IndexFunc(args.BatchJobs, func(d models.Deployment) bool { return d.Name == "chat" })
		require.NotEqual(t, -1, i)
		assert.Equal(t, "GlobalBatch", args.BatchJobs[i].SKU)
		assert.Equal(t, "2025-11-13", args.BatchJobs[i].Version)
		assert.Equal(t, openai.Standard, args.BatchJobs[i].Filter)

		// The two doors are not exchanged.
		assert.Equal(t, "rg-platform", args.Sync.Group.PlainName)
		assert.Equal(t, "rg-batch", args.Batch.Group.PlainName)
		assert.Contains(t, args.Sync.Endpoints.Plain, "endpoints-models")
		assert.Contains(t, args.Batch.Endpoints.Plain, "endpoints-batch")
		assert.Contains(t, args.Sync.Caller.Plain, "gateway")
		assert.Contains(t, args.Batch.Caller.Plain, "control-plane")
		assert.Equal(t, []string{"sync", "batch"}, []string{args.Sync.Role.Name, args.Batch.Role.Name})

		fake.Run(t, fake.Preview, func(ctx *pulumi.Context) error {
			_, err := models.New(ctx, "models", args)
			return err
		})
	}
}

// givenPlatform is what models need of a platform.
func givenPlatform() *platform {
	batch := fake.Group()
	batch.PlainName = "rg-batch"
	group := fake.Group()
	group.PlainName = "rg-platform"
	return &platform{
		base: &base.Base{Platform: group, BatchDoor: batch, Logs: ref.Logs{Workspace: ref.Ready(fake.GroupID + "/providers/Microsoft.OperationalInsights/workspaces/logs")}},
		network: &network.Network{
			Subnets: map[netplan.Role]ref.Subnet{netplan.EndpointsModels: fake.Subnet("endpoints-models"), netplan.EndpointsBatch: fake.Subnet("endpoints-batch")},
			Zones:   fake.Zones(az.ZoneOpenAI),
		},
		identity: &identity.Identities{
			Gateway: fake.Identity("gateway"), ControlPlane: fake.Identity("control-plane"),
			SyncOnly: az.Role{Name: "sync", GUID: "sync"}, BatchSubmitter: az.Role{Name: "batch", GUID: "batch"},
		},
	}
}

func TestAPlatformWithoutModelsIsRefused(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	for _, root := range []string{"models", "plans", "tenants"} {
		delete(v, root)
	}
	_, err := Parse("dev", v)
	require.ErrorContains(t, err, "onedoor:models: want at least one alias")
	require.ErrorContains(t, err, "is wrong in 2 places")
}
