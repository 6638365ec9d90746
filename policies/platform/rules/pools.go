package rules

import (
	"strings"

	"onedoor/internal/az/aks"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// pools are the rules of node pools with GPUs, declared with the cluster or on
// their own.
func pools() []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "GPU-01", Severity: policypack.Medium,
			Title:     "Pools with GPUs are tainted, labelled, for users' pods, and bounded",
			Rationale: "Without a taint any pod keeps a GPU node alive; without a bound a mistake buys a data centre.",
			Remedy:    "Set nodeTaints with NoSchedule, nodeLabels, mode \"User\", enableAutoScaling and maxCount.",
			Controls:  []string{"MCSB AM-2", "MCSB PV-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/aks/use-nvidia-gpu"},
			Types:     []string{azure.Pool, azure.Cluster},
			Resource: func(c *policypack.Case) {
				eachPool(c, func(pool propvalue.Value, size aks.Size) {
					taints := pool.At("nodeTaints")
					c.MustText(first(taints), "a taint with NoSchedule", func(t string) bool { return strings.HasSuffix(t, ":NoSchedule") })
					c.MustBeSet(pool.At("nodeLabels"), "labels to select the pool by")
					c.Must(pool.At("mode"), "User")
					c.Must(pool.At("enableAutoScaling"), true)
					c.MustNumber(pool.At("maxCount"), "at least 1", func(n float64) bool { return n >= 1 })
				})
			},
		},
		{
			ID: "GPU-02", Severity: policypack.High,
			Title:     "The MIG profile of a pool is one that its GPUs have",
			Rationale: "The profile cannot be changed in place, and slices that do not exist leave pods pending for ever.",
			Remedy:    "Take a profile of the size's card, or a size whose card can be partitioned.",
			Controls:  []string{"MCSB PV-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/aks/gpu-multi-instance"},
			Types:     []string{azure.Pool, azure.Cluster},
			Resource: func(c *policypack.Case) {
				eachPool(c, func(pool propvalue.Value, size aks.Size) {
					profile := pool.At("gpuInstanceProfile")
					text, state := profile.Text()
					switch {
					case state == propvalue.Absent:
					case state != propvalue.Known:
						c.Undecided(profile, "a profile that is known")
					default:
						c.MustText(profile, "one that GPUs of "+size.Name+" can be cut by: "+cuts(size), func(string) bool {
							_, err := aks.SliceOf(size, aks.Profile(text))
							return err == nil
						})
					}
				})
			},
		},
	}
}

// cuts are the profiles that the GPUs of the size have.
func cuts(size aks.Size) string {
	var out []string
	for _, profile := range aks.Profiles {
		if _, err := aks.SliceOf(size, profile); err == nil {
			out = append(out, string(profile))
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// first is the first item of a list, or the list itself where it has none.
func first(list propvalue.Value) propvalue.Value {
	items, state := list.Items()
	switch {
	case state != propvalue.Known:
		return list
	case len(items) == 0:
		return propvalue.Value{}
	default:
		return items[0]
	}
}

// eachPool judges every pool with GPUs that the resource declares. It reports
// when there is none, or when a size is not known.
func eachPool(c *policypack.Case, judge func(pool propvalue.Value, size aks.Size)) {
	declared := []propvalue.Value{c.Get()}
	if c.Type == azure.Cluster {
		list, state := c.At("agentPoolProfiles").Items()
		if unsure(state) {
			c.Undecided(c.At("agentPoolProfiles"), "pools that are known")
			return
		}
		declared = list
	}
	found := false
	for _, pool := range declared {
		name, state := pool.At("vmSize").Text()
		if state != propvalue.Known {
			c.Undecided(pool.At("vmSize"), "a size that is known")
			continue
		}
		size, known := aks.Lookup(name)
		switch {
		case !known && strings.HasPrefix(strings.ToLower(name), "standard_n"):
			c.Undecided(pool.At("vmSize"), "a size whose GPUs are known here")
		case known && size.GPU.Count > 0:
			found = true
			judge(pool, size)
		}
	}
	if !found {
		c.NotApplicable("it declares no pool with GPUs")
	}
}
