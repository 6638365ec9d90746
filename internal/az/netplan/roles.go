// Package netplan plans the addresses of the platform's network: which subnets
// there are, where each lies and whether it is large enough. Everything is
// plain arithmetic on plain values, so a plan is complete before anything
// exists, and adding a subnet never moves another.
package netplan

import "strings"

// Role says what a subnet is for. There is one subnet per role.
type Role string

// The roles. Nodes have subnets by what may run on them, because with overlay
// networking a network rule sees the node's address and never the pod's:
// https://learn.microsoft.com/azure/aks/concepts-network-azure-cni-overlay
// Endpoints have subnets by who may reach them.
const (
	SystemNodes     Role = "system-nodes"     // AKS system pool and the API server's endpoint
	WorkerNodes     Role = "worker-nodes"     // queue workers
	BatchNodes      Role = "batch-nodes"      // the batch control plane, alone
	Doors           Role = "doors"            // internal load balancers and, by mode, the gateway's endpoint: what callers reach
	Runner          Role = "runner"           // the machine that runs deployments inside the network
	Gateway         Role = "gateway"          // API Management
	EndpointsData   Role = "endpoints-data"   // blob, table, bus, vault, registry
	EndpointsModels Role = "endpoints-models" // synchronous model accounts: the gateway alone
	EndpointsBatch  Role = "endpoints-batch"  // the batch account: the control plane alone
)

// gpuPrefix starts the role of a GPU pool's subnet.
const gpuPrefix = "gpu-nodes-"

// GPUNodes is the role of the subnet of one kind of GPU node.
func GPUNodes(kind string) Role { return Role(gpuPrefix + kind) }

// IsGPU tells whether the role is that of a kind of GPU node.
func (r Role) IsGPU() bool { return strings.HasPrefix(string(r), gpuPrefix) }

// IsNodes tells whether AKS nodes live in the subnet.
func (r Role) IsNodes() bool {
	return r == SystemNodes || r == WorkerNodes || r == BatchNodes || r.IsGPU()
}

// IsEndpoints tells whether the subnet holds private endpoints only.
func (r Role) IsEndpoints() bool {
	return r == EndpointsData || r == EndpointsModels || r == EndpointsBatch
}
