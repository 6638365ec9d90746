package rules

import (
	"slices"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
	"onedoor/policies/internal/kube"
)

// namespaces are the rules of the network between pods.
func namespaces() []policypack.Rule {
	return []policypack.Rule{{
		ID: "NET-02", Severity: policypack.High,
		Title:     "Every namespace denies what no network policy allows, and no policy allows everything",
		Rationale: "Without a policy that selects a pod everybody reaches it, and it reaches everybody.",
		Remedy:    "Declare a NetworkPolicy with an empty podSelector, both policyTypes and no rules in the namespace; name peers or ports in rules that allow.",
		Controls:  []string{"MCSB NS-1", "CIS AKS 5.4.4"},
		Sources:   []string{"https://kubernetes.io/docs/concepts/services-networking/network-policies/#default-deny-all-ingress-and-all-egress-traffic"},
		Types:     []string{kube.Namespace, kube.NetworkPolicy, kube.CiliumPolicy, kube.CiliumClusterwide},
		Stack: func(st *policypack.Stack, c *policypack.Case) {
			if c.Type == kube.Namespace {
				deniedByDefault(st, c)
				return
			}
			for _, direction := range []string{"ingress", "egress"} {
				namesPeers(c, direction)
			}
		},
	}}
}

// deniedByDefault judges a namespace.
func deniedByDefault(st *policypack.Stack, c *policypack.Case) {
	own, state := kube.NameOf(c.Resource)
	if state != propvalue.Known {
		c.Undecided(c.At("metadata.name"), "a name that is known")
		return
	}
	bySpace := st.By("namespace", kube.NetworkPolicy, func(policy *policypack.Resource) string {
		space, _ := kube.NamespaceOf(policy)
		return space // "" where it is not known
	})
	unclear := len(bySpace[""]) > 0
	denied := map[string]bool{}
	for _, policy := range bySpace[own] {
		spec := policy.Get("spec")
		if _, unknown := spec.Unknown(); unknown {
			unclear = true
			continue
		}
		for _, direction := range directions(spec) {
			denied[direction] = true
		}
	}
	for _, direction := range []string{"Ingress", "Egress"} {
		switch {
		case denied[direction]:
			c.Saw(c.At("metadata.name"), "a policy that denies by default")
		case unclear:
			c.Undecidedf("metadata.name", "a policy that denies by default", "a network policy of the stack is not known")
		default:
			c.Failf("metadata.name", c.At("metadata.name").Shown()+" without a policy that selects every pod and allows no "+direction, "one")
		}
	}
}

// directions are those that a policy denies to every pod.
func directions(spec propvalue.Value) (out []string) {
	for range spec.At("podSelector").Members() {
		return nil // it selects some pods alone
	}
	if spec.At("podSelector").State() == propvalue.Absent {
		return nil
	}
	types, _ := spec.At("policyTypes").Items()
	for _, typ := range types {
		direction, _ := typ.Text()
		rules, _ := spec.At(map[string]string{"Ingress": "ingress", "Egress": "egress"}[direction]).Items()
		if len(rules) == 0 {
			out = append(out, direction)
		}
	}
	return out
}

// everyone are Cilium's names for everybody.
var everyone = []string{"all", "world", "world-ipv4", "world-ipv6"}

// namesPeers judges the rules of a policy in one direction.
func namesPeers(c *policypack.Case, direction string) {
	list := c.Get("spec", direction)
	rules, state := list.Items()
	const expected = "peers or ports that are named"
	if unsure(state) {
		c.Undecided(list, expected)
	}
	side := map[string]string{"ingress": "from", "egress": "to"}[direction]
	for _, rule := range rules {
		if part, unknown := rule.Unknown(); unknown {
			c.Undecided(part, expected)
			continue
		}
		ports, _ := rule.At("ports").Items()
		more, _ := rule.At("toPorts").Items()
		if len(ports)+len(more) == 0 && allPeers(rule, side) {
			c.Fail(rule, expected)
		}
	}
}

// allPeers tells whether a rule is for everybody: it names none, or everybody.
func allPeers(rule propvalue.Value, side string) bool {
	named := false
	for key, member := range rule.Members() {
		if len(key) < len(side) || key[:len(side)] != side || key == "toPorts" {
			continue
		}
		items, _ := member.Items()
		named = named || len(items) > 0
		if slices.ContainsFunc(items, func(peer propvalue.Value) bool {
			text, _ := peer.Text()
			cidr, _ := peer.At("cidr").Text()
			block, _ := peer.At("ipBlock", "cidr").Text()
			return slices.Contains(everyone, text) || azure.Everybody([]string{text, cidr, block})
		}) {
			return true
		}
	}
	return !named
}
