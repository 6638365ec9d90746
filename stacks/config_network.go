package stacks

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"onedoor/internal/az"
	"onedoor/internal/az/netplan"
)

// Network is the root key "network".
type Network struct {
	AddressSpace netip.Prefix            `json:"addressSpace"` // IPv4, /20 or larger; in an existing network the part that is ours
	Existing     Existing                `json:"existing"`     // a network to build into
	Subnets      map[string]netip.Prefix `json:"subnets"`      // by role: subnets that lie elsewhere than planned
	Peers        map[string]Peer         `json:"peers"`        // by name: networks whose people and services call the doors
	DNS          DNS                     `json:"dns"`
}

// Existing names a network that others own.
type Existing struct {
	VNetID string `json:"vnetId"` // ARM id, in any resource group of the stack's subscription; "" makes a network
}

// Peer is a network to peer with.
type Peer struct {
	VNetID       string         `json:"vnetId"`       // ARM id
	AddressSpace []netip.Prefix `json:"addressSpace"` // all its ranges
}

// DNS says who makes the private DNS zones.
type DNS struct {
	Mode            DNSMode      `json:"mode"`
	ResourceGroupID string       `json:"resourceGroupId"` // ARM id of the group that holds the zones, as in "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg-dns"; mode existing only
	Servers         []netip.Addr `json:"servers"`         // of the network, IPv4; none uses Azure's. They must forward to Azure's, or private names do not resolve
}

// DNSMode is who makes the private DNS zones of endpoints.
type DNSMode string

// The modes.
const (
	DNSCreate   DNSMode = "create"   // this stack, which also links them
	DNSExisting DNSMode = "existing" // they exist in dns.resourceGroupId, linked already
	DNSPolicy   DNSMode = "policy"   // Azure Policy registers each endpoint in zones that others own
)

var defaultNetwork = Network{DNS: DNS{Mode: DNSCreate}}

// peerName is the form of a peer's name: it becomes part of names and ids.
var peerName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,29}$`)

func (n *Network) check(report *problems) {
	if n.Existing.VNetID != "" {
		checkID(report, "network.existing.vnetId", n.Existing.VNetID, networkType)
	}
	for _, name := range sortedKeys(n.Peers) {
		key := "network.peers." + name
		if !peerName.MatchString(name) {
			report.bad(key, nil, "a name of lower-case letters, digits and hyphens, at most 30 characters, that starts with a letter", "")
		}
		checkID(report, key+".vnetId", n.Peers[name].VNetID, networkType)
		if len(n.Peers[name].AddressSpace) == 0 {
			report.bad(key+".addressSpace", nil, "every range of the peer: rules and overlap checks need them", "")
		}
	}
	for _, server := range n.DNS.Servers {
		if server.IsValid() && !server.Is4() {
			report.bad("network.dns.servers", server, "IPv4 addresses", "")
		}
	}
	switch n.DNS.Mode {
	case DNSExisting:
		checkID(report, "network.dns.resourceGroupId", n.DNS.ResourceGroupID, "")
	case DNSCreate, DNSPolicy:
		if n.DNS.ResourceGroupID != "" {
			report.bad("network.dns.resourceGroupId", n.DNS.ResourceGroupID, fmt.Sprintf("nothing: with network.dns.mode %s it is not read", n.DNS.Mode), "")
		}
	default:
		report.bad("network.dns.mode", n.DNS.Mode, oneOf(DNSCreate, DNSExisting, DNSPolicy), string(DNSCreate))
	}
}

// checkExisting refuses a network that the stack's provider cannot write to.
func (c *Config) checkExisting(report *problems) {
	id, err := az.ParseID(c.Network.Existing.VNetID)
	if err == nil && !strings.EqualFold(id.SubscriptionID, c.Base.SubscriptionID) {
		report.bad("network.existing.vnetId", id.SubscriptionID, "a network in the stack's own subscription, "+c.Base.SubscriptionID+": its subnets are made there", "")
	}
}

// planNetwork plans the addresses, which follow from three root keys at once.
func (c *Config) planNetwork(report *problems) {
	in := netplan.Input{
		AddressSpace: c.Network.AddressSpace,
		Overrides:    map[netplan.Role]netip.Prefix{},
		Peers:        map[string][]netip.Prefix{},
		Pods:         c.Cluster.PodCIDR,
		Services:     c.Cluster.ServiceCIDR,
		SystemNodes:  c.Cluster.Pools.System.MaxNodes,
		WorkerNodes:  c.Cluster.Pools.Worker.MaxNodes,
		BatchNodes:   c.Cluster.Pools.Batch.MaxNodes,
		GPU:          map[string]netplan.GPU{},
		Gateway:      c.Gateway.network(),
	}
	for role, prefix := range c.Network.Subnets {
		in.Overrides[netplan.Role(role)] = prefix
	}
	for name, peer := range c.Network.Peers {
		in.Peers[name] = peer.AddressSpace
	}
	for kind, pool := range c.Cluster.Pools.GPU {
		in.GPU[kind] = netplan.GPU{Slot: pool.Slot, Nodes: pool.MaxNodes}
	}
	plan, found := netplan.Make(in)
	for _, p := range found {
		key, got := keyOf(p), p.Got
		if strings.HasPrefix(got, "invalid") {
			got = ""
		}
		report.list = append(report.list, Problem{Key: key, Got: got, Want: "want " + p.Want})
	}
	c.plan = plan
}

// keyOf is the configuration key that a problem of the plan is about.
func keyOf(p netplan.Problem) string {
	switch p.Field {
	case netplan.FieldAddressSpace:
		return "network.addressSpace"
	case netplan.FieldOverrides:
		return "network.subnets." + p.Key
	case netplan.FieldPeers:
		return "network.peers." + p.Key + ".addressSpace"
	case netplan.FieldPods:
		return "cluster.podCidr"
	case netplan.FieldServices:
		return "cluster.serviceCidr"
	default:
		return "cluster.pools.gpu." + p.Key
	}
}
