// Package federation owns the federated credentials: which service account of
// the cluster may act as which identity.
package federation

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	managedidentity "github.com/pulumi/pulumi-azure-native-sdk/managedidentity/v2/v20230131"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:federation:Federation"

// audience is the only one that Entra takes from Kubernetes.
const audience = "api://AzureADTokenExchange"

// MaxSubjects is Azure's limit of federated credentials per identity.
// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
const MaxSubjects = 20

// Args are the inputs of New.
type Args struct {
	Scope  az.Scope
	Group  ref.Group
	Issuer pulumi.StringInput // of the cluster, byte for byte: it ends in a slash
	Trust  map[string]Trust   // by a short name, as in "worker-text"
}

// Trust says who may act as an identity.
type Trust struct {
	Identity ref.Identity
	Subjects []kube.ServiceAccount // in any order
}

func (a Args) check() error {
	var found []error
	for _, name := range slices.Sorted(maps.Keys(a.Trust)) {
		trust := a.Trust[name]
		if n := len(trust.Subjects); n < 1 || n > MaxSubjects {
			found = append(found, fmt.Errorf("%s: %d subjects, want 1 to %d: Azure's limit per identity", name, n, MaxSubjects))
		}
		seen := map[kube.ServiceAccount]bool{}
		for _, subject := range trust.Subjects {
			if seen[subject] {
				found = append(found, fmt.Errorf("%s: subject %s twice: Azure takes each once per identity and issuer", name, subject))
			}
			seen[subject] = true
		}
	}
	return errors.Join(found...)
}

// Federation holds the credentials. Fields below ResourceState are its outputs.
type Federation struct {
	pulumi.ResourceState
	Clients map[string]pulumi.StringOutput // client ids by short name, each once all its subjects may act as it
}

// New declares the credentials. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Federation, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("federation %q: %w", name, err)
	}
	f := &Federation{Clients: map[string]pulumi.StringOutput{}}
	if err := ctx.RegisterComponentResource(Type, name, f, opts...); err != nil {
		return nil, err
	}
	for _, short := range slices.Sorted(maps.Keys(args.Trust)) {
		trust := args.Trust[short]
		id, err := az.ParseID(trust.Identity.Plain)
		if err != nil {
			return nil, fmt.Errorf("federation %q: %s: %w", name, short, err)
		}
		subjects := slices.SortedFunc(slices.Values(trust.Subjects), kube.ServiceAccount.Compare)
		var made []pulumi.Resource
		for _, subject := range subjects {
			// Azure takes one write to an identity's credentials at a time.
			options := []pulumi.ResourceOption{pulumi.Parent(f), pulumi.DeleteBeforeReplace(true)}
			if len(made) > 0 {
				options = append(options, pulumi.DependsOn(made[len(made)-1:]))
			}
			credential, err := managedidentity.NewFederatedIdentityCredential(ctx, name+"-"+short+"-"+subject.Namespace+"-"+subject.Name,
				&managedidentity.FederatedIdentityCredentialArgs{
					FederatedIdentityCredentialResourceName: pulumi.String(args.Scope.Name(az.FederatedCredential, subject.Namespace, subject.Name)),
					ResourceName:                            trust.Identity.ID.ToStringOutput().ApplyT(func(string) string { return id.Name() }).(pulumi.StringOutput), // once it is there
					ResourceGroupName:                       args.Group.Name,
					Issuer:                                  args.Issuer,
					Subject:                                 pulumi.String(subject.String()),
					Audiences:                               pulumi.StringArray{pulumi.String(audience)},
				}, options...)
			if err != nil {
				return nil, fmt.Errorf("federation %q: %s: %w", name, short, err)
			}
			made = append(made, credential)
		}
		f.Clients[short] = ref.After(trust.Identity.ClientID, made...)
	}
	return f, ctx.RegisterResourceOutputs(f, pulumi.Map{})
}
