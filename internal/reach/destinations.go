package reach

import (
	"slices"

	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
	"onedoor/internal/kube"
)

// destination is what is reached.
type destination struct {
	name      string
	place     string // as the table of flows calls it, "" for none
	namespace string // of the pods behind a door, "" for none
	port      string // that is asked about
	planned   bool
	// allowed are the only origins that may ever get there; nil where the table of
	// flows may name any.
	allowed func(origin) bool
	reach   func(o origin, port string) access
}

// access is how far an origin gets.
type access struct {
	named outcome  // by the way that its name leads
	any   decision // by any way
}

// destinations are the columns of the matrix.
func (m *Model) destinations() []destination {
	var out []destination
	models := map[string]bool{}
	for _, t := range m.targets {
		d := destination{name: t.name, place: t.place, port: t.port, planned: true, reach: func(o origin, port string) access { return m.target(o, t, port) }}
		switch t.place {
		case batchPlace:
			d.allowed = m.controlPlane
		case syncPlace:
			d.allowed = func(o origin) bool { return o.subnet != nil && o.subnet.role == netplan.Gateway }
		}
		models[t.place] = true
		out = append(out, d)
	}
	for _, place := range []string{batchPlace, syncPlace} {
		if !models[place] {
			out = append(out, destination{name: place, place: place, port: "443"})
		}
	}
	slices.SortStableFunc(out, func(a, b destination) int { return order(a) - order(b) })
	for _, d := range []struct{ name, namespace string }{{"control plane door", kube.Batch}, {edgeName, kube.Edge}} {
		out = append(out, m.doorsOf(d.name, d.namespace))
	}
	for _, d := range []struct{ name, port, caller string }{
		{"model servers", flows.ServingPort, kube.Edge},
		{"heads of Ray clusters", flows.RayPort, kube.KubeRay},
		{"control stores of Ray clusters", rayControlStore, ""},
		{"client servers of Ray clusters", rayClients, ""},
	} {
		out = append(out, destination{
			name: d.name, port: d.port, reach: m.pods(kube.Serving),
			planned: slices.Contains(m.cluster.spaces, kube.Serving) && len(m.backends(kube.Serving)) > 0,
			allowed: func(o origin) bool {
				return o.namespace != "" && (o.namespace == d.caller || o.namespace == kube.Serving) || m.hosts(o, kube.Serving)
			},
		})
	}
	return append(out,
		destination{name: "kubernetes api", port: "443", planned: m.cluster.planned, reach: m.apiServer},
		destination{name: "gateway", place: "gateway", port: "443", planned: m.gateway != nil, reach: m.toGateway},
		destination{name: "internet", port: "443", planned: true, reach: m.internet},
	)
}

// The names of the places and doors that are shut to all but one.
const (
	batchPlace = "batch account"
	syncPlace  = "model accounts"
	edgeName   = "serving edge"
)

// Ports of the head of a Ray cluster that its own parts alone use.
// https://docs.ray.io/en/latest/ray-core/configure.html#ports-configurations
const (
	rayControlStore = "6379"
	rayClients      = "10001" // whoever gets there runs what he likes
)

// order is where a service stands in the matrix: the models first.
func order(d destination) int {
	return slices.Index([]string{batchPlace, syncPlace, "blob", "table", "bus", "vaults", "registry"}, d.place)
}

// controlPlane tells whether the origin is the batch control plane, or a machine
// that it alone runs on.
func (m *Model) controlPlane(o origin) bool {
	if o.namespace != "" || o.subnet == nil {
		return o.namespace == kube.Batch
	}
	others := slices.ContainsFunc(m.cluster.pools, func(p pool) bool { return p.subnet == o.subnet.key && !p.runs(kube.Batch) })
	return !others && slices.Contains(m.backends(kube.Batch), o.subnet)
}

// target is whether the origin reaches a part of a service.
func (m *Model) target(o origin, t target, port string) access {
	public := always(m.public(o, t.tag, t.hosts, port).through(t.public))
	private, resolved := public, no
	for i, e := range m.endpointsOf(t) {
		way := always(decision{maybe, "an endpoint in a subnet outside the plan"})
		if sub := m.network.at(e.subnet); sub != nil {
			gate := sub.group
			if !sub.policies {
				gate = nil // Azure ignores it for endpoints
			}
			way = m.private(o, []span{spanOf(sub.prefix)}, sub, gate, port)
		}
		if i > 0 {
			way = widest(private, way)
		}
		private = way
		resolved = resolved.or(m.resolves(o, e, t.zone))
	}
	a := access{named: private, any: widest(private, public).some}
	switch resolved {
	case no:
		a.named = public
		switch {
		case public.some.verdict != no || o.subnet == nil && !o.peers:
		case private.some.verdict != no:
			a.named = always(decision{no, "its name does not lead to its endpoint"})
		default:
			a.named = private // what holds back the address holds back the name
		}
	case maybe:
		a.named = private.through(decision{maybe, "names are resolved outside the plan"})
	}
	return a
}

// endpointsOf are the endpoints of a part of a service.
func (m *Model) endpointsOf(t target) []endpoint {
	var out []endpoint
	for _, e := range m.endpoints {
		if e.target == t.key && slices.Contains(e.parts, t.part) {
			out = append(out, e)
		}
	}
	return out
}
