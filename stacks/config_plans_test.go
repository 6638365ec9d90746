package stacks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A plan has a limit and sells what there is.
func TestPlansAreChecked(t *testing.T) {
	t.Parallel()
	refuse(t, map[string]refusal{
		"PlanWithoutLimit":   {"plans.extra", with(plainPlan, "tokensPerMinute", 0), with(plainPlan, "tokensPerMinute", 1), `onedoor:plans.extra.tokensPerMinute: got 0, want at least 1`},
		"PlanAliasUnknown":   {"plans.extra", with(plainPlan, "aliases", []string{"chatt"}), plainPlan, `onedoor:plans.extra.aliases: got "chatt", want the name of an alias below onedoor:models, nearest is "chat"`},
		"PlanAliasTwice":     {"plans.extra", with(plainPlan, "aliases", []string{"chat", "chat"}), nil, `onedoor:plans.extra.aliases: got "chat", want each alias once`},
		"PlanSellsNothing":   {"plans.extra", with(plainPlan, "aliases", []string{}), nil, `onedoor:plans.extra.aliases: want at least one alias`},
		"QuotaWithoutPeriod": {"plans.extra", with(plainPlan, "quota", 1), with(with(plainPlan, "quota", 1), "period", "Hourly"), `onedoor:plans.extra.period: got "", want one of Hourly, Daily, Weekly, Monthly, Yearly`},
		"PeriodWithoutQuota": {"plans.extra", with(plainPlan, "period", "Daily"), nil, `onedoor:plans.extra.period: got "Daily", want nothing: there is no quota`},
		"QuotaNegative":      {"plans.extra", with(plainPlan, "quota", -1), nil, `onedoor:plans.extra.quota: got -1, want a number of tokens`},
		"PlanNameMalformed":  {"plans.Extra", plainPlan, nil, `onedoor:plans.Extra: want a name`},
		"PlansOfALargerSKU":  {"plans", many(1998, plainPlan, "starter", "full"), nil, `onedoor:plans: got 2000, want at most 100, the products of SKU Developer; Premium, with gateway.mode classic, has 2000`},
		"PlansOfNoSKU":       {"plans", many(1999, plainPlan, "starter", "full"), nil, `onedoor:plans: got 2001, want at most 100, the products of SKU Developer`},
		"TooManyPlans":       {"plans", many(99, plainPlan, "starter", "full"), many(98, plainPlan, "starter", "full"), `onedoor:plans: got 101, want at most 100, the products of SKU Developer; Premium, with gateway.mode classic, has 2000`},
	})
}

// What is legal and probably not meant is said, and the project's own stacks say
// nothing.
func TestWarnings(t *testing.T) {
	t.Parallel()
	warnings := func(path string, value any) []string {
		v := alone(t, path)
		change(t, v, path, value)
		cfg, err := Parse("dev", v)
		require.NoError(t, err)
		return cfg.Warnings
	}
	assert.Empty(t, warnings("plans.starter.tokensPerMinute", 50_000), "embed gives 50000")
	assert.Equal(t, []string{
		`onedoor:plans.starter.tokensPerMinute: one tenant may use 50001 tokens per minute, but the deployments of alias "embed" give 50000 to all: they will answer 429 before the plan does`,
	}, warnings("plans.starter.tokensPerMinute", 50_001))
	assert.Empty(t, warnings("models.chat.model", "gpt-5.4-mini"))
	assert.Equal(t, []string{
		`onedoor:models.chat.batch: "gpt-5-mini" is not among the models that were known to take batch jobs in August 2026; if Azure does not take them yet, the deployment fails`,
	}, warnings("models.chat.model", "gpt-5-mini"))
	zonal := func(region string) entry {
		return with(plainModel, "deployments", entry{"zone": entry{"sku": "DataZoneStandard", "region": region, "capacity": 50}})
	}
	assert.Empty(t, warnings("models.extra", zonal("westeurope")))
	assert.Equal(t, []string{
		`onedoor:models.extra.deployments.zone.sku: DataZoneStandard processes in a data zone, and uksouth is in none that is known here: Azure may refuse it there, and tenants of residency dataZone are not served by it`,
	}, warnings("models.extra", zonal("uksouth")))
	for _, stack := range []string{"dev", "prod"} {
		cfg, err := Parse(stack, values(t, stack))
		require.NoError(t, err)
		assert.Empty(t, cfg.Warnings, stack)
	}
}

// What a provider can take nobody says, so no sum is compared with it.
func TestNoWarningWhereSomeTargetIsUnmeasured(t *testing.T) {
	t.Parallel()
	v := alone(t, "externalProviders")
	set(t, v, "externalProviders.partner", with(plainProvider, "aliases", entry{"embed": "m"}))
	set(t, v, "tenants.labs.externalProviders", true)
	set(t, v, "plans.starter.tokensPerMinute", 90_000)
	cfg, err := Parse("dev", v)
	require.NoError(t, err)
	assert.Empty(t, cfg.Warnings)
}

// What only the batch door serves is none of the gateway's promises.
func TestAnAliasOfTheBatchDoorMayBeSold(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	set(t, v, "models.nightly", with(with(plainModel, "deployments", entry{}), "batch", entry{"sku": "GlobalBatch", "capacity": 1}))
	set(t, v, "plans.starter.aliases", []string{"chat", "nightly"})
	cfg, err := Parse("dev", v)
	require.NoError(t, err)
	assert.NotContains(t, cfg.routes(), "nightly")
	set(t, v, "plans.starter.aliases", []string{"nightly"})
	_, err = Parse("dev", v)
	require.ErrorContains(t, err, "onedoor:plans.starter.aliases: want at least one alias that takes synchronous calls")
}
