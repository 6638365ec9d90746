package sim_test

import (
	"errors"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/cognitiveservices/armcognitiveservices/v2"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
	"onedoor/sim/core"
)

const (
	cognitivePkg = "azure-native:cognitiveservices/v20241001:"
	batchID      = groupID + "/providers/Microsoft.CognitiveServices/accounts/batch"
)

func inBatch(more m) m {
	return with(m{"resourceGroupName": "rg", "accountName": "batch"}, more)
}

// doors lists the account of the batch door with all that is in it, in an order
// in which it can be made.
func doors() []declared {
	return []declared{
		{groupToken, "group", groupIn, nil},
		{vnetToken, "vnet", vnetIn, nil},
		{subnetToken, "endpoints", m{"resourceGroupName": "rg", "virtualNetworkName": "vnet", "subnetName": "endpoints", "addressPrefix": "10.0.2.0/24"}, nil},
		{cognitivePkg + "Account", "batch", inBatch(m{
			"kind": "OpenAI", "sku": m{"name": "S0"}, "identity": m{"type": "SystemAssigned"},
			"properties": m{
				"customSubDomainName": "onedoor-batch", "disableLocalAuth": true, "publicNetworkAccess": "Disabled",
				"networkAcls": m{"bypass": "None", "defaultAction": "Deny"}, "restrictOutboundNetworkAccess": true, "allowedFqdnList": list("stone.blob.core.windows.net"),
			},
		}), m{"tags": m{"owner": "me"}}},
		{endpointToken, "batch-endpoint", m{
			"resourceGroupName": "rg", "privateEndpointName": "batch", "subnet": id(vnetID + "/subnets/endpoints"),
			"privateLinkServiceConnections": list(m{"name": "batch", "privateLinkServiceId": batchID, "groupIds": list("account")}),
		}, nil},
		{cognitivePkg + "RaiPolicy", "strict", inBatch(m{"raiPolicyName": "strict", "properties": m{
			"basePolicyName": "Microsoft.DefaultV2", "mode": "Blocking",
			"contentFilters": list(m{"name": "Violence", "source": "Prompt", "enabled": true, "blocking": true, "severityThreshold": "Low"}, m{"name": "Hate", "source": "Prompt", "enabled": true, "blocking": true, "severityThreshold": "Low"}),
		}}), m{"properties": m{"basePolicyName": "Microsoft.DefaultV2", "mode": "Blocking"}}},
		{cognitivePkg + "Deployment", "jobs", inBatch(m{"deploymentName": "jobs", "sku": m{"name": "GlobalBatch", "capacity": 50.0}, "properties": m{
			"model": m{"format": "OpenAI", "name": "gpt-4o", "version": "2024-11-20"}, "raiPolicyName": "strict", "versionUpgradeOption": "NoAutoUpgrade",
		}}), m{"sku": m{"name": "GlobalBatch", "capacity": 60.0}}},
	}
}

// live takes declared resources through preview, creation, refresh, change and
// deletion; what Azure answers beyond the inputs makes no difference.
func live(t *testing.T, e *engine, all []declared, stays ...string) {
	t.Helper()
	var made []*made
	for _, d := range all {
		e.configure()
		e.mustPreview(d.token, d.name, d.in)
		r := e.mustCreate(d.token, d.name, d.in)
		if got := e.read(r); r.in.Diff(got.in) != nil || r.outputs.Diff(got.outputs) != nil {
			t.Errorf("%s: read after create changes inputs %v, outputs %v", d.name, r.in.Diff(got.in), r.outputs.Diff(got.outputs))
		}
		made = append(made, r)
	}
	for i, d := range all {
		read := e.read(made[i])
		if got := e.diff(read, made[i].in); got.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
			t.Errorf("%s: after a refresh: %v", d.name, got)
		}
		if d.change == nil {
			continue
		}
		next := props(with(d.in, d.change))
		if v := made[i].in["location"]; !v.IsNull() {
			next["location"] = v
		}
		if got := e.diff(read, next); got.GetChanges() != pulumirpc.DiffResponse_DIFF_SOME || len(got.GetReplaces()) > 0 {
			t.Errorf("%s: change %v: %v", d.name, d.change, got)
		}
		updated, err := e.update(read, next, false)
		if err != nil {
			t.Errorf("%s: update: %v", d.name, err)
			continue
		}
		if got := e.diff(e.read(updated), next); got.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
			t.Errorf("%s: after update and refresh: %v", d.name, got)
		}
		if made[i], err = e.update(updated, made[i].in, false); err != nil {
			t.Fatalf("%s: update back: %v", d.name, err)
		}
	}
	for i, r := range slices.Backward(made) {
		if slices.Contains(stays, all[i].name) {
			continue
		}
		if err := e.delete(r); err != nil {
			t.Errorf("%s: delete: %v", all[i].name, err)
		}
		if e.read(r).id != "" {
			t.Errorf("%s: there after its deletion", all[i].name)
		}
	}
}

// The batch door goes through its life (A465, A467, A478, A481).
func TestModelAccountLifeCycle(t *testing.T) {
	t.Parallel()
	live(t, open(t), doors())
}

// Two deployments at once fail, as with azure-native, which does not repeat
// RequestConflict (A460); an injected fault can say that the account is not ready
// (A466).
func TestModelConflicts(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, d := range doors()[:4] {
		e.mustCreate(d.token, d.name, d.in)
	}
	deployment := doors()[6]
	in := props(with(deployment.in, m{"properties": m{"model": m{"format": "OpenAI", "name": "gpt-4o"}}}))
	e.cloud.Inject(sim.Fault{Type: deployment.token, Code: core.AccountProvisioningInvalid})
	_, err := e.create(deployment.token, "jobs", in, false)
	require.ErrorContains(t, err, "AccountProvisioningStateInvalid")

	server := httptest.NewTLSServer(e.cloud.ARM())
	t.Cleanup(server.Close)
	c := &client{t, server, e.cloud}
	const version = "?api-version=2024-10-01"
	body := `{"sku":{"name":"GlobalBatch","capacity":1},"properties":{"model":{"format":"OpenAI","name":"gpt-4o"}}}`
	first := c.do("PUT", batchID+"/deployments/one"+version, body)
	require.Equal(t, 201, first.StatusCode, first.body)
	second := c.do("PUT", batchID+"/deployments/two"+version, body)
	assert.Equal(t, 409, second.StatusCode)
	assert.Equal(t, "RequestConflict", second.code())
	_, err = e.create(deployment.token, "jobs", in, false)
	require.ErrorContains(t, err, "RequestConflict")
	c.do("GET", first.Header.Get("Azure-AsyncOperation"), "")
	_, err = e.create(deployment.token, "jobs", in, false)
	assert.NoError(t, err)
}

// A quota holds in previews and in updates, whatever account the capacity is in
// (A474).
func TestModelQuota(t *testing.T) {
	t.Parallel()
	e := open(t, sim.WithModelQuota(map[string]float64{"swedencentral/OpenAI.GlobalBatch.gpt-4o": 60}))
	for _, d := range doors() {
		e.mustCreate(d.token, d.name, d.in)
	}
	jobs := doors()[6]
	for _, preview := range []bool{true, false} {
		_, err := e.create(jobs.token, "more", props(with(jobs.in, m{"deploymentName": "more", "sku": m{"name": "GlobalBatch", "capacity": 11.0}})), preview)
		assert.ErrorContains(t, err, "InsufficientQuota")
	}
	e.mustCreate(jobs.token, "rest", with(jobs.in, m{"deploymentName": "rest", "sku": m{"name": "GlobalBatch", "capacity": 10.0}}))
}

// armOptions let one of Microsoft's clients speak to a cloud, at an API version if
// it is not the client's own.
func armOptions(t *testing.T, c *sim.Cloud, version string) *arm.ClientOptions {
	t.Helper()
	server := httptest.NewTLSServer(c.ARM())
	t.Cleanup(server.Close)
	return &arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{
		APIVersion: version, Transport: server.Client(), Retry: policy.RetryOptions{MaxRetries: -1},
		Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: server.URL, Audience: server.URL}}},
	}}
}

// await takes the poller of a long operation, or its error, and waits for the end.
func await[T any](t *testing.T) func(*runtime.Poller[T], error) T {
	return func(poller *runtime.Poller[T], err error) T {
		t.Helper()
		require.NoError(t, err)
		result, err := poller.PollUntilDone(t.Context(), nil)
		require.NoError(t, err)
		return result
	}
}

// all reads the pages of a list.
func all[T any](t *testing.T, pager *runtime.Pager[T]) []T {
	t.Helper()
	var pages []T
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		require.NoError(t, err)
		pages = append(pages, page)
	}
	return pages
}

// refusal is the code of a client's error.
func refusal(err error) string {
	if refused, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return refused.ErrorCode
	}
	return ""
}

// Microsoft's client makes, reads, changes, lists, deletes and purges accounts
// and what is in them, and reads them typed (A460, A465, A467, A468, A478).
func TestModelClient(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.mustCreate(groupToken, "group", groupIn)
	factory, err := armcognitiveservices.NewClientFactory(subscription, token{}, armOptions(t, e.cloud, "2024-10-01"))
	require.NoError(t, err)
	ctx := t.Context()
	accounts, deployments, policies, deleted := factory.NewAccountsClient(), factory.NewDeploymentsClient(), factory.NewRaiPoliciesClient(), factory.NewDeletedAccountsClient()
	account := armcognitiveservices.Account{
		Kind: new("OpenAI"), Location: new("Sweden Central"), SKU: &armcognitiveservices.SKU{Name: new("S0")},
		Identity:   &armcognitiveservices.Identity{Type: new(armcognitiveservices.ResourceIdentityTypeSystemAssigned)},
		Properties: &armcognitiveservices.AccountProperties{CustomSubDomainName: new("onedoor-sync"), PublicNetworkAccess: new(armcognitiveservices.PublicNetworkAccessDisabled)},
	}
	got := await[armcognitiveservices.AccountsClientCreateResponse](t)(accounts.BeginCreate(ctx, "rg", "sync", account, nil))
	assert.Equal(t, "https://onedoor-sync.openai.azure.com/", *got.Properties.Endpoint)
	assert.Equal(t, armcognitiveservices.ProvisioningStateSucceeded, *got.Properties.ProvisioningState)
	assert.NotEmpty(t, *got.Identity.PrincipalID)

	policy, err := policies.CreateOrUpdate(ctx, "rg", "sync", "strict", armcognitiveservices.RaiPolicy{Properties: &armcognitiveservices.RaiPolicyProperties{
		ContentFilters: []*armcognitiveservices.RaiPolicyContentFilter{
			{Name: new("Violence"), Source: new(armcognitiveservices.RaiPolicyContentSourcePrompt), Enabled: new(true), SeverityThreshold: new(armcognitiveservices.ContentLevelLow)},
			{Name: new("Hate"), Source: new(armcognitiveservices.RaiPolicyContentSourcePrompt), Enabled: new(true), SeverityThreshold: new(armcognitiveservices.ContentLevelLow)},
		},
	}}, nil)
	require.NoError(t, err)
	assert.Equal(t, "Hate", *policy.Properties.ContentFilters[0].Name)

	deployment := armcognitiveservices.Deployment{
		SKU:        &armcognitiveservices.SKU{Name: new("GlobalStandard"), Capacity: new(int32(10))},
		Properties: &armcognitiveservices.DeploymentProperties{Model: &armcognitiveservices.DeploymentModel{Format: new("OpenAI"), Name: new("gpt-4o")}, RaiPolicyName: new("strict")},
	}
	first, err := deployments.BeginCreateOrUpdate(ctx, "rg", "sync", "chat", deployment, nil)
	require.NoError(t, err)
	_, err = deployments.BeginCreateOrUpdate(ctx, "rg", "sync", "more", deployment, nil)
	assert.Equal(t, "RequestConflict", refusal(err))
	made := await[armcognitiveservices.DeploymentsClientCreateOrUpdateResponse](t)(first, nil)
	assert.Equal(t, "2024-11-20", *made.Properties.Model.Version)
	assert.EqualValues(t, 10000, *made.Properties.RateLimits[0].Count)
	changed := await[armcognitiveservices.DeploymentsClientUpdateResponse](t)(deployments.BeginUpdate(ctx, "rg", "sync", "chat", armcognitiveservices.PatchResourceTagsAndSKU{SKU: &armcognitiveservices.SKU{Name: new("GlobalStandard"), Capacity: new(int32(20))}}, nil))
	assert.EqualValues(t, 20, *changed.SKU.Capacity)

	assert.Len(t, all(t, deployments.NewListPager("rg", "sync", nil))[0].Value, 1)
	assert.Len(t, all(t, policies.NewListPager("rg", "sync", nil))[0].Value, 1)
	assert.Len(t, all(t, accounts.NewListByResourceGroupPager("rg", nil))[0].Value, 1)
	keys, err := accounts.ListKeys(ctx, "rg", "sync", nil)
	require.NoError(t, err)
	assert.Len(t, *keys.Key1, 32)
	account.Properties.DisableLocalAuth = new(true)
	await[armcognitiveservices.AccountsClientUpdateResponse](t)(accounts.BeginUpdate(ctx, "rg", "sync", armcognitiveservices.Account{Properties: &armcognitiveservices.AccountProperties{DisableLocalAuth: new(true)}}, nil))
	_, err = accounts.ListKeys(ctx, "rg", "sync", nil)
	assert.Equal(t, "BadRequest", refusal(err))

	_, err = accounts.BeginDelete(ctx, "rg", "sync", nil)
	assert.Equal(t, "CannotDeleteResource", refusal(err))
	await[armcognitiveservices.DeploymentsClientDeleteResponse](t)(deployments.BeginDelete(ctx, "rg", "sync", "chat", nil))
	await[armcognitiveservices.RaiPoliciesClientDeleteResponse](t)(policies.BeginDelete(ctx, "rg", "sync", "strict", nil))
	await[armcognitiveservices.AccountsClientDeleteResponse](t)(accounts.BeginDelete(ctx, "rg", "sync", nil))
	_, err = accounts.Get(ctx, "rg", "sync", nil)
	assert.Equal(t, "ResourceNotFound", refusal(err))
	_, err = accounts.BeginCreate(ctx, "rg", "sync", account, nil)
	assert.Equal(t, "FlagMustBeSetForRestore", refusal(err))
	await[armcognitiveservices.DeletedAccountsClientPurgeResponse](t)(deleted.BeginPurge(ctx, "swedencentral", "rg", "sync", nil))
	_, err = deleted.BeginPurge(ctx, "swedencentral", "rg", "sync", nil)
	assert.Equal(t, "NotFound", refusal(err))
	await[armcognitiveservices.AccountsClientCreateResponse](t)(accounts.BeginCreate(ctx, "rg", "sync", account, nil))
}
