package bill

import (
	"strings"

	"onedoor/internal/prices"
	"onedoor/internal/propvalue"
)

// gpu starts the names of the resources of NVIDIA's GPUs, whole or sliced.
const gpu = "nvidia.com/"

// upgrade is what one hour costs in which a served model runs twice: KubeRay starts
// a whole new cluster before it stops the old one, unless it is told not to.
// https://docs.ray.io/en/latest/serve/production-guide/kubernetes.html
//
// A group's pods are counted as the nodes that they need at least, of the pool that
// they select; those without a GPU share nodes with others, and are left out.
func (c counter) upgrade(r Resource) prices.USD {
	if r.Kind != "ray.io:RayService" || text(r.Inputs.At("spec", "upgradeStrategy", "type")) == "None" {
		return 0
	}
	var sum prices.USD
	groups, _ := r.Inputs.At("spec", "rayClusterConfig", "workerGroupSpecs").Items()
	for _, group := range groups {
		spec := group.At("template", "spec")
		if !asksForGPU(spec) {
			continue
		}
		price, known := c.table.VM(c.pools[text(spec.At("nodeSelector", "pool"))])
		if !known { // the pool's own line says that its size has no price
			continue
		}
		replicas, _ := group.At("replicas").Count(1)
		replicas, _ = group.At("maxReplicas").Count(replicas)
		hosts, _ := group.At("numOfHosts").Count(1)
		sum = sum.Plus(price.USD.Times(int64(replicas) * int64(hosts)))
	}
	return sum
}

func asksForGPU(spec propvalue.Value) bool {
	containers, _ := spec.At("containers").Items()
	for _, container := range containers {
		for name := range container.At("resources", "limits").Members() {
			if strings.HasPrefix(name, gpu) {
				return true
			}
		}
	}
	return false
}
