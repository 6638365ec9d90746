package reach

import (
	"net/netip"
	"slices"
	"strings"

	"onedoor/internal/az/netplan"
	"onedoor/internal/kube"
)

// cluster is the AKS cluster of a plan.
type cluster struct {
	planned   bool
	pools     []pool // sorted by name
	pods      netip.Prefix
	enforced  bool     // something holds pods to their policies
	hostnames bool     // by host name too
	private   bool     // the API server has a private endpoint alone
	zone      string   // key of the private zone of the API server; "" for Azure's own
	ranges    []string // that may call a public API server; none means all
	policies  []policy
	doors     []door
	spaces    []string // namespaces that are planned, sorted
}

// pool is a node pool.
type pool struct {
	name   string
	system bool
	gpu    bool
	subnet string // key
}

// door is a service of the cluster behind a load balancer.
type door struct {
	name       string
	namespace  string
	internal   bool
	address    netip.Addr // invalid where it is not known
	ports      []doorPort
	keepSource bool           // pods see who calls
	sources    []netip.Prefix // that may call; none means all
}

// doorPort is a port of a load balancer with the pods' behind it; "" where the pod
// names it.
type doorPort struct{ port, pod string }

func readCluster(resources []Resource) cluster {
	var c cluster
	for _, r := range resources {
		switch r.kind() {
		case "containerservice:ManagedCluster":
			c.planned = true
			c.read(r)
		case "containerservice:AgentPool":
			c.pools = append(c.pools, readPool(r.in("agentPoolName").text(), in{r.Inputs}))
		case "core/v1:Namespace":
			c.spaces = append(c.spaces, r.in("metadata", "name").text())
		case "core/v1:Service":
			if r.in("spec", "type").text() == "LoadBalancer" {
				c.doors = append(c.doors, readDoor(r))
			}
		case "networking.k8s.io/v1:NetworkPolicy", "cilium.io/v2:CiliumNetworkPolicy", "cilium.io/v2:CiliumClusterwideNetworkPolicy":
			c.policies = append(c.policies, readPolicy(r)...)
		}
	}
	slices.Sort(c.spaces)
	slices.SortFunc(c.pools, func(a, b pool) int { return strings.Compare(a.name, b.name) })
	return c
}

func (c *cluster) read(r Resource) {
	profile := r.in("networkProfile")
	c.pods, _ = netip.ParsePrefix(profile.at("podCidr").text())
	engine := profile.at("networkPolicy").text()
	c.enforced = engine != "" && engine != "none"
	c.hostnames = profile.at("advancedNetworking", "security", "enabled").state(false) == yes
	access := r.in("apiServerAccessProfile")
	c.private = access.at("enablePrivateCluster").state(false) == yes
	c.zone = keyOf(access.at("privateDNSZone").text())
	c.ranges, _ = access.at("authorizedIPRanges").texts()
	for _, p := range r.in("agentPoolProfiles").list() {
		c.pools = append(c.pools, readPool(p.at("name").text(), p))
	}
}

func readPool(name string, v in) pool {
	taints, _ := v.at("nodeTaints").texts()
	return pool{
		name: name, system: v.at("mode").text() == "System", subnet: keyOf(v.at("vnetSubnetID").text()),
		gpu: slices.ContainsFunc(taints, func(t string) bool { return strings.HasPrefix(t, "sku=gpu:") }),
	}
}

// runs tells whether the pods of namespace run in the pool.
func (p pool) runs(namespace string) bool {
	switch namespace {
	case kube.System, kube.Edge, kube.KubeRay:
		return p.system
	case kube.Serving:
		return p.gpu || p.system // the heads of Ray clusters need no GPU
	case kube.Batch:
		return p.name == string(batchPool)
	case kube.Workers:
		return p.name == string(workerPool)
	default:
		return false
	}
}

// The pools that are named after what they are for.
const (
	batchPool  netplan.Role = "batch"
	workerPool netplan.Role = "worker"
)

// readDoor reads a service behind a load balancer.
// https://learn.microsoft.com/azure/aks/internal-lb
func readDoor(r Resource) door {
	const prefix = "service.beta.kubernetes.io/azure-load-balancer-"
	notes := r.in("metadata", "annotations")
	d := door{
		name: r.in("metadata", "name").text(), namespace: r.in("metadata", "namespace").text(),
		internal:   notes.at(prefix+"internal").text() == "true",
		keepSource: r.in("spec", "externalTrafficPolicy").text() == "Local",
	}
	address := notes.at(prefix + "ipv4").text()
	if address == "" {
		address = r.in("spec", "loadBalancerIP").text()
	}
	d.address, _ = netip.ParseAddr(address)
	sources, _ := r.in("spec", "loadBalancerSourceRanges").texts()
	d.sources = prefixesOf(sources)
	for _, p := range r.in("spec", "ports").list() {
		one := doorPort{port: p.at("port").port(), pod: p.at("targetPort").port()}
		if p.at("targetPort").absent() {
			one.pod = one.port
		}
		d.ports = append(d.ports, one)
	}
	return d
}
