package policies_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// many repeats a recorded stack until it has n resources. Names and relations
// stay within a copy, so that rules over relations have their usual work.
func many(t testing.TB, n int) []recorded {
	t.Helper()
	base := load(t, filepath.Join("..", "tests", "testdata", "prod.preview.json"))
	var out []recorded
	for i := 0; len(out) < n; i++ {
		mark := fmt.Sprintf("-%d", i)
		for _, r := range base[:min(len(base), n-len(out))] {
			r.URN += mark
			r.Parent += mark
			for j := range r.Dependencies {
				r.Dependencies = append(append([]string{}, r.Dependencies[:j]...), append([]string{r.Dependencies[j] + mark}, r.Dependencies[j+1:]...)...)
			}
			properties := map[string][]string{}
			for key, urns := range r.PropertyDependencies {
				for _, urn := range urns {
					properties[key] = append(properties[key], urn+mark)
				}
			}
			r.PropertyDependencies = properties
			r.Inputs = renamed(r.Inputs, mark).(map[string]any)
			out = append(out, r)
		}
	}
	return out
}

// renamed marks the names of resources in v.
func renamed(v any, mark string) any {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "onedoor-prod") || strings.Contains(v, "onedoorprod") {
			return strings.ReplaceAll(strings.ReplaceAll(v, "onedoor-prod", "onedoor-prod"+mark), "onedoorprod", "onedoorprod"+mark)
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = renamed(e, mark)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = renamed(e, mark)
		}
		return out
	default:
		return v
	}
}

// The time of a benchmark at ten times the size is ten times as long. What the pack itself
// works, without the client that sends, is pack-s/op; pack-MB is the most memory it has had.
func BenchmarkPack(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		for _, n := range []int{100, 1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				single, whole := requests(b, many(b, n))
				var work time.Duration
				var memory int
				for b.Loop() {
					b.StopTimer()
					client, pid := startProcess(b, packs[name](), b.TempDir())
					b.StartTimer()
					send(b, client, single, whole, nil)
					work += worked(pid)
					memory = max(memory, peak(pid))
				}
				b.ReportMetric(work.Seconds()/float64(b.N), "pack-s/op")
				b.ReportMetric(float64(memory), "pack-MB")
			})
		}
	}
}

// peak is the most memory that a process has had, in MB; 0 where the system
// does not say.
func peak(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kb, _ := strconv.Atoi(strings.Fields(after + " 0")[0])
	return kb / 1024
}

// worked is the processor time of a process, which other load on the machine
// does not lengthen; 0 where the system does not say.
func worked(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // a tick of Linux
}

// A pack must not be what people wait for, nor what fills their machine. The aim is 5 s of a
// processor, which BenchmarkPack measures; processors differ, so that the test allows twice
// as much.
func TestTenThousandResourcesAreJudgedInTime(t *testing.T) {
	t.Parallel()
	single, whole := requests(t, many(t, 10000))
	require.Len(t, single, 10000)
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		client, pid := startProcess(t, packs[name](), t.TempDir())
		send(t, client, single, whole, nil)
		t.Logf("%s: %s, %d MB", name, worked(pid), peak(pid))
		assert.Less(t, worked(pid), 10*time.Second, name)
		assert.Less(t, peak(pid), 500, name)
	}
}
