package stacks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/alerts"
	"onedoor/internal/prices"
)

func TestRunbooksHaveAnAddress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runbooks string
		legal    bool
	}{
		"Address":         {"https://example.com/docs/runbooks", true},
		"InTheRepository": {"docs/runbooks", true},
		"InTheClear":      {"http://example.com/docs/runbooks", false},
		"NoHost":          {"https:///docs", false},
		"WithAQuery":      {"https://example.com/docs?page=", false},
		"APath":           {"runbooks", false},
		"Nothing":         {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values(t, "dev")
			set(t, v, "observability.runbooks", c.runbooks)
			cfg, err := Parse("dev", v)
			if c.legal {
				require.NoError(t, err)
				assert.Equal(t, c.runbooks, cfg.Observability.Runbooks)
				return
			}
			assert.ErrorContains(t, err, "onedoor:observability.runbooks")
		})
	}
}

// A name that logs show, and what it costs: a deployment, and its alias at the price
// of the dearest.
func TestModelsArePricedByDeploymentAndAlias(t *testing.T) {
	t.Parallel()
	cfg := &Config{Models: Models{
		"chat": {Model: "gpt-5.1", Deployments: map[string]Deployment{"zone": {SKU: "DataZoneStandard"}, "global": {SKU: "GlobalStandard"}}, Batch: &BatchDeployment{SKU: "GlobalBatch"}},
		"new":  {Model: "not-in-the-table", Deployments: map[string]Deployment{"a": {SKU: "GlobalStandard"}, "ptu": {SKU: "GlobalProvisionedManaged"}}},
	}}
	table, err := prices.Load()
	require.NoError(t, err)
	of := func(sku string) prices.Tokens {
		price, ok := table.Tokens("gpt-5.1", sku)
		require.True(t, ok)
		return price
	}
	got, err := cfg.pricedModels()
	require.NoError(t, err)
	assert.Equal(t, []alerts.Model{
		{Name: "chat-global", Door: "gateway", Alias: "chat", Price: of("GlobalStandard")},
		{Name: "chat-zone", Door: "gateway", Alias: "chat", Price: of("DataZoneStandard")},
		{Name: "chat", Door: "gateway", Alias: "chat", Price: of("DataZoneStandard")},
		{Name: "chat", Door: "batch", Alias: "chat", Price: of("GlobalBatch")},
		{Name: "new-a", Door: "gateway", Alias: "new", Price: prices.Tokens{Model: "not-in-the-table", SKU: "GlobalStandard"}},
		{Name: "new-ptu", Door: "gateway", Alias: "new", Price: prices.Tokens{Model: "not-in-the-table", SKU: "GlobalProvisionedManaged"}},
		{Name: "new", Door: "gateway", Alias: "new", Price: prices.Tokens{Model: "not-in-the-table", SKU: "GlobalStandard"}},
	}, got)
	cfg.checkPrices()
	require.Len(t, cfg.Warnings, 1, "what is paid by the hour has no price by the token: %v", cfg.Warnings)
	assert.Contains(t, cfg.Warnings[0], "onedoor:models.new.deployments.a: the price table of "+table.AsOf()+" has no not-in-the-table in GlobalStandard")
}
