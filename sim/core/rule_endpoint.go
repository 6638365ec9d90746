package core

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

const (
	endpointType  = "microsoft.network/privateendpoints"
	zoneGroupType = "microsoft.network/privateendpoints/privatednszonegroups"
	recordType    = "microsoft.network/privatednszones/a"
)

// linkKinds are the services that a private endpoint leads to, and what it can
// connect of them (A340).
// https://learn.microsoft.com/azure/private-link/private-endpoint-overview#private-link-resource
var linkKinds = map[string]struct {
	groups []string
	// premium services have endpoints in their Premium tier alone (A341).
	premium bool
	// check, if set, refuses a target of this state (A466, A483, A514).
	check func(s State, r, old, target *Resource) *Error
	// members are the addresses that the endpoint takes in the subnet (A343).
	members func(name, group, region string, target *Resource) []linkMember
}{
	"microsoft.storage/storageaccounts": {
		groups: []string{"blob", "blob_secondary", "table", "table_secondary", "queue", "queue_secondary", "file", "dfs", "dfs_secondary", "web", "web_secondary"},
		members: func(name, group, _ string, _ *Resource) []linkMember {
			service, secondary, _ := strings.Cut(group, "_")
			if secondary != "" {
				name += "-" + secondary
			}
			zone := "privatelink." + service + ".core.windows.net"
			host := name + "." + service + ".core.windows.net"
			if service == "web" {
				host = name + ".z1.web.core.windows.net"
				return []linkMember{{group, host, zone, name + ".z1"}}
			}
			return []linkMember{{group, host, zone, name}}
		},
	},
	vaultType: {groups: []string{"vault"}, members: one("default", "%s.vault.azure.net", "privatelink.vaultcore.azure.net")},
	registryType: {groups: []string{"registry"}, premium: true, members: func(name, _, region string, _ *Resource) []linkMember {
		zone := "privatelink.azurecr.io"
		return []linkMember{
			{"registry_data_" + region, name + "." + region + ".data.azurecr.io", zone, name + "." + region + ".data"},
			{"registry", name + ".azurecr.io", zone, name},
		}
	}},
	"microsoft.servicebus/namespaces":      {groups: []string{"namespace"}, premium: true, members: one("namespace", "%s.servicebus.windows.net", "privatelink.servicebus.windows.net")},
	"microsoft.apimanagement/service":      {groups: []string{"Gateway"}, check: gatewayLink, members: one("Gateway", "%s.azure-api.net", "privatelink.azure-api.net")},
	"microsoft.cognitiveservices/accounts": {groups: []string{"account"}, check: modelAccountLink, members: modelMembers},
	"microsoft.containerservice/managedclusters": {groups: []string{"management"}, members: func(name, _, region string, target *Resource) []linkMember {
		zone := "privatelink." + region + ".azmk8s.io"
		if target != nil && target.props("privateFQDN").text() != "" {
			name = target.props("privateFQDN").text()
		}
		record, _, _ := strings.Cut(name, ".")
		return []linkMember{{"management", name, zone, record}}
	}},
}

// linkMember is one address of an endpoint: the name that clients ask for, and
// the private zone and the record in it that lead there.
type linkMember struct{ name, host, zone, record string }

func one(member, host, zone string) func(name, group, region string, target *Resource) []linkMember {
	return func(name, _, _ string, _ *Resource) []linkMember {
		return []linkMember{{member, fmt.Sprintf(host, name), zone, name}}
	}
}

// modelMembers: an account is reached by its own host name, under one domain for
// the kind OpenAI and under three for AIServices.
func modelMembers(name, _, _ string, target *Resource) []linkMember {
	kind := ""
	if target != nil {
		kind = root(target.Body).get("kind").text()
		if own := target.props("customSubDomainName").text(); own != "" {
			name = strings.ToLower(own)
		}
	}
	at := func(member, domain string) linkMember {
		return linkMember{member, name + "." + domain, "privatelink." + domain, name}
	}
	switch kind {
	case "OpenAI":
		return []linkMember{at("default", "openai.azure.com")}
	case "AIServices":
		return []linkMember{at("default", "cognitiveservices.azure.com"), at("secondary", "openai.azure.com"), at("third", "services.ai.azure.com")}
	}
	return []linkMember{at("default", "cognitiveservices.azure.com")}
}

// connections are the connections of an endpoint, automatic and manual.
func connections(r *Resource) []value {
	return append(r.props("privateLinkServiceConnections").list(), r.props("manualPrivateLinkServiceConnections").list()...)
}

// target returns the resource with this id, ours or a seeded one.
func (s State) target(id string) *Resource {
	if r, ok := s.Find(id); ok {
		return r
	}
	return s.External[Key(id)]
}

// endpointsOf returns the endpoints that lead to a resource, sorted by id.
func (s State) endpointsOf(id string) []*Resource { return s.users(id, endpointType) }

// endpointPlace: the subnet takes endpoints: it is not delegated to a service
// (A342), and the endpoint stays in it.
func endpointPlace(s State, r, old *Resource) *Error {
	v := r.props("subnet.id")
	if !v.known() {
		return nil
	}
	if old != nil {
		if was := old.props("subnet.id"); was.known() && Key(was.text()) != Key(v.text()) {
			return refuse(PropertyChangeNotAllowed, "subnet", "subnet of "+r.ID, v.text(), was.text()+", where its addresses are", "replace the endpoint")
		}
	}
	subnet := s.target(v.text())
	if subnet == nil {
		return nil
	}
	if delegations := subnet.props("delegations").list(); len(delegations) > 0 && old == nil {
		service := delegations[0].get("properties.serviceName").text()
		return refuse(DelegatedSubnet, "subnet", "subnet of "+r.ID, subnet.ID+", delegated to "+service, "a subnet without delegation, because a delegated one belongs to its service", "use another subnet")
	}
	return nil
}

// endpointConnections: each connection has a name and leads to a resource that
// exists, to a part of it that there is (A340), in a tier with endpoints (A341).
func endpointConnections(s State, r, old *Resource) *Error {
	for _, c := range connections(r) {
		if c.unknown() {
			continue
		}
		if name := c.get("name"); !name.unknown() && name.text() == "" {
			return refuse(InvalidRequestFormat, "privateLinkServiceConnections.name", "a connection of "+r.ID, "no name", "one, or Azure cannot parse the request", "name it, as the endpoint for example")
		}
		id, groups := c.get("properties.privateLinkServiceId"), c.get("properties.groupIds")
		if !id.known() || groups.hasUnknown() {
			continue
		}
		kind, ok := linkKinds[strings.ToLower(TypeOf(id.text()))]
		if !ok {
			continue
		}
		if live, ours := s.Find(id.text()); ours && kind.check != nil {
			if err := kind.check(s, r, old, live); err != nil {
				return err
			}
		}
		target, err := s.refer(r, "privateLinkServiceId", id, strings.ToLower(TypeOf(id.text())))
		if err != nil {
			return err
		}
		wanted := groups.texts()
		if len(wanted) == 0 {
			return refuse(MissingLinkParameter, "groupIds", "connection "+c.get("name").text()+" of "+r.ID, "no group id", "the part of "+TypeOf(id.text())+" to connect: "+strings.Join(kind.groups, ", "), "set groupIds")
		}
		for _, group := range wanted {
			if !slices.ContainsFunc(kind.groups, func(g string) bool { return strings.EqualFold(g, group) }) {
				return refuse(BadRequest, "groupIds", "connection "+c.get("name").text()+" of "+r.ID, strconv.Quote(group), "a group id of "+TypeOf(id.text())+": "+strings.Join(kind.groups, ", "), "use "+closest(group, kind.groups))
			}
		}
		if !kind.premium || target == nil {
			continue
		}
		if sku := root(target.Body).get("sku.name"); sku.known() && !premium(target) {
			return refuse(BadRequest, "privateLinkServiceId", "connection "+c.get("name").text()+" of "+r.ID, target.ID+" in tier "+sku.text(), "tier Premium, the only one with private endpoints", "raise the tier, or reach it in public")
		}
	}
	return nil
}

// members are the addresses that an endpoint needs, in order.
func (s State) members(r *Resource) []linkMember {
	var out []linkMember
	for _, c := range connections(r) {
		id := c.get("properties.privateLinkServiceId").text()
		kind, ok := linkKinds[strings.ToLower(TypeOf(id))]
		if !ok {
			out = append(out, linkMember{name: c.get("name").text()})
			continue
		}
		target, region := s.target(id), root(r.Body).get("location").text()
		if target != nil && root(target.Body).get("location").text() != "" {
			region = root(target.Body).get("location").text()
		}
		for _, group := range c.get("properties.groupIds").texts() {
			out = append(out, kind.members(strings.ToLower(Name(id)), group, Region(region), target)...)
		}
	}
	if len(out) == 0 {
		out = []linkMember{{name: "default"}}
	}
	return out
}

// taken are the addresses that endpoints other than r hold in a subnet.
func (s State) taken(subnet string, r *Resource) map[netip.Addr]*Resource {
	out := map[netip.Addr]*Resource{}
	for _, other := range s.Resources {
		if !isType(other.Type, endpointType) || Key(other.ID) == Key(r.ID) || Key(other.props("subnet.id").text()) != Key(subnet) {
			continue
		}
		for _, text := range other.Addresses {
			if a, err := netip.ParseAddr(text); err == nil {
				out[a] = other
			}
		}
	}
	return out
}

// Azure keeps the first four addresses of a block and its last one (A022).
const keptAddresses = 4

// usable says whether an address of block may be given out.
func usable(block netip.Prefix, a netip.Addr) bool {
	first := block.Masked().Addr()
	for range keptAddresses {
		if a == first {
			return false
		}
		first = first.Next()
	}
	return block.Contains(a) && block.Contains(a.Next())
}

// allocate gives each member of an endpoint an address of its subnet: the one it
// has, the one the program asks for, or the lowest free one (A343). Without a
// known subnet there are none.
func (s State) allocate(r, old *Resource) (map[string]string, *Error) {
	v := r.props("subnet.id")
	subnet := s.target(v.text())
	if !v.known() || subnet == nil {
		return nil, nil
	}
	var blocks []netip.Prefix
	for _, p := range subnetSpace(subnet) {
		if p.Addr().Is4() {
			blocks = append(blocks, p)
		}
	}
	if len(blocks) == 0 {
		return nil, nil
	}
	taken, out := s.taken(subnet.ID, r), map[string]string{}
	held := len(taken)
	for _, c := range r.props("ipConfigurations").list() {
		member, text := c.get("properties.memberName").text(), c.get("properties.privateIPAddress")
		if !text.known() {
			continue
		}
		a, err := netip.ParseAddr(text.text())
		if err != nil || !slices.ContainsFunc(blocks, func(b netip.Prefix) bool { return usable(b, a) }) {
			return nil, refuse(PrivateIPNotInSubnet, "ipConfigurations", "address of "+r.ID, strconv.Quote(text.text()), "a free address of "+quoted(blocks)+", not one of the five that Azure keeps", "choose one, or leave it to Azure")
		}
		if holder := taken[a]; holder != nil {
			return nil, refuse(PrivateIPInUse, "ipConfigurations", "address of "+r.ID, a.String()+", which "+holder.ID+" has", "a free one", "choose another one, or leave it to Azure")
		}
		taken[a], out[member] = r, a.String()
	}
	for _, m := range s.members(r) {
		if out[m.name] != "" {
			continue
		}
		if old != nil && old.Addresses[m.name] != "" {
			out[m.name] = old.Addresses[m.name]
			if a, err := netip.ParseAddr(out[m.name]); err == nil {
				taken[a] = r
			}
			continue
		}
		a, ok := lowest(blocks, taken)
		if !ok {
			return nil, refuse(SubnetIsFull, "subnet", "subnet of "+r.ID, fmt.Sprintf("%s, where other endpoints hold %d addresses", subnet.ID, held), fmt.Sprintf("%d free addresses", len(s.members(r))), "use a larger or another subnet")
		}
		taken[a], out[m.name] = r, a.String()
	}
	return out, nil
}

// lowest returns the lowest address of the blocks that nobody has.
func lowest(blocks []netip.Prefix, taken map[netip.Addr]*Resource) (netip.Addr, bool) {
	for _, block := range blocks {
		a := block.Masked().Addr()
		for range keptAddresses {
			a = a.Next()
		}
		for ; usable(block, a); a = a.Next() {
			if taken[a] == nil {
				return a, true
			}
		}
	}
	return netip.Addr{}, false
}

// endpointAddresses: the subnet has an address for each member (A343).
func endpointAddresses(s State, r, old *Resource) *Error {
	_, err := s.allocate(r, old)
	return err
}

// completeLinks adds to an endpoint its addresses and the names that belong to
// them. Azure is said to empty customDnsConfigs while a zone group is attached;
// they stay here (A344).
func completeLinks(s State, r, old *Resource) {
	completeEndpoint(s, r, old)
	r.Addresses, _ = s.allocate(r, old)
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "customNetworkInterfaceName", "")
	setDefault(props, "ipConfigurations", []any{})
	if name := (value{props["customNetworkInterfaceName"]}).text(); name != "" {
		props["networkInterfaces"] = []any{map[string]any{"id": GroupOf(r.ID) + "/providers/Microsoft.Network/networkInterfaces/" + name}}
	}
	if props["customDnsConfigs"] != nil {
		return
	}
	configs := []any{}
	for _, m := range s.members(r) {
		if ip := r.Addresses[m.name]; m.host != "" && ip != "" {
			configs = append(configs, map[string]any{"fqdn": m.host, "ipAddresses": []any{ip}})
		}
	}
	props["customDnsConfigs"] = configs
}

// connectionsTo is what the target of endpoints shows of them (A345).
func connectionsTo(s State, r *Resource) []any {
	out := []any{}
	for _, e := range s.endpointsOf(r.ID) {
		for _, c := range connections(e) {
			if Key(c.get("properties.privateLinkServiceId").text()) != Key(r.ID) {
				continue
			}
			state := map[string]any{"status": "Approved", "description": "Auto-Approved"}
			switch {
			case isType(r.Type, accountType):
				state["actionRequired"] = "None" // Storage spells it so
			case !isType(r.Type, busType): // Service Bus leaves it out
				state["actionsRequired"] = "None"
			}
			if now, ok := c.get("properties.privateLinkServiceConnectionState").v.(map[string]any); ok && now["status"] != nil {
				state["status"] = now["status"]
			}
			name := Name(e.ID) + "." + GUID(e, "connection")
			out = append(out, map[string]any{
				"id": r.ID + "/privateEndpointConnections/" + name, "name": name, "type": r.Type + "/privateEndpointConnections",
				"properties": map[string]any{"privateEndpoint": map[string]any{"id": e.ID}, "privateLinkServiceConnectionState": state, "provisioningState": Succeeded},
			})
		}
	}
	return out
}

func viewConnections(s State, r *Resource, body map[string]any) {
	if list := connectionsTo(s, r); len(list) > 0 {
		if props := object(body, "properties"); props != nil {
			props["privateEndpointConnections"] = list
		}
	}
}

// Zones of a zone group (A346).
// https://learn.microsoft.com/azure/private-link/private-endpoint-dns-integration
const maxGroupZones = 5

// zoneGroupZones: one group for each endpoint, one to five zones in it, each of
// which exists (A346). A zone that is none of the target's is accepted, and
// stays without a record (A347).
func zoneGroupZones(s State, r, _ *Resource) *Error {
	for _, other := range s.under(ParentOf(r.ID)) {
		if isType(other.Type, zoneGroupType) && Key(other.ID) != Key(r.ID) && other.Provisioning != Deleting {
			return refuse(BadRequest, "", "DNS zone group "+r.ID, "a second one beside "+other.ID, "one for each endpoint", "put the zones into that one")
		}
	}
	configs, names := r.props("privateDnsZoneConfigs"), map[string]bool{}
	if configs.unknown() {
		return nil
	}
	if n := len(configs.list()); n < 1 || n > maxGroupZones {
		return refuse(BadRequest, "privateDnsZoneConfigs", "zones of "+r.ID, strconv.Itoa(n), "1 to 5 for each endpoint", "list the zones that its target needs")
	}
	for _, c := range configs.list() {
		if name := strings.ToLower(c.get("name").text()); name != "" {
			if names[name] {
				return refuse(BadRequest, "privateDnsZoneConfigs", "zones of "+r.ID, "two of the name "+strconv.Quote(name), "names that differ", "rename one")
			}
			names[name] = true
		}
		id := c.get("properties.privateDnsZoneId")
		if id.absent() {
			return refuse(BadRequest, "privateDnsZoneId", "a zone of "+r.ID, "no id", "the id of a private DNS zone", "set privateDnsZoneId")
		}
		if _, err := s.refer(r, "privateDnsZoneId", id, zoneType); err != nil {
			return err
		}
	}
	return nil
}

// zoneRecord is an A record that a zone group keeps in a zone.
type zoneRecord struct {
	zone, name, host, address string
}

// records are what a zone group writes into the zone with this id.
func (s State) records(group *Resource, zone string) []zoneRecord {
	endpoint, ok := s.Find(ParentOf(group.ID))
	if !ok {
		return nil
	}
	var out []zoneRecord
	for _, m := range s.members(endpoint) {
		if ip := endpoint.Addresses[m.name]; ip != "" && m.zone != "" && strings.EqualFold(Name(zone), m.zone) {
			out = append(out, zoneRecord{zone, m.record, m.host, ip})
		}
	}
	return out
}

// viewZoneGroup shows the records of each zone.
func viewZoneGroup(s State, r *Resource, body map[string]any) {
	configs, _ := object(body, "properties")["privateDnsZoneConfigs"].([]any)
	for _, item := range configs {
		c, ok := item.(map[string]any)
		if !ok {
			continue
		}
		props := object(c, "properties")
		sets := []any{}
		for _, record := range s.records(r, value{props}.get("privateDnsZoneId").text()) {
			sets = append(sets, map[string]any{
				"recordType": "A", "recordSetName": record.name, "fqdn": record.name + "." + Name(record.zone), "ttl": recordTTL,
				"ipAddresses": []any{record.address}, "provisioningState": Succeeded,
			})
		}
		if props != nil {
			props["recordSets"] = sets
		}
	}
}

const recordTTL = 10.0 // seconds

// creator marks the records of an endpoint.
func creator(endpoint *Resource) string {
	return "created by private endpoint " + Name(endpoint.ID) + " with resource guid " + GUID(endpoint, "resourceGuid")
}

// writeRecords puts the endpoint's records into the zones of its group and takes
// out what it has there no longer (A347). A record of somebody else stays.
func writeRecords(s *State, r, old *Resource) {
	endpoint, ok := s.Find(ParentOf(r.ID))
	if !ok {
		return
	}
	if old != nil {
		dropRecords(s, old)
	}
	for _, c := range r.props("privateDnsZoneConfigs").list() {
		zone, ok := s.Find(c.get("properties.privateDnsZoneId").text())
		if !ok {
			continue
		}
		for _, record := range s.records(r, zone.ID) {
			id := zone.ID + "/A/" + record.name
			if other, exists := s.Find(id); exists && !other.ByAzure {
				continue
			}
			s.Births[Key(id)]++
			made := &Resource{
				ID: id, Type: "Microsoft.Network/privateDnsZones/A", APIVersion: zone.APIVersion, Generation: 1, Born: s.Births[Key(id)], Provisioning: Succeeded, ByAzure: true,
				Body: map[string]any{"properties": map[string]any{
					"ttl": recordTTL, "fqdn": record.name + "." + Name(zone.ID) + ".", "isAutoRegistered": false,
					"aRecords": []any{map[string]any{"ipv4Address": record.address}}, "metadata": map[string]any{"creator": creator(endpoint)},
				}},
			}
			made.Etag = etag(made)
			s.Resources[Key(id)] = made
		}
	}
}

// dropRecords takes a zone group's records out of its zones.
func dropRecords(s *State, r *Resource) {
	endpoint, ok := s.Find(ParentOf(r.ID))
	if !ok {
		return
	}
	for _, c := range r.props("privateDnsZoneConfigs").list() {
		for _, record := range s.under(c.get("properties.privateDnsZoneId").text()) {
			if record.ByAzure && isType(record.Type, recordType) && record.props("metadata.creator").text() == creator(endpoint) {
				delete(s.Resources, Key(record.ID))
			}
		}
	}
}
