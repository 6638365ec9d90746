// Package vault owns the two key vaults: one for the gateway, one for the
// control plane. They are apart because the gateway can only read a vault that
// lets Azure's trusted services through its firewall, and nobody else should.
package vault

import (
	"fmt"

	keyvault "github.com/pulumi/pulumi-azure-native-sdk/keyvault/v2/v20230701"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/diagnostics"
	"onedoor/internal/privatelink"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:vault:Vaults"

// component is the value of the component tag.
const component = "vault"

// Args are the inputs of New.
type Args struct {
	Scope        az.Scope
	TenantID     string // GUID of the Entra tenant whose tokens the vaults accept
	Group        ref.Group
	Logs         ref.Logs
	Endpoints    ref.Subnet // of data endpoints
	Zones        ref.Zones
	ControlPlane ref.Identity // reads its own vault
	Runner       ref.Identity // writes both
}

// Vault is one key vault.
type Vault struct {
	ref.Resource                     // ready once its endpoint resolves
	URL          pulumi.StringOutput // ready once its roles exist
}

// Vaults holds both. Fields below ResourceState are its outputs.
type Vaults struct {
	pulumi.ResourceState
	Gateway      Vault // its reader, the gateway's own identity, is granted with the gateway
	ControlPlane Vault
}

// New declares the vaults. Children carry name, so two pairs can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Vaults, error) {
	v := &Vaults{}
	if err := ctx.RegisterComponentResource(Type, name, v, opts...); err != nil {
		return nil, err
	}
	in := pulumi.Parent(v)
	var err error
	// A firewalled vault refuses a user-assigned identity of API Management but
	// lets its system identity through as a trusted service.
	// https://learn.microsoft.com/azure/api-management/api-management-howto-properties
	if v.Gateway, err = vault(ctx, name, "gateway", "AzureServices", args, in); err != nil {
		return nil, err
	}
	if v.ControlPlane, err = vault(ctx, name, "control-plane", "None", args, in); err != nil {
		return nil, err
	}
	reads, err := args.Scope.Grant(ctx, name+"-control-plane-reads", az.SecretsUser, args.ControlPlane, v.ControlPlane.Resource, in)
	if err != nil {
		return nil, err
	}
	v.ControlPlane.URL = ref.After(v.ControlPlane.URL, reads)
	return v, ctx.RegisterResourceOutputs(v, pulumi.Map{"gatewayUrl": v.Gateway.URL, "controlPlaneUrl": v.ControlPlane.URL})
}

// How long a deleted vault or secret can be restored and keeps its name, 7 to 90
// days; it cannot be changed later.
// https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview
const (
	retentionDays    = 90
	retentionDaysDev = 7 // a stack that comes and goes burns a name each time
)

// vault declares one vault, closed from the first request on. bypass names who
// passes its firewall: AzureServices or None.
func vault(ctx *pulumi.Context, name, door, bypass string, args Args, in pulumi.ResourceOption) (Vault, error) {
	scope, retention := args.Scope, retentionDays
	if scope.Environment == az.Dev {
		retention = retentionDaysDev
	}
	plain := scope.Name(az.KeyVault, door)
	id := scope.ResourceID(args.Group.PlainName, "Microsoft.KeyVault/vaults", plain)
	made, err := keyvault.NewVault(ctx, name+"-"+door, &keyvault.VaultArgs{
		VaultName:         pulumi.String(plain),
		ResourceGroupName: args.Group.Name,
		Location:          pulumi.String(scope.Location),
		Properties: keyvault.VaultPropertiesArgs{
			TenantId:                  pulumi.String(args.TenantID),
			Sku:                       keyvault.SkuArgs{Family: pulumi.String("A"), Name: keyvault.SkuNameStandard},
			EnableRbacAuthorization:   pulumi.Bool(true),
			EnablePurgeProtection:     pulumi.Bool(true), // cannot be undone
			EnableSoftDelete:          pulumi.Bool(true),
			SoftDeleteRetentionInDays: pulumi.Int(retention),
			PublicNetworkAccess:       pulumi.String("Disabled"),
			NetworkAcls:               keyvault.NetworkRuleSetArgs{DefaultAction: pulumi.String("Deny"), Bypass: pulumi.String(bypass)},
		},
		Tags: scope.Tags(component),
	}, in, pulumi.Protect(scope.Protect()))
	if err != nil {
		return Vault{}, fmt.Errorf("vault %q: %s: %w", name, door, err)
	}
	target := ref.Ready(id, made)
	if err := diagnostics.Send(ctx, name+"-"+door, target.ID, args.Logs, diagnostics.Setting{}, in); err != nil {
		return Vault{}, fmt.Errorf("vault %q: %w", name, err)
	}
	endpoint, err := privatelink.New(ctx, name+"-"+door, privatelink.Args{
		Scope: scope, Component: component, Group: args.Group, Subnet: args.Endpoints,
		Target: target, GroupID: "vault", Zone: az.ZoneVault, Zones: args.Zones,
	}, in)
	if err != nil {
		return Vault{}, err
	}
	ready := endpoint
	for what, role := range map[string]az.Role{"secrets": az.SecretsOfficer, "certificates": az.CertificatesOfficer} {
		writes, err := scope.Grant(ctx, name+"-"+door+"-runner-writes-"+what, role, args.Runner, target, in)
		if err != nil {
			return Vault{}, err
		}
		ready = append(ready, writes)
	}
	return Vault{
		Resource: ref.Ready(id, endpoint...),
		URL:      ref.After(pulumi.String(fmt.Sprintf("https://%s.vault.azure.net/", plain)), ready...),
	}, nil
}
