// Package reach computes who can open a connection to what, from the planned
// resources of a stack alone: subnets with their security groups, routes and ways
// out, private endpoints and the names that lead to them, what services let in, and
// the policies of the cluster. It knows nothing of configuration, asks nobody, and
// says so where a plan cannot tell. Who holds which role, and which pod may run
// where, are other walls and not its subject.
package reach

import (
	"slices"
	"strings"

	"onedoor/internal/az/netplan"
	"onedoor/internal/kube"
)

// Model is the reachable part of a plan.
type Model struct {
	network   *network
	cluster   cluster
	targets   []target
	endpoints []endpoint
	gateway   *gateway // nil where none is planned
}

// New reads a plan.
func New(resources []Resource) *Model {
	resources = slices.SortedFunc(slices.Values(resources), func(a, b Resource) int { return strings.Compare(a.URN, b.URN) })
	return &Model{
		network: readNetwork(resources), cluster: readCluster(resources), targets: readTargets(resources),
		endpoints: readEndpoints(resources), gateway: readGateway(resources),
	}
}

// origin is who opens connections.
type origin struct {
	name      string
	subnet    *subnet // nil for whoever is outside the network
	namespace string  // of pods; "" for machines
	peers     bool    // peered networks; else, outside, the internet
}

// Who is outside the network.
var (
	fromPeers    = origin{name: "peers", peers: true}
	fromInternet = origin{name: "internet"}
)

// workloads are the origins of the matrix.
func (m *Model) workloads() []origin {
	var out []origin
	for _, w := range []struct{ name, namespace string }{
		{"system pods and KEDA", kube.System}, {"workers", kube.Workers}, {"batch control plane", kube.Batch},
		{"serving edge", kube.Edge}, {"ray operator", kube.KubeRay}, {"model servers", kube.Serving},
	} {
		for _, pool := range m.cluster.pools {
			if sub := m.network.at(pool.subnet); pool.runs(w.namespace) && sub != nil {
				name := w.name
				if w.namespace == kube.Serving {
					name += " (" + pool.name + ")"
				}
				out = append(out, origin{name: name, subnet: sub, namespace: w.namespace})
			}
		}
	}
	for _, role := range []netplan.Role{netplan.Gateway, netplan.Runner} {
		if sub := m.network.role(role); sub != nil {
			out = append(out, origin{name: string(role), subnet: sub})
		}
	}
	return append(out, fromPeers, fromInternet)
}

// machines are any machine in each subnet, whoever it belongs to. The gateway and
// the runner are their subnets' only ones.
func (m *Model) machines() []origin {
	var out []origin
	for _, sub := range m.network.subnets {
		if sub.role == netplan.Gateway || sub.role == netplan.Runner {
			continue
		}
		name := string(sub.role)
		if name == "" {
			name = sub.key
		}
		out = append(out, origin{name: "any machine in " + name, subnet: sub})
	}
	return out
}

// node tells whether the origin is a machine of the cluster, which policies of
// pods cannot name.
func (m *Model) node(o origin) bool {
	return o.namespace == "" && o.subnet != nil && slices.ContainsFunc(m.cluster.pools, func(p pool) bool { return p.subnet == o.subnet.key })
}

// vnets are the keys of the networks that the origin resolves names in.
func (m *Model) vnets(o origin) []string {
	if o.peers {
		return m.network.peers
	}
	return []string{m.network.key}
}
