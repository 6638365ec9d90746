package aks

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseTaint(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 63)
	for text, want := range map[string]Taint{
		"sku=gpu:NoSchedule":                         {"sku", "gpu", NoSchedule},
		"nvidia.com/gpu=present:NoExecute":           {"nvidia.com/gpu", "present", NoExecute},
		"a=B_c.d-e:PreferNoSchedule":                 {"a", "B_c.d-e", PreferNoSchedule},
		long + "=" + long + ":NoSchedule":            {long, long, NoSchedule},
		strings.Repeat("a", 253) + "/a=b:NoSchedule": {strings.Repeat("a", 253) + "/a", "b", NoSchedule},
		SpotTaint.String():                           SpotTaint,
		"CriticalAddonsOnly=true:NoExecute":          {"CriticalAddonsOnly", "true", NoExecute},
	} {
		taint, err := ParseTaint(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, taint)
		assert.Equal(t, text, taint.String())
	}
	for text, why := range map[string]string{
		"":                               "there is no =",
		"sku:NoSchedule":                 "there is no =",
		"sku=gpu":                        "there is no effect",
		"=gpu:NoSchedule":                "the key is " + keyForm,
		long + "a=gpu:NoSchedule":        "the key is " + keyForm,
		"Example.com/sku=gpu:NoSchedule": "the key is " + keyForm,
		"/sku=gpu:NoSchedule":            "the key is " + keyForm,
		"a/b/c=gpu:NoSchedule":           "the key is " + keyForm,
		strings.Repeat("a", 254) + "/a=b:NoSchedule": "the key is " + keyForm,
		"sku=:NoSchedule":              "the value is " + valueForm,
		"sku=gpu=a100:NoSchedule":      "the value is " + valueForm,
		"sku=" + long + "a:NoSchedule": "the value is " + valueForm,
		"sku=gpu:noschedule":           "the effect is one of NoSchedule, NoExecute, PreferNoSchedule",
		"sku=gpu:NoSchedule:NoExecute": "the effect is one of NoSchedule, NoExecute, PreferNoSchedule",
	} {
		_, err := ParseTaint(text)
		assert.EqualError(t, err, `taint "`+text+`": want key=value:Effect, as in sku=gpu:NoSchedule; `+why)
	}
}

func TestParseLabel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"sku=gpu": {"sku", "gpu"}, "sku=": {"sku", ""}, "nvidia.com/gpu.present=true": {"nvidia.com/gpu.present", "true"},
	} {
		key, value, err := ParseLabel(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, [2]string{key, value})
	}
	for _, text := range []string{"", "sku", "=gpu", "sku=a b", "sku=a=b", "-sku=a"} {
		_, _, err := ParseLabel(text)
		assert.EqualError(t, err, `label "`+text+`": want key=value; the key is `+keyForm+`, the value `+valueForm+`, or empty`)
	}
}

func TestReserved(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"kubernetes.azure.com/mode": true, "kubernetes.io/os": true, "agentpool": true,
		"nvidia.com/gpu.present": false, "sku": false, "example.com/kubernetes.io": false, "kubernetes.azure.com.example.com/a": false,
	} {
		assert.Equal(t, want, Reserved(key), key)
	}
}

// The table of Kubernetes' own documentation.
func TestTolerates(t *testing.T) {
	t.Parallel()
	taint := Taint{"sku", "gpu", NoSchedule}
	for name, c := range map[string]struct {
		toleration Toleration
		want       bool
	}{
		"equal":                   {Toleration{"sku", OpEqual, "gpu", NoSchedule}, true},
		"equal by default":        {Toleration{"sku", "", "gpu", NoSchedule}, true},
		"any effect":              {Toleration{"sku", OpEqual, "gpu", ""}, true},
		"exists":                  {Toleration{"sku", OpExists, "", NoSchedule}, true},
		"everything":              {Toleration{"", OpExists, "", ""}, true},
		"everything of effect":    {Toleration{"", OpExists, "", NoSchedule}, true},
		"another value":           {Toleration{"sku", OpEqual, "mig", NoSchedule}, false},
		"another key":             {Toleration{"gpu", OpExists, "", NoSchedule}, false},
		"another effect":          {Toleration{"sku", OpEqual, "gpu", NoExecute}, false},
		"all of another effect":   {Toleration{"", OpExists, "", NoExecute}, false},
		"equal without a key":     {Toleration{"", OpEqual, "gpu", NoSchedule}, false},
		"an operator of tomorrow": {Toleration{"sku", "Gt", "gpu", NoSchedule}, false},
	} {
		assert.Equal(t, c.want, c.toleration.Tolerates(taint), name)
	}
}

func TestTolerationsAreDistinctSortedAndHaveSpot(t *testing.T) {
	t.Parallel()
	declared := spot()
	declared.Taints = append(declared.Taints, SpotTaint.String(), "broken")
	want := []Toleration{
		{"CriticalAddonsOnly", OpEqual, "true", NoSchedule},
		{"kubernetes.azure.com/scalesetpriority", OpEqual, "spot", NoSchedule},
		{"sku", OpEqual, "gpu", NoSchedule},
	}
	assert.Equal(t, want, Tolerations(spot(), gpu(), declared, system()))
	assert.Equal(t, want, Tolerations(system(), declared, gpu(), spot()))
	assert.Equal(t, want[2:], Tolerations(gpu()), "no spot, no toleration of spot")
	assert.Empty(t, Tolerations())
}

func TestSpotLabelIsAdded(t *testing.T) {
	t.Parallel()
	p := spot()
	assert.Equal(t, map[string]string{"nvidia.com/gpu.present": "true", "kubernetes.azure.com/scalesetpriority": "spot"}, p.AllLabels())
	assert.Len(t, p.Labels, 1, "the pool's own labels stay as they are")
	assert.Equal(t, map[string]string{"nvidia.com/gpu.present": "true"}, gpu().AllLabels())
	assert.Equal(t, map[string]string{}, Pool{}.AllLabels())
	declared := spot()
	declared.Labels = declared.AllLabels()
	assert.Empty(t, lines(declared.Check()), "a spot pool may declare what AKS adds")
}

// randomPool is a legal pool with some fields at and around the limits.
func randomPool(seed uint64) Pool {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	number := func() *int {
		n := []int{-1, 0, 1, 2, 30, 999, 1000, 1001}[r.IntN(8)]
		if r.IntN(8) == 0 {
			return nil
		}
		return &n
	}
	p := []func() Pool{system, gpu, spot, windows}[r.IntN(4)]()
	for _, change := range []func(){
		func() { p.Name = pick("gpu", "system", "A", "abcdefghijklm") },
		func() { p.Mode = Mode(pick("System", "User")) },
		func() { all := Sizes(); p.Size = all[r.IntN(len(all))].Name },
		func() { p.Count = number() },
		func() { p.AutoScale = !p.AutoScale },
		func() { p.Min = number() },
		func() { p.Max = number() },
		func() { p.MaxPods = r.IntN(260) },
		func() { p.OS = OS(pick("", "Linux", "Windows")) },
		func() { p.Priority = Priority(pick("Regular", "Spot")) },
		func() { p.MaxSurge = pick("", "0", "1", "33%", "100%", "101%") },
		func() { p.MIG = Profile(pick("", "MIG1g", "MIG2g", "MIG3g", "MIG4g", "MIG7g", "MIG9g")) },
		func() { p.Strategy = Strategy(pick("", "none", "single", "mixed")) },
		func() {
			p.Taints = append(p.Taints, pick("sku", "nvidia.com/gpu", "kubernetes.azure.com/scalesetpriority", "")+"="+
				pick("gpu", "spot", "")+":"+pick("NoSchedule", "NoExecute", "PreferNoSchedule", "never"))
		},
	} {
		if r.IntN(5) == 0 {
			change()
		}
	}
	return p
}

// What a pool without problems may be relied upon to be.
func TestCheckedPoolsHold(t *testing.T) {
	t.Parallel()
	legal, sliced := 0, 0
	require.NoError(t, quick.Check(func(seed uint64) bool {
		p := randomPool(seed)
		if len(p.Check()) > 0 {
			return true
		}
		legal++
		if p.AutoScale && (p.Min == nil || p.Max == nil || *p.Min > *p.Max || *p.Max < 1) || !p.AutoScale && (p.Min != nil || p.Max != nil) {
			return false
		}
		if p.Mode == System && (p.Priority == Spot || p.OS == Windows || p.MaxPods != 0 && p.MaxPods < 30) {
			return false
		}
		size, _ := Lookup(p.Size)
		if p.MIG != "" {
			sliced++
			slice, err := SliceOf(size, p.MIG)
			name, n := p.Offers()
			if err != nil || slice.PerNode != size.GPU.Count*slice.PerGPU || n != slice.PerNode || name == "" {
				return false
			}
		}
		return p.MaxNodes()+p.SurgeNodes() <= 2*1000
	}, &quick.Config{MaxCount: 5000}))
	assert.Greater(t, legal, 500, "too few legal pools to say anything")
	assert.Greater(t, sliced, 50, "too few legal pools with MIG to say anything")
}

func TestEveryTaintOfEveryPoolIsTolerated(t *testing.T) {
	t.Parallel()
	require.NoError(t, quick.Check(func(seeds []uint64) bool {
		var pools []Pool
		for _, seed := range seeds {
			pools = append(pools, randomPool(seed))
		}
		tolerations := Tolerations(pools...)
		for _, p := range pools {
			for _, taint := range p.AllTaints() {
				if !slices.ContainsFunc(tolerations, func(t Toleration) bool { return t.Tolerates(taint) }) {
					return false
				}
			}
			if p.Priority == Spot && !slices.Contains(p.AllTaints(), SpotTaint) {
				return false
			}
		}
		// and nothing that no pool has
		for _, t := range tolerations {
			if !slices.ContainsFunc(pools, func(p Pool) bool { return slices.ContainsFunc(p.AllTaints(), t.Tolerates) }) {
				return false
			}
		}
		return slices.Equal(tolerations, slices.Compact(slices.Clone(tolerations)))
	}, nil))
}

// A taint that is read is written back as it was, and what is read is what a
// toleration made of it covers.
func FuzzParseTaint(f *testing.F) {
	for _, seed := range []string{"sku=gpu:NoSchedule", "a/b=c:NoExecute", "=:", "a=b=c:NoSchedule", "a=b:c:NoSchedule", "kubernetes.azure.com/x=y:PreferNoSchedule", "é=x:NoSchedule"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		taint, err := ParseTaint(text)
		if err != nil {
			if (taint != Taint{}) || !strings.HasPrefix(err.Error(), "taint ") {
				t.Fatalf("%q: %v, %v", text, taint, err)
			}
			return
		}
		if taint.String() != text {
			t.Fatalf("%q is read as %q", text, taint)
		}
		if strings.ContainsAny(taint.Key+taint.Value, "=: \n") || len(taint.Key) > 253+1+63 || len(taint.Value) > 63 {
			t.Fatalf("%q: %+v", text, taint)
		}
		if p := (Pool{Taints: []string{text}}); !Tolerations(p)[0].Tolerates(taint) {
			t.Fatalf("%q is not tolerated", text)
		}
	})
}
