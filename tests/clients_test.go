package tests

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/apimanagement/armapimanagement/v3"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/cognitiveservices/armcognitiveservices/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
	"onedoor/sim/core"
)

// anybody is whoever calls: the simulated cloud takes any token.
type anybody struct{}

func (anybody) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "simulated", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// count reads every page of a list and returns how many items it has.
func count[P, T any](t *testing.T, pager *runtime.Pager[P], items func(P) []*T) int {
	t.Helper()
	n := 0
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		require.NoError(t, err)
		n += len(items(page))
	}
	return n
}

// Microsoft's own clients read the synchronous door back into their typed models:
// as many of each kind as the program made.
func TestMicrosoftsClientsReadTheDoorBack(t *testing.T) {
	t.Parallel()
	s := session(t, "dev", changed(t, smallFile(t), map[string]any{"externalProviders": map[string]any{
		"partner": map[string]any{"baseUrl": "https://api.example.com/v1", "secretName": "partner-api-key", "aliases": map[string]any{"small": "small-1"}},
	}}))
	s.Inspect = func(c *sim.Cloud) {
		made, gateway, accounts := map[string]int{}, "", []string{} // by type in lower case
		for _, r := range c.State().Resources {
			typ := strings.ToLower(r.Type)
			made[typ]++
			switch typ {
			case "microsoft.apimanagement/service":
				gateway = r.ID
			case "microsoft.cognitiveservices/accounts":
				accounts = append(accounts, r.ID)
			}
		}
		require.NotEmpty(t, gateway)
		server := httptest.NewTLSServer(c.ARM())
		defer server.Close()
		options := func(version string) *arm.ClientOptions {
			return &arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{
				APIVersion: version, Transport: server.Client(), Retry: policy.RetryOptions{MaxRetries: -1},
				Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: server.URL, Audience: server.URL}}},
			}}
		}
		group, name := core.Name(core.GroupOf(gateway)), core.Name(gateway)
		apim, err := armapimanagement.NewClientFactory(core.SubscriptionOf(gateway), anybody{}, options(""))
		require.NoError(t, err)
		service, err := apim.NewServiceClient().Get(t.Context(), group, name, nil)
		require.NoError(t, err)
		assert.Equal(t, armapimanagement.SKUTypeDeveloper, *service.SKU.Name)

		const below = "microsoft.apimanagement/service/"
		apis, products, diagnostics, links := []string{}, []string{}, 0, 0
		assert.Equal(t, made[below+"apis"], count(t, apim.NewAPIClient().NewListByServicePager(group, name, nil), func(p armapimanagement.APIClientListByServiceResponse) []*armapimanagement.APIContract {
			for _, api := range p.Value {
				apis = append(apis, *api.Name)
			}
			return p.Value
		}))
		operations := 0
		for _, api := range apis {
			operations += count(t, apim.NewAPIOperationClient().NewListByAPIPager(group, name, api, nil), func(p armapimanagement.APIOperationClientListByAPIResponse) []*armapimanagement.OperationContract {
				return p.Value
			})
			document, err := apim.NewAPIPolicyClient().Get(t.Context(), group, name, api, armapimanagement.PolicyIDNamePolicy, nil)
			require.NoError(t, err)
			assert.Contains(t, *document.Properties.Value, "<policies>")
			diagnostics += count(t, apim.NewAPIDiagnosticClient().NewListByServicePager(group, name, api, nil), func(p armapimanagement.APIDiagnosticClientListByServiceResponse) []*armapimanagement.DiagnosticContract {
				return p.Value
			})
		}
		assert.Equal(t, made[below+"apis/operations"], operations)
		assert.Equal(t, made[below+"apis/diagnostics"], diagnostics)
		assert.Equal(t, made[below+"products"], count(t, apim.NewProductClient().NewListByServicePager(group, name, nil), func(p armapimanagement.ProductClientListByServiceResponse) []*armapimanagement.ProductContract {
			for _, product := range p.Value {
				products = append(products, *product.Name)
			}
			return p.Value
		}))
		for _, product := range products {
			document, err := apim.NewProductPolicyClient().Get(t.Context(), group, name, product, armapimanagement.PolicyIDNamePolicy, nil)
			require.NoError(t, err)
			assert.Contains(t, *document.Properties.Value, "token-limit")
			links += count(t, apim.NewProductAPILinkClient().NewListByProductPager(group, name, product, nil), func(p armapimanagement.ProductAPILinkClientListByProductResponse) []*armapimanagement.ProductAPILinkContract {
				return p.Value
			})
		}
		assert.Equal(t, made[below+"products/apilinks"], links)
		assert.NotZero(t, made[below+"namedvalues"], "the provider's key")
		assert.Equal(t, made[below+"namedvalues"], count(t, apim.NewNamedValueClient().NewListByServicePager(group, name, nil), func(p armapimanagement.NamedValueClientListByServiceResponse) []*armapimanagement.NamedValueContract {
			return p.Value
		}))
		assert.Equal(t, made[below+"subscriptions"], count(t, apim.NewSubscriptionClient().NewListPager(group, name, nil), func(p armapimanagement.SubscriptionClientListResponse) []*armapimanagement.SubscriptionContract {
			return p.Value
		}))
		assert.Equal(t, made[below+"backends"], count(t, apim.NewBackendClient().NewListByServicePager(group, name, nil), func(p armapimanagement.BackendClientListByServiceResponse) []*armapimanagement.BackendContract {
			return p.Value
		}))
		assert.Equal(t, made[below+"loggers"], count(t, apim.NewLoggerClient().NewListByServicePager(group, name, nil), func(p armapimanagement.LoggerClientListByServiceResponse) []*armapimanagement.LoggerContract {
			return p.Value
		}))
		assert.Equal(t, made[below+"policyfragments"], count(t, apim.NewPolicyFragmentClient().NewListByServicePager(group, name, nil), func(p armapimanagement.PolicyFragmentClientListByServiceResponse) []*armapimanagement.PolicyFragmentContract {
			return p.Value
		}))

		models, err := armcognitiveservices.NewClientFactory(core.SubscriptionOf(gateway), anybody{}, options("2024-10-01"))
		require.NoError(t, err)
		deployments, filters := 0, 0
		for _, id := range accounts {
			group, name := core.Name(core.GroupOf(id)), core.Name(id)
			account, err := models.NewAccountsClient().Get(t.Context(), group, name, nil)
			require.NoError(t, err)
			assert.Equal(t, armcognitiveservices.PublicNetworkAccessDisabled, *account.Properties.PublicNetworkAccess)
			assert.True(t, *account.Properties.DisableLocalAuth)
			deployments += count(t, models.NewDeploymentsClient().NewListPager(group, name, nil), func(p armcognitiveservices.DeploymentsClientListResponse) []*armcognitiveservices.Deployment {
				return p.Value
			})
			filters += count(t, models.NewRaiPoliciesClient().NewListPager(group, name, nil), func(p armcognitiveservices.RaiPoliciesClientListResponse) []*armcognitiveservices.RaiPolicy {
				return p.Value
			})
		}
		assert.Equal(t, made["microsoft.cognitiveservices/accounts/deployments"], deployments)
		assert.Equal(t, made["microsoft.cognitiveservices/accounts/raipolicies"], filters)
	}
	_, err := s.Up(t.Context())
	require.NoError(t, err)
}
