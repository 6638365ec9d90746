package flows

import (
	"net/netip"
	"slices"
	"strings"

	"onedoor/internal/az/netplan"
	"onedoor/internal/kube"
)

// Place is one end of a flow.
type Place struct {
	name    string
	holds   func(netplan.Role) bool // subnets of the place; nil for places outside
	service string                  // what is reached there, where a subnet holds several things
	prefix  func(Site) []string     // addresses that rules elsewhere name for the place
	extra   func(Site) []string     // addresses besides the subnet's own that its own rules name; may be nil

	namespaces []string // of the pods that are the place, where pods are
	hosts      []string // names of the place on the internet, each as Cilium matches them; {gateway} stands for the gateway's
	entity     Entity   // what the place is to the cluster, where it has a word of its own
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

// Runs tells whether pods of the place may run in the subnet of role: anywhere,
// where the place is no subnet.
func (p Place) Runs(role netplan.Role) bool { return p.holds == nil || p.holds(role) }

// Prefixes are the addresses or the service tag that rules name for the
// place, sorted.
func (p Place) Prefixes(s Site) []string { return p.prefix(s) }

// Namespaces are those whose pods are the place, sorted; none where the place is
// no pods.
func (p Place) Namespaces() []string { return p.namespaces }

// Entity is what the cluster itself calls a place.
type Entity string

// The entities.
const (
	ClusterDNS Entity = "cluster-dns"
	APIServer  Entity = "kube-apiserver" // as Cilium calls it
)

// Entity is what the place is to the cluster, "" for nothing special.
func (p Place) Entity() Entity { return p.entity }

// Hosts are the names of the place on the internet at site; none where addresses
// tell.
func (p Place) Hosts(s Site) []string {
	var out []string
	for _, host := range p.hosts {
		out = append(out, strings.ReplaceAll(host, "{gateway}", s.PublicGateway))
	}
	return out
}

var (
	systemNodes  = subnet(netplan.SystemNodes, "")
	workerNodes  = subnet(netplan.WorkerNodes, "").with(kube.Workers)
	batchNodes   = subnet(netplan.BatchNodes, "").with(kube.Batch)
	runner       = subnet(netplan.Runner, "")
	batchDoor    = doorsPlace(kube.Batch)
	servingEdge  = doorsPlace(kube.Edge)
	doors        = doorsPlace(kube.Batch, kube.Edge)
	models       = subnet(netplan.EndpointsModels, "model accounts")
	batchAccount = subnet(netplan.EndpointsBatch, "batch account")
	blob         = subnet(netplan.EndpointsData, "blob")
	table        = subnet(netplan.EndpointsData, "table")
	bus          = subnet(netplan.EndpointsData, "bus")
	vault        = subnet(netplan.EndpointsData, "vaults")
	registry     = subnet(netplan.EndpointsData, "registry")

	gpuNodes = subnets("gpu-nodes", netplan.Role.IsGPU).with(kube.Serving)
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

	// Pods without subnets of their own: no security group tells them from their
	// nodes, only the policies of the cluster do.
	platformPods = pod("platform-pods", kube.Batch, kube.Edge, kube.Serving, kube.Workers)
	controlPlane = pod("control-plane", kube.Batch)
	edgePods     = pod("serving-edge", kube.Edge)
	modelServers = pod("model-servers", kube.Serving)
	rayOperator  = pod("ray-operator", kube.KubeRay)
	systemPods   = pod("system-pods", kube.System)
	clusterDNS   = Place{name: "cluster-dns", prefix: nowhere, entity: ClusterDNS}
	apiServer    = Place{name: "kubernetes-api", prefix: nowhere, entity: APIServer}

	publicGateway = Place{name: "public-gateway", prefix: nowhere, hosts: []string{"{gateway}"}}
	// https://learn.microsoft.com/azure/aks/outbound-rules-control-egress
	login = Place{name: "login", prefix: nowhere, hosts: []string{"login.microsoftonline.com"}}
	// https://huggingface.co/docs/hub/storage-backends
	huggingFace = Place{name: "hugging-face", prefix: nowhere, hosts: []string{"huggingface.co", "*.huggingface.co", "*.hf.co", "*.xethub.hf.co"}}
	// https://learn.microsoft.com/azure/azure-monitor/fundamentals/azure-monitor-network-access
	telemetry = Place{name: "telemetry", prefix: nowhere, hosts: []string{"*.in.applicationinsights.azure.com", "*.livediagnostics.monitor.azure.com"}}
)

// with is the place, known to the cluster as the pods of namespaces.
func (p Place) with(namespaces ...string) Place {
	p.namespaces = namespaces
	return p
}

// pod is the place of all pods of namespaces.
func pod(name string, namespaces ...string) Place {
	return Place{name: name, prefix: nowhere, namespaces: namespaces}
}

func nowhere(Site) []string { return nil }

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

// doorsPlace is the load balancers' subnet, with the doors that the pods of
// namespaces stand behind. Their back ends are the nodes of those pods, and AKS
// load balancers keep the front end's address as the destination, so the nodes'
// own rules must let it in. The rules of other nodes do not: services behind a
// door need externalTrafficPolicy Local, or Azure balances to nodes that drop what
// it sends.
// https://learn.microsoft.com/azure/load-balancer/load-balancer-floating-ip
func doorsPlace(namespaces ...string) Place {
	p := subnet(netplan.Doors, "").with(namespaces...)
	batch, edge := slices.Contains(namespaces, kube.Batch), slices.Contains(namespaces, kube.Edge)
	p.holds = func(r netplan.Role) bool {
		return r == netplan.Doors || batch && r == netplan.BatchNodes || edge && r == netplan.SystemNodes
	}
	p.extra = p.prefix
	return p
}

func pods(s Site) []string { return []string{s.Plan.Pods.String()} }

// Own are the addresses that the rules of the subnet of role name for the
// place as their own end of a flow.
func (p Place) Own(s Site, role netplan.Role) []string {
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
