package reach

import (
	"net/netip"
	"slices"

	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
	"onedoor/internal/kube"
)

// doorsOf is the destination of the doors that the pods of namespace stand behind.
func (m *Model) doorsOf(name, namespace string) destination {
	d := destination{name: name, namespace: namespace, port: "443"}
	var found []door
	for _, door := range m.cluster.doors {
		if door.namespace == namespace {
			found = append(found, door)
		}
	}
	d.planned = len(found) > 0
	if namespace == kube.Edge {
		d.allowed = func(o origin) bool {
			return o.subnet != nil && (o.subnet.role == netplan.Gateway || o.subnet.role == netplan.Runner) || m.hosts(o, kube.Edge)
		}
	}
	d.reach = func(o origin, port string) access {
		var a access
		for i, door := range found {
			way := m.door(o, door, port)
			named := way.through(m.named(o, door.address))
			if i > 0 {
				way, named = widest(outcome{a.any, a.any}, way), widest(a.named, named)
			}
			a = access{named, way.some}
		}
		return a
	}
	return d
}

// door is whether the origin reaches pods behind a load balancer.
func (m *Model) door(o origin, d door, port string) outcome {
	i := slices.IndexFunc(d.ports, func(p doorPort) bool { return p.port == port })
	if i < 0 {
		return always(decision{no, d.name + " has no port " + port})
	}
	behind := d.ports[i].pod
	if o.namespace != "" {
		return always(m.podToPod(o, d.namespace, behind))
	}
	to := []span{}
	end := m.network.role(netplan.Doors)
	switch {
	case d.address.IsValid() && d.address.Is4():
		to = addressOf(d.address)
	case end != nil:
		to = []span{spanOf(end.prefix)}
	}
	out := always(decision{maybe, "no node runs it"})
	for n, backend := range m.backends(d.namespace) {
		way := m.toBackend(o, d, to, end, backend, port)
		if n == 0 {
			out = way
		} else {
			out = widest(out, way)
		}
	}
	return out.through(m.admitted(o, d, behind))
}

// toBackend is whether the origin gets to the nodes behind a load balancer, which
// see its address as the destination.
func (m *Model) toBackend(o origin, d door, to []span, end, backend *subnet, port string) outcome {
	if d.internal {
		return m.private(o, to, end, backend.group, port)
	}
	public := m.public(o, "", "", port)
	return pairs(callers(backend.group), []party{service()}, func(from, to party) decision {
		return public.through(backend.group.decide(packet{from, to, port, flows.TCP}, flows.Inbound))
	})
}

// admitted is what the pods behind a door say to a caller outside the cluster.
func (m *Model) admitted(o origin, d door, port string) decision {
	switch {
	case m.node(o):
		return m.cluster.decide(d.namespace, flows.Inbound, far{entity: "remote-node"}, port)
	case !d.keepSource && m.cluster.decide(d.namespace, flows.Inbound, far{entity: "remote-node"}, port).verdict == no:
		return decision{no, d.name + ": callers show the address of a node, which no policy lets in"}
	case !d.keepSource:
		return decision{maybe, d.name + ": callers show the address of a node"}
	case o.subnet == nil && !o.peers && len(d.sources) > 0 && !slices.ContainsFunc(d.sources, func(p netip.Prefix) bool { return !p.Addr().IsPrivate() }):
		return decision{no, d.name + ": loadBalancerSourceRanges"}
	case o.subnet == nil && !o.peers:
		return m.cluster.decide(d.namespace, flows.Inbound, far{internet: true}, port)
	}
	spans := outside(m.network.spaces)
	if o.subnet != nil {
		spans = []span{spanOf(o.subnet.prefix)}
	}
	best := decision{no, ""}
	for i, addr := range samples(spans, append(m.cluster.prefixes(), d.sources...)) {
		one := m.cluster.decide(d.namespace, flows.Inbound, far{addr: addr}, port)
		if len(d.sources) > 0 && !slices.ContainsFunc(d.sources, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			one = decision{no, d.name + ": loadBalancerSourceRanges"}
		}
		if i == 0 || one.verdict > best.verdict {
			best = one
		}
	}
	return best
}

// prefixes are all addresses that policies name.
func (c cluster) prefixes() []netip.Prefix {
	var out []netip.Prefix
	for _, p := range c.policies {
		for _, g := range append(slices.Clone(p.allows), p.denies...) {
			out = append(append(out, g.prefixes...), g.except...)
		}
	}
	return out
}

// hosts tells whether the origin is a node that runs pods of namespace: it always
// reaches them.
func (m *Model) hosts(o origin, namespace string) bool {
	return m.node(o) && slices.Contains(m.backends(namespace), o.subnet)
}

// podToPod is whether pods reach the pods of namespace inside the cluster.
func (m *Model) podToPod(o origin, namespace, port string) decision {
	d := decision{yes, ""}
	if o.namespace != "" {
		d = m.cluster.decide(o.namespace, flows.Outbound, far{namespace: namespace}, port)
		d = d.through(m.cluster.decide(namespace, flows.Inbound, far{namespace: o.namespace}, port))
	}
	between := decision{no, "no node runs it"}
	for _, backend := range m.backends(namespace) {
		p := packet{inside(m.cluster.pods.Addr()), inside(m.cluster.pods.Addr()), port, flows.TCP}
		way := o.subnet.group.decide(p, flows.Outbound).through(backend.group.decide(p, flows.Inbound))
		if way.verdict >= between.verdict {
			between = way
		}
	}
	return d.through(between)
}

// pods is whether origins reach the pods of namespace.
func (m *Model) pods(namespace string) func(origin, string) access {
	return func(o origin, port string) access {
		d := decision{no, "pods have addresses that only nodes route"}
		switch {
		case o.namespace != "":
			d = m.podToPod(o, namespace, port)
		case m.node(o):
			d = m.cluster.decide(namespace, flows.Inbound, far{entity: "remote-node"}, port)
		}
		return access{always(d), d}
	}
}
