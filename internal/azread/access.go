package azread

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"

	"onedoor/internal/az/rights"
)

// Permissions are what the caller may do at the subscription, one Role for each
// permission that it holds there.
// https://learn.microsoft.com/rest/api/authorization/permissions
func (a *Azure) Permissions(ctx context.Context) ([]rights.Role, error) {
	// The client of the SDK knows groups and resources alone.
	at := runtime.JoinPaths(a.plain.Endpoint(), "subscriptions", a.Subscription, "providers/Microsoft.Authorization/permissions")
	out := []rights.Role{}
	for at != "" {
		req, err := runtime.NewRequest(ctx, http.MethodGet, at)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(at, "api-version=") {
			query := req.Raw().URL.Query()
			query.Set("api-version", "2022-04-01")
			req.Raw().URL.RawQuery = query.Encode()
		}
		page, err := a.permissionsPage(req)
		if err != nil {
			return nil, err
		}
		if page.Value == nil {
			return nil, missing("list")
		}
		out = append(out, rolesOf("", page.Value)...)
		at = or(page.NextLink)
	}
	return out, nil
}

// permissionsPage is one page of Permissions.
func (a *Azure) permissionsPage(req *policy.Request) (page armauthorization.PermissionGetResult, err error) {
	res, err := a.plain.Pipeline().Do(req)
	if err != nil {
		return page, err
	}
	defer func() { _ = res.Body.Close() }() // what was read of it is judged
	if !runtime.HasStatusCode(res, http.StatusOK) {
		return page, runtime.NewResponseError(res)
	}
	err = runtime.UnmarshalAsJSON(res, &page)
	return page, err
}

// rolesOf are the permissions of a definition, each a Role: what one excludes
// another may give.
func rolesOf(name string, permissions []*armauthorization.Permission) []rights.Role {
	var out []rights.Role
	for _, p := range permissions {
		if p != nil {
			out = append(out, rights.Role{Name: name, Actions: texts(p.Actions), NotActions: texts(p.NotActions), DataActions: texts(p.DataActions), NotDataActions: texts(p.NotDataActions)})
		}
	}
	return out
}

// Assignment gives a role to a principal at a scope.
type Assignment struct {
	ID, Scope     string
	Principal     string // object id
	PrincipalType string // as in "User", "Group", "ServicePrincipal"; "" if Azure does not say
	Role          string // id of the definition
	Conditional   bool   // it holds under a condition, which is not judged
	Eligible      bool   // the principal has to activate it first
}

// Assignments are the role assignments at the scope and above it, those of
// management groups included.
// https://learn.microsoft.com/rest/api/authorization/role-assignments/list-for-scope
func (a *Azure) Assignments(ctx context.Context, scope string) ([]Assignment, error) {
	filter := "atScope()"
	pager := a.roles.NewRoleAssignmentsClient().NewListForScopePager(strings.Trim(scope, "/"), &armauthorization.RoleAssignmentsClientListForScopeOptions{Filter: &filter})
	found, err := all(ctx, pager, func(p armauthorization.RoleAssignmentsClientListForScopeResponse) []*armauthorization.RoleAssignment {
		return p.Value
	})
	if err != nil {
		return nil, err
	}
	var out []Assignment
	for _, item := range found {
		p := item.Properties
		if p == nil {
			return nil, missing(whole)
		}
		out = append(out, Assignment{or(item.ID), or(p.Scope), or(p.PrincipalID), string(or(p.PrincipalType)), or(p.RoleDefinitionID), or(p.Condition) != "", false})
	}
	return entire(out)
}

// whole is what an assignment cannot be judged without.
const whole = "principal, role and scope of an assignment"

// entire refuses a list in which an assignment is not whole.
func entire(found []Assignment) ([]Assignment, error) {
	if slices.ContainsFunc(found, func(a Assignment) bool { return a.Principal == "" || a.Role == "" || a.Scope == "" }) {
		return nil, missing(whole)
	}
	return found, nil
}

// Eligible are the assignments at the scope and above it that a principal may
// activate for itself.
// https://learn.microsoft.com/rest/api/authorization/privileged-role-eligibility-rest-sample
func (a *Azure) Eligible(ctx context.Context, scope string) ([]Assignment, error) {
	filter := "atScope()"
	pager := a.roles.NewRoleEligibilityScheduleInstancesClient().NewListForScopePager(strings.Trim(scope, "/"), &armauthorization.RoleEligibilityScheduleInstancesClientListForScopeOptions{Filter: &filter})
	found, err := all(ctx, pager, func(p armauthorization.RoleEligibilityScheduleInstancesClientListForScopeResponse) []*armauthorization.RoleEligibilityScheduleInstance {
		return p.Value
	})
	if err != nil {
		return nil, err
	}
	var out []Assignment
	for _, item := range found {
		p := item.Properties
		if p == nil {
			return nil, missing(whole)
		}
		out = append(out, Assignment{or(item.ID), or(p.Scope), or(p.PrincipalID), string(or(p.PrincipalType)), or(p.RoleDefinitionID), or(p.Condition) != "", true})
	}
	return entire(out)
}

// Definition is what a role definition allows, one Role for each of its
// permissions.
func (a *Azure) Definition(ctx context.Context, id string) ([]rights.Role, error) {
	answer, err := a.roles.NewRoleDefinitionsClient().GetByID(ctx, strings.Trim(id, "/"), nil)
	if err != nil {
		return nil, err
	}
	if answer.Properties == nil || answer.Properties.Permissions == nil {
		return nil, missing("permissions of a role")
	}
	name, err := text(answer.Properties.RoleName, "name of a role")
	return rolesOf(name, answer.Properties.Permissions), err
}

// Denial takes something from everybody, or from some principals.
type Denial struct {
	Name        string
	Scope       string
	Permissions []rights.Role
	Everybody   bool     // but for Except
	Principals  []string // object ids, if it is not everybody
	Except      []string // object ids
	Narrow      bool     // it has a condition, or does not reach below its scope
}

// everybody is the principal of a denial that means all principals.
// https://learn.microsoft.com/azure/role-based-access-control/deny-assignments
const everybody = "00000000-0000-0000-0000-000000000000"

// Denials are the deny assignments at the scope and above it.
func (a *Azure) Denials(ctx context.Context, scope string) ([]Denial, error) {
	filter := "atScope()"
	pager := a.roles.NewDenyAssignmentsClient().NewListForScopePager(strings.Trim(scope, "/"), &armauthorization.DenyAssignmentsClientListForScopeOptions{Filter: &filter})
	found, err := all(ctx, pager, func(p armauthorization.DenyAssignmentsClientListForScopeResponse) []*armauthorization.DenyAssignment {
		return p.Value
	})
	if err != nil {
		return nil, err
	}
	var out []Denial
	for _, item := range found {
		p := item.Properties
		if p == nil || or(p.Scope) == "" {
			return nil, missing("scope of a deny assignment")
		}
		d := Denial{Name: or(p.DenyAssignmentName), Scope: *p.Scope, Narrow: or(p.DoNotApplyToChildScopes)}
		for _, permission := range p.Permissions {
			if permission == nil {
				continue
			}
			d.Narrow = d.Narrow || or(permission.Condition) != ""
			d.Permissions = append(d.Permissions, rights.Role{
				Name: d.Name, Actions: texts(permission.Actions), NotActions: texts(permission.NotActions),
				DataActions: texts(permission.DataActions), NotDataActions: texts(permission.NotDataActions),
			})
		}
		for _, principal := range p.Principals {
			if principal != nil {
				d.Principals = append(d.Principals, or(principal.ID))
				d.Everybody = d.Everybody || or(principal.ID) == everybody
			}
		}
		for _, principal := range p.ExcludePrincipals {
			if principal != nil {
				d.Except = append(d.Except, or(principal.ID))
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// Administrators are the classic administrators of the subscription, as
// "person@example.com (CoAdministrator)". Azure retired them in August 2024, and lists
// none where there were none.
// https://learn.microsoft.com/azure/role-based-access-control/classic-administrators
func (a *Azure) Administrators(ctx context.Context) ([]string, error) {
	found, err := all(ctx, a.roles.NewClassicAdministratorsClient().NewListPager(nil), func(p armauthorization.ClassicAdministratorsClientListResponse) []*armauthorization.ClassicAdministrator {
		return p.Value
	})
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, item := range found {
		if item.Properties == nil || or(item.Properties.Role) == "" {
			return nil, missing("role of a classic administrator")
		}
		out = append(out, or(item.Properties.EmailAddress)+" ("+*item.Properties.Role+")")
	}
	return out, nil
}
