package core

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	assignmentType = "microsoft.authorization/roleassignments"
	definitionType = "microsoft.authorization/roledefinitions"
)

// builtInRoles are the roles that every tenant has, by the GUID of their
// definition; the list is shortened to what a platform meets (A303).
// https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
var builtInRoles = map[string]string{
	"8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
	"b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
	"acdd72a7-3385-48ef-bd42-f606fba81ae7": "Reader",
	"4d97b98b-1d4f-4787-a291-c67834d212e7": "Network Contributor",
	"b12aa53e-6015-4669-85d0-8515ebb3ae7f": "Private DNS Zone Contributor",
	"f1a07417-d97a-45cb-824c-7a7467783830": "Managed Identity Operator",
	"b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b": "Azure Kubernetes Service RBAC Cluster Admin",
	"7f951dda-4ed3-4680-a7ca-43fe172d538d": "AcrPull",
	"8311e382-0749-4cb8-b61a-304f252e45ec": "AcrPush",
	"577a9874-89fd-4f24-9dbd-b5034d0ad23a": "Container Registry Data Importer and Data Reader",
	"ba92f5b4-2d11-453d-a403-e96b0029c9fe": "Storage Blob Data Contributor",
	"2a2b9908-6ea1-4ae2-8e65-a410df84e7d1": "Storage Blob Data Reader",
	"b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
	"db58b8e5-c6ad-4a2a-8342-4190687cbf4a": "Storage Blob Delegator",
	"0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": "Storage Table Data Contributor",
	"76199698-9eea-4c19-bc75-cec21354c6b6": "Storage Table Data Reader",
	"974c5e8b-45b9-4653-ba55-5f855dd0fb88": "Storage Queue Data Contributor",
	"69a216fc-b8fb-44d8-bc22-1f3c2cd27a39": "Azure Service Bus Data Sender",
	"4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0": "Azure Service Bus Data Receiver",
	"090c5cfd-751d-490a-894a-3ce6f1109419": "Azure Service Bus Data Owner",
	"4633458b-17de-408a-b874-0445c86b69e6": "Key Vault Secrets User",
	"b86a8fe4-44ce-4948-aee5-eccb2c155cd7": "Key Vault Secrets Officer",
	"a4417e6f-fecd-4de8-b567-7b0420556985": "Key Vault Certificates Officer",
	"b0d8363b-8ddd-447d-831f-62ca05bff136": "Monitoring Data Reader",
	"43d0d8ad-25c7-4714-9337-8ba259a9fe05": "Monitoring Reader",
	"3913510d-42f4-4e42-8a64-420c390055eb": "Monitoring Metrics Publisher",
	"5e0bd9bd-7b93-4f28-af87-19fc36ad61bd": "Cognitive Services OpenAI User",
	"a001fd3d-188f-4b5d-821b-7da978bf7442": "Cognitive Services OpenAI Contributor",
	"a97b65f3-24c7-4388-baec-2e87135dc908": "Cognitive Services User",
	"25fbc0a9-bd7c-42a3-aa1a-3b75d497ee68": "Cognitive Services Contributor",
	"19c28022-e58e-450d-a464-0b2a53034789": "Cognitive Services Data Contributor (Preview)",
	"b59867f0-fa02-499b-be73-45a86b5b3e1c": "Cognitive Services Data Reader",
	"53ca6127-db72-4b80-b1b0-d745d6d5456d": "Foundry User",
	"c883944f-8b7b-4483-af10-35834be79c4a": "Foundry Owner",
	"eadc314b-1a2d-4efa-be10-5d325db5065e": "Foundry Project Manager",
	"64702f94-c441-49e6-a78b-ef80e0188fee": "Azure AI Developer",
}

var guidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// scopeOf returns the scope that an assignment or definition lies at.
func scopeOf(id string) string {
	id = Clean(id)
	at := strings.LastIndex(strings.ToLower(id), "/providers/")
	if at <= 0 {
		return "/"
	}
	return id[:at]
}

// assignmentName: the name is a GUID (A302).
func assignmentName(_ State, r, _ *Resource) *Error {
	if name := Name(r.ID); !guidPattern.MatchString(name) {
		return refuse(InvalidRoleAssignmentID, "name", "name of role assignment "+r.ID, strconv.Quote(name), "a GUID, which Azure keys assignments by",
			"derive one from scope, principal and role, such as a UUIDv5")
	}
	return nil
}

// definition returns the custom role with this GUID.
func (s State) definition(guid string) *Resource {
	for _, key := range sortedKeys(s.Resources) {
		if r := s.Resources[key]; isType(r.Type, definitionType) && strings.EqualFold(Name(r.ID), guid) && r.Provisioning != Deleting {
			return r
		}
	}
	return nil
}

// assignmentRole: the role exists, built in or of this state (A303), and may be
// assigned at the scope (A308).
func assignmentRole(s State, r, _ *Resource) *Error {
	v := r.props("roleDefinitionId")
	if !v.known() {
		return nil
	}
	guid := Name(v.text())
	if !isType(TypeOf(v.text()), definitionType) || !guidPattern.MatchString(guid) {
		return refuse(InvalidRoleDefinitionID, "roleDefinitionId", "role of "+r.ID, strconv.Quote(v.text()), "the id of a role definition, which ends in a GUID",
			"pass /subscriptions/{subscription}/providers/Microsoft.Authorization/roleDefinitions/{GUID}")
	}
	if _, ok := builtInRoles[strings.ToLower(guid)]; ok {
		return nil
	}
	custom := s.definition(guid)
	if custom == nil {
		return refuse(RoleDefinitionDoesNotExist, "roleDefinitionId", "role of "+r.ID, strconv.Quote(guid), "a built-in role or a custom one that exists",
			"correct the GUID, depend on the definition, or, for a built-in role that is new here, add it to builtInRoles")
	}
	scopes := custom.props("assignableScopes")
	if scopes.hasUnknown() || slices.ContainsFunc(scopes.texts(), func(at string) bool { return atOrBelow(scopeOf(r.ID), at) }) {
		return nil
	}
	return refuse(BadRequest, "roleDefinitionId", "role of "+r.ID, fmt.Sprintf("%q at %s", custom.props("roleName").text(), scopeOf(r.ID)),
		"a scope at or below "+strings.Join(scopes.texts(), ", ")+", the role's assignable scopes", "assign it there, or add the scope to the role")
}

// atOrBelow says whether id is scope or lies in it.
func atOrBelow(id, scope string) bool {
	i, s := Key(id), Key(scope)
	return s == "/" || i == s || strings.HasPrefix(i, s+"/")
}

// principals are the object ids of the managed identities that the state knows:
// user-assigned ones, those of resources, and a cluster's kubelet's (A304).
func (s State) principal(id string) (owner *Resource, ok bool) {
	for _, pool := range []map[string]*Resource{s.Resources, s.External} {
		for _, key := range sortedKeys(pool) {
			r := pool[key]
			ids := []string{root(r.Body).get("identity.principalId").text(), r.props("identityProfile.kubeletidentity.objectId").text()}
			if isType(r.Type, identityType) {
				ids = append(ids, r.props("principalId").text())
			}
			if slices.ContainsFunc(ids, func(have string) bool { return have != "" && strings.EqualFold(have, id) }) {
				return r, true
			}
		}
	}
	return nil, false
}

// assignmentPrincipal: the principal is an object id, and has the type that the
// request says (A304). Whether it exists is asked only of a closed tenant: the
// state does not know the people and groups of the directory.
func assignmentPrincipal(s State, r, _ *Resource) *Error {
	v, typ := r.props("principalId"), r.props("principalType")
	if !v.known() {
		return nil
	}
	if !guidPattern.MatchString(v.text()) {
		return refuse(InvalidPrincipalID, "principalId", "principal of "+r.ID, strconv.Quote(v.text()), "an object id, which is a GUID", "pass the identity's principalId")
	}
	owner, ok := s.principal(v.text())
	if !ok {
		if s.ClosedTenant {
			return refuse(PrincipalNotFound, "principalId", "principal of "+r.ID, strconv.Quote(v.text()), "the object id of an identity that exists; here the tenant has no others",
				"create the identity first and pass its principalId, not its clientId")
		}
		return nil
	}
	if typ.known() && !strings.EqualFold(typ.text(), "ServicePrincipal") {
		return refuse(UnmatchedPrincipalType, "principalType", "principal type of "+r.ID, strconv.Quote(typ.text()), `"ServicePrincipal", the type of `+owner.ID, "set principalType to ServicePrincipal")
	}
	return nil
}

// assignmentFixed: an assignment keeps principal and role (A305). azure-native
// replaces for another principal, but tries to update for another role (A318).
func assignmentFixed(_ State, r, old *Resource) *Error {
	if old == nil {
		return nil
	}
	for _, field := range []struct {
		name string
		form func(string) string
	}{{"principalId", strings.ToLower}, {"roleDefinitionId", func(id string) string { return strings.ToLower(Name(id)) }}} {
		was, now := old.props(field.name), r.props(field.name)
		if was.known() && now.known() && field.form(was.text()) != field.form(now.text()) {
			return refuse(RoleAssignmentUpdateNotPermitted, field.name, field.name+" of "+r.ID, strconv.Quote(now.text()), strconv.Quote(was.text())+", which was set when it was made",
				"give the other assignment a name of its own, and delete this one first")
		}
	}
	return nil
}

// assignmentUnique: one assignment for scope, principal and role (A306).
func assignmentUnique(s State, r, _ *Resource) *Error {
	principal, role := r.props("principalId"), r.props("roleDefinitionId")
	if !principal.known() || !role.known() {
		return nil
	}
	scope := Key(scopeOf(r.ID))
	for _, key := range sortedKeys(s.Resources) {
		other := s.Resources[key]
		if isType(other.Type, assignmentType) && key != Key(r.ID) && other.Provisioning != Deleting && Key(scopeOf(other.ID)) == scope &&
			strings.EqualFold(other.props("principalId").text(), principal.text()) && strings.EqualFold(Name(other.props("roleDefinitionId").text()), Name(role.text())) {
			return refuse(RoleAssignmentExists, r.ID, "role assignment "+r.ID, "scope, principal and role of "+other.ID, "one assignment for each three",
				"drop one, or take over the existing one under its name")
		}
	}
	return nil
}

// completeAssignment: Azure shows the scope, and the role by its id in the
// scope's subscription (A307). An assignment lies below its scope and goes with
// it; its principal it outlives (A316).
func completeAssignment(s State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	props["scope"] = scopeOf(r.ID)
	if role := r.props("roleDefinitionId"); role.known() {
		id := "/providers/Microsoft.Authorization/roleDefinitions/" + Name(role.text())
		if subscription := SubscriptionOf(r.ID); subscription != "" {
			id = "/subscriptions/" + subscription + id
		}
		props["roleDefinitionId"] = id
	}
	if props["principalType"] == nil {
		props["principalType"] = "User"
		if _, ok := s.principal(r.props("principalId").text()); ok {
			props["principalType"] = "ServicePrincipal"
		}
	}
	stamp(props)
}

// stamp adds who wrote an authorization object, and when.
func stamp(props map[string]any) {
	props["createdOn"], props["updatedOn"] = made, made
	props["createdBy"], props["updatedBy"] = deployer, deployer
}

// deployer is the object id of who runs the program.
const deployer = "44444444-4444-4444-8444-444444444444"

// definitionName: the name is a GUID, the role has a name (A309).
func definitionName(_ State, r, _ *Resource) *Error {
	if name := Name(r.ID); !guidPattern.MatchString(name) {
		return refuse(InvalidRoleDefinitionID, "name", "name of role definition "+r.ID, strconv.Quote(name), "a GUID, which Azure keys roles by", "derive one from subscription and role name, such as a UUIDv5")
	}
	if _, ok := builtInRoles[strings.ToLower(Name(r.ID))]; ok {
		return refuse(BadRequest, "name", "name of role definition "+r.ID, strconv.Quote(Name(r.ID)), "a GUID that no built-in role has", "draw another one")
	}
	if v := r.props("roleName"); !v.unknown() && v.text() == "" {
		return refuse(BadRequest, "roleName", "role name of "+r.ID, "nothing", "a name, which is what people see", "set roleName")
	}
	return nil
}

// definitionUnique: a role name is there once in the directory, built-in ones
// included (A309).
func definitionUnique(s State, r, _ *Resource) *Error {
	v := r.props("roleName")
	if !v.known() {
		return nil
	}
	owner := ""
	for _, guid := range sortedKeys(builtInRoles) {
		if strings.EqualFold(builtInRoles[guid], v.text()) {
			owner = "the built-in role " + guid
		}
	}
	for _, key := range sortedKeys(s.Resources) {
		other := s.Resources[key]
		if isType(other.Type, definitionType) && !strings.EqualFold(Name(other.ID), Name(r.ID)) && other.Provisioning != Deleting && strings.EqualFold(other.props("roleName").text(), v.text()) {
			owner = other.ID
		}
	}
	if owner == "" {
		return nil
	}
	return refuse(RoleDefinitionWithSameNameExists, "roleName", "role name of "+r.ID, strconv.Quote(v.text())+", which "+owner+" has", "a name that is there once in the directory", "put stack and subscription into the name")
}

// definitionScopes: at least one assignable scope, no wildcard, and the scope
// that the role is made at among them or below (A309).
func definitionScopes(_ State, r, _ *Resource) *Error {
	v := r.props("assignableScopes")
	if v.hasUnknown() {
		return nil
	}
	scopes := v.texts()
	if len(scopes) == 0 {
		return refuse(BadRequest, "assignableScopes", "assignable scopes of "+r.ID, "none", "at least one: a role can be granted nowhere else", "list "+scopeOf(r.ID))
	}
	for _, scope := range scopes {
		if !strings.HasPrefix(scope, "/") || strings.Contains(scope, "*") || Key(scope) == "/" {
			return refuse(BadRequest, "assignableScopes", "assignable scopes of "+r.ID, strconv.Quote(scope), "the id of a management group, subscription, group or resource", "correct it")
		}
	}
	if at := scopeOf(r.ID); !slices.ContainsFunc(scopes, func(scope string) bool { return atOrBelow(at, scope) }) {
		return refuse(BadRequest, "assignableScopes", "assignable scopes of "+r.ID, strings.Join(scopes, ", "), at+" among them, where the role is made", "add it, or make the role at one of them")
	}
	return nil
}

var (
	actionPattern = regexp.MustCompile(`^[A-Za-z]+(\.[A-Za-z0-9]+)+(/[A-Za-z0-9_.*-]+)+$`)
	// wildActions are the actions that name no provider.
	wildActions = []string{"*", "*/read", "*/write", "*/delete", "*/action"}
	// providers are namespaces that custom roles meet, besides those of the type
	// data; the actions themselves are not known here (A313).
	moreProviders = strings.Fields("Microsoft.AlertsManagement Microsoft.Authorization Microsoft.Billing Microsoft.Cache Microsoft.Compute Microsoft.CostManagement Microsoft.DBforPostgreSQL " +
		"Microsoft.DocumentDB Microsoft.EventGrid Microsoft.EventHub Microsoft.Features Microsoft.Management Microsoft.MachineLearningServices Microsoft.PolicyInsights Microsoft.ResourceHealth " +
		"Microsoft.Resources Microsoft.Search Microsoft.Security Microsoft.Sql Microsoft.Support Microsoft.Web")
)

// definitionActions: actions look like Provider/type/verb, and the provider is
// a known one (A313). What a provider offers is not in Azure's type data.
func definitionActions(_ State, r, _ *Resource) *Error {
	known, err := catalog()
	if err != nil {
		return &Error{Code: BadRequest, Message: "type data of the simulator: " + err.Error()}
	}
	namespaces := slices.Clone(moreProviders)
	for _, name := range known.names {
		namespace, _, _ := strings.Cut(name, "/")
		if !slices.Contains(namespaces, namespace) {
			namespaces = append(namespaces, namespace)
		}
	}
	for _, permission := range r.props("permissions").list() {
		for _, field := range []string{"actions", "notActions", "dataActions", "notDataActions"} {
			for _, action := range permission.get(field).texts() {
				namespace, _, _ := strings.Cut(action, "/")
				switch {
				case slices.Contains(wildActions, action):
				case !actionPattern.MatchString(action):
					return refuse(InvalidActionOrNotAction, field, field+" of "+r.ID, strconv.Quote(action), "Provider/type/verb, such as Microsoft.Storage/storageAccounts/read", "correct it")
				case !slices.ContainsFunc(namespaces, func(n string) bool { return strings.EqualFold(n, namespace) }):
					return refuse(InvalidActionOrNotAction, field, field+" of "+r.ID, strconv.Quote(action), "an action of a known provider, nearest is "+closest(namespace, namespaces), "correct it, or add the provider to moreProviders")
				}
			}
		}
	}
	return nil
}

// completeDefinition adds the type and the lists that Azure always shows.
func completeDefinition(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "type", "CustomRole")
	setDefault(props, "description", "")
	permissions, _ := props["permissions"].([]any)
	for _, p := range permissions {
		if m, ok := p.(map[string]any); ok {
			for _, field := range []string{"actions", "notActions", "dataActions", "notDataActions"} {
				setDefault(m, field, []any{})
			}
		}
	}
	stamp(props)
}

// definitionInUse: a role that is assigned stays (A314). What is deleted above
// takes its assignments along.
func definitionInUse(s State, r, with *Resource) *Error {
	if Key(r.ID) != Key(with.ID) {
		return nil
	}
	for _, key := range sortedKeys(s.Resources) {
		a := s.Resources[key]
		if isType(a.Type, assignmentType) && a.Provisioning != Deleting && strings.EqualFold(Name(a.props("roleDefinitionId").text()), Name(r.ID)) {
			return refuse(RoleDefinitionHasAssignments, r.ID, "deletion of "+r.ID, "a role that "+a.ID+" assigns", "one without assignments", "delete those first")
		}
	}
	return nil
}
