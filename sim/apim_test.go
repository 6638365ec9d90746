package sim_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/apimanagement/armapimanagement/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
	"onedoor/sim/core"
)

const (
	apimPkg   = "azure-native:apimanagement/v20240501:"
	gatewayID = groupID + "/providers/Microsoft.ApiManagement/service/onedoor-gw"
	apimVault = groupID + "/providers/Microsoft.KeyVault/vaults/onedoor-gw"

	passThrough = "<policies><inbound><base /></inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>"
)

func inGateway(more m) m {
	return with(m{"resourceGroupName": "rg", "serviceName": "onedoor-gw"}, more)
}

// gatewayIn is a small gateway in a network.
var gatewayIn = inGateway(m{
	"sku": m{"name": "Developer", "capacity": 1.0}, "publisherEmail": "a@example.org", "publisherName": "a", "identity": m{"type": "SystemAssigned"},
	"virtualNetworkType": "External", "virtualNetworkConfiguration": m{"subnetResourceId": vnetID + "/subnets/gateway"}, "publicIpAddressId": netID + "publicIPAddresses/gateway",
})

// gatewayStack lists a gateway with what it needs and all that is in it, in an
// order in which it can be made.
func gatewayStack() []declared {
	model := m{"bytes": 0.0}
	silent := m{"request": m{"body": model}, "response": m{"body": model}}
	return []declared{
		{groupToken, "group", groupIn, nil},
		{vnetToken, "vnet", vnetIn, nil},
		{nsgToken, "nsg", nsgIn, nil},
		{subnetToken, "gateway", m{
			"resourceGroupName": "rg", "virtualNetworkName": "vnet", "subnetName": "gateway", "addressPrefix": "10.0.2.0/27",
			"networkSecurityGroup": id(netID + "networkSecurityGroups/nsg"),
		}, nil},
		{ipToken, "address", m{
			"resourceGroupName": "rg", "publicIpAddressName": "gateway", "sku": m{"name": "Standard"}, "publicIPAllocationMethod": "Static",
			"dnsSettings": m{"domainNameLabel": "onedoor-gw"},
		}, nil},
		{vaultToken, "vault", m{"resourceGroupName": "rg", "vaultName": "onedoor-gw", "properties": m{
			"tenantId": "33333333-3333-4333-8333-333333333333", "sku": m{"family": "A", "name": "standard"}, "enableRbacAuthorization": true,
			"publicNetworkAccess": "Disabled", "networkAcls": m{"bypass": "AzureServices", "defaultAction": "Deny"},
		}}, nil},
		{secretToken, "secret", m{"resourceGroupName": "rg", "vaultName": "onedoor-gw", "secretName": "edge", "properties": m{"value": "x"}}, nil},
		{apimPkg + "ApiManagementService", "service", gatewayIn, m{"notificationSenderEmail": "b@example.org"}},
		{assignmentToken, "reader", m{
			"scope": apimVault, "roleAssignmentName": "aaaaaaaa-0000-4000-8000-000000000001", "principalType": "ServicePrincipal", "principalId": "",
			"roleDefinitionId": "/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleDefinitions/4633458b-17de-408a-b874-0445c86b69e6",
		}, nil},
		{apimPkg + "NamedValue", "edge", inGateway(m{
			"namedValueId": "edge", "displayName": "edge-key", "secret": true, "keyVault": m{"secretIdentifier": "https://onedoor-gw.vault.azure.net/secrets/edge"},
		}), m{"tags": list("edge")}},
		{apimPkg + "NamedValue", "plane", inGateway(m{"namedValueId": "plane", "displayName": "control-plane", "value": "https://batch.example.org"}), m{"value": "https://b.example.org"}},
		{apimPkg + "Backend", "chat", inGateway(m{
			"backendId": "chat", "url": "https://onedoor-sync.openai.azure.com/openai", "protocol": "http",
			"circuitBreaker": m{"rules": list(m{
				"name": "throttle", "acceptRetryAfter": true, "tripDuration": "PT30S",
				"failureCondition": m{"count": 1.0, "interval": "PT1M", "statusCodeRanges": list(m{"min": 429.0, "max": 429.0})},
			})},
			"tls": m{"validateCertificateChain": true, "validateCertificateName": true},
		}), m{"title": "chat"}},
		{apimPkg + "Logger", "monitor", inGateway(m{"loggerId": "azuremonitor", "loggerType": "azureMonitor"}), m{"description": "all"}},
		{apimPkg + "PolicyFragment", "guard", inGateway(m{"id": "guard", "format": "rawxml", "value": `<fragment><choose><when condition="@(1 < 2 && "a" != "b")"><return-response /></when></choose></fragment>`}), m{"description": "the guard"}},
		{apimPkg + "Api", "api", inGateway(m{
			"apiId": "openai", "displayName": "OpenAI", "path": "openai", "protocols": list("https"), "subscriptionRequired": true,
			"subscriptionKeyParameterNames": m{"header": "api-key", "query": "api-key"},
		}), m{"description": "models"}},
		{apimPkg + "ApiOperation", "complete", inGateway(m{
			"apiId": "openai", "operationId": "complete", "displayName": "Complete", "method": "POST", "urlTemplate": "/deployments/{id}/chat/completions",
			"templateParameters": list(m{"name": "id", "type": "string", "required": true}),
		}), m{"description": "chat"}},
		{apimPkg + "ApiPolicy", "api-policy", inGateway(m{
			"apiId": "openai", "policyId": "policy", "format": "xml",
			"value": `<policies><inbound><base /><include-fragment fragment-id="guard" /><set-backend-service backend-id="chat" /></inbound><backend><base /></backend><outbound><base /></outbound><on-error><base /></on-error></policies>`,
		}), m{"value": passThrough}},
		{apimPkg + "ApiOperationPolicy", "operation-policy", inGateway(m{"apiId": "openai", "operationId": "complete", "policyId": "policy", "value": passThrough}), m{"format": "rawxml"}},
		{"azure-native:apimanagement/v20240601preview:ApiDiagnostic", "diagnostic", inGateway(m{
			"apiId": "openai", "diagnosticId": "azuremonitor", "loggerId": gatewayID + "/loggers/azuremonitor", "alwaysLog": "allErrors", "verbosity": "information",
			"sampling": m{"samplingType": "fixed", "percentage": 100.0}, "frontend": silent, "backend": silent,
			"largeLanguageModel": m{"logs": "enabled", "requests": m{"messages": "all", "maxSizeInBytes": 32768.0}},
		}), m{"verbosity": "error"}},
		{apimPkg + "Diagnostic", "service-diagnostic", inGateway(m{"diagnosticId": "azuremonitor", "loggerId": gatewayID + "/loggers/azuremonitor", "frontend": silent, "backend": silent}), m{"verbosity": "error"}},
		{apimPkg + "Product", "gold", inGateway(m{"productId": "gold", "displayName": "Gold", "state": "published", "subscriptionRequired": true, "approvalRequired": false}), m{"description": "a plan"}},
		{apimPkg + "ProductPolicy", "gold-policy", inGateway(m{"productId": "gold", "policyId": "policy", "value": passThrough}), nil},
		{apimPkg + "ProductApiLink", "gold-api", inGateway(m{"productId": "gold", "apiLinkId": "openai", "apiId": gatewayID + "/apis/openai"}), nil},
		{apimPkg + "Subscription", "acme", inGateway(m{"sid": "acme", "displayName": "acme", "scope": gatewayID + "/products/gold", "state": "active", "primaryKey": "0123456789abcdef"}), m{"displayName": "Acme Ltd"}},
		{apimPkg + "Group", "team", inGateway(m{"groupId": "team", "displayName": "Team"}), m{"description": "us"}},
	}
}

// withReader fills the role assignment of a gateway's identity into a stack.
func withReader(all []declared, principal string) []declared {
	for i := range all {
		if all[i].name == "reader" {
			all[i].in = with(all[i].in, m{"principalId": principal})
		}
	}
	return all
}

// gatewayPrincipal is the identity that a gateway will have.
func gatewayPrincipal(t *testing.T) string {
	t.Helper()
	e := open(t)
	var service *made
	for _, d := range gatewayStack()[:8] {
		service = e.mustCreate(d.token, d.name, d.in)
	}
	return service.outputs["identity"].ObjectValue()["principalId"].StringValue()
}

// A gateway and all that is in it go through their life, and what Azure answers
// beyond the inputs makes no difference (A502, A512, A524, A537, A546, A556, A562).
// The product stays: Azure's own subscription of it is not the stack's (A544).
func TestGatewayLifeCycle(t *testing.T) {
	t.Parallel()
	live(t, open(t), withReader(gatewayStack(), gatewayPrincipal(t)), "vault", "secret", "gold")
}

// In a first preview the gateway's identity is not known yet, and what depends
// on it is not refused (A556).
func TestGatewayPreviewsWhole(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, d := range gatewayStack() {
		in := props(d.in)
		if d.name == "reader" {
			in["principalId"] = unknown
		}
		if _, err := e.create(d.token, d.name, in, true); err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
	}
}

// Who runs writes to one API side by side fails: azure-native does not repeat
// PessimisticConcurrencyConflict (A523).
func TestGatewayConflicts(t *testing.T) {
	t.Parallel()
	e := open(t, sim.WithTypesOnly())
	for _, d := range gatewayStack()[:15] {
		e.mustCreate(d.token, d.name, d.in)
	}
	fault := sim.Fault{Type: apimPkg + "ApiOperation", Code: core.PessimisticConcurrency}
	e.cloud.Inject(fault)
	operation := gatewayStack()[15]
	_, err := e.create(operation.token, operation.name, props(operation.in), false)
	require.ErrorContains(t, err, "PessimisticConcurrencyConflict")
	e.mustCreate(operation.token, operation.name, operation.in)
}

// A private endpoint appears at the gateway without being the program's drift,
// and lets the public way be shut (A503).
func TestGatewayShowsEndpoints(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, d := range []declared{
		{groupToken, "group", groupIn, nil},
		{vnetToken, "vnet", vnetIn, nil},
		{subnetToken, "endpoints", m{"resourceGroupName": "rg", "virtualNetworkName": "vnet", "subnetName": "endpoints", "addressPrefix": "10.0.3.0/24"}, nil},
	} {
		e.mustCreate(d.token, d.name, d.in)
	}
	in := inGateway(m{"sku": m{"name": "StandardV2", "capacity": 1.0}, "publisherEmail": "a@example.org", "publisherName": "a"})
	service := e.mustCreate(apimPkg+"ApiManagementService", "service", in)
	shut := service.in.Copy()
	shut["publicNetworkAccess"] = resource.NewProperty("Disabled")
	_, err := e.update(service, shut, true)
	require.ErrorContains(t, err, "NotSupported")
	e.mustCreate(endpointToken, "endpoint", m{
		"resourceGroupName": "rg", "privateEndpointName": "gateway", "subnet": id(vnetID + "/subnets/endpoints"),
		"privateLinkServiceConnections": list(m{"name": "gateway", "privateLinkServiceId": gatewayID, "groupIds": list("Gateway")}),
	})
	read := e.read(service)
	assert.Len(t, read.outputs["privateEndpointConnections"].ArrayValue(), 1)
	assert.Nil(t, service.in.Diff(read.in), "the endpoint became an input")
	updated, err := e.update(read, shut, false)
	require.NoError(t, err)
	assert.Equal(t, "Disabled", updated.outputs["publicNetworkAccess"].StringValue())
}

// Microsoft's client makes, reads, changes, lists, deletes and purges a gateway
// and what is in it, and reads them typed (A502, A512, A523, A537, A546, A568).
func TestGatewayClient(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.mustCreate(groupToken, "group", groupIn)
	factory, err := armapimanagement.NewClientFactory(subscription, token{}, armOptions(t, e.cloud, ""))
	require.NoError(t, err)
	ctx := t.Context()
	const rg, gw = "rg", "onedoor-gw"
	services := factory.NewServiceClient()
	service := armapimanagement.ServiceResource{
		Location: new("swedencentral"), SKU: &armapimanagement.ServiceSKUProperties{Name: new(armapimanagement.SKUTypeDeveloper), Capacity: new(int32(1))},
		Properties: &armapimanagement.ServiceProperties{PublisherEmail: new("a@example.org"), PublisherName: new("a")},
	}
	made := await[armapimanagement.ServiceClientCreateOrUpdateResponse](t)(services.BeginCreateOrUpdate(ctx, rg, gw, service, nil))
	assert.Equal(t, "https://onedoor-gw.azure-api.net", *made.Properties.GatewayURL)
	assert.Equal(t, armapimanagement.PlatformVersionStv2, *made.Properties.PlatformVersion)
	await[armapimanagement.ServiceClientUpdateResponse](t)(services.BeginUpdate(ctx, rg, gw, armapimanagement.ServiceUpdateParameters{Tags: map[string]*string{"a": new("b")}}, nil))

	fragments, values, backends, loggers := factory.NewPolicyFragmentClient(), factory.NewNamedValueClient(), factory.NewBackendClient(), factory.NewLoggerClient()
	await[armapimanagement.PolicyFragmentClientCreateOrUpdateResponse](t)(fragments.BeginCreateOrUpdate(ctx, rg, gw, "guard", armapimanagement.PolicyFragmentContract{
		Properties: &armapimanagement.PolicyFragmentContractProperties{Value: new("<fragment><trace /></fragment>"), Format: new(armapimanagement.PolicyFragmentContentFormatXML)},
	}, nil))
	await[armapimanagement.NamedValueClientCreateOrUpdateResponse](t)(values.BeginCreateOrUpdate(ctx, rg, gw, "edge", armapimanagement.NamedValueCreateContract{
		Properties: &armapimanagement.NamedValueCreateContractProperties{DisplayName: new("edge"), Secret: new(true), Value: new("hidden")},
	}, nil))
	value, err := values.Get(ctx, rg, gw, "edge", nil)
	require.NoError(t, err)
	assert.Nil(t, value.Properties.Value)
	shown, err := values.ListValue(ctx, rg, gw, "edge", nil)
	require.NoError(t, err)
	assert.Equal(t, "hidden", *shown.Value)
	_, err = backends.CreateOrUpdate(ctx, rg, gw, "chat", armapimanagement.BackendContract{
		Properties: &armapimanagement.BackendContractProperties{URL: new("https://chat.example.org"), Protocol: new(armapimanagement.BackendProtocolHTTP)},
	}, nil)
	require.NoError(t, err)
	_, err = loggers.CreateOrUpdate(ctx, rg, gw, "azuremonitor", armapimanagement.LoggerContract{Properties: &armapimanagement.LoggerContractProperties{LoggerType: new(armapimanagement.LoggerTypeAzureMonitor)}}, nil)
	require.NoError(t, err)

	apis, operations, policies, diagnostics := factory.NewAPIClient(), factory.NewAPIOperationClient(), factory.NewAPIPolicyClient(), factory.NewAPIDiagnosticClient()
	api := await[armapimanagement.APIClientCreateOrUpdateResponse](t)(apis.BeginCreateOrUpdate(ctx, rg, gw, "openai", armapimanagement.APICreateOrUpdateParameter{
		Properties: &armapimanagement.APICreateOrUpdateProperties{DisplayName: new("OpenAI"), Path: new("openai"), Protocols: []*armapimanagement.Protocol{new(armapimanagement.ProtocolHTTPS)}},
	}, nil))
	assert.Equal(t, armapimanagement.APITypeHTTP, *api.Properties.APIType)
	for _, name := range []string{"chat", "embed"} {
		_, err = operations.CreateOrUpdate(ctx, rg, gw, "openai", name, armapimanagement.OperationContract{
			Properties: &armapimanagement.OperationContractProperties{DisplayName: new(name), Method: new("POST"), URLTemplate: new("/" + name)},
		}, nil)
		require.NoError(t, err)
	}
	_, err = operations.CreateOrUpdate(ctx, rg, gw, "openai", "again", armapimanagement.OperationContract{
		Properties: &armapimanagement.OperationContractProperties{DisplayName: new("x"), Method: new("post"), URLTemplate: new("/chat")},
	}, nil)
	assert.Equal(t, "ValidationError", refusal(err))
	policy, err := policies.CreateOrUpdate(ctx, rg, gw, "openai", armapimanagement.PolicyIDNamePolicy, armapimanagement.PolicyContract{
		Properties: &armapimanagement.PolicyContractProperties{Value: new(passThrough), Format: new(armapimanagement.PolicyContentFormatXML)},
	}, nil)
	require.NoError(t, err)
	assert.Contains(t, *policy.Properties.Value, "<policies>\r\n\t<inbound>\r\n\t\t<base />")
	_, err = diagnostics.CreateOrUpdate(ctx, rg, gw, "openai", "azuremonitor", armapimanagement.DiagnosticContract{Properties: &armapimanagement.DiagnosticContractProperties{LoggerID: new(gatewayID + "/loggers/azuremonitor")}}, nil)
	require.NoError(t, err)

	products, links, keys := factory.NewProductClient(), factory.NewProductAPILinkClient(), factory.NewSubscriptionClient()
	_, err = products.CreateOrUpdate(ctx, rg, gw, "gold", armapimanagement.ProductContract{Properties: &armapimanagement.ProductContractProperties{DisplayName: new("Gold")}}, nil)
	require.NoError(t, err)
	_, err = factory.NewProductPolicyClient().CreateOrUpdate(ctx, rg, gw, "gold", armapimanagement.PolicyIDNamePolicy, armapimanagement.PolicyContract{Properties: &armapimanagement.PolicyContractProperties{Value: new(passThrough)}}, nil)
	require.NoError(t, err)
	_, err = links.CreateOrUpdate(ctx, rg, gw, "gold", "openai", armapimanagement.ProductAPILinkContract{Properties: &armapimanagement.ProductAPILinkContractProperties{APIID: new(gatewayID + "/apis/openai")}}, nil)
	require.NoError(t, err)
	key, err := keys.CreateOrUpdate(ctx, rg, gw, "acme", armapimanagement.SubscriptionCreateParameters{
		Properties: &armapimanagement.SubscriptionCreateParameterProperties{DisplayName: new("acme"), Scope: new("/products/gold"), State: new(armapimanagement.SubscriptionStateActive)},
	}, nil)
	require.NoError(t, err)
	assert.Nil(t, key.Properties.PrimaryKey)
	_, err = keys.Update(ctx, rg, gw, "acme", "*", armapimanagement.SubscriptionUpdateParameters{Properties: &armapimanagement.SubscriptionUpdateParameterProperties{State: new(armapimanagement.SubscriptionStateSuspended)}}, nil)
	require.NoError(t, err)
	secrets, err := keys.ListSecrets(ctx, rg, gw, "acme", nil)
	require.NoError(t, err)
	assert.Len(t, *secrets.PrimaryKey, 32)

	assert.Len(t, all(t, operations.NewListByAPIPager(rg, gw, "openai", nil))[0].Value, 2)
	listed := all(t, keys.NewListPager(rg, gw, nil))[0].Value
	assert.Len(t, listed, 3) // with master, and the administrators' of the product
	assert.Len(t, all(t, factory.NewGroupClient().NewListByServicePager(rg, gw, nil))[0].Value, 3)
	assert.Len(t, all(t, links.NewListByProductPager(rg, gw, "gold", nil))[0].Value, 1)
	_, err = products.Delete(ctx, rg, gw, "gold", "*", nil)
	assert.Equal(t, "ValidationError", refusal(err))
	_, err = keys.Delete(ctx, rg, gw, "acme", "*", nil)
	require.NoError(t, err)
	_, err = products.Delete(ctx, rg, gw, "gold", "*", nil)
	assert.Equal(t, "ValidationError", refusal(err), "the administrators' is still there")
	for _, each := range listed {
		if name := *each.Name; name != "acme" && name != "master" {
			_, err = keys.Delete(ctx, rg, gw, name, "*", nil)
			require.NoError(t, err)
		}
	}
	_, err = products.Delete(ctx, rg, gw, "gold", "*", nil)
	require.NoError(t, err)
	await[armapimanagement.APIClientDeleteResponse](t)(apis.BeginDelete(ctx, rg, gw, "openai", "*", nil))
	_, err = fragments.Delete(ctx, rg, gw, "guard", "*", nil)
	require.NoError(t, err)

	await[armapimanagement.ServiceClientDeleteResponse](t)(services.BeginDelete(ctx, rg, gw, nil))
	_, err = services.Get(ctx, rg, gw, nil)
	assert.Equal(t, "ResourceNotFound", refusal(err))
	_, err = services.BeginCreateOrUpdate(ctx, rg, gw, service, nil)
	assert.Equal(t, "ServiceAlreadyExistsInSoftDeletedState", refusal(err))
	await[armapimanagement.DeletedServicesClientPurgeResponse](t)(factory.NewDeletedServicesClient().BeginPurge(ctx, gw, "swedencentral", nil))
	await[armapimanagement.ServiceClientCreateOrUpdateResponse](t)(services.BeginCreateOrUpdate(ctx, rg, gw, service, nil))
}
