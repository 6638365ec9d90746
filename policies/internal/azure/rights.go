package azure

import (
	"fmt"
	"path"
	"strings"

	"onedoor/internal/az"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

// Operations on a model account.
// https://learn.microsoft.com/azure/role-based-access-control/permissions/ai-machine-learning
const (
	openAI = "Microsoft.CognitiveServices/accounts/OpenAI/"

	ListKeys   = "Microsoft.CognitiveServices/accounts/listKeys/action" // management plane
	AssignRole = "Microsoft.Authorization/roleAssignments/write"        // management plane
	WriteBlobs = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write"
)

var (
	// BatchOperations make, stop or feed batch jobs.
	BatchOperations = []string{openAI + "batch-jobs/write", openAI + "batch-jobs/delete", openAI + "batches/cancel/action", openAI + "batches/delete", openAI + "files/write", openAI + "files/delete"}
	// StoredOperations read what others stored: prompts and answers.
	StoredOperations = []string{openAI + "batch-jobs/read", openAI + "batches/read", openAI + "files/read"}
	// SyncOperations call a model.
	SyncOperations = []string{openAI + "deployments/chat/completions/action", openAI + "deployments/completions/action", openAI + "deployments/embeddings/action", openAI + "responses/write"}
)

// Role is what a role definition allows.
type Role struct {
	Name                                             string
	Actions, NotActions, DataActions, NotDataActions []string
}

// Allows tells whether the role allows an operation of the management plane, or,
// with data, of the data plane. Patterns know "*" alone.
func (r Role) Allows(operation string, data bool) bool {
	yes, no := r.Actions, r.NotActions
	if data {
		yes, no = r.DataActions, r.NotDataActions
	}
	return matches(yes, operation) && !matches(no, operation)
}

// AllowsAny is the first of the data operations that the role allows, "" for none.
func (r Role) AllowsAny(operations []string) string {
	for _, o := range operations {
		if r.Allows(o, true) {
			return o
		}
	}
	return ""
}

// Wide tells whether the role's data actions hold a wildcard.
func (r Role) Wide() bool {
	for _, pattern := range r.DataActions {
		if strings.Contains(pattern, "*") {
			return true
		}
	}
	return false
}

func matches(patterns []string, operation string) bool {
	for _, pattern := range patterns {
		// "*" crosses "/" in role definitions, and not in package path.
		ok, err := path.Match(flat(pattern), flat(operation))
		if err == nil && ok {
			return true
		}
	}
	return false
}

func flat(s string) string {
	return strings.NewReplacer("/", "|", "[", "", "]", "", "?", "", `\`, "").Replace(strings.ToLower(s))
}

// builtIn are the built-in roles that reach models or blobs, and those that this
// platform grants, by GUID.
// https://learn.microsoft.com/azure/role-based-access-control/built-in-roles (2026-08)
var builtIn = map[string]Role{
	"5e0bd9bd-7b93-4f28-af87-19fc36ad61bd": {Name: "Cognitive Services OpenAI User", DataActions: []string{openAI + "*/read", openAI + "deployments/*/action", openAI + "assistants/*", openAI + "responses/*"}},
	"a001fd3d-188f-4b5d-821b-7da978bf7442": {Name: "Cognitive Services OpenAI Contributor", DataActions: []string{openAI + "*"}},
	"a97b65f3-24c7-4388-baec-2e87135dc908": {Name: "Cognitive Services User", Actions: []string{ListKeys}, DataActions: []string{"Microsoft.CognitiveServices/*"}},
	"53ca6127-db72-4b80-b1b0-d745d6d5456d": {Name: "Foundry User", Actions: []string{ListKeys}, DataActions: []string{"Microsoft.CognitiveServices/*"}},
	"64702f94-c441-49e6-a78b-ef80e0188fee": {Name: "Azure AI Developer", DataActions: []string{openAI + "*"}},
	"25fbc0a9-bd7c-42a3-aa1a-3b75d497ee68": {Name: "Cognitive Services Contributor", Actions: []string{"Microsoft.CognitiveServices/*"}},
	"19c28022-e58e-450d-a464-0b2a53034789": {Name: "Cognitive Services Data Contributor", DataActions: []string{"Microsoft.CognitiveServices/*"}},
	"b59867f0-fa02-499b-be73-45a86b5b3e1c": {Name: "Cognitive Services Data Reader", DataActions: []string{"Microsoft.CognitiveServices/*/read"}},
	"c883944f-8b7b-4483-af10-35834be79c4a": {Name: "Foundry Owner", Actions: []string{"Microsoft.CognitiveServices/*", AssignRole}, DataActions: []string{"Microsoft.CognitiveServices/*"}},
	"eadc314b-1a2d-4efa-be10-5d325db5065e": {Name: "Foundry Project Manager", Actions: []string{"Microsoft.CognitiveServices/accounts/*/read"}, DataActions: []string{"Microsoft.CognitiveServices/*"}},
	"b24988ac-6180-42a0-ab88-20f7382dd24c": {Name: "Contributor", Actions: []string{"*"}, NotActions: []string{"Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write"}},
	"8e3af657-a8ff-443c-a75c-2fe8c4bcb635": {Name: "Owner", Actions: []string{"*"}},
	"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": {Name: "User Access Administrator", Actions: []string{"*/read", "Microsoft.Authorization/*"}},
	"f58310d9-a9f6-439a-9e8d-f62e7b41a168": {Name: "Role Based Access Control Administrator", Actions: []string{"Microsoft.Authorization/roleAssignments/*"}},
	"acdd72a7-3385-48ef-bd42-f606fba81ae7": {Name: "Reader", Actions: []string{"*/read"}},

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
func RoleOf(s *policypack.Stack, assignment *policypack.Resource) (Role, error) {
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
		return Role{}, fmt.Errorf("roleDefinitionId is %s", id.Shown())
	}
	if role, ok := builtIn[guid]; ok {
		return role, nil
	}
	for _, role := range harmless {
		if role.GUID == guid {
			return Role{Name: role.Name}, nil
		}
	}
	return Role{}, fmt.Errorf("role %s is neither defined in the stack nor one whose rights are known here", id.Shown())
}

// Defined is the role that a RoleDefinition of the stack makes.
func Defined(definition *policypack.Resource) (Role, error) {
	name := definition.Get("roleName").Shown()
	role := Role{Name: name}
	permissions, state := definition.Get("permissions").Items()
	if state != propvalue.Known && state != propvalue.Absent {
		return Role{}, fmt.Errorf("permissions of role %q are %s", name, state)
	}
	for _, p := range permissions {
		for key, to := range map[string]*[]string{"actions": &role.Actions, "notActions": &role.NotActions, "dataActions": &role.DataActions, "notDataActions": &role.NotDataActions} {
			actions, state := p.At(key).Items()
			if state != propvalue.Known && state != propvalue.Absent {
				return Role{}, fmt.Errorf("%s of role %q are %s", key, name, state)
			}
			for _, a := range actions {
				text, state := a.Text()
				if state != propvalue.Known {
					return Role{}, fmt.Errorf("an entry of %s of role %q is %s", key, name, state)
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
