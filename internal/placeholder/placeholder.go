// Package placeholder declares secrets whose value a person writes: others can only name
// a secret that exists, so there is one before anybody has written it.
package placeholder

import (
	"fmt"

	keyvault "github.com/pulumi/pulumi-azure-native-sdk/keyvault/v2/v20230701"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/ref"
)

// Value is what a secret holds before somebody has written it. It is no key and no
// certificate, so that what needs one is refused or does not start.
const Value = "not written yet"

// Args are the inputs of Secret.
type Args struct {
	Scope       az.Scope
	Component   string // that owns the secret, for its tags
	Vault       ref.Resource
	Secret      string // its name in the vault
	ContentType string // what it holds, for whoever writes it
}

// Secret declares a secret that holds Value. It is made and then left alone: any write of
// it, if only of a tag, would send the value too, as a new version above the one that a
// person has written.
// https://learn.microsoft.com/azure/templates/microsoft.keyvault/vaults/secrets
func Secret(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	vault, err := az.ParseID(args.Vault.Plain)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	made, err := keyvault.NewSecret(ctx, name, &keyvault.SecretArgs{
		SecretName:        pulumi.String(args.Secret),
		VaultName:         args.Vault.ID.ApplyT(func(string) string { return vault.Name() }).(pulumi.StringOutput),
		ResourceGroupName: pulumi.String(vault.ResourceGroup),
		Properties:        keyvault.SecretPropertiesArgs{ContentType: pulumi.String(args.ContentType), Value: pulumi.String(Value)},
		Tags:              args.Scope.Tags(args.Component),
	}, append(opts, pulumi.IgnoreChanges([]string{"properties", "tags"}))...)
	if err != nil {
		return nil, fmt.Errorf("secret %q: %w", args.Secret, err)
	}
	return made, nil
}
