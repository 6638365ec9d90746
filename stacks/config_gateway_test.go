package stacks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/az/apim"
	"onedoor/internal/routing"
)

// Mode and exposure have their cases beside the network.
func TestTheGatewayIsChecked(t *testing.T) {
	t.Parallel()
	refuse(t, map[string]refusal{
		"AudienceMissing":     {"gateway.audience", nil, "99999999-2222-3333-4444-555555555555", `onedoor:gateway.audience: got "", want the application id URI`},
		"AudienceIsAName":     {"gateway.audience", "onedoor", "https://example.com/onedoor", `onedoor:gateway.audience: got "onedoor"`},
		"PublisherMissing":    {"gateway.publisherName", nil, "x", `onedoor:gateway.publisherName: got "", want 1 to 100 characters`},
		"PublisherTooLong":    {"gateway.publisherName", strings.Repeat("x", 101), strings.Repeat("x", 100), `want 1 to 100 characters`},
		"MailIsNoAddress":     {"gateway.publisherEmail", "platform", "a@example.com", `onedoor:gateway.publisherEmail: got "platform", want a plain e-mail address`},
		"MailTooLong":         {"gateway.publisherEmail", strings.Repeat("a", 89) + "@example.com", strings.Repeat("a", 88) + "@example.com", `want a plain e-mail address of at most 100 characters`},
		"DeveloperHasOneUnit": {"gateway.capacity", 2, 1, `onedoor:gateway.capacity: got 2, want 1 to 1 units of SKU Developer`},
		"SKUOfAnotherMode":    {"gateway.sku", "StandardV2", "Premium", `onedoor:gateway.sku: got "StandardV2", want one of Developer, Premium: no other SKU can do mode classic here`},
		"GatewaySKUUnknown":   {"gateway.sku", "Consumption", "Developer", `onedoor:gateway.sku: got "Consumption", want one of Developer, Premium`},
	})
}

// Azure's limits, and what the platform promises below them.
func TestTenantsFitTheGateway(t *testing.T) {
	t.Parallel()
	v := alone(t, "tenants")
	change(t, v, "tenants", many(1000, plainTenant))
	_, err := Parse("dev", v)
	require.NoError(t, err, "a thousand always do")
	change(t, v, "tenants", many(10_000, plainTenant))
	_, err = Parse("dev", v)
	require.NoError(t, err)
	change(t, v, "tenants", many(10_001, plainTenant))
	_, err = Parse("dev", v)
	require.ErrorContains(t, err, "onedoor:tenants: got 10001, want at most 10000, the subscriptions of SKU Developer; Premium, with gateway.mode classic, has 75000")
	set(t, v, "gateway.sku", "Premium")
	_, err = Parse("dev", v)
	require.NoError(t, err)
}

func TestTheModeAndTheEnvironmentChooseTheSKU(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stack, mode, sku string
		units            int
		want             apim.SKU
		zones            []string
		refusal          string
	}{
		"DevIsCheap":      {"dev", "classic", "", 1, apim.Developer, nil, ""},
		"DevMayBePremium": {"dev", "classic", "Premium", 1, apim.Premium, nil, ""},
		"ProdHasZones":    {"prod", "classic", "", 3, apim.Premium, []string{"1", "2", "3"}, ""},
		"FourUnits":       {"prod", "classic", "", 4, apim.Premium, []string{"1", "2"}, ""},
		"SixUnits":        {"prod", "classic", "", 6, apim.Premium, []string{"1", "2", "3"}, ""},
		"OneUnit":         {"prod", "classic", "", 1, "", nil, `onedoor:gateway.capacity: got 1, want units that 2 or 3 zones can share evenly`},
		"FiveUnits":       {"prod", "classic", "", 5, "", nil, `onedoor:gateway.capacity: got 5, want units that 2 or 3 zones can share evenly`},
		"Endpoint":        {"prod", "endpoint", "", 2, apim.StandardV2, nil, ""},
		"Injected":        {"prod", "injected", "", 2, apim.PremiumV2, nil, ""},
		"ProdIsNoToy":     {"prod", "classic", "Developer", 1, "", nil, `onedoor:gateway.sku: got "Developer", want Premium: Developer has no SLA`},
		"NotOfTheMode":    {"prod", "injected", "StandardV2", 1, "", nil, `onedoor:gateway.sku: got "StandardV2", want one of PremiumV2: no other SKU can do mode injected here`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values(t, c.stack)
			if c.mode != "classic" {
				unserved(t, v)
			}
			set(t, v, "gateway.mode", c.mode)
			set(t, v, "gateway.sku", c.sku)
			set(t, v, "gateway.capacity", c.units)
			cfg, err := Parse(c.stack, v)
			if c.refusal != "" {
				require.ErrorContains(t, err, c.refusal)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, cfg.gatewayTier().SKU)
			assert.Equal(t, c.zones, cfg.gatewayZones())
		})
	}
}

// Whatever the configuration lets through, the policies can be made from.
func TestTheGatewaysRulesFollowTheConfiguration(t *testing.T) {
	t.Parallel()
	files := map[string]string{"dev": "../Pulumi.dev.yaml", "prod": "../Pulumi.prod.yaml"}
	for stack, file := range files {
		cfg, err := ParseFile(stack, file)
		require.NoError(t, err)
		require.NoError(t, cfg.gatewayRules("https://batch.example.com").Check(), stack)
	}
	v := values(t, "dev")
	set(t, v, "models.nightly", with(with(plainModel, "deployments", entry{}), "batch", entry{"sku": "GlobalBatch", "capacity": 1}))
	set(t, v, "plans.starter.aliases", []string{"nightly", "embed", "chat"})
	set(t, v, "externalProviders.partner", with(plainProvider, "aliases", entry{"small": "vendor/model:1"}))
	set(t, v, "tenants.labs.logPrompts", true)
	set(t, v, "tenants.labs.externalProviders", true)
	cfg, err := Parse("dev", v)
	require.NoError(t, err)
	rules := cfg.gatewayRules("https://batch.example.com")
	require.NoError(t, rules.Check())
	assert.Equal(t, []string{"api://onedoor-dev", "https://batch.example.com", "swedencentral", cfg.Base.TenantID}, []string{rules.Audience, rules.ControlPlane, rules.Region, rules.Directory})
	assert.Equal(t, []apimpolicy.Plan{
		{Name: "full", TokensPerMinute: 20000, Aliases: []string{"chat", "embed", "open", "reason", "small"}},
		{Name: "starter", TokensPerMinute: 10000, Quota: 2_000_000, Period: apimpolicy.Monthly, Aliases: []string{"chat", "embed"}},
	}, rules.Plans, "an alias of the batch door is not sold at this one")
	assert.Equal(t, []apimpolicy.Tenant{
		{Name: "analytics", Plan: "full", Applications: []string{"a2222222-2222-4222-8222-222222222222"}, Residency: routing.DataZone},
		{Name: "helpdesk", Plan: "starter", Applications: []string{"a1111111-1111-4111-8111-111111111111"}, Residency: routing.Regional},
		{Name: "labs", Plan: "full", Residency: routing.Anywhere, LogPrompts: true},
	}, rules.Tenants)
	assert.Len(t, rules.Aliases, 5)
	assert.Equal(t, "api://onedoor-serving-dev", rules.Serving)
}
