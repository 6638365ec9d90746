package vault_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"

	"onedoor/components/vault"
	"onedoor/internal/az"
	"onedoor/internal/fake"
)

func args() vault.Args {
	return vault.Args{
		Scope: fake.Scope(az.Prod), TenantID: "66666666-7777-8888-9999-000000000000", Group: fake.Group(), Logs: fake.Logs(), Endpoints: fake.Subnet("endpoints"),
		Zones: fake.Zones(az.ZoneVault), ControlPlane: fake.Identity("control-plane"), Runner: fake.Identity("runner"),
	}
}

func program(ctx *pulumi.Context) error {
	v, err := vault.New(ctx, "vault", args())
	if err != nil {
		return err
	}
	return fake.Reader(ctx, "reader", v.ControlPlane.URL)
}

func TestVaultsAreClosedAndCannotBePurged(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program)
		// Only the gateway's vault lets trusted services through.
		for name, bypass := range map[string]string{"vault-gateway": "AzureServices", "vault-control-plane": "None"} {
			v := plan.Get(t, name)
			properties := v.Input("properties").(map[string]any)
			assert.Equal(t, map[string]any{"defaultAction": "Deny", "bypass": bypass}, properties["networkAcls"], name)
			assert.Equal(t, "Disabled", properties["publicNetworkAccess"])
			assert.Equal(t, true, properties["enablePurgeProtection"])
			assert.Equal(t, true, properties["enableRbacAuthorization"])
			assert.True(t, v.Protect)
			assert.LessOrEqual(t, len(v.Input("vaultName").(string)), 24)
		}
	}
}

func TestOnlyTheControlPlaneReadsItsVault(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program)
	gateway := "vaults/" + plan.Get(t, "vault-gateway").Input("vaultName").(string)
	control := "vaults/" + plan.Get(t, "vault-control-plane").Input("vaultName").(string)
	assert.NotEqual(t, gateway, control)
	assert.ElementsMatch(t, []string{
		"control-plane-principal " + az.SecretsUser.GUID + " at " + control,
		"runner-principal " + az.CertificatesOfficer.GUID + " at " + control,
		"runner-principal " + az.CertificatesOfficer.GUID + " at " + gateway,
		"runner-principal " + az.SecretsOfficer.GUID + " at " + control,
		"runner-principal " + az.SecretsOfficer.GUID + " at " + gateway,
	}, plan.Grants())
	assert.Subset(t, plan.Get(t, "reader").DependsOn, []string{"vault-control-plane-reads", "vault-control-plane-endpoint-dns"})
}
