package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// publicIPSku: a Standard address is static (A034); Basic can no longer be made
// since 2025-03-31.
func publicIPSku(_ State, r, _ *Resource) *Error {
	sku, method := root(r.Body).get("sku.name"), r.props("publicIPAllocationMethod")
	if sku.unknown() || method.unknown() {
		return nil
	}
	if name := sku.text(); name == "" || strings.EqualFold(name, "Basic") {
		return refuse(OperationNotAllowed, "sku.name", "sku of "+r.ID, strconv.Quote(name), `"Standard"; Basic addresses were retired and are the default when sku is left out`, "set sku.name to Standard")
	}
	if !strings.EqualFold(method.text(), "Static") {
		return refuse(InvalidRequestFormat, "publicIPAllocationMethod", "allocation method of "+r.ID, strconv.Quote(method.text()),
			`"Static", the only one of a Standard address`, "set publicIPAllocationMethod to Static")
	}
	return nil
}

// publicIPFixed: sku, allocation, version and zones never change.
func publicIPFixed(_ State, r, old *Resource) *Error {
	if old == nil {
		return nil
	}
	if err := fixedZones(r, old); err != nil {
		return err
	}
	return fixed(r, old, "sku.name", "properties.publicIPAllocationMethod", "properties.publicIPAddressVersion")
}

// fixed refuses a change of properties that Azure sets once.
func fixed(r, old *Resource, paths ...string) *Error {
	for _, path := range paths {
		was, now := root(old.Body).get(path), root(r.Body).get(path)
		if now.unknown() || was.absent() || was.unknown() || now.absent() {
			continue
		}
		if !strings.EqualFold(fmt.Sprint(was.v), fmt.Sprint(now.v)) {
			return refuse(PropertyChangeNotAllowed, path, path+" of "+r.ID, fmt.Sprint(now.v), fmt.Sprintf("%v, which was set when it was made", was.v), "replace the resource")
		}
	}
	return nil
}

func fixedZones(r, old *Resource) *Error {
	was, now := root(old.Body).get("zones"), root(r.Body).get("zones")
	if now.hasUnknown() || was.hasUnknown() {
		return nil
	}
	a, b := was.texts(), now.texts()
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		return refuse(ZonesFixed, "zones", "zones of "+r.ID, fmt.Sprintf("%q", b), fmt.Sprintf("%q, which were set when it was made", a), "replace the resource")
	}
	return nil
}

func completePublicIP(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	setDefault(props, "publicIPAddressVersion", "IPv4")
	setDefault(props, "idleTimeoutInMinutes", 4.0)
	setDefault(props, "ipTags", []any{})
	props["ipAddress"] = publicIP(r)
	props["resourceGuid"] = GUID(r, "resourceGuid")
	setDefault(object(r.Body, "sku"), "tier", "Regional")
	sortTexts(r.Body["zones"])
}

// publicIPInUse: an address in use stays (A026).
func publicIPInUse(s State, r, with *Resource) *Error {
	users := s.users(r.ID, natType, "microsoft.network/loadbalancers", "microsoft.network/networkinterfaces", "microsoft.apimanagement/service", "microsoft.containerservice/managedclusters")
	return inUseBy(PublicIPInUse, r, with, users, "detach it first")
}

// natSku: a NAT gateway is Standard and in at most one zone (A034).
// https://learn.microsoft.com/azure/nat-gateway/nat-gateway-resource
func natSku(_ State, r, old *Resource) *Error {
	if sku := root(r.Body).get("sku.name"); !sku.unknown() && sku.text() != "Standard" && sku.text() != "StandardV2" {
		return refuse(InvalidRequestFormat, "sku.name", "sku of "+r.ID, strconv.Quote(sku.text()), `"Standard"`, "set sku.name")
	}
	if zones := root(r.Body).get("zones"); root(r.Body).get("sku.name").text() == "Standard" && len(zones.list()) > 1 {
		return refuse(InvalidRequestFormat, "zones", "zones of "+r.ID, strconv.Itoa(len(zones.list())), "one or none, because a Standard NAT gateway is zonal", "name one zone, or one gateway for each")
	}
	if old != nil {
		if err := fixedZones(r, old); err != nil {
			return err
		}
		return fixed(r, old, "sku.name")
	}
	return nil
}

// natAddresses: the addresses exist nearby, are Standard and static, in the
// gateway's zone or in all, and belong to no other gateway (A034).
func natAddresses(s State, r, _ *Resource) *Error {
	for i, item := range r.props("publicIpAddresses").list() {
		path := fmt.Sprintf("publicIpAddresses[%d]", i)
		ip, err := s.refer(r, path, item.get("id"), publicIPType)
		if err != nil {
			return err
		}
		if err := near(r, ip, path, root(r.Body).get("location")); err != nil {
			return err
		}
		if ip == nil {
			continue
		}
		if sku := root(ip.Body).get("sku.name"); sku.known() && !strings.HasPrefix(sku.text(), "Standard") {
			return refuse(NatGatewayPublicIPSku, path, path+" of "+r.ID, fmt.Sprintf("%s of sku %s", ip.ID, sku.text()), "a Standard address", "use a Standard address")
		}
		gate, at := root(r.Body).get("zones"), root(ip.Body).get("zones")
		if !gate.hasUnknown() && !at.hasUnknown() && len(gate.list()) == 1 && len(at.list()) > 0 && !slices.Contains(at.texts(), gate.texts()[0]) {
			return refuse(NatGatewayZoneMismatch, path, path+" of "+r.ID, fmt.Sprintf("%s in zones %q", ip.ID, at.texts()), "an address in zone "+gate.texts()[0]+" or in all", "put both into the same zone")
		}
		for _, other := range s.users(ip.ID, natType) {
			if Key(other.ID) != Key(r.ID) {
				return refuse(Conflict, path, path+" of "+r.ID, fmt.Sprintf("%s, in use by %s", ip.ID, other.ID), "an address of its own", "make another address")
			}
		}
	}
	return nil
}

func completeNat(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	setDefault(props, "idleTimeoutInMinutes", 4.0)
	props["resourceGuid"] = GUID(r, "resourceGuid")
}

// natInUse: a gateway attached to a subnet stays (A026).
func natInUse(s State, r, with *Resource) *Error {
	return inUseBy(InUseNatGateway, r, with, s.users(r.ID, subnetType), "detach it first")
}

func viewNat(s State, r *Resource, body map[string]any) {
	attached(s, r, body, "subnets", subnetType)
}

// routes: unique names, legal prefixes, an address exactly for appliances (A042).
func routes(_ State, r, _ *Resource) *Error {
	names, seen := map[string]bool{}, map[string]string{}
	for i, item := range r.props("routes").list() {
		name, path := item.get("name").text(), fmt.Sprintf("routes[%d]", i)
		if names[strings.ToLower(name)] && name != "" {
			return refuse(InvalidRequestFormat, path, "routes of "+r.ID, "two of the name "+name, "one", "rename one")
		}
		names[strings.ToLower(name)] = true
		prefix, hop := item.get("properties.addressPrefix"), item.get("properties.nextHopType")
		if t := prefix.text(); t != "" {
			if !isAddress(t) && !isServiceTag(t) {
				return refuse(InvalidRequestFormat, path, "prefix of route "+name+" of "+r.ID, strconv.Quote(t), "a block or a known service tag, nearest is "+closest(t, serviceTags), "correct it")
			}
			if other, ok := seen[t]; ok {
				return refuse(InvalidRequestFormat, path, "prefix of route "+name+" of "+r.ID, t, "one that no other route has; "+other+" has it", "drop one")
			}
			seen[t] = name
		}
		next := item.get("properties.nextHopIpAddress")
		if hop.known() && !next.unknown() && (hop.text() == "VirtualAppliance") != (next.text() != "") {
			return refuse(InvalidRequestFormat, path, "next hop of route "+name+" of "+r.ID, fmt.Sprintf("%s with address %q", hop.text(), next.text()), "an address exactly for VirtualAppliance", "correct one of them")
		}
	}
	return nil
}

func completeRoutes(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	setDefault(props, "routes", []any{})
	setDefault(props, "disableBgpRoutePropagation", false)
	props["resourceGuid"] = GUID(r, "resourceGuid")
	sortByName(props["routes"])
	if items, ok := props["routes"].([]any); ok {
		for _, item := range items {
			if route, ok := item.(map[string]any); ok {
				route["id"], route["etag"] = r.ID+"/routes/"+value{route}.get("name").text(), etag(r)
				route["type"] = "Microsoft.Network/routeTables/routes"
				if p := object(route, "properties"); p != nil {
					p["provisioningState"], p["hasBgpOverride"] = Succeeded, false
				}
			}
		}
	}
}

// routeTableInUse: a table attached to a subnet stays (A026).
func routeTableInUse(s State, r, with *Resource) *Error {
	return inUseBy(InUseRouteTable, r, with, s.users(r.ID, subnetType), "detach it first")
}

func viewRoutes(s State, r *Resource, body map[string]any) {
	attached(s, r, body, "subnets", subnetType)
}

func completeGUID(_ State, r, _ *Resource) {
	object(r.Body, "properties")["resourceGuid"] = GUID(r, "resourceGuid")
}
