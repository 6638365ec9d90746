package az

import (
	"fmt"

	authorization "github.com/pulumi/pulumi-azure-native-sdk/authorization/v2/v20220401"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/ref"
)

// Grant gives a role to an identity at a resource and everything below it. It
// is the one maker of role assignments.
//
// The assignment's name is a GUID that follows from resource, identity and role,
// so that it is known in previews and a second run meets the first one's. Azure
// takes no change of an assignment and no second one for the same three, so a
// replacement deletes first.
// https://learn.microsoft.com/azure/role-based-access-control/troubleshooting
func (s Scope) Grant(ctx *pulumi.Context, name string, role Role, to ref.Identity, at ref.Resource, opts ...pulumi.ResourceOption) (*authorization.RoleAssignment, error) {
	scope, err := ParseID(at.Plain)
	if err != nil {
		return nil, fmt.Errorf("grant %q of %s: %w", name, role.Name, err)
	}
	// Azure answers the definition's id in the subscription of the scope, which
	// may be another one than the stack's.
	definition := pulumi.String(role.DefinitionID(scope.SubscriptionID)).ToStringOutput()
	if role.Defined != nil {
		definition = ref.After(definition, role.Defined)
	}
	grant, err := authorization.NewRoleAssignment(ctx, name, &authorization.RoleAssignmentArgs{
		RoleAssignmentName: pulumi.String(guid(at.Plain, to.Plain, role.GUID)),
		Scope:              at.ID,
		RoleDefinitionId:   definition,
		PrincipalId:        to.PrincipalID,
		// Without the type Azure looks for a user, and refuses an identity that
		// was made a moment ago.
		PrincipalType: pulumi.String("ServicePrincipal"),
		Description:   pulumi.String(fmt.Sprintf("%s for %s", role.Name, name)),
	}, append(opts, pulumi.DeleteBeforeReplace(true))...)
	if err != nil {
		return nil, fmt.Errorf("grant %q of %s: %w", name, role.Name, err)
	}
	return grant, nil
}
