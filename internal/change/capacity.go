package change

import (
	"cmp"
	"slices"

	"onedoor/internal/az/aks"
	"onedoor/internal/az/openai"
	"onedoor/internal/engine"
	"onedoor/internal/propvalue"
)

// Quantity is how much of something a stack may use at most, before and after.
type Quantity struct {
	Name   string `json:"name"` // with its unit
	Before int    `json:"before"`
	After  int    `json:"after"`
}

// Changed tells whether the two differ.
func (q Quantity) Changed() bool { return q.Before != q.After }

// The quantities, in the order in which they are told.
const (
	nodes       = "nodes"
	replicas    = "worker replicas"
	tokens      = "tokens a minute of models that answer at once"
	enqueued    = "thousand tokens enqueued for batch"
	provisioned = "provisioned throughput units"
)

// tokensPerUnit is what one unit of a deployment's capacity allows, tokens a minute.
// https://learn.microsoft.com/azure/ai-services/openai/quotas-limits
const tokensPerUnit = 1000

// Capacity compares what two plans of a stack may use at most: nodes and GPUs of the
// pools, replicas of what KEDA scales, capacity of the models. Quantities that
// neither has are left out. GPUs are counted by their card, whole or sliced.
func Capacity(before, after []engine.Resource) []Quantity {
	old, now := capacity(before), capacity(after)
	var names []string
	for _, of := range []map[string]int{old, now} {
		for name, n := range of {
			if n != 0 && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	order := []string{nodes, replicas, tokens, enqueued, provisioned}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a), slices.Index(order, b)), cmp.Compare(a, b))
	})
	out := []Quantity{}
	for _, name := range names {
		out = append(out, Quantity{name, old[name], now[name]})
	}
	return out
}

func capacity(resources []engine.Resource) map[string]int {
	out := map[string]int{}
	for _, r := range resources {
		if r.Op == "delete" {
			continue
		}
		in := propvalue.OfRecord(r.Inputs)
		switch r.Kind() {
		case "containerservice:AgentPool":
			count, _ := in.At("count").Count(0)
			most, _ := in.At("maxCount").Count(count)
			out[nodes] += most
			name, _ := in.At("vmSize").Text()
			if size, known := aks.Lookup(name); known && size.GPU.Count > 0 {
				out["GPUs, "+string(size.GPU.Card)] += most * size.GPU.Count
			}
		case "keda.sh:ScaledObject", "keda.sh:ScaledJob":
			most, _ := in.At("spec", "maxReplicaCount").Count(0)
			out[replicas] += most
		case "cognitiveservices:Deployment":
			units, _ := in.At("sku", "capacity").Count(0)
			name, _ := in.At("sku", "name").Text()
			switch sku, known := openai.Lookup(name); {
			case !known:
			case sku.Batch:
				out[enqueued] += units
			case sku.Provisioned:
				out[provisioned] += units
			default:
				out[tokens] += units * tokensPerUnit
			}
		}
	}
	return out
}
