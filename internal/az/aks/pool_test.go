package aks

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// system and gpu are pools without problems; a test changes only its subject.
func system() Pool {
	return Pool{
		Name: "system", Mode: System, Size: "Standard_D4ds_v5", AutoScale: true, Min: new(1), Max: new(3), MaxPods: 110,
		Zones: []string{"1", "2", "3"}, OSDisk: Managed, MaxSurge: "33%", Taints: []string{"CriticalAddonsOnly=true:NoSchedule"},
	}
}

func gpu() Pool {
	return Pool{
		Name: "a100", Mode: User, Size: "Standard_NC24ads_A100_v4", AutoScale: true, Min: new(0), Max: new(4), Zones: []string{"1"},
		MIG: MIG3g, Strategy: StrategySingle, Driver: DriverInstall,
		Taints: []string{"sku=gpu:NoSchedule"}, Labels: map[string]string{"nvidia.com/gpu.present": "true"},
	}
}

func spot() Pool {
	p := gpu()
	p.Name, p.Priority, p.Eviction, p.SpotMaxPrice = "spot", Spot, EvictDelete, new(-1.0)
	return p
}

func windows() Pool {
	return Pool{Name: "win", Mode: User, Size: "Standard_D4s_v5", OS: Windows, OSSKU: Windows2022, Count: new(1)}
}

// lines are problems as they are written.
func lines(problems []Problem) []string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.String()
	}
	return texts
}

func TestPoolsOfTheTestsAreLegal(t *testing.T) {
	t.Parallel()
	for _, p := range []Pool{system(), gpu(), spot(), windows()} {
		assert.Empty(t, lines(p.Check()), p.Name)
	}
}

// poolCases hold, for each rule, a refusal with all its messages and the legal
// neighbour. A nil legal means that the base is the neighbour.
var poolCases = map[string]struct {
	base   func() Pool
	refuse func(*Pool)
	want   []string
	legal  func(*Pool)
}{
	"E1 no mode": {gpu, func(p *Pool) { p.Mode = "" },
		[]string{`Mode: want one of System, User: the API has no default for it [E1]`}, nil},
	"E1 enumerations": {gpu, func(p *Pool) {
		p.Mode, p.Type, p.ScaleDown, p.OS, p.OSDisk = "user", "VM", "Stop", "linux", "Local"
		p.Priority, p.Driver, p.Strategy, p.OSSKU = "spot", "install", "Single", "Windows2022"
	}, []string{
		`Driver: got "install", want one of Install, None [E1]`,
		`Mode: got "user", want one of System, User [E1]`,
		`OS: got "linux", want one of Linux, Windows [E1]`,
		`OSDisk: got "Local", want one of Ephemeral, Managed [E1]`,
		`OSSKU: got "Windows2022", want one of Ubuntu, AzureLinux, CBLMariner [E1]`,
		`Priority: got "spot", want one of Regular, Spot [E1]`,
		`ScaleDown: got "Stop", want one of Delete, Deallocate [E1]`,
		`Strategy: got "Single", want one of none, single, mixed [E1]`,
		`Type: got "VM", want one of VirtualMachineScaleSets, AvailabilitySet [E1]`,
	}, func(p *Pool) {
		p.Type, p.ScaleDown, p.OS, p.OSDisk, p.Priority, p.OSSKU = ScaleSets, ScaleDownDelete, Linux, Ephemeral, Regular, Ubuntu
	}},
	"E1 eviction": {spot, func(p *Pool) { p.Eviction = "delete" },
		[]string{`Eviction: got "delete", want one of Delete, Deallocate [E1]`}, func(p *Pool) { p.Eviction = EvictDeallocate }},
	"E1 osSKU of Linux on Windows": {windows, func(p *Pool) { p.OSSKU = Ubuntu },
		[]string{`OSSKU: got "Ubuntu", want one of Windows2019, Windows2022 [E1]`}, nil},
	"E1 version": {gpu, func(p *Pool) { p.Version = "v1.33" },
		[]string{`Version: got "v1.33", want a minor version such as 1.33, or a patch such as 1.33.2 [E1]`}, func(p *Pool) { p.Version = "1.33" }},
	"E1 count, too many": {gpu, func(p *Pool) { p.Count = new(1001) },
		[]string{`Count: got 1001, want 0 to 1000 nodes [E1]`}, func(p *Pool) { p.Count = new(1000) }},
	"E1 count, negative": {gpu, func(p *Pool) { p.Count = new(-1) },
		[]string{`Count: got -1, want 0 to 1000 nodes [E1]`}, func(p *Pool) { p.Count = new(0) }},
	"E1 maxPods, too few": {gpu, func(p *Pool) { p.MaxPods = 9 },
		[]string{`MaxPods: got 9, want 10 to 250 pods a node [E1]`}, func(p *Pool) { p.MaxPods = 10 }},
	"E1 maxPods, too many": {gpu, func(p *Pool) { p.MaxPods = 251 },
		[]string{`MaxPods: got 251, want 10 to 250 pods a node [E1]`}, func(p *Pool) { p.MaxPods = 250 }},
	"E1 osDiskGB": {gpu, func(p *Pool) { p.OSDiskGB = 2049 },
		[]string{`OSDiskGB: got 2049, want 0 to 2048 GB, 0 for the size's default [E1]`}, func(p *Pool) { p.OSDiskGB = 2048 }},
	"E1 maxSurge, no node": {gpu, func(p *Pool) { p.MaxSurge = "0" },
		[]string{`MaxSurge: got "0", want a number of nodes from 1 to 1000, as in 5, or a share of the pool from 1% to 100%, as in 33% [E1]`}, func(p *Pool) { p.MaxSurge = "1" }},
	"E1 maxSurge, more than all": {gpu, func(p *Pool) { p.MaxSurge = "101%" },
		[]string{`MaxSurge: got "101%", want a number of nodes from 1 to 1000, as in 5, or a share of the pool from 1% to 100%, as in 33% [E1]`}, func(p *Pool) { p.MaxSurge = "100%" }},
	"E1 maxSurge, too many": {gpu, func(p *Pool) { p.MaxSurge = "1001" },
		[]string{`MaxSurge: got "1001", want a number of nodes from 1 to 1000, as in 5, or a share of the pool from 1% to 100%, as in 33% [E1]`}, func(p *Pool) { p.MaxSurge = "1000" }},

	"C11 system pool on Windows": {system, func(p *Pool) { p.OS = Windows },
		[]string{`OS: got "Windows", want Linux: system pods run on nothing else [C11]`}, func(p *Pool) { p.OS = Linux }},
	"C11 system pool on spot": {system, func(p *Pool) { p.Priority, p.MaxSurge = Spot, "" },
		[]string{`Priority: got "Spot", want Regular: Azure may take spot nodes away at any time, system pods included [C11]`}, func(p *Pool) { p.Priority = Regular }},
	"C11 empty system pool": {system, func(p *Pool) { p.Count = new(0) },
		[]string{`Count: got 0, want at least 1 node: a system pool cannot be empty [C11]`}, func(p *Pool) { p.Count = new(1) }},
	"C11 system pool with few pods": {system, func(p *Pool) { p.MaxPods = 29 },
		[]string{`MaxPods: got 29, want at least 30 pods a node, the room that system pods need [C11]`}, func(p *Pool) { p.MaxPods = 30 }},
	"C11 burstable system pool": {system, func(p *Pool) { p.Size = "Standard_B4ms" },
		[]string{`Size: got "Standard_B4ms", want a size outside the B-series: AKS does not support burstable sizes for system pools [C11]`}, nil},
	"C11 burstable system pool of an unknown size": {system, func(p *Pool) { p.Size = "standard_b16as_v2" },
		[]string{`Size: got "standard_b16as_v2", want a size outside the B-series: AKS does not support burstable sizes for system pools [C11]`},
		func(p *Pool) { p.Size = "Standard_D16as_v7" }},
	"C11 small system pool": {system, func(p *Pool) { p.Size = "Standard_D2ds_v5" },
		[]string{`Size: got "Standard_D2ds_v5", want a size with at least 4 vCPUs and 4 GB of memory, what a system pool needs; this one has 2 and 8 [C11]`},
		func(p *Pool) { p.Size = "Standard_D4s_v6" }},
	"C11 is about system pools": {system, func(p *Pool) { p.Size = "Standard_B4s_v2" },
		[]string{`Size: got "Standard_B4s_v2", want a size outside the B-series: AKS does not support burstable sizes for system pools [C11]`},
		func(p *Pool) { p.Mode, p.Size, p.MaxPods, p.Count = User, "Standard_B2s", 10, new(0) }},

	"C12 no bounds": {gpu, func(p *Pool) { p.Min, p.Max = nil, nil }, []string{
		`Max: want the greatest number of nodes, which the autoscaler needs [C12]`,
		`Min: want the least number of nodes, which the autoscaler needs [C12]`,
	}, nil},
	"C12 bounds without the autoscaler": {gpu, func(p *Pool) { p.AutoScale = false }, []string{
		`Max: got 4, want nothing: without the autoscaler there are no bounds, and AKS refuses them [C12]`,
		`Min: got 0, want nothing: without the autoscaler there are no bounds, and AKS refuses them [C12]`,
	}, func(p *Pool) { p.AutoScale, p.Min, p.Max, p.Count = false, nil, nil, new(2) }},
	"C12 min above max": {gpu, func(p *Pool) { p.Min = new(5) },
		[]string{`Min: got 5, want at most Max, 4 [C12]`}, func(p *Pool) { p.Min = new(4) }},
	"C12 min negative": {gpu, func(p *Pool) { p.Min = new(-1) },
		[]string{`Min: got -1, want 0 to 1000 nodes, the limit of a pool [C12]`}, nil},
	"C12 max zero": {gpu, func(p *Pool) { p.Max = new(0) },
		[]string{`Max: got 0, want 1 to 1000 nodes, the limit of a pool [C12]`}, func(p *Pool) { p.Max = new(1) }},
	"C12 max too large": {gpu, func(p *Pool) { p.Max = new(1001) },
		[]string{`Max: got 1001, want 1 to 1000 nodes, the limit of a pool [C12]`}, func(p *Pool) { p.Max = new(1000) }},
	"C12 min too large": {gpu, func(p *Pool) { p.Min, p.Max = new(1001), new(1001) }, []string{
		`Max: got 1001, want 1 to 1000 nodes, the limit of a pool [C12]`,
		`Min: got 1001, want 0 to 1000 nodes, the limit of a pool [C12]`,
	}, func(p *Pool) { p.Min, p.Max = new(1000), new(1000) }},
	"C12 system pool to zero": {system, func(p *Pool) { p.Min = new(0) },
		[]string{`Min: got 0, want at least 1 node: a system pool cannot be empty [C12]`}, func(p *Pool) { p.Min = new(1) }},

	"C13 spot fields on a regular pool": {gpu, func(p *Pool) { p.SpotMaxPrice, p.Eviction = new(0.5), EvictDelete }, []string{
		`Eviction: got "Delete", want nothing: only spot nodes are evicted [C13]`,
		`SpotMaxPrice: got 0.5, want nothing: only spot pools have a price limit [C13]`,
	}, nil},
	"C13 surge of a spot pool": {spot, func(p *Pool) { p.MaxSurge = "33%" },
		[]string{`MaxSurge: got "33%", want nothing: upgrades of spot pools add no nodes [C13]`}, nil},
	"C13 price of nothing": {spot, func(p *Pool) { p.SpotMaxPrice = new(0.0) },
		[]string{`SpotMaxPrice: got 0, want -1 for up to the on-demand price, or USD an hour above 0 with at most 5 decimals [C13]`}, func(p *Pool) { p.SpotMaxPrice = new(0.00001) }},
	"C13 price too fine": {spot, func(p *Pool) { p.SpotMaxPrice = new(0.987654) },
		[]string{`SpotMaxPrice: got 0.987654, want -1 for up to the on-demand price, or USD an hour above 0 with at most 5 decimals [C13]`}, func(p *Pool) { p.SpotMaxPrice = new(0.98765) }},
	"C13 price negative": {spot, func(p *Pool) { p.SpotMaxPrice = new(-2.0) },
		[]string{`SpotMaxPrice: got -2, want -1 for up to the on-demand price, or USD an hour above 0 with at most 5 decimals [C13]`}, func(p *Pool) { p.SpotMaxPrice = nil }},
	"C13 price infinite": {spot, func(p *Pool) { p.SpotMaxPrice = new(math.Inf(1)) },
		[]string{`SpotMaxPrice: got +Inf, want -1 for up to the on-demand price, or USD an hour above 0 with at most 5 decimals [C13]`}, nil},

	"C14 deallocate with an ephemeral disk": {gpu, func(p *Pool) { p.ScaleDown, p.OSDisk = ScaleDownDeallocate, Ephemeral },
		[]string{`OSDisk: got "Ephemeral", want Managed: with ScaleDown Deallocate nodes are stopped, which an ephemeral OS disk does not survive [C14]`},
		func(p *Pool) { p.ScaleDown, p.OSDisk = ScaleDownDeallocate, Managed }},
	"C14 deallocate with the default disk": {gpu, func(p *Pool) { p.ScaleDown = ScaleDownDeallocate },
		[]string{`OSDisk: want Managed: with ScaleDown Deallocate nodes are stopped, and the default is Ephemeral where the size has room for it [C14]`},
		func(p *Pool) {
			p.ScaleDown, p.Size, p.MIG = ScaleDownDeallocate, "Standard_D4s_v5", ""
		}},
	"C14 ephemeral disk without local storage": {system, func(p *Pool) { p.Size, p.OSDisk = "Standard_D4s_v5", Ephemeral },
		[]string{`OSDisk: got "Ephemeral", want Managed: size Standard_D4s_v5 has no local storage for an OS disk [C14]`},
		func(p *Pool) { p.Size, p.OSDisk = "Standard_D4ds_v5", Ephemeral }},

	"C15 unknown profile": {gpu, func(p *Pool) { p.MIG = "MIG5g" },
		[]string{`MIG: got "MIG5g", want one of MIG1g, MIG2g, MIG3g, MIG4g, MIG7g [C15]`}, func(p *Pool) { p.MIG = MIG7g }},
	"C15 card without MIG": {gpu, func(p *Pool) { p.Size = "Standard_NV36ads_A10_v5" },
		[]string{`Size: got "Standard_NV36ads_A10_v5", want a size with A100, H100 or H200 cards, the ones that AKS partitions [C15]`},
		func(p *Pool) { p.Size, p.MIG = "Standard_NV36ads_A10_v5", "" }},
	"C15 AMD": {gpu, func(p *Pool) { p.Size = "Standard_ND96isr_MI300X_v5" },
		[]string{`Size: got "Standard_ND96isr_MI300X_v5", want a size with A100, H100 or H200 cards, the ones that AKS partitions [C15]`},
		func(p *Pool) { p.Size = "Standard_ND96isr_H200_v5" }},
	"C15 size with a typo": {gpu, func(p *Pool) { p.Size = "Standard_NC24ads_A100v4" },
		[]string{`Size: got "Standard_NC24ads_A100v4", want a size with A100, H100 or H200 cards, the ones that AKS partitions; the nearest known size is Standard_NC24ads_A100_v4 [C15]`},
		func(p *Pool) { p.Size = "standard_nc24ads_a100_v4" }},
	"C15 without a driver": {gpu, func(p *Pool) { p.Driver = DriverNone },
		[]string{`Driver: got "None", want Install: AKS partitions GPUs only where it installs the driver [C15]`}, func(p *Pool) { p.Driver, p.MIG = DriverNone, "" }},
	"C15 on Windows": {gpu, func(p *Pool) { p.OS = Windows },
		[]string{`OS: got "Windows", want Linux: AKS does not partition GPUs of Windows nodes [C15]`}, func(p *Pool) { p.OS, p.MIG = Windows, "" }},

	"C16 driver in an old API": {gpu, func(p *Pool) { p.APIVersion = "2024-10-02-preview" },
		[]string{`Driver: got "Install", want nothing with API version 2024-10-02-preview: gpuProfile.driver exists from 2025-01-01 on [C16]`},
		func(p *Pool) { p.APIVersion = "2025-01-01" }},
	"C16 driver type on Linux": {gpu, func(p *Pool) { p.APIVersion, p.DriverType = "2026-08-02-preview", DriverCUDA },
		[]string{`DriverType: got "CUDA", want nothing: only Windows nodes have a choice of drivers [C16]`}, nil},
	"C16 driver type in a stable API": {windows, func(p *Pool) { p.DriverType = DriverGRID },
		[]string{`DriverType: got "GRID", want nothing with API version 2025-01-01: only previews have gpuProfile.driverType [C16]`},
		func(p *Pool) { p.APIVersion, p.DriverType = "2026-08-02-preview", DriverGRID }},
	"E1 driver type": {windows, func(p *Pool) { p.APIVersion, p.DriverType = "2026-08-02-preview", "cuda" },
		[]string{`DriverType: got "cuda", want one of CUDA, GRID [E1]`}, nil},

	"C17 malformed taint": {gpu, func(p *Pool) { p.Taints = []string{"sku=gpu:NoSchedule", "nvidia.com/gpu:NoSchedule"} },
		[]string{`Taints[1]: got "nvidia.com/gpu:NoSchedule", want key=value:Effect, as in sku=gpu:NoSchedule; there is no = [C17]`},
		func(p *Pool) { p.Taints = []string{"sku=gpu:NoSchedule", "nvidia.com/gpu=present:NoSchedule"} }},
	"C17 reserved taint": {gpu, func(p *Pool) { p.Taints = []string{"kubernetes.azure.com/scalesetpriority=spot:NoSchedule"} },
		[]string{`Taints[0]: got "kubernetes.azure.com/scalesetpriority=spot:NoSchedule", want a key that AKS does not keep for itself, as it does kubernetes.azure.com/*, kubernetes.io/* and agentpool; only a spot pool may declare kubernetes.azure.com/scalesetpriority=spot:NoSchedule [C17]`},
		func(p *Pool) {
			*p = spot()
			p.Taints = []string{"kubernetes.azure.com/scalesetpriority=spot:NoSchedule"}
		}},
	"C17 taint twice": {gpu, func(p *Pool) { p.Taints = []string{"sku=gpu:NoSchedule", "sku=mig:NoSchedule"} },
		[]string{`Taints[1]: got "sku=mig:NoSchedule", want a key and effect that no other taint of the pool has: a node carries one taint of each [C17]`},
		func(p *Pool) { p.Taints = []string{"sku=gpu:NoSchedule", "sku=mig:NoExecute"} }},
	"C17 reserved label": {spot, func(p *Pool) { p.Labels = map[string]string{"kubernetes.azure.com/mode": "user"} },
		[]string{`Labels[kubernetes.azure.com/mode]: got "user", want a key that AKS does not keep for itself, as it does kubernetes.azure.com/*, kubernetes.io/* and agentpool; only a spot pool may declare kubernetes.azure.com/scalesetpriority=spot [C17]`},
		func(p *Pool) { p.Labels = map[string]string{"kubernetes.azure.com/scalesetpriority": "spot"} }},
	"C17 spot label on a regular pool": {gpu, func(p *Pool) { p.Labels = map[string]string{"kubernetes.azure.com/scalesetpriority": "spot"} },
		[]string{`Labels[kubernetes.azure.com/scalesetpriority]: got "spot", want a key that AKS does not keep for itself, as it does kubernetes.azure.com/*, kubernetes.io/* and agentpool; only a spot pool may declare kubernetes.azure.com/scalesetpriority=spot [C17]`}, nil},
	"C17 reserved label with the value of spot": {spot, func(p *Pool) { p.Labels = map[string]string{"agentpool": "spot"} },
		[]string{`Labels[agentpool]: got "spot", want a key that AKS does not keep for itself, as it does kubernetes.azure.com/*, kubernetes.io/* and agentpool; only a spot pool may declare kubernetes.azure.com/scalesetpriority=spot [C17]`}, nil},
	"C17 spot label with another value": {spot, func(p *Pool) { p.Labels = map[string]string{"kubernetes.azure.com/scalesetpriority": "regular"} },
		[]string{`Labels[kubernetes.azure.com/scalesetpriority]: got "regular", want a key that AKS does not keep for itself, as it does kubernetes.azure.com/*, kubernetes.io/* and agentpool; only a spot pool may declare kubernetes.azure.com/scalesetpriority=spot [C17]`}, nil},
	"C17 malformed label": {gpu, func(p *Pool) { p.Labels = map[string]string{"-sku": "", "sku": "a b"} }, []string{
		`Labels[-sku]: got "-sku", want a key of up to 63 letters, digits, hyphens, dots and underscores, that starts and ends with a letter or digit, with a DNS name and a slash before it if any [C17]`,
		`Labels[sku]: got "a b", want nothing, or up to 63 letters, digits, hyphens, dots and underscores, that starts and ends with a letter or digit [C17]`,
	}, func(p *Pool) { p.Labels = map[string]string{"sku": "", "example.com/sku": "a.b"} }},

	"C18 zones of an availability set": {gpu, func(p *Pool) { p.Type = AvailabilitySet },
		[]string{`Zones: got 1, want nothing, or Type VirtualMachineScaleSets: an availability set has no zones [C18]`}, func(p *Pool) { p.Type, p.Zones = AvailabilitySet, nil }},
	"C18 no such zone": {gpu, func(p *Pool) { p.Zones = []string{"1", "4"} },
		[]string{`Zones[1]: got "4", want one of 1, 2, 3 [C18]`}, func(p *Pool) { p.Zones = []string{"1", "3"} }},
	"C18 zone twice": {gpu, func(p *Pool) { p.Zones = []string{"1", "1"} },
		[]string{`Zones[1]: got "1", want each zone once [C18]`}, nil},
	"C18 zone not offered": {gpu, func(p *Pool) { p.OfferedZones = []string{"2", "3"} },
		[]string{`Zones[0]: got "1", want a zone that the region offers Standard_NC24ads_A100_v4 in: 2, 3 [C18]`}, func(p *Pool) { p.OfferedZones = []string{"1"} }},
	"C18 no zone offered": {gpu, func(p *Pool) { p.OfferedZones = []string{} },
		[]string{`Zones[0]: got "1", want a zone that the region offers Standard_NC24ads_A100_v4 in: none [C18]`}, func(p *Pool) { p.OfferedZones, p.Zones = []string{}, nil }},

	"C22 upper case": {gpu, func(p *Pool) { p.Name = "A100" },
		[]string{`Name: got "A100", want 1 to 12 lower-case letters and digits, a letter first [C22]`}, nil},
	"C22 long name": {gpu, func(p *Pool) { p.Name = "abcdefghijklm" },
		[]string{`Name: got "abcdefghijklm", want 1 to 12 lower-case letters and digits, a letter first [C22]`}, func(p *Pool) { p.Name = "abcdefghijkl" }},
	"C22 long name on Windows": {windows, func(p *Pool) { p.Name = "windows" },
		[]string{`Name: got "windows", want at most 6 characters: names of Windows computers are short [C22]`}, func(p *Pool) { p.Name = "window" }},

	"P3 slices not offered": {gpu, func(p *Pool) { p.Strategy = "" },
		[]string{`Strategy: want single or mixed: the device plugin does not offer slices otherwise [P3]`}, func(p *Pool) { p.Strategy, p.MIG = "", "" }},
	"P3 slices hidden": {gpu, func(p *Pool) { p.Strategy = StrategyNone },
		[]string{`Strategy: got "none", want single or mixed: the device plugin does not offer slices otherwise [P3]`}, nil},
	"P3 mixed from zero": {gpu, func(p *Pool) { p.Strategy = StrategyMixed },
		[]string{`Min: got 0, want at least 1 node with MIG strategy mixed: the autoscaler does not know that an empty pool would offer slices [P3]`},
		func(p *Pool) { p.Strategy, p.Min = StrategyMixed, new(1) }},
}

func TestPoolRulesRefuse(t *testing.T) {
	t.Parallel()
	for name, c := range poolCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.base()
			require.Empty(t, lines(p.Check()), "the base")
			c.refuse(&p)
			assert.Equal(t, c.want, lines(p.Check()))
			if c.legal != nil {
				p = c.base()
				c.legal(&p)
				assert.Empty(t, lines(p.Check()), "the legal neighbour")
			}
		})
	}
}

// All problems come at once, in the order of the fields, each time.
func TestPoolProblemsAreSorted(t *testing.T) {
	t.Parallel()
	p := system()
	p.Name, p.Size, p.Min, p.Taints = "System", "Standard_B2s", new(9), []string{"a", "b"}
	p.Labels = map[string]string{"agentpool": "x", "kubernetes.io/os": "linux", "kubernetes.azure.com/mode": "x"}
	want := lines(p.Check())
	assert.Len(t, want, 8)
	assert.True(t, slices.IsSortedFunc(p.Check(), func(a, b Problem) int { return strings.Compare(a.Field, b.Field) }))
	for range 20 {
		assert.Equal(t, want, lines(p.Check()))
	}
}

func TestSurgeIsRoundedUpAndNeverMoreThanThePool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Pool)
		nodes  int
		surge  int
	}{
		"default":            {func(p *Pool) { p.Max = new(4) }, 4, 1},
		"default of many":    {func(p *Pool) { p.Max = new(11) }, 11, 2},
		"share":              {func(p *Pool) { p.Max, p.MaxSurge = new(10), "33%" }, 10, 4},
		"all":                {func(p *Pool) { p.Max, p.MaxSurge = new(10), "100%" }, 10, 10},
		"number":             {func(p *Pool) { p.Max, p.MaxSurge = new(10), "5" }, 10, 5},
		"more than there is": {func(p *Pool) { p.Max, p.MaxSurge = new(3), "5" }, 3, 3},
		"spot":               {func(p *Pool) { p.Max, p.Priority = new(10), Spot }, 10, 0},
		"no autoscaler":      {func(p *Pool) { p.AutoScale, p.Count = false, new(7) }, 7, 1},
		"nothing given":      {func(p *Pool) { p.AutoScale = false }, 1, 1},
		"empty":              {func(p *Pool) { p.AutoScale, p.Count = false, new(0) }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := gpu()
			c.change(&p)
			assert.Equal(t, c.nodes, p.MaxNodes())
			assert.Equal(t, c.surge, p.SurgeNodes())
		})
	}
}
