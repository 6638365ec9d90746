package core

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// namedValueSource: a value, or the place of one in a vault, and not both (A555);
// a write that leaves a secret's value out, as GET does, keeps it.
func namedValueSource(_ State, r, old *Resource) *Error {
	text, vault := r.props("value"), r.props("keyVault")
	kept := old != nil && old.props("secret").flag() && !old.props("value").absent()
	switch {
	case text.unknown() || vault.unknown():
		return nil
	case text.absent() == vault.absent() && (!kept || !vault.absent()):
		return invalidField("value", "named value "+r.ID, "both or neither of value and keyVault", "one of them", "drop one, or set one")
	case text.known() && strings.TrimSpace(text.text()) == "":
		return invalidField("value", "named value "+r.ID, "blanks", "a value", "set it")
	}
	return nil
}

// namedValueUnique: policies name it by its displayName, which is there once (A555).
func namedValueUnique(s State, r, _ *Resource) *Error { return s.uniqueField(r, "displayName") }

// secretReaders are the built-in roles that may read a vault's secrets.
// https://learn.microsoft.com/azure/key-vault/general/rbac-guide
var secretReaders = []string{
	"00482a5a-887f-4fb3-b363-3b7fe8e74483", // Key Vault Administrator
	"4633458b-17de-408a-b874-0445c86b69e6", // Key Vault Secrets User
	"b86a8fe4-44ce-4948-aee5-eccb2c155cd7", // Key Vault Secrets Officer
	"db79e9a7-68ee-4b58-9aeb-b90e7c24fcba", // Key Vault Certificate User
}

// namedValueVault: a value from a vault is a secret that exists, read by an
// identity of the service that may (A556). A vault with a firewall lets in the
// service's own identity alone, as a trusted service.
// https://learn.microsoft.com/azure/api-management/api-management-howto-properties
func namedValueVault(s State, r, _ *Resource) *Error {
	place, client := r.props("keyVault.secretIdentifier"), r.props("keyVault.identityClientId")
	if r.props("keyVault").absent() || place.unknown() || client.unknown() {
		return nil
	}
	bad := func(field, got, want, remedy string) *Error {
		return invalidField("keyVault."+field, "named value "+r.ID, got, want, remedy)
	}
	at, err := url.Parse(place.text())
	parts := []string{}
	if err == nil {
		parts = strings.Split(strings.Trim(at.Path, "/"), "/")
	}
	if err != nil || at.Scheme != "https" || len(parts) < 2 || len(parts) > 3 || parts[0] != "secrets" {
		return bad("secretIdentifier", spelt(place), "the address of a secret, such as https://vault.vault.azure.net/secrets/name", "correct it; without a version the value follows the secret")
	}
	gateway, ours := s.Find(topLevel(r.ID))
	vault := s.vaultAt(at.Host)
	if !ours || vault == nil {
		return nil
	}
	secret := vault.ID + "/secrets/" + parts[1]
	if s.target(secret) == nil {
		return bad("secretIdentifier", place.text()+", which does not exist", "a secret of "+vault.ID, "write the secret first and depend on it")
	}
	principal, unknown, problem := identityOf(gateway, client.text())
	if problem != "" {
		return bad("identityClientId", "Can not find Managed Identity: "+problem, "nothing for the service's own identity, or the client id of an identity that it has", "give the service that identity")
	}
	closed := vault.props("publicNetworkAccess").text() == "Disabled" || vault.props("networkAcls.defaultAction").text() == "Deny"
	if closed && client.text() != "" {
		return bad("identityClientId", client.text()+" at "+vault.ID+", which has a firewall", "the service's own identity, the only one that passes as a trusted service", "leave identityClientId out")
	}
	if bypass := vault.props("networkAcls.bypass"); closed && bypass.known() && bypass.text() != "AzureServices" {
		return bad("secretIdentifier", vault.ID+", whose firewall lets no trusted services in", "networkAcls.bypass AzureServices", "set it at the vault")
	}
	if unknown || s.mayRead(principal, vault, secret) {
		return nil
	}
	return bad("secretIdentifier", place.text()+", which principal "+principal+" may not read (Forbidden)", "a role such as Key Vault Secrets User at "+vault.ID, "assign it first and depend on the assignment")
}

// vaultAt returns the vault of this state with a host name.
func (s State) vaultAt(host string) *Resource {
	for _, key := range sortedKeys(s.Resources) {
		if r := s.Resources[key]; isType(r.Type, vaultType) && strings.EqualFold(Name(r.ID)+".vault.azure.net", host) {
			return r
		}
	}
	return nil
}

// identityOf returns the principal of a service's own identity, or of the
// assigned one with this client id; a problem if there is none.
func identityOf(gateway *Resource, client string) (principal string, unknown bool, problem string) {
	identity := root(gateway.Body).get("identity")
	if identity.unknown() || identity.get("type").unknown() {
		return "", true, ""
	}
	if client == "" {
		own := identity.get("principalId")
		if own.absent() {
			return "", false, gateway.ID + " has none of its own"
		}
		return own.text(), own.unknown(), ""
	}
	assigned, _ := identity.get("userAssignedIdentities").v.(map[string]any)
	for _, id := range sortedKeys(assigned) {
		if v := (value{assigned[id]}); strings.EqualFold(v.get("clientId").text(), client) {
			return v.get("principalId").text(), false, ""
		} else if v.get("clientId").absent() { // an identity of somebody else
			unknown = true
		}
	}
	if unknown {
		return "", true, ""
	}
	return "", false, gateway.ID + " has none with client id " + strconv.Quote(client)
}

// mayRead says whether a principal may read a secret: by a role at the vault,
// the secret or above, or by the vault's access policies. An assignment that is
// not known yet counts.
func (s State) mayRead(principal string, vault *Resource, secret string) bool {
	rbac := vault.props("enableRbacAuthorization")
	if rbac.unknown() {
		return true
	}
	if !rbac.flag() {
		policies := vault.props("accessPolicies")
		return policies.hasUnknown() || slices.ContainsFunc(policies.list(), func(policy value) bool {
			return strings.EqualFold(policy.get("objectId").text(), principal) &&
				slices.ContainsFunc(policy.get("permissions.secrets").texts(), func(p string) bool { return strings.EqualFold(p, "get") || strings.EqualFold(p, "all") })
		})
	}
	for _, a := range s.Resources {
		if !isType(a.Type, assignmentType) || a.Provisioning == Deleting || !atOrBelow(secret, scopeOf(a.ID)) {
			continue
		}
		who, role := a.props("principalId"), a.props("roleDefinitionId")
		if (who.unknown() || strings.EqualFold(who.text(), principal)) && (role.unknown() || s.readsSecrets(Name(role.text()))) {
			return true
		}
	}
	return false
}

// readsSecrets says whether a role, by its GUID, may read secrets.
func (s State) readsSecrets(guid string) bool {
	if slices.Contains(secretReaders, strings.ToLower(guid)) {
		return true
	}
	custom := s.definition(guid)
	return custom != nil && slices.ContainsFunc(custom.props("permissions").list(), func(p value) bool {
		return slices.ContainsFunc(p.get("dataActions").texts(), func(action string) bool {
			return action == "*" || strings.EqualFold(action, "Microsoft.KeyVault/vaults/secrets/getSecret/action") || strings.EqualFold(action, "Microsoft.KeyVault/vaults/secrets/*")
		})
	})
}

// namedValueInUse: a named value that something else holds stays (A553).
func namedValueInUse(s State, r, with *Resource) *Error {
	return inUseBy(ValidationError, r, with, s.holders(r, "{{"+r.props("displayName").text()+"}}"), "change those first")
}

// completeNamedValue answers how the last look into the vault went (A557).
func completeNamedValue(_ State, r, old *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	if props["keyVault"] == nil {
		keep(r, old, "value")
	}
	setDefault(props, "secret", props["keyVault"] != nil)
	if vault, ok := props["keyVault"].(map[string]any); ok {
		vault["lastStatus"] = map[string]any{"code": "Success", "timeStampUtc": made}
	}
}

// viewNamedValue hides a secret, which listValue alone answers (A557).
func viewNamedValue(_ State, r *Resource, body map[string]any) {
	if props := object(body, "properties"); props != nil && r.props("secret").flag() {
		delete(props, "value")
	}
}

// listNamedValue answers a named value (A568).
func listNamedValue(_ State, r *Resource) (map[string]any, *Error) {
	return map[string]any{"value": r.props("value").v}, nil
}
