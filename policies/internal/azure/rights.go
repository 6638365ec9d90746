package azure

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"onedoor/internal/az"
	"onedoor/internal/az/rights"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

// WriteBlobs is an operation of the data plane of Storage.
const WriteBlobs = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write"

// ofStorage are the built-in roles that reach blobs, and those that this platform
// grants, by GUID. Those that reach models are of package rights.
// https://learn.microsoft.com/azure/role-based-access-control/built-in-roles (2026-08)
var ofStorage = map[string]rights.Role{
	"b7e6dc6d-f1e8-4753-8033-0f276bb0955b": {Name: "Storage Blob Data Owner", DataActions: []string{"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/*"}},
	az.BlobContributor.GUID:                {Name: az.BlobContributor.Name, DataActions: []string{"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/*"}},
	az.BlobReader.GUID:                     {Name: az.BlobReader.Name, DataActions: []string{"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"}},
	az.BlobDelegator.GUID:                  {Name: az.BlobDelegator.Name},
	az.TableContributor.GUID:               {Name: az.TableContributor.Name, DataActions: []string{"Microsoft.Storage/storageAccounts/tableServices/*"}},
	"17d1049b-9a84-46fb-8f53-869881c3d3ab": {Name: "Storage Account Contributor", Actions: []string{"Microsoft.Storage/storageAccounts/*"}},
}

// harmless are built-in roles that this platform grants elsewhere and that reach
// neither models nor blobs.
var harmless = []az.Role{
	az.NetworkContributor, az.PrivateDNSZoneContributor, az.ManagedIdentityOperator, az.ImagePull, az.ImagePush,
	az.BusSender, az.BusReceiver, az.BusOwner, az.SecretsUser, az.CertificatesOfficer, az.SecretsOfficer,
}

// RoleOf are the permissions of an assignment's role, one or more: a built-in role,
// or one that the stack defines. It fails for any other, of which nothing can be said.
func RoleOf(s *policypack.Stack, assignment *policypack.Resource) (rights.Roles, error) {
	id := assignment.Get("roleDefinitionId")
	text, state := id.Text()
	guid := strings.ToLower(path.Base(text))
	defined := s.By("guid", RoleDefinition, func(definition *policypack.Resource) string {
		own, _ := definition.Get("roleDefinitionId").Text()
		return strings.ToLower(path.Base(own))
	})
	if found := defined[guid]; state == propvalue.Known && text != "" && len(found) > 0 {
		return Defined(found[0])
	}
	if state != propvalue.Known {
		if behind := s.Behind(assignment, "roleDefinitionId", RoleDefinition); len(behind) == 1 {
			return Defined(behind[0])
		}
		return nil, fmt.Errorf("roleDefinitionId is %s", id.Shown())
	}
	for _, known := range []map[string]rights.Role{rights.BuiltIn, ofStorage} {
		if role, ok := known[guid]; ok {
			return rights.Roles{role}, nil
		}
	}
	for _, role := range harmless {
		if role.GUID == guid {
			return rights.Roles{{Name: role.Name}}, nil
		}
	}
	return nil, fmt.Errorf("role %s is neither defined in the stack nor one whose rights are known here", id.Shown())
}

// Defined are the permissions of the role that a RoleDefinition of the stack makes, and
// before them an empty one, so that a role without any has a name.
func Defined(definition *policypack.Resource) (rights.Roles, error) {
	name := definition.Get("roleName").Shown()
	roles := rights.Roles{{Name: name}}
	permissions, state := definition.Get("permissions").Items()
	if state != propvalue.Known && state != propvalue.Absent {
		return nil, fmt.Errorf("permissions of role %q are %s", name, state)
	}
	for _, p := range permissions {
		role := rights.Role{Name: name}
		for key, to := range map[string]*[]string{"actions": &role.Actions, "notActions": &role.NotActions, "dataActions": &role.DataActions, "notDataActions": &role.NotDataActions} {
			actions, state := p.At(key).Items()
			if state != propvalue.Known && state != propvalue.Absent {
				return nil, fmt.Errorf("%s of role %q are %s", key, name, state)
			}
			for _, a := range actions {
				text, state := a.Text()
				if state != propvalue.Known {
					return nil, fmt.Errorf("an entry of %s of role %q is %s", key, name, state)
				}
				*to = append(*to, text)
			}
		}
		roles = append(roles, role)
	}
	return roles, nil
}

// Reach is whether an assignment holds at a resource.
type Reach int

// The reaches.
const (
	Elsewhere Reach = iota
	Holds           // at the resource or at something above it
	Unclear         // the scope is not known yet
)

// aboveGroups are the scopes that hold every resource.
var aboveGroups = regexp.MustCompile(`(?i)^/(subscriptions/[^/]+|providers/microsoft\.management/managementgroups/[^/]+)?$`)

// ParseScope takes a scope apart: Azure takes one with and without slashes at its ends.
// The id of a scope above all groups is empty. It fails for a text in which Azure may
// find another scope than is read here, as one with %2D or .. in it.
// https://www.pulumi.com/registry/packages/azure-native/api-docs/authorization/roleassignment/
func ParseScope(text string) (az.ID, error) {
	scope := "/" + strings.Trim(text, "/")
	if path.Clean(scope) != scope || strings.ContainsAny(scope, `%?#\ `) {
		return az.ID{}, fmt.Errorf("scope %q: want a plain path, as /subscriptions/<id>/resourceGroups/<name>; write it out", text)
	}
	if aboveGroups.MatchString(scope) {
		return az.ID{}, nil
	}
	return az.ParseID(scope)
}

// Near are the resources of a type at which the assignment may hold: those of
// the group that its scope names, or all.
func Near(s *policypack.Stack, assignment *policypack.Resource, typ string) []*policypack.Resource {
	text, state := assignment.Get("scope").Text()
	if id, err := ParseScope(text); state == propvalue.Known && err == nil && id.ResourceGroup != "" {
		return InGroup(s, typ, id.ResourceGroup)
	}
	return s.Of(typ)
}

// Covers tells whether the assignment's scope is at or above r. One that cannot be read
// is taken for the widest.
func Covers(s *policypack.Stack, assignment, r *policypack.Resource) Reach {
	text, state := assignment.Get("scope").Text()
	if state != propvalue.Known {
		switch behind := s.Behind(assignment, "scope", r.Type, ResourceGroup); {
		case len(behind) == 1 && (behind[0] == r || same(NameOf(behind[0]), GroupOf(r))):
			return Holds
		case len(behind) == 1:
			return Elsewhere
		default:
			return Unclear
		}
	}
	parsed, err := ParseScope(text)
	if err != nil || parsed.ResourceGroup == "" {
		return Holds
	}
	if group, known := GroupOf(r).Text(); known != propvalue.Known || !strings.EqualFold(parsed.ResourceGroup, group) {
		if known != propvalue.Known {
			return Unclear
		}
		return Elsewhere
	}
	if parsed.Type == "" || idOf(parsed.String(), r) {
		return Holds
	}
	// A container lies below its account, and so may the scope.
	if r.Type == BlobContainer && strings.EqualFold(parsed.Type, armTypes[Storage]) {
		if account, known := r.Get("accountName").Text(); known == propvalue.Known && strings.EqualFold(parsed.Name(), account) {
			return Holds
		}
	}
	if strings.HasPrefix(strings.ToLower(parsed.Type), strings.ToLower(armTypes[r.Type])+"/") {
		return belowOf(parsed, r)
	}
	return Elsewhere
}

// belowOf is the reach of a scope below r, as a deployment of an account.
func belowOf(scope az.ID, r *policypack.Resource) Reach {
	name, state := NameOf(r).Text()
	if state != propvalue.Known {
		return Unclear
	}
	if strings.EqualFold(scope.Names[0], name) {
		return Holds
	}
	return Elsewhere
}

// Principal names who is given a role: the identity, or the resource with a
// system-assigned one, that the principal's id was made from. The name is the
// one in Azure. It is nil for a principal from elsewhere, which id then names.
func Principal(s *policypack.Stack, assignment *policypack.Resource) (who *policypack.Resource, id string) {
	if behind := s.Behind(assignment, "principalId", Identity, Account, Gateway, Cluster); len(behind) == 1 {
		return behind[0], ""
	}
	text := assignment.Get("principalId").Shown()
	return nil, text
}
