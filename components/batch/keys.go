package batch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	keyvault "github.com/pulumi/pulumi-azure-native-sdk/keyvault/v2/v20230701"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/ref"
)

// keyLength is that of a key in letters and digits: 64 of them are more than the
// 256 bits of the hash that they key.
const keyLength = 64

// keys declares the two keys that are valid at a time, by their ids: the one that
// signs, and the one before it, which still proves the work that waits. To change
// keys, raise the id and wait for the longest life of a message before the next
// time.
func (b *builder) keys() (ref.Keys, error) {
	vault, err := az.ParseID(b.args.Vault.Plain)
	if err != nil {
		return ref.Keys{}, fmt.Errorf("vault: %w", err)
	}
	keys := ref.Keys{Vault: vault.Name(), Tenant: b.args.TenantID, Signing: strconv.Itoa(b.args.Key), Secrets: map[string]pulumi.StringOutput{}}
	for _, n := range []int{b.args.Key - 1, b.args.Key} {
		id := strconv.Itoa(n)
		secret := "mac-key-" + id
		value, err := random.NewRandomPassword(b.ctx, b.name+"-"+secret, &random.RandomPasswordArgs{
			Length: pulumi.Int(keyLength), Special: pulumi.Bool(false),
		}, b.azure)
		if err != nil {
			return ref.Keys{}, fmt.Errorf("key %s: %w", id, err)
		}
		made, err := keyvault.NewSecret(b.ctx, b.name+"-"+secret, &keyvault.SecretArgs{
			SecretName:        pulumi.String(secret),
			VaultName:         b.args.Vault.ID.ApplyT(func(string) string { return vault.Name() }).(pulumi.StringOutput),
			ResourceGroupName: b.args.Group.Name,
			Properties: keyvault.SecretPropertiesArgs{
				Value:       value.Result.ToStringPtrOutput(), // which the provider marks as secret
				ContentType: pulumi.String("text/plain"),
				Attributes:  keyvault.SecretAttributesArgs{Enabled: pulumi.Bool(true)},
			},
			Tags: b.args.Scope.Tags(component),
		}, b.azure)
		if err != nil {
			return ref.Keys{}, fmt.Errorf("secret of key %s: %w", id, err)
		}
		ready := []pulumi.Resource{made}
		// Each verifier reads these secrets and nothing else of the vault.
		at := ref.Ready(b.args.Vault.Plain+"/secrets/"+secret, made)
		for _, verifier := range slices.Sorted(maps.Keys(b.args.Verifiers)) {
			reads, err := b.args.Scope.Grant(b.ctx, b.name+"-"+verifier+"-reads-"+secret, az.SecretsUser, b.args.Verifiers[verifier], at, b.azure)
			if err != nil {
				return ref.Keys{}, err
			}
			ready = append(ready, reads)
		}
		keys.Secrets[id] = ref.After(pulumi.String(secret), ready...)
	}
	return keys, nil
}

// component is the value of the component tag.
const component = "batch"
