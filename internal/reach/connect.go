package reach

import (
	"net/netip"
	"slices"
	"strings"

	"onedoor/internal/az/flows"
)

// outcome is what holds between two sets of addresses.
type outcome struct {
	some  decision // for the pair that gets furthest
	every decision // for the pair that gets least far
}

func always(d decision) outcome { return outcome{d, d} }

// widest is the outcome of several ways, any of which will do.
func widest(a, b outcome) outcome {
	if b.some.verdict > a.some.verdict {
		a.some = b.some
	}
	if b.every.verdict > a.every.verdict {
		a.every = b.every
	}
	return a
}

// through is the outcome with one more gate, the same for all pairs.
func (o outcome) through(d decision) outcome {
	return outcome{o.some.through(d), o.every.through(d)}
}

// pairs asks about every pair of parties.
func pairs(from, to []party, decide func(from, to party) decision) outcome {
	var out outcome
	first := true
	for _, a := range from {
		for _, b := range to {
			d := decide(a, b)
			if first || d.verdict > out.some.verdict {
				out.some = d
			}
			if first || d.verdict < out.every.verdict {
				out.every = d
			}
			first = false
		}
	}
	if first {
		return always(decision{maybe, "no address is known"})
	}
	return out
}

// parties are one of each kind of address in the spans, as the rules of the groups
// tell them apart.
func parties(spans []span, groups ...*securityGroup) []party {
	var prefixes []netip.Prefix
	for _, g := range groups {
		if g != nil {
			prefixes = append(prefixes, g.named...)
		}
	}
	var out []party
	for _, addr := range samples(spans, prefixes) {
		out = append(out, inside(addr))
	}
	return out
}

// private is whether the origin opens connections to addresses of the network. end
// is the subnet of the addresses, gate the security group that holds there.
func (m *Model) private(o origin, to []span, end *subnet, gate *securityGroup, port string) outcome {
	switch {
	case o.subnet == nil && !o.peers:
		return always(decision{no, "private addresses are not on the internet"})
	case o.peers && m.network.ours && len(m.network.peers) == 0:
		return always(decision{no, "no peering"})
	}
	var leaving *securityGroup
	sources := outside(m.network.spaces)
	if o.subnet != nil {
		leaving, sources = o.subnet.group, []span{spanOf(o.subnet.prefix)}
	}
	out := pairs(parties(sources, leaving, gate), parties(to, leaving, gate), func(from, to party) decision {
		p := packet{from, to, port, flows.TCP}
		d := gate.decide(p, flows.Inbound)
		if o.subnet != nil {
			d = leaving.decide(p, flows.Outbound).through(o.subnet.routed(to.addr, end)).through(d)
		}
		if o.namespace != "" {
			d = m.cluster.decide(o.namespace, flows.Outbound, far{addr: to.addr}, port).through(d)
		}
		return d
	})
	if o.peers && !m.network.ours {
		return out.through(decision{maybe, "peers of a network that others own"})
	}
	return out
}

// public is whether the origin opens connections to a service on the internet that
// belongs to tag, "" for none, and is found by a name that ends in host.
func (m *Model) public(o origin, tag, host, port string) decision {
	if o.subnet == nil {
		return decision{yes, ""} // their own affair
	}
	tags := []string{}
	if tag != "" {
		tags = append(tags, tag+"."+m.network.location, azureCloud+"."+m.network.location)
	}
	out := pairs(parties([]span{spanOf(o.subnet.prefix)}, o.subnet.group), []party{service(tags...)}, func(from, to party) decision {
		return o.subnet.group.decide(packet{from, to, port, flows.TCP}, flows.Outbound)
	}).some.through(o.subnet.out())
	if o.namespace != "" {
		out = m.cluster.decide(o.namespace, flows.Outbound, far{internet: true, host: host}, port).through(out)
	}
	return out
}

// callers are the parties on the internet that the rules of a group tell apart:
// strangers, and each service tag and public prefix that they name.
func callers(g *securityGroup) []party {
	out := []party{service()}
	if g == nil {
		return out
	}
	for _, tag := range g.tags {
		if tag != virtualNetwork && tag != internetTag && tag != loadBalancerTag {
			out = append(out, service(tag))
		}
	}
	for _, p := range g.named {
		if !p.Addr().IsPrivate() && p.Bits() > 0 {
			out = append(out, party{p.Addr(), []string{internetTag}})
		}
	}
	return out
}

// resolves tells whether the names of a part of a service lead the origin to the
// endpoint. zones are those that the endpoint is registered in.
func (m *Model) resolves(o origin, e endpoint, zone string) verdict {
	if o.subnet == nil && !o.peers {
		return no
	}
	best := no
	for _, vnet := range m.vnets(o) {
		if !e.listed {
			// Where the plan has the zone, nobody else registers the endpoint.
			for have := range m.network.zones {
				if zoneName(have) == zone {
					return no
				}
			}
			best = best.or(maybe)
			continue
		}
		for _, registered := range e.zones {
			if zoneName(registered) == zone {
				best = best.or(m.network.linked(registered, vnet))
			}
		}
	}
	if len(m.network.servers) > 0 && !o.peers {
		return best.and(maybe) // the network's own servers may answer anything
	}
	return best
}

// zoneName is the name in the key of a zone.
func zoneName(key string) string { return key[strings.LastIndex(key, "/")+1:] }

// addressOf is the span of one address.
func addressOf(a netip.Addr) []span { return []span{{number(a), number(a)}} }

// backends are the subnets of the nodes that run the pods of namespace.
func (m *Model) backends(namespace string) []*subnet {
	var out []*subnet
	for _, p := range m.cluster.pools {
		if sub := m.network.at(p.subnet); p.runs(namespace) && sub != nil && !slices.Contains(out, sub) {
			out = append(out, sub)
		}
	}
	return out
}
