package stacks

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"onedoor/components/cluster"
	"onedoor/internal/az"
	"onedoor/internal/az/aks"
	"onedoor/internal/az/netplan"
)

// Cluster is the root key "cluster": AKS and its pools of nodes.
type Cluster struct {
	Version      string        `json:"version"` // Kubernetes minor version, as in "1.33"; Azure chooses the patch
	Admins       []string      `json:"admins"`  // object ids of the Entra groups that administer it, at least one
	Access       Access        `json:"access"`
	Login        cluster.Login `json:"login"`     // how whoever deploys gets a token for the API server
	InCluster    InCluster     `json:"inCluster"` // whether this run reaches into the cluster
	Maintenance  Maintenance   `json:"maintenance"`
	HostnameRule bool          `json:"hostnameRule"` // egress rules by host name, which cost money
	PodCIDR      netip.Prefix  `json:"podCidr"`      // overlay addresses; each node takes a /24
	ServiceCIDR  netip.Prefix  `json:"serviceCidr"`  // /12 or smaller
	Pools        Pools         `json:"pools"`
}

// InCluster says whether the objects in the cluster are part of the stack.
type InCluster string

// The values. Skip is for the first update from outside the network of a private
// cluster; later it would delete what is in the cluster.
const (
	Apply InCluster = "apply"
	Skip  InCluster = "skip"
)

// Maintenance is the weekly window of Azure's own upgrades.
type Maintenance struct {
	Day       string `json:"day"`       // as in "Sunday"
	Start     string `json:"start"`     // as in "02:00"
	UTCOffset string `json:"utcOffset"` // of start, as in "+01:00"
	Hours     int    `json:"hours"`     // 4 to 24
}

// Access is who can open a connection to the API server.
type Access struct {
	Private bool           `json:"private"` // the network alone; prod requires it
	Ranges  []netip.Prefix `json:"ranges"`  // without private: who may, at most 200; none lets everybody try to log in
}

// Pools are the node pools.
type Pools struct {
	System Pool               `json:"system"` // AKS system pods and KEDA; its size and zones cannot change
	Worker Pool               `json:"worker"` // queue workers
	Batch  Pool               `json:"batch"`  // the batch control plane
	GPU    map[string]GPUPool `json:"gpu"`    // by kind, as in "a100"
}

// Pool is one node pool. The autoscaler chooses between the least and the most
// nodes.
type Pool struct {
	Size     string   `json:"size"`     // VM size
	MinNodes int      `json:"minNodes"` // 0 to 1000, from 1 for the system pool
	MaxNodes int      `json:"maxNodes"` // 1 to 1000: limit of an AKS pool
	Zones    []string `json:"zones"`    // availability zones; none leaves the choice to Azure
}

// GPUPool is one kind of GPU node. A kind that is given is given whole.
type GPUPool struct {
	Slot     int         `json:"slot"`     // 0 to 7, one per kind: where its subnet lies; changing it replaces the pool
	Size     string      `json:"size"`     // VM size with NVIDIA GPUs
	MinNodes int         `json:"minNodes"` // 0 to 1000
	MaxNodes int         `json:"maxNodes"` // 1 to 1000
	Zones    []string    `json:"zones"`    // availability zones; none leaves the choice to Azure
	MIG      aks.Profile `json:"mig"`      // how every GPU is cut; "" leaves them whole
	Spot     bool        `json:"spot"`     // preemptible, at up to the on-demand price
}

var defaultCluster = Cluster{
	Version:     "1.33",
	Login:       cluster.LoginAzureCLI,
	InCluster:   Apply,
	Maintenance: Maintenance{Day: "Sunday", Start: "01:00", UTCOffset: "+00:00", Hours: 4},
	PodCIDR:     netip.MustParsePrefix("10.244.0.0/16"),
	ServiceCIDR: netip.MustParsePrefix("10.245.0.0/16"),
	Pools: Pools{
		System: Pool{Size: "Standard_D4s_v5", MinNodes: 2, MaxNodes: 3},
		Worker: Pool{Size: "Standard_D4s_v5", MinNodes: 0, MaxNodes: 10},
		Batch:  Pool{Size: "Standard_D4s_v5", MinNodes: 2, MaxNodes: 3},
	},
}

// Limits of the window.
// https://learn.microsoft.com/azure/aks/planned-maintenance
const (
	minWindowHours = 4
	maxWindowHours = 24
)

var (
	weekdays  = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	timeOfDay = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)
	utcOffset = regexp.MustCompile(`^[+-](0[0-9]|1[0-4]):[0-5][0-9]$`)
)

func (m Maintenance) check(report *problems) {
	if !slices.Contains(weekdays, m.Day) {
		report.bad("cluster.maintenance.day", m.Day, "one of "+strings.Join(weekdays, ", "), "Sunday")
	}
	if !timeOfDay.MatchString(m.Start) {
		report.bad("cluster.maintenance.start", m.Start, "a time of day, 00:00 to 23:59", "01:00")
	}
	if !utcOffset.MatchString(m.UTCOffset) {
		report.bad("cluster.maintenance.utcOffset", m.UTCOffset, "an offset from UTC, as in +01:00", "+00:00")
	}
	if m.Hours < minWindowHours || m.Hours > maxWindowHours {
		report.bad("cluster.maintenance.hours", m.Hours, "4 to 24 hours: an upgrade of nodes takes its time", "4")
	}
}

// Limits of pools and of authorised ranges.
// https://learn.microsoft.com/azure/aks/quotas-skus-regions
// https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges
const (
	maxPoolNodes = 1000
	maxRanges    = 200
	maxPods      = 110 // a node of every pool; overlay allows 250
	osDiskGB     = 128 // of every node
)

var (
	// poolName is the form of an AKS pool's name.
	// https://learn.microsoft.com/azure/aks/create-node-pools
	poolName = regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`)
	// minorVersion is the form of a Kubernetes minor version.
	minorVersion = regexp.MustCompile(`^1\.[1-9][0-9]$`)
)

// gpuTaint keeps everything that does not ask for a GPU off the nodes that have
// one.
const gpuTaint = "sku=gpu:NoSchedule"

// batchTaint keeps everything but the batch control plane off its nodes.
const batchTaint = "onedoor/batch=only:NoSchedule"

func (c *Cluster) check(report *problems) {
	if !minorVersion.MatchString(c.Version) {
		report.bad("cluster.version", c.Version, "a Kubernetes minor version; the patch is Azure's to choose", "1.33")
	}
	if !slices.Contains(cluster.Logins, c.Login) {
		report.bad("cluster.login", c.Login, oneOf(cluster.Logins...), string(cluster.LoginAzureCLI))
	}
	if c.InCluster != Apply && c.InCluster != Skip {
		report.bad("cluster.inCluster", c.InCluster, oneOf(Apply, Skip), string(Apply))
	}
	c.Maintenance.check(report)
	if len(c.Admins) == 0 {
		report.bad("cluster.admins", nil, "at least one Entra group: local accounts are off, nobody else could log in", "")
	}
	for _, group := range c.Admins {
		if !az.IsGUID(group) {
			report.bad("cluster.admins", group, "the object id of an Entra group, a GUID", "")
		}
	}
	if c.Access.Private && len(c.Access.Ranges) > 0 {
		report.bad("cluster.access.ranges", len(c.Access.Ranges), "none: they do not apply to a private API server", "")
	}
	if len(c.Access.Ranges) > maxRanges {
		report.bad("cluster.access.ranges", len(c.Access.Ranges), "at most 200, Azure's limit", "")
	}
	nodes := func(key string, least, most int) {
		if most < 1 || most > maxPoolNodes {
			report.bad(key+".maxNodes", most, "1 to 1000 nodes, the limit of an AKS pool", "3")
		} else if least < 0 || least > most {
			report.bad(key+".minNodes", least, fmt.Sprintf("0 to %d, the most nodes of the pool", most), "0")
		}
	}
	nodes("cluster.pools.system", c.Pools.System.MinNodes, c.Pools.System.MaxNodes)
	nodes("cluster.pools.worker", c.Pools.Worker.MinNodes, c.Pools.Worker.MaxNodes)
	nodes("cluster.pools.batch", c.Pools.Batch.MinNodes, c.Pools.Batch.MaxNodes)
	for _, kind := range sortedKeys(c.Pools.GPU) {
		key, pool := "cluster.pools.gpu."+kind, c.Pools.GPU[kind]
		if !poolName.MatchString(kind) || kind == "system" || kind == "worker" || kind == "batch" {
			report.bad(key, nil, "a kind of lower-case letters and digits, at most 12, that starts with a letter and is no other pool's name: it names the pool", "")
		}
		nodes(key, pool.MinNodes, pool.MaxNodes)
		if size, known := aks.Lookup(pool.Size); !known || size.GPU.Count == 0 || size.GPU.Card.AMD() {
			want := "a VM size with NVIDIA GPUs"
			if near := aks.NearestSize(pool.Size); near != "" {
				want += ", nearest is " + near
			}
			report.bad(key+".size", pool.Size, want, "")
		}
	}
	if len(c.Pools.GPU) > netplan.GPUSlots {
		report.bad("cluster.pools.gpu", len(c.Pools.GPU), "at most 8 kinds, one per slot of the address space", "")
	}
}

// pool is a pool in the terms of Azure's rules, with the key it was read from.
type pool struct {
	key  string
	rule aks.Pool
	role netplan.Role
}

// pools are all pools, the system's first and the others in the order in which
// they are made.
func (c *Cluster) pools() []pool {
	plain := func(name string, p Pool, mode aks.Mode, role netplan.Role, taints ...string) pool {
		return pool{"cluster.pools." + name, aks.Pool{
			Name: name, Mode: mode, Size: p.Size, Zones: p.Zones, AutoScale: true, Min: &p.MinNodes, Max: &p.MaxNodes, MaxPods: maxPods,
			OSDisk: aks.Managed, OSDiskGB: osDiskGB, Taints: taints, Labels: map[string]string{"pool": name},
		}, role}
	}
	list := []pool{
		plain("system", c.Pools.System, aks.System, netplan.SystemNodes),
		plain("worker", c.Pools.Worker, aks.User, netplan.WorkerNodes),
		plain("batch", c.Pools.Batch, aks.User, netplan.BatchNodes, batchTaint),
	}
	for _, kind := range sortedKeys(c.Pools.GPU) {
		g := c.Pools.GPU[kind]
		p := plain(kind, Pool{g.Size, g.MinNodes, g.MaxNodes, g.Zones}, aks.User, netplan.GPUNodes(kind), gpuTaint)
		p.key = "cluster.pools.gpu." + kind
		p.rule.MIG = g.MIG
		if g.MIG != "" {
			p.rule.Strategy = aks.StrategySingle // scales from zero
		}
		if g.Spot {
			p.rule.Priority = aks.Spot
		}
		list = append(list, p)
	}
	return list
}

// checkPools refuses what Azure would refuse of each pool.
func (c *Config) checkPools(report *problems) {
	for _, p := range c.Cluster.pools() {
		for _, found := range p.rule.Check() {
			key := p.key
			if field, ours := map[string]string{"Size": "size", "Zones": "zones", "Min": "minNodes", "Max": "maxNodes", "MIG": "mig", "Strategy": "mig", "Priority": "spot"}[strings.SplitN(found.Field, "[", 2)[0]]; ours {
				key += "." + field
			}
			report.list = append(report.list, Problem{Key: key, Got: found.Got, Want: "want " + found.Want})
		}
	}
}
