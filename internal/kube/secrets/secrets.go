// Package secrets declares how pods mount secrets of a vault as files. They never
// become Secrets of Kubernetes, whose readers nobody counts.
package secrets

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

// Mount is one secret as a file.
type Mount struct {
	Secret pulumi.StringInput // its name in the vault
	File   string
}

// OfKeys mounts each key as a file of the key's id.
func OfKeys(keys ref.Keys) []Mount {
	var out []Mount
	for _, id := range slices.Sorted(maps.Keys(keys.Secrets)) {
		out = append(out, Mount{keys.Secrets[id], id})
	}
	return out
}

// ClassArgs are the inputs of Class.
type ClassArgs struct {
	Name      string
	Namespace pulumi.StringInput
	Vault     string             // its name
	Tenant    string             // GUID of the Entra tenant that guards it
	ClientID  pulumi.StringInput // of the identity that reads it; the pods' account must be trusted to act as it
	Mounts    []Mount
}

// Class declares a SecretProviderClass. A changed secret reaches the files of
// running pods with the next poll of the add-on.
// https://learn.microsoft.com/azure/aks/csi-secrets-store-identity-access
func Class(ctx *pulumi.Context, name string, args ClassArgs, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	mounts := slices.SortedFunc(slices.Values(args.Mounts), func(a, b Mount) int { return cmp.Compare(a.File, b.File) })
	parts := make([]any, len(mounts))
	for i, m := range mounts {
		parts[i] = m.Secret
	}
	objects := pulumi.All(parts...).ApplyT(func(names []any) string {
		// The provider reads a list of texts, each of which it reads again.
		var b strings.Builder
		b.WriteString("array:\n")
		for i, m := range mounts {
			fmt.Fprintf(&b, "  - |\n    objectName: %s\n    objectType: secret\n    objectAlias: %q\n", names[i], m.File)
		}
		return b.String()
	}).(pulumi.StringOutput)
	return apiextensions.NewCustomResource(ctx, name, &apiextensions.CustomResourceArgs{
		ApiVersion: pulumi.String("secrets-store.csi.x-k8s.io/v1"), Kind: pulumi.String("SecretProviderClass"),
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(args.Name), Namespace: args.Namespace, Labels: pulumi.ToStringMap(kube.Labels(args.Name))},
		OtherFields: kubernetes.UntypedArgs{"spec": pulumi.Map{
			"provider": pulumi.String("azure"),
			"parameters": pulumi.StringMap{
				"usePodIdentity": pulumi.String("false"),
				"keyvaultName":   pulumi.String(args.Vault),
				"tenantId":       pulumi.String(args.Tenant),
				"clientID":       args.ClientID,
				"objects":        objects,
			},
		}},
	}, opts...)
}
