package kube

import (
	"slices"
	"strconv"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

// Opening is one rule of a network policy that lets connections in.
type Opening struct {
	propvalue.Value
	From   []string // namespaces; that of the policy itself where a peer names none
	Others bool     // from others too: addresses, every namespace, some by their labels
	All    bool     // to every port
	Ports  []Range  // unless All
	Named  []string // ports that have but a name
}

// Range is ports from First to Last.
type Range struct{ First, Last int }

// Openings are the rules by which a policy lets connections in; unknown are the
// parts that are not known, and that could be such a rule.
func Openings(r *policypack.Resource) (out []Opening, unknown []propvalue.Value) {
	list := r.Get("spec", "ingress")
	rules, state := list.Items()
	if state == propvalue.Unknown || state == propvalue.Mistyped {
		return nil, []propvalue.Value{list}
	}
	space, _ := NamespaceOf(r)
	if r.Type == CiliumClusterwide {
		space = "" // it is of no namespace
	}
	for _, rule := range rules {
		read := kubernetesOpening
		if r.Type == CiliumPolicy || r.Type == CiliumClusterwide {
			read = ciliumOpening
		}
		o, part, known := read(rule, space)
		if !known {
			unknown = append(unknown, part)
			continue
		}
		out = append(out, o)
	}
	return out, unknown
}

// ownNamespace is the label that Kubernetes itself puts on a namespace, with its
// name.
const ownNamespace = "kubernetes.io/metadata.name"

func kubernetesOpening(rule propvalue.Value, space string) (o Opening, unknown propvalue.Value, known bool) {
	o = Opening{Value: rule}
	if part, is := rule.Unknown(); is {
		return o, part, false
	}
	from, _ := rule.At("from").Items()
	o.Others = len(from) == 0
	for _, peer := range from {
		selector := peer.At("namespaceSelector")
		name, named := selector.At("matchLabels", ownNamespace).Text()
		switch {
		case peer.At("ipBlock").State() != propvalue.Absent:
			o.Others = true
		case selector.State() == propvalue.Absent && peer.At("podSelector").State() != propvalue.Absent:
			o.From = append(o.From, space)
		case named == propvalue.Known:
			o.From = append(o.From, name)
		default:
			o.Others = true
		}
	}
	ports, _ := rule.At("ports").Items()
	o.All = len(ports) == 0
	for _, port := range ports {
		first := port.At("port")
		last := port.At("endPort")
		if last.State() == propvalue.Absent {
			last = first
		}
		o.add(first, last)
	}
	return o, rule, true
}

// ciliumOthers are the peers of Cilium that are no pods of a namespace.
var ciliumOthers = []string{"fromCIDR", "fromCIDRSet", "fromEntities", "fromNodes", "fromGroups", "fromRequires"}

// ciliumOpening reads a rule of Cilium. Its endpoints are of the policy's own
// namespace unless a label names another.
// https://docs.cilium.io/en/stable/network/kubernetes/policy/
func ciliumOpening(rule propvalue.Value, space string) (o Opening, unknown propvalue.Value, known bool) {
	o = Opening{Value: rule}
	if part, is := rule.Unknown(); is {
		return o, part, false
	}
	endpoints, _ := rule.At("fromEndpoints").Items()
	o.Others = len(endpoints) == 0 || slices.ContainsFunc(ciliumOthers, func(key string) bool { return rule.At(key).State() != propvalue.Absent })
	for _, endpoint := range endpoints {
		from := space
		for _, label := range []string{"k8s:io.kubernetes.pod.namespace", "io.kubernetes.pod.namespace"} {
			if name, state := endpoint.At("matchLabels", label).Text(); state != propvalue.Absent {
				from = name
			}
		}
		o.Others = o.Others || from == "" || endpoint.At("matchExpressions").State() != propvalue.Absent
		o.From = append(o.From, from)
	}
	lists, _ := rule.At("toPorts").Items()
	o.All = len(lists) == 0
	for _, list := range lists {
		ports, _ := list.At("ports").Items()
		o.All = o.All || len(ports) == 0
		for _, port := range ports {
			last := port.At("endPort")
			if last.State() == propvalue.Absent {
				last = port.At("port")
			}
			o.add(port.At("port"), last)
		}
	}
	return o, rule, true
}

// add adds ports, as numbers or as texts, or the name of one.
func (o *Opening) add(first, last propvalue.Value) {
	from, isNumber := number(first)
	to, _ := number(last)
	if name, state := first.Text(); state == propvalue.Known && !isNumber {
		o.Named = append(o.Named, name)
		return
	}
	if !isNumber || from == 0 { // no port, or port 0: every one
		o.All = true
		return
	}
	o.Ports = append(o.Ports, Range{from, max(from, to)})
}

func number(v propvalue.Value) (int, bool) {
	if n, state := v.Number(); state == propvalue.Known {
		return int(n), true
	}
	text, _ := v.Text()
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// Reaches tells whether the opening leads to the port, or may do so by a name.
func (o Opening) Reaches(port int) bool {
	return o.All || len(o.Named) > 0 || slices.ContainsFunc(o.Ports, func(r Range) bool { return r.First <= port && port <= r.Last })
}
