package stacks

import "onedoor/internal/az/netplan"

// Gateway is the root key "gateway": the synchronous door.
type Gateway struct {
	Mode     netplan.GatewayMode `json:"mode"`     // how API Management joins the network
	Exposure Exposure            `json:"exposure"` // whether it has a public address
}

// Exposure is who can open a connection to the gateway.
type Exposure string

// The exposures.
const (
	ExposureInternal Exposure = "internal" // the network and its peers
	ExposureExternal Exposure = "external" // the internet; tokens and limits are then the only wall
)

var defaultGateway = Gateway{Mode: netplan.Classic, Exposure: ExposureInternal}

func (g *Gateway) check(report *problems) {
	switch g.Mode {
	case netplan.Classic, netplan.Endpoint, netplan.Injected:
	default:
		report.bad("gateway.mode", g.Mode, oneOf(netplan.GatewayModes...), string(netplan.Classic))
	}
	switch g.Exposure {
	case ExposureInternal:
	case ExposureExternal:
		if g.Mode == netplan.Endpoint || g.Mode == netplan.Injected {
			report.bad("gateway.exposure", g.Exposure, "internal: only mode classic can also answer on the internet", string(ExposureInternal))
		}
	default:
		report.bad("gateway.exposure", g.Exposure, oneOf(ExposureInternal, ExposureExternal), string(ExposureInternal))
	}
}

func (g *Gateway) network() netplan.GatewayNetwork {
	return netplan.GatewayNetwork{Mode: g.Mode, Internal: g.Exposure == ExposureInternal}
}
