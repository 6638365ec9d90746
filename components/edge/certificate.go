package edge

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/kube/secrets"
	"onedoor/internal/placeholder"
	"onedoor/internal/ref"
)

const (
	tlsPath = "/var/run/onedoor/tls"
	tlsFile = "tls.pem" // certificate, chain and key
)

// certificate declares the secret with the certificate, which the edge's identity
// may read and nothing else of the vault, and how pods mount it. It returns the
// name of the mount. The certificate is written by hand, as a new version, which
// running pods take within minutes; until then they do not start.
func (b *builder) certificate() (pulumi.StringInput, error) {
	vault, err := az.ParseID(b.args.Certificate.Vault.Plain)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	secret := b.args.Certificate.Secret
	made, err := placeholder.Secret(b.ctx, b.name+"-certificate", placeholder.Args{
		Scope: b.args.Scope, Component: component, Vault: b.args.Certificate.Vault, Secret: secret, ContentType: "application/x-pem-file",
	}, b.azure)
	if err != nil {
		return nil, err
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
