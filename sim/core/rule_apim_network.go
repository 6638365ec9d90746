package core

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

func networkOf(gateway *Resource) string {
	if kind := gateway.props("virtualNetworkType").text(); kind != "" {
		return kind
	}
	return noNetwork
}

// subnetWish is what a service wants of its subnet.
type subnetWish struct {
	// delegation is the service that the subnet is delegated to, "" for none.
	delegation string
	// bits is the longest prefix.
	bits int
	// alone says that no second service is in it.
	alone bool
}

// wish: the classic tiers are injected into a subnet that belongs to nobody
// (A505); those of version 2 are integrated outward, or injected, in a subnet
// that is theirs alone (A506).
// https://learn.microsoft.com/azure/api-management/virtual-network-injection-resources
// https://learn.microsoft.com/azure/api-management/integrate-vnet-outbound
// https://learn.microsoft.com/azure/api-management/inject-vnet-v2
func wish(tier gatewayTier, network string) subnetWish {
	switch {
	case tier.family == classic:
		return subnetWish{bits: 29}
	case network == internal:
		return subnetWish{delegation: "Microsoft.Web/hostingEnvironments", bits: 27, alone: true}
	}
	return subnetWish{delegation: "Microsoft.Web/serverFarms", bits: 28, alone: true}
}

// addressesNeeded is how many addresses of the subnet a classic service takes:
// two for a unit of Premium, one for Developer, and one more when internal.
func addressesNeeded(r *Resource) float64 {
	units, _ := root(r.Body).get("sku.capacity").number()
	need := 2 * units
	if gatewaySku(r) == developer {
		need = 1
	}
	if networkOf(r) == internal {
		need++
	}
	return need
}

// gatewayNetwork: a network needs a tier that has one (A504) and a subnet that
// fits (A505, A506); injection of version 2 is chosen once.
func gatewayNetwork(s State, r, old *Resource) *Error {
	tier, ok := gatewayTiers[gatewaySku(r)]
	network, subnetID := networkOf(r), r.props("virtualNetworkConfiguration.subnetResourceId")
	if !ok || restores(r, old) || r.props("virtualNetworkType").unknown() {
		return nil
	}
	if old != nil && tier.family == version2 && (networkOf(old) == internal) != (network == internal) {
		return invalidField("virtualNetworkType", "network of service "+r.ID, network, networkOf(old)+", because a v2 service is injected when it is made or never", "make another service")
	}
	if network == noNetwork {
		return nil
	}
	if !slices.Contains(tier.networks, network) {
		can := strings.Join(append([]string{noNetwork}, tier.networks...), " or ")
		return invalidField("virtualNetworkType", "network of service "+r.ID, network+" in tier "+gatewaySku(r), can, "use a tier that has it")
	}
	if subnetID.absent() {
		return invalidField("virtualNetworkConfiguration", "network of service "+r.ID, network+" without a subnet", "virtualNetworkConfiguration.subnetResourceId", "set it")
	}
	subnet, err := s.refer(r, "subnetResourceId", subnetID, subnetType)
	if err != nil || subnet == nil || subnet.Body == nil {
		return err
	}
	if err := near(r, s.network(subnet.ID), "subnetResourceId", root(r.Body).get("location")); err != nil {
		return err
	}
	return s.gatewaySubnet(r, subnet, wish(tier, network), tier)
}

// gatewaySubnet checks the subnet of a service.
func (s State) gatewaySubnet(r, subnet *Resource, want subnetWish, tier gatewayTier) *Error {
	bad := func(got, wanted, remedy string) *Error {
		return invalidField("virtualNetworkConfiguration", "subnet of service "+r.ID, subnet.ID+" "+got, wanted, remedy)
	}
	delegated := ""
	if list := subnet.props("delegations").list(); len(list) > 0 {
		delegated = list[0].get("properties.serviceName").text()
	}
	if !subnet.props("delegations").hasUnknown() && !strings.EqualFold(delegated, want.delegation) {
		wanted := "no delegation, because a classic service is injected into a plain subnet"
		if want.delegation != "" {
			wanted = "a delegation to " + want.delegation
		}
		return bad("delegated to "+strconv.Quote(delegated), wanted, "change the delegation, or use another subnet")
	}
	if subnet.props("networkSecurityGroup").absent() {
		return bad("without a network security group", "one that lets ApiManagement in at port 3443 where the service is injected, and dependencies out", "attach a group to the subnet")
	}
	for _, block := range subnetSpace(subnet) {
		if !block.Addr().Is4() {
			continue
		}
		if block.Bits() > want.bits {
			return bad("of size /"+strconv.Itoa(block.Bits()), fmt.Sprintf("/%d or larger", want.bits), "use a larger subnet")
		}
		if free := freeAddresses(block); tier.family == classic && free < addressesNeeded(r) {
			return bad(fmt.Sprintf("with %v addresses", free), fmt.Sprintf("%v for its units", addressesNeeded(r)), "use a larger subnet, or fewer units")
		}
	}
	if !want.alone {
		return nil
	}
	for _, other := range s.users(subnet.ID, gatewayType) {
		if Key(other.ID) != Key(r.ID) {
			return bad("where "+other.ID+" is", "a subnet of its own", "use another subnet")
		}
	}
	return nil
}

// freeAddresses is what Azure leaves of a block (A022).
func freeAddresses(block netip.Prefix) float64 {
	return math.Exp2(float64(32-block.Bits())) - keptAddresses - 1
}

// gatewayAddress: a public address belongs to an injected classic service, is a
// Standard one of its region with a DNS label, and no other service's; zones of
// an injected service need one (A507).
func gatewayAddress(s State, r, old *Resource) *Error {
	v := r.props("publicIpAddressId")
	tier, ok := gatewayTiers[gatewaySku(r)]
	if !ok || restores(r, old) || v.unknown() {
		return nil
	}
	injection := tier.family == classic && networkOf(r) != noNetwork
	if v.absent() {
		if zones := root(r.Body).get("zones").texts(); injection && len(zones) > 0 {
			return invalidField("publicIpAddressId", "public address of service "+r.ID, fmt.Sprintf("none with %d zones in a network", len(zones)), "an address, because a zonal service in a network brings its own", "set publicIpAddressId")
		}
		return nil
	}
	if !injection {
		return invalidField("publicIpAddressId", "public address of service "+r.ID, fmt.Sprintf("%s in tier %s with network %s", v.text(), gatewaySku(r), networkOf(r)), "none, unless Developer or Premium is in a network", "leave it out")
	}
	ip, err := s.refer(r, "publicIpAddressId", v, publicIPType)
	if err != nil || ip == nil || ip.Body == nil {
		return err
	}
	if err := near(r, ip, "publicIpAddressId", root(r.Body).get("location")); err != nil {
		return err
	}
	if sku := root(ip.Body).get("sku.name"); sku.known() && sku.text() != "Standard" {
		return invalidField("publicIpAddressId", "public address of service "+r.ID, ip.ID+" of SKU "+sku.text(), "SKU Standard", "use another address")
	}
	if label := ip.props("dnsSettings.domainNameLabel"); !label.unknown() && label.text() == "" {
		return invalidField("publicIpAddressId", "public address of service "+r.ID, ip.ID+" without a DNS label", "an address with dnsSettings.domainNameLabel, whatever it is", "set the label")
	}
	for _, other := range s.users(ip.ID, gatewayType, natType) {
		if Key(other.ID) != Key(r.ID) {
			return invalidField("publicIpAddressId", "public address of service "+r.ID, ip.ID+", which "+other.ID+" has", "an address of its own", "make another address")
		}
	}
	return nil
}

// gatewayAccess: the public way is shut only when there is another one: not at
// birth, and not without an approved private endpoint (A503).
func gatewayAccess(s State, r, old *Resource) *Error {
	if restores(r, old) || !strings.EqualFold(r.props("publicNetworkAccess").text(), "Disabled") {
		return nil
	}
	if old == nil {
		return refuse(NotSupported, "publicNetworkAccess", "Blocking all public network access is not enabled during service creation: "+r.ID, "Disabled", "Enabled in the first write", "make the service and its private endpoint, then close it")
	}
	for _, c := range connectionsTo(s, r) {
		if (value{c}).get("properties.privateLinkServiceConnectionState.status").text() == "Approved" {
			return nil
		}
	}
	return refuse(NotSupported, "publicNetworkAccess", "Disabling all publicNetworkAccess of service "+r.ID, "Disabled", "at least one approved private endpoint first", "make the endpoint and let this depend on it")
}

// gatewayLink: private endpoints lead to tiers that have them, and not into a
// service that is in a network already (A514).
func gatewayLink(_ State, r, _, gateway *Resource) *Error {
	tier, ok := gatewayTiers[gatewaySku(gateway)]
	if !ok {
		return nil
	}
	if !tier.endpoints {
		return refuse(BadRequest, "privateLinkServiceId", "target of "+r.ID, gateway.ID+" in tier "+gatewaySku(gateway), "a tier with private endpoints", "use StandardV2, or a higher tier")
	}
	if network := networkOf(gateway); network == internal || tier.family == classic && network != noNetwork {
		return refuse(BadRequest, "privateLinkServiceId", "target of "+r.ID, gateway.ID+", which is injected ("+network+")", "a service outside of a network, or one that is integrated outward alone", "reach it by its own address in the network")
	}
	return nil
}

// gatewayAddresses answers where a service is reached: its own public address or
// one of Azure's, and a private one where it is injected (A512).
func (s State) gatewayAddresses(r *Resource, props map[string]any) {
	address := publicIP(r)
	if ip, ok := s.Find(r.props("publicIpAddressId").text()); ok {
		if own := ip.props("ipAddress").text(); own != "" {
			address = own
		}
	}
	delete(props, "privateIPAddresses")
	props["publicIPAddresses"] = []any{address}
	tier := gatewayTiers[gatewaySku(r)]
	if tier.family == version2 || tier.family == consumption {
		delete(props, "publicIPAddresses")
		props["outboundPublicIPAddresses"] = []any{address}
	}
	subnet, ok := s.Find(r.props("virtualNetworkConfiguration.subnetResourceId").text())
	if network := networkOf(r); !ok || network == noNetwork || tier.family == version2 && network != internal {
		return
	}
	if config := object(props, "virtualNetworkConfiguration"); config != nil {
		config["subnetname"], config["vnetid"] = Name(subnet.ID), "00000000-0000-0000-0000-000000000000"
	}
	for _, block := range subnetSpace(subnet) {
		if block.Addr().Is4() {
			address := block.Masked().Addr()
			for range keptAddresses {
				address = address.Next()
			}
			props["privateIPAddresses"] = []any{address.String()}
			return
		}
	}
}
