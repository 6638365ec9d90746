package aks

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Network is the network of a cluster.
type Network struct {
	Plugin    Plugin // default PluginKubenet
	Overlay   bool   // networkPluginMode overlay
	Dataplane Dataplane
	Policy    Policy
	Outbound  Outbound // default OutboundLoadBalancer

	PodCIDR      netip.Prefix // of an overlay, or of kubenet; default DefaultPodCIDR
	ServiceCIDR  netip.Prefix // default DefaultServiceCIDR
	DNSServiceIP netip.Addr   // default DefaultDNSServiceIP, whatever ServiceCIDR is

	Advanced         bool // Advanced Container Networking Services
	AdvancedSecurity bool // its network policies by DNS name

	Subnets   map[string]Subnet // what is known of the subnets of pools, by ARM id in any case
	Connected []netip.Prefix    // ranges of networks that this one is connected to
}

// Subnet is what is known of a subnet.
type Subnet struct {
	Prefix     netip.Prefix
	RouteTable bool // one is attached
	NATGateway bool // one is attached
}

// Plugin gives pods their addresses.
type Plugin string

// The plugins.
const (
	PluginAzure   Plugin = "azure"
	PluginKubenet Plugin = "kubenet"
	PluginNone    Plugin = "none" // the caller brings one
)

// Dataplane moves the packets.
type Dataplane string

// The data planes.
const (
	DataplaneAzure  Dataplane = "azure"
	DataplaneCilium Dataplane = "cilium"
)

// Policy enforces Kubernetes' network policies.
type Policy string

// The engines.
const (
	PolicyAzure  Policy = "azure"
	PolicyCalico Policy = "calico"
	PolicyCilium Policy = "cilium"
	PolicyNone   Policy = "none"
)

// Outbound is how packets leave the cluster.
type Outbound string

// The ways.
const (
	OutboundLoadBalancer Outbound = "loadBalancer"
	OutboundManagedNAT   Outbound = "managedNATGateway"      // AKS makes the gateway
	OutboundOwnNAT       Outbound = "userAssignedNATGateway" // the caller does
	OutboundRoutes       Outbound = "userDefinedRouting"
	OutboundNone         Outbound = "none"
)

// What the provider writes where nothing is given, also for plugins that have no
// pod range: give all of them.
// https://github.com/pulumi/pulumi-azure-native-sdk, containerservice/v20250101/pulumiTypes.go
// (ContainerServiceNetworkProfile.Defaults, v2.92.3)
var (
	DefaultPodCIDR      = netip.MustParsePrefix("10.244.0.0/16")
	DefaultServiceCIDR  = netip.MustParsePrefix("10.0.0.0/16")
	DefaultDNSServiceIP = netip.MustParseAddr("10.0.0.10")
)

// reservedRanges are not for pods, services or nodes of any AKS cluster.
// https://learn.microsoft.com/azure/aks/concepts-network-azure-cni-overlay
var reservedRanges = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("172.30.0.0/16"),
	netip.MustParsePrefix("172.31.0.0/16"),
	netip.MustParsePrefix("192.0.2.0/24"),
}

const (
	podBits        = 24 // prefix length of each node's pods: https://learn.microsoft.com/azure/aks/concepts-network-azure-cni-overlay
	minServiceBits = 12 // prefix length: https://learn.microsoft.com/azure/aks/concepts-network-ip-address-planning
	azureReserved  = 5  // addresses of a subnet: https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq
)

// overlay tells whether pods have addresses of their own, a /24 for each node.
func (n Network) overlay() bool {
	return n.Plugin == PluginAzure && n.Overlay || n.Plugin == PluginKubenet || n.Plugin == ""
}

// podsInNodeSubnet tells whether pods take addresses from the subnet of their
// node, unless their pool has a subnet for pods.
func (n Network) podsInNodeSubnet() bool { return n.Plugin == PluginAzure && !n.Overlay }

// pods is the range of pods, none where it has no meaning.
func (n Network) pods() netip.Prefix {
	if !n.PodCIDR.IsValid() && n.overlay() {
		return DefaultPodCIDR
	}
	return n.PodCIDR
}

func (n Network) services() netip.Prefix {
	if !n.ServiceCIDR.IsValid() {
		return DefaultServiceCIDR
	}
	return n.ServiceCIDR
}

func (n Network) dns() netip.Addr {
	if !n.DNSServiceIP.IsValid() {
		return DefaultDNSServiceIP
	}
	return n.DNSServiceIP
}

// subnet is what is known of the subnet with the id, in any case.
func (n Network) subnet(id string) (Subnet, bool) {
	for known, s := range n.Subnets {
		if strings.EqualFold(known, id) {
			return s, true
		}
	}
	return Subnet{}, false
}

// check is all rules about the network of c.
func (n Network) check(r *report, c Cluster) {
	oneOf(r, "Network.Plugin", n.Plugin, PluginAzure, PluginKubenet, PluginNone)
	oneOf(r, "Network.Dataplane", n.Dataplane, DataplaneAzure, DataplaneCilium)
	oneOf(r, "Network.Policy", n.Policy, PolicyAzure, PolicyCalico, PolicyCilium, PolicyNone)
	oneOf(r, "Network.Outbound", n.Outbound, OutboundLoadBalancer, OutboundManagedNAT, OutboundOwnNAT, OutboundRoutes, OutboundNone)
	n.checkPods(r, c)
	n.checkCilium(r, c)
	n.checkOutbound(r, c)
	n.checkRanges(r)
	n.checkDNS(r)
}

// checkPods is C3 and C4: where pods get their addresses. That an overlay and a
// subnet for pods exclude one another follows from what each is; no page says
// so.
// https://learn.microsoft.com/azure/aks/concepts-network-cni-overview
// https://github.com/Azure/azure-cli/pull/26237
func (n Network) checkPods(r *report, c Cluster) {
	if n.podsInNodeSubnet() && n.PodCIDR.IsValid() {
		r.add("C3", "Network.PodCIDR", n.PodCIDR.String(), "nothing, or Overlay: with plugin azure pods have a range of their own only in an overlay")
	}
	for i, p := range c.Pools {
		if n.Overlay && p.PodSubnetID != "" {
			r.add("C4", poolField(i, "PodSubnetID"), quote(p.PodSubnetID), "nothing, or no Overlay: pods of an overlay get their addresses from PodCIDR")
		}
	}
}

// checkCilium is C5 and C6: what Cilium needs, and what needs Cilium.
// https://learn.microsoft.com/azure/aks/azure-cni-powered-by-cilium
// https://learn.microsoft.com/azure/aks/container-network-security-fqdn-filtering-concepts
func (n Network) checkCilium(r *report, c Cluster) {
	if n.Dataplane == DataplaneCilium {
		if n.Plugin != PluginAzure {
			r.add("C5", "Network.Plugin", quote(n.Plugin), "%s: Cilium's data plane works with no other", PluginAzure)
		}
		if n.Policy != "" && n.Policy != PolicyCilium {
			r.add("C5", "Network.Policy", quote(n.Policy), "%s: Cilium's data plane enforces policies itself", PolicyCilium)
		}
		for i, p := range c.Pools {
			if p.OS == Windows {
				r.add("C5", poolField(i, "OS"), quote(p.OS), "%s: Cilium's data plane is for Linux nodes", Linux)
			}
		}
	} else if n.Policy == PolicyCilium {
		r.add("C5", "Network.Policy", quote(n.Policy), "another engine, or Dataplane %s, which this one is part of", DataplaneCilium)
	}
	if !n.AdvancedSecurity {
		return
	}
	if n.Dataplane != DataplaneCilium {
		r.add("C6", "Network.AdvancedSecurity", "true", "false, or Dataplane %s: Cilium enforces policies by DNS name", DataplaneCilium)
	}
	if !n.Advanced {
		r.add("C6", "Network.Advanced", "false", "true: AdvancedSecurity is a part of it")
	}
	if v, err := ParseVersion(c.Version); err == nil && !v.AtLeast(1, 29) {
		r.add("C6", "Version", quote(c.Version), "1.29 or newer: policies by DNS name need it")
	}
}

// checkOutbound is C7: what each way out needs of the subnets.
// https://learn.microsoft.com/azure/aks/egress-outboundtype
// https://learn.microsoft.com/azure/aks/concepts-network-isolated
func (n Network) checkOutbound(r *report, c Cluster) {
	switch n.Outbound {
	case OutboundNone:
		if c.ArtifactSource != SourceCache {
			r.add("C7", "ArtifactSource", quote(c.ArtifactSource), "%s: with outbound type none nodes cannot pull AKS's images from the internet", SourceCache)
		}
	case OutboundManagedNAT:
		for i, p := range c.Pools {
			if p.SubnetID != "" {
				r.add("C7", poolField(i, "SubnetID"), quote(p.SubnetID), "nothing, or another outbound type: AKS attaches its NAT gateway only to a network that it makes itself")
			}
		}
	case OutboundOwnNAT, OutboundRoutes:
		for i, p := range c.Pools {
			if p.SubnetID == "" {
				r.add("C7", poolField(i, "SubnetID"), "", "a subnet: with outbound type %s its network leads outside", n.Outbound)
				continue
			}
			s, known := n.subnet(p.SubnetID)
			if known && n.Outbound == OutboundRoutes && !s.RouteTable {
				r.add("C7", poolField(i, "SubnetID"), quote(p.SubnetID), "a subnet with a route table: outbound type %s makes no way out by itself", n.Outbound)
			}
			if known && n.Outbound == OutboundOwnNAT && !s.NATGateway {
				r.add("C7", poolField(i, "SubnetID"), quote(p.SubnetID), "a subnet with a NAT gateway: outbound type %s makes none", n.Outbound)
			}
		}
	}
}

// span is a range with its place.
type span struct {
	field, what string
	prefix      netip.Prefix
}

// checkRanges is C9 of ranges: IPv4, outside what AKS keeps, apart from one
// another, services not too many. Networks that this one is connected to are
// not ours to judge, nor are subnets that overlap one another.
// https://learn.microsoft.com/azure/aks/concepts-network-ip-address-planning
func (n Network) checkRanges(r *report) {
	ours := []span{{"Network.ServiceCIDR", "the service range", n.services()}}
	if pods := n.pods(); pods.IsValid() {
		ours = append(ours, span{"Network.PodCIDR", "the pod range", pods})
	}
	for _, id := range slices.Sorted(maps.Keys(n.Subnets)) {
		if prefix := n.Subnets[id].Prefix; prefix.IsValid() {
			ours = append(ours, span{fmt.Sprintf("Network.Subnets[%s]", id), "the subnet", prefix})
		}
	}
	var sound []span
	for _, s := range ours {
		if !s.prefix.Addr().Is4() || s.prefix != s.prefix.Masked() {
			r.add("C9", s.field, s.prefix.String(), "an IPv4 range, written with its first address")
			continue
		}
		sound = append(sound, s)
		for _, kept := range reservedRanges {
			if s.prefix.Overlaps(kept) {
				r.add("C9", s.field, s.prefix.String(), "a range outside %s, which AKS keeps for itself", kept)
			}
		}
	}
	for i, a := range sound {
		if a.field != "Network.ServiceCIDR" && a.field != "Network.PodCIDR" {
			break // subnets come last
		}
		for _, b := range sound[i+1:] {
			if a.prefix.Overlaps(b.prefix) {
				r.add("C9", a.field, a.prefix.String(), "a range that does not overlap %s %s", b.what, b.prefix)
			}
		}
		for _, other := range n.Connected {
			if a.prefix.Overlaps(other) {
				r.add("C9", a.field, a.prefix.String(), "a range that does not overlap the connected network %s", other)
			}
		}
	}
	if services := n.services(); services.Bits() < minServiceBits {
		r.add("C9", "Network.ServiceCIDR", services.String(), "a /%d or smaller, the limit of AKS", minServiceBits)
	}
}

// checkDNS is C9 of the DNS service's address: in the service range, and not at
// its start, where Kubernetes' own service is.
// https://learn.microsoft.com/azure/aks/concepts-network-ip-address-planning
func (n Network) checkDNS(r *report) {
	services, dns := n.services().Masked(), n.dns()
	got := ""
	if n.DNSServiceIP.IsValid() {
		got = dns.String()
	}
	switch {
	case !services.Contains(dns):
		r.add("C9", "Network.DNSServiceIP", got, "an address inside the service range %s; the provider's default is %s", services, DefaultDNSServiceIP)
	case dns == services.Addr() || dns == services.Addr().Next():
		r.add("C9", "Network.DNSServiceIP", got, "a later address of the service range %s: its first one is the kubernetes service", services)
	}
}
