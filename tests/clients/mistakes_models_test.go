package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/cognitiveservices/armcognitiveservices/v2"
)

// models tries to make an account that differs from modelAccount.
func models(edit func(*armcognitiveservices.Account)) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		account := modelAccount("one")
		edit(&account)
		poller, err := a.models.NewAccountsClient().BeginCreate(ctx, "rg", "models", account, nil)
		return ended(ctx, poller, err)
	}
}

// deploy tries to make a deployment that differs from one of gpt-4o.
func deploy(edit func(*armcognitiveservices.Deployment)) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		d := deployment("GlobalStandard", 10)
		edit(&d)
		poller, err := a.models.NewDeploymentsClient().BeginCreateOrUpdate(ctx, "rg", "models", "chat", d, nil)
		return ended(ctx, poller, err)
	}
}

var modelMistakes = map[string]mistake{
	"models: kind with a typo": {
		send:   models(func(a *armcognitiveservices.Account) { a.Kind = new("OpenAl") }),
		status: 400, code: "InvalidApiSetId", target: "kind", says: []string{`got "OpenAl"`, "want one of AIServices, CognitiveServices, ComputerVision, ContentSafety, FormRecognizer,"},
	},
	"models: sku of another kind": {
		send:   models(func(a *armcognitiveservices.Account) { a.SKU.Name = new("F9") }),
		status: 400, code: "InvalidSkuId", target: "sku", says: []string{`got "F9"`, "want S0, which kind OpenAI has"},
	},
	"models: subdomain moves": {
		after: []string{modelsLife}, send: models(func(a *armcognitiveservices.Account) { a.Properties.CustomSubDomainName = new("another") }),
		status: 400, code: "BadRequest", target: "customSubDomainName", says: []string{`got "another"`, `want "onedoor-models", which was set once and for all`},
	},
	"models: batch sku with a typo": {
		after: []string{modelsLife}, send: deploy(func(d *armcognitiveservices.Deployment) { d.SKU.Name = new("GlobalBatches") }),
		status: 400, code: "InvalidResourceProperties", target: "sku.name", says: []string{`got "GlobalBatches"`, "want one of DataZoneBatch, DataZoneProvisionedManaged, DataZoneStandard, DeveloperTier,"},
	},
	"models: no capacity": {
		after: []string{modelsLife}, send: deploy(func(d *armcognitiveservices.Deployment) { d.SKU.Capacity = nil }),
		status: 400, code: "InvalidResourceProperties", target: "sku.capacity", says: []string{"got nothing", "want 1 or more"},
	},
	"models: model with a typo": {
		after: []string{modelsLife}, send: deploy(func(d *armcognitiveservices.Deployment) { d.Properties.Model.Name = new("gtp-4o") }),
		status: 400, code: "DeploymentModelNotSupported", target: "model.name", says: []string{`got "gtp-4o"`, "want a model of OpenAI, nearest is gpt-4o"},
	},
	"models: version that is none": {
		after: []string{modelsLife}, send: deploy(func(d *armcognitiveservices.Deployment) { d.Properties.Model.Version = new("latest") }),
		status: 400, code: "DeploymentModelNotSupported", target: "model.version", says: []string{`got "latest"`, "want one as Azure names them, such as 2025-04-14"},
	},
	"models: filter that is none": {
		after: []string{modelsLife}, send: deploy(func(d *armcognitiveservices.Deployment) { d.Properties.RaiPolicyName = new("lenient") }),
		status: 400, code: "InvalidResourceProperties", target: "raiPolicyName", says: []string{`got "lenient"`, "want a policy of"},
	},
	"models: another model in place": {
		status: 400, code: "InvalidResourceProperties", target: "properties.model.name", says: []string{`got "gpt-4o-mini"`, `want "gpt-4o", which it was made with`},
		after: []string{modelsLife, modelsLife + "/deployments/chat"}, send: deploy(func(d *armcognitiveservices.Deployment) {
			d.Properties.Model.Name, d.Properties.Model.Version = new("gpt-4o-mini"), new("2024-07-18")
		})},
	"models: embeddings in a batch": {
		status: 400, code: "InvalidResourceProperties", target: "sku.name", says: []string{"got GlobalBatch", "want a SKU that the model has"},
		after: []string{modelsLife}, send: deploy(func(d *armcognitiveservices.Deployment) {
			d.SKU.Name, d.Properties.Model.Name, d.Properties.Model.Version = new("GlobalBatch"), new("text-embedding-3-large"), new("1")
		})},
	"models: account with deployments is deleted": {
		status: 409, code: "CannotDeleteResource", target: place + "/providers/Microsoft.CognitiveServices/accounts/models", says: []string{"want no deployments in it"},
		after: []string{modelsLife, modelsLife + "/deployments/chat"}, send: func(ctx context.Context, a *azure) error {
			poller, err := a.models.NewAccountsClient().BeginDelete(ctx, "rg", "models", nil)
			return ended(ctx, poller, err)
		}},
	"models: name of a deleted account": {
		status: 409, code: "FlagMustBeSetForRestore", target: "name", says: []string{"want another name, or restore"},
		after: []string{modelsLife, modelsLife + "/raiPolicies/strict"}, first: func(ctx context.Context, a *azure) error {
			poller, err := a.models.NewAccountsClient().BeginDelete(ctx, "rg", "models", nil)
			return ended(ctx, poller, err)
		}, send: models(func(*armcognitiveservices.Account) {}),
	},
}
