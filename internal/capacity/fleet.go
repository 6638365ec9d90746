package capacity

import (
	"fmt"

	"onedoor/internal/az/aks"
)

// Fleet is what serves a model: pods of equal size, each on one node of a pool.
// A replica that spans nodes (pipeline parallelism) has one pod on each.
type Fleet struct {
	GPUs     int  // of a pod: whole GPUs, or slices
	Pods     int  // of a replica
	Replicas int  // at most
	Twice    bool // a change makes a second fleet beside the first, which goes when the second serves
}

// Nodes is how many nodes of the pool the fleet takes at most, while it is replaced
// included, with the arithmetic. It is 0 where a node has no room for a pod.
func (f Fleet) Nodes(pool aks.Pool) (nodes int, why string) {
	resource, perNode := pool.Offers()
	if f.GPUs < 1 || perNode < f.GPUs {
		return 0, fmt.Sprintf("a pod takes %d, a node of %s offers %d %s", f.GPUs, pool.Name, perNode, resource)
	}
	pods, times := f.Replicas*f.Pods, ""
	if f.Twice {
		pods *= 2
		times = " x 2 while a change is rolled out"
	}
	onNode := perNode / f.GPUs
	nodes = (pods + onNode - 1) / onNode
	return nodes, fmt.Sprintf("%d replicas x %d pods%s = %d pods of %d %s, %d on a node = %d nodes", f.Replicas, f.Pods, times, pods, f.GPUs, resource, onNode, nodes)
}

// What AKS and the pods of every node keep of a GPU node. AKS itself keeps less
// than half of it.
// https://learn.microsoft.com/azure/aks/node-resource-reservations
const (
	keptVCPUs = 2
	keptGiB   = 8
)

// gibPerGB is for sizes that count in powers of ten.
const gibPerGB = 0.931

// Share is what a pod of the fleet gets of a node's cores and memory: as much as of
// its GPUs.
func (f Fleet) Share(pool aks.Pool) (vcpus, memoryGiB int) {
	size, known := aks.Lookup(pool.Size)
	_, perNode := pool.Offers()
	if !known || perNode == 0 {
		return 0, 0
	}
	vcpus = (size.VCPUs - keptVCPUs) * f.GPUs / perNode
	memoryGiB = (int(float64(size.MemoryGB)*gibPerGB) - keptGiB) * f.GPUs / perNode
	return max(vcpus, 1), max(memoryGiB, 1)
}
