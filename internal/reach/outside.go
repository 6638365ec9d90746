package reach

import (
	"strings"

	"onedoor/internal/az/flows"
)

// apiServer is whether the origin reaches the Kubernetes API. A private one has
// its endpoint in the subnet of the first pool.
func (m *Model) apiServer(o origin, port string) access {
	if !m.cluster.private {
		d := m.public(o, "", "", port)
		if len(m.cluster.ranges) > 0 {
			d = d.through(decision{maybe, "authorizedIPRanges"})
		}
		if o.namespace != "" && d.verdict != yes {
			if by := m.cluster.decide(o.namespace, flows.Outbound, far{entity: flows.APIServer}, port); by.verdict == yes {
				d = by.through(m.public(origin{subnet: o.subnet}, "", "", port))
			}
		}
		return access{always(d), d}
	}
	out := always(decision{maybe, "its subnet is outside the plan"})
	for _, p := range m.cluster.pools {
		sub := m.network.at(p.subnet)
		if !p.system || sub == nil {
			continue
		}
		gate := sub.group
		if !sub.policies {
			gate = nil
		}
		out = m.private(origin{name: o.name, subnet: o.subnet, peers: o.peers}, []span{spanOf(sub.prefix)}, sub, gate, port)
		break
	}
	if o.namespace != "" {
		out = out.through(m.cluster.decide(o.namespace, flows.Outbound, far{entity: flows.APIServer}, port))
	}
	a := access{named: out, any: out.some}
	if o.peers && m.cluster.zone != "" {
		linked := no
		for _, vnet := range m.network.peers {
			linked = linked.or(m.network.linked(m.cluster.zone, vnet))
		}
		a.named = out.through(decision{linked, "its name does not lead to its endpoint"})
	}
	return a
}

// internet is whether the origin reaches any address outside. Pods that may reach
// some names alone get there in part.
func (m *Model) internet(o origin, port string) access {
	if o.subnet == nil {
		d := decision{yes, "not through this network"}
		return access{always(d), d}
	}
	d := m.public(o, "", "", port)
	out := always(d)
	if o.namespace != "" && d.verdict == no {
		if host := m.cluster.anyHost(o.namespace, port); host != "" {
			out.some = m.public(o, "", host, port)
		}
	}
	return access{out, out.some}
}

// anyHost is a name on the internet that the pods of namespace may reach.
func (c cluster) anyHost(namespace, port string) string {
	for _, p := range c.policies {
		if p.direction != flows.Outbound || p.namespace != namespace && p.namespace != "" {
			continue
		}
		for _, g := range p.allows {
			if len(g.hosts) > 0 && (len(g.ports) == 0 || inPorts(g.ports, port)) {
				return strings.ReplaceAll(g.hosts[0], "*", "x")
			}
		}
	}
	return ""
}
