package change

import (
	"cmp"
	"slices"
	"strings"

	"onedoor/internal/az/aks"
	"onedoor/internal/az/openai"
	"onedoor/internal/engine"
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
		switch r.Kind() {
		case "containerservice:AgentPool":
			most := max(number(r.Inputs, "maxCount"), number(r.Inputs, "count"))
			out[nodes] += most
			if size, known := aks.Lookup(text(r.Inputs, "vmSize")); known && size.GPU.Count > 0 {
				out["GPUs, "+string(size.GPU.Card)] += most * size.GPU.Count
			}
		case "keda.sh:ScaledObject", "keda.sh:ScaledJob":
			out[replicas] += number(r.Inputs, "spec", "maxReplicaCount")
		case "cognitiveservices:Deployment":
			units := number(r.Inputs, "sku", "capacity")
			switch sku, known := openai.Lookup(text(r.Inputs, "sku", "name")); {
			case !known:
			case sku.Batch:
				out[enqueued] += units
			case sku.Provisioned:
				out[provisioned] += units
			default:
				out[tokens] += units * 1000
			}
		}
	}
	return out
}

// at is the value that a path leads to, nil where there is none.
func at(v any, path ...string) any {
	for _, key := range path {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

func number(inputs map[string]any, path ...string) int {
	n, _ := at(inputs, path...).(float64)
	return int(n)
}

func text(inputs map[string]any, path ...string) string {
	s, _ := at(inputs, path...).(string)
	return strings.TrimSpace(s)
}
