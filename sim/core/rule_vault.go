package core

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	vaultType  = "microsoft.keyvault/vaults"
	secretType = "microsoft.keyvault/vaults/secrets"
)

// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftkeyvault
var vaultNamePattern = regexp.MustCompile(`^[a-zA-Z]([a-zA-Z0-9-]*[a-zA-Z0-9])?$`)

// vaultName: 3 to 24 letters, digits and hyphens, beginning with a letter,
// ending without a hyphen and never with two in a row (A320).
func vaultName(_ State, r, _ *Resource) *Error {
	name := Name(r.ID)
	if len(name) < 3 || len(name) > 24 || !vaultNamePattern.MatchString(name) || strings.Contains(name, "--") {
		return refuse(VaultNameNotValid, "name", "name of vault "+r.ID, strconv.Quote(name), "3 to 24 letters, digits and hyphens, beginning with a letter, ending in a letter or digit, without two hyphens in a row", "rename it")
	}
	return nil
}

// retention returns how long a deleted vault keeps its name.
func retention(vault *Resource) time.Duration {
	days, ok := vault.props("softDeleteRetentionInDays").number()
	if !ok {
		days = defaultRetention
	}
	return time.Duration(days) * 24 * time.Hour
}

// deletedVault returns the vault that still holds a name after its deletion.
func (s State) deletedVault(name string) *Resource {
	for _, key := range sortedKeys(s.SoftDeleted) {
		gone := s.SoftDeleted[key]
		if isType(gone.Type, vaultType) && strings.EqualFold(Name(gone.ID), name) && s.Now-gone.DeletedAt < retention(gone) {
			return gone
		}
	}
	return nil
}

// recovers says whether r brings gone back.
func recovers(r, gone *Resource) bool {
	return gone != nil && Key(r.ID) == Key(gone.ID) && strings.EqualFold(r.props("createMode").text(), "recover")
}

// vaultFree: a vault's name is a host name, so it is there once in the world
// (A321), and stays taken while a deleted vault of that name can come back (A322).
func vaultFree(s State, r, old *Resource) *Error {
	if old != nil {
		return nil
	}
	if other := s.namesake(r, vaultType); other != nil {
		return refuse(VaultAlreadyExists, "name", "name of vault "+r.ID, strconv.Quote(Name(r.ID))+", which "+other.ID+" has", "a name that no vault in the world has", "put stack, region or a generation into the name")
	}
	gone := s.deletedVault(Name(r.ID))
	if gone == nil || recovers(r, gone) {
		return nil
	}
	left := gone.DeletedAt + retention(gone) - s.Now
	remedy := "recover it with createMode recover, purge it, or use another name"
	if gone.props("enablePurgeProtection").flag() {
		remedy = fmt.Sprintf("recover it with createMode recover, or use another name; purge protection keeps it for %d more days", int(left.Hours()+23)/24)
	}
	return refuse(ConflictError, "name", "name of vault "+r.ID, strconv.Quote(Name(r.ID))+", whose vault exists in deleted state as "+gone.ID, "a name without a vault that can still be recovered", remedy)
}

// namesake returns another live resource of the type with r's name, in any
// group and subscription.
func (s State) namesake(r *Resource, typ string) *Resource {
	for _, pool := range []map[string]*Resource{s.Resources, s.External} {
		for _, key := range sortedKeys(pool) {
			if other := pool[key]; key != Key(r.ID) && isType(other.Type, typ) && strings.EqualFold(Name(other.ID), Name(r.ID)) {
				return other
			}
		}
	}
	return nil
}

// defaultRetention is how many days a deleted vault can come back; the type data
// allows 7..90 (A323).
// https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview
const defaultRetention = 90

// vaultProtection: purge protection is set once and never false (A324), soft
// delete cannot be turned off (A325), and the retention is set once (A323).
func vaultProtection(_ State, r, old *Resource) *Error {
	purge, soft, days := r.props("enablePurgeProtection"), r.props("enableSoftDelete"), r.props("softDeleteRetentionInDays")
	if purge.known() && !purge.flag() {
		return refuse(BadRequest, "enablePurgeProtection", "purge protection of "+r.ID, "false", "true or nothing: Azure takes no false, and it cannot be turned off again", "leave the property out, or set it to true")
	}
	if soft.known() && !soft.flag() {
		return refuse(BadRequest, "enableSoftDelete", "soft delete of "+r.ID, "false", "true or nothing: every vault has it", "leave the property out")
	}
	if old == nil {
		return nil
	}
	n, ok := days.number()
	if was, had := old.props("softDeleteRetentionInDays").number(); had && ok && was != n {
		return refuse(BadRequest, "softDeleteRetentionInDays", "retention of "+r.ID, fmt.Sprintf("%v days", n), fmt.Sprintf("%v, which was set when it was made and can't be modified", was), "keep it, or make another vault")
	}
	return nil
}

// vaultAccess: without role-based access a vault says who may do what (A326).
func vaultAccess(_ State, r, old *Resource) *Error {
	if old != nil || recovers(r, r) {
		return nil
	}
	rbac := r.props("enableRbacAuthorization")
	if !rbac.unknown() && !rbac.flag() && r.props("accessPolicies").absent() {
		return refuse(BadRequest, "accessPolicies", "accessPolicies of "+r.ID, "nothing", "a list, which may be empty, unless enableRbacAuthorization is true", "set enableRbacAuthorization to true")
	}
	return nil
}

// completeVault adds the address and the defaults; a recovered vault is what it
// was (A327).
func completeVault(s State, r, old *Resource) {
	if gone := s.deletedVault(Name(r.ID)); old == nil && recovers(r, gone) {
		r.Born, r.Generation, r.DeletedAt = gone.Born, gone.Generation+1, gone.DeletedAt
		r.Body["properties"] = copyValue(gone.Body["properties"])
	}
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	delete(props, "createMode") // write-only
	props["vaultUri"] = "https://" + strings.ToLower(Name(r.ID)) + ".vault.azure.net/"
	for _, field := range []string{"enabledForDeployment", "enabledForDiskEncryption", "enabledForTemplateDeployment", "enableRbacAuthorization"} {
		setDefault(props, field, false)
	}
	if old != nil { // what cannot be taken back stays when a PUT leaves it out
		for _, field := range []string{"enablePurgeProtection", "softDeleteRetentionInDays"} {
			setDefault(props, field, old.props(field).v)
		}
		if props["enablePurgeProtection"] == nil {
			delete(props, "enablePurgeProtection")
		}
	}
	setDefault(props, "enableSoftDelete", true)
	setDefault(props, "softDeleteRetentionInDays", float64(defaultRetention))
	setDefault(props, "publicNetworkAccess", "Enabled")
	setDefault(props, "accessPolicies", []any{})
	if acls, ok := props["networkAcls"].(map[string]any); ok {
		setDefault(acls, "bypass", "AzureServices")
		setDefault(acls, "defaultAction", "Allow")
		setDefault(acls, "ipRules", []any{})
		setDefault(acls, "virtualNetworkRules", []any{})
	}
}

// recoverSecrets brings back with a vault what went with it (A327); a vault made
// anew under an old name has none of it.
func recoverSecrets(s *State, r, old *Resource) {
	if old != nil {
		return
	}
	prefix, recovered := Key(r.ID)+"/", r.Generation > 1
	for _, key := range sortedKeys(s.SoftDeleted) {
		gone := s.SoftDeleted[key]
		if !strings.HasPrefix(key, prefix) || recovered && gone.DeletedAt != r.DeletedAt {
			continue
		}
		delete(s.SoftDeleted, key)
		if recovered {
			back := *gone
			back.DeletedAt = 0
			s.Resources[key] = &back
		}
	}
	r.DeletedAt = 0
}

// secretFree: a deleted secret keeps its name as well (A328).
func secretFree(s State, r, old *Resource) *Error {
	gone, ok := s.SoftDeleted[Key(r.ID)]
	if vault, found := s.Find(ParentOf(r.ID)); old != nil || !ok || !found || s.Now-gone.DeletedAt >= retention(vault) {
		return nil
	}
	return refuse(Conflict, "name", "name of secret "+r.ID, strconv.Quote(Name(r.ID))+", whose secret is deleted but recoverable", "a name without a secret that can still be recovered", "recover or purge it, or use another name")
}

// Purge ends the soft deletion of a resource, so that its name is free. A vault
// with purge protection stays (A322).
func Purge(s State, id string) (State, *Error) {
	gone, ok := s.SoftDeleted[Key(id)]
	if !ok {
		return s, refuse(NotFound, id, "deleted resource "+Clean(id), "nothing", "a soft-deleted resource", "check the id, or the group that it was in")
	}
	if gone.props("enablePurgeProtection").flag() {
		return s, refuse(MethodNotAllowed, id, "purge of "+gone.ID, "a vault with purge protection", "one without", "wait until its retention is over, recover it, or use another name")
	}
	s = s.clone()
	for _, key := range sortedKeys(s.SoftDeleted) {
		if atOrBelow(key, id) {
			delete(s.SoftDeleted, key)
		}
	}
	return s, nil
}
