package rules

import (
	"fmt"
	"regexp"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/kube"
)

// digest ends an image reference that cannot move.
var digest = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)

// pods are the rules of templates of pods.
func pods(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "POD-01", Severity: policypack.High,
			Title:     "Pods run without privileges and outside the node's namespaces",
			Rationale: "A privileged container is root on the node, and reads every identity on it.",
			Remedy:    "Set securityContext.allowPrivilegeEscalation to false in every container; leave privileged, hostPort, hostNetwork, hostPID and hostIPC out.",
			Controls:  []string{"MCSB PV-2", "Azure Policy 95edb821-ddaf-4404-9732-666045e056b4", "Azure Policy 1c6e92c9-99f0-4e55-9cf2-0c234dc48f99"},
			Sources:   []string{"https://kubernetes.io/docs/concepts/security/pod-security-standards/"},
			Types:     kube.Workloads(),
			Resource: func(c *policypack.Case) {
				eachPod(c, func(pod propvalue.Value) {
					for _, key := range []string{"hostNetwork", "hostPID", "hostIPC"} {
						c.MustIfSet(pod.At(key), false)
					}
					eachContainer(c, pod, func(container propvalue.Value) {
						c.MustIfSet(container.At("securityContext", "privileged"), false)
						c.Must(container.At("securityContext", "allowPrivilegeEscalation"), false)
						noHostPort(c, container.At("ports"))
					})
				})
			},
		},
		{
			ID: "POD-02", Severity: policypack.High,
			Title:     "Images are pinned and come from approved registries, and GPUs are requested as they are limited",
			Rationale: "A tag that moves changes what runs without a review; what serves a model is pinned to its digest.",
			Remedy:    "Use the platform's registry with a version, or a digest where GPUs are used; set limits, and equal requests of GPUs.",
			Controls:  []string{"CIS AKS 5.1.4", "Azure Policy febd0533-8e55-448f-b837-bd0e06f16469", "Azure Policy 021f8078-41a0-40e6-81b6-c6597da9f3ee", "Azure Policy e345eecc-fa47-480f-9e88-67dcc122b164"},
			Sources:   []string{"https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/"},
			Types:     kube.Workloads(),
			Resource: func(c *policypack.Case) {
				eachPod(c, func(pod propvalue.Value) {
					eachContainer(c, pod, s.pinned(c))
				})
			},
		},
		{
			ID: "POD-03", Severity: policypack.Medium,
			Title:     "Pods have a service account of their own and no token of the API server",
			Rationale: "The default account is everybody's, and its token is the first thing that an intruder tries.",
			Remedy:    "Set serviceAccountName and automountServiceAccountToken: false; workload identity brings its own token.",
			Controls:  []string{"MCSB IM-3", "CIS AKS 5.2.1", "Azure Policy 423dd1ba-798e-40e4-9c4d-b6902674b423"},
			Sources:   []string{"https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/"},
			Types:     kube.Workloads(),
			Resource: func(c *policypack.Case) {
				eachPod(c, func(pod propvalue.Value) {
					c.MustText(pod.At("serviceAccountName"), "an account of the workload's own", func(name string) bool { return name != "" && name != "default" })
					c.Must(pod.At("automountServiceAccountToken"), false)
				})
			},
		},
	}
}

// noHostPort judges the ports of a container: one on the node passes every network
// policy of the pod.
func noHostPort(c *policypack.Case, list propvalue.Value) {
	ports, state := list.Items()
	if unsure(state) {
		c.Undecided(list, "ports that are known")
	}
	for _, port := range ports {
		c.MustIfSet(port.At("hostPort"), 0.0)
	}
}

// eachPod calls judge with every pod spec in the resource.
func eachPod(c *policypack.Case, judge func(pod propvalue.Value)) {
	for _, pod := range kube.Pods(c.Resource) {
		if pod.State() != propvalue.Known {
			c.Undecided(pod, "a pod that is known")
			continue
		}
		judge(pod)
	}
}

// eachContainer calls judge with every container of a pod.
func eachContainer(c *policypack.Case, pod propvalue.Value, judge func(container propvalue.Value)) {
	for _, key := range []string{"initContainers", "containers"} {
		list := pod.At(key)
		containers, state := list.Items()
		if unsure(state) || state == propvalue.Absent && key == "containers" {
			c.Undecided(list, "containers that are known")
		}
		for _, container := range containers {
			judge(container)
		}
	}
}

// pinned judges image and GPUs of a container.
func (s *settings) pinned(c *policypack.Case) func(propvalue.Value) {
	return func(container propvalue.Value) {
		image := container.At("image")
		gpus := 0
		requests, limits := container.At("resources", "requests"), container.At("resources", "limits")
		if unsure(requests.Object()) {
			c.Undecided(requests, "requests that are known")
		}
		for key := range limits.Members() {
			if !isGPU(key) {
				continue
			}
			gpus++
			if request := requests.At(key); request.State() != propvalue.Absent && fmt.Sprint(request.Plain(nil)) != fmt.Sprint(limits.At(key).Plain(nil)) {
				c.Fail(request, "the same as the limit, "+limits.At(key).Shown())
			}
		}
		for key, request := range requests.Members() {
			if isGPU(key) && limits.At(key).State() == propvalue.Absent {
				c.Fail(request, "a limit as well: Kubernetes takes no request of a GPU without one")
			}
		}
		c.MustBeSet(limits, "limits")
		c.MustText(image, "an image from "+strings.Join(s.Registries, " or "), func(ref string) bool { return like(s.Registries, ref) })
		if gpus > 0 && s.GPUDigests {
			c.MustText(image, "an image by digest, since it uses GPUs", digest.MatchString)
			return
		}
		c.MustText(image, "a version other than latest, or a digest", fixed)
	}
}

// fixed tells whether an image reference has a digest or a tag other than latest.
func fixed(image string) bool {
	if digest.MatchString(image) {
		return true
	}
	name := image[strings.LastIndex(image, "/")+1:]
	_, tag, tagged := strings.Cut(name, ":")
	return tagged && tag != "" && tag != "latest"
}

func isGPU(resource string) bool {
	return resource == "nvidia.com/gpu" || resource == "amd.com/gpu" || strings.HasPrefix(resource, "nvidia.com/mig-")
}
