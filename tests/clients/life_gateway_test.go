package clients

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/apimanagement/armapimanagement/v3"

	"onedoor/sim/core"
)

const (
	gatewayLife = "Microsoft.ApiManagement/service/onedoor-lives"
	apiLife     = gatewayLife + "/apis/openai"
	productLife = gatewayLife + "/products/full"
	backendLife = gatewayLife + "/backends/models"
)

var gatewayLives = []life{
	{
		of: gatewayLife, busy: core.Conflict, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.gateway.NewServiceClient().BeginCreateOrUpdate(ctx, "rg", "onedoor-lives", armapimanagement.ServiceResource{
				Location: new("swedencentral"), SKU: &armapimanagement.ServiceSKUProperties{Name: new(armapimanagement.SKUTypeDeveloper), Capacity: new(int32(1))},
				Properties: &armapimanagement.ServiceProperties{PublisherEmail: new("platform@example.com"), PublisherName: pick(again, "one", "two")},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armapimanagement.ServiceResource) *string { return m.Properties.PublisherName }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.gateway.NewServiceClient().BeginDelete(ctx, "rg", "onedoor-lives", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: apiLife, needs: []string{gatewayLife}, busy: core.PessimisticConcurrency, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.gateway.NewAPIClient().BeginCreateOrUpdate(ctx, "rg", "onedoor-lives", "openai", armapimanagement.APICreateOrUpdateParameter{
				Properties: &armapimanagement.APICreateOrUpdateProperties{Path: new("openai"), DisplayName: pick(again, "one", "two"), Protocols: []*armapimanagement.Protocol{new(armapimanagement.ProtocolHTTPS)}},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armapimanagement.APIContract) *string { return m.Properties.DisplayName }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.gateway.NewAPIClient().BeginDelete(ctx, "rg", "onedoor-lives", "openai", "*", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: apiLife + "/operations/chat", needs: []string{gatewayLife, apiLife}, busy: core.PessimisticConcurrency, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.gateway.NewAPIOperationClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "openai", "chat", armapimanagement.OperationContract{
				Properties: &armapimanagement.OperationContractProperties{DisplayName: pick(again, "one", "two"), Method: new("POST"), URLTemplate: new("/v1/chat/completions")},
			}, nil)
			return err
		},
		shows: shown(func(m armapimanagement.OperationContract) *string { return m.Properties.DisplayName }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewAPIOperationClient().Delete(ctx, "rg", "onedoor-lives", "openai", "chat", "*", nil)
			return err
		},
	},
	{
		of: apiLife + "/policies/policy", needs: []string{gatewayLife, apiLife}, busy: core.PessimisticConcurrency, made: false, changed: true,
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.gateway.NewAPIPolicyClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "openai", policyName, policyDocument(*pick(again, "", refusal403)), nil)
			return err
		},
		shows: hasRefusal,
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewAPIPolicyClient().Delete(ctx, "rg", "onedoor-lives", "openai", policyName, "*", nil)
			return err
		},
	},
	{
		of: gatewayLife + "/loggers/monitor", needs: []string{gatewayLife}, busy: core.AnotherOperationInProgress, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.gateway.NewLoggerClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "monitor", armapimanagement.LoggerContract{
				Properties: &armapimanagement.LoggerContractProperties{LoggerType: new(armapimanagement.LoggerTypeAzureMonitor), Description: pick(again, "one", "two")},
			}, nil)
			return err
		},
		shows: shown(func(m armapimanagement.LoggerContract) *string { return m.Properties.Description }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewLoggerClient().Delete(ctx, "rg", "onedoor-lives", "monitor", "*", nil)
			return err
		},
	},
	{
		of: apiLife + "/diagnostics/azuremonitor", needs: []string{gatewayLife, gatewayLife + "/loggers/monitor", apiLife}, busy: core.PessimisticConcurrency, made: 100.0, changed: 50.0,
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.gateway.NewAPIDiagnosticClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "openai", "azuremonitor", armapimanagement.DiagnosticContract{
				Properties: &armapimanagement.DiagnosticContractProperties{
					LoggerID: new(place + "/providers/" + gatewayLife + "/loggers/monitor"),
					Sampling: &armapimanagement.SamplingSettings{SamplingType: new(armapimanagement.SamplingTypeFixed), Percentage: pick(again, 100.0, 50.0)},
				},
			}, nil)
			return err
		},
		shows: shown(func(m armapimanagement.DiagnosticContract) *float64 { return m.Properties.Sampling.Percentage }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewAPIDiagnosticClient().Delete(ctx, "rg", "onedoor-lives", "openai", "azuremonitor", "*", nil)
			return err
		},
	},
	{
		of: backendLife, needs: []string{gatewayLife}, busy: core.AnotherOperationInProgress, made: "https://one.example.com", changed: "https://two.example.com",
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.gateway.NewBackendClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "models", armapimanagement.BackendContract{
				Properties: &armapimanagement.BackendContractProperties{Protocol: new(armapimanagement.BackendProtocolHTTP), URL: pick(again, "https://one.example.com", "https://two.example.com")},
			}, nil)
			return err
		},
		shows: shown(func(m armapimanagement.BackendContract) *string { return m.Properties.URL }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewBackendClient().Delete(ctx, "rg", "onedoor-lives", "models", "*", nil)
			return err
		},
	},
	{
		of: gatewayLife + "/namedValues/address", needs: []string{gatewayLife}, busy: core.AnotherOperationInProgress, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.gateway.NewNamedValueClient().BeginCreateOrUpdate(ctx, "rg", "onedoor-lives", "address", armapimanagement.NamedValueCreateContract{
				Properties: &armapimanagement.NamedValueCreateContractProperties{DisplayName: new("address"), Value: pick(again, "one", "two")},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armapimanagement.NamedValueContract) *string { return m.Properties.Value }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewNamedValueClient().Delete(ctx, "rg", "onedoor-lives", "address", "*", nil)
			return err
		},
	},
	{
		of: gatewayLife + "/policyFragments/refuse", needs: []string{gatewayLife}, busy: core.AnotherOperationInProgress, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.gateway.NewPolicyFragmentClient().BeginCreateOrUpdate(ctx, "rg", "onedoor-lives", "refuse", armapimanagement.PolicyFragmentContract{
				Properties: &armapimanagement.PolicyFragmentContractProperties{Format: new(armapimanagement.PolicyFragmentContentFormatXML), Value: new("<fragment>" + refusal403 + "</fragment>"), Description: pick(again, "one", "two")},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armapimanagement.PolicyFragmentContract) *string { return m.Properties.Description }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewPolicyFragmentClient().Delete(ctx, "rg", "onedoor-lives", "refuse", "*", nil)
			return err
		},
	},
	{
		of: productLife, needs: []string{gatewayLife}, busy: core.AnotherOperationInProgress, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			// Without subscriptions, or the one that comes with a product would hold it.
			_, err := a.gateway.NewProductClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "full", armapimanagement.ProductContract{
				Properties: &armapimanagement.ProductContractProperties{DisplayName: pick(again, "one", "two"), SubscriptionRequired: new(false)},
			}, nil)
			return err
		},
		shows: shown(func(m armapimanagement.ProductContract) *string { return m.Properties.DisplayName }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewProductClient().Delete(ctx, "rg", "onedoor-lives", "full", "*", nil)
			return err
		},
	},
	{
		of: productLife + "/policies/policy", needs: []string{gatewayLife, productLife}, busy: core.AnotherOperationInProgress, made: false, changed: true,
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.gateway.NewProductPolicyClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "full", policyName, policyDocument(*pick(again, "", refusal403)), nil)
			return err
		},
		shows: hasRefusal,
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewProductPolicyClient().Delete(ctx, "rg", "onedoor-lives", "full", policyName, "*", nil)
			return err
		},
	},
	{
		of: gatewayLife + "/subscriptions/tenant", needs: []string{gatewayLife, apiLife}, busy: core.AnotherOperationInProgress, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.gateway.NewSubscriptionClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "tenant", armapimanagement.SubscriptionCreateParameters{
				Properties: &armapimanagement.SubscriptionCreateParameterProperties{DisplayName: pick(again, "one", "two"), Scope: new("/apis/openai"), State: new(armapimanagement.SubscriptionStateActive)},
			}, nil)
			return err
		},
		shows: shown(func(m armapimanagement.SubscriptionContract) *string { return m.Properties.DisplayName }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.gateway.NewSubscriptionClient().Delete(ctx, "rg", "onedoor-lives", "tenant", "*", nil)
			return err
		},
	},
}

// refusal403 answers every call with 403.
const refusal403 = `<return-response><set-status code="403" reason="Forbidden" /></return-response>`

// policyDocument is a policy with something of its own in inbound.
func policyDocument(inbound string) armapimanagement.PolicyContract {
	return armapimanagement.PolicyContract{Properties: &armapimanagement.PolicyContractProperties{
		Format: new(armapimanagement.PolicyContentFormatXML),
		Value:  new("<policies><inbound><base />" + inbound + "</inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>"),
	}}
}

// hasRefusal says whether a policy has refusal403 in it.
func hasRefusal(model any) any {
	document, _ := model.(armapimanagement.PolicyContract)
	return strings.Contains(*document.Properties.Value, "return-response")
}
