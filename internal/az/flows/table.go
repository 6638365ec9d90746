// Package flows is the one table of who may talk to whom. Network security
// groups and the policies of the cluster are generated from it; what it does not
// list is denied.
package flows

import (
	"net/netip"

	"onedoor/internal/az"
	"onedoor/internal/az/netplan"
)

// Flow is one row: who opens connections to what, and why.
type Flow struct {
	Number int // stable: it decides the priority of the rule; never reused
	From   Place
	To     Place
	Ports  Ports
	Why    string
	Source string          // link that says so
	When   func(Site) bool // nil: always
}

// Ports are what a flow may use.
type Ports struct {
	Protocol Protocol
	Numbers  []string // single ports or ranges, as in "443" or "1024-65535"; "*" for any
}

// Protocol is a transport protocol as network security groups spell it.
type Protocol string

// The protocols.
const (
	TCP Protocol = "Tcp"
	UDP Protocol = "Udp"
	Any Protocol = "*"
)

// Site is what decides which rows hold.
type Site struct {
	Environment     az.Environment
	Location        string
	Plan            netplan.Plan
	DNSServers      []netip.Addr // of the network, where it has its own
	PrivateBus      bool         // reached through an endpoint
	PrivateRegistry bool         // reached through an endpoint
	Hostnames       bool         // pods are held to host names on the internet, which the cluster must be able to
	HuggingFace     bool         // model servers fetch weights from there
	Providers       bool         // some models are served outside Azure
	PublicGateway   string       // host name of a gateway on the internet; "" for an internal one
}

func tcp(ports ...string) Ports { return Ports{TCP, ports} }
func udp(ports ...string) Ports { return Ports{UDP, ports} }

var (
	https    = tcp("443")
	amqp     = tcp("443", "5671") // 443 carries AMQP over WebSockets and management
	dns      = Ports{Any, []string{"53"}}
	anything = Ports{Any, []string{"*"}}
)

// What pods listen on. The load balancers of the doors answer on 443, which pods
// without privileges cannot.
const (
	DoorPort    = "8443" // of the pods behind a door
	ServingPort = "8000" // of model servers
	RayPort     = "8265" // of the heads of Ray clusters, where applications are deployed
	MetricsPort = "8080" // of every pod that has metrics
)

// Sources of the rows.
const (
	aksEgress      = "https://learn.microsoft.com/azure/aks/outbound-rules-control-egress"
	aksOverlay     = "https://learn.microsoft.com/azure/aks/concepts-network-azure-cni-overlay"
	apimNetwork    = "https://learn.microsoft.com/azure/api-management/virtual-network-reference"
	busPorts       = "https://learn.microsoft.com/azure/service-bus-messaging/service-bus-faq"
	fqdnPolicy     = "https://learn.microsoft.com/azure/aks/container-network-security-fqdn-filtering-concepts"
	kedaServiceBus = "https://keda.sh/docs/latest/scalers/azure-service-bus/"
	loadBalancer   = "https://learn.microsoft.com/azure/load-balancer/load-balancer-custom-probe-overview"
	kubeDNS        = "https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/"
	privateLink    = "https://learn.microsoft.com/azure/private-link/private-endpoint-overview"

	hubStorage      = "https://huggingface.co/docs/hub/storage-backends"
	rayAutoscaler   = "https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/configuring-autoscaling.html"
	rayOperatorDocs = "https://docs.ray.io/en/latest/cluster/kubernetes/getting-started/rayservice-quick-start.html"
	oneDoor         = "docs: every model call goes through one metered door"
)

func dev(s Site) bool      { return s.Environment == az.Dev }
func external(s Site) bool { return !s.Plan.Gateway.Internal }
func classic(s Site) bool  { return s.Plan.Gateway.Mode == netplan.Classic }
func inside(s Site) bool   { return s.Plan.Gateway.Mode != netplan.Endpoint } // its own subnet takes calls

func hostnames(s Site) bool       { return s.Hostnames }
func noHostnames(s Site) bool     { return !s.Hostnames }
func hubByName(s Site) bool       { return s.Hostnames && s.HuggingFace }
func privateBus(s Site) bool      { return s.PrivateBus }
func publicBus(s Site) bool       { return !s.PrivateBus }
func privateRegistry(s Site) bool { return s.PrivateRegistry }
func classicExternal(s Site) bool { return classic(s) && external(s) }
func providers(s Site) bool       { return s.Providers }
func publicNamed(s Site) bool     { return s.Hostnames && s.PublicGateway != "" }
func insideInternal(s Site) bool  { return inside(s) && !external(s) }

// Table lists every flow. Rows differ between environments only where they
// carry a When.
var Table = []Flow{
	// The asynchronous door.
	{1, systemNodes, bus, https, "KEDA reads queue lengths over the management endpoint", kedaServiceBus, privateBus},
	{2, workerNodes, bus, amqp, "workers receive messages", busPorts, privateBus},
	{3, workerNodes, blob, https, "workers read payloads and write results", privateLink, nil},
	{4, workerNodes, gateway, https, "workers call models through the gateway", oneDoor, insideInternal},
	{6, batchNodes, batchAccount, https, "the control plane submits batch jobs; nobody else does", oneDoor, nil},
	{7, batchNodes, bus, amqp, "the control plane sends work; nobody else does", busPorts, privateBus},
	{8, batchNodes, blob, https, "the control plane stores payloads and batch files", privateLink, nil},
	{9, batchNodes, table, https, "the control plane keeps its ledger", privateLink, nil},

	// Every node.
	{10, anyNode, registry, https, "nodes pull images", privateLink, privateRegistry},
	{11, anyNode, vault, https, "pods mount secrets and certificates", privateLink, nil},
	{12, gpuNodes, blob, https, "serving loads model weights", privateLink, nil},
	{13, nodesAndPods, nodesAndPods, anything, "kubelet, DNS, konnectivity and pod to pod; with overlay the rules see pod addresses too", aksOverlay, nil},
	{14, azureLoadBalancer, anyNode, anything, "health probes of the internal load balancers", loadBalancer, nil},
	{15, anyNode, tag("AzureCloud.{location}"), tcp("9000"), "the tunnel to a control plane that is not private", aksEgress, dev},
	{16, anyNode, tag("MicrosoftContainerRegistry"), https, "AKS system images", aksEgress, nil},
	{17, anyNode, tag("AzureFrontDoor.FirstParty"), https, "the content network of the AKS system images", aksEgress, nil},
	{18, anyNode, tag("AzureActiveDirectory"), https, "tokens", aksEgress, nil},
	{19, anyNode, tag("AzureResourceManager"), https, "the cloud provider's calls", aksEgress, nil},
	{20, anyNode, tag("AzureMonitor"), https, "metrics and logs", aksEgress, nil},
	{21, anyNode, internet, udp("123"), "time", aksEgress, nil},
	{22, anyNode, internet, https, "packages and drivers of the nodes, whose publishers name no fixed addresses; pods are held by their own policies", aksEgress, nil},
	{24, workerNodes, tag("ServiceBus.{location}"), tcp("5671"), "a Standard namespace has no private endpoint", busPorts, publicBus},
	{25, batchNodes, tag("ServiceBus.{location}"), tcp("5671"), "a Standard namespace has no private endpoint", busPorts, publicBus},
	{27, anyNode, dnsServers, dns, "names, where the network has DNS servers of its own", aksEgress, nil},

	// The synchronous door.
	{30, gateway, models, https, "the gateway calls the synchronous model accounts; nobody else does", oneDoor, nil},
	{31, gateway, servingEdge, https, "the gateway calls models served in the cluster", oneDoor, nil},
	{32, peers, gateway, https, "callers in peered networks", oneDoor, insideInternal},
	{33, internet, gateway, https, "callers on the internet", apimNetwork, classicExternal},
	{34, tag("ApiManagement"), gateway, tcp("3443"), "Azure manages the injected gateway", apimNetwork, classic},
	{35, azureLoadBalancer, gateway, tcp("6390"), "health probe of the injected gateway", apimNetwork, classic},
	{36, gateway, tag("Storage"), https, "the gateway's own storage", apimNetwork, inside},
	{37, gateway, tag("Sql"), tcp("1433"), "the gateway's own database", apimNetwork, classic},
	{38, gateway, tag("AzureKeyVault"), https, "named values and certificates", apimNetwork, inside},
	{39, gateway, tag("AzureMonitor"), tcp("443", "1886"), "the gateway's telemetry", apimNetwork, inside},
	{40, gateway, tag("AzureActiveDirectory"), https, "tokens, and the keys to check callers' tokens", apimNetwork, inside},
	{41, gateway, vault, https, "named values and certificates, whose vault's name resolves to its endpoint", privateLink, inside},
	{42, gateway, gateway, udp("4290"), "units share the counters of rate limits", apimNetwork, classic},
	{43, gateway, gateway, tcp("6381-6383"), "units share their cache", apimNetwork, classic},
	{44, gateway, internet, tcp("80"), "certificates are checked for revocation", apimNetwork, inside},
	{45, gateway, dnsServers, dns, "names, where the network has DNS servers of its own", apimNetwork, nil},
	{46, gateway, internet, https, "the gateway calls models outside Azure", oneDoor, providers},

	// Doors inside the network.
	{50, peers, batchDoor, https, "callers of the control plane in peered networks", oneDoor, nil},
	{51, workerNodes, batchDoor, https, "workers report to the control plane", oneDoor, nil},

	// Deployments from inside the network.
	{60, runner, systemNodes, https, "the private API server", aksEgress, nil},
	{61, runner, registry, https, "images and charts are imported", privateLink, privateRegistry},
	{62, runner, vault, https, "secrets and certificates are written", privateLink, nil},
	{63, runner, doors, https, "live checks of the doors", oneDoor, nil},
	{64, runner, tag("AzureResourceManager"), https, "deployments", aksEgress, nil},
	{65, runner, tag("AzureActiveDirectory"), https, "tokens", aksEgress, nil},
	{66, runner, internet, https, "the packages of a deployment", oneDoor, nil},
	{67, runner, blob, https, "evidence is written", privateLink, nil},
	{68, runner, gateway, https, "live checks of the doors", oneDoor, insideInternal},
	{69, runner, dnsServers, dns, "names, where the network has DNS servers of its own", aksEgress, nil},

	// Pods. These rows open no security group: pods leave with the address of their
	// node, whose rows above open as much or more.
	{70, platformPods, clusterDNS, dns, "names", kubeDNS, nil},
	{71, platformPods, login, https, "pods exchange their tokens", fqdnPolicy, hostnames},
	{72, platformPods, telemetry, https, "pods send telemetry", fqdnPolicy, hostnames},
	{73, platformPods, internet, https, "tokens, telemetry and packages, where the cluster cannot hold pods to host names", aksEgress, noHostnames},
	{74, controlPlane, apiServer, https, "the control plane elects its leader", oneDoor, nil},
	{76, systemPods, platformPods, tcp(MetricsPort), "metrics are collected", "https://learn.microsoft.com/azure/azure-monitor/containers/prometheus-metrics-scrape-configuration", nil},

	// Model servers. The parts of one Ray cluster reach one another by a policy of
	// their own, which no other cluster's match.
	{77, edgePods, modelServers, tcp(ServingPort), "the edge calls model servers; nobody else does", oneDoor, nil},
	{78, modelServers, apiServer, https, "Ray's autoscaler asks for workers", rayAutoscaler, nil},
	{79, modelServers, huggingFace, https, "weights that are not in the platform's storage", hubStorage, hubByName},
	{80, rayOperator, clusterDNS, dns, "names", kubeDNS, nil},
	{81, rayOperator, apiServer, https, "the operator makes the pods of Ray clusters", rayOperatorDocs, nil},
	{82, rayOperator, modelServers, tcp(RayPort), "the operator deploys applications on the heads of Ray clusters", rayOperatorDocs, nil},
	{90, workerNodes, publicGateway, https, "workers call models through a gateway on the internet", oneDoor, publicNamed},
}
