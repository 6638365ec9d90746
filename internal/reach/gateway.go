package reach

import (
	"strings"

	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
)

// gateway is the API Management service of a plan.
type gateway struct {
	key      string
	name     string
	external bool   // a public address answers calls
	joined   string // key of the subnet that calls come to; "" where an endpoint takes them
	public   decision
}

func readGateway(resources []Resource) *gateway {
	for _, r := range resources {
		if r.kind() != "apimanagement:ApiManagementService" {
			continue
		}
		g := &gateway{name: r.in("serviceName").text(), public: publicAccess(r.in("publicNetworkAccess"), in{})}
		g.key = key(r.in("resourceGroupName").text(), "service", g.name)
		mode := r.in("virtualNetworkType").text()
		g.external = mode != "Internal"
		if !strings.HasSuffix(r.in("sku", "name").text(), "V2") || mode == "Internal" {
			g.joined = keyOf(r.in("virtualNetworkConfiguration", "subnetResourceId").text())
		}
		return g
	}
	return nil
}

// gatewayNetwork is how the gateway sits in the network. Where it is not planned,
// its subnet and its zone say how it will.
func (m *Model) gatewayNetwork() netplan.GatewayNetwork {
	g := netplan.GatewayNetwork{Mode: netplan.Classic}
	if sub := m.network.role(netplan.Gateway); sub != nil {
		for _, mode := range netplan.GatewayModes {
			if sub.service == (netplan.GatewayNetwork{Mode: mode}).Delegation() {
				g.Mode = mode
			}
		}
	}
	for zone := range m.network.zones {
		g.Internal = g.Internal || strings.HasSuffix(zone, ".azure-api.net")
	}
	if m.gateway != nil && g.Mode != netplan.Endpoint {
		g.Internal = !m.gateway.external
	}
	return g
}

// toGateway is whether the origin reaches API Management.
func (m *Model) toGateway(o origin, port string) access {
	g := m.gateway
	sub := m.network.at(g.joined)
	switch {
	case g.joined == "": // an endpoint takes the calls
		return m.target(o, target{key: g.key, part: "Gateway", zone: "privatelink.azure-api.net", hosts: ".azure-api.net", tag: "", public: g.public}, port)
	case sub == nil:
		d := decision{maybe, "a gateway outside the network of the plan"}
		return access{always(d), d}
	case g.external:
		d := m.public(o, "", ".azure-api.net", port)
		out := pairs([]party{service()}, []party{inside(sub.prefix.Addr().Next())}, func(from, to party) decision {
			return d.through(sub.group.decide(packet{from, to, port, flows.TCP}, flows.Inbound))
		})
		return access{out, out.some}
	}
	out := m.private(o, []span{spanOf(sub.prefix)}, sub, sub.group, port)
	a := access{named: out, any: out.some}
	zone, linked := "", no
	for have := range m.network.zones {
		if zoneName(have) == strings.ToLower(g.name)+".azure-api.net" {
			zone = have
		}
	}
	for _, vnet := range m.vnets(o) {
		linked = linked.or(m.network.linked(zone, vnet))
	}
	if o.subnet != nil || o.peers {
		a.named = out.through(decision{linked, "its name does not lead to its address"})
	}
	return a
}
