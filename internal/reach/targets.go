package reach

import (
	"cmp"
	"slices"
	"strings"

	"onedoor/internal/az"
)

// target is one part of a service that callers connect to.
type target struct {
	name     string   // as people call it
	place    string   // as the table of flows calls it
	key      string   // of the resource
	part     string   // of the resource, as endpoints call it
	zone     string   // private DNS zone of the part
	port     string   // that callers connect to
	tag      string   // service tag of its public addresses, "" for none
	hosts    string   // suffix of its public names
	public   decision // whether the internet may connect
	trusted  decision // whether services of Azure may, past everything
	internal bool     // for nobody but its one door
}

// endpoint is a private endpoint.
type endpoint struct {
	name   string
	subnet string // key; "" where it is not known
	target string // key
	parts  []string
	zones  []string // keys of the zones that it is registered in
	listed bool     // a registration is planned
	known  bool     // where it leads is known
}

// readEndpoints reads the private endpoints with their registrations.
func readEndpoints(resources []Resource) []endpoint {
	var out []endpoint
	for _, r := range resources {
		if r.kind() != "network:PrivateEndpoint" {
			continue
		}
		e := endpoint{
			name:   key(r.in("resourceGroupName").text(), "privateEndpoints", r.in("privateEndpointName").text()),
			subnet: keyOf(r.in("subnet", "id").text()), known: !r.in("subnet", "id").unknown(),
		}
		for _, list := range []string{"privateLinkServiceConnections", "manualPrivateLinkServiceConnections"} {
			for _, connection := range r.in(list).list() {
				parts, whole := connection.at("groupIds").texts()
				e.target, e.parts = keyOf(connection.at("privateLinkServiceId").text()), append(e.parts, parts...)
				e.known = e.known && whole && e.target != ""
			}
		}
		out = append(out, e)
	}
	for _, r := range resources {
		if r.kind() != "network:PrivateDnsZoneGroup" {
			continue
		}
		of := key(r.in("resourceGroupName").text(), "privateEndpoints", r.in("privateEndpointName").text())
		for i := range out {
			if out[i].name != of {
				continue
			}
			out[i].listed = true
			for _, config := range r.in("privateDnsZoneConfigs").list() {
				out[i].zones = append(out[i].zones, keyOf(config.at("privateDnsZoneId").text()))
			}
		}
	}
	slices.SortFunc(out, func(a, b endpoint) int { return strings.Compare(a.name, b.name) })
	return out
}

// readTargets reads the services that the platform calls.
func readTargets(resources []Resource) []target {
	var out []target
	add := func(r Resource, t target, typ, nameOf string, access, rules in) {
		t.key = key(r.in("resourceGroupName").text(), typ, r.in(nameOf).text())
		t.public = publicAccess(access, rules)
		if t.port == "" {
			t.port = "443"
		}
		out = append(out, t)
	}
	for _, r := range resources {
		switch r.kind() {
		case "cognitiveservices:Account":
			t := target{place: "model accounts", part: "account", zone: az.ZoneOpenAI, tag: "CognitiveServicesManagement", hosts: ".openai.azure.com", internal: true}
			group, name := r.in("resourceGroupName").text(), r.in("accountName").text()
			t.name = strings.TrimPrefix(r.name(), "models-") + " account"
			if batchAccount(resources, group, name) {
				t.name, t.place = "batch account", "batch account"
			}
			t.trusted = trustedServices(r.in("properties", "networkAcls", "bypass"))
			add(r, t, "accounts", "accountName", r.in("properties", "publicNetworkAccess"), r.in("properties", "networkAcls"))
		case "storage:StorageAccount":
			access, rules := r.in("publicNetworkAccess"), r.in("networkRuleSet")
			add(r, target{name: "blob", place: "blob", part: "blob", zone: az.ZoneBlob, tag: "Storage", hosts: ".blob.core.windows.net"}, "storageAccounts", "accountName", access, rules)
			add(r, target{name: "table", place: "table", part: "table", zone: az.ZoneTable, tag: "Storage", hosts: ".table.core.windows.net"}, "storageAccounts", "accountName", access, rules)
		case "servicebus:Namespace":
			for name, port := range map[string]string{"bus": "443", "bus, AMQP": "5671"} {
				add(r, target{name: name, place: "bus", part: "namespace", zone: az.ZoneServiceBus, port: port, tag: "ServiceBus", hosts: ".servicebus.windows.net"},
					"namespaces", "namespaceName", r.in("publicNetworkAccess"), in{})
			}
		case "keyvault:Vault":
			add(r, target{name: strings.Replace(r.name(), "-", " ", 1), place: "vaults", part: "vault", zone: az.ZoneVault, tag: "AzureKeyVault", hosts: ".vault.azure.net"},
				"vaults", "vaultName", r.in("properties", "publicNetworkAccess"), r.in("properties", "networkAcls"))
		case "containerregistry:Registry":
			add(r, target{name: "registry", place: "registry", part: "registry", zone: az.ZoneRegistry, tag: "AzureContainerRegistry", hosts: ".azurecr.io"},
				"registries", "registryName", r.in("publicNetworkAccess"), r.in("networkRuleSet"))
		}
	}
	slices.SortFunc(out, func(a, b target) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.key, b.key)) })
	return out
}

// batchAccount tells whether the account has deployments for batch jobs.
func batchAccount(resources []Resource, group, name string) bool {
	return slices.ContainsFunc(resources, func(r Resource) bool {
		return r.kind() == "cognitiveservices:Deployment" && r.in("accountName").text() == name &&
			r.in("resourceGroupName").text() == group && strings.HasSuffix(r.in("sku", "name").text(), "Batch")
	})
}

// publicAccess is whether anybody on the internet gets to a service, whose rules
// act only when they deny by default.
func publicAccess(access, rules in) decision {
	switch {
	case access.unknown():
		return decision{maybe, "publicNetworkAccess is not known"}
	case access.text() == "Disabled":
		return decision{no, "publicNetworkAccess Disabled"}
	case access.text() == "SecuredByPerimeter":
		return decision{maybe, "a security perimeter decides"}
	case rules.unknown() || rules.at("defaultAction").unknown():
		return decision{maybe, "its network rules are not known"}
	case rules.at("defaultAction").text() != "Deny":
		return decision{yes, "publicNetworkAccess Enabled"}
	case len(rules.at("ipRules").list())+len(rules.at("virtualNetworkRules").list()) > 0 || rules.at("ipRules").unknown() || rules.at("virtualNetworkRules").unknown():
		return decision{yes, "its network rules let some in"}
	default:
		return decision{no, "its network rules deny all"}
	}
}

// trustedServices is whether services that Azure trusts pass the network rules of
// a model account, as they do unless told otherwise.
// https://learn.microsoft.com/azure/ai-services/cognitive-services-virtual-networks
func trustedServices(bypass in) decision {
	if bypass.text() == "None" {
		return decision{no, "bypass None"}
	}
	return decision{maybe, "bypass AzureServices lets in services of Azure that hold a role"}
}
