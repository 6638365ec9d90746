package gpu

import "onedoor/internal/az/aks"

// card is a GPU model as CUDA and NVIDIA describe it.
type card struct {
	gib        float64                 // memory that CUDA reports, less than the card's name says
	capability int                     // compute capability x 10
	bandwidth  float64                 // of the memory, 10^9 bytes/s
	slices     map[aks.Profile]float64 // GiB of a MIG slice, as nvidia-smi mig -lgip prints it; the lowest of several drivers
}

// cards are NVIDIA's cards on Azure.
//
// Memory is what vLLM logged as total_gpu_memory for the A100 of 80 GB
// (https://github.com/Azure-Samples/aks-anyscale) and the H100
// (https://github.com/llm-d/llm-d-benchmark, config_explorer); the others have no
// such source and are what nvidia-smi usually shows. Slices are from published lgip
// listings, but for 2g to 7g of the H200, which have the share of the card that
// those of the H100 NVL have. Bandwidth is from NVIDIA's data sheets, of the
// slower variant where Azure has two (A100 of 80 GB: PCIe).
// https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ (2026-08)
var cards = map[aks.Card]card{
	aks.T4:  {gib: 14.56, capability: 75, bandwidth: 320},
	aks.A10: {gib: 22.0, capability: 86, bandwidth: 600},
	aks.A100x40: {gib: 39.39, capability: 80, bandwidth: 1555, slices: map[aks.Profile]float64{
		aks.MIG1g: 4.75, aks.MIG2g: 9.62, aks.MIG3g: 19.50, aks.MIG4g: 19.50, aks.MIG7g: 39.25}},
	aks.A100x80: {gib: 79.25, capability: 80, bandwidth: 1935, slices: map[aks.Profile]float64{
		aks.MIG1g: 9.50, aks.MIG2g: 19.50, aks.MIG3g: 39.25, aks.MIG4g: 39.25, aks.MIG7g: 79.00}},
	aks.H100: {gib: 79.18, capability: 90, bandwidth: 3350, slices: map[aks.Profile]float64{
		aks.MIG1g: 9.75, aks.MIG2g: 19.62, aks.MIG3g: 39.50, aks.MIG4g: 39.50, aks.MIG7g: 79.00}},
	aks.H100NVL: {gib: 93.1, capability: 90, bandwidth: 3938, slices: map[aks.Profile]float64{
		aks.MIG1g: 10.75, aks.MIG2g: 21.50, aks.MIG3g: 46.38, aks.MIG4g: 46.38, aks.MIG7g: 92.62}},
	aks.H200: {gib: 139.8, capability: 90, bandwidth: 4800, slices: map[aks.Profile]float64{
		aks.MIG1g: 16.00, aks.MIG2g: 32.2, aks.MIG3g: 69.2, aks.MIG4g: 69.2, aks.MIG7g: 138.5}},
}

// bandwidthEighths is the share of the card's memory bandwidth that a slice
// has. It follows from the memory slices, so a 3g and a 4g slice have the same
// memory and bandwidth, and 4g only computes faster.
var bandwidthEighths = map[aks.Profile]float64{aks.MIG1g: 1, aks.MIG2g: 2, aks.MIG3g: 4, aks.MIG4g: 4, aks.MIG7g: 8}

// device is what one CUDA process sees of a GPU.
type device struct {
	name       string // "A100-80GB" or "A100-80GB 3g.40gb"
	gib        float64
	capability int     // x 10
	bandwidth  float64 // 10^9 bytes/s
	perVM      int     // how many a VM has
	a100       bool    // vLLM's defaults for batches single it out
}

// deviceOf is the device of a VM size, whole or in slices. It is false where
// check refuses: no NVIDIA GPU, a share of one, or no such slice.
func deviceOf(size aks.Size, profile aks.Profile) (device, bool) {
	c, known := cards[size.GPU.Card]
	if !known || size.GPU.Share != 1 {
		return device{}, false
	}
	d := device{
		name: string(size.GPU.Card), gib: c.gib, capability: c.capability, bandwidth: c.bandwidth,
		perVM: size.GPU.Count, a100: size.GPU.Card == aks.A100x40 || size.GPU.Card == aks.A100x80,
	}
	if profile == "" {
		return d, true
	}
	slice, err := aks.SliceOf(size, profile)
	if err != nil {
		return device{}, false
	}
	d.name += " " + slice.Name
	d.gib = c.slices[profile]
	d.bandwidth *= bandwidthEighths[profile] / 8
	d.perVM = slice.PerNode
	return d, true
}
