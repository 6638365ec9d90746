package aks

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Microsoft's and NVIDIA's tables, written out: for each size its GPUs, their
// memory in GB, and the slices of each profile.
var published = map[string]struct {
	gpus, gb   int
	infiniBand bool
	slices     string // MIG1g to MIG7g; "" where AKS has no MIG
}{
	"Standard_NC4as_T4_v3":       {1, 16, false, ""},
	"Standard_NC8as_T4_v3":       {1, 16, false, ""},
	"Standard_NC16as_T4_v3":      {1, 16, false, ""},
	"Standard_NC64as_T4_v3":      {4, 16, false, ""},
	"Standard_NC24ads_A100_v4":   {1, 80, false, "1g.10gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"},
	"Standard_NC48ads_A100_v4":   {2, 80, false, "1g.10gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"},
	"Standard_NC96ads_A100_v4":   {4, 80, false, "1g.10gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"},
	"Standard_ND96asr_v4":        {8, 40, true, "1g.5gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb"},
	"Standard_ND96amsr_A100_v4":  {8, 80, true, "1g.10gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"},
	"Standard_NC40ads_H100_v5":   {1, 94, false, "1g.12gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb"},
	"Standard_NC80adis_H100_v5":  {2, 94, false, "1g.12gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb"},
	"Standard_ND96isr_H100_v5":   {8, 80, true, "1g.10gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"},
	"Standard_ND96isr_H200_v5":   {8, 141, true, "1g.18gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb"},
	"Standard_ND96isr_MI300X_v5": {8, 192, true, ""},
	"Standard_NV6ads_A10_v5":     {1, 4, false, ""},
	"Standard_NV12ads_A10_v5":    {1, 8, false, ""},
	"Standard_NV18ads_A10_v5":    {1, 12, false, ""},
	"Standard_NV36ads_A10_v5":    {1, 24, false, ""},
	"Standard_NV36adms_A10_v5":   {1, 24, false, ""},
	"Standard_NV72ads_A10_v5":    {2, 24, false, ""},
}

// perGPU is how many slices each profile makes of a GPU, in the order of
// Profiles.
var perGPU = []int{7, 3, 2, 1, 1}

func TestSlicesAreThePublishedOnes(t *testing.T) {
	t.Parallel()
	for _, size := range Sizes() {
		want, ok := published[size.Name]
		require.Equal(t, size.GPU.Count > 0, ok, "%s: a GPU size, if and only if it is in the table", size.Name)
		if !ok {
			assert.False(t, size.MIG(), size.Name)
			continue
		}
		assert.Equal(t, want.gpus, size.GPU.Count, size.Name)
		assert.Equal(t, want.gb, size.GPU.MemoryGB, size.Name)
		assert.Equal(t, want.infiniBand, size.GPU.InfiniBand, size.Name)
		assert.Equal(t, want.slices != "", size.MIG(), size.Name)
		for i, profile := range Profiles {
			slice, err := SliceOf(size, profile)
			if want.slices == "" {
				assert.EqualError(t, err, `size "`+size.Name+`": no GPUs that AKS can partition`)
				continue
			}
			require.NoError(t, err, "%s %s", size.Name, profile)
			name := strings.Fields(want.slices)[i]
			_, memory, _ := strings.Cut(strings.TrimSuffix(name, "gb"), ".")
			assert.Equal(t, name, slice.Name, size.Name)
			assert.Equal(t, memory, strconv.Itoa(slice.MemoryGB), size.Name)
			assert.Equal(t, perGPU[i], slice.PerGPU, size.Name)
			assert.Equal(t, want.gpus*perGPU[i], slice.PerNode, size.Name)
			// A slice cannot have memory that its card lacks. NVIDIA rounds names.
			assert.LessOrEqual(t, slice.MemoryGB*slice.PerGPU, want.gb+slice.PerGPU, "%s %s", size.Name, profile)
		}
	}
	_, err := SliceOf(Size{}, "MIG5g")
	assert.EqualError(t, err, `MIG profile "MIG5g": want one of MIG1g, MIG2g, MIG3g, MIG4g, MIG7g`)
}

func TestResourceFollowsFromSizeProfileAndStrategy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size     string
		profile  Profile
		strategy Strategy
		want     string
		perNode  int
		err      string
	}{
		"no GPU":             {"Standard_D4s_v5", "", "", "", 0, ""},
		"no GPU, MIG":        {"Standard_D4s_v5", MIG1g, StrategySingle, "", 0, `size "Standard_D4s_v5": no GPUs that AKS can partition`},
		"whole":              {"Standard_ND96isr_H100_v5", "", "", "nvidia.com/gpu", 8, ""},
		"whole, mixed":       {"Standard_ND96isr_H100_v5", "", StrategyMixed, "nvidia.com/gpu", 8, ""},
		"part of a card":     {"Standard_NV6ads_A10_v5", "", "", "nvidia.com/gpu", 1, ""},
		"AMD":                {"Standard_ND96isr_MI300X_v5", "", StrategySingle, "amd.com/gpu", 8, ""},
		"single":             {"Standard_ND96asr_v4", MIG1g, StrategySingle, "nvidia.com/gpu", 56, ""},
		"mixed":              {"Standard_ND96asr_v4", MIG1g, StrategyMixed, "nvidia.com/mig-1g.5gb", 56, ""},
		"mixed, larger card": {"Standard_NC24ads_A100_v4", MIG1g, StrategyMixed, "nvidia.com/mig-1g.10gb", 7, ""},
		"none":               {"Standard_NC24ads_A100_v4", MIG1g, StrategyNone, "", 0, `MIG strategy "none": want single or mixed, others do not offer slices`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size, known := Lookup(c.size)
			require.True(t, known)
			resource, perNode, err := Resource(size, c.profile, c.strategy)
			assert.Equal(t, c.want, resource)
			assert.Equal(t, c.perNode, perNode)
			if c.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, c.err)
			}
			offers, n := Pool{Size: c.size, MIG: c.profile, Strategy: c.strategy}.Offers()
			assert.Equal(t, c.want, offers)
			assert.Equal(t, c.perNode, n)
		})
	}
	name, n := Pool{Size: "Standard_ND128isr_GB300_v6"}.Offers()
	assert.Empty(t, name, "a size that is not known")
	assert.Zero(t, n)
}
