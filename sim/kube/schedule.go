package kube

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/az/aks"
	"onedoor/internal/manifest"
)

// schedule refuses pods that no pool could ever take, with what each pool lacks.
// A real cluster accepts them and leaves them pending until the deployment times
// out (A640).
func (c *Cluster) schedule(key manifest.ObjectKey, body map[string]any) *Status {
	if key.Kind == "DaemonSet" || key.Kind == "PodTemplate" { // they go where they can
		return nil
	}
	pools := c.pools()
	if len(pools) == 0 {
		return nil // the cluster's body does not say
	}
	for _, pod := range manifest.Pods(body) {
		var reasons []string
		for _, p := range pools {
			why := c.misfit(p, pod)
			if why == "" {
				reasons = nil
				break
			}
			reasons = append(reasons, fmt.Sprintf("pool %s (%s): %s", p.Name, p.Size, why))
		}
		if len(reasons) > 0 {
			where := pod.Path
			if where == "" {
				where = "the pod"
			}
			return &Status{http.StatusUnprocessableEntity, Invalid, fmt.Sprintf("%s %q is invalid: %s: got pods that no pool of the cluster takes%s, want one that fits; %s", resourceOf(key), key.Name, where, devicesText(pod), strings.Join(reasons, "; "))}
		}
	}
	return nil
}

// devicesText names the devices that a pod asks for.
func devicesText(pod manifest.Pod) string {
	devices := pod.Devices()
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(devices)) {
		parts = append(parts, fmt.Sprintf("%d %s", devices[name], name))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// misfit says why a pool does not take a pod, or "".
func (c *Cluster) misfit(p pool, pod manifest.Pod) string {
	spec := pod.Spec()
	if *p.Max == 0 {
		return "has no nodes"
	}
	if p.OS == aks.Windows {
		return "runs Windows"
	}
	for _, taint := range p.AllTaints() {
		if taint.Repels() && !tolerated(spec, taint) {
			return "the pod does not tolerate " + taint.String()
		}
	}
	if why := unselected(p, spec); why != "" {
		return why
	}
	devices := pod.Devices()
	for _, name := range slices.Sorted(maps.Keys(devices)) {
		if why := c.lacks(p, name, devices[name]); why != "" {
			return why
		}
	}
	return ""
}

func tolerated(spec map[string]any, taint aks.Taint) bool {
	for _, item := range listAt(spec, "tolerations") {
		t := aks.Toleration{
			Key: textAt(item, "key"), Operator: aks.Operator(textAt(item, "operator")),
			Value: textAt(item, "value"), Effect: aks.Effect(textAt(item, "effect")),
		}
		if t.Tolerates(taint) {
			return true
		}
	}
	return false
}

// unselected compares a pod's nodeSelector and its required affinity with the
// labels of a pool.
func unselected(p pool, spec map[string]any) string {
	labels := p.labels()
	selector, _ := at(spec, "nodeSelector").(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		want, ok := selector[key].(string)
		if have, known := labels[key]; ok && !discovered(key) && (!known || have != want) {
			return fmt.Sprintf("has no label %s=%s", key, want)
		}
	}
	terms := listAt(spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms")
	for _, term := range terms {
		if matches(term, labels) {
			return ""
		}
	}
	if len(terms) > 0 {
		return "is not among the nodes of the required affinity"
	}
	return ""
}

func matches(term any, labels map[string]string) bool {
	for _, e := range listAt(term, "matchExpressions") {
		key := textAt(e, "key")
		if discovered(key) {
			continue
		}
		have, known := labels[key]
		in := slices.Contains(listAt(e, "values"), any(have))
		switch textAt(e, "operator") {
		case "In":
			if !known || !in {
				return false
			}
		case "NotIn":
			if known && in {
				return false
			}
		case "Exists":
			if !known {
				return false
			}
		case "DoesNotExist":
			if known {
				return false
			}
		}
	}
	return true
}

// discovered tells whether a label comes from discovery on the node, or names
// its zone; neither is known here.
func discovered(key string) bool {
	for _, prefix := range []string{"nvidia.com/", "feature.node.kubernetes.io/", "topology.", "failure-domain.", "kubernetes.io/hostname"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// labels are those of the pool and those that AKS adds.
// https://learn.microsoft.com/azure/aks/use-labels
func (p pool) labels() map[string]string {
	labels := p.AllLabels()
	add := map[string]string{
		"agentpool": p.Name, "kubernetes.azure.com/agentpool": p.Name,
		"kubernetes.azure.com/mode": strings.ToLower(string(p.Mode)),
		"kubernetes.io/os":          "linux", "kubernetes.io/arch": "amd64",
		"node.kubernetes.io/instance-type": p.Size,
	}
	if p.size.GPU.Count > 0 {
		add["accelerator"], add["kubernetes.azure.com/accelerator"] = "nvidia", "nvidia"
	}
	maps.Copy(labels, add)
	return labels
}

// lacks says why no node of a pool gives a pod a number of devices, or "".
func (c *Cluster) lacks(p pool, device string, count int64) string {
	if device != aks.NvidiaGPU && device != aks.AMDGPU && !strings.HasPrefix(device, "nvidia.com/mig-") {
		return "" // a device that something else offers
	}
	if !p.known {
		return "" // a size that the project does not know
	}
	strategies := aks.Strategies
	if s, ok := c.strategy(); ok {
		strategies = []aks.Strategy{s}
	}
	offers := "offers no GPU"
	for _, strategy := range strategies {
		name, perNode, err := aks.Resource(p.size, p.MIG, strategy)
		switch {
		case err != nil:
			if len(strategies) == 1 {
				offers = fmt.Sprintf("offers no slices with MIG strategy %s", strategy)
			}
		case name == device && int64(perNode) >= count:
			return ""
		case name != "":
			offers = "offers " + strconv.Itoa(perNode) + " " + name + " a node"
		}
	}
	return offers
}

// strategy is that of NVIDIA's device plugin in the cluster, or of the chart that
// installs it. It is false where there is none yet: then any may come (A641).
func (c *Cluster) strategy() (aks.Strategy, bool) {
	for _, o := range c.objects() {
		if isRelease(o.key) {
			switch chartName(o.body) {
			case "nvidia-device-plugin":
				return strategyOf(textAt(o.body, "values.migStrategy")), true
			case "gpu-operator":
				return strategyOf(textAt(o.body, "values.mig.strategy")), true
			}
			continue
		}
		if o.key.Kind != "DaemonSet" {
			continue
		}
		for _, container := range listAt(o.body, "spec.template.spec.containers") {
			if !strings.Contains(textAt(container, "image"), "k8s-device-plugin") {
				continue
			}
			for _, v := range listAt(container, "env") {
				if textAt(v, "name") == "MIG_STRATEGY" {
					return strategyOf(textAt(v, "value")), true
				}
			}
			for _, arg := range append(listAt(container, "args"), listAt(container, "command")...) {
				text, _ := arg.(string)
				if value, ok := strings.CutPrefix(text, "--mig-strategy="); ok {
					return strategyOf(value), true
				}
			}
			return aks.StrategyNone, true
		}
	}
	return "", false
}

func strategyOf(text string) aks.Strategy {
	if text == "" {
		return aks.StrategyNone
	}
	return aks.Strategy(text)
}
