package aks

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Pool is a node pool. Fields are those of the API; the zero value of each is
// "not given", for which the API has a default unless the comment says
// otherwise. Numbers where 0 means something are pointers.
type Pool struct {
	Name       string // 1 to 12 lower-case letters and digits (Windows: 6), a letter first
	Mode       Mode   // must be given
	Type       PoolType
	APIVersion string // of Microsoft.ContainerService that the pool is written with; "" for PinnedAPI
	Version    string // Kubernetes version, "1.33" or "1.33.2"; "" for the control plane's

	Size         string   // VM size
	Zones        []string // "1", "2", "3"; none for regional
	OfferedZones []string // zones that the region offers Size in, where known; nil is unknown, not "none"

	Count     *int // nodes, 0 to 1000, a system pool from 1 on; default 1. The autoscaler owns it after creation
	AutoScale bool
	Min, Max  *int // nodes, of the autoscaler; only with it
	ScaleDown ScaleDown

	MaxPods  int // a node, 10 to 250
	OS       OS  // default Linux
	OSSKU    OSSKU
	OSDisk   OSDisk // default Ephemeral where the size has room for it
	OSDiskGB int    // 0 to 2048; 0 is the size's default

	Priority     Priority // default Regular
	Eviction     Eviction // spot only; default Delete
	SpotMaxPrice *float64 // spot only, USD an hour with up to five decimals; -1, the default, is up to the on-demand price

	Taints   []string          // "key=value:Effect"
	Labels   map[string]string // of nodes
	MaxSurge string            // extra nodes of an upgrade, "5" or "33%"; default DefaultSurge. Not on spot pools

	MIG        Profile    // how every GPU is cut; "" leaves them whole
	Strategy   Strategy   // of the device plugin on this pool's nodes; "" is StrategyNone
	Driver     Driver     // of GPUs; default Install
	DriverType DriverType // Windows only, preview APIs only

	SubnetID    string // of nodes, an ARM id; "" lets AKS make a network
	PodSubnetID string // of pods, an ARM id
}

// Mode is what a pool is for.
type Mode string

// The modes.
const (
	System Mode = "System" // for kube-system; Linux, never spot
	User   Mode = "User"
)

// PoolType is what nodes are made of.
type PoolType string

// The types; the default is ScaleSets.
const (
	ScaleSets       PoolType = "VirtualMachineScaleSets"
	AvailabilitySet PoolType = "AvailabilitySet" // no zones, no autoscaler
)

// ScaleDown is what becomes of nodes that are not needed; the default is Delete.
type ScaleDown string

// The modes of scaling down.
const (
	ScaleDownDelete     ScaleDown = "Delete"
	ScaleDownDeallocate ScaleDown = "Deallocate" // stopped, NotReady, their quota kept
)

// OS is the operating system of nodes.
type OS string

// The operating systems.
const (
	Linux   OS = "Linux"
	Windows OS = "Windows"
)

// OSSKU is the distribution of the operating system.
type OSSKU string

// The distributions.
const (
	Ubuntu      OSSKU = "Ubuntu"
	AzureLinux  OSSKU = "AzureLinux"
	CBLMariner  OSSKU = "CBLMariner"
	Windows2019 OSSKU = "Windows2019"
	Windows2022 OSSKU = "Windows2022"
)

// OSDisk is where the OS disk is.
type OSDisk string

// The places.
const (
	Ephemeral OSDisk = "Ephemeral" // on the machine, lost with it
	Managed   OSDisk = "Managed"
)

// Priority is whether Azure may take nodes back.
type Priority string

// The priorities.
const (
	Regular Priority = "Regular"
	Spot    Priority = "Spot"
)

// Eviction is what becomes of a spot node that Azure takes back.
type Eviction string

// The evictions.
const (
	EvictDelete     Eviction = "Delete"
	EvictDeallocate Eviction = "Deallocate"
)

// Driver is whether AKS installs the GPU driver.
type Driver string

// The choices.
const (
	DriverInstall Driver = "Install"
	DriverNone    Driver = "None" // something else does, as the GPU operator
)

// DriverType is the kind of GPU driver on Windows nodes.
type DriverType string

// The kinds.
const (
	DriverCUDA DriverType = "CUDA"
	DriverGRID DriverType = "GRID"
)

// Limits of a pool, of the API unless another link is given.
const (
	maxNodes          = 1000
	minMaxPods        = 10 // https://learn.microsoft.com/azure/aks/concepts-network-ip-address-planning
	maxMaxPods        = 250
	maxOSDiskGB       = 2048
	spotPriceDecimals = 5  // https://learn.microsoft.com/azure/aks/spot-node-pool#limitations
	minSystemPods     = 30 // this and the next two: https://learn.microsoft.com/azure/aks/use-system-pools (2026-04-30)
	minSystemCPUs     = 4
	minSystemMemoryGB = 4
	windowsNameLength = 6   // characters: https://learn.microsoft.com/azure/aks/create-node-pools#limitations
	percentOfAllNodes = 100 // of a surge in percent
	defaultCount      = 1   // nodes
)

// DefaultSurge is the API's maxSurge where none is given.
const DefaultSurge = "10%"

// The API versions that have the GPU driver's properties: gpuProfile.driver from
// its first stable version on, gpuProfile.driverType in previews only, up to
// 2026-05-01.
// https://github.com/Azure/bicep-types-az, generated/containerservice_1 (2026-08)
const (
	PinnedAPI      = "2025-01-01" // what this project writes clusters and pools with
	firstDriverAPI = "2025-01-01"
	previewSuffix  = "-preview"
)

// zones are the names of availability zones.
// https://learn.microsoft.com/azure/reliability/availability-zones-overview
var zones = []string{"1", "2", "3"}

// poolName is the form of a pool's name.
// https://learn.microsoft.com/azure/aks/create-node-pools#limitations
var poolName = regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`)

// surge is the form of maxSurge.
// https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling#customize-node-surge
var surge = regexp.MustCompile(`^([1-9][0-9]{0,3})(%?)$`)

// Check is everything that Azure, or this project, refuses of the pool by
// itself, sorted; Cluster.Check has the rest.
func (p Pool) Check() []Problem {
	r := &report{}
	p.checkEnums(r)
	p.checkRanges(r)
	p.checkName(r)
	p.checkSystem(r)
	p.checkScaling(r)
	p.checkSpot(r)
	p.checkDisk(r)
	p.checkMIG(r)
	p.checkStrategy(r)
	p.checkDriver(r)
	p.checkTaints(r)
	p.checkLabels(r)
	p.checkZones(r)
	return r.sorted()
}

// checkEnums is E1: a value outside its enumeration, or an osSKU of another
// operating system. Source: API.
func (p Pool) checkEnums(r *report) {
	if p.Mode == "" {
		r.add("E1", "Mode", "", "%s: the API has no default for it", choice([]Mode{System, User}))
	}
	oneOf(r, "Mode", p.Mode, System, User)
	oneOf(r, "Type", p.Type, ScaleSets, AvailabilitySet)
	oneOf(r, "ScaleDown", p.ScaleDown, ScaleDownDelete, ScaleDownDeallocate)
	oneOf(r, "OS", p.OS, Linux, Windows)
	oneOf(r, "OSDisk", p.OSDisk, Ephemeral, Managed)
	oneOf(r, "Priority", p.Priority, Regular, Spot)
	oneOf(r, "Eviction", p.Eviction, EvictDelete, EvictDeallocate)
	oneOf(r, "Driver", p.Driver, DriverInstall, DriverNone)
	oneOf(r, "DriverType", p.DriverType, DriverCUDA, DriverGRID)
	oneOf(r, "Strategy", p.Strategy, Strategies...)
	if p.OS == Windows {
		oneOf(r, "OSSKU", p.OSSKU, Windows2019, Windows2022)
	} else {
		oneOf(r, "OSSKU", p.OSSKU, Ubuntu, AzureLinux, CBLMariner)
	}
	if p.Version != "" {
		if _, err := ParseVersion(p.Version); err != nil {
			r.add("E1", "Version", quote(p.Version), "%s", wantOf(err))
		}
	}
}

// checkRanges is E1: a number outside its range. Source: API.
func (p Pool) checkRanges(r *report) {
	between := func(field string, n, least, most int, unit string) {
		if n < least || n > most {
			r.add("E1", field, strconv.Itoa(n), "%d to %d %s", least, most, unit)
		}
	}
	if p.Count != nil {
		between("Count", *p.Count, 0, maxNodes, "nodes")
	}
	if p.MaxPods != 0 {
		between("MaxPods", p.MaxPods, minMaxPods, maxMaxPods, "pods a node")
	}
	between("OSDiskGB", p.OSDiskGB, 0, maxOSDiskGB, "GB, 0 for the size's default")
	if p.MaxSurge != "" && !validSurge(p.MaxSurge) {
		r.add("E1", "MaxSurge", quote(p.MaxSurge), "a number of nodes from 1 to %d, as in 5, or a share of the pool from 1%% to %d%%, as in 33%%", maxNodes, percentOfAllNodes)
	}
}

// validSurge tells whether s is a maxSurge that adds at least one node.
func validSurge(s string) bool {
	m := surge.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	n, _ := strconv.Atoi(m[1])
	return m[2] == "" && n <= maxNodes || m[2] == "%" && n <= percentOfAllNodes
}

// checkName is C22 of a pool: its name, on Windows a shorter one.
// https://learn.microsoft.com/azure/aks/create-node-pools#limitations
func (p Pool) checkName(r *report) {
	switch {
	case !poolName.MatchString(p.Name):
		r.add("C22", "Name", quote(p.Name), "1 to 12 lower-case letters and digits, a letter first")
	case p.OS == Windows && len(p.Name) > windowsNameLength:
		r.add("C22", "Name", quote(p.Name), "at most %d characters: names of Windows computers are short", windowsNameLength)
	}
}

// checkSystem is C11 of a pool: what a system pool cannot be.
// https://learn.microsoft.com/azure/aks/use-system-pools (2026-04-30); the older
// https://learn.microsoft.com/azure/aks/quotas-skus-regions has 2 vCPUs. The
// same page wants two nodes, which the API does not insist on.
func (p Pool) checkSystem(r *report) {
	if p.Mode != System {
		return
	}
	if p.OS == Windows {
		r.add("C11", "OS", quote(p.OS), "Linux: system pods run on nothing else")
	}
	if p.Priority == Spot {
		r.add("C11", "Priority", quote(p.Priority), "Regular: Azure may take spot nodes away at any time, system pods included")
	}
	if p.Count != nil && *p.Count == 0 {
		r.add("C11", "Count", "0", "at least 1 node: a system pool cannot be empty")
	}
	if p.MaxPods != 0 && p.MaxPods < minSystemPods {
		r.add("C11", "MaxPods", strconv.Itoa(p.MaxPods), "at least %d pods a node, the room that system pods need", minSystemPods)
	}
	size, known := Lookup(p.Size)
	switch {
	case burstable(p.Size):
		r.add("C11", "Size", quote(p.Size), "a size outside the B-series: AKS does not support burstable sizes for system pools")
	case known && (size.VCPUs < minSystemCPUs || size.MemoryGB < minSystemMemoryGB):
		r.add("C11", "Size", quote(p.Size), "a size with at least %d vCPUs and %d GB of memory, what a system pool needs; this one has %d and %d",
			minSystemCPUs, minSystemMemoryGB, size.VCPUs, size.MemoryGB)
	}
}

// checkScaling is C12: the autoscaler's bounds.
// https://learn.microsoft.com/azure/aks/cluster-autoscaler
// https://learn.microsoft.com/azure/aks/scale-cluster#scale-user-node-pools-to-0
func (p Pool) checkScaling(r *report) {
	if !p.AutoScale {
		for field, n := range map[string]*int{"Min": p.Min, "Max": p.Max} {
			if n != nil {
				r.add("C12", field, strconv.Itoa(*n), "nothing: without the autoscaler there are no bounds, and AKS refuses them")
			}
		}
		return
	}
	if p.Min == nil {
		r.add("C12", "Min", "", "the least number of nodes, which the autoscaler needs")
	}
	if p.Max == nil {
		r.add("C12", "Max", "", "the greatest number of nodes, which the autoscaler needs")
	}
	if p.Min != nil && (*p.Min < 0 || *p.Min > maxNodes) {
		r.add("C12", "Min", strconv.Itoa(*p.Min), "0 to %d nodes, the limit of a pool", maxNodes)
	}
	if p.Max != nil && (*p.Max < 1 || *p.Max > maxNodes) {
		r.add("C12", "Max", strconv.Itoa(*p.Max), "1 to %d nodes, the limit of a pool", maxNodes)
	}
	if p.Min != nil && p.Max != nil && *p.Min > *p.Max {
		r.add("C12", "Min", strconv.Itoa(*p.Min), "at most Max, %d", *p.Max)
	}
	if p.Mode == System && p.Min != nil && *p.Min == 0 {
		r.add("C12", "Min", "0", "at least 1 node: a system pool cannot be empty")
	}
}

// checkSpot is C13: what only spot pools have, and what they cannot have.
// https://learn.microsoft.com/azure/aks/spot-node-pool
func (p Pool) checkSpot(r *report) {
	if p.Priority == Spot {
		if p.MaxSurge != "" {
			r.add("C13", "MaxSurge", quote(p.MaxSurge), "nothing: upgrades of spot pools add no nodes")
		}
		if p.SpotMaxPrice != nil && !validPrice(*p.SpotMaxPrice) {
			r.add("C13", "SpotMaxPrice", price(*p.SpotMaxPrice), "-1 for up to the on-demand price, or USD an hour above 0 with at most %d decimals", spotPriceDecimals)
		}
		return
	}
	if p.SpotMaxPrice != nil {
		r.add("C13", "SpotMaxPrice", price(*p.SpotMaxPrice), "nothing: only spot pools have a price limit")
	}
	if p.Eviction != "" {
		r.add("C13", "Eviction", quote(p.Eviction), "nothing: only spot nodes are evicted")
	}
}

// validPrice tells whether p is -1, or above 0 with few decimals.
func validPrice(p float64) bool {
	_, decimals, _ := strings.Cut(price(p), ".")
	return p == -1 || p > 0 && !math.IsInf(p, 0) && len(decimals) <= spotPriceDecimals
}

func price(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

// checkDisk is C14: deallocated nodes keep their OS disk, which an ephemeral one
// cannot; and an ephemeral disk needs a size with local storage.
// https://learn.microsoft.com/azure/aks/scale-down-mode#limitations
// https://learn.microsoft.com/azure/virtual-machines/ephemeral-os-disks
func (p Pool) checkDisk(r *report) {
	size, known := Lookup(p.Size)
	if p.OSDisk == Ephemeral && known && !size.LocalOS {
		r.add("C14", "OSDisk", quote(p.OSDisk), "Managed: size %s has no local storage for an OS disk", size.Name)
	}
	if p.ScaleDown != ScaleDownDeallocate {
		return
	}
	switch {
	case p.OSDisk == Ephemeral:
		r.add("C14", "OSDisk", quote(p.OSDisk), "Managed: with ScaleDown Deallocate nodes are stopped, which an ephemeral OS disk does not survive")
	case p.OSDisk == "" && (!known || size.LocalOS):
		r.add("C14", "OSDisk", "", "Managed: with ScaleDown Deallocate nodes are stopped, and the default is Ephemeral where the size has room for it")
	}
}

// checkMIG is C15: MIG on nodes that cannot have it. That AKS does not partition
// GPUs without installing the driver follows from its node scripts; no page says
// so.
// https://learn.microsoft.com/azure/aks/gpu-multi-instance (2026-05-22)
// https://github.com/Azure/AgentBaker, parts/linux/cloud-init/artifacts/cse_main.sh
func (p Pool) checkMIG(r *report) {
	if p.MIG == "" {
		return
	}
	if !slices.Contains(Profiles, p.MIG) {
		r.add("C15", "MIG", quote(p.MIG), "%s", choice(Profiles))
	}
	size, known := Lookup(p.Size)
	if !known || !size.MIG() {
		want := "a size with A100, H100 or H200 cards, the ones that AKS partitions"
		if near := NearestSize(p.Size); !known && near != "" {
			want += "; the nearest known size is " + near
		}
		r.add("C15", "Size", quote(p.Size), "%s", want)
	}
	if p.Driver == DriverNone {
		r.add("C15", "Driver", quote(p.Driver), "Install: AKS partitions GPUs only where it installs the driver")
	}
	if p.OS == Windows {
		r.add("C15", "OS", quote(p.OS), "Linux: AKS does not partition GPUs of Windows nodes")
	}
}

// checkStrategy is P3: slices that no pod could get. Without single or mixed the
// device plugin does not offer them; and the autoscaler does not foresee the
// resource names of strategy mixed on an empty pool, so pods that want them
// would never wake it.
// https://github.com/kubernetes/autoscaler, cloudprovider/azure/azure_template.go
// https://github.com/Azure/AKS/issues/5161
func (p Pool) checkStrategy(r *report) {
	if p.MIG == "" {
		return
	}
	if p.Strategy == "" || p.Strategy == StrategyNone {
		r.add("P3", "Strategy", quote(p.Strategy), "%s or %s: the device plugin does not offer slices otherwise", StrategySingle, StrategyMixed)
	}
	if p.Strategy == StrategyMixed && p.AutoScale && p.Min != nil && *p.Min == 0 {
		r.add("P3", "Min", "0", "at least 1 node with MIG strategy mixed: the autoscaler does not know that an empty pool would offer slices")
	}
}

// checkDriver is C16: properties of the GPU driver that the API version lacks,
// or that are for Windows.
// https://github.com/Azure/bicep-types-az, generated/containerservice_1 (2026-08)
func (p Pool) checkDriver(r *report) {
	api := p.APIVersion
	if api == "" {
		api = PinnedAPI
	}
	if p.Driver != "" && api[:min(len(api), len(firstDriverAPI))] < firstDriverAPI {
		r.add("C16", "Driver", quote(p.Driver), "nothing with API version %s: gpuProfile.driver exists from %s on", api, firstDriverAPI)
	}
	if p.DriverType == "" {
		return
	}
	if !strings.HasSuffix(api, previewSuffix) {
		r.add("C16", "DriverType", quote(p.DriverType), "nothing with API version %s: only previews have gpuProfile.driverType", api)
	}
	if p.OS != Windows {
		r.add("C16", "DriverType", quote(p.DriverType), "nothing: only Windows nodes have a choice of drivers")
	}
}

// checkZones is C18: zones that there are not, or that nodes of this kind cannot
// be in. Which zones a region offers a size in is the caller's to know.
// https://learn.microsoft.com/azure/aks/availability-zones and API
func (p Pool) checkZones(r *report) {
	if len(p.Zones) > 0 && p.Type == AvailabilitySet {
		r.add("C18", "Zones", list(p.Zones), "nothing, or Type %s: an availability set has no zones", ScaleSets)
	}
	for i, zone := range p.Zones {
		field := fmt.Sprintf("Zones[%d]", i)
		switch {
		case !slices.Contains(zones, zone):
			r.add("C18", field, quote(zone), "%s", choice(zones))
		case slices.Contains(p.Zones[:i], zone):
			r.add("C18", field, quote(zone), "each zone once")
		case p.OfferedZones != nil && !slices.Contains(p.OfferedZones, zone):
			r.add("C18", field, quote(zone), "a zone that the region offers %s in: %s", p.Size, cmp.Or(list(p.OfferedZones), "none"))
		}
	}
}

// MaxNodes is the most nodes that the pool can have, without those that an
// upgrade adds.
func (p Pool) MaxNodes() int {
	switch {
	case p.AutoScale && p.Max != nil:
		return max(*p.Max, 0)
	case p.Count != nil:
		return max(*p.Count, 0)
	default:
		return defaultCount
	}
}

// SurgeNodes is how many nodes an upgrade of the full pool adds: a share is
// rounded up, a number is no more than the pool has, and spot pools add none.
// https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling#customize-node-surge
func (p Pool) SurgeNodes() int {
	nodes, text := p.MaxNodes(), p.MaxSurge
	if p.Priority == Spot || nodes == 0 {
		return 0
	}
	if !validSurge(text) {
		text = DefaultSurge
	}
	m := surge.FindStringSubmatch(text)
	n, _ := strconv.Atoi(m[1])
	if m[2] == "%" {
		n = (nodes*n + percentOfAllNodes - 1) / percentOfAllNodes
	}
	return min(n, nodes)
}

// Offers is what each node of the pool offers its pods of GPUs: see Resource.
// The name is "" when it offers none, or when Check refuses the pool's GPUs.
func (p Pool) Offers() (name string, perNode int) {
	size, known := Lookup(p.Size)
	if !known {
		return "", 0
	}
	name, perNode, err := Resource(size, p.MIG, p.Strategy)
	if err != nil {
		return "", 0
	}
	return name, perNode
}

// HasGPU tells whether the pool's nodes have GPUs, as far as the size is known.
func (p Pool) HasGPU() bool {
	size, _ := Lookup(p.Size)
	return size.GPU.Count > 0
}

// list writes values as a problem shows them.
func list(values []string) string { return strings.Join(values, ", ") }

// wantOf is what an error of a parser wants.
func wantOf(err error) string {
	_, want, _ := strings.Cut(err.Error(), "want ")
	return want
}
