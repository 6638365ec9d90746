package rules

import (
	"maps"
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
	"onedoor/policies/internal/kube"
)

// homes are the types, other than pools of a cluster, that have addresses in a subnet
// which they share with its nodes, by the path to the subnet's id.
var homes = map[string][]string{
	"azure-native:network:NetworkInterface":         {"ipConfigurations", "*", "subnet", "id"},
	"azure-native:compute:VirtualMachine":           {"networkProfile", "networkInterfaceConfigurations", "*", "ipConfigurations", "*", "subnet", "id"},
	"azure-native:compute:VirtualMachineScaleSet":   {"virtualMachineProfile", "networkProfile", "networkInterfaceConfigurations", "*", "ipConfigurations", "*", "subnet", "id"},
	"azure-native:containerinstance:ContainerGroup": {"subnetIds", "*", "id"},
	"azure-native:batch:Pool":                       {"networkConfiguration", "subnetId"},
	"azure-native:machinelearningservices:Compute":  {"properties", "properties", "subnet", "id"},
}

// nodes are the rules of the nodes from which the batch account is reached.
func nodes(s *settings) []policypack.Rule {
	types := slices.Concat(kube.Workloads(), []string{kube.Patches, azure.Pool, azure.Cluster}, slices.Sorted(maps.Keys(homes)))
	return []policypack.Rule{{
		ID: "BAT-13", Severity: policypack.Critical,
		Title:     "Nothing but the control plane runs on the nodes that reach the batch account",
		Rationale: "Networks tell subnets apart, not pods and machines: what runs in this one reaches the batch door.",
		Remedy:    "Taint the pool of these nodes with NoSchedule, and put nothing else into their subnet; leave the toleration, also one of everything, and nodeName out of every other pod.",
		Controls:  []string{"MCSB NS-1", "MCSB PA-7"},
		Sources:   []string{"https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"},
		Types:     types,
		Stack: func(st *policypack.Stack, c *policypack.Case) {
			if path, lies := homes[c.Type]; lies {
				s.elsewhere(st, c, path)
				return
			}
			if c.Type == azure.Pool || c.Type == azure.Cluster {
				s.tainted(st, c)
				return
			}
			pods := kube.Pods(c.Resource)
			space, state := kube.NamespaceOf(c.Resource)
			switch {
			case len(pods) == 0:
				c.NotApplicable("it changes no pods")
			case state == propvalue.Known && slices.Contains(s.BatchNamespaces, space):
				c.NotApplicable("it runs in the namespace of the control plane")
			case !s.batchNodes(st):
				c.NotApplicable("the stack has no nodes that reach a batch account")
			case state != propvalue.Known:
				c.Undecided(c.At("metadata.namespace"), "a namespace that is known")
			default:
				s.staysOff(c, pods)
			}
		},
	}}
}

// elsewhere judges what is no pool of a cluster by its subnets.
func (s *settings) elsewhere(st *policypack.Stack, c *policypack.Case, path []string) {
	found := false
	for _, id := range kube.Along(c.Get(), path) {
		if s.reaches(st, c, id) {
			found = true
			c.Fail(id, "another subnet: this one reaches the batch account, and is for the control plane's nodes alone")
		}
	}
	if !found {
		c.NotApplicable("it lies in no subnet that reaches a batch account")
	}
}

// tainted judges pools, declared with their cluster or on their own, by the subnets of
// their nodes and pods.
func (s *settings) tainted(st *policypack.Stack, c *policypack.Case) {
	pools := []propvalue.Value{c.Get()}
	if c.Type == azure.Cluster {
		list := c.At("agentPoolProfiles")
		declared, state := list.Items()
		if state == propvalue.Unknown || state == propvalue.Mistyped {
			c.Undecided(list, "pools that are known")
		}
		pools = declared
	}
	found := false
	for _, pool := range pools {
		if s.reaches(st, c, pool.At("vnetSubnetID")) || s.reaches(st, c, pool.At("podSubnetID")) {
			found = true
			s.holdsOff(c, pool.At("nodeTaints"))
		}
	}
	if !found {
		c.NotApplicable("no pool lies in a subnet that reaches a batch account")
	}
}

// reaches tells whether the id is that of a subnet that reaches the batch account. It
// reports where that is not known.
func (s *settings) reaches(st *policypack.Stack, c *policypack.Case, id propvalue.Value) bool {
	text, state := id.Text()
	switch state {
	case propvalue.Absent:
		return false
	case propvalue.Known:
		text = strings.TrimRight(text, "/")
		return like(s.ControlPlaneSubnets, text[strings.LastIndex(text, "/")+1:])
	}
	property := id.Path()[:strings.IndexAny(id.Path()+".", ".[")]
	behind := st.Behind(c.Resource, property, azure.Subnet)
	known, ours := state == propvalue.Unknown && len(behind) > 0, 0
	for _, subnet := range behind {
		name, state := azure.NameOf(subnet).Text()
		known = known && state == propvalue.Known
		if like(s.ControlPlaneSubnets, name) {
			ours++
		}
	}
	if !known || ours > 0 && ours < len(behind) {
		c.Undecided(id, "a subnet that is known")
		return false
	}
	return ours > 0
}

// holdsOff judges the taints of a pool whose subnet reaches the batch account.
func (s *settings) holdsOff(c *policypack.Case, taints propvalue.Value) {
	expected := "a taint " + s.BatchTaint + " with NoSchedule, since the subnet reaches the batch account"
	items, listed := taints.Items()
	if listed == propvalue.Unknown || listed == propvalue.Mistyped {
		c.Undecided(taints, expected)
		return
	}
	for _, item := range items {
		taint, state := item.Text()
		if state != propvalue.Known {
			c.Undecided(item, expected)
			return
		}
		key, effect, _ := strings.Cut(taint, ":")
		key, _, _ = strings.Cut(key, "=")
		if key == s.BatchTaint && (effect == "NoSchedule" || effect == "NoExecute") {
			c.Saw(item, expected)
			return
		}
	}
	c.Fail(taints, expected)
}

// batchNodes tells whether the stack has something to keep apart from pods: a pool
// of these nodes, a namespace of the control plane, or a batch account.
func (s *settings) batchNodes(st *policypack.Stack) bool {
	return slices.ContainsFunc(st.Of(kube.Namespace), func(r *policypack.Resource) bool {
		name, state := kube.NameOf(r)
		return state != propvalue.Known || slices.Contains(s.BatchNamespaces, name)
	}) || slices.ContainsFunc(st.Of(azure.Account), func(r *policypack.Resource) bool {
		batch, known := s.isBatch(st, r)
		return batch || !known
	}) || slices.ContainsFunc(st.Of(azure.Subnet), func(r *policypack.Resource) bool {
		name, state := azure.NameOf(r).Text()
		return state != propvalue.Known || like(s.ControlPlaneSubnets, name)
	})
}

// staysOff judges the pods of a workload.
func (s *settings) staysOff(c *policypack.Case, pods []propvalue.Value) {
	for _, pod := range pods {
		if pod.State() != propvalue.Known {
			c.Undecided(pod, "a pod that is known")
			continue
		}
		c.MustIfSet(pod.At("nodeName"), "")
		list := pod.At("tolerations")
		tolerations, state := list.Items()
		if state == propvalue.Unknown || state == propvalue.Mistyped {
			c.Undecided(list, "tolerations that are known")
		}
		for _, t := range tolerations {
			s.tolerates(c, t)
		}
	}
}

// tolerates judges a toleration: one without a key, with the operator Exists, is of
// every taint, and one without an effect is of every effect.
func (s *settings) tolerates(c *policypack.Case, t propvalue.Value) {
	expected := "no toleration of the taint " + s.BatchTaint + ", by name or of everything"
	for _, key := range []string{"key", "operator"} {
		if _, state := t.At(key).Text(); state == propvalue.Unknown || state == propvalue.Mistyped {
			c.Undecided(t.At(key), expected)
			return
		}
	}
	if state := t.Object(); state != propvalue.Known {
		c.Undecided(t, expected)
		return
	}
	key, _ := t.At("key").Text()
	operator, _ := t.At("operator").Text()
	if key == s.BatchTaint || key == "" && operator == "Exists" {
		c.Fail(t, expected)
	}
}
