package core

import (
	"net/netip"
	"strconv"

	"onedoor/internal/az/aks"
)

// description reads bodies into the plain values of package aks, whose rules
// they must obey.
type description struct {
	unknown  bool // something that the rules look at is not known yet
	problems []aks.Problem
}

func (d *description) text(v value) string {
	d.unknown = d.unknown || v.unknown()
	return v.text()
}

func (d *description) flag(v value) bool {
	d.unknown = d.unknown || v.unknown()
	return v.flag()
}

func (d *description) texts(v value) []string {
	d.unknown = d.unknown || v.hasUnknown()
	return v.texts()
}

// count is a number that may be absent.
func (d *description) count(v value) *int {
	d.unknown = d.unknown || v.unknown()
	n, ok := v.number()
	if !ok {
		return nil
	}
	count := int(n)
	return &count
}

// number is 0 when it is absent.
func (d *description) number(v value) int {
	if n := d.count(v); n != nil {
		return *n
	}
	return 0
}

func (d *description) prefix(field string, v value) netip.Prefix {
	text := d.text(v)
	prefix, err := netip.ParsePrefix(text)
	if err != nil && text != "" {
		d.problems = append(d.problems, aks.Problem{Rule: "E1", Field: field, Got: strconv.Quote(text), Want: "a range such as 10.244.0.0/16"})
	}
	return prefix
}

func (d *description) addr(field string, v value) netip.Addr {
	text := d.text(v)
	addr, err := netip.ParseAddr(text)
	if err != nil && text != "" {
		d.problems = append(d.problems, aks.Problem{Rule: "E1", Field: field, Got: strconv.Quote(text), Want: "an address such as 10.0.0.10"})
	}
	return addr
}

// cluster is a cluster without its pools.
func (d *description) cluster(r *Resource) aks.Cluster {
	access, network := r.props("apiServerAccessProfile"), r.props("networkProfile")
	public := access.get("enablePrivateClusterPublicFQDN")
	return aks.Cluster{
		Name:             Name(r.ID),
		DNSPrefix:        d.text(r.props("dnsPrefix")),
		FQDNSubdomain:    d.text(r.props("fqdnSubdomain")),
		Version:          d.text(r.props("currentKubernetesVersion")),
		OIDC:             d.flag(r.props("oidcIssuerProfile.enabled")),
		WorkloadIdentity: d.flag(r.props("securityProfile.workloadIdentity.enabled")),
		KEDA:             d.flag(r.props("workloadAutoScalerProfile.keda.enabled")),
		Identity:         aks.Identity(d.text(root(r.Body).get("identity.type"))),
		ManagedEntra:     d.flag(r.props("aadProfile.managed")),
		AzureRBAC:        d.flag(r.props("aadProfile.enableAzureRBAC")),
		NoLocalAccounts:  d.flag(r.props("disableLocalAccounts")),
		ArtifactSource:   aks.ArtifactSource(d.text(r.props("bootstrapProfile.artifactSource"))),
		API: aks.APIServer{
			Private: d.flag(access.get("enablePrivateCluster")),
			// A private cluster has a public name unless it declines.
			PublicFQDN:       public.absent() || d.flag(public),
			PrivateDNSZone:   d.text(access.get("privateDNSZone")),
			AuthorizedRanges: d.texts(access.get("authorizedIPRanges")),
		},
		Network: aks.Network{
			Plugin:           aks.Plugin(d.text(network.get("networkPlugin"))),
			Overlay:          d.text(network.get("networkPluginMode")) == "overlay",
			Dataplane:        aks.Dataplane(d.text(network.get("networkDataplane"))),
			Policy:           aks.Policy(d.text(network.get("networkPolicy"))),
			Outbound:         aks.Outbound(d.text(network.get("outboundType"))),
			PodCIDR:          d.prefix("Network.PodCIDR", network.get("podCidr")),
			ServiceCIDR:      d.prefix("Network.ServiceCIDR", network.get("serviceCidr")),
			DNSServiceIP:     d.addr("Network.DNSServiceIP", network.get("dnsServiceIP")),
			Advanced:         d.flag(network.get("advancedNetworking.enabled")),
			AdvancedSecurity: d.flag(network.get("advancedNetworking.security.enabled")),
		},
	}
}

func (d *description) pool(r *Resource) aks.Pool {
	p := aks.Pool{
		Name: Name(r.ID), Mode: aks.Mode(d.text(r.props("mode"))), Type: aks.PoolType(d.text(r.props("type"))), APIVersion: r.APIVersion,
		Version: d.text(r.props("currentOrchestratorVersion")),
		Size:    d.text(r.props("vmSize")), Zones: d.texts(r.props("availabilityZones")),
		Count: d.count(r.props("count")), AutoScale: d.flag(r.props("enableAutoScaling")), Min: d.count(r.props("minCount")), Max: d.count(r.props("maxCount")),
		ScaleDown: aks.ScaleDown(d.text(r.props("scaleDownMode"))), MaxPods: d.number(r.props("maxPods")),
		OS: aks.OS(d.text(r.props("osType"))), OSSKU: aks.OSSKU(d.text(r.props("osSKU"))), OSDisk: aks.OSDisk(d.text(r.props("osDiskType"))), OSDiskGB: d.number(r.props("osDiskSizeGB")),
		Priority: aks.Priority(d.text(r.props("scaleSetPriority"))), Eviction: aks.Eviction(d.text(r.props("scaleSetEvictionPolicy"))),
		Taints: d.texts(r.props("nodeTaints")), Labels: map[string]string{}, MaxSurge: d.text(r.props("upgradeSettings.maxSurge")),
		MIG: aks.Profile(d.text(r.props("gpuInstanceProfile"))), Driver: aks.Driver(d.text(r.props("gpuProfile.driver"))), DriverType: aks.DriverType(d.text(r.props("gpuProfile.driverType"))),
		SubnetID: d.text(r.props("vnetSubnetID")), PodSubnetID: d.text(r.props("podSubnetID")),
	}
	if price, ok := r.props("spotMaxPrice").number(); ok {
		p.SpotMaxPrice = &price
	}
	labels := r.props("nodeLabels")
	d.unknown = d.unknown || labels.unknown()
	m, _ := labels.v.(map[string]any)
	for key, v := range m {
		p.Labels[key] = d.text(value{v})
	}
	return p
}

// subnetsUsed is what is known of the subnets of pools (A421, A422).
func (s State) subnetsUsed(pools []aks.Pool) map[string]aks.Subnet {
	out := map[string]aks.Subnet{}
	for _, pool := range pools {
		for _, id := range []string{pool.SubnetID, pool.PodSubnetID} {
			r, ok := s.Find(id)
			if !ok {
				continue
			}
			nat, routes := r.props("natGateway"), r.props("routeTable")
			subnet := aks.Subnet{RouteTable: !routes.absent(), NATGateway: !nat.absent()}
			if space := subnetSpace(r); len(space) > 0 {
				subnet.Prefix = space[0]
			}
			out[r.ID] = subnet
		}
	}
	return out
}
