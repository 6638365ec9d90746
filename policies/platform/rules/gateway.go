package rules

import (
	"regexp"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// weakProtocols are the switches of the gateway that must not be on. Those that
// are not set are off since 2018.
// https://learn.microsoft.com/azure/api-management/api-management-howto-manage-protocols-ciphers
var weakProtocols = []string{
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Protocols.Tls10",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Protocols.Tls11",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Protocols.Ssl30",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Backend.Protocols.Tls10",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Backend.Protocols.Tls11",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Backend.Protocols.Ssl30",
	"Microsoft.WindowsAzure.ApiManagement.Gateway.Security.Ciphers.TripleDes168",
}

// secretLike finds names of what must be a secret.
var secretLike = regexp.MustCompile(`(?i)(key|secret|password|token|connection)`)

// gateway are the rules of the API Management service and what holds for all of
// its APIs.
func gateway(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "GW-06", Severity: policypack.Medium,
			Title:     "Subscriptions of the gateway are bound to a product or an API",
			Rationale: "A key to all APIs reaches every route that is added, unseen.",
			Remedy:    "Set scope to a product or to one API.",
			Controls:  []string{"MCSB PA-7", "Azure Policy 3aa03346-d8c5-4994-a5bc-7652c2a2aef1"},
			Sources:   []string{"https://learn.microsoft.com/azure/api-management/api-management-subscriptions"},
			Types:     []string{azure.GatewaySubscription},
			Resource: func(c *policypack.Case) {
				c.MustText(c.At("scope"), "/products/<name> or /apis/<name>", func(scope string) bool {
					lower := strings.TrimRight(strings.ToLower(scope), "/")
					return strings.Contains(lower+"/", "/products/") && !strings.HasSuffix(lower, "/products") || strings.Contains(lower, "/apis/")
				})
			},
		},
		{
			ID: "GW-07", Severity: policypack.High,
			Title:     "The gateway speaks https with TLS 1.2 or later, and no weak cipher",
			Rationale: "Clear text and old ciphers expose prompts and keys.",
			Remedy:    `Set protocols of APIs to ["https"], and the switches of old protocols to "False".`,
			Controls:  []string{"MCSB DP-3", "Azure Policy ee7495e7-3ba7-40b6-bfee-c29e22cc75d4", "Checkov CKV_AZURE_173"},
			Sources:   []string{"https://learn.microsoft.com/azure/api-management/api-management-howto-manage-protocols-ciphers"},
			Types:     []string{azure.API, azure.Gateway},
			Resource: func(c *policypack.Case) {
				if c.Type == azure.Gateway {
					for _, key := range weakProtocols {
						c.MustIfSet(c.Get("customProperties", key), "False")
					}
					return
				}
				list := c.At("protocols")
				protocols, state := list.Items()
				switch {
				case state == propvalue.Absent: // Azure's default is https alone
				case state != propvalue.Known:
					c.Undecided(list, "https alone")
				case len(protocols) == 0:
					c.Fail(list, "https alone")
				}
				for _, p := range protocols {
					c.Must(p, "https", "wss")
				}
			},
		},
		{
			ID: "GW-08", Severity: policypack.High,
			Title:     "Secrets of the gateway are references to Key Vault",
			Rationale: "A plain named value is read by everybody who may read the gateway, and stands in the state.",
			Remedy:    "Set keyVault.secretIdentifier and secret: true, and leave value out.",
			Controls:  []string{"MCSB IM-8", "MCSB DP-6", "Azure Policy f1cc7827-022c-473e-836e-5a51cae0b249"},
			Sources:   []string{"https://learn.microsoft.com/azure/api-management/api-management-howto-properties"},
			Types:     []string{azure.NamedValue},
			Resource: func(c *policypack.Case) {
				secret, state := c.At("secret").Bool()
				name, named := c.At("displayName").Text()
				switch {
				case state == propvalue.Unknown || state == propvalue.Mistyped:
					c.Undecided(c.At("secret"), "known")
				case named != propvalue.Known:
					c.Undecided(c.At("displayName"), "a name that is known")
				case secret || secretLike.MatchString(name):
					c.MustBeSet(c.At("keyVault.secretIdentifier"), "a secret in Key Vault")
					if c.At("value").State() != propvalue.Absent {
						c.Failf("value", propvalue.ShownSecret, "nothing, since the value is in Key Vault")
					}
				default:
					c.NotApplicable("the named value is not a secret")
				}
			},
		},
		{
			ID: "GW-09", Severity: policypack.High,
			Title:     "The gateway is reached through the network alone",
			Rationale: "A gateway with a public plane is in reach of everybody, before any token is looked at.",
			Remedy:    `Inject it ("Internal"), or close public access and add a private endpoint.`,
			Controls:  []string{"MCSB NS-2", "Azure Policy ef619a2c-cc4d-4d03-b2ba-8c94a834d85b", "Azure Policy df73bd95-24da-4a4f-96b9-4e8b94b402bd", "Azure Policy 1dc2fc00-2245-4143-99f4-874c937f13ef", "Checkov CKV_AZURE_174"},
			Sources:   []string{"https://learn.microsoft.com/azure/api-management/virtual-network-concepts"},
			Types:     []string{azure.Gateway},
			Stack:     s.inside,
		},
		{
			ID: "GW-10", Severity: policypack.High,
			Title:     "The gateway logs no prompts and no answers of tenants that did not agree",
			Rationale: "A log of prompts is a second store of what people said, with other readers and another life time.",
			Remedy:    "Log token counts alone: no messages, no bytes of bodies; or name the API in promptApis of SET-02 once its tenants agreed.",
			Controls:  []string{"MCSB LT-3", "MCSB DP-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/api-management/api-management-howto-llm-logs"},
			Types:     []string{azure.APIDiagnostic, azure.GatewayDiagnostic},
			Resource: func(c *policypack.Case) {
				if api, state := c.At("apiId").Text(); state == propvalue.Known && like(s.PromptAPIs, api) {
					c.NotApplicable("the tenants of API %q agreed to the logging of prompts", api)
					return
				}
				for _, path := range []string{"frontend.request", "frontend.response", "backend.request", "backend.response"} {
					bytes := c.At(path + ".body.bytes")
					if bytes.State() != propvalue.Absent {
						c.MustNumber(bytes, "0 bytes of bodies", func(n float64) bool { return n == 0 })
					}
				}
				for _, path := range []string{"largeLanguageModel.requests.messages", "largeLanguageModel.responses.messages"} {
					c.MustIfSet(c.At(path), "none", "")
				}
			},
		},
	}
}

// inside judges how the gateway is reached.
func (s *settings) inside(st *policypack.Stack, c *policypack.Case) {
	network, access := c.At("virtualNetworkType"), c.At("publicNetworkAccess")
	kind, kindState := network.Text()
	open, openState := access.Text()
	const expected = "Internal, or publicNetworkAccess Disabled"
	switch {
	case strings.EqualFold(kind, "Internal"):
		c.Saw(network, expected)
	case strings.EqualFold(open, "Disabled"):
		c.Saw(access, expected)
	case closedByPatch(st, c.Resource):
		c.Saw(access, "Disabled by a Patch that follows")
	case unsure(kindState) || unsure(openState):
		c.Undecided(network, expected)
	default:
		// The gateway is the one public door: callers come from anywhere, so tokens
		// are its wall and there are no ranges to name.
		if !s.excused(c, tokensChecked(st, c.Resource), true) {
			c.Fail(network, expected)
		}
	}
}

func unsure(state propvalue.State) bool {
	return state == propvalue.Unknown || state == propvalue.Mistyped
}

// closedByPatch tells whether a Patch of the stack closes the service: Azure
// takes no closed gateway at its creation.
func closedByPatch(st *policypack.Stack, r *policypack.Resource) bool {
	for _, patch := range st.Of(azure.Patch) {
		access, state := patch.Get("properties", "properties", "publicNetworkAccess").Text()
		if is, _ := azure.Is(st, patch, "resourceId", patch.Get("resourceId"), r); is && state == propvalue.Known && strings.EqualFold(access, "Disabled") {
			return true
		}
	}
	return false
}

// tokensChecked tells whether every model API of the gateway checks tokens.
func tokensChecked(st *policypack.Stack, service *policypack.Resource) bool {
	apis := 0
	for _, api := range azure.Children(st, service, "serviceName", azure.API) {
		if !modelAPI(st, api) {
			continue
		}
		apis++
		if found, _, _ := elements(st, api, tokenChecks...); len(found) == 0 {
			return false
		}
	}
	return apis > 0
}
