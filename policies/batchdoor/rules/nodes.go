package rules

import (
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
	"onedoor/policies/internal/kube"
)

// nodes are the rules of the nodes from which the batch account is reached.
func nodes(s *settings) []policypack.Rule {
	return []policypack.Rule{{
		ID: "BAT-13", Severity: policypack.Critical,
		Title:     "Nothing but the control plane runs on the nodes that reach the batch account",
		Rationale: "Networks tell nodes apart, not pods: what runs on these nodes reaches the batch door.",
		Remedy:    "Taint the pool of these nodes with NoSchedule; leave the toleration, also one of everything, and nodeName out of every other pod.",
		Controls:  []string{"MCSB NS-1", "MCSB PA-7"},
		Sources:   []string{"https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"},
		Types:     append(kube.Workloads(), azure.Pool),
		Stack: func(st *policypack.Stack, c *policypack.Case) {
			if c.Type == azure.Pool {
				s.tainted(st, c)
				return
			}
			space, state := kube.NamespaceOf(c.Resource)
			switch {
			case state == propvalue.Known && slices.Contains(s.BatchNamespaces, space):
				c.NotApplicable("it runs in the namespace of the control plane")
			case !s.batchNodes(st):
				c.NotApplicable("the stack has no nodes that reach a batch account")
			case state != propvalue.Known:
				c.Undecided(c.At("metadata.namespace"), "a namespace that is known")
			default:
				s.staysOff(c)
			}
		},
	}}
}

// tainted judges a pool by its subnet.
func (s *settings) tainted(st *policypack.Stack, c *policypack.Case) {
	id := c.At("vnetSubnetID")
	text, state := id.Text()
	name := text[strings.LastIndex(text, "/")+1:]
	if state == propvalue.Unknown {
		if behind := st.Behind(c.Resource, "vnetSubnetID", azure.Subnet); len(behind) == 1 {
			name, state = azure.NameOf(behind[0]).Text()
		}
	}
	expected := "a taint " + s.BatchTaint + " with NoSchedule, since the subnet reaches the batch account"
	taints := c.At("nodeTaints")
	items, listed := taints.Items()
	switch {
	case state == propvalue.Unknown || state == propvalue.Mistyped:
		c.Undecided(id, "a subnet that is known")
		return
	case !like(s.ControlPlaneSubnets, name):
		c.NotApplicable("the subnet does not reach a batch account")
		return
	case listed == propvalue.Unknown || listed == propvalue.Mistyped:
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
func (s *settings) staysOff(c *policypack.Case) {
	for _, pod := range kube.Pods(c.Resource) {
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
