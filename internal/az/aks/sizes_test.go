package aks

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSizesAreWholeAndDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range Sizes() {
		assert.False(t, seen[strings.ToLower(s.Name)], "%s twice", s.Name)
		seen[strings.ToLower(s.Name)] = true
		assert.Regexp(t, `^Standard_[A-Z]+[0-9]+[a-z]*(_[A-Z0-9]+)?(_v[0-9]+)?$`, s.Name)
		assert.Contains(t, s.Name, "_"+family(s.Name), s.Name)
		assert.Positive(t, s.VCPUs, s.Name)
		assert.Positive(t, s.MemoryGB, s.Name)
		assert.Regexp(t, `^https://learn\.microsoft\.com/azure/virtual-machines/sizes/[a-z-]+/[a-z0-9-]+$`, s.Source, s.Name)
		assert.Equal(t, burstable(s.Name), s.Burstable, "%s: the family's letter and the data agree", s.Name)
		assert.Equal(t, s.GPU.Count > 0, s.GPU.Card != "" && s.GPU.Share > 0 && s.GPU.MemoryGB > 0, "%s: a GPU is described whole", s.Name)
		if s.GPU.Card == A10 {
			assert.Equal(t, 24, s.GPU.MemoryGB*s.GPU.Share, "%s: shares make a card", s.Name)
		}
		assert.Equal(t, s.VCPUs, vcpusOf(s.Name), "%s: the name says how many vCPUs", s.Name)
	}
	assert.True(t, slices.IsSortedFunc(Sizes(), func(a, b Size) int { return strings.Compare(a.Name, b.Name) }))
}

// family is the letters after "Standard_".
func family(name string) string {
	rest := strings.TrimPrefix(name, "Standard_")
	return rest[:strings.IndexAny(rest, "0123456789")]
}

// vcpusOf is the number in a size's name.
func vcpusOf(name string) int {
	n := 0
	for _, r := range strings.TrimPrefix(name, "Standard_"+family(name)) {
		if r < '0' || r > '9' {
			break
		}
		n = 10*n + int(r-'0')
	}
	return n
}

func TestLookupIgnoresCase(t *testing.T) {
	t.Parallel()
	size, known := Lookup("standard_ND96ASR_v4")
	require.True(t, known)
	assert.Equal(t, "Standard_ND96asr_v4", size.Name)
	_, known = Lookup("Standard_ND96asr_v5")
	assert.False(t, known)
	_, known = Lookup("")
	assert.False(t, known)
}

func TestNearestSize(t *testing.T) {
	t.Parallel()
	for typo, want := range map[string]string{
		"Standard_NC24ads_A100v4":   "Standard_NC24ads_A100_v4",
		"standard_nc40ads_h100_v4":  "Standard_NC40ads_H100_v5",
		"NC40ads_H100_v5":           "Standard_NC40ads_H100_v5",
		"Standard_ND96isr_H100":     "Standard_ND96isr_H100_v5",
		"Standard_D4_v5":            "Standard_D4s_v5",
		"Standard_D4s_v9":           "Standard_D4s_v5", // as near as v6, and first by name
		"a100":                      "",
		"":                          "",
		"something else altogether": "",
	} {
		assert.Equal(t, want, NearestSize(typo), typo)
	}
}

func TestBurstableIsTheFamily(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Standard_B2s": true, "Standard_B0s": true, "standard_b96as_v9": true, "Standard_D2s_v5": false, "Standard_Basic": false, "Standard_B": false, "": false,
	} {
		assert.Equal(t, want, burstable(name), name)
	}
}
