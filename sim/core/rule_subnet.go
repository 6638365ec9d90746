package core

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Azure keeps five addresses of each subnet, so /29 is the smallest; /64 is the
// only IPv6 size (A022).
// https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq
const smallestSubnet, onlySubnet6 = 29, 64

// subnetSpace returns the known blocks of a subnet.
func subnetSpace(r *Resource) []netip.Prefix {
	texts := r.props("addressPrefixes").texts()
	if one := r.props("addressPrefix").text(); one != "" {
		texts = append(texts, one)
	}
	out, _ := prefixes(texts)
	return out
}

// subnetPrefixes: inside the network (A020), apart from its siblings (A021), of
// a legal size (A022).
func subnetPrefixes(s State, r, _ *Resource) *Error {
	siblings := map[string][]netip.Prefix{}
	for _, other := range s.subnetsOf(ParentOf(r.ID)) {
		if Key(other.ID) != Key(r.ID) && other.Provisioning != Deleting {
			siblings[Name(other.ID)] = subnetSpace(other)
		}
	}
	space, decided := spaceOf(s.network(r.ID))
	return fits(r, space, decided, siblings)
}

func fits(r *Resource, space []netip.Prefix, decided bool, siblings map[string][]netip.Prefix) *Error {
	one, many := r.props("addressPrefix"), r.props("addressPrefixes")
	if one.unknown() || many.hasUnknown() {
		return nil
	}
	texts := many.texts()
	if one.text() != "" && len(texts) == 0 {
		texts = []string{one.text()}
	}
	if len(texts) == 0 {
		if r.props("ipamPoolPrefixAllocations").known() {
			return nil
		}
		return refuse(NetcfgInvalidSubnet, "addressPrefix", "subnet "+r.ID, "no address prefix", "a CIDR block", "set addressPrefix")
	}
	own, bad := prefixes(texts)
	if bad != "" {
		return refuse(NetcfgInvalidSubnet, "addressPrefix", "subnet "+r.ID, strconv.Quote(bad), "a CIDR block such as 10.0.1.0/24", "correct it")
	}
	for _, p := range own {
		if p != p.Masked() {
			return refuse(NetcfgInvalidSubnet, "addressPrefix", "subnet "+r.ID, p.String(), p.Masked().String()+", the block's first address", "use that")
		}
		if p.Addr().Is4() && p.Bits() > smallestSubnet {
			return refuse(NetcfgInvalidSubnet, "addressPrefix", "subnet "+r.ID, p.String(), "/29 or larger, because Azure keeps five addresses of each subnet", "choose a larger block")
		}
		if p.Addr().Is6() && p.Bits() != onlySubnet6 {
			return refuse(NetcfgInvalidSubnet, "addressPrefix", "subnet "+r.ID, p.String(), "/64, the only size for IPv6", "choose a /64")
		}
		if decided && !covers(space, p) {
			return refuse(NetcfgInvalidSubnet, "addressPrefix", "subnet "+r.ID, p.String(), "a block inside its network's "+quoted(space), "move it inside, or widen the network")
		}
		for _, name := range sortedKeys(siblings) {
			for _, q := range siblings[name] {
				if p.Overlaps(q) {
					return refuse(NetcfgSubnetRangesOverlap, "addressPrefix", "subnet "+r.ID, p.String(),
						fmt.Sprintf("a block apart from %s of subnet %s", q, name), "move one of them")
				}
			}
		}
	}
	return nil
}

// delegable are services that subnets can be delegated to (A023); the list is
// GET .../locations/{l}/availableDelegations, shortened to what a platform meets.
var delegable = []string{
	"GitHub.Network/networkSettings", "Microsoft.ApiManagement/service", "Microsoft.App/environments", "Microsoft.App/agents",
	"Microsoft.Batch/batchAccounts", "Microsoft.BareMetal/AzureVMware", "Microsoft.CloudTest/images", "Microsoft.CloudTest/hostedpools",
	"Microsoft.ContainerInstance/containerGroups", "Microsoft.ContainerService/managedClusters", "Microsoft.DBforMySQL/flexibleServers",
	"Microsoft.DBforPostgreSQL/flexibleServers", "Microsoft.DBforPostgreSQL/serversv2", "Microsoft.Databricks/workspaces",
	"Microsoft.DevCenter/networkConnection", "Microsoft.DevOpsInfrastructure/pools", "Microsoft.HardwareSecurityModules/dedicatedHSMs",
	"Microsoft.Logic/integrationServiceEnvironments", "Microsoft.MachineLearningServices/workspaces", "Microsoft.Netapp/volumes",
	"Microsoft.Network/applicationGateways", "Microsoft.Network/dnsResolvers", "Microsoft.Network/managedResolvers", "Microsoft.Orbital/orbitalGateways",
	"Microsoft.PowerPlatform/enterprisePolicies", "Microsoft.PowerPlatform/vnetaccesslinks", "Microsoft.ServiceFabricMesh/networks",
	"Microsoft.ServiceNetworking/trafficControllers", "Microsoft.Singularity/accounts/networks", "Microsoft.Sql/managedInstances",
	"Microsoft.StoragePool/diskPools", "Microsoft.StreamAnalytics/streamingJobs", "Microsoft.Synapse/workspaces",
	"Microsoft.Web/hostingEnvironments", "Microsoft.Web/serverFarms",
}

// subnetDelegations: one delegation at most, to a service that exists; an
// existing delegation changes only while nothing uses the subnet (A023).
func subnetDelegations(s State, r, old *Resource) *Error {
	list := r.props("delegations").list()
	if len(list) > 1 {
		return refuse(InvalidRequestFormat, "delegations", "delegations of "+r.ID, strconv.Itoa(len(list)), "at most one, because a delegated service owns its subnet", "make a subnet for each service")
	}
	now := ""
	for _, d := range list {
		service := d.get("properties.serviceName")
		if service.absent() {
			service = d.get("serviceName")
		}
		if !service.known() {
			return nil
		}
		now = service.text()
		known := false
		for _, name := range delegable {
			known = known || strings.EqualFold(name, now)
		}
		if !known {
			return refuse(InvalidRequestFormat, "delegations", "delegation of "+r.ID, strconv.Quote(now),
				"a service that takes delegations, nearest is "+closest(now, delegable), "correct the name")
		}
	}
	if old == nil || r.props("delegations").unknown() {
		return nil
	}
	was := ""
	for _, d := range old.props("delegations").list() {
		was = d.get("properties.serviceName").text()
	}
	if users := s.users(r.ID, subnetUsers...); was != "" && !strings.EqualFold(was, now) && len(users) > 0 {
		return refuse(Conflict, "delegations", "delegation of "+r.ID, strconv.Quote(now), strconv.Quote(was)+" while "+users[0].ID+" uses the subnet", "delete that resource first")
	}
	return nil
}

// subnetReferences: security group, route table and NAT gateway exist in the
// network's region and subscription (A024).
func subnetReferences(s State, r, _ *Resource) *Error {
	location := value{}
	if network := s.network(r.ID); network != nil {
		location = root(network.Body).get("location")
	}
	return subnetLinks(s, r, location)
}

func subnetLinks(s State, r *Resource, location value) *Error {
	for _, link := range []struct{ field, want string }{
		{"networkSecurityGroup", nsgType}, {"routeTable", routeTableType}, {"natGateway", natType},
	} {
		v := r.props(link.field + ".id")
		target, err := s.refer(r, link.field, v, link.want)
		if err != nil {
			return err
		}
		if err := near(r, target, link.field, location); err != nil {
			return err
		}
	}
	return nil
}

func completeSubnet(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	setDefault(props, "privateEndpointNetworkPolicies", "Disabled")
	setDefault(props, "privateLinkServiceNetworkPolicies", "Enabled")
	setDefault(props, "delegations", []any{})
	if items, ok := props["delegations"].([]any); ok {
		for _, item := range items {
			if d, ok := item.(map[string]any); ok {
				name := value{d}.get("name").text()
				d["id"], d["type"] = r.ID+"/delegations/"+name, "Microsoft.Network/virtualNetworks/subnets/delegations"
				d["etag"] = etag(r)
				if p := object(d, "properties"); p != nil {
					setDefault(p, "actions", []any{"Microsoft.Network/virtualNetworks/subnets/join/action"})
					p["provisioningState"] = Succeeded
				}
			}
		}
	}
	if items, ok := props["serviceEndpoints"].([]any); ok {
		for _, item := range items {
			if e, ok := item.(map[string]any); ok {
				setDefault(e, "locations", []any{"*"})
				e["provisioningState"] = Succeeded
			}
		}
	}
}

// subnetUsers are the types whose resources sit in a subnet and hold it.
var subnetUsers = []string{
	"microsoft.network/privateendpoints", "microsoft.network/networkinterfaces", "microsoft.containerservice/managedclusters",
	"microsoft.containerservice/managedclusters/agentpools", "microsoft.apimanagement/service", "microsoft.app/managedenvironments",
}

// subnetInUse: what sits in a subnet holds it (A027).
func subnetInUse(s State, r, with *Resource) *Error {
	return inUseBy(InUseSubnet, r, with, s.users(r.ID, subnetUsers...), "delete those first")
}

func viewSubnet(s State, r *Resource, body map[string]any) {
	endpoints := []any{}
	for _, user := range s.users(r.ID, "microsoft.network/privateendpoints") {
		endpoints = append(endpoints, map[string]any{"id": user.ID})
	}
	if len(endpoints) > 0 {
		object(body, "properties")["privateEndpoints"] = endpoints
	}
}
