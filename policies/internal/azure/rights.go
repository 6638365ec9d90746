package azure

import (
	"fmt"
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

// RoleOf is the role of an assignment: a built-in one, or one that the stack
// defines. It fails for any other, of which nothing can be said.
func RoleOf(s *policypack.Stack, assignment *policypack.Resource) (rights.Role, error) {
	id := assignment.Get("roleDefinitionId")
	text, state := id.Text()
	guid := strings.ToLower(text[strings.LastIndex(text, "/")+1:])
	defined := s.By("guid", RoleDefinition, func(definition *policypack.Resource) string {
		own, _ := definition.Get("roleDefinitionId").Text()
		return strings.ToLower(own[strings.LastIndex(own, "/")+1:])
	})
	if found := defined[guid]; state == propvalue.Known && guid != "" && len(found) > 0 {
		return Defined(found[0])
	}
	if state != propvalue.Known {
		if behind := s.Behind(assignment, "roleDefinitionId", RoleDefinition); len(behind) == 1 {
			return Defined(behind[0])
		}
		return rights.Role{}, fmt.Errorf("roleDefinitionId is %s", id.Shown())
	}
	for _, known := range []map[string]rights.Role{rights.BuiltIn, ofStorage} {
		if role, ok := known[guid]; ok {
			return role, nil
		}
	}
	for _, role := range harmless {
		if role.GUID == guid {
			return rights.Role{Name: role.Name}, nil
		}
	}
	return rights.Role{}, fmt.Errorf("role %s is neither defined in the stack nor one whose rights are known here", id.Shown())
}

// Defined is the role that a RoleDefinition of the stack makes.
func Defined(definition *policypack.Resource) (rights.Role, error) {
	name := definition.Get("roleName").Shown()
	role := rights.Role{Name: name}
	permissions, state := definition.Get("permissions").Items()
	if state != propvalue.Known && state != propvalue.Absent {
		return rights.Role{}, fmt.Errorf("permissions of role %q are %s", name, state)
	}
	for _, p := range permissions {
		for key, to := range map[string]*[]string{"actions": &role.Actions, "notActions": &role.NotActions, "dataActions": &role.DataActions, "notDataActions": &role.NotDataActions} {
			actions, state := p.At(key).Items()
			if state != propvalue.Known && state != propvalue.Absent {
				return rights.Role{}, fmt.Errorf("%s of role %q are %s", key, name, state)
			}
			for _, a := range actions {
				text, state := a.Text()
				if state != propvalue.Known {
					return rights.Role{}, fmt.Errorf("an entry of %s of role %q is %s", key, name, state)
				}
				*to = append(*to, text)
			}
		}
	}
	return role, nil
}

// Reach is whether an assignment holds at a resource.
type Reach int

// The reaches.
const (
	Elsewhere Reach = iota
	Holds           // at the resource or at something above it
	Unclear         // the scope is not known yet
)

// Near are the resources of a type at which the assignment may hold: those of
// the group that its scope names, or all.
func Near(s *policypack.Stack, assignment *policypack.Resource, typ string) []*policypack.Resource {
	text, state := assignment.Get("scope").Text()
	if id, err := az.ParseID(strings.TrimRight(text, "/")); state == propvalue.Known && err == nil {
		return InGroup(s, typ, id.ResourceGroup)
	}
	return s.Of(typ)
}

// Covers tells whether the assignment's scope is at or above r.
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
	scope := strings.ToLower(strings.TrimRight(text, "/"))
	parts := strings.Split(scope, "/")
	switch {
	case scope == "", strings.HasPrefix(scope, "/providers/microsoft.management/"):
		return Holds
	case len(parts) == 3 && parts[1] == "subscriptions":
		return Holds
	}
	parsed, err := az.ParseID(strings.TrimRight(text, "/"))
	if err != nil {
		return Unclear
	}
	if group, known := GroupOf(r).Text(); known != propvalue.Known || !strings.EqualFold(parsed.ResourceGroup, group) {
		if known != propvalue.Known {
			return Unclear
		}
		return Elsewhere
	}
	if parsed.Type == "" || idOf(text, r) {
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
