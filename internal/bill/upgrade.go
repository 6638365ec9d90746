package bill

import (
	"strings"

	"onedoor/internal/prices"
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
	if r.Kind != "ray.io:RayService" || text(r.Inputs, "spec", "upgradeStrategy", "type") == "None" {
		return 0
	}
	var sum prices.USD
	for _, group := range list(r.Inputs, "spec", "rayClusterConfig", "workerGroupSpecs") {
		spec, _ := at(group, "template", "spec").(map[string]any)
		if !asksForGPU(spec) {
			continue
		}
		price, known := c.table.VM(c.pools[text(spec, "nodeSelector", "pool")])
		if !known { // the pool's own line says that its size has no price
			continue
		}
		pods := number(group, number(group, 1, "replicas"), "maxReplicas") * number(group, 1, "numOfHosts")
		sum = sum.Plus(price.USD.Times(int64(pods)))
	}
	return sum
}

func asksForGPU(spec map[string]any) bool {
	for _, container := range list(spec, "containers") {
		limits, _ := at(container, "resources", "limits").(map[string]any)
		for name := range limits {
			if strings.HasPrefix(name, gpu) {
				return true
			}
		}
	}
	return false
}
