package aks

import (
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Size is a VM size. In which regions and zones a size is offered differs by
// subscription and is not known here: see Pool.OfferedZones.
type Size struct {
	Name      string // as Azure spells it; Azure ignores case
	VCPUs     int
	MemoryGB  int  // of the machine, as the source gives it (some pages say GiB)
	LocalOS   bool // can keep its OS disk on the machine: osDiskType Ephemeral
	Burstable bool // B-series: a CPU share that credits exceed for a while
	GPU       GPU  // Count 0 for a size without
	Source    string
}

// GPU is what a VM size has of GPUs.
type GPU struct {
	Count      int  // devices that a node sees
	Card       Card // "" when Count is 0
	Share      int  // a device is one Share-th of a card: 1 for a whole one
	MemoryGB   int  // of each device
	InfiniBand bool // 1 adapter per GPU
}

// Card is a GPU model with its memory, which decides the names of MIG slices.
type Card string

// The cards.
const (
	T4      Card = "T4"        // 16 GB
	A10     Card = "A10"       // 24 GB
	A100x40 Card = "A100-40GB" // 40 GB
	A100x80 Card = "A100-80GB" // 80 GB
	H100    Card = "H100"      // 80 GB
	H100NVL Card = "H100-NVL"  // 94 GB
	H200    Card = "H200"      // 141 GB
	MI300X  Card = "MI300X"    // 192 GB, of AMD
)

// AMD tells whether the card is AMD's: its device plugin and resource name
// differ, and MIG is NVIDIA's alone.
// https://learn.microsoft.com/azure/aks/use-amd-gpus
func (c Card) AMD() bool { return c == MI300X }

// MIG tells whether the size's cards can be partitioned into MIG slices on AKS:
// A100, H100 and H200, whole cards only.
// https://learn.microsoft.com/azure/aks/gpu-multi-instance (2026-05-22)
func (s Size) MIG() bool {
	return s.GPU.Share == 1 && sliceGB[s.GPU.Card] != nil
}

// The pages that sizes come from, with their dates.
const (
	sizesDocs = "https://learn.microsoft.com/azure/virtual-machines/sizes/"

	ncast4v3  = sizesDocs + "gpu-accelerated/ncast4v3-series"    // 2024-07-31
	nca100v4  = sizesDocs + "gpu-accelerated/nca100v4-series"    // 2024-07-31
	ndasr     = sizesDocs + "gpu-accelerated/ndasra100v4-series" // 2024-07-31
	ndamsr    = sizesDocs + "gpu-accelerated/ndma100v4-series"   // 2024-07-31
	ncadsh100 = sizesDocs + "gpu-accelerated/ncadsh100v5-series" // 2024-07-31
	ndh100    = sizesDocs + "gpu-accelerated/ndh100v5-series"    // 2025-09-02
	ndh200    = sizesDocs + "gpu-accelerated/nd-h200-v5-series"  // 2025-09-02
	ndmi300x  = sizesDocs + "gpu-accelerated/ndmi300xv5-series"  // 2024-08-01
	nvadsa10  = sizesDocs + "gpu-accelerated/nvadsa10v5-series"  // 2024-07-31

	dsv5  = sizesDocs + "general-purpose/dsv5-series"  // 2026-02-27
	ddsv5 = sizesDocs + "general-purpose/ddsv5-series" // 2024-07-29
	dsv6  = sizesDocs + "general-purpose/dsv6-series"  // 2024-07-29
	ddsv6 = sizesDocs + "general-purpose/ddsv6-series" // 2024-07-29
	bsv2  = sizesDocs + "general-purpose/bsv2-series"  // 2026-03-10
	bv1   = sizesDocs + "general-purpose/bv1-series"   // 2026-03-10
	esv5  = sizesDocs + "memory-optimized/esv5-series" // 2026-03-10
	esv6  = sizesDocs + "memory-optimized/esv6-series" // 2026-03-10
)

// sizes are the sizes that this project knows, in no order that matters. A size
// that is missing is not an illegal one: Azure has hundreds.
var sizes = []Size{
	{Name: "Standard_NC4as_T4_v3", VCPUs: 4, MemoryGB: 28, LocalOS: true, GPU: GPU{Count: 1, Card: T4, Share: 1, MemoryGB: 16}, Source: ncast4v3},
	{Name: "Standard_NC8as_T4_v3", VCPUs: 8, MemoryGB: 56, LocalOS: true, GPU: GPU{Count: 1, Card: T4, Share: 1, MemoryGB: 16}, Source: ncast4v3},
	{Name: "Standard_NC16as_T4_v3", VCPUs: 16, MemoryGB: 110, LocalOS: true, GPU: GPU{Count: 1, Card: T4, Share: 1, MemoryGB: 16}, Source: ncast4v3},
	{Name: "Standard_NC64as_T4_v3", VCPUs: 64, MemoryGB: 440, LocalOS: true, GPU: GPU{Count: 4, Card: T4, Share: 1, MemoryGB: 16}, Source: ncast4v3},

	{Name: "Standard_NC24ads_A100_v4", VCPUs: 24, MemoryGB: 220, LocalOS: true, GPU: GPU{Count: 1, Card: A100x80, Share: 1, MemoryGB: 80}, Source: nca100v4},
	{Name: "Standard_NC48ads_A100_v4", VCPUs: 48, MemoryGB: 440, LocalOS: true, GPU: GPU{Count: 2, Card: A100x80, Share: 1, MemoryGB: 80}, Source: nca100v4},
	{Name: "Standard_NC96ads_A100_v4", VCPUs: 96, MemoryGB: 880, LocalOS: true, GPU: GPU{Count: 4, Card: A100x80, Share: 1, MemoryGB: 80}, Source: nca100v4},
	{Name: "Standard_ND96asr_v4", VCPUs: 96, MemoryGB: 900, LocalOS: true, GPU: GPU{Count: 8, Card: A100x40, Share: 1, MemoryGB: 40, InfiniBand: true}, Source: ndasr},
	{Name: "Standard_ND96amsr_A100_v4", VCPUs: 96, MemoryGB: 1900, LocalOS: true, GPU: GPU{Count: 8, Card: A100x80, Share: 1, MemoryGB: 80, InfiniBand: true}, Source: ndamsr},
	{Name: "Standard_NC40ads_H100_v5", VCPUs: 40, MemoryGB: 320, LocalOS: true, GPU: GPU{Count: 1, Card: H100NVL, Share: 1, MemoryGB: 94}, Source: ncadsh100},
	{Name: "Standard_NC80adis_H100_v5", VCPUs: 80, MemoryGB: 640, LocalOS: true, GPU: GPU{Count: 2, Card: H100NVL, Share: 1, MemoryGB: 94}, Source: ncadsh100},
	{Name: "Standard_ND96isr_H100_v5", VCPUs: 96, MemoryGB: 1900, LocalOS: true, GPU: GPU{Count: 8, Card: H100, Share: 1, MemoryGB: 80, InfiniBand: true}, Source: ndh100},
	{Name: "Standard_ND96isr_H200_v5", VCPUs: 96, MemoryGB: 1850, LocalOS: true, GPU: GPU{Count: 8, Card: H200, Share: 1, MemoryGB: 141, InfiniBand: true}, Source: ndh200},
	{Name: "Standard_ND96isr_MI300X_v5", VCPUs: 96, MemoryGB: 1850, LocalOS: true, GPU: GPU{Count: 8, Card: MI300X, Share: 1, MemoryGB: 192, InfiniBand: true}, Source: ndmi300x},

	// Shares of an A10; the device's memory is 24 GB over the share.
	{Name: "Standard_NV6ads_A10_v5", VCPUs: 6, MemoryGB: 55, LocalOS: true, GPU: GPU{Count: 1, Card: A10, Share: 6, MemoryGB: 4}, Source: nvadsa10},
	{Name: "Standard_NV12ads_A10_v5", VCPUs: 12, MemoryGB: 110, LocalOS: true, GPU: GPU{Count: 1, Card: A10, Share: 3, MemoryGB: 8}, Source: nvadsa10},
	{Name: "Standard_NV18ads_A10_v5", VCPUs: 18, MemoryGB: 220, LocalOS: true, GPU: GPU{Count: 1, Card: A10, Share: 2, MemoryGB: 12}, Source: nvadsa10},
	{Name: "Standard_NV36ads_A10_v5", VCPUs: 36, MemoryGB: 440, LocalOS: true, GPU: GPU{Count: 1, Card: A10, Share: 1, MemoryGB: 24}, Source: nvadsa10},
	{Name: "Standard_NV36adms_A10_v5", VCPUs: 36, MemoryGB: 880, LocalOS: true, GPU: GPU{Count: 1, Card: A10, Share: 1, MemoryGB: 24}, Source: nvadsa10},
	{Name: "Standard_NV72ads_A10_v5", VCPUs: 72, MemoryGB: 880, LocalOS: true, GPU: GPU{Count: 2, Card: A10, Share: 1, MemoryGB: 24}, Source: nvadsa10},

	{Name: "Standard_D2s_v5", VCPUs: 2, MemoryGB: 8, Source: dsv5},
	{Name: "Standard_D4s_v5", VCPUs: 4, MemoryGB: 16, Source: dsv5},
	{Name: "Standard_D8s_v5", VCPUs: 8, MemoryGB: 32, Source: dsv5},
	{Name: "Standard_D16s_v5", VCPUs: 16, MemoryGB: 64, Source: dsv5},
	{Name: "Standard_D2ds_v5", VCPUs: 2, MemoryGB: 8, LocalOS: true, Source: ddsv5},
	{Name: "Standard_D4ds_v5", VCPUs: 4, MemoryGB: 16, LocalOS: true, Source: ddsv5},
	{Name: "Standard_D8ds_v5", VCPUs: 8, MemoryGB: 32, LocalOS: true, Source: ddsv5},
	{Name: "Standard_D16ds_v5", VCPUs: 16, MemoryGB: 64, LocalOS: true, Source: ddsv5},
	{Name: "Standard_D2s_v6", VCPUs: 2, MemoryGB: 8, Source: dsv6},
	{Name: "Standard_D4s_v6", VCPUs: 4, MemoryGB: 16, Source: dsv6},
	{Name: "Standard_D8s_v6", VCPUs: 8, MemoryGB: 32, Source: dsv6},
	{Name: "Standard_D16s_v6", VCPUs: 16, MemoryGB: 64, Source: dsv6},
	{Name: "Standard_D2ds_v6", VCPUs: 2, MemoryGB: 8, LocalOS: true, Source: ddsv6},
	{Name: "Standard_D4ds_v6", VCPUs: 4, MemoryGB: 16, LocalOS: true, Source: ddsv6},
	{Name: "Standard_D8ds_v6", VCPUs: 8, MemoryGB: 32, LocalOS: true, Source: ddsv6},
	{Name: "Standard_D16ds_v6", VCPUs: 16, MemoryGB: 64, LocalOS: true, Source: ddsv6},

	{Name: "Standard_E4s_v5", VCPUs: 4, MemoryGB: 32, Source: esv5},
	{Name: "Standard_E8s_v5", VCPUs: 8, MemoryGB: 64, Source: esv5},
	{Name: "Standard_E16s_v5", VCPUs: 16, MemoryGB: 128, Source: esv5},
	{Name: "Standard_E4s_v6", VCPUs: 4, MemoryGB: 32, Source: esv6},
	{Name: "Standard_E8s_v6", VCPUs: 8, MemoryGB: 64, Source: esv6},
	{Name: "Standard_E16s_v6", VCPUs: 16, MemoryGB: 128, Source: esv6},

	{Name: "Standard_B2s", VCPUs: 2, MemoryGB: 4, LocalOS: true, Burstable: true, Source: bv1},
	{Name: "Standard_B2ms", VCPUs: 2, MemoryGB: 8, LocalOS: true, Burstable: true, Source: bv1},
	{Name: "Standard_B4ms", VCPUs: 4, MemoryGB: 16, LocalOS: true, Burstable: true, Source: bv1},
	{Name: "Standard_B8ms", VCPUs: 8, MemoryGB: 32, LocalOS: true, Burstable: true, Source: bv1},
	{Name: "Standard_B2s_v2", VCPUs: 2, MemoryGB: 8, Burstable: true, Source: bsv2},
	{Name: "Standard_B4s_v2", VCPUs: 4, MemoryGB: 16, Burstable: true, Source: bsv2},
	{Name: "Standard_B8s_v2", VCPUs: 8, MemoryGB: 32, Burstable: true, Source: bsv2},
}

// Sizes are the known sizes, by name.
func Sizes() []Size {
	return slices.SortedFunc(slices.Values(sizes), func(a, b Size) int { return strings.Compare(a.Name, b.Name) })
}

// Lookup is the size called name; like Azure it ignores case. It is false for a
// size that this project does not know, which may still exist.
func Lookup(name string) (Size, bool) {
	i := slices.IndexFunc(sizes, func(s Size) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return Size{}, false
	}
	return sizes[i], true
}

// NearestSize is the known size whose name is most like name, "" when none is.
// Of equally near ones it is the first by name.
func NearestSize(name string) string {
	word := sizeWord(name)
	if word == "" {
		return ""
	}
	best, least := "", max(3, len(word)/3)+1
	for _, s := range Sizes() {
		if d := levenshtein.Distance(word, sizeWord(s.Name), nil); d < least {
			best, least = s.Name, d
		}
	}
	return best
}

// sizeWord is what tells sizes apart: the name without case and tier, which
// people leave out.
func sizeWord(name string) string { return strings.TrimPrefix(strings.ToLower(name), "standard_") }

// burstable tells whether the size called name is of the B-series, also where it
// is not a known size: the family is the letter after "Standard_".
// https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions
func burstable(name string) bool {
	family, ok := strings.CutPrefix(strings.ToLower(name), "standard_b")
	return ok && family != "" && family[0] >= '0' && family[0] <= '9'
}
