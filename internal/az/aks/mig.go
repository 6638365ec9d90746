package aks

import (
	"fmt"
	"strings"
)

// Profile is how AKS partitions every GPU of a pool: the API's
// gpuInstanceProfile. A pool has one, for all its GPUs, from its creation on.
// https://learn.microsoft.com/azure/aks/gpu-multi-instance (2026-05-22)
type Profile string

// The profiles; "" leaves GPUs whole.
const (
	MIG1g Profile = "MIG1g"
	MIG2g Profile = "MIG2g"
	MIG3g Profile = "MIG3g"
	MIG4g Profile = "MIG4g"
	MIG7g Profile = "MIG7g"
)

// Profiles are the legal profiles, smallest slice first.
var Profiles = []Profile{MIG1g, MIG2g, MIG3g, MIG4g, MIG7g}

// instances is how many slices each GPU is cut into, and how many sevenths of
// its compute each has. Compute that is left over stays idle.
// https://github.com/Azure/AgentBaker, mig-partition.sh (2026-08)
var instances = map[Profile]struct{ count, compute int }{
	MIG1g: {7, 1}, MIG2g: {3, 2}, MIG3g: {2, 3}, MIG4g: {1, 4}, MIG7g: {1, 7},
}

// sliceGB is the memory of a slice in GB, by card, as NVIDIA rounds it in the
// slice's name. A card that is missing cannot be partitioned on AKS.
// https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
// https://github.com/NVIDIA/mig-parted, config-default.yaml (2026-08)
var sliceGB = map[Card]map[Profile]int{
	A100x40: {MIG1g: 5, MIG2g: 10, MIG3g: 20, MIG4g: 20, MIG7g: 40},
	A100x80: {MIG1g: 10, MIG2g: 20, MIG3g: 40, MIG4g: 40, MIG7g: 80},
	H100:    {MIG1g: 10, MIG2g: 20, MIG3g: 40, MIG4g: 40, MIG7g: 80},
	H100NVL: {MIG1g: 12, MIG2g: 24, MIG3g: 47, MIG4g: 47, MIG7g: 94},
	H200:    {MIG1g: 18, MIG2g: 35, MIG3g: 71, MIG4g: 71, MIG7g: 141},
}

// Slice is a MIG slice of the GPUs of one VM size.
type Slice struct {
	Name     string // NVIDIA's, "1g.10gb": it depends on the card
	MemoryGB int    // of one slice
	PerGPU   int
	PerNode  int // GPUs x PerGPU
}

// SliceOf is the slice that profile makes of the GPUs of size. It is never a
// matter of the profile alone: MIG1g is 5 GB of one card and 18 of another.
func SliceOf(size Size, profile Profile) (Slice, error) {
	cut, known := instances[profile]
	if !known {
		return Slice{}, fmt.Errorf("MIG profile %q: want %s", profile, choice(Profiles))
	}
	if !size.MIG() {
		return Slice{}, fmt.Errorf("size %q: no GPUs that AKS can partition", size.Name)
	}
	gb := sliceGB[size.GPU.Card][profile]
	return Slice{
		Name: fmt.Sprintf("%dg.%dgb", cut.compute, gb), MemoryGB: gb,
		PerGPU: cut.count, PerNode: size.GPU.Count * cut.count,
	}, nil
}

// Strategy is how NVIDIA's device plugin offers slices: its setting, not the
// pool's.
// https://github.com/NVIDIA/k8s-device-plugin#configuration-option-details (2026-08)
type Strategy string

// The strategies.
const (
	StrategyNone   Strategy = "none"   // the plugin's default: slices are not offered
	StrategySingle Strategy = "single" // a slice counts as one nvidia.com/gpu
	StrategyMixed  Strategy = "mixed"  // slices have a resource name of their own
)

// Strategies are the legal strategies.
var Strategies = []Strategy{StrategyNone, StrategySingle, StrategyMixed}

// The resource names of whole GPUs, and how those of slices start.
const (
	NvidiaGPU = "nvidia.com/gpu"
	AMDGPU    = "amd.com/gpu"
	migPrefix = "nvidia.com/mig-"
)

// Resource is what each node of a pool offers its pods once a device plugin
// runs: a resource name and how many. The name is "" when it offers no GPU at
// all. Slices that the strategy hides are an error.
func Resource(size Size, profile Profile, strategy Strategy) (name string, perNode int, err error) {
	switch {
	case profile == "" && size.GPU.Count == 0:
		return "", 0, nil
	case profile == "" && size.GPU.Card.AMD():
		return AMDGPU, size.GPU.Count, nil
	case profile == "":
		return NvidiaGPU, size.GPU.Count, nil
	}
	slice, err := SliceOf(size, profile)
	if err != nil {
		return "", 0, err
	}
	switch strategy {
	case StrategySingle:
		return NvidiaGPU, slice.PerNode, nil
	case StrategyMixed:
		return migPrefix + slice.Name, slice.PerNode, nil
	default:
		return "", 0, fmt.Errorf("MIG strategy %q: want %s or %s, others do not offer slices", strategy, StrategySingle, StrategyMixed)
	}
}

// gpuResource tells whether a resource name is one that a GPU device plugin
// offers.
func gpuResource(name string) bool {
	return name == AMDGPU || name == NvidiaGPU || strings.HasPrefix(name, migPrefix)
}
