package usage_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/prices"
	"onedoor/internal/settings"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/usage"
)

func TestPeriods(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 34, 56, 0, time.FixedZone("", 3600)) // a Sunday
	for period, want := range map[string][2]string{
		"Hourly": {"2026-11-29T11:00:00Z", "2026-11-29T12:00:00Z"}, "Daily": {"2026-11-29T00:00:00Z", "2026-11-30T00:00:00Z"},
		"Weekly": {"2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"}, "Monthly": {"2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		"Yearly": {"2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
	} {
		got := [2]string{usage.Begin(period, now).Format(time.RFC3339), usage.End(period, now).Format(time.RFC3339)}
		assert.Equal(t, want, got, period)
	}
	monday := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	assert.Equal(t, monday, usage.Begin("Weekly", monday))
}

func TestEntriesCountOnceAndInTheirTime(t *testing.T) {
	t.Parallel()
	s, ctx := usage.Store{Table: ledger.NewLocal()}, context.Background()
	at := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	put := func(tenant, job string, at time.Time) {
		e := usage.Entry{At: at, Tenant: tenant, Job: job, Used: jobs.Results{Usage: jobs.Usage{Input: 10, Output: 1}}}
		require.NoError(t, s.Put(ctx, e))
		require.NoError(t, s.Put(ctx, e), "a second report is no error")
	}
	put("desk", "before", at.Add(-time.Second))
	put("desk", "first", at)
	put("desk", "second", at)
	put("desk", "late", at.Add(24*time.Hour))
	put("labs", "other", at)
	found, err := s.Between(ctx, "desk", at, at.Add(24*time.Hour))
	require.NoError(t, err)
	assert.Len(t, found, 2)
	tokens, err := s.Tokens(ctx, "desk", "Daily", at.Add(time.Hour))
	require.NoError(t, err)
	assert.Equal(t, int64(22), tokens)
}

// A batch is priced by its own row of the table, and what has no price has no cost.
func TestCostsAreOfTheDeploymentsKind(t *testing.T) {
	t.Parallel()
	table, err := prices.Load()
	require.NoError(t, err)
	p := usage.Prices{Table: table, Aliases: map[string]settings.Alias{
		"sync": {Model: "gpt-5.1", SKU: "GlobalStandard"}, "batch": {Model: "gpt-5.1", SKU: "GlobalBatch"}, "odd": {Model: "none", SKU: "GlobalBatch"},
	}}
	u := jobs.Usage{Input: 1_000_000, Output: 1_000_000}
	assert.Equal(t, *p.Cost("sync", u), 2*(*p.Cost("batch", u)), "half the price")
	assert.Nil(t, p.Cost("odd", u))
	assert.Nil(t, p.Cost("unknown", u))
	assert.Equal(t, p.Cost("sync", u), p.CostAs("gpt-5.1/GlobalStandard", u))
	assert.Nil(t, p.CostAs("none/GlobalStandard", u))
	assert.Nil(t, p.CostAs("", u))
}
