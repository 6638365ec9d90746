package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Pod is a template of pods inside of an object, or the pod itself.
type Pod struct {
	// Path is where the template is: "spec.template", or "" for a pod.
	Path string
	// Template holds metadata and spec.
	Template map[string]any
}

// templates are where kinds have their templates of pods; [] stands for all
// elements of a list.
var templates = map[string][]string{
	"v1/Pod":                     {""},
	"v1/PodTemplate":             {"template"},
	"v1/ReplicationController":   {"spec.template"},
	"apps/v1/Deployment":         {"spec.template"},
	"apps/v1/ReplicaSet":         {"spec.template"},
	"apps/v1/StatefulSet":        {"spec.template"},
	"apps/v1/DaemonSet":          {"spec.template"},
	"batch/v1/Job":               {"spec.template"},
	"batch/v1/CronJob":           {"spec.jobTemplate.spec.template"},
	"keda.sh/v1alpha1/ScaledJob": {"spec.jobTargetRef.template"},
	"ray.io/v1/RayCluster":       rayTemplates("spec."),
	"ray.io/v1/RayService":       rayTemplates("spec.rayClusterConfig."),
	"ray.io/v1/RayJob":           append(rayTemplates("spec.rayClusterSpec."), "spec.submitterPodTemplate"),
}

func rayTemplates(prefix string) []string {
	return []string{prefix + "headGroupSpec.template", prefix + "workerGroupSpecs[].template"}
}

// Pods returns the templates of pods of an object.
func Pods(object map[string]any) []Pod {
	key := Key(object)
	var out []Pod
	for _, where := range templates[key.APIVersion+"/"+key.Kind] {
		for _, n := range expand(node{v: object}, where) {
			if n.fields() != nil {
				out = append(out, Pod{Path: n.path, Template: n.fields()})
			}
		}
	}
	return out
}

// expand returns the places of a path with [] in it.
func expand(n node, path string) []node {
	if path == "" {
		return []node{n}
	}
	before, after, many := strings.Cut(path, "[].")
	if !many {
		return []node{n.get(path)}
	}
	var out []node
	for _, item := range n.get(before).list() {
		out = append(out, expand(item, after)...)
	}
	return out
}

func (p Pod) spec() node { return node{p.Path, p.Template}.at("spec") }

// Spec returns the specification of the pods, or nil.
func (p Pod) Spec() map[string]any { return p.spec().fields() }

// Labels returns the known labels of the pods.
func (p Pod) Labels() map[string]string {
	out := map[string]string{}
	for key, v := range (node{v: p.Template}).get("metadata.labels").fields() {
		if text, ok := v.(string); ok {
			out[key] = text
		}
	}
	return out
}

// containers returns all containers, those that run first included.
func (p Pod) containers() []node {
	return append(p.spec().at("initContainers").list(), p.spec().at("containers").list()...)
}

// Devices returns how many devices a pod asks for, by resource name, as in
// "nvidia.com/gpu": every resource with a domain of its own. Containers add up;
// those that run first, one after another, count where one alone wants more.
// https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
func (p Pod) Devices() map[string]int64 {
	total := map[string]int64{}
	for _, container := range p.spec().at("containers").list() {
		for name, n := range devices(container) {
			total[name] += n
		}
	}
	for _, container := range p.spec().at("initContainers").list() {
		for name, n := range devices(container) {
			if container.at("restartPolicy").text() == "Always" { // a sidecar stays
				total[name] += n
			} else {
				total[name] = max(total[name], n)
			}
		}
	}
	return total
}

// devices are limits, because a device is given whole or not at all.
func devices(container node) map[string]int64 {
	out := map[string]int64{}
	for name := range container.get("resources.limits").fields() {
		if q, ok := amount(container.at("resources", "limits", name)); ok && extended(name) && q.Value() > 0 {
			out[name] = q.Value()
		}
	}
	return out
}

// extended tells whether a resource is a device: it has a domain that is not
// Kubernetes' own.
func extended(name string) bool {
	domain, _, ok := strings.Cut(name, "/")
	return ok && !strings.HasSuffix(domain, "kubernetes.io")
}

// amount reads a quantity.
func amount(n node) (resource.Quantity, bool) {
	text := n.text()
	if value, ok := n.number(); ok {
		text = fmt.Sprint(value)
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

// pod checks what the API server checks of pods beyond the schema.
func (c *checker) pod(p Pod) {
	if p.Path != "" {
		c.labels(node{p.Path, p.Template}.get("metadata.labels"))
	}
	spec := p.spec()
	if spec.fields() == nil {
		return
	}
	volumes := c.volumes(spec)
	seen := map[string]bool{}
	for _, container := range p.containers() {
		name := container.at("name")
		if name.text() != "" {
			c.form(name, validation.IsDNS1123Label(name.text()))
			if seen[name.text()] {
				c.add(name, "", "a name that no other container of the pod has", "")
			}
			seen[name.text()] = true
		}
		if image := container.at("image"); image.text() == "" && !image.unknown() {
			c.add(image, "", "an image", "")
		}
		c.ports(container)
		c.environment(container)
		c.resources(container)
		for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
			c.oneHandler(container.at(probe))
		}
		if volumes != nil {
			for _, mount := range container.at("volumeMounts").list() {
				if n := mount.at("name"); n.text() != "" && !volumes[n.text()] {
					c.add(n, "", "a volume of the pod: "+orNone(slices.Sorted(maps.Keys(volumes))), "declare the volume under "+spec.at("volumes").path)
				}
			}
		}
	}
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "it has none"
	}
	return oneOf(names)
}

// volumes returns the names of the pod's volumes; nil if they are not all known.
func (c *checker) volumes(spec node) map[string]bool {
	names := map[string]bool{}
	if spec.at("volumes").unknown() {
		return nil
	}
	for _, volume := range spec.at("volumes").list() {
		name := volume.at("name")
		if name.unknown() || volume.unknown() {
			return nil
		}
		if name.text() != "" {
			c.form(name, validation.IsDNS1123Label(name.text()))
			names[name.text()] = true
		}
		if volume.fields() != nil && len(volume.fields()) > 2 {
			c.add(volume, fmt.Sprintf("%d sources", len(volume.fields())-1), "one source", "")
		}
	}
	for _, claim := range c.object.get("spec.volumeClaimTemplates").list() { // of a StatefulSet
		name := claim.get("metadata.name")
		if name.unknown() {
			return nil
		}
		names[name.text()] = true
	}
	return names
}

func (c *checker) ports(container node) {
	names := map[string]bool{}
	for _, port := range container.at("ports").list() {
		c.portNumber(port.at("containerPort"))
		name := port.at("name")
		if name.text() == "" {
			continue
		}
		c.form(name, validation.IsValidPortName(name.text()))
		if names[name.text()] {
			c.add(name, "", "a name that no other port of the container has", "")
		}
		names[name.text()] = true
	}
}

func (c *checker) portNumber(n node) {
	if value, ok := n.number(); ok {
		c.form(n, validation.IsValidPortNum(int(value)))
	}
}

func (c *checker) environment(container node) {
	for _, variable := range container.at("env").list() {
		name := variable.at("name")
		if name.text() != "" {
			c.form(name, validation.IsEnvVarName(name.text()))
		}
		if variable.at("value").text() != "" && variable.at("valueFrom").known() {
			c.add(variable.at("valueFrom"), "a value", "nothing, because value is set", "keep one of the two")
		}
	}
}

// resources: requests stay within limits, and devices are whole and have a limit.
// https://kubernetes.io/docs/tasks/configure-pod-container/extended-resource/
func (c *checker) resources(container node) {
	requests, limits := container.get("resources.requests"), container.get("resources.limits")
	for _, name := range slices.Sorted(maps.Keys(requests.fields())) {
		request, limit := requests.at(name), limits.at(name)
		wanted, ok := amount(request)
		if !ok {
			continue
		}
		if extended(name) && limit.absent() && !limits.unknown() {
			c.add(limit, "", "a limit equal to the request, because devices are not shared", "")
			continue
		}
		most, ok := amount(limit)
		switch {
		case !ok:
		case extended(name) && wanted.Cmp(most) != 0:
			c.add(request, "", "the same as the limit ("+most.String()+"), because devices are not shared", "")
		case wanted.Cmp(most) > 0:
			c.add(request, "", "at most the limit, "+most.String(), "")
		}
	}
	for _, where := range []node{requests, limits} {
		for _, name := range slices.Sorted(maps.Keys(where.fields())) {
			n := where.at(name)
			q, ok := amount(n)
			switch {
			case !ok:
			case q.Sign() < 0:
				c.add(n, "", "no less than 0", "")
			case extended(name) && q.MilliValue()%1000 != 0:
				c.add(n, "", "a whole number, because a device is given whole", "")
			}
		}
	}
}

// oneHandler: a probe asks in exactly one way.
func (c *checker) oneHandler(probe node) {
	if probe.fields() == nil {
		return
	}
	handlers := []string{"exec", "grpc", "httpGet", "tcpSocket"}
	found := 0
	for _, name := range handlers {
		if !probe.at(name).absent() {
			found++
		}
	}
	if found != 1 {
		c.add(probe, fmt.Sprintf("%d handlers", found), "exactly one of "+strings.Join(handlers, ", "), "")
	}
}
