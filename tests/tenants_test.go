package tests

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
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
		})
	}
}
