package tests

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/tests/kit"
)

// BenchmarkPreviewOfTenants shows that a preview grows with the number of tenants
// and not faster: the policies do not.
func BenchmarkPreviewOfTenants(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			tenants := map[string]any{}
			for i := range n {
				tenants[fmt.Sprintf("tenant-%04d", i)] = map[string]any{
					"owner": "owner@example.com", "plan": "full", "residency": "dataZone",
					"applications": []string{fmt.Sprintf("a0000000-0000-4000-8000-%012d", i)},
				}
			}
			s := session(b, "prod", changed(b, stackFiles["prod"], map[string]any{"tenants": tenants, "batch.nightly": map[string]any{}}))
			for b.Loop() {
				result, err := s.Preview(b.Context())
				require.NoError(b, err)
				require.Greater(b, len(result.Resources), 2*n)
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*n), "ms/tenant")
		})
	}
}

// A gateway keeps its mode: a preview says so, and how to get another one.
func TestAGatewayKeepsItsMode(t *testing.T) {
	t.Parallel()
	// Only mode classic serves models of the cluster's own.
	small := kit.Small(t)
	s := session(t, "dev", small)
	_, err := s.Up(t.Context())
	require.NoError(t, err)

	injected := changed(t, small, map[string]any{"gateway.mode": "injected", "gateway.exposure": "internal"})
	s.StackFile = injected
	for _, command := range []func(context.Context) (*engine.Result, error){s.Preview, s.Up} {
		_, err = command(t.Context())
		var failure *engine.Failure
		require.ErrorAs(t, err, &failure)
		require.ErrorContains(t, err, `gateway.mode: got "injected", want "classic", in which apim-onedoor-dev`)
		require.ErrorContains(t, err, "Keep the mode; or make a second stack in mode injected")
	}
	s.StackFile = changed(t, small, map[string]any{"gateway.sku": "Premium"})
	preview, err := s.Preview(t.Context())
	require.NoError(t, err, "another SKU of the same mode")
	require.Equal(t, 1, preview.Changes["update"])

	fresh := session(t, "dev", injected)
	_, err = fresh.Preview(t.Context())
	require.NoError(t, err, "a gateway that is not there yet may have any mode")
}

// Plans and tenants go when the configuration says so, although Azure holds on to
// what it made with a plan; a tenant comes back with a key of another name.
func TestPlansAndTenantsComeAndGo(t *testing.T) {
	t.Parallel()
	plan := map[string]any{"tokensPerMinute": 1000, "aliases": []string{"chat"}}
	tenant := map[string]any{"owner": "guest@example.com", "plan": "trial", "residency": "global"}
	with := func(tenant map[string]any) string {
		return changed(t, kit.Small(t), map[string]any{"plans.trial": plan, "tenants.guest": tenant})
	}
	s := session(t, "dev", with(tenant))
	_, err := s.Up(t.Context())
	require.NoError(t, err)

	s.StackFile = kit.Small(t)
	_, err = s.Up(t.Context())
	require.NoError(t, err, "Azure's own subscription of the plan's product is no obstacle")

	guest := func(generation int) string {
		return changed(t, kit.Small(t), map[string]any{"tenants.guest": map[string]any{
			"owner": "guest@example.com", "plan": "full", "residency": "global", "keyGeneration": generation,
		}})
	}
	s.StackFile = guest(0)
	_, err = s.Up(t.Context())
	require.ErrorContains(t, err, "gateway-key-guest", "the vault keeps the name of a deleted key")
	s.StackFile = guest(1)
	_, err = s.Up(t.Context())
	require.NoError(t, err)
}
