package netplan

// GatewayMode is the way API Management joins the network. It decides the
// subnet's size and delegation, the network rules and the DNS zone together.
// https://learn.microsoft.com/azure/api-management/virtual-network-concepts
type GatewayMode string

// The modes.
const (
	Classic  GatewayMode = "classic"  // Developer or Premium, injected
	Endpoint GatewayMode = "endpoint" // StandardV2: integrated outward, a private endpoint inward
	Injected GatewayMode = "injected" // PremiumV2, injected
)

// GatewayModes are the legal modes.
var GatewayModes = []GatewayMode{Classic, Endpoint, Injected}

// GatewayNetwork is how the gateway sits in the network.
type GatewayNetwork struct {
	Mode     GatewayMode
	Internal bool // no public address answers calls
}

// Delegation is the service that the subnet is delegated to, "" for none.
// https://learn.microsoft.com/azure/api-management/virtual-network-injection-resources
func (g GatewayNetwork) Delegation() string {
	switch g.Mode {
	case Endpoint:
		return "Microsoft.Web/serverFarms"
	case Injected:
		return "Microsoft.Web/hostingEnvironments"
	default:
		return ""
	}
}

// bits is the prefix length of the gateway's subnet: classic needs 2 addresses
// a unit and one more when internal; integration advises /26; injection of the
// v2 tier advises /24 so that it can scale out.
func (g GatewayNetwork) bits() int {
	switch g.Mode {
	case Endpoint:
		return 26
	case Injected:
		return 24
	default:
		return 27
	}
}

// Zone is the private DNS zone that makes the gateway called name resolve to
// its private address, "" when callers use the public one. For an injected
// gateway the zone is that one host's, not all of azure-api.net's, so that
// other gateways keep resolving.
func (g GatewayNetwork) Zone(name string) string {
	switch {
	case !g.Internal:
		return ""
	case g.Mode == Endpoint:
		return "privatelink.azure-api.net"
	default:
		return name + ".azure-api.net"
	}
}
