package flows

import (
	"net/netip"
	"slices"
	"strings"

	"onedoor/internal/az/netplan"
)

// Place is one end of a flow.
type Place struct {
	name    string
	holds   func(netplan.Role) bool // subnets of the place; nil for places outside
	service string                  // what is reached there, where a subnet holds several things
	prefix  func(Site) []string     // addresses that rules elsewhere name for the place
	extra   func(Site) []string     // addresses besides the subnet's own that its own rules name; may be nil
}

// String is the place's name in documents and rule descriptions.
func (p Place) String() string {
	if p.service != "" {
		return p.service
	}
	return p.name
}

// Holds tells whether the place is, or lies in, the subnet of role at site.
func (p Place) Holds(role netplan.Role) bool { return p.holds != nil && p.holds(role) }

// Prefixes are the addresses or the service tag that rules name for the
// place, sorted.
func (p Place) Prefixes(s Site) []string { return p.prefix(s) }

var (
	systemNodes  = subnet(netplan.SystemNodes, "")
	workerNodes  = subnet(netplan.WorkerNodes, "")
	batchNodes   = subnet(netplan.BatchNodes, "")
	runner       = subnet(netplan.Runner, "")
	doors        = doorsPlace()
	models       = subnet(netplan.EndpointsModels, "model accounts")
	batchAccount = subnet(netplan.EndpointsBatch, "batch account")
	blob         = subnet(netplan.EndpointsData, "blob")
	table        = subnet(netplan.EndpointsData, "table")
	bus          = subnet(netplan.EndpointsData, "bus")
	vault        = subnet(netplan.EndpointsData, "vaults")
	registry     = subnet(netplan.EndpointsData, "registry")

	gpuNodes = subnets("gpu-nodes", netplan.Role.IsGPU)
	anyNode  = subnets("nodes", netplan.Role.IsNodes)

	// nodesAndPods adds the overlay addresses of pods.
	nodesAndPods = Place{
		name:   "nodes-and-pods",
		holds:  netplan.Role.IsNodes,
		prefix: func(s Site) []string { return sorted(append(anyNode.prefix(s), pods(s)...)) },
		extra:  pods,
	}

	gateway = subnet(netplan.Gateway, "")

	peers = Place{name: "peers", prefix: func(s Site) []string {
		var out []string
		for _, p := range s.Plan.Peers {
			out = append(out, p.String())
		}
		return sorted(out)
	}}
	dnsServers = Place{name: "dns", prefix: func(s Site) []string {
		var out []string
		for _, server := range s.DNSServers {
			out = append(out, netip.PrefixFrom(server, server.BitLen()).String())
		}
		return sorted(out)
	}}
	internet          = tag("Internet")
	azureLoadBalancer = tag("AzureLoadBalancer")
)

// subnet is the place of one role.
func subnet(role netplan.Role, service string) Place {
	p := subnets(string(role), func(r netplan.Role) bool { return r == role })
	p.service = service
	return p
}

// subnets is the place of every role that holds accepts.
func subnets(name string, holds func(netplan.Role) bool) Place {
	return Place{name: name, holds: holds, prefix: func(s Site) []string {
		var out []string
		for _, sub := range s.Plan.Subnets {
			if holds(sub.Role) {
				out = append(out, sub.Prefix.String())
			}
		}
		return sorted(out)
	}}
}

// doorsPlace is the load balancers' subnet. Their back ends are nodes of the
// control plane and of serving, and AKS load balancers keep the front end's
// address as the destination, so the nodes' own rules must let it in. The rules
// of other nodes do not: services behind a door need externalTrafficPolicy
// Local, or Azure balances to nodes that drop what it sends.
// https://learn.microsoft.com/azure/load-balancer/load-balancer-floating-ip
func doorsPlace() Place {
	p := subnet(netplan.Doors, "")
	p.holds = func(r netplan.Role) bool { return r == netplan.Doors || r == netplan.BatchNodes || r.IsGPU() }
	p.extra = p.prefix
	return p
}

func pods(s Site) []string { return []string{s.Plan.Pods.String()} }

// own are the addresses that the rules of the subnet of role name for the
// place as their own end of a flow.
func (p Place) own(s Site, role netplan.Role) []string {
	out := []string{s.Plan.Subnet(role).Prefix.String()}
	if p.extra != nil {
		out = append(out, p.extra(s)...)
	}
	return slices.Compact(sorted(out))
}

// tag is a place outside the network that Azure keeps the addresses of.
// {location} stands for the region.
// https://learn.microsoft.com/azure/virtual-network/service-tags-overview
func tag(name string) Place {
	return Place{name: name, prefix: func(s Site) []string {
		return []string{strings.ReplaceAll(name, "{location}", s.Location)}
	}}
}

func sorted(in []string) []string {
	slices.SortFunc(in, comparePrefixes)
	return in
}

// comparePrefixes orders addresses as numbers, so that 10.0.9.0 comes before
// 10.0.10.0.
func comparePrefixes(a, b string) int {
	pa, errA := netip.ParsePrefix(a)
	pb, errB := netip.ParsePrefix(b)
	if errA != nil || errB != nil {
		return strings.Compare(a, b)
	}
	return pa.Compare(pb)
}
