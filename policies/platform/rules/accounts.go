package rules

import (
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

const accountNetworkDocs = "https://learn.microsoft.com/azure/ai-services/cognitive-services-virtual-networks"

// accounts are the rules of model accounts.
func accounts(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "AOA-01", Severity: policypack.Critical,
			Title:     "Model accounts take no keys",
			Rationale: "Whoever holds a key is nobody in particular, and passes every rule about roles.",
			Remedy:    "Set properties.disableLocalAuth to true and give callers a role.",
			Controls:  []string{"MCSB IM-1", "Azure Policy 71ef260a-8f18-47b7-abcb-62d0673d94dc", "Checkov CKV_AZURE_236", "PSRule AZR-000282"},
			Sources:   []string{"https://learn.microsoft.com/azure/ai-services/disable-local-auth"},
			Types:     []string{azure.Account},
			Resource:  func(c *policypack.Case) { c.Must(c.At("properties.disableLocalAuth"), true) },
		},
		{
			ID: "AOA-02", Severity: policypack.Critical,
			Title:     "Model accounts are closed to the internet and deny by default",
			Rationale: "Azure opens an account unless told otherwise; a stolen token is then good from anywhere.",
			Remedy:    `Set properties.publicNetworkAccess to "Disabled" and properties.networkAcls.defaultAction to "Deny".`,
			Controls:  []string{"MCSB NS-2", "Azure Policy 037eea7a-bd0a-46c5-9a66-03aea78705d3", "Checkov CKV_AZURE_134", "PSRule AZR-000280"},
			Sources:   []string{accountNetworkDocs},
			Types:     []string{azure.Account},
			Resource: func(c *policypack.Case) {
				c.Must(c.At("properties.publicNetworkAccess"), "Disabled")
				c.Must(c.At("properties.networkAcls.defaultAction"), "Deny")
			},
		},
		{
			ID: "AOA-03", Severity: policypack.High,
			Title:     "Model accounts have a private endpoint that is registered in every zone of their kind",
			Rationale: "A name that is missing in private DNS resolves to the public address.",
			Remedy:    "Add a private endpoint and a zone group with all zones that the account advertises.",
			Controls:  []string{"MCSB NS-2", "MCSB NS-10", "Azure Policy d6759c02-b87f-42b7-892e-71b3f471d782", "Azure Policy c4bc6f10-cb41-49eb-b000-d5ab82e2a091", "PSRule AZR-000283"},
			Sources:   []string{"https://learn.microsoft.com/azure/private-link/private-endpoint-dns"},
			Types:     []string{azure.Account},
			Stack:     s.registered,
		},
		{
			ID: "AOA-04", Severity: policypack.Medium,
			Title:     "Model accounts have a managed identity",
			Rationale: "Without one the account can read blobs or keys only with a secret.",
			Remedy:    `Set identity.type to "SystemAssigned".`,
			Controls:  []string{"MCSB IM-3", "Azure Policy fe3fd216-4f83-4fc1-8984-2bbec80a3418", "Checkov CKV_AZURE_238"},
			Types:     []string{azure.Account},
			Resource: func(c *policypack.Case) {
				c.MustText(c.At("identity.type"), "SystemAssigned or UserAssigned", func(t string) bool { return strings.Contains(strings.ToLower(t), "assigned") })
			},
		},
		{
			ID: "AOA-05", Severity: policypack.High,
			Title:     "Model accounts have a sub-domain of their own",
			Rationale: "Tokens, private endpoints and batch jobs need it; it cannot be set later.",
			Remedy:    "Set properties.customSubDomainName.",
			Controls:  []string{"MCSB IM-1"},
			Sources:   []string{"https://learn.microsoft.com/azure/ai-services/cognitive-services-custom-subdomains"},
			Types:     []string{azure.Account},
			Resource:  func(c *policypack.Case) { c.MustBeSet(c.At("properties.customSubDomainName"), "a name") },
		},
		{
			ID: "AOA-06", Severity: policypack.Medium,
			Title:     "Model accounts call only listed hosts",
			Rationale: "An account that fetches any address can carry data out.",
			Remedy:    "Set properties.restrictOutboundNetworkAccess to true and list what it needs in allowedFqdnList.",
			Controls:  []string{"MCSB NS-2", "MCSB DP-2", "Checkov CKV_AZURE_247"},
			Sources:   []string{"https://learn.microsoft.com/azure/ai-services/cognitive-services-data-loss-prevention"},
			Types:     []string{azure.Account},
			Resource: func(c *policypack.Case) {
				c.Must(c.At("properties.restrictOutboundNetworkAccess"), true)
				hosts, state := c.At("properties.allowedFqdnList").Items()
				if unsure(state) {
					c.Undecided(c.At("properties.allowedFqdnList"), "hosts that are known")
				}
				for _, host := range hosts {
					c.MustText(host, "a host name without *", func(h string) bool { return h != "" && !strings.Contains(h, "*") })
				}
			},
		},
	}
}

// zones are the private DNS zones that an account advertises.
func zones(kind string) []string {
	out := []string{"privatelink.cognitiveservices.azure.com", "privatelink.openai.azure.com"}
	if strings.EqualFold(kind, "AIServices") {
		out = append(out, "privatelink.services.ai.azure.com")
	}
	return out
}

// registered demands an endpoint with all zones.
func (s *settings) registered(st *policypack.Stack, c *policypack.Case) {
	kind, state := c.At("kind").Text()
	if state != propvalue.Known {
		c.Undecided(c.At("kind"), "a kind that is known")
		return
	}
	endpoints, unclear := endpointsOf(st, c.Resource)
	if len(endpoints) == 0 {
		if unclear {
			c.Undecidedf("privateLinkServiceConnections of an endpoint", "an endpoint that leads to the account", "where an endpoint of the stack leads is not known")
		} else {
			c.Failf("", "without a private endpoint", "one")
		}
		return
	}
	if s.DNSByPolicy {
		c.Saw(azure.NameOf(endpoints[0]), "a private endpoint; Azure Policy registers it")
		return
	}
	var have []string
	for _, endpoint := range endpoints {
		for _, group := range azure.Children(st, endpoint, "privateEndpointName", azure.EndpointDNS) {
			configs, state := group.Get("privateDnsZoneConfigs").Items()
			unclear = unclear || state == propvalue.Unknown
			for _, config := range configs {
				id, state := config.At("privateDnsZoneId").Text()
				unclear = unclear || state != propvalue.Known
				have = append(have, strings.ToLower(id[strings.LastIndex(id, "/")+1:]))
			}
		}
	}
	for _, zone := range zones(kind) {
		switch {
		case slices.Contains(have, zone):
			c.Saw(azure.NameOf(endpoints[0]), "registered in "+strings.Join(zones(kind), ", "))
		case unclear:
			c.Undecidedf("privateDnsZoneConfigs", zone, "a zone of the endpoint is not known")
		default:
			c.Failf("privateDnsZoneConfigs", "without "+zone, "all of "+strings.Join(zones(kind), ", "))
		}
	}
}

// endpointsOf are the private endpoints that lead to r; unclear tells that there
// may be more.
func endpointsOf(st *policypack.Stack, r *policypack.Resource) (found []*policypack.Resource, unclear bool) {
	for _, endpoint := range st.Of(azure.PrivateEndpoint) {
		for _, property := range []string{"privateLinkServiceConnections", "manualPrivateLinkServiceConnections"} {
			connections, state := endpoint.Get(property).Items()
			unclear = unclear || state == propvalue.Unknown
			for _, connection := range connections {
				switch is, known := azure.Is(st, endpoint, property, connection.At("privateLinkServiceId"), r); {
				case is:
					found = append(found, endpoint)
				case !known:
					unclear = true
				}
			}
		}
	}
	return found, unclear
}
