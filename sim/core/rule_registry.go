package core

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	registryType  = "microsoft.containerregistry/registries"
	cacheRuleType = "microsoft.containerregistry/registries/cacherules"
)

// registryFree: a registry's name is a host name, so it is there once in the
// world (A330).
func registryFree(s State, r, old *Resource) *Error {
	if other := s.namesake(r, registryType); old == nil && other != nil {
		return refuse(AlreadyInUse, "name", "name of registry "+r.ID, strconv.Quote(strings.ToLower(Name(r.ID))+".azurecr.io")+", which "+other.ID+" has", "a name that no registry in the world has", "put stack, region or a generation into the name")
	}
	return nil
}

func premium(r *Resource) bool {
	return strings.EqualFold(root(r.Body).get("sku.name").text(), "Premium")
}

// registryTier: what only the Premium tier has (A331, A332). The tier itself may
// change in place, down only without what needs it.
// https://learn.microsoft.com/azure/container-registry/container-registry-skus
func registryTier(s State, r, old *Resource) *Error {
	sku := root(r.Body).get("sku.name")
	if !sku.known() || premium(r) {
		return nil
	}
	if strings.EqualFold(sku.text(), "Classic") {
		return refuse(BadRequest, "sku", "tier of "+r.ID, strconv.Quote(sku.text()), "Basic, Standard or Premium; Classic is retired", "choose one of these")
	}
	if strings.EqualFold(r.props("publicNetworkAccess").text(), "Disabled") {
		return refuse(DisablingPublicAccess, "publicNetworkAccess", "public network access of "+r.ID, "Disabled in tier "+sku.text(), "Premium, the only tier with another way in", "use Premium, or leave public access on")
	}
	enabled := func(path string) bool { return strings.EqualFold(r.props(path).text(), "enabled") }
	for _, feature := range []struct {
		name string
		used bool
	}{
		{"networkRuleSet", strings.EqualFold(r.props("networkRuleSet.defaultAction").text(), "Deny") || len(r.props("networkRuleSet.ipRules").list()) > 0},
		{"dataEndpointEnabled", r.props("dataEndpointEnabled").flag()},
		{"zoneRedundancy", enabled("zoneRedundancy")},
		{"encryption", enabled("encryption.status")},
		{"policies.retentionPolicy", enabled("policies.retentionPolicy.status")},
		{"policies.trustPolicy", enabled("policies.trustPolicy.status")},
		{"policies.quarantinePolicy", enabled("policies.quarantinePolicy.status")},
		{"policies.exportPolicy", strings.EqualFold(r.props("policies.exportPolicy.status").text(), "disabled")},
	} {
		if feature.used {
			code := BadRequest
			if feature.name == "networkRuleSet" {
				code = NetworkRuleNotSupported
			}
			return refuse(code, feature.name, feature.name+" of "+r.ID, "a setting that tier "+sku.text()+" does not have", "Premium, the only tier with it", "use Premium, or leave it out")
		}
	}
	if old != nil && premium(old) {
		if endpoints := s.endpointsOf(r.ID); len(endpoints) > 0 {
			return refuse(BadRequest, "sku", "tier of "+r.ID, sku.text()+" while "+endpoints[0].ID+" leads to it", "Premium, the only tier with private endpoints", "delete the endpoints first")
		}
	}
	return nil
}

// registryExport: images stop leaving only when the public way is shut too (A333).
// https://learn.microsoft.com/azure/container-registry/data-loss-prevention
func registryExport(_ State, r, _ *Resource) *Error {
	access := r.props("publicNetworkAccess")
	if strings.EqualFold(r.props("policies.exportPolicy.status").text(), "disabled") && !access.unknown() && !strings.EqualFold(access.text(), "Disabled") {
		return refuse(BadRequest, "policies.exportPolicy", "export policy of "+r.ID, "disabled with public network access", "publicNetworkAccess Disabled, or images leave that way", "disable it")
	}
	return nil
}

// registryZones: zone redundancy is chosen once (A334).
func registryZones(_ State, r, old *Resource) *Error {
	if old == nil {
		return nil
	}
	was, now := old.props("zoneRedundancy"), r.props("zoneRedundancy")
	if was.known() && now.known() && !strings.EqualFold(was.text(), now.text()) {
		return refuse(PropertyChangeNotAllowed, "zoneRedundancy", "zone redundancy of "+r.ID, now.text(), was.text()+", which was set when it was made", "keep it, or make another registry")
	}
	return nil
}

// completeRegistry adds addresses and defaults (A335).
func completeRegistry(_ State, r, old *Resource) {
	props, name := object(r.Body, "properties"), strings.ToLower(Name(r.ID))
	if props == nil {
		return
	}
	props["loginServer"], props["creationDate"] = name+".azurecr.io", made
	if sku, ok := r.Body["sku"].(map[string]any); ok {
		sku["tier"] = sku["name"]
	}
	setDefault(props, "adminUserEnabled", false)
	setDefault(props, "dataEndpointEnabled", false)
	setDefault(props, "publicNetworkAccess", "Enabled")
	setDefault(props, "networkRuleBypassOptions", "AzureServices")
	if old != nil {
		setDefault(props, "zoneRedundancy", old.props("zoneRedundancy").v)
	}
	setDefault(props, "zoneRedundancy", "Disabled")
	props["dataEndpointHostNames"] = []any{}
	if region := root(r.Body).get("location").text(); props["dataEndpointEnabled"] == true && region != "" {
		props["dataEndpointHostNames"] = []any{fmt.Sprintf("%s.%s.data.azurecr.io", name, region)}
	}
	if premium(r) {
		if rules := object(props, "networkRuleSet"); rules != nil {
			setDefault(rules, "defaultAction", "Allow")
			setDefault(rules, "ipRules", []any{})
		}
	}
	if encryption := object(props, "encryption"); encryption != nil {
		setDefault(encryption, "status", "disabled")
	}
	if policies := object(props, "policies"); policies != nil {
		for _, p := range []struct {
			name     string
			defaults map[string]any
		}{
			{"quarantinePolicy", map[string]any{"status": "disabled"}},
			{"trustPolicy", map[string]any{"status": "disabled", "type": "Notary"}},
			{"retentionPolicy", map[string]any{"status": "disabled", "days": 7.0, "lastUpdatedTime": made}},
			{"exportPolicy", map[string]any{"status": "enabled"}},
		} {
			policy := object(policies, p.name)
			for key, v := range p.defaults {
				setDefault(policy, key, v)
			}
		}
	}
}

// cacheRuleUnique: a cache rule has a source and a target, and no two of a
// registry write to one target (A336).
func cacheRuleUnique(s State, r, _ *Resource) *Error {
	for _, field := range []string{"sourceRepository", "targetRepository"} {
		if v := r.props(field); !v.unknown() && v.text() == "" {
			return refuse(BadRequest, field, field+" of "+r.ID, "nothing", "a repository such as docker.io/library/ubuntu", "set it")
		}
	}
	for _, other := range s.under(ParentOf(r.ID)) {
		if isType(other.Type, cacheRuleType) && Key(other.ID) != Key(r.ID) && other.Provisioning != Deleting && strings.EqualFold(other.props("targetRepository").text(), r.props("targetRepository").text()) {
			return refuse(Conflict, "targetRepository", "target of "+r.ID, strconv.Quote(r.props("targetRepository").text())+", where "+other.ID+" writes", "a target of its own", "choose another one")
		}
	}
	return nil
}

// viewRegistry shows the endpoints, an empty list if there are none.
func viewRegistry(s State, r *Resource, body map[string]any) {
	if props := object(body, "properties"); props != nil {
		props["privateEndpointConnections"] = connectionsTo(s, r)
	}
}

func completeCacheRule(_ State, r, _ *Resource) { object(r.Body, "properties")["creationDate"] = made }
