//go:build linux

// Package performance measures what a preview costs: time of the processors and
// memory of the processes in it. docs/performance.md keeps the figures. It is for
// Linux, which counts memory in kilobytes.
package performance

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/tests/kit"
)

func TestMain(m *testing.M) {
	embedded.Dispatch()
	os.Exit(m.Run())
}

// maxMegabytes is what engine, simulator and program together may take at a thousand
// resources, so that a preview fits beside the rest on a small CI runner.
const maxMegabytes = 500

// tenants fill prod up to more than a thousand resources: each is a subscription of
// the gateway.
const tenants = 240

// crowded is prod with n tenants in place of its own.
func crowded(tb testing.TB, n int) *embedded.Session {
	tb.Helper()
	made := map[string]any{}
	for i := range n {
		made[fmt.Sprintf("tenant-%04d", i)] = map[string]any{
			"owner": "owner@example.com", "plan": "full", "residency": "dataZone",
			"applications": []string{fmt.Sprintf("a0000000-0000-4000-8000-%012d", i)},
		}
	}
	return kit.Session(tb, "prod", kit.Changed(tb, kit.StackFiles()["prod"], map[string]any{"tenants": made, "batch.nightly": map[string]any{}}))
}

// cpu is the time of the processors that this process has taken (syscall.RUSAGE_SELF:
// simulator and program), or its children that have ended (syscall.RUSAGE_CHILDREN:
// the engine and the packs).
func cpu(tb testing.TB, who int) time.Duration {
	tb.Helper()
	var r syscall.Rusage
	require.NoError(tb, syscall.Getrusage(who, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// A preview of a thousand resources fits into half a gigabyte: engine, simulator and
// program together.
func TestAThousandResourcesFitInMemory(t *testing.T) {
	t.Parallel()
	stop := watch()
	result, err := crowded(t, tenants).Preview(t.Context())
	most := stop()
	require.NoError(t, err)
	require.Greater(t, len(result.Resources), 1000)
	t.Logf("%d resources: %s", len(result.Resources), most)
	assert.Greater(t, most.children, 50.0, "the engine was seen: %s", most)
	assert.Less(t, most.together, float64(maxMegabytes), "%s", most)
}

// BenchmarkPreview measures previews of prod as it is and with a thousand resources,
// with and without the policy packs. Memory is not looked at: that takes time itself.
func BenchmarkPreview(b *testing.B) {
	prod := func(tb testing.TB) *embedded.Session { return kit.Session(tb, "prod", kit.StackFiles()["prod"]) }
	thousand := func(tb testing.TB) *embedded.Session { return crowded(tb, tenants) }
	for _, c := range []struct {
		name  string
		open  func(testing.TB) *embedded.Session
		packs bool
	}{
		{"prod", prod, false},
		{"thousand", thousand, false},
		{"prodPacks", prod, true},
		{"thousandPacks", thousand, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := c.open(b)
			s.WithoutPolicies = !c.packs
			here, others := cpu(b, syscall.RUSAGE_SELF), cpu(b, syscall.RUSAGE_CHILDREN)
			resources := 0
			for b.Loop() {
				result, err := s.Preview(b.Context())
				require.NoError(b, err)
				resources = len(result.Resources)
			}
			b.ReportMetric(float64(resources), "resources")
			b.ReportMetric((cpu(b, syscall.RUSAGE_SELF)-here).Seconds()/float64(b.N), "cpu-s/program")
			b.ReportMetric((cpu(b, syscall.RUSAGE_CHILDREN)-others).Seconds()/float64(b.N), "cpu-s/engine")
		})
	}
}
