package aks

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Effect is what a taint does to pods that do not tolerate it.
// https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
type Effect string

// The effects.
const (
	NoSchedule       Effect = "NoSchedule"       // are not placed
	NoExecute        Effect = "NoExecute"        // are not placed, and those that run are evicted
	PreferNoSchedule Effect = "PreferNoSchedule" // are placed where there is no other room
)

// Effects are the legal effects.
var Effects = []Effect{NoSchedule, NoExecute, PreferNoSchedule}

// Taint keeps pods away from nodes.
type Taint struct {
	Key, Value string
	Effect     Effect
}

// ParseTaint reads a taint as AKS takes it: "sku=gpu:NoSchedule", with a key in
// the form of a label's key and a value that is not empty, as the Azure CLI has
// it too.
// https://learn.microsoft.com/azure/aks/use-node-taints
func ParseTaint(s string) (Taint, error) {
	bad := func(why string) (Taint, error) {
		return Taint{}, fmt.Errorf("taint %q: want key=value:Effect, as in sku=gpu:NoSchedule; %s", s, why)
	}
	key, rest, ok := strings.Cut(s, "=")
	if !ok {
		return bad("there is no =")
	}
	value, effect, ok := strings.Cut(rest, ":")
	switch {
	case !ok:
		return bad("there is no effect")
	case !validKey(key):
		return bad("the key is " + keyForm)
	case value == "" || !validValue(value):
		return bad("the value is " + valueForm)
	case !slices.Contains(Effects, Effect(effect)):
		return bad("the effect is " + choice(Effects))
	}
	return Taint{key, value, Effect(effect)}, nil
}

// String is the taint as AKS takes it.
func (t Taint) String() string { return fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect) }

// Repels tells whether pods that do not tolerate the taint stay away for good.
func (t Taint) Repels() bool { return t.Effect != PreferNoSchedule }

// Operator is how a toleration compares values.
type Operator string

// The operators; "" is OpEqual.
const (
	OpEqual  Operator = "Equal"
	OpExists Operator = "Exists" // any value; with an empty key, any taint
)

// Toleration lets a pod onto tainted nodes.
type Toleration struct {
	Key      string
	Operator Operator
	Value    string
	Effect   Effect // "" for any
}

// Tolerates tells whether the toleration covers the taint, as Kubernetes has it:
// https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
func (t Toleration) Tolerates(taint Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect {
		return false
	}
	switch t.Operator {
	case OpExists:
		return t.Key == "" || t.Key == taint.Key
	case OpEqual, "":
		return t.Key == taint.Key && t.Value == taint.Value
	default:
		return false
	}
}

// Tolerations are what a DaemonSet must carry to run on the nodes of all pools:
// one toleration per taint, without repetitions, in the order of keys. Taints
// that cannot be read are left out; Pool.Check refuses them.
func Tolerations(pools ...Pool) []Toleration {
	var all []Toleration
	for _, p := range pools {
		for _, taint := range p.AllTaints() {
			all = append(all, Toleration{taint.Key, OpEqual, taint.Value, taint.Effect})
		}
	}
	slices.SortFunc(all, func(a, b Toleration) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Effect, b.Effect))
	})
	return slices.Compact(all)
}

// The label and the taint that AKS gives nodes of spot pools. AKS answers with
// them, so a pool that does not declare them differs from its own state.
// https://learn.microsoft.com/azure/aks/spot-node-pool
const (
	spotKey   = reservedByAKS + "scalesetpriority"
	spotValue = "spot"
)

// SpotTaint is the taint of every spot node.
var SpotTaint = Taint{spotKey, spotValue, NoSchedule}

// AllTaints are the pool's taints and, on a spot pool, the one that AKS adds. A
// taint that cannot be read is left out.
func (p Pool) AllTaints() []Taint {
	var taints []Taint
	for _, text := range p.Taints {
		if taint, err := ParseTaint(text); err == nil {
			taints = append(taints, taint)
		}
	}
	if p.Priority == Spot && !slices.Contains(taints, SpotTaint) {
		taints = append(taints, SpotTaint)
	}
	return taints
}

// AllLabels are the pool's labels and, on a spot pool, the one that AKS adds.
func (p Pool) AllLabels() map[string]string {
	labels := maps.Clone(p.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if p.Priority == Spot {
		labels[spotKey] = spotValue
	}
	return labels
}

// ParseLabel reads a label written as "key=value"; the value may be empty.
func ParseLabel(s string) (key, value string, err error) {
	key, value, ok := strings.Cut(s, "=")
	if !ok || !validKey(key) || !validValue(value) {
		return "", "", fmt.Errorf("label %q: want key=value; the key is %s, the value %s, or empty", s, keyForm, valueForm)
	}
	return key, value, nil
}

// The form of keys and values of labels and taints.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
var (
	namePart  = regexp.MustCompile(`^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$`)
	keyPrefix = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

const (
	maxKeyPrefix = 253 // characters
	keyForm      = "up to 63 letters, digits, hyphens, dots and underscores, that starts and ends with a letter or digit, with a DNS name and a slash before it if any"
	valueForm    = "up to 63 letters, digits, hyphens, dots and underscores, that starts and ends with a letter or digit"
)

func validKey(key string) bool {
	prefix, name, ok := strings.Cut(key, "/")
	if !ok {
		return namePart.MatchString(key)
	}
	return len(prefix) <= maxKeyPrefix && keyPrefix.MatchString(prefix) && namePart.MatchString(name)
}

func validValue(value string) bool { return value == "" || namePart.MatchString(value) }

// Keys that AKS keeps for itself.
// https://learn.microsoft.com/azure/aks/use-labels#reserved-prefixes (2024-06-10)
const (
	reservedByAKS        = "kubernetes.azure.com/"
	reservedByKubernetes = "kubernetes.io/"
	reservedKey          = "agentpool" // AKS sets it to the pool's name
)

// Reserved tells whether AKS keeps a label's or a taint's key for itself.
func Reserved(key string) bool {
	return strings.HasPrefix(key, reservedByAKS) || strings.HasPrefix(key, reservedByKubernetes) || key == reservedKey
}

// checkTaints is C17: taints that AKS cannot read, twice the same, or with a key
// that AKS keeps for itself, the spot taint of a spot pool excepted.
// https://learn.microsoft.com/azure/aks/use-node-taints
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/node-v1/ (unique by key and effect)
func (p Pool) checkTaints(r *report) {
	seen := map[Taint]bool{}
	for i, text := range p.Taints {
		field := fmt.Sprintf("Taints[%d]", i)
		taint, err := ParseTaint(text)
		if err != nil {
			r.add("C17", field, quote(text), "%s", wantOf(err))
			continue
		}
		if Reserved(taint.Key) && (p.Priority != Spot || taint != SpotTaint) {
			r.add("C17", field, quote(text), "a key that AKS does not keep for itself, as it does %s*, %s* and %s; only a spot pool may declare %s",
				reservedByAKS, reservedByKubernetes, reservedKey, SpotTaint)
		}
		taint.Value = ""
		if seen[taint] {
			r.add("C17", field, quote(text), "a key and effect that no other taint of the pool has: a node carries one taint of each")
		}
		seen[taint] = true
	}
}

// checkLabels is C17: labels that Kubernetes refuses, or with a key that AKS
// keeps for itself, the spot label of a spot pool excepted.
// https://learn.microsoft.com/azure/aks/use-labels#unavailable-labels
func (p Pool) checkLabels(r *report) {
	for key, value := range p.Labels {
		field := fmt.Sprintf("Labels[%s]", key)
		if !validKey(key) {
			r.add("C17", field, quote(key), "a key of %s", keyForm)
		}
		if !validValue(value) {
			r.add("C17", field, quote(value), "nothing, or %s", valueForm)
		}
		if Reserved(key) && (p.Priority != Spot || key != spotKey || value != spotValue) {
			r.add("C17", field, quote(value), "a key that AKS does not keep for itself, as it does %s*, %s* and %s; only a spot pool may declare %s=%s",
				reservedByAKS, reservedByKubernetes, reservedKey, spotKey, spotValue)
		}
	}
}
