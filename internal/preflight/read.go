package preflight

import (
	"math"
	"strconv"
	"strings"

	"onedoor/internal/propvalue"
)

// unknown stands in a record for what a preview does not know.
const unknown = propvalue.ShownUnknown

// subscriptionOf is the subscription of the plan's one provider of Azure.
func subscriptionOf(plan []Resource) string {
	for _, r := range plan {
		if id := text(r.Inputs, "subscriptionId"); r.Type == "pulumi:providers:azure-native" && id != unknown {
			return id
		}
	}
	return ""
}

func object(in map[string]any, key string) map[string]any {
	out, _ := in[key].(map[string]any)
	return out
}

func text(in map[string]any, key string) string {
	out, _ := in[key].(string)
	return out
}

// list are the texts of an array; what is no text is left out.
func list(in map[string]any, key string) []string {
	items, _ := in[key].([]any)
	var out []string
	for _, item := range items {
		if s, ok := item.(string); ok && s != unknown {
			out = append(out, s)
		}
	}
	return out
}

// region is a location as Azure compares it.
func region(location string) string {
	return strings.ToLower(strings.ReplaceAll(location, " ", ""))
}

// canonical is a namespace with a capital, as Azure lists it.
func canonical(namespace string) string {
	first, rest, _ := strings.Cut(namespace, ".")
	if rest == "" {
		return namespace
	}
	return strings.ToUpper(first[:1]) + first[1:] + "." + strings.ToUpper(rest[:1]) + rest[1:]
}

// parentOf is the id of the resource that a child lies in.
func parentOf(id string) string {
	parts := strings.Split(id, "/")
	return strings.Join(parts[:max(0, len(parts)-2)], "/")
}

// isGPU tells a size with GPUs by the letter of its series.
// https://learn.microsoft.com/azure/virtual-machines/sizes/overview#gpu-accelerated
func isGPU(size string) bool {
	return strings.HasPrefix(strings.ToLower(size), "standard_n")
}

// surge is how many nodes an upgrade adds to a pool: a number, or a percentage of
// its nodes, rounded up. AKS takes 10 % where nothing is said.
// https://learn.microsoft.com/azure/aks/upgrade-aks-cluster#customize-node-surge-upgrade
func surge(maxSurge string, nodes int) int {
	if maxSurge == "" {
		maxSurge = "10%"
	}
	number, percent := strings.CutSuffix(maxSurge, "%")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return 0
	}
	if percent {
		return int(math.Ceil(float64(nodes) * float64(n) / 100))
	}
	return n
}
