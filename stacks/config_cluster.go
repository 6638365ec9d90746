package stacks

import (
	"net/netip"
	"regexp"

	"onedoor/internal/az/netplan"
)

// Cluster is the root key "cluster": what of AKS the network must have room
// for.
type Cluster struct {
	PodCIDR     netip.Prefix `json:"podCidr"`     // overlay addresses; each node takes a /24
	ServiceCIDR netip.Prefix `json:"serviceCidr"` // /12 or smaller
	Pools       Pools        `json:"pools"`
}

// Pools are the node pools.
type Pools struct {
	System Pool               `json:"system"` // AKS system pods and KEDA
	Worker Pool               `json:"worker"` // queue workers
	Batch  Pool               `json:"batch"`  // the batch control plane
	GPU    map[string]GPUPool `json:"gpu"`    // by kind, as in "a100"
}

// Pool is one node pool.
type Pool struct {
	MaxNodes int `json:"maxNodes"` // 1 to 1000: limit of an AKS pool
}

// GPUPool is one kind of GPU node.
type GPUPool struct {
	MaxNodes int `json:"maxNodes"` // 1 to 1000: limit of an AKS pool
	Slot     int `json:"slot"`     // 0 to 7, one per kind: where its subnet lies; changing it replaces the pool
}

var defaultCluster = Cluster{
	PodCIDR:     netip.MustParsePrefix("10.244.0.0/16"),
	ServiceCIDR: netip.MustParsePrefix("10.245.0.0/16"),
	Pools:       Pools{System: Pool{MaxNodes: 3}, Worker: Pool{MaxNodes: 10}, Batch: Pool{MaxNodes: 3}},
}

// maxPoolNodes is the limit of an AKS node pool.
// https://learn.microsoft.com/azure/aks/quotas-skus-regions
const maxPoolNodes = 1000

// poolName is the form of an AKS pool's name.
// https://learn.microsoft.com/azure/aks/create-node-pools
var poolName = regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`)

func (c *Cluster) check(report *problems) {
	nodes := func(key string, n int) {
		if n < 1 || n > maxPoolNodes {
			report.bad(key+".maxNodes", n, "1 to 1000 nodes, the limit of an AKS pool", "3")
		}
	}
	nodes("cluster.pools.system", c.Pools.System.MaxNodes)
	nodes("cluster.pools.worker", c.Pools.Worker.MaxNodes)
	nodes("cluster.pools.batch", c.Pools.Batch.MaxNodes)
	for _, kind := range sortedKeys(c.Pools.GPU) {
		key := "cluster.pools.gpu." + kind
		if !poolName.MatchString(kind) {
			report.bad(key, nil, "a kind of lower-case letters and digits, at most 12, that starts with a letter: it names the pool", "")
		}
		nodes(key, c.Pools.GPU[kind].MaxNodes)
	}
	if len(c.Pools.GPU) > netplan.GPUSlots {
		report.bad("cluster.pools.gpu", len(c.Pools.GPU), "at most 8 kinds, one per slot of the address space", "")
	}
}
