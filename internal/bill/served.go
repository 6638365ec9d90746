package bill

import (
	"strconv"
	"strings"

	"onedoor/internal/az/aks"
	"onedoor/internal/prices"
	"onedoor/internal/propvalue"
)

// gpu starts the names of the resources of NVIDIA's GPUs, whole or sliced.
const gpu = "nvidia.com/"

// pool is what a pool's nodes are.
type pool struct{ size, mig string }

// offers is how many GPUs, or slices of them, the pods of a node share; 1 where that is
// not known.
func (p pool) offers() int {
	_, perNode := aks.Pool{Size: p.size, MIG: aks.Profile(p.mig), Strategy: aks.StrategySingle}.Offers()
	return max(perNode, 1)
}

// demand is how many GPUs of the nodes of a pool a served model asks for.
type demand struct {
	pool        string // its label
	least, most int
	sure        bool
}

// demands are those of a RayService, by its groups of pods. Pods without a GPU share nodes
// with others, and are left out.
func demands(r Resource) []demand {
	if r.Kind != "ray.io:RayService" {
		return nil
	}
	var out []demand
	groups, _ := r.Inputs.At("spec", "rayClusterConfig", "workerGroupSpecs").Items()
	for _, group := range groups {
		spec := group.At("template", "spec")
		each := gpusOf(spec)
		if each == 0 {
			continue
		}
		now, _ := group.At("replicas").Count(1)
		least, leastSure := group.At("minReplicas").Count(now)
		most, _ := group.At("maxReplicas").Count(now)
		hosts, hostsSure := group.At("numOfHosts").Count(1)
		out = append(out, demand{text(spec.At("nodeSelector", "pool")), least * hosts * each, most * hosts * each, leastSure && hostsSure})
	}
	return out
}

// gpusOf is how many GPUs a pod asks for; a number that is not known counts as one.
func gpusOf(spec propvalue.Value) int {
	sum := 0
	containers, _ := spec.At("containers").Items()
	for _, container := range containers {
		for name, limit := range container.At("resources", "limits").Members() {
			if strings.HasPrefix(name, gpu) {
				n, err := strconv.Atoi(text(limit))
				if err != nil {
					n, _ = limit.Count(1)
				}
				sum += n
			}
		}
	}
	return sum
}

// kept is how many nodes of a pool never go, since served models stand on them, whatever
// the pool's own least number is.
func (c counter) kept(label string) (nodes int, sure bool) {
	asked := c.asked[label]
	return ceil(asked.least, c.pools[label].offers()), asked.sure
}

// upgrade is what one hour costs in which a served model runs twice: KubeRay starts
// a whole new cluster before it stops the old one, unless it is told not to.
// https://docs.ray.io/en/latest/serve/production-guide/kubernetes.html
func (c counter) upgrade(r Resource) prices.USD {
	var sum prices.USD
	if text(r.Inputs.At("spec", "upgradeStrategy", "type")) == "None" {
		return sum
	}
	for _, asked := range demands(r) {
		on := c.pools[asked.pool]
		if price, known := c.table.VM(on.size); known { // else the pool's own line says so
			sum = sum.Plus(price.USD.Times(int64(ceil(asked.most, on.offers()))))
		}
	}
	return sum
}

// ceil is n divided by d, rounded up.
func ceil(n, d int) int { return (n + d - 1) / d }
