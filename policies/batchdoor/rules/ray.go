package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/kube"
)

// The ports of Ray: of what serves models, of the dashboard with its API of jobs, of
// the client and of the control service. None of them asks who calls.
// https://docs.ray.io/en/latest/ray-core/configure.html#ports-configurations
const (
	servePort     = 8000
	dashboardPort = 8265
	clientPort    = 10001
	controlPort   = 6379
)

var rayPorts = []int{servePort, dashboardPort, clientPort, controlPort}

// served are the types that KubeRay makes Ray clusters of, with the path to the
// cluster.
var served = map[string]string{kube.RayCluster: "spec", kube.RayService: "spec.rayClusterConfig", kube.RayJob: "spec.rayClusterSpec"}

// ray are the rules of models that are served in the cluster.
func ray(s *settings) []policypack.Rule {
	return []policypack.Rule{{
		ID: "SYN-02", Severity: policypack.Critical,
		Title:     "Nobody reaches Ray but the pods beside it, the edge and its operator",
		Rationale: "Ray asks nobody who they are: a port of it that others reach is a model without a meter, or a shell on its nodes.",
		Remedy:    "Publish the authenticated edge alone; let port 8000 in from its pods, 8265 from the operator, and both, 10001 and 6379 from the same namespace.",
		Controls:  []string{"MCSB NS-1", "MCSB IM-1"},
		Sources:   []string{"https://docs.ray.io/en/latest/ray-security/index.html"},
		Types:     []string{kube.Service, kube.Ingress, kube.NetworkPolicy, kube.CiliumPolicy, kube.CiliumClusterwide, kube.RayCluster, kube.RayService, kube.RayJob},
		Stack: func(st *policypack.Stack, c *policypack.Case) {
			if path, is := served[c.Type]; is {
				rayServices(c, path)
				return
			}
			if !s.besideRay(st, c) {
				return
			}
			switch c.Type {
			case kube.Service:
				published(c)
			case kube.Ingress:
				c.Failf("spec", "an Ingress beside Ray", "none: what it lets in has passed no gateway")
			default:
				s.letsIn(c)
			}
		},
	}}
}

// besideRay tells whether the object is in a namespace of Ray: one of the settings,
// or one that the stack puts Ray into. It reports when it is not, or when that is
// not known.
func (s *settings) besideRay(st *policypack.Stack, c *policypack.Case) bool {
	clusters := st.Of(kube.RayCluster, kube.RayService, kube.RayJob)
	if c.Type == kube.CiliumClusterwide { // it is of every namespace
		namespaced := slices.ContainsFunc(st.Of(kube.Namespace), func(r *policypack.Resource) bool {
			name, state := kube.NameOf(r)
			return state != propvalue.Known || slices.Contains(s.ServingNamespaces, name)
		})
		if len(clusters) == 0 && !namespaced {
			c.NotApplicable("the stack has no namespace of Ray")
			return false
		}
		return true
	}
	space, state := kube.NamespaceOf(c.Resource)
	if state != propvalue.Known {
		c.Undecided(c.At("metadata.namespace"), "a namespace that is known")
		return false
	}
	if slices.Contains(s.ServingNamespaces, space) || slices.ContainsFunc(clusters, func(r *policypack.Resource) bool {
		its, state := kube.NamespaceOf(r)
		return state != propvalue.Known || its == space
	}) {
		return true
	}
	c.NotApplicable("Ray is not in namespace %q", space)
	return false
}

// rayNames are the names that KubeRay gives to ports of Ray.
var rayNames = []string{"serve", "dashboard", "client", "gcs-server", "gcs"}

// published judges a Service: one with an address outside the cluster leads to no
// port of Ray.
func published(c *policypack.Case) {
	kind := c.At("spec.type")
	typ, state := kind.Text()
	external := c.At("spec.externalIPs")
	switch {
	case state == propvalue.Unknown || state == propvalue.Mistyped:
		c.Undecided(kind, "a type that is known")
		return
	case external.State() == propvalue.Absent && typ != "LoadBalancer" && typ != "NodePort":
		c.Saw(kind, "a Service inside the cluster")
		return
	}
	selector := c.At("spec.selector")
	const who = "labels of the edge, not of Ray"
	if selector.Object() != propvalue.Known {
		c.Undecided(selector, who)
	}
	for label := range selector.Members() {
		if strings.HasPrefix(label, "ray.io/") {
			c.Failf(selector.Path(), label, who)
		}
	}
	list := c.At("spec.ports")
	ports, state := list.Items()
	if state != propvalue.Known {
		c.Undecided(list, "ports that are known")
	}
	for _, port := range ports {
		target := port.At("targetPort")
		if target.State() == propvalue.Absent { // it is the same then
			target = port.At("port")
		}
		notRay(c, target)
	}
}

// notRay judges a port, by its number or its name.
func notRay(c *policypack.Case, target propvalue.Value) {
	const expected = "the port of the edge, not one of Ray"
	number, isNumber := target.Number()
	name, isName := target.Text()
	if isName == propvalue.Known { // a number may be written as a text
		if n, err := strconv.Atoi(name); err == nil {
			number, isNumber = float64(n), propvalue.Known
		}
	}
	switch {
	case isNumber != propvalue.Known && isName != propvalue.Known:
		c.Undecided(target, expected)
	case slices.Contains(rayPorts, int(number)), slices.Contains(rayNames, name):
		c.Fail(target, expected)
	}
}

// letsIn judges a network policy.
func (s *settings) letsIn(c *policypack.Case) {
	own, _ := kube.NamespaceOf(c.Resource)
	openings, unknown := kube.Openings(c.Resource)
	for _, part := range unknown {
		c.Undecided(part, "a rule that is known")
	}
	for _, o := range openings {
		for _, port := range rayPorts {
			allowed := append([]string{own}, s.OperatorNamespaces...)
			switch port {
			case servePort:
				allowed = append(allowed, s.EdgeNamespaces...)
			case dashboardPort:
			default:
				allowed = allowed[:1]
			}
			stranger := slices.ContainsFunc(o.From, func(space string) bool { return !slices.Contains(allowed, space) })
			if o.Reaches(port) && (o.Others || stranger) {
				c.Fail(o.Value, fmt.Sprintf("port %d, if at all, from pods of %s alone, and ports by their numbers", port, strings.Join(allowed, " or ")))
				break
			}
		}
	}
}

// rayServices judges the Services that KubeRay makes of a Ray object.
func rayServices(c *policypack.Case, path string) {
	c.MustIfSet(c.At(path+".headGroupSpec.serviceType"), "ClusterIP")
	c.MustIfSet(c.At(path+".headGroupSpec.headService.spec.type"), "ClusterIP")
	c.MustIfSet(c.At(path+".headGroupSpec.enableIngress"), false)
	if c.Type == kube.RayService {
		c.MustIfSet(c.At("spec.serveService.spec.type"), "ClusterIP")
	}
}
