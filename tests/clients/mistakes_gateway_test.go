package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/apimanagement/armapimanagement/v3"
)

// service tries to make a service.
func service(group, name, sku string, units int32, properties armapimanagement.ServiceProperties) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		properties.PublisherEmail, properties.PublisherName = new("platform@example.com"), new("platform")
		poller, err := a.gateway.NewServiceClient().BeginCreateOrUpdate(ctx, group, name, armapimanagement.ServiceResource{
			Location: new("swedencentral"), SKU: &armapimanagement.ServiceSKUProperties{Name: new(armapimanagement.SKUType(sku)), Capacity: &units}, Properties: &properties,
		}, nil)
		return ended(ctx, poller, err)
	}
}

// backend tries to make a back end.
func backend(properties armapimanagement.BackendContractProperties) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		_, err := a.gateway.NewBackendClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "new", armapimanagement.BackendContract{Properties: &properties}, nil)
		return err
	}
}

// document tries to write the policy of the API.
func document(value string) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		_, err := a.gateway.NewAPIPolicyClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "openai", policyName, armapimanagement.PolicyContract{
			Properties: &armapimanagement.PolicyContractProperties{Format: new(armapimanagement.PolicyContentFormatXML), Value: &value},
		}, nil)
		return err
	}
}

// route tries to make an operation.
func route(method, template string) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		_, err := a.gateway.NewAPIOperationClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "openai", "new", armapimanagement.OperationContract{
			Properties: &armapimanagement.OperationContractProperties{DisplayName: new("new"), Method: &method, URLTemplate: &template},
		}, nil)
		return err
	}
}

// api tries to make an API at a path.
func api(path, display string) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		poller, err := a.gateway.NewAPIClient().BeginCreateOrUpdate(ctx, "rg", "onedoor-lives", "new", armapimanagement.APICreateOrUpdateParameter{
			Properties: &armapimanagement.APICreateOrUpdateProperties{Path: &path, DisplayName: &display},
		}, nil)
		return ended(ctx, poller, err)
	}
}

// breaker trips after some failures.
func breaker(names ...string) *armapimanagement.BackendCircuitBreaker {
	b := &armapimanagement.BackendCircuitBreaker{}
	for _, name := range names {
		b.Rules = append(b.Rules, &armapimanagement.CircuitBreakerRule{Name: &name, TripDuration: new("PT1M"), FailureCondition: &armapimanagement.CircuitBreakerFailureCondition{
			Count: new(int64(3)), Interval: new("PT1M"), StatusCodeRanges: []*armapimanagement.FailureStatusCodeRange{{Min: new(int32(429)), Max: new(int32(429))}},
		}})
	}
	return b
}

var gatewayMistakes = map[string]mistake{
	"gateway: two units of Developer": {
		send:   service("rg", "onedoor-new", "Developer", 2, armapimanagement.ServiceProperties{}),
		status: 400, code: "ValidationError", target: "sku.capacity", says: []string{"got 2", "want 1..1 in tier Developer"},
	},
	"gateway: closed at birth": {
		send:   service("rg", "onedoor-new", "Developer", 1, armapimanagement.ServiceProperties{PublicNetworkAccess: new(armapimanagement.PublicNetworkAccessDisabled)}),
		status: 400, code: "NotSupported", target: "publicNetworkAccess", says: []string{"got Disabled", "want Enabled in the first write"},
	},
	"gateway: injected nowhere": {
		send:   service("rg", "onedoor-new", "Developer", 1, armapimanagement.ServiceProperties{VirtualNetworkType: new(armapimanagement.VirtualNetworkTypeInternal)}),
		status: 400, code: "ValidationError", target: "virtualNetworkConfiguration", says: []string{"got Internal without a subnet", "want virtualNetworkConfiguration.subnetResourceId"},
	},
	"gateway: certificates of clients": {
		send:   service("rg", "onedoor-new", "Developer", 1, armapimanagement.ServiceProperties{EnableClientCertificate: new(false)}),
		status: 400, code: "ValidationError", target: "enableClientCertificate", says: []string{"got false in tier Developer", "want nothing, not even false, because only Consumption has the switch"},
	},
	"gateway: name taken": {
		after: []string{gatewayLife}, first: otherGroup, send: service("other", "onedoor-lives", "Developer", 1, armapimanagement.ServiceProperties{}),
		status: 409, code: "ServiceAlreadyExists", target: "name", says: []string{"want a name that no service in the world has"},
	},
	"gateway: protocol https": {
		after: []string{gatewayLife}, send: backend(armapimanagement.BackendContractProperties{Protocol: new(armapimanagement.BackendProtocol("https")), URL: new("https://models.example.com")}),
		status: 400, code: "ValidationError", target: "protocol", says: []string{`got "https"`, "want http, also for https addresses, or soap"},
	},
	"gateway: two breakers": {
		status: 400, code: "ValidationError", target: "circuitBreaker.rules", says: []string{"got 2 rules", "want exactly one, although the schema has room for 15"},
		after: []string{gatewayLife}, send: backend(armapimanagement.BackendContractProperties{
			Protocol: new(armapimanagement.BackendProtocolHTTP), URL: new("https://models.example.com"), CircuitBreaker: breaker("one", "two"),
		})},
	"gateway: pool of what is not there": {
		status: 400, code: "ValidationError", target: "pool.services[0].id", says: []string{`got "/backends/nobody"`, "want the id of a back end of the service"},
		after: []string{gatewayLife}, send: backend(armapimanagement.BackendContractProperties{
			Type: new(armapimanagement.BackendTypePool), Pool: &armapimanagement.BackendBaseParametersPool{Services: []*armapimanagement.BackendPoolItem{{ID: new("/backends/nobody")}}},
		})},
	"gateway: XML that is torn": {
		after: []string{gatewayLife, apiLife}, send: document("<policies><inbound></policies>"),
		status: 400, code: "ValidationError", target: "value", says: []string{"want a well-formed document"},
	},
	"gateway: section that is none": {
		after: []string{gatewayLife, apiLife}, send: document("<policies><inbounds><base /></inbounds></policies>"),
		status: 400, code: "ValidationError", target: "value", says: []string{"want a document that the service takes in scope api"},
	},
	"gateway: fragment that is none": {
		after: []string{gatewayLife, apiLife}, send: document(`<policies><inbound><base /><include-fragment fragment-id="nobody" /></inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>`),
		status: 400, code: "ValidationError", target: "value", says: []string{`got policyFragments "nobody", which could not be found`, "want one of"},
	},
	"gateway: back end that is none": {
		after: []string{gatewayLife, apiLife}, send: document(`<policies><inbound><base /><set-backend-service backend-id="nobody" /></inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>`),
		status: 400, code: "ValidationError", target: "value", says: []string{`got backends "nobody", which could not be found`, "want one of"},
	},
	"gateway: parameter not listed": {
		after: []string{gatewayLife, apiLife}, send: route("POST", "/deployments/{name}/chat"),
		status: 400, code: "ValidationError", target: "templateParameters", says: []string{"got []", `want ["name"], those of /deployments/{name}/chat`},
	},
	"gateway: route twice": {
		after: []string{gatewayLife, apiLife, apiLife + "/operations/chat"}, send: route("POST", "/v1/chat/completions"),
		status: 400, code: "ValidationError", target: "urlTemplate", says: []string{"want a method and URL template that no other operation of the API has"},
	},
	"gateway: slash before a path": {
		after: []string{gatewayLife}, send: api("/other", "other"),
		status: 400, code: "ValidationError", target: "path", says: []string{`got "/other"`, "want one without a slash at its ends"},
	},
	"gateway: path taken": {
		after: []string{gatewayLife, apiLife}, send: api("openai", "other"),
		status: 400, code: "ValidationError", target: "path", says: []string{`got "openai"`, "want a path of its own"},
	},
	"gateway: display name taken": {
		after: []string{gatewayLife, apiLife}, send: api("other", "one"),
		status: 400, code: "ValidationError", target: "name", says: []string{"want a displayName of its own"},
	},
	"gateway: value from two places": {
		status: 400, code: "ValidationError", target: "value", says: []string{"got both or neither of value and keyVault", "want one of them"},
		after: []string{gatewayLife}, send: func(ctx context.Context, a *azure) error {
			poller, err := a.gateway.NewNamedValueClient().BeginCreateOrUpdate(ctx, "rg", "onedoor-lives", "new", armapimanagement.NamedValueCreateContract{Properties: &armapimanagement.NamedValueCreateContractProperties{
				DisplayName: new("new"), Value: new("x"), KeyVault: &armapimanagement.KeyVaultContractCreateProperties{SecretIdentifier: new("https://onedoor.vault.azure.net/secrets/x")},
			}}, nil)
			return ended(ctx, poller, err)
		}},
	"gateway: key to nothing": {
		status: 400, code: "ValidationError", target: "scope", says: []string{`got "/products/nobody", which does not exist`, "want a product or an API of"},
		after: []string{gatewayLife}, send: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewSubscriptionClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "tenant", armapimanagement.SubscriptionCreateParameters{
				Properties: &armapimanagement.SubscriptionCreateParameterProperties{DisplayName: new("tenant"), Scope: new("/products/nobody")},
			}, nil)
			return err
		}},
	"gateway: diagnostic of another name": {
		status: 400, code: "ValidationError", target: "name", says: []string{`got "mine"`, "want applicationinsights or azuremonitor"},
		after: []string{gatewayLife, gatewayLife + "/loggers/monitor", apiLife}, send: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewAPIDiagnosticClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "openai", "mine", armapimanagement.DiagnosticContract{
				Properties: &armapimanagement.DiagnosticContractProperties{LoggerID: new(place + "/providers/" + gatewayLife + "/loggers/monitor")},
			}, nil)
			return err
		}},
	"gateway: fragment in use is deleted": {
		status: 400, code: "ValidationError", target: place + "/providers/Microsoft.ApiManagement/service/onedoor-lives/policyFragments/refuse", says: []string{"want one that nothing uses"},
		after: []string{gatewayLife, gatewayLife + "/policyFragments/refuse", apiLife}, first: document(`<policies><inbound><base /><include-fragment fragment-id="refuse" /></inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>`), send: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewPolicyFragmentClient().Delete(ctx, "rg", "onedoor-lives", "refuse", "*", nil)
			return err
		}},
}
