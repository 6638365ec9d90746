package edge

import (
	"fmt"

	keyvault "github.com/pulumi/pulumi-azure-native-sdk/keyvault/v2/v20230701"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/kube/secrets"
	"onedoor/internal/ref"
)

const (
	tlsPath = "/var/run/onedoor/tls"
	tlsFile = "tls.pem" // certificate, chain and key
)

// noCertificate is what the secret holds before somebody has written the
// certificate into it; pods do not start with it.
const noCertificate = "not written yet"

// certificate declares the secret with the certificate, which the edge's identity
// may read and nothing else of the vault, and how pods mount it. It returns the
// name of the mount. The certificate is written by hand, as a new version, which
// the program leaves alone and running pods take within minutes.
func (b *builder) certificate() (pulumi.StringInput, error) {
	vault, err := az.ParseID(b.args.Certificate.Vault.Plain)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	secret := b.args.Certificate.Secret
	made, err := keyvault.NewSecret(b.ctx, b.name+"-certificate", &keyvault.SecretArgs{
		SecretName:        pulumi.String(secret),
		VaultName:         b.args.Certificate.Vault.ID.ApplyT(func(string) string { return vault.Name() }).(pulumi.StringOutput),
		ResourceGroupName: pulumi.String(vault.ResourceGroup),
		Properties:        keyvault.SecretPropertiesArgs{ContentType: pulumi.String("application/x-pem-file"), Value: pulumi.String(noCertificate)},
		Tags:              b.args.Scope.Tags(component),
	}, b.azure, pulumi.IgnoreChanges([]string{"properties.value"}))
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	reads, err := b.args.Scope.Grant(b.ctx, b.name+"-reads-certificate", az.SecretsUser, b.args.Identity, ref.Ready(b.args.Certificate.Vault.Plain+"/secrets/"+secret, made), b.azure)
	if err != nil {
		return nil, err
	}
	name := app + "-tls"
	class, err := secrets.Class(b.ctx, b.name+"-tls", secrets.ClassArgs{
		Name: name, Namespace: b.args.Namespace, Vault: vault.Name(), Tenant: b.args.TenantID, ClientID: b.args.ClientID,
		Mounts: []secrets.Mount{{Secret: ref.After(pulumi.String(secret), reads), File: tlsFile}},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("mount: %w", err)
	}
	return ref.After(pulumi.String(name), class), nil
}
