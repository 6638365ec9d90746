package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// restores says that a write brings a deleted service back, and nothing else in
// it counts (A502).
func restores(r, old *Resource) bool { return old == nil && r.props("restore").flag() }

// deletedGateway returns the service that still holds a name after its deletion.
func (s State) deletedGateway(name string) *Resource {
	for _, key := range sortedKeys(s.SoftDeleted) {
		if gone := s.SoftDeleted[key]; isType(gone.Type, gatewayType) && strings.EqualFold(Name(gone.ID), name) && s.Now-gone.DeletedAt < nameRetention {
			return gone
		}
	}
	return nil
}

// gatewayName: a service is a name in DNS, so it exists once in the world (A501),
// and keeps its name for 48 hours after its deletion; it comes back with restore,
// which needs one (A502).
// https://learn.microsoft.com/azure/api-management/soft-delete
func gatewayName(s State, r, old *Resource) *Error {
	if old != nil {
		return nil
	}
	if other := s.namesake(r, gatewayType); other != nil {
		return refuse(ServiceAlreadyExists, "name", "name of service "+r.ID, strconv.Quote(Name(r.ID))+", which "+other.ID+" has", "a name that no service in the world has", "put stack, region or a generation into the name")
	}
	gone := s.deletedGateway(Name(r.ID))
	switch {
	case restores(r, old) && (gone == nil || Key(gone.ID) != Key(r.ID)):
		return refuse(BadRequest, "restore", "restore of service "+r.ID, "true", "a deleted service of this id, which there is not", "leave restore out")
	case gone != nil && !restores(r, old):
		return refuse(ServiceIsSoftDeleted, "name", "name of service "+r.ID, strconv.Quote(Name(r.ID))+", whose service was soft-deleted as "+gone.ID, "a name without a deleted service",
			fmt.Sprintf("set restore to true, purge it with DELETE /subscriptions/%s/providers/Microsoft.ApiManagement/locations/%s/deletedservices/%s, or use another name",
				SubscriptionOf(gone.ID), root(gone.Body).get("location").text(), Name(gone.ID)))
	}
	return nil
}

// gatewayUnits: the tier is a known one with so many units (A500), and changes
// only within its family (A509).
func gatewayUnits(_ State, r, old *Resource) *Error {
	sku := root(r.Body).get("sku")
	name, units := sku.get("name"), sku.get("capacity")
	if !name.known() || restores(r, old) {
		return nil
	}
	tier, ok := gatewayTiers[name.text()]
	if !ok {
		return invalidField("sku.name", "tier of service "+r.ID, strconv.Quote(name.text()), "one of "+strings.Join(sortedKeys(gatewayTiers), ", "), "use "+closest(name.text(), sortedKeys(gatewayTiers)))
	}
	if n, ok := units.number(); ok && (n < tier.least || n > tier.most) {
		return invalidField("sku.capacity", "units of service "+r.ID, fmt.Sprint(n), fmt.Sprintf("%v..%v in tier %s", tier.least, tier.most, name.text()), "choose a number in that range, or another tier")
	}
	if old == nil {
		return nil
	}
	if was := gatewaySku(old); was != "" && gatewayTiers[was].family != tier.family {
		return invalidField("sku.name", "tier of service "+r.ID, strconv.Quote(name.text()), strconv.Quote(was)+" or one of its family: classic, v2 and Consumption services do not turn into one another", "make another service and move to it")
	}
	return nil
}

// maxCertificates is how many certificate authorities a service has.
const maxCertificates = 10

// gatewayPlaces: zones and more regions are Premium's, client certificates at the
// gateway a switch of Consumption's, and a region's gateway is turned off only
// beside another one (A508).
func gatewayPlaces(_ State, r, old *Resource) *Error {
	tier, ok := gatewayTiers[gatewaySku(r)]
	if !ok || restores(r, old) {
		return nil
	}
	zones, regions := root(r.Body).get("zones").texts(), r.props("additionalLocations").list()
	units, known := root(r.Body).get("sku.capacity").number()
	bad := func(field, got, want, remedy string) *Error {
		return invalidField(field, field+" of service "+r.ID, got+" in tier "+gatewaySku(r), want, remedy)
	}
	switch {
	case len(zones) > 0 && !tier.zones:
		return bad("zones", strings.Join(zones, ", "), "none, because only Premium is told its zones", "drop them, or use Premium")
	case slices.ContainsFunc(zones, func(zone string) bool { return !slices.Contains([]string{"1", "2", "3"}, zone) }):
		return bad("zones", strings.Join(zones, ", "), "1, 2 and 3", "correct them")
	case known && float64(len(zones)) > units:
		return bad("zones", fmt.Sprintf("%d zones with %v units", len(zones), units), "a unit for each zone at least", "raise sku.capacity")
	case len(regions) > 0 && !tier.regions:
		return bad("additionalLocations", fmt.Sprintf("%d regions", len(regions)), "none, because only Premium has several regions", "drop them, or use Premium")
	case r.props("disableGateway").flag() && len(regions) == 0:
		return bad("disableGateway", "true", "false without additionalLocations, or nothing serves calls", "drop it")
	case r.props("enableClientCertificate").known() && tier.family != consumption:
		return bad("enableClientCertificate", strconv.FormatBool(r.props("enableClientCertificate").flag()), "nothing, not even false, because only Consumption has the switch", "leave it out")
	case len(r.props("certificates").list()) > maxCertificates:
		return bad("certificates", strconv.Itoa(len(r.props("certificates").list())), "at most 10", "drop some")
	}
	return nil
}

// gatewayTook is how long a service takes to be made or changed (A510).
func gatewayTook(r, old *Resource) time.Duration {
	tier, ok := gatewayTiers[gatewaySku(r)]
	if !ok {
		tier = gatewayTiers[developer]
	}
	if old == nil {
		return tier.activation
	}
	return tier.change
}

// protocolSwitches are the properties of a classic service's TLS, off unless
// somebody turns them on.
// https://learn.microsoft.com/azure/api-management/api-management-howto-manage-protocols-ciphers
var protocolSwitches = []string{
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Protocols.Server.Http2",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Backend.Protocols.Ssl30",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Backend.Protocols.Tls10",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Backend.Protocols.Tls11",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Ciphers.TripleDes168",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Protocols.Ssl30",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Protocols.Tls10",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Protocols.Tls11",
}

// completeGateway answers addresses and defaults (A512). A restored service is
// the one it was (A502). A write that leaves publicNetworkAccess out opens it
// (A503).
func completeGateway(s State, r, old *Resource) {
	if gone := s.deletedGateway(Name(r.ID)); gone != nil && restores(r, old) {
		r.Body, r.Born, r.Generation, r.DeletedAt = copyBody(gone.Body), gone.Born, gone.Generation+1, gone.DeletedAt
	}
	props, name := object(r.Body, "properties"), strings.ToLower(Name(r.ID))
	if props == nil {
		return
	}
	region := root(r.Body).get("location").text()
	delete(props, "restore") // write-only
	delete(props, "privateEndpointConnections")
	props["gatewayUrl"] = "https://" + name + ".azure-api.net"
	props["gatewayRegionalUrl"] = "https://" + name + "-" + region + "-01.regional.azure-api.net"
	props["developerPortalUrl"] = "https://" + name + ".developer.azure-api.net"
	props["managementApiUrl"] = "https://" + name + ".management.azure-api.net"
	props["scmUrl"] = "https://" + name + ".scm.azure-api.net"
	props["createdAtUtc"], props["targetProvisioningState"] = made, ""
	props["platformVersion"] = "stv2"
	if gatewaySku(r) == consumption {
		props["platformVersion"] = "mtv1"
	}
	setDefault(props, "publicNetworkAccess", "Enabled")
	setDefault(props, "virtualNetworkType", noNetwork)
	setDefault(props, "notificationSenderEmail", "apimgmt-noreply@mail.windowsazure.com")
	setDefault(props, "disableGateway", false)
	setDefault(props, "hostnameConfigurations", []any{map[string]any{
		"type": "Proxy", "hostName": name + ".azure-api.net", "defaultSslBinding": true, "negotiateClientCertificate": false, "certificateSource": "BuiltIn",
	}})
	if gatewayTiers[gatewaySku(r)].family == classic {
		if switches := object(props, "customProperties"); switches != nil {
			for _, key := range protocolSwitches {
				setDefault(switches, key, "False")
			}
		}
	}
	for _, list := range []string{"certificates", "hostnameConfigurations"} {
		for _, item := range (value{props[list]}).list() {
			if m, ok := item.v.(map[string]any); ok { // write-only
				delete(m, "certificatePassword")
				delete(m, "encodedCertificate")
			}
		}
	}
	s.gatewayAddresses(r, props)
}

// The groups that each service is born with, and the subscription that opens all
// of its APIs (A513).
const masterKey = "master"

var bornGroups = []string{"Administrators", "Developers", "Guests"}

// gatewayBorn gives a new service what each one has (A513), or a restored one
// what went with it (A502).
func gatewayBorn(s *State, r, old *Resource) {
	if old != nil {
		return
	}
	recoverSecrets(s, r, old) // of a vault or a service alike: all that went with it
	for _, name := range bornGroups {
		s.born(r.ID+"/groups/"+strings.ToLower(name), "Microsoft.ApiManagement/service/groups", map[string]any{"displayName": name, "type": systemGroup})
	}
	s.born(r.ID+"/subscriptions/"+masterKey, "Microsoft.ApiManagement/service/subscriptions", map[string]any{
		"displayName": "Built-in all-access subscription", "scope": "/", "state": "active",
	})
}

// keepGateway keeps what is in a service that goes, so that a restore finds it
// (A502).
func keepGateway(s *State, r *Resource) {
	for _, child := range s.under(r.ID) {
		if strings.HasPrefix(strings.ToLower(child.Type), gatewayType+"/") {
			gone := *child
			gone.DeletedAt, gone.Provisioning = s.Now, Succeeded
			s.SoftDeleted[Key(child.ID)] = &gone
		}
	}
}
