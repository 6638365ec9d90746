package rules

import (
	"fmt"
	"strconv"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/policypack/annotations"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
	"onedoor/policies/internal/kube"
)

// tokensPerUnit is what one unit of a deployment's capacity allows, tokens a
// minute. Units of provisioned SKUs are of another kind.
// https://learn.microsoft.com/azure/ai-services/openai/quotas-limits
const tokensPerUnit = 1000

// capacityOfModels are the rules that join models and the workloads that use or
// serve them.
func capacityOfModels() []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "CAP-01", Severity: policypack.High,
			Title:     "What is kept for people and what all workers can use is no more than a deployment's quota",
			Rationale: "Workers that scale beyond the quota get 429 and retry, and the people who wait get it too.",
			Remedy:    "Lower maxReplicaCount of a queue, or raise the deployment's capacity.",
			Controls:  []string{"MCSB AM-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/ai-services/openai/quotas-limits"},
			Types:     []string{azure.Deployment},
			Stack:     quotaFits,
		},
		{
			ID: "CAP-07", Severity: policypack.High,
			Title:     "What serves a model asks for GPUs or slices that a node of a pool has",
			Rationale: "A pod that no node can hold waits for ever, and so does what the autoscaler would start for it.",
			Remedy:    "Ask for fewer GPUs in one pod, or declare a pool of a larger size or of another MIG profile.",
			Controls:  []string{"MCSB PV-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/aks/gpu-multi-instance"},
			Types:     []string{kube.RayService, kube.RayCluster, kube.RayJob},
			Stack:     fits,
		},
	}
}

// quotaFits judges a deployment against the workloads that name it.
func quotaFits(st *policypack.Stack, c *policypack.Case) {
	sku, state := c.At("sku.name").Text()
	lower := strings.ToLower(sku)
	switch {
	case unsure(state):
		c.Undecided(c.At("sku.name"), "a SKU that is known")
		return
	case strings.HasSuffix(lower, "batch"):
		c.NotApplicable("a batch SKU has no quota a minute")
		return
	case strings.Contains(lower, "provisioned"):
		c.NotApplicable("provisioned capacity is not counted in tokens a minute")
		return
	}
	account, accountState := c.At("accountName").Text()
	name, nameState := azure.NameOf(c.Resource).Text()
	if accountState != propvalue.Known || nameState != propvalue.Known {
		c.Undecided(c.At("accountName"), "names that are known")
		return
	}
	own := account + "/" + name
	used, users, certain := 0.0, 0, true
	if reserve := c.Get("tags", annotations.ReserveTag); reserve.State() != propvalue.Absent {
		text, _ := reserve.Text()
		tokens, err := strconv.ParseFloat(text, 64)
		if err != nil || tokens < 0 {
			c.Undecided(reserve, "tokens a minute")
			return
		}
		used = tokens
	}
	working := []string{fmt.Sprintf("%g kept for people", used)}
	for _, workload := range st.Of(kube.ScaledObject, kube.ScaledJob) {
		target, state := annotation(workload, annotations.Deployment).Text()
		if unsure(state) {
			certain = false
			continue
		}
		if !strings.EqualFold(target, own) {
			continue
		}
		users++
		most, known := replicas(workload)
		each, says := wholeNumber(workload, annotations.TokensPerMinute)
		if !known || !says {
			certain = false
			continue
		}
		used += float64(most) * float64(each)
		working = append(working, fmt.Sprintf("%s: %d replicas x %d", workload.Name, most, each))
	}
	if users == 0 && used == 0 && certain {
		c.NotApplicable("nothing in the stack names the deployment %q, by tag %s or annotation %s", own, annotations.ReserveTag, annotations.Deployment)
		return
	}
	capacity := c.At("sku.capacity")
	sum := fmt.Sprintf("at least %g tokens a minute: %s", used, strings.Join(working, " + "))
	if fits := c.MustNumber(capacity, sum, func(units float64) bool { return used <= units*tokensPerUnit }); fits && !certain {
		c.Undecidedf("sku.capacity", sum, "a workload does not say its replicas or, by %s, its tokens", annotations.TokensPerMinute)
	}
}
