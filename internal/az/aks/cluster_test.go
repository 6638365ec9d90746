package aks

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// subnetID is the id of a subnet of the test's network.
func subnetID(name string) string {
	return "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/vnet/subnets/" + name
}

const ownZone = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"

// platform is a cluster without problems; a test changes only its subject.
func platform() Cluster {
	system, gpu := system(), gpu()
	system.SubnetID, gpu.SubnetID = subnetID("system"), subnetID("gpu")
	return Cluster{
		Name: "aks-onedoor-prod", DNSPrefix: "onedoor", Version: "1.33",
		OIDC: true, WorkloadIdentity: true, KEDA: true,
		Identity: UserAssigned, ManagedEntra: true, AzureRBAC: true, NoLocalAccounts: true,
		API: APIServer{Private: true, PrivateDNSZone: ownZone},
		Network: Network{
			Plugin: PluginAzure, Overlay: true, Dataplane: DataplaneCilium, Policy: PolicyCilium, Outbound: OutboundOwnNAT,
			PodCIDR: prefix("10.244.0.0/16"), ServiceCIDR: prefix("10.245.0.0/16"), DNSServiceIP: netip.MustParseAddr("10.245.0.10"),
			Advanced: true, AdvancedSecurity: true,
			Subnets: map[string]Subnet{
				subnetID("system"): {Prefix: prefix("10.40.2.0/24"), NATGateway: true},
				subnetID("gpu"):    {Prefix: prefix("10.40.4.0/25"), NATGateway: true},
			},
			Connected: []netip.Prefix{prefix("10.0.0.0/16")},
		},
		Pools: []Pool{system, gpu},
		Federations: []Federation{
			{"keda-operator", "scaler", "", "system:serviceaccount:kube-system:keda-operator", []string{Audience}},
			{"worker", "worker", "", "system:serviceaccount:workers:text", []string{Audience}},
		},
		DevicePlugin:     &DevicePlugin{Tolerations(gpu)},
		RequestedDevices: []string{"nvidia.com/gpu"},
	}
}

// dev is a cluster of the other sort: public, in a network that AKS makes.
func dev() Cluster {
	c := platform()
	c.Identity, c.API = "", APIServer{AuthorizedRanges: []string{"203.0.113.0/24"}}
	c.Network.Outbound, c.Network.Subnets = "", nil
	for i := range c.Pools {
		c.Pools[i].SubnetID = ""
	}
	return c
}

// kubenet is dev with the oldest plugin.
func kubenet() Cluster {
	c := dev()
	c.Network.Plugin, c.Network.Overlay, c.Network.Dataplane, c.Network.Policy = PluginKubenet, false, "", PolicyCalico
	c.Network.Advanced, c.Network.AdvancedSecurity = false, false
	return c
}

// federations are n credentials of one identity.
func federations(n int) []Federation {
	var all []Federation
	for i := range n {
		all = append(all, Federation{fmt.Sprintf("credential-%d", i), "worker", "", fmt.Sprintf("system:serviceaccount:workers:w%d", i), []string{Audience}})
	}
	return all
}

func TestClustersOfTheTestsAreLegal(t *testing.T) {
	t.Parallel()
	assert.Empty(t, lines(platform().Check()), "platform")
	assert.Empty(t, lines(dev().Check()), "dev")
	assert.Empty(t, lines(kubenet().Check()), "kubenet")
}

// clusterCases are as poolCases.
var clusterCases = map[string]struct {
	base   func() Cluster
	refuse func(*Cluster)
	want   []string
	legal  func(*Cluster)
}{
	"C1": {platform, func(c *Cluster) { c.OIDC = false },
		[]string{`OIDC: got false, want true: workload identity trades tokens of the cluster's OIDC issuer [C1]`},
		func(c *Cluster) { c.OIDC, c.WorkloadIdentity, c.KEDA = true, false, false }},
	"C2": {platform, func(c *Cluster) { c.ManagedEntra = false }, []string{
		`AzureRBAC: got true, want false, or ManagedEntra: Azure's roles are given to users of Entra [C2]`,
		`NoLocalAccounts: got true, want false, or ManagedEntra: nobody could log in [C2]`,
	}, func(c *Cluster) { c.ManagedEntra, c.AzureRBAC, c.NoLocalAccounts = false, false, false }},
	"C3": {dev, func(c *Cluster) { c.Network.Overlay = false },
		[]string{`Network.PodCIDR: got 10.244.0.0/16, want nothing, or Overlay: with plugin azure pods have a range of their own only in an overlay [C3]`},
		func(c *Cluster) { c.Network.Overlay, c.Network.PodCIDR = false, netip.Prefix{} }},
	"C3 has no room to check": {dev, func(c *Cluster) { c.Network.Overlay, c.Network.PodCIDR = false, prefix("10.244.0.0/24") },
		[]string{`Network.PodCIDR: got 10.244.0.0/24, want nothing, or Overlay: with plugin azure pods have a range of their own only in an overlay [C3]`}, nil},
	"C4": {platform, func(c *Cluster) { c.Pools[1].PodSubnetID = subnetID("pods") },
		[]string{`Pools[1].PodSubnetID: got "` + subnetID("pods") + `", want nothing, or no Overlay: pods of an overlay get their addresses from PodCIDR [C4]`},
		func(c *Cluster) {
			c.Network.Overlay, c.Network.PodCIDR = false, netip.Prefix{}
			c.Pools[0].PodSubnetID, c.Pools[1].PodSubnetID = subnetID("pods"), subnetID("pods")
		}},
	"C5 plugin": {platform, func(c *Cluster) { c.Network.Plugin = PluginKubenet },
		[]string{`Network.Plugin: got "kubenet", want azure: Cilium's data plane works with no other [C5]`},
		func(c *Cluster) {
			c.Network.Plugin, c.Network.Dataplane, c.Network.Policy, c.Network.Advanced, c.Network.AdvancedSecurity = PluginKubenet, "", PolicyCalico, false, false
		}},
	"C5 policy": {platform, func(c *Cluster) { c.Network.Policy = PolicyCalico },
		[]string{`Network.Policy: got "calico", want cilium: Cilium's data plane enforces policies itself [C5]`},
		func(c *Cluster) { c.Network.Policy = "" }},
	"C5 data plane": {platform, func(c *Cluster) { c.Network.Dataplane, c.Network.AdvancedSecurity = DataplaneAzure, false },
		[]string{`Network.Policy: got "cilium", want another engine, or Dataplane cilium, which this one is part of [C5]`},
		func(c *Cluster) {
			c.Network.Dataplane, c.Network.AdvancedSecurity, c.Network.Policy = DataplaneAzure, false, PolicyAzure
		}},
	"C5 Windows": {dev, func(c *Cluster) { c.Pools = append(c.Pools, windows()) },
		[]string{`Pools[2].OS: got "Windows", want Linux: Cilium's data plane is for Linux nodes [C5]`},
		func(c *Cluster) {
			c.Pools = append(c.Pools, windows())
			c.Network.Dataplane, c.Network.AdvancedSecurity, c.Network.Policy = DataplaneAzure, false, PolicyAzure
		}},
	"C6 data plane": {platform, func(c *Cluster) { c.Network.Dataplane, c.Network.Policy = "", PolicyAzure },
		[]string{`Network.AdvancedSecurity: got true, want false, or Dataplane cilium: Cilium enforces policies by DNS name [C6]`},
		func(c *Cluster) {
			c.Network.Dataplane, c.Network.Policy, c.Network.AdvancedSecurity = "", PolicyAzure, false
		}},
	"C6 switched off": {platform, func(c *Cluster) { c.Network.Advanced = false },
		[]string{`Network.Advanced: got false, want true: AdvancedSecurity is a part of it [C6]`},
		func(c *Cluster) { c.Network.Advanced, c.Network.AdvancedSecurity = false, false }},
	"C6 version": {platform, func(c *Cluster) { c.Version = "1.28" },
		[]string{`Version: got "1.28", want 1.29 or newer: policies by DNS name need it [C6]`}, func(c *Cluster) { c.Version = "1.29" }},
	"C7 none": {platform, func(c *Cluster) { c.Network.Outbound, c.ArtifactSource = OutboundNone, SourceDirect },
		[]string{`ArtifactSource: got "Direct", want Cache: with outbound type none nodes cannot pull AKS's images from the internet [C7]`},
		func(c *Cluster) { c.Network.Outbound, c.ArtifactSource = OutboundNone, SourceCache }},
	"C7 managed gateway": {platform, func(c *Cluster) { c.Network.Outbound = OutboundManagedNAT }, []string{
		`Pools[0].SubnetID: got "` + subnetID("system") + `", want nothing, or another outbound type: AKS attaches its NAT gateway only to a network that it makes itself [C7]`,
		`Pools[1].SubnetID: got "` + subnetID("gpu") + `", want nothing, or another outbound type: AKS attaches its NAT gateway only to a network that it makes itself [C7]`,
	}, func(c *Cluster) { *c = dev(); c.Network.Outbound = OutboundManagedNAT }},
	"C7 without a subnet": {dev, func(c *Cluster) { c.Network.Outbound = OutboundRoutes }, []string{
		`Pools[0].SubnetID: want a subnet: with outbound type userDefinedRouting its network leads outside [C7]`,
		`Pools[1].SubnetID: want a subnet: with outbound type userDefinedRouting its network leads outside [C7]`,
	}, func(c *Cluster) { c.Network.Outbound = OutboundLoadBalancer }},
	"C7 without a gateway": {platform, func(c *Cluster) { c.Network.Subnets[subnetID("gpu")] = Subnet{Prefix: prefix("10.40.4.0/25")} },
		[]string{`Pools[1].SubnetID: got "` + subnetID("gpu") + `", want a subnet with a NAT gateway: outbound type userAssignedNATGateway makes none [C7]`},
		func(c *Cluster) { c.Network.Subnets = nil }},
	"C7 without routes": {platform, func(c *Cluster) {
		c.Network.Outbound = OutboundRoutes
		c.Network.Subnets[subnetID("system")] = Subnet{RouteTable: true}
	},
		[]string{`Pools[1].SubnetID: got "` + subnetID("gpu") + `", want a subnet with a route table: outbound type userDefinedRouting makes no way out by itself [C7]`},
		func(c *Cluster) {
			c.Network.Outbound = OutboundRoutes
			c.Network.Subnets = map[string]Subnet{strings.ToUpper(subnetID("system")): {RouteTable: true}, subnetID("gpu"): {RouteTable: true}}
		}},
	"C8 no name": {platform, func(c *Cluster) { c.API.PrivateDNSZone = "None" },
		[]string{`API.PrivateDNSZone: got "None", want a zone, or PublicFQDN: the API server would have no name [C8]`},
		func(c *Cluster) { c.API.PrivateDNSZone, c.API.PublicFQDN = ZoneNone, true }},
	"C8 ranges": {platform, func(c *Cluster) { c.API.AuthorizedRanges = []string{"203.0.113.0/24"} },
		[]string{`API.AuthorizedRanges: got 203.0.113.0/24, want nothing: a private cluster has no public endpoint to guard [C8]`},
		func(c *Cluster) { c.API = APIServer{AuthorizedRanges: []string{"203.0.113.0/24"}} }},
	"C8 identity": {platform, func(c *Cluster) { c.Identity = SystemAssigned },
		[]string{`Identity: got "SystemAssigned", want UserAssigned: the identity needs a role on the private DNS zone before the cluster exists [C8]`},
		func(c *Cluster) { c.Identity, c.API.PrivateDNSZone = SystemAssigned, ZoneSystem }},
	"C9 DNS outside": {platform, func(c *Cluster) { c.Network.DNSServiceIP = netip.MustParseAddr("10.246.0.10") },
		[]string{`Network.DNSServiceIP: got 10.246.0.10, want an address inside the service range 10.245.0.0/16; the provider's default is 10.0.0.10 [C9]`}, nil},
	"C9 DNS by default": {platform, func(c *Cluster) { c.Network.DNSServiceIP = netip.Addr{} },
		[]string{`Network.DNSServiceIP: want an address inside the service range 10.245.0.0/16; the provider's default is 10.0.0.10 [C9]`},
		func(c *Cluster) {
			c.Network.DNSServiceIP, c.Network.ServiceCIDR, c.Network.Connected = netip.Addr{}, netip.Prefix{}, nil
		}},
	"C9 DNS first": {platform, func(c *Cluster) { c.Network.DNSServiceIP = netip.MustParseAddr("10.245.0.1") },
		[]string{`Network.DNSServiceIP: got 10.245.0.1, want a later address of the service range 10.245.0.0/16: its first one is the kubernetes service [C9]`},
		func(c *Cluster) { c.Network.DNSServiceIP = netip.MustParseAddr("10.245.0.2") }},
	"C9 DNS network address": {platform, func(c *Cluster) { c.Network.DNSServiceIP = netip.MustParseAddr("10.245.0.0") },
		[]string{`Network.DNSServiceIP: got 10.245.0.0, want a later address of the service range 10.245.0.0/16: its first one is the kubernetes service [C9]`}, nil},
	"C9 too many services": {platform, func(c *Cluster) {
		c.Network.ServiceCIDR, c.Network.DNSServiceIP = prefix("100.64.0.0/11"), netip.MustParseAddr("100.64.0.10")
	},
		[]string{`Network.ServiceCIDR: got 100.64.0.0/11, want a /12 or smaller, the limit of AKS [C9]`},
		func(c *Cluster) {
			c.Network.ServiceCIDR, c.Network.DNSServiceIP = prefix("100.64.0.0/12"), netip.MustParseAddr("100.64.0.10")
		}},
	"C9 services overlap pods": {platform, func(c *Cluster) { c.Network.PodCIDR = prefix("10.245.0.0/16") },
		[]string{`Network.ServiceCIDR: got 10.245.0.0/16, want a range that does not overlap the pod range 10.245.0.0/16 [C9]`},
		func(c *Cluster) { c.Network.PodCIDR = prefix("10.246.0.0/16") }},
	"C9 pods overlap a subnet": {platform, func(c *Cluster) { c.Network.PodCIDR = prefix("10.40.0.0/16") }, []string{
		`Network.PodCIDR: got 10.40.0.0/16, want a range that does not overlap the subnet 10.40.2.0/24 [C9]`,
		`Network.PodCIDR: got 10.40.0.0/16, want a range that does not overlap the subnet 10.40.4.0/25 [C9]`,
	}, func(c *Cluster) { c.Network.PodCIDR = prefix("10.41.0.0/16") }},
	"C9 pods overlap a connected network": {platform, func(c *Cluster) { c.Network.Connected = []netip.Prefix{prefix("10.244.0.0/24")} },
		[]string{`Network.PodCIDR: got 10.244.0.0/16, want a range that does not overlap the connected network 10.244.0.0/24 [C9]`}, nil},
	"C9 default pods overlap": {platform, func(c *Cluster) {
		c.Network.PodCIDR, c.Network.Connected = netip.Prefix{}, []netip.Prefix{prefix("10.244.0.0/24")}
	},
		[]string{`Network.PodCIDR: got 10.244.0.0/16, want a range that does not overlap the connected network 10.244.0.0/24 [C9]`}, nil},
	"C9 reserved": {platform, func(c *Cluster) { c.Network.PodCIDR = prefix("172.16.0.0/12") }, []string{
		`Network.PodCIDR: got 172.16.0.0/12, want a range outside 172.30.0.0/16, which AKS keeps for itself [C9]`,
		`Network.PodCIDR: got 172.16.0.0/12, want a range outside 172.31.0.0/16, which AKS keeps for itself [C9]`,
	}, func(c *Cluster) { c.Network.PodCIDR = prefix("172.16.0.0/13") }},
	"C9 reserved subnet": {platform, func(c *Cluster) {
		c.Network.Subnets[subnetID("gpu")] = Subnet{Prefix: prefix("192.0.2.0/25"), NATGateway: true}
	},
		[]string{`Network.Subnets[` + subnetID("gpu") + `]: got 192.0.2.0/25, want a range outside 192.0.2.0/24, which AKS keeps for itself [C9]`}, nil},
	"C9 inner address": {platform, func(c *Cluster) { c.Network.PodCIDR = prefix("10.244.1.0/16") },
		[]string{`Network.PodCIDR: got 10.244.1.0/16, want an IPv4 range, written with its first address [C9]`}, nil},
	"C9 IPv6": {platform, func(c *Cluster) {
		c.Network.Subnets[subnetID("gpu")] = Subnet{Prefix: prefix("fd00::/64"), NATGateway: true}
	},
		[]string{`Network.Subnets[` + subnetID("gpu") + `]: got fd00::/64, want an IPv4 range, written with its first address [C9]`}, nil},
	"C10 no name": {platform, func(c *Cluster) { c.DNSPrefix = "" },
		[]string{`DNSPrefix: want a prefix of the API server's name, or FQDNSubdomain [C10]`},
		func(c *Cluster) { c.DNSPrefix, c.FQDNSubdomain = "", "onedoor" }},
	"C10 two names": {platform, func(c *Cluster) { c.FQDNSubdomain = "onedoor" },
		[]string{`FQDNSubdomain: got "onedoor", want nothing, or no DNSPrefix: the API server has one name [C10]`}, nil},
	"C10 no zone of its own": {platform, func(c *Cluster) { c.DNSPrefix, c.FQDNSubdomain, c.API.PrivateDNSZone = "", "onedoor", ZoneSystem },
		[]string{`FQDNSubdomain: got "onedoor", want nothing, or a private cluster with a private DNS zone of its own, which holds the name [C10]`}, nil},
	"C10 public": {platform, func(c *Cluster) { c.DNSPrefix, c.FQDNSubdomain, c.API.Private = "", "onedoor", false },
		[]string{`FQDNSubdomain: got "onedoor", want nothing, or a private cluster with a private DNS zone of its own, which holds the name [C10]`}, nil},

	"C11 no pools": {dev, func(c *Cluster) { c.Pools, c.RequestedDevices = nil, nil },
		[]string{`Pools: want a system pool: a cluster cannot be without one [C11]`}, nil},
	"C11 no system pool": {dev, func(c *Cluster) { c.Pools = c.Pools[1:] },
		[]string{`Pools: want a system pool: a cluster cannot be without one [C11]`}, nil},
	"C11 inline pool": {dev, func(c *Cluster) { c.Pools[0], c.Pools[1] = c.Pools[1], c.Pools[0] },
		[]string{`Pools[0].Mode: got "User", want System: the first pool is made with the cluster [C11]`}, nil},
	"P1": {dev, func(c *Cluster) {
		c.Pools = append(c.Pools, system())
		c.Pools[2].Name = "system2"
	}, []string{`Pools: got system, system2, want one system pool: it is made with the cluster, and never replaced, because the cluster's later updates name it [P1]`},
		func(c *Cluster) {
			c.Pools = append(c.Pools, system())
			c.Pools[2].Name, c.Pools[2].Mode = "workers", User
		}},
	"P2": {platform, func(c *Cluster) { c.WorkloadIdentity = false },
		[]string{`KEDA: got true, want false, or WorkloadIdentity: KEDA reads the queues as a workload identity [P2]`},
		func(c *Cluster) { c.WorkloadIdentity, c.KEDA = false, false }},

	"C19 newer pool": {platform, func(c *Cluster) { c.Pools[1].Version = "1.34" },
		[]string{`Pools[1].Version: got "1.34", want a version that is not newer than the control plane's 1.33, and at most 2 minor versions older [C19]`},
		func(c *Cluster) { c.Pools[1].Version = "1.33" }},
	"C19 old pool": {platform, func(c *Cluster) { c.Pools[1].Version = "1.30.9" },
		[]string{`Pools[1].Version: got "1.30.9", want a version that is not newer than the control plane's 1.33, and at most 2 minor versions older [C19]`},
		func(c *Cluster) { c.Pools[1].Version = "1.31.0" }},
	"C19 two networks": {platform, func(c *Cluster) { c.Pools[1].SubnetID = strings.Replace(subnetID("gpu"), "/vnet/", "/other/", 1) },
		[]string{`Pools[1].SubnetID: got "` + strings.Replace(subnetID("gpu"), "/vnet/", "/other/", 1) + `", want a subnet of the network of Pools[0]: all pools live in one network [C19]`},
		func(c *Cluster) { c.Pools[1].SubnetID = strings.ToUpper(subnetID("gpu")) }},
	"C19 one network given": {dev, func(c *Cluster) { c.Pools[1].SubnetID = subnetID("gpu") },
		[]string{`Pools[1].SubnetID: got "` + subnetID("gpu") + `", want nothing, or a subnet for Pools[0] too: all pools live in one network, and AKS makes that of Pools[0] [C19]`}, nil},
	"C19 one network not given": {platform, func(c *Cluster) { c.Pools[1].SubnetID, c.Network.Outbound = "", "" },
		[]string{`Pools[1].SubnetID: want a subnet of the network of Pools[0]: all pools live in one network [C19]`},
		func(c *Cluster) { c.Network.Outbound = "" }},
	"C19 pods in another network": {platform, func(c *Cluster) {
		c.Network.Overlay, c.Network.PodCIDR = false, netip.Prefix{}
		c.Pools[0].PodSubnetID, c.Pools[1].PodSubnetID = subnetID("pods"), strings.Replace(subnetID("pods"), "/vnet/", "/other/", 1)
	}, []string{`Pools[1].PodSubnetID: got "` + strings.Replace(subnetID("pods"), "/vnet/", "/other/", 1) + `", want a subnet of the network of Pools[0]: all pools live in one network [C19]`}, nil},
	"C19 no id": {platform, func(c *Cluster) { c.Pools[1].SubnetID = "gpu" },
		[]string{`Pools[1].SubnetID: got "gpu", want the ARM id of a subnet [C19]`}, nil},
	"C19 no id of the first": {platform, func(c *Cluster) { c.Pools[0].SubnetID = "system" },
		[]string{`Pools[0].SubnetID: got "system", want the ARM id of a subnet [C19]`}, nil},
	"E1 version": {platform, func(c *Cluster) { c.Version = "1" },
		[]string{`Version: got "1", want a minor version such as 1.33, or a patch such as 1.33.2 [E1]`}, func(c *Cluster) { c.Version = "" }},
	"E1 enumerations": {dev, func(c *Cluster) {
		c.Identity, c.ArtifactSource = "None", "cache"
		c.Network.Plugin, c.Network.Dataplane, c.Network.Policy, c.Network.Outbound, c.Network.AdvancedSecurity = "calico", "ebpf", "npm", "nat", false
	}, []string{
		`ArtifactSource: got "cache", want one of Direct, Cache [E1]`,
		`Identity: got "None", want one of SystemAssigned, UserAssigned [E1]`,
		`Network.Dataplane: got "ebpf", want one of azure, cilium [E1]`,
		`Network.Outbound: got "nat", want one of loadBalancer, managedNATGateway, userAssignedNATGateway, userDefinedRouting, none [E1]`,
		`Network.Plugin: got "calico", want one of azure, kubenet, none [E1]`,
		`Network.Policy: got "npm", want one of azure, calico, cilium, none [E1]`,
	}, nil},

	"C20 too many": {platform, func(c *Cluster) { c.Federations = federations(21) },
		[]string{`Federations[20].Identity: got "worker", want an identity with at most 20 credentials, the limit of Entra [C20]`},
		func(c *Cluster) { c.Federations = federations(20) }},
	"C20 subject": {platform, func(c *Cluster) { c.Federations[1].Subject = "system:serviceaccount:workers" },
		[]string{`Federations[1].Subject: got "system:serviceaccount:workers", want system:serviceaccount:<namespace>:<service account>, what AKS writes into the tokens [C20]`},
		func(c *Cluster) { c.Federations[1].Subject = "system:serviceaccount:workers:text.v2" }},
	"C20 audience": {platform, func(c *Cluster) { c.Federations[1].Audiences = []string{Audience, "api://other"} },
		[]string{`Federations[1].Audiences: got api://AzureADTokenExchange, api://other, want api://AzureADTokenExchange alone, what AKS asks tokens for [C20]`}, nil},
	"C20 no audience": {platform, func(c *Cluster) { c.Federations[1].Audiences = nil },
		[]string{`Federations[1].Audiences: want api://AzureADTokenExchange alone, what AKS asks tokens for [C20]`}, nil},
	"C20 twice": {platform, func(c *Cluster) {
		c.Federations[1].Identity, c.Federations[1].Subject = c.Federations[0].Identity, c.Federations[0].Subject
	}, []string{`Federations[1].Subject: got "system:serviceaccount:kube-system:keda-operator", want an issuer and subject that no other credential of the identity has: Federations[0] has these [C20]`},
		func(c *Cluster) { c.Federations[1].Subject = c.Federations[0].Subject }},

	"C22 cluster": {platform, func(c *Cluster) { c.Name = "aks-" },
		[]string{`Name: got "aks-", want 1 to 63 letters, digits, hyphens and underscores, a letter or digit first and last [C22]`}, func(c *Cluster) { c.Name = "a" }},
	"C22 long cluster": {platform, func(c *Cluster) { c.Name = strings.Repeat("a", 64) },
		[]string{`Name: got "` + strings.Repeat("a", 64) + `", want 1 to 63 letters, digits, hyphens and underscores, a letter or digit first and last [C22]`},
		func(c *Cluster) { c.Name = strings.Repeat("a", 63) }},
	"C22 DNS prefix": {platform, func(c *Cluster) { c.DNSPrefix = strings.Repeat("a", 55) },
		[]string{`DNSPrefix: got "` + strings.Repeat("a", 55) + `", want 1 to 54 letters, digits and hyphens, a letter or digit first and last [C22]`},
		func(c *Cluster) { c.DNSPrefix = strings.Repeat("a", 54) }},
	"C22 credential": {platform, func(c *Cluster) { c.Federations[1].Name = "ab" },
		[]string{`Federations[1].Name: got "ab", want 3 to 120 letters, digits, hyphens and underscores, a letter or digit first [C22]`}, func(c *Cluster) { c.Federations[1].Name = "abc" }},
	"C22 pool twice": {platform, func(c *Cluster) { c.Pools[1].Name = "system" },
		[]string{`Pools[1].Name: got "system", want a name of its own: Pools[0] has this one [C22]`}, nil},
	"C22 subnet": {platform, func(c *Cluster) { c.Pools[1].SubnetID = subnetID(strings.Repeat("a", 64)) },
		[]string{`Pools[1].SubnetID: got "` + strings.Repeat("a", 64) + `", want at most 63 characters in the names of the subnet, its network and their group: AKS makes labels of nodes of them [C22]`},
		func(c *Cluster) { c.Pools[1].SubnetID = subnetID(strings.Repeat("a", 63)) }},

	"C23 pods": {platform, func(c *Cluster) { c.Network.PodCIDR = prefix("10.244.0.0/21") },
		[]string{`Network.PodCIDR: got 10.244.0.0/21, want room for 9 nodes (all pools at their largest, and what an upgrade adds) at a /24 each; it has room for 8 [C23]`},
		func(c *Cluster) { c.Network.PodCIDR, c.Pools[1].Max = prefix("10.244.0.0/21"), new(3) }},
	"C23 pods of one node": {platform, func(c *Cluster) { c.Network.PodCIDR = prefix("10.244.0.0/24") },
		[]string{`Network.PodCIDR: got 10.244.0.0/24, want room for 9 nodes (all pools at their largest, and what an upgrade adds) at a /24 each; it has room for 1 [C23]`}, nil},
	"C23 pods of kubenet": {kubenet, func(c *Cluster) { c.Network.PodCIDR = prefix("10.244.0.0/21") },
		[]string{`Network.PodCIDR: got 10.244.0.0/21, want room for 9 nodes (all pools at their largest, and what an upgrade adds) at a /24 each; it has room for 8 [C23]`},
		func(c *Cluster) { c.Network.Plugin, c.Network.PodCIDR = PluginNone, prefix("10.244.0.0/21") }},
	"C23 pods of kubenet by default": {kubenet, func(c *Cluster) { c.Network.Plugin, c.Network.PodCIDR = "", prefix("10.244.0.0/21") },
		[]string{`Network.PodCIDR: got 10.244.0.0/21, want room for 9 nodes (all pools at their largest, and what an upgrade adds) at a /24 each; it has room for 8 [C23]`},
		func(c *Cluster) { c.Network.Plugin, c.Network.PodCIDR = "", prefix("10.244.0.0/20") }},
	"C9 pods of kubenet by default": {kubenet, func(c *Cluster) {
		c.Network.PodCIDR, c.Network.Connected = netip.Prefix{}, []netip.Prefix{prefix("10.244.0.0/24")}
	}, []string{`Network.PodCIDR: got 10.244.0.0/16, want a range that does not overlap the connected network 10.244.0.0/24 [C9]`},
		func(c *Cluster) {
			c.Network.Plugin, c.Network.PodCIDR, c.Network.Connected = PluginNone, netip.Prefix{}, []netip.Prefix{prefix("10.244.0.0/24")}
		}},
	"C23 pods in less than a node needs": {platform, func(c *Cluster) { c.Network.PodCIDR = prefix("10.244.0.0/25") },
		[]string{`Network.PodCIDR: got 10.244.0.0/25, want room for 9 nodes (all pools at their largest, and what an upgrade adds) at a /24 each; it has room for 0 [C23]`}, nil},
	"C23 subnet, exactly": {platform, func(c *Cluster) {
		c.Network.Subnets[subnetID("gpu")] = Subnet{Prefix: prefix("10.40.4.0/28"), NATGateway: true}
		c.Pools[1].Max = new(11) // 11 + 2 of surge is two too many for 16 - 5
	}, []string{`Network.Subnets[` + subnetID("gpu") + `]: got 10.40.4.0/28, want 13 usable addresses (a100: 11 nodes + 2 that an upgrade adds, at 1); it has 11 after the 5 that Azure keeps [C23]`},
		func(c *Cluster) {
			c.Network.Subnets[subnetID("gpu")] = Subnet{Prefix: prefix("10.40.4.0/28"), NATGateway: true}
			c.Pools[1].Max = new(10)
		}},
	"C23 endpoint of the API server": {platform, func(c *Cluster) {
		c.Network.Subnets[subnetID("system")] = Subnet{Prefix: prefix("10.40.2.0/29"), NATGateway: true}
		c.Pools[0].Max = new(2)
	}, []string{`Network.Subnets[` + subnetID("system") + `]: got 10.40.2.0/29, want 4 usable addresses (system: 2 nodes + 1 that an upgrade adds, at 1; 1 for the API server's endpoint); it has 3 after the 5 that Azure keeps [C23]`},
		func(c *Cluster) {
			c.Network.Subnets[subnetID("system")] = Subnet{Prefix: prefix("10.40.2.0/29"), NATGateway: true}
			c.Pools[0].Max, c.API, c.Identity = new(2), APIServer{}, ""
		}},
	"C23 two pools in a subnet": {platform, func(c *Cluster) {
		spot := spot()
		spot.SubnetID, spot.Max = strings.ToUpper(subnetID("gpu")), new(120)
		c.Pools = append(c.Pools, spot)
		c.DevicePlugin = nil
	}, []string{`Network.Subnets[` + subnetID("gpu") + `]: got 10.40.4.0/25, want 125 usable addresses (a100: 4 nodes + 1 that an upgrade adds, at 1; spot: 120 nodes + 0 that an upgrade adds, at 1); it has 123 after the 5 that Azure keeps [C23]`},
		func(c *Cluster) {
			spot := spot()
			spot.SubnetID, spot.Max = strings.ToUpper(subnetID("gpu")), new(118)
			c.Pools = append(c.Pools, spot)
			c.DevicePlugin = nil
		}},
	"C23 pods in the nodes' subnet": {platform, func(c *Cluster) {
		c.Network.Overlay, c.Network.PodCIDR = false, netip.Prefix{}
		c.Pools[0].MaxPods = 30
	}, []string{`Network.Subnets[` + subnetID("gpu") + `]: got 10.40.4.0/25, want 155 usable addresses (a100: 4 nodes + 1 that an upgrade adds, at 31); it has 123 after the 5 that Azure keeps [C23]`},
		func(c *Cluster) {
			c.Network.Overlay, c.Network.PodCIDR = false, netip.Prefix{}
			c.Pools[0].MaxPods, c.Pools[1].MaxPods = 30, 20
		}},

	"C26 taint": {platform, func(c *Cluster) {
		spot := spot()
		spot.SubnetID = subnetID("gpu")
		c.Pools = append(c.Pools, spot)
	}, []string{`DevicePlugin.Tolerations: want a toleration of kubernetes.azure.com/scalesetpriority=spot:NoSchedule: without the device plugin the GPUs of Pools[2] are not offered [C26]`},
		func(c *Cluster) {
			spot := spot()
			spot.SubnetID = subnetID("gpu")
			c.Pools = append(c.Pools, spot)
			c.DevicePlugin = &DevicePlugin{Tolerations(c.Pools...)}
		}},
	"C26 taint of a pool without GPUs": {platform, func(c *Cluster) { c.DevicePlugin.Tolerations = nil },
		[]string{`DevicePlugin.Tolerations: want a toleration of sku=gpu:NoSchedule: without the device plugin the GPUs of Pools[1] are not offered [C26]`},
		func(c *Cluster) {
			c.DevicePlugin, c.Pools[1].Taints = &DevicePlugin{}, []string{"sku=gpu:PreferNoSchedule"}
		}},
	"C26 AMD": {platform, func(c *Cluster) { c.DevicePlugin.Tolerations = nil },
		[]string{`DevicePlugin.Tolerations: want a toleration of sku=gpu:NoSchedule: without the device plugin the GPUs of Pools[1] are not offered [C26]`},
		func(c *Cluster) {
			c.DevicePlugin, c.Pools[1].Size, c.Pools[1].MIG, c.RequestedDevices = &DevicePlugin{}, "Standard_ND96isr_MI300X_v5", "", []string{"amd.com/gpu", "memory"}
		}},
	"C26 device": {platform, func(c *Cluster) { c.RequestedDevices = []string{"nvidia.com/gpu", "nvidia.com/mig-3g.40gb"} },
		[]string{`RequestedDevices[1]: got "nvidia.com/mig-3g.40gb", want a device that a pool offers: nvidia.com/gpu [C26]`},
		func(c *Cluster) {
			c.Pools[1].Strategy, c.Pools[1].Min, c.RequestedDevices = StrategyMixed, new(1), []string{"nvidia.com/mig-3g.40gb"}
		}},
	"C26 no device": {platform, func(c *Cluster) { c.Pools[1].Size, c.Pools[1].MIG = "Standard_D4s_v5", "" },
		[]string{`RequestedDevices[0]: got "nvidia.com/gpu", want a device that a pool offers, and none offers any [C26]`},
		func(c *Cluster) { c.Pools[1].MIG = "" }},
	"C12 of a pool": {platform, func(c *Cluster) { c.Pools[1].Min = new(5) },
		[]string{`Pools[1].Min: got 5, want at most Max, 4 [C12]`}, nil},
}

func TestClusterRulesRefuse(t *testing.T) {
	t.Parallel()
	for name, tc := range clusterCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tc.base()
			tc.refuse(&c)
			assert.Equal(t, tc.want, lines(c.Check()))
			if tc.legal != nil {
				c = tc.base()
				tc.legal(&c)
				assert.Empty(t, lines(c.Check()), "the legal neighbour")
			}
		})
	}
}

// Every rule has a case and is named in a doc comment, so a new one cannot be
// forgotten.
func TestEveryRuleHasACaseAndAComment(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var source strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			source.Write(text)
		}
	}
	cases := map[string]bool{}
	for name := range poolCases {
		rule, _, _ := strings.Cut(name, " ")
		cases[rule] = true
	}
	for name := range clusterCases {
		rule, _, _ := strings.Cut(name, " ")
		cases[rule] = true
	}
	found := regexp.MustCompile(`r\.add\("([A-Z]\d+)"`).FindAllStringSubmatch(source.String(), -1)
	require.Greater(t, len(found), 50)
	for _, m := range found {
		assert.True(t, cases[m[1]], "no case for rule %s", m[1])
		assert.Regexp(t, `// check\w+ is[^\n]*\b`+m[1]+`\b`, source.String(), "no doc comment names rule %s", m[1])
	}
}

// The problems of a cluster come before those of its pools, and those in the
// order of the pools, not of digits.
func TestClusterProblemsAreSorted(t *testing.T) {
	t.Parallel()
	c := dev()
	c.Name, c.DevicePlugin = "", nil
	for i := range 10 {
		p := gpu()
		p.Name, p.Min = fmt.Sprintf("gpu%d", i), new(9)
		c.Pools = append(c.Pools, p)
	}
	want := []string{`Name: want 1 to 63 letters, digits, hyphens and underscores, a letter or digit first and last [C22]`}
	for i := 2; i < 12; i++ {
		want = append(want, fmt.Sprintf(`Pools[%d].Min: got 9, want at most Max, 4 [C12]`, i))
	}
	for range 20 {
		assert.Equal(t, want, lines(c.Check()))
	}
}

func TestNetworkOfASubnet(t *testing.T) {
	t.Parallel()
	const network = "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n"
	got, ok := networkOf("/subscriptions/S/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/N/subnets/x")
	assert.True(t, ok)
	assert.Equal(t, network, got)
	good := strings.Split(network+"/subnets/x", "/")
	for i := range good {
		for _, wrong := range []string{"wrong", ""} {
			if free := i == 2 || i == 4 || i == 8 || i == 10; free && wrong != "" || good[i] == wrong {
				continue
			}
			parts := slices.Clone(good)
			parts[i] = wrong
			_, ok := networkOf(strings.Join(parts, "/"))
			assert.False(t, ok, parts)
		}
	}
	for _, id := range []string{"", network, network + "/subnets", network + "/subnets/x/y"} {
		_, ok := networkOf(id)
		assert.False(t, ok, id)
	}
}

func TestProblemNamesItsPool(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]struct {
		index int
		field string
		ok    bool
	}{
		"Pools[12].Taints[0]": {12, "Taints[0]", true},
		"Pools":               {-1, "Pools", false},
		"Network.PodCIDR":     {-1, "Network.PodCIDR", false},
		"Pools[x].Min":        {-1, "Pools[x].Min", false},
		"Pools[1]":            {-1, "Pools[1]", false},
	} {
		index, below, ok := Problem{Field: field}.Pool()
		assert.Equal(t, want.index, index, field)
		assert.Equal(t, want.field, below, field)
		assert.Equal(t, want.ok, ok, field)
	}
	assert.True(t, Problem{Rule: "P1"}.Ours())
	assert.False(t, Problem{Rule: "C1"}.Ours())
}
