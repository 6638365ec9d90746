package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/cognitiveservices/armcognitiveservices/v2"

	"onedoor/sim/core"
)

const modelsLife = "Microsoft.CognitiveServices/accounts/models"

var modelLives = []life{
	{
		of: modelsLife, busy: core.RequestConflict, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.models.NewAccountsClient().BeginCreate(ctx, "rg", "models", modelAccount(*pick(again, "one", "two")), nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armcognitiveservices.Account) *string { return m.Tags["version"] }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.models.NewAccountsClient().BeginDelete(ctx, "rg", "models", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: modelsLife + "/deployments/chat", needs: []string{modelsLife}, busy: core.RequestConflict, made: int32(10), changed: int32(50),
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.models.NewDeploymentsClient().BeginCreateOrUpdate(ctx, "rg", "models", "chat", deployment("GlobalStandard", *pick[int32](again, 10, 50)), nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armcognitiveservices.Deployment) *int32 { return m.SKU.Capacity }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.models.NewDeploymentsClient().BeginDelete(ctx, "rg", "models", "chat", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: modelsLife + "/raiPolicies/strict", needs: []string{modelsLife}, busy: core.RequestConflict, made: armcognitiveservices.RaiPolicyModeDefault, changed: armcognitiveservices.RaiPolicyModeAsynchronousFilter,
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.models.NewRaiPoliciesClient().CreateOrUpdate(ctx, "rg", "models", "strict", armcognitiveservices.RaiPolicy{Properties: &armcognitiveservices.RaiPolicyProperties{
				BasePolicyName: new("Microsoft.DefaultV2"), Mode: pick(again, armcognitiveservices.RaiPolicyModeDefault, armcognitiveservices.RaiPolicyModeAsynchronousFilter),
			}}, nil)
			return err
		},
		shows: shown(func(m armcognitiveservices.RaiPolicy) *armcognitiveservices.RaiPolicyMode { return m.Properties.Mode }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.models.NewRaiPoliciesClient().BeginDelete(ctx, "rg", "models", "strict", nil)
			return ended(ctx, poller, err)
		},
	},
}

// modelAccount is an account with a subdomain and no keys.
func modelAccount(version string) armcognitiveservices.Account {
	return armcognitiveservices.Account{
		Location: new("swedencentral"), Kind: new("OpenAI"), SKU: &armcognitiveservices.SKU{Name: new("S0")}, Tags: map[string]*string{"version": &version},
		Properties: &armcognitiveservices.AccountProperties{CustomSubDomainName: new("onedoor-models"), DisableLocalAuth: new(true)},
	}
}

// deployment is one of gpt-4o.
func deployment(sku string, capacity int32) armcognitiveservices.Deployment {
	return armcognitiveservices.Deployment{
		SKU:        &armcognitiveservices.SKU{Name: &sku, Capacity: &capacity},
		Properties: &armcognitiveservices.DeploymentProperties{Model: &armcognitiveservices.DeploymentModel{Format: new("OpenAI"), Name: new("gpt-4o"), Version: new("2024-11-20")}},
	}
}
