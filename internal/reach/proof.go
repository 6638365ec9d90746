package reach

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
)

// Finding is one way in which a plan is not what it must be.
type Finding struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"` // who, to what, what decides, and what is wanted
}

// Kind is what a finding is about.
type Kind string

// The kinds.
const (
	Missing  Kind = "missing"  // a flow that the platform needs does not connect
	Bypass   Kind = "bypass"   // a way to a model that is no door, or that cannot be shown to be shut
	Exposed  Kind = "exposed"  // something is open because nothing closes it
	Unproven Kind = "unproven" // a flow that the platform needs, of which the plan cannot tell
)

// Fails tells whether a finding makes the plan wrong, and not only unsure.
func (f Finding) Fails() bool { return f.Kind != Unproven }

// Proof is everything that is to be found about a plan, the worst first.
func (m *Model) Proof(rows []flows.Flow) []Finding {
	out := slices.Concat(m.Bypasses(), m.Exposed(), m.Required(rows))
	if out == nil {
		return []Finding{}
	}
	return out
}

// Bypasses are the ways to a model that lead through no door: to the batch account
// from anybody but the control plane, to a synchronous account from anybody but the
// gateway, to the serving edge from anybody but the gateway and the live checks, to
// model servers from anybody but the edge, and to Ray's own ports from anybody but
// its operator.
func (m *Model) Bypasses() []Finding {
	var out []Finding
	origins := append(m.workloads(), m.machines()...)
	for _, d := range m.destinations() {
		if d.allowed == nil || !d.planned {
			continue
		}
		for _, o := range origins {
			if d.allowed(o) {
				continue
			}
			if c := d.cell(o); c.State != Closed {
				out = append(out, Finding{Bypass, fmt.Sprintf("%s to %s on %s is %s (%s), want it closed", o.name, d.name, d.port, c.State, c.By)})
			}
		}
	}
	for _, t := range m.targets {
		if t.internal && t.trusted.verdict != no {
			out = append(out, Finding{Bypass, fmt.Sprintf("services of Azure to %s: %s, want properties.networkAcls.bypass None", t.name, t.trusted.by)})
		}
	}
	return out
}

// Exposed are the subnets and namespaces that nothing closes by default: what no
// flow allows must be denied by a rule of ours, since Azure's own let the network
// and its peers in, and by a policy, since pods without one talk to anybody.
func (m *Model) Exposed() []Finding {
	var out []Finding
	stranger := party{tags: []string{virtualNetwork}} // an address that no rule names
	for _, sub := range m.network.subnets {
		for _, direction := range []flows.Direction{flows.Inbound, flows.Outbound} {
			p := packet{stranger, inside(sub.prefix.Addr().Next()), unlisted, flows.TCP}
			if direction == flows.Outbound {
				p.from, p.to = p.to, stranger
			}
			if d := sub.group.decide(p, direction); d.verdict != no {
				out = append(out, Finding{Exposed, fmt.Sprintf("subnet %s: %s opens it to the whole network and its peers, %s; want a rule that denies what no flow allows", sub.role, d.by, direction)})
			}
		}
		if sub.role.IsEndpoints() && !sub.policies {
			out = append(out, Finding{Exposed, fmt.Sprintf("subnet %s: privateEndpointNetworkPolicies is off, so its security group holds back nobody; want Enabled", sub.role)})
		}
	}
	for _, namespace := range m.cluster.spaces {
		for _, direction := range []flows.Direction{flows.Inbound, flows.Outbound} {
			if !m.cluster.closed(namespace, direction) {
				out = append(out, Finding{Exposed, fmt.Sprintf("namespace %s: no policy denies every pod what no other policy allows, %s", namespace, direction)})
			}
		}
	}
	return out
}

// unlisted is a port that no flow is about.
const unlisted = "1"

// Required are the flows of rows that do not connect: at either end in the
// security groups, and all the way where the far end is one of the matrix.
func (m *Model) Required(rows []flows.Flow) []Finding {
	var out []Finding
	site := m.Site()
	for _, f := range rows {
		if f.When != nil && !f.When(site) {
			continue
		}
		add := func(end, port string, d decision) {
			kind := Missing
			switch d.verdict {
			case yes:
				return
			case maybe:
				kind = Unproven
			}
			out = append(out, Finding{kind, fmt.Sprintf("flow %d, %s to %s (%s): %s, port %s: held back by %s", f.Number, f.From, f.To, f.Why, end, port, d.by)})
		}
		for _, port := range f.Ports.Numbers {
			port = anyOf(port)
			m.groups(f, site, port, add)
			m.all(f, port, add)
			m.inCluster(f, site, port, add)
		}
	}
	return out
}

// anyOf is one port of what a row says.
func anyOf(ports string) string {
	first, _, _ := strings.Cut(ports, "-")
	if first == "*" {
		return unlisted
	}
	return first
}

// groups asks the security groups at both ends of a flow.
func (m *Model) groups(f flows.Flow, site flows.Site, port string, add func(end, port string, d decision)) {
	protocol := f.Ports.Protocol
	for _, sub := range m.network.subnets {
		if f.From.Holds(sub.role) {
			to, known := m.farParties(f.To, site, sub.group)
			if known {
				own := m.parties(f.From.Own(site, sub.role), sub.group)
				d := pairs(own, to, func(from, to party) decision {
					return sub.group.decide(packet{from, to, port, protocol}, flows.Outbound)
				})
				add("out of "+string(sub.role), port, pick(f.To, d))
				if onTheInternet(to) {
					add("out of "+string(sub.role), port, sub.out())
				}
			}
		}
		if f.To.Holds(sub.role) && (sub.policies || !sub.role.IsEndpoints()) {
			from, known := m.farParties(f.From, site, sub.group)
			if known {
				own := m.parties(f.To.Own(site, sub.role), sub.group)
				d := pairs(from, own, func(from, to party) decision {
					return sub.group.decide(packet{from, to, port, protocol}, flows.Inbound)
				})
				add("into "+string(sub.role), port, pick(f.From, d))
			}
		}
	}
}

// pick is what must hold for a flow: all of it, but for peers, whose addresses are
// no part of a plan, some of it.
func pick(far flows.Place, o outcome) decision {
	if far.String() == fromPeers.name {
		return o.some
	}
	return o.every
}

func onTheInternet(to []party) bool {
	return len(to) > 0 && slices.Contains(to[0].tags, internetTag)
}

// farParties are the parties at the far end of a flow; known is false where
// security groups have no say.
func (m *Model) farParties(p flows.Place, site flows.Site, g *securityGroup) (all []party, known bool) {
	if p.String() == fromPeers.name {
		if m.network.ours && len(m.network.peers) == 0 {
			return nil, false
		}
		return parties(outside(m.network.spaces), g), true
	}
	for _, text := range p.Prefixes(site) {
		_, isPrefix := ipv4(text)
		switch {
		case isPrefix:
			all = append(all, m.parties([]string{text}, g)...)
		case text == loadBalancerTag:
			all = append(all, party{tags: []string{text}})
		case text == internetTag:
			all = append(all, service())
		default:
			all = append(all, service(text))
		}
	}
	return all, len(all) > 0
}

// parties are one of each kind of address in the prefixes, as the group tells them
// apart.
func (m *Model) parties(prefixes []string, g *securityGroup) []party {
	var spans []span
	for _, text := range prefixes {
		if p, ok := ipv4(text); ok {
			spans = append(spans, spanOf(p))
		}
	}
	return parties(spans, g)
}

// all asks whether a flow to a destination of the matrix connects all the way.
func (m *Model) all(f flows.Flow, port string, add func(end, port string, d decision)) {
	if f.Ports.Protocol == flows.UDP || f.From.String() == f.To.String() {
		return // among themselves
	}
	for _, d := range m.destinations() {
		place := d.place != "" && d.place == f.To.String()
		behind := d.namespace != "" && f.To.Holds(netplan.Doors) && slices.Contains(f.To.Namespaces(), d.namespace)
		if !place && !behind || !d.planned || d.port != port {
			continue
		}
		for _, o := range m.originsOf(f.From) {
			a := d.reach(o, port)
			decided := a.named.every
			if o.peers || o.subnet == nil {
				decided = a.named.some
			}
			add(o.name+" to "+d.name, port, decided)
		}
	}
}

// originsOf are the origins that a place stands for.
func (m *Model) originsOf(p flows.Place) []origin {
	var out []origin
	for _, o := range append(m.workloads(), m.machines()...) {
		switch {
		case o.namespace != "":
			if slices.Contains(p.Namespaces(), o.namespace) && p.Runs(o.subnet.role) {
				out = append(out, o)
			}
		case o.subnet != nil:
			if p.Holds(o.subnet.role) && len(p.Namespaces()) == 0 {
				out = append(out, o)
			}
		case o.peers:
			if p.String() == fromPeers.name && (!m.network.ours || len(m.network.peers) > 0) {
				out = append(out, o)
			}
		default:
			if p.String() == internetTag {
				out = append(out, o)
			}
		}
	}
	return out
}

// inCluster asks the policies of the cluster about a flow between pods, to the
// internet, or to what only the cluster has a word for.
func (m *Model) inCluster(f flows.Flow, site flows.Site, port string, add func(end, port string, d decision)) {
	if !m.cluster.planned {
		return
	}
	behindADoor := f.To.Holds(netplan.Doors)
	for _, from := range f.From.Namespaces() {
		ask := func(to string, other far) {
			add("pods of "+from+" to "+to, port, m.cluster.decide(from, flows.Outbound, other, port))
		}
		for _, host := range f.To.Hosts(site) {
			ask(host, far{internet: true, host: strings.ReplaceAll(host, "*", "x")})
		}
		if entity := f.To.Entity(); entity != "" {
			ask(string(entity), far{entity: entity})
		}
		for _, tag := range f.To.Prefixes(site) {
			if _, err := netip.ParsePrefix(tag); err != nil {
				ask(tag, far{internet: true})
			}
		}
		for _, to := range f.To.Namespaces() {
			port := port
			if behindADoor {
				port = flows.DoorPort
			}
			add("pods of "+from+" to pods of "+to, port, m.cluster.decide(from, flows.Outbound, far{namespace: to}, port).
				through(m.cluster.decide(to, flows.Inbound, far{namespace: from}, port)))
		}
	}
}
