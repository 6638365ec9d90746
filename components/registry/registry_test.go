package registry_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/registry"
	"onedoor/internal/az"
	"onedoor/internal/fake"
)

func args() registry.Args {
	return registry.Args{
		Scope: fake.Scope(az.Prod), Group: fake.Group(), Logs: fake.Logs(), Private: true, Endpoints: fake.Subnet("endpoints"),
		Zones: fake.Zones(az.ZoneRegistry), Kubelet: fake.Identity("kubelet"), Runner: fake.Identity("runner"),
	}
}

func program(a registry.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		r, err := registry.New(ctx, "registry", a)
		if err != nil {
			return err
		}
		return fake.Reader(ctx, "reader", r.LoginServer)
	}
}

func TestPrivateRegistryIsPremiumAndClosed(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program(args()))
		r := plan.Get(t, "registry")
		assert.Equal(t, map[string]any{"name": "Premium"}, r.Input("sku"))
		assert.Equal(t, "Disabled", r.Input("publicNetworkAccess"))
		assert.Equal(t, false, r.Input("adminUserEnabled"))
		assert.Equal(t, "AzureServices", r.Input("networkRuleBypassOptions"), "else Azure refuses imports")
		assert.Subset(t, plan.Get(t, "reader").DependsOn, []string{"registry-kubelet-pulls"})
		assert.Contains(t, plan.Get(t, "registry-kubelet-pulls").DependsOn, "registry-endpoint-dns", "nothing pulls before the name resolves")
	}
}

func TestPublicRegistryHasNoEndpointAndNoAdminEither(t *testing.T) {
	t.Parallel()
	a := args()
	a.Private = false
	plan := fake.Run(t, fake.Preview, program(a))
	assert.Empty(t, plan.Names("PrivateEndpoint"))
	assert.Equal(t, map[string]any{"name": "Basic"}, plan.Get(t, "registry").Input("sku"))
	assert.Equal(t, false, plan.Get(t, "registry").Input("adminUserEnabled"))
}

func TestExistingRegistryIsUsed(t *testing.T) {
	t.Parallel()
	a := args()
	id, err := az.ParseID("/subscriptions/" + fake.SubscriptionID + "/resourceGroups/rg-shared/providers/Microsoft.ContainerRegistry/registries/shared")
	require.NoError(t, err)
	a.Existing = &id
	plan := fake.Run(t, fake.Update, program(a))
	assert.Empty(t, plan.Names("containerregistry/v20230701:Registry"))
	connection := plan.Get(t, "registry-endpoint").Input("privateLinkServiceConnections").([]any)[0].(map[string]any)
	assert.Equal(t, id.String(), connection["privateLinkServiceId"], "private, it is reached through an endpoint here")
	assert.Equal(t, "shared.azurecr.io", plan.Get(t, "reader").Input("value"))
	assert.Equal(t, []string{
		"kubelet-principal " + az.ImagePull.GUID + " at registries/shared",
		"runner-principal " + az.ImageImport.GUID + " at registries/shared",
		"runner-principal " + az.ImagePush.GUID + " at registries/shared",
	}, plan.Grants())
}
