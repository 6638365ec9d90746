package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/msi/armmsi"

	"onedoor/sim/core"
)

const (
	readerRole = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
	somebody   = "11111111-0000-4000-8000-000000000003" // as in grantLife
)

// grant tries to give a role to a group of people.
func grant(name, principal, role string) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		_, err := a.roles.Create(ctx, place, name, armauthorization.RoleAssignmentCreateParameters{Properties: &armauthorization.RoleAssignmentProperties{
			PrincipalID: &principal, PrincipalType: new(armauthorization.PrincipalTypeGroup), RoleDefinitionID: new("/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleDefinitions/" + role),
		}}, nil)
		return err
	}
}

// role tries to make a role of some actions.
func role(scope string, actions ...*string) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		_, err := a.custom.CreateOrUpdate(ctx, place, "11111111-0000-4000-8000-000000000009", armauthorization.RoleDefinition{Properties: &armauthorization.RoleDefinitionProperties{
			RoleName: new("another"), AssignableScopes: []*string{&scope}, Permissions: []*armauthorization.Permission{{Actions: actions}},
		}}, nil)
		return err
	}
}

// credential tries to trust an issuer.
func credential(name, issuer string, audiences ...*string) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		_, err := a.msi.NewFederatedIdentityCredentialsClient().CreateOrUpdate(ctx, "rg", "worker", name, armmsi.FederatedIdentityCredential{Properties: &armmsi.FederatedIdentityCredentialProperties{
			Issuer: &issuer, Subject: new("system:serviceaccount:jobs:worker"), Audiences: audiences,
		}}, nil)
		return err
	}
}

var identityMistakes = map[string]mistake{
	"identity: issuer without TLS": {
		after: []string{identityLife}, send: credential("new", "http://issuer.example.com/", new("api://AzureADTokenExchange")),
		status: 400, code: "BadRequest", target: "issuer", says: []string{`got "http://issuer.example.com/"`, "want an https address, which tokens carry byte for byte"},
	},
	"identity: two audiences": {
		after: []string{identityLife}, send: credential("new", "https://issuer.example.com/", new("a"), new("b")),
		status: 400, code: "BadRequest", target: "audiences", says: []string{"got 2 audiences", "want exactly one, such as api://AzureADTokenExchange"},
	},
	"identity: same subject again": {
		after: []string{identityLife, identityLife + "/federatedIdentityCredentials/cluster"}, send: credential("again", "https://issuer.example.com/", new("api://AzureADTokenExchange")),
		status: 409, code: "Conflict", target: "subject", says: []string{"want each pair once for an identity"},
	},
	"roles: name of an assignment": {
		send:   grant("reader", somebody, readerRole),
		status: 400, code: "InvalidRoleAssignmentId", target: "name", says: []string{`got "reader"`, "want a GUID, which Azure keys assignments by"},
	},
	"roles: principal by name": {
		send:   grant("11111111-0000-4000-8000-000000000004", "somebody", readerRole),
		status: 400, code: "InvalidPrincipalId", target: "principalId", says: []string{`got "somebody"`, "want an object id, which is a GUID"},
	},
	"roles: role that is none": {
		send:   grant("11111111-0000-4000-8000-000000000004", somebody, "11111111-0000-4000-8000-000000000005"),
		status: 400, code: "RoleDefinitionDoesNotExist", target: "roleDefinitionId", says: []string{`got "11111111-0000-4000-8000-000000000005"`, "want a built-in role or a custom one that exists"},
	},
	"roles: granted twice": {
		after: []string{grantLife}, send: grant("11111111-0000-4000-8000-000000000004", somebody, readerRole),
		status: 409, code: "RoleAssignmentExists", target: place + "/providers/Microsoft.Authorization/roleAssignments/11111111-0000-4000-8000-000000000004", says: []string{"want one assignment for each three"},
	},
	"roles: handed to another": {
		after: []string{grantLife}, send: grant(core.Name(grantLife), "11111111-0000-4000-8000-000000000006", readerRole),
		status: 400, code: "RoleAssignmentUpdateNotPermitted", target: "principalId", says: []string{`got "11111111-0000-4000-8000-000000000006"`, `want "11111111-0000-4000-8000-000000000003", which was set when it was made`},
	},
	"roles: action of no provider": {
		send:   role(place, new("Microsoft.ServiceBuss/namespaces/read")),
		status: 400, code: "InvalidActionOrNotAction", target: "actions", says: []string{`got "Microsoft.ServiceBuss/namespaces/read"`, "want an action of a known provider, nearest is Microsoft.ServiceBus"},
	},
	"roles: scope with a wildcard": {
		send:   role("/subscriptions/*", new("Microsoft.ServiceBus/namespaces/read")),
		status: 400, code: "BadRequest", target: "assignableScopes", says: []string{"want the id of a management group, subscription, group or resource"},
	},
	"roles: scope that is elsewhere": {
		send:   role("/subscriptions/"+subscription+"/resourceGroups/other", new("Microsoft.ServiceBus/namespaces/read")),
		status: 400, code: "BadRequest", target: "assignableScopes", says: []string{"want "},
	},
	"roles: identity as a group": {
		status: 400, code: "UnmatchedPrincipalType", target: "principalType", says: []string{`got "Group"`, `want "ServicePrincipal", the type of`},
		after: []string{identityLife}, send: func(ctx context.Context, a *azure) error {
			worker, err := a.msi.NewUserAssignedIdentitiesClient().Get(ctx, "rg", "worker", nil)
			if err != nil {
				return err
			}
			return grant("11111111-0000-4000-8000-000000000004", *worker.Properties.PrincipalID, readerRole)(ctx, a)
		}},
	"roles: role in use is deleted": {
		status: 400, code: "RoleDefinitionHasAssignments", target: place + "/providers/Microsoft.Authorization/roleDefinitions/11111111-0000-4000-8000-000000000001", says: []string{"want one without assignments"},
		after: []string{roleLife}, first: func(ctx context.Context, a *azure) error {
			return a.put(ctx, place+"/providers/Microsoft.Authorization/roleAssignments/11111111-0000-4000-8000-000000000004", "2022-04-01",
				`{"properties":{"principalId":"`+somebody+`","principalType":"Group","roleDefinitionId":"`+place+"/providers/"+roleLife+`"}}`)
		}, send: func(ctx context.Context, a *azure) error {
			_, err := a.custom.Delete(ctx, place, core.Name(roleLife), nil)
			return err
		}},
}
