package reach

import (
	"net/netip"
	"slices"
	"strings"

	"onedoor/internal/az"
	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
)

// network is the virtual network of a plan with what stands in it.
type network struct {
	key      string         // of the virtual network that the subnets are in
	ours     bool           // declared here, so its ranges and peers are known
	spaces   []netip.Prefix // of a network that is ours; else those of the subnets
	servers  []netip.Addr   // DNS servers of its own
	peers    []string       // keys of peered networks
	subnets  []*subnet      // sorted by key
	links    map[string][]string
	zones    map[string]bool     // keys of zones declared here
	records  map[string][]string // keys of zones with a name for an address, by address
	location string
	tags     map[string]string
}

// subnet is one subnet.
type subnet struct {
	key      string
	role     netplan.Role // by its logical name; "" where that says nothing
	prefix   netip.Prefix
	group    *securityGroup
	policies bool // the group holds for private endpoints too
	way      decision
	routes   []route
	service  string // that Azure runs in it, which brings a way out; "" for none
}

// route is a route of the user's.
type route struct {
	name   string
	prefix netip.Prefix
	hop    string
}

// readNetwork reads everything that decides where packets can go. Of several
// virtual networks it takes the one that the subnets are in.
func readNetwork(resources []Resource) *network {
	n := &network{links: map[string][]string{}, zones: map[string]bool{}, records: map[string][]string{}}
	groups, routes := map[string]*securityGroup{}, map[string][]route{}
	for _, r := range resources {
		group := r.in("resourceGroupName").text()
		switch r.kind() {
		case "network:NetworkSecurityGroup":
			g := readGroup(r)
			groups[key(group, "networkSecurityGroups", g.name)] = &g
		case "network:RouteTable":
			for _, item := range r.in("routes").list() {
				if p, err := netip.ParsePrefix(item.at("addressPrefix").text()); err == nil {
					at := key(group, "routeTables", r.in("routeTableName").text())
					routes[at] = append(routes[at], route{item.at("name").text(), p, item.at("nextHopType").text()})
				}
			}
		case "network:PrivateZone":
			n.zones[key(group, "privateDnsZones", r.in("privateZoneName").text())] = true
		case "network:PrivateRecordSet":
			for _, a := range r.in("aRecords").list() {
				at := a.at("ipv4Address").text()
				n.records[at] = append(n.records[at], key(group, "privateDnsZones", r.in("privateZoneName").text()))
			}
		case "network:VirtualNetworkLink":
			zone := key(group, "privateDnsZones", r.in("privateZoneName").text())
			n.links[zone] = append(n.links[zone], keyOf(r.in("virtualNetwork", "id").text()))
		}
	}
	for _, r := range resources {
		if r.kind() == "network:Subnet" {
			if s, ok := readSubnet(r, groups, routes); ok {
				n.subnets = append(n.subnets, s)
				n.key = key(r.in("resourceGroupName").text(), "virtualNetworks", r.in("virtualNetworkName").text())
				n.spaces = append(n.spaces, s.prefix)
			}
		}
	}
	slices.SortFunc(n.subnets, func(a, b *subnet) int { return strings.Compare(a.key, b.key) })
	ours := false // the network itself is planned
	for _, r := range resources {
		at := key(r.in("resourceGroupName").text(), "virtualNetworks", r.in("virtualNetworkName").text())
		if at != n.key {
			continue
		}
		switch r.kind() {
		case "network:VirtualNetwork":
			ours = true
			n.own(r)
		case "network:VirtualNetworkPeering":
			if r.in("allowVirtualNetworkAccess").state(true) != no {
				n.peers = append(n.peers, keyOf(r.in("remoteVirtualNetwork", "id").text()))
			}
		}
	}
	if !ours && len(n.peers) == 0 { // others peer a network of theirs; the plan knows those that its zones are linked to
		n.peers = n.linkedToo()
	}
	return n
}

// linkedToo are the keys of the networks, besides the platform's own, that the
// zones of the plan are linked to.
func (n *network) linkedToo() []string {
	var out []string
	for _, vnets := range n.links {
		for _, vnet := range vnets {
			if vnet != n.key {
				out = append(out, vnet)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// own takes over what a declared network says.
func (n *network) own(r Resource) {
	n.ours, n.spaces = true, nil
	n.location, n.tags = r.in("location").text(), r.in("tags").labels()
	spaces, _ := r.in("addressSpace", "addressPrefixes").texts()
	for _, text := range spaces {
		if p, err := netip.ParsePrefix(text); err == nil {
			n.spaces = append(n.spaces, p)
		}
	}
	servers, _ := r.in("dhcpOptions", "dnsServers").texts()
	for _, text := range servers {
		if a, err := netip.ParseAddr(text); err == nil {
			n.servers = append(n.servers, a)
		}
	}
}

func readSubnet(r Resource, groups map[string]*securityGroup, routes map[string][]route) (*subnet, bool) {
	prefix, err := netip.ParsePrefix(r.in("addressPrefix").text())
	if err != nil || !prefix.Addr().Is4() {
		return nil, false
	}
	s := &subnet{
		key:    key(r.in("resourceGroupName").text(), "subnets", r.in("virtualNetworkName").text(), r.in("subnetName").text()),
		role:   roleOf(r.name()),
		prefix: prefix,
		routes: routes[keyOf(r.in("routeTable", "id").text())],
	}
	for _, delegation := range r.in("delegations").list() {
		s.service = delegation.at("serviceName").text()
	}
	switch r.in("privateEndpointNetworkPolicies").text() {
	case "Enabled", "NetworkSecurityGroupEnabled":
		s.policies = true
	}
	if id := r.in("networkSecurityGroup", "id"); !id.absent() {
		s.group = groups[keyOf(id.text())]
		if s.group == nil { // somebody else's, or not known
			g := readGroup(Resource{Inputs: map[string]any{"networkSecurityGroupName": "a group outside the plan", "securityRules": unknown}})
			s.group = &g
		}
	}
	switch {
	case !r.in("natGateway", "id").absent():
		s.way = decision{yes, "NAT gateway"}
	case r.in("defaultOutboundAccess").state(true) != no:
		s.way = decision{r.in("defaultOutboundAccess").state(true), "Azure's default outbound access"}
	default:
		s.way = decision{no, "no way out"}
	}
	return s, true
}

// roleOf is the role that the network component writes at the end of the logical
// name of a subnet.
func roleOf(name string) netplan.Role {
	_, role, _ := strings.Cut(name, "-")
	return netplan.Role(role)
}

// at is the subnet of a key, nil for one that is not of the plan.
func (n *network) at(key string) *subnet {
	i := slices.IndexFunc(n.subnets, func(s *subnet) bool { return s.key == key })
	if i < 0 {
		return nil
	}
	return n.subnets[i]
}

// role is the subnet of a role, nil for none.
func (n *network) role(role netplan.Role) *subnet {
	i := slices.IndexFunc(n.subnets, func(s *subnet) bool { return s.role == role })
	if i < 0 {
		return nil
	}
	return n.subnets[i]
}

// routed tells whether the routes of the subnet let a packet to addr, which is
// invalid for the internet, go where Azure would send it.
func (s *subnet) routed(addr netip.Addr, endpoint *subnet) decision {
	var best *route
	for i, r := range s.routes {
		meets := r.prefix.Bits() == 0 && !addr.IsValid() || addr.IsValid() && r.prefix.Bits() > 0 && r.prefix.Contains(addr)
		if meets && (best == nil || r.prefix.Bits() > best.prefix.Bits()) {
			best = &s.routes[i]
		}
	}
	switch {
	case best == nil || endpoint != nil && !endpoint.policies: // the endpoint's own /32 route wins
		return decision{yes, ""}
	case best.hop == "None":
		return decision{no, "route " + best.name}
	case best.hop == "VirtualAppliance" || best.hop == "VirtualNetworkGateway":
		return decision{maybe, "route " + best.name + " through something outside the plan"}
	default:
		return decision{yes, ""}
	}
}

// out is whether the subnet reaches the internet once its group agrees.
func (s *subnet) out() decision {
	routed := s.routed(netip.Addr{}, nil)
	if routed.verdict != yes || s.service != "" || s.role == netplan.Gateway || s.way.verdict == yes {
		return routed // that there is a way goes without saying
	}
	return s.way
}

// linked tells whether names of the zone resolve in the network of key. Zones of
// others are linked by others.
func (n *network) linked(zone, vnet string) verdict {
	switch {
	case slices.Contains(n.links[zone], vnet):
		return yes
	case n.zones[zone]:
		return no
	default:
		return maybe
	}
}

// named tells whether a name of the plan's leads the origin to the address.
func (m *Model) named(o origin, address netip.Addr) decision {
	best := decision{no, "no name leads to its address"}
	for _, zone := range m.network.records[address.String()] {
		for _, vnet := range m.vnets(o) {
			if linked := m.network.linked(zone, vnet); linked > best.verdict {
				best = decision{linked, ""}
			}
		}
	}
	return best
}

// Site is what the plan says about which flows hold. Ranges of peers are no part
// of a plan.
func (m *Model) Site() flows.Site {
	n := m.network
	site := flows.Site{Environment: az.Environment(n.tags["environment"]), Location: n.location, DNSServers: n.servers}
	for _, sub := range n.subnets {
		site.Plan.Subnets = append(site.Plan.Subnets, netplan.Subnet{Role: sub.role, Prefix: sub.prefix})
	}
	slices.SortFunc(site.Plan.Subnets, func(a, b netplan.Subnet) int { return strings.Compare(string(a.Role), string(b.Role)) })
	if len(n.spaces) > 0 {
		site.Plan.AddressSpace = n.spaces[0]
	}
	site.Plan.Pods = m.cluster.pods
	site.Plan.Gateway = m.gatewayNetwork()
	site.Hostnames = m.cluster.hostnames
	for _, t := range m.targets {
		switch t.place {
		case "bus":
			site.PrivateBus = t.public.verdict == no
		case "registry":
			site.PrivateRegistry = t.public.verdict == no
		}
	}
	return site
}
