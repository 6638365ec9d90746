package serving

import (
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/kube"
	"onedoor/internal/kube/secrets"
	"onedoor/internal/placeholder"
	"onedoor/internal/ref"
)

const (
	weightsPath = "/weights"
	tokenPath   = "/var/run/onedoor/hugging-face"
	tokenFile   = "token"
	tokenMount  = "hugging-face" // name of the mount of secrets
)

// volumeSize is what Kubernetes asks of every volume; a container has no size.
const volumeSize = "1Ti"

// volume declares the weights as a volume that many pods read at once, and returns
// the name of the claim on it. It is mounted with the token of the pod's account:
// the account of storage has no keys. Blocks are streamed and not kept on the
// node's disk, since each is read once, when a pod starts: a mount's token is good
// for 24 hours, and pods of Ray that end are made anew.
// https://github.com/kubernetes-sigs/blob-csi-driver/blob/master/docs/workload-identity-static-pv-mount.md
func (b *builder) volume() (pulumi.StringInput, error) {
	const name = "onedoor-weights" // volumes have no namespace
	made, err := corev1.NewPersistentVolume(b.ctx, b.name+"-weights", &corev1.PersistentVolumeArgs{
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(name), Labels: pulumi.ToStringMap(kube.Labels(app))},
		Spec: corev1.PersistentVolumeSpecArgs{
			Capacity:                      pulumi.StringMap{"storage": pulumi.String(volumeSize)},
			AccessModes:                   pulumi.ToStringArray([]string{"ReadOnlyMany"}),
			PersistentVolumeReclaimPolicy: pulumi.String("Retain"),
			StorageClassName:              pulumi.String(""), // none: nothing is made on demand
			MountOptions:                  pulumi.ToStringArray([]string{"-o allow_other", "-o ro", "--block-cache"}),
			ClaimRef:                      corev1.ObjectReferenceArgs{Namespace: b.args.Namespace, Name: pulumi.String(app)},
			Csi: corev1.CSIPersistentVolumeSourceArgs{
				Driver: pulumi.String("blob.csi.azure.com"), ReadOnly: pulumi.Bool(true),
				VolumeHandle: pulumi.String(name), // unique in the cluster
				VolumeAttributes: pulumi.StringMap{
					"protocol":                       pulumi.String("fuse2"),
					"resourceGroup":                  pulumi.String(b.args.Weights.Group),
					"storageAccount":                 b.args.Weights.Account,
					"containerName":                  pulumi.String(b.args.Weights.Container),
					"clientID":                       b.args.ClientID,
					"mountWithWorkloadIdentityToken": pulumi.String("true"),
				},
			},
		},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("volume: %w", err)
	}
	claim, err := corev1.NewPersistentVolumeClaim(b.ctx, b.name+"-weights-claim", &corev1.PersistentVolumeClaimArgs{
		Metadata: b.metadata(app),
		Spec: corev1.PersistentVolumeClaimSpecArgs{
			AccessModes: pulumi.ToStringArray([]string{"ReadOnlyMany"}), StorageClassName: pulumi.String(""),
			VolumeName: ref.After(pulumi.String(name), made).ToStringPtrOutput(),
			Resources:  corev1.VolumeResourceRequirementsArgs{Requests: pulumi.StringMap{"storage": pulumi.String(volumeSize)}},
		},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	return ref.After(pulumi.String(app), claim), nil
}

// token declares the secret with the token of Hugging Face, which the models'
// identity may read, and how pods mount it. It returns the name of the mount. The
// token is written by hand, as a new version.
func (b *builder) token() (pulumi.StringInput, error) {
	vault, err := az.ParseID(b.args.Token.Vault.Plain)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	secret := b.args.Token.Secret
	made, err := placeholder.Secret(b.ctx, b.name+"-token", placeholder.Args{
		Scope: b.args.Scope, Component: component, Vault: b.args.Token.Vault, Secret: secret, ContentType: "token of Hugging Face",
	}, b.azure)
	if err != nil {
		return nil, err
	}
	reads, err := b.args.Scope.Grant(b.ctx, b.name+"-reads-token", az.SecretsUser, b.args.Identity, ref.Ready(b.args.Token.Vault.Plain+"/secrets/"+secret, made), b.azure)
	if err != nil {
		return nil, err
	}
	class, err := secrets.Class(b.ctx, b.name+"-token-mount", secrets.ClassArgs{
		Name: tokenMount, Namespace: b.args.Namespace, Vault: vault.Name(), Tenant: b.args.TenantID, ClientID: b.args.ClientID,
		Mounts: []secrets.Mount{{Secret: ref.After(pulumi.String(secret), reads), File: tokenFile}},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("mount: %w", err)
	}
	return ref.After(pulumi.String(tokenMount), class), nil
}
