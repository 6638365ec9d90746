package rules

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/az/aks"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// offers are the GPUs or slices that one node of the stack's pools offers, the
// most by resource name; certain is false when a pool is not known.
func offers(st *policypack.Stack) (most map[string]int, certain bool) {
	most, certain = map[string]int{}, true
	for _, r := range st.Of(azure.Pool, azure.Cluster) {
		declared := []propvalue.Value{r.Get()}
		if r.Type == azure.Cluster {
			list, state := r.Get("agentPoolProfiles").Items()
			declared, certain = list, certain && !unsure(state)
		}
		for _, pool := range declared {
			name, sized := pool.At("vmSize").Text()
			profile, cut := pool.At("gpuInstanceProfile").Text()
			size, known := aks.Lookup(name)
			if sized != propvalue.Known || unsure(cut) || !known {
				certain = false
				continue
			}
			for _, strategy := range []aks.Strategy{aks.StrategySingle, aks.StrategyMixed} {
				resource, perNode, err := aks.Resource(size, aks.Profile(profile), strategy)
				if err == nil && resource != "" {
					most[resource] = max(most[resource], perNode)
				}
			}
		}
	}
	return most, certain
}

// fits judges the GPUs that the pods of a Ray object ask for: each pod runs on
// one node.
func fits(st *policypack.Stack, c *policypack.Case) {
	most, certain := offers(st)
	eachPod(c, func(pod propvalue.Value) {
		wanted := map[string]int{}
		eachContainer(c, pod, func(container propvalue.Value) {
			limits := container.At("resources", "limits")
			if unsure(limits.State()) {
				c.Undecided(limits, "limits that are known")
			}
			for key, value := range limits.Members() {
				if !isGPU(key) {
					continue
				}
				n, ok := count(value)
				if !ok {
					c.Undecided(value, "a whole number")
				}
				wanted[key] += n
			}
		})
		for _, key := range slices.Sorted(maps.Keys(wanted)) {
			expected := fmt.Sprintf("at most %d of %s, what one node of a pool offers", most[key], key)
			switch {
			case wanted[key] <= most[key]:
				c.Saw(pod.At("containers"), expected)
			case !certain || len(most) == 0:
				c.Undecidedf(pod.Path(), "a pool that offers "+key, "the pools of the stack are not known")
			default:
				c.Failf(pod.Path()+".containers", fmt.Sprintf("asking for %d of %s", wanted[key], key), expected)
			}
		}
	})
}

// count reads a quantity of whole things.
func count(v propvalue.Value) (int, bool) {
	if n, state := v.Number(); state == propvalue.Known {
		return int(n), n >= 0 && n == float64(int(n))
	}
	text, state := v.Text()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	return n, state == propvalue.Known && err == nil && n >= 0
}
