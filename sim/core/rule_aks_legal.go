package core

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"onedoor/internal/az/aks"
)

// clusterLegal: no combination that AKS refuses, of the cluster with its pools
// as the write would leave them (A420).
func clusterLegal(s State, r, old *Resource) *Error {
	done := completed(r, func(r *Resource) { completeCluster(s, r, old) })
	return s.legal(r, done, s.profiles(done, old))
}

// poolLegal is the same for a write to a pool.
func poolLegal(s State, r, old *Resource) *Error {
	cluster, ok := s.Find(ParentOf(r.ID))
	if !ok {
		return nil
	}
	return s.legal(r, cluster, []*Resource{completed(r, func(r *Resource) { completePool(s, r, old) })})
}

// completed is r with what the service would add; r stays as it is.
func completed(r *Resource, complete func(*Resource)) *Resource {
	done := *r
	done.Body = copyBody(r.Body)
	complete(&done)
	return &done
}

// legal refuses cluster with the pools it has and those that are written. What is
// not known yet is not judged, nor are rules that are the project's own.
func (s State) legal(r, cluster *Resource, written []*Resource) *Error {
	pools := slices.DeleteFunc(s.poolsOf(cluster.ID), func(pool *Resource) bool {
		return pool.Provisioning == Deleting || slices.ContainsFunc(written, func(w *Resource) bool { return Key(w.ID) == Key(pool.ID) })
	})
	pools = append(pools, written...)
	slices.SortFunc(pools, systemFirst)
	d := &description{}
	c := d.cluster(cluster)
	for _, pool := range pools {
		c.Pools = append(c.Pools, d.pool(pool))
	}
	c.Network.Subnets = s.subnetsUsed(c.Pools)
	if d.unknown {
		return nil
	}
	found := slices.DeleteFunc(append(d.problems, c.Check()...), aks.Problem.Ours)
	if len(found) == 0 {
		return nil
	}
	lines := make([]string, len(found))
	for i, p := range found {
		lines[i] = fmt.Sprintf("%s: got %s, want %s", armName(c, p), cmp.Or(p.Got, "nothing"), armWords.Replace(p.Want))
	}
	target, _, _ := strings.Cut(armName(c, found[0]), ofPool)
	return &Error{Code: illegalCode(found[0]), Target: target, Message: fmt.Sprintf("%s: %s; fix: correct it", r.ID, strings.Join(lines, "; "))}
}

// systemFirst orders pools as package aks wants them: one that the cluster was
// made with comes first.
func systemFirst(a, b *Resource) int {
	rank := func(r *Resource) int {
		if r.props("mode").text() == string(aks.System) {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), byID(a, b))
}

// illegalCode is the code of a refusal. Most have AKS's general one.
func illegalCode(p aks.Problem) Code {
	_, field, _ := p.Pool()
	switch {
	case p.Rule == "C19" && field == "Version":
		return NodePoolVersionIncompatible // A433
	case p.Rule == "C23":
		return InsufficientSubnetSize
	}
	return InvalidParameter
}

// armNames are the properties that the fields of package aks stand for.
var armNames = map[string]string{
	"Name": "name", "Mode": "mode", "Type": "type", "Size": "vmSize", "Zones": "availabilityZones", "Count": "count", "AutoScale": "enableAutoScaling",
	"Min": "minCount", "Max": "maxCount", "ScaleDown": "scaleDownMode", "MaxPods": "maxPods", "OS": "osType", "OSSKU": "osSKU", "OSDisk": "osDiskType",
	"OSDiskGB": "osDiskSizeGB", "Priority": "scaleSetPriority", "Eviction": "scaleSetEvictionPolicy", "SpotMaxPrice": "spotMaxPrice", "Taints": "nodeTaints",
	"Labels": "nodeLabels", "MaxSurge": "upgradeSettings.maxSurge", "MIG": "gpuInstanceProfile", "Driver": "gpuProfile.driver", "DriverType": "gpuProfile.driverType",
	"SubnetID": "vnetSubnetID", "PodSubnetID": "podSubnetID",

	"DNSPrefix": "dnsPrefix", "FQDNSubdomain": "fqdnSubdomain", "OIDC": "oidcIssuerProfile.enabled", "WorkloadIdentity": "securityProfile.workloadIdentity.enabled",
	"KEDA": "workloadAutoScalerProfile.keda.enabled", "Identity": "identity.type", "ManagedEntra": "aadProfile.managed", "AzureRBAC": "aadProfile.enableAzureRBAC",
	"NoLocalAccounts": "disableLocalAccounts", "ArtifactSource": "bootstrapProfile.artifactSource", "Pools": "agentPoolProfiles",
	"API.Private": "apiServerAccessProfile.enablePrivateCluster", "API.PublicFQDN": "apiServerAccessProfile.enablePrivateClusterPublicFQDN",
	"API.PrivateDNSZone": "apiServerAccessProfile.privateDNSZone", "API.AuthorizedRanges": "apiServerAccessProfile.authorizedIPRanges",
	"Network.Plugin": "networkProfile.networkPlugin", "Network.Overlay": "networkProfile.networkPluginMode", "Network.Dataplane": "networkProfile.networkDataplane",
	"Network.Policy": "networkProfile.networkPolicy", "Network.Outbound": "networkProfile.outboundType", "Network.PodCIDR": "networkProfile.podCidr",
	"Network.ServiceCIDR": "networkProfile.serviceCidr", "Network.DNSServiceIP": "networkProfile.dnsServiceIP",
	"Network.Advanced": "networkProfile.advancedNetworking.enabled", "Network.AdvancedSecurity": "networkProfile.advancedNetworking.security.enabled",
}

// armWords turns the fields of package aks that a text speaks of into the properties
// of a request.
var armWords = strings.NewReplacer(
	"AdvancedSecurity", "advancedNetworking.security", "Dataplane", "networkDataplane", "DNSPrefix", "dnsPrefix", "FQDNSubdomain", "fqdnSubdomain",
	"ManagedEntra", "aadProfile.managed", "Max,", "maxCount,", "Overlay", "networkPluginMode overlay", "PodCIDR", "podCidr", "Pools[", "agentPoolProfiles[",
	"PublicFQDN", "enablePrivateClusterPublicFQDN", "ScaleDown", "scaleDownMode", "WorkloadIdentity", "securityProfile.workloadIdentity",
)

// ofPool stands between a property and the pool whose it is.
const ofPool = " of pool "

// armName is the property that a problem is about, in the words of the request.
func armName(c aks.Cluster, p aks.Problem) string {
	i, field, inPool := p.Pool()
	base, index, _ := strings.Cut(field, "[")
	if index != "" {
		index = "[" + index
	}
	if base == "Version" {
		base = "kubernetesVersion"
		if inPool {
			base = "orchestratorVersion"
		}
	}
	name := cmp.Or(armNames[base], base) + index
	if inPool && i < len(c.Pools) {
		return name + ofPool + c.Pools[i].Name
	}
	return name
}
