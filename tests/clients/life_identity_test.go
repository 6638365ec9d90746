package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/msi/armmsi"

	"onedoor/sim/core"
)

const (
	identityLife = "Microsoft.ManagedIdentity/userAssignedIdentities/worker"
	roleLife     = "Microsoft.Authorization/roleDefinitions/11111111-0000-4000-8000-000000000001"
	grantLife    = "Microsoft.Authorization/roleAssignments/11111111-0000-4000-8000-000000000002"
)

var identityLives = []life{
	{
		of: identityLife, busy: core.AnotherOperationInProgress, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.msi.NewUserAssignedIdentitiesClient().CreateOrUpdate(ctx, "rg", "worker", armmsi.Identity{
				Location: new("swedencentral"), Tags: map[string]*string{"version": pick(again, "one", "two")},
			}, nil)
			return err
		},
		shows: shown(func(m armmsi.Identity) *string { return m.Tags["version"] }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.msi.NewUserAssignedIdentitiesClient().Delete(ctx, "rg", "worker", nil)
			return err
		},
	},
	{
		of: identityLife + "/federatedIdentityCredentials/cluster", needs: []string{identityLife}, busy: core.ConcurrentFederatedWrites,
		made: "system:serviceaccount:jobs:worker", changed: "system:serviceaccount:jobs:other",
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.msi.NewFederatedIdentityCredentialsClient().CreateOrUpdate(ctx, "rg", "worker", "cluster", armmsi.FederatedIdentityCredential{
				Properties: &armmsi.FederatedIdentityCredentialProperties{
					Issuer: new("https://issuer.example.com/"), Audiences: []*string{new("api://AzureADTokenExchange")},
					Subject: pick(again, "system:serviceaccount:jobs:worker", "system:serviceaccount:jobs:other"),
				},
			}, nil)
			return err
		},
		shows: shown(func(m armmsi.FederatedIdentityCredential) *string { return m.Properties.Subject }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.msi.NewFederatedIdentityCredentialsClient().Delete(ctx, "rg", "worker", "cluster", nil)
			return err
		},
	},
	{
		of: roleLife, busy: core.AnotherOperationInProgress, made: "reads queues", changed: "reads queues and nothing else",
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.custom.CreateOrUpdate(ctx, place, core.Name(roleLife), armauthorization.RoleDefinition{Properties: &armauthorization.RoleDefinitionProperties{
				RoleName: new("reader of queues"), RoleType: new("CustomRole"), Description: pick(again, "reads queues", "reads queues and nothing else"),
				AssignableScopes: []*string{new(place)}, Permissions: []*armauthorization.Permission{{Actions: []*string{new("Microsoft.ServiceBus/namespaces/queues/read")}}},
			}}, nil)
			return err
		},
		shows: shown(func(m armauthorization.RoleDefinition) *string { return m.Properties.Description }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.custom.Delete(ctx, place, core.Name(roleLife), nil)
			return err
		},
	},
	{
		of: grantLife, busy: core.AnotherOperationInProgress, made: "to look", changed: "to look around",
		write: func(ctx context.Context, a *azure, again bool) error {
			const reader = "/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
			_, err := a.roles.Create(ctx, place, core.Name(grantLife), armauthorization.RoleAssignmentCreateParameters{Properties: &armauthorization.RoleAssignmentProperties{
				PrincipalID: new("11111111-0000-4000-8000-000000000003"), PrincipalType: new(armauthorization.PrincipalTypeGroup), RoleDefinitionID: new(reader),
				Description: pick(again, "to look", "to look around"),
			}}, nil)
			return err
		},
		shows: shown(func(m armauthorization.RoleAssignment) *string { return m.Properties.Description }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.roles.Delete(ctx, place, core.Name(grantLife), nil)
			return err
		},
	},
}
