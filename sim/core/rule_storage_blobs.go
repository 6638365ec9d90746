package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// serviceKind: an account has the services of its kind alone (A248).
func serviceKind(s State, r, _ *Resource) *Error {
	service := "blob"
	if isType(r.Type, tableServiceType) {
		service = "table"
	}
	account := s.holder(r.ID)
	if account == nil {
		return nil
	}
	if kind := root(account.Body).get("kind").text(); kind != "" && !slices.Contains(servicesOf(kind), service) {
		return refuse(OperationNotAllowedOnKind, r.ID, "service "+r.ID, "an account of kind "+kind, "a kind with "+service+"s, such as StorageV2", "use another account")
	}
	return nil
}

// blobVersions: a hierarchical namespace keeps no versions (A250).
// https://learn.microsoft.com/azure/storage/blobs/storage-feature-support-in-storage-accounts
func blobVersions(s State, r, _ *Resource) *Error {
	account := s.holder(r.ID)
	if account == nil || !account.props("isHnsEnabled").flag() {
		return nil
	}
	for _, path := range []string{"isVersioningEnabled", "restorePolicy.enabled"} {
		if r.props(path).flag() {
			return refuse(ContainerOperationFailure, path, path+" of "+r.ID, "true", "false in an account with a hierarchical namespace", "drop it, or make the account with isHnsEnabled false")
		}
	}
	return nil
}

// blobRestore: a restore needs versions, the change feed and deleted blobs that
// are kept longer than it reaches back (A251). Azure compares with the restore
// policy as it was, too, so switching both down takes two writes (A252).
// https://learn.microsoft.com/azure/storage/blobs/point-in-time-restore-overview
func blobRestore(_ State, r, old *Resource) *Error {
	for _, path := range []string{"restorePolicy", "deleteRetentionPolicy", "isVersioningEnabled", "changeFeed"} {
		if r.props(path).hasUnknown() {
			return nil
		}
	}
	kept, _ := r.props("deleteRetentionPolicy.days").number()
	longer := func(days float64, whose string) *Error {
		return refuse(ContainerOperationFailure, "deleteRetentionPolicy.days", "Blob Delete Retention policy days should be longer than Point In Time Restore policy days: "+r.ID,
			fmt.Sprintf("%v", kept), fmt.Sprintf("more than %v, the days of %s", days, whose), "keep deleted blobs longer, or restore less far back")
	}
	if restore := r.props("restorePolicy"); restore.get("enabled").flag() {
		for _, need := range []string{"isVersioningEnabled", "changeFeed.enabled", "deleteRetentionPolicy.enabled"} {
			if !r.props(need).flag() {
				return refuse(ContainerOperationFailure, need, "restore policy of "+r.ID, need+" not true", "true, because a restore is made of versions, change feed and deleted blobs", "set it")
			}
		}
		days, set := restore.get("days").number()
		if !set {
			return refuse(ContainerOperationFailure, "restorePolicy.days", "restore policy of "+r.ID, "no days", "1 or more", "set restorePolicy.days")
		}
		if days >= kept {
			return longer(days, "the restore policy")
		}
	}
	if old != nil && old.props("restorePolicy.enabled").flag() && r.props("deleteRetentionPolicy.enabled").flag() {
		if was, ok := old.props("restorePolicy.days").number(); ok && was >= kept {
			return longer(was, "the restore policy that is still in force")
		}
	}
	return nil
}

func completeBlobService(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	if cors := object(props, "cors"); cors != nil {
		setDefault(cors, "corsRules", []any{})
	}
	if kept := object(props, "deleteRetentionPolicy"); kept != nil {
		setDefault(kept, "enabled", false)
		setDefault(kept, "allowPermanentDelete", false)
	}
}

// viewService shows the account's sku on its blob service (A253).
func viewService(s State, r *Resource, body map[string]any) {
	if account := s.holder(r.ID); account != nil && account.Body["sku"] != nil {
		body["sku"] = copyValue(account.Body["sku"])
	}
}

func completeTableService(_ State, r, _ *Resource) {
	if props := object(r.Body, "properties"); props != nil {
		if cors := object(props, "cors"); cors != nil {
			setDefault(cors, "corsRules", []any{})
		}
	}
}

// beingDeleted is how long the name of a deleted container is taken: "at least
// 30 seconds" in Microsoft's words.
// https://learn.microsoft.com/rest/api/storageservices/delete-container
const beingDeleted = 30 * time.Second

// containerGone: a deletion is answered before it is done (A254).
func containerGone(s State, r, old *Resource) *Error {
	gone, ok := s.SoftDeleted[Key(r.ID)]
	if old != nil || !ok || s.Now-gone.DeletedAt >= beingDeleted {
		return nil
	}
	return refuse(ContainerOperationFailure, "name", "The specified container is being deleted. Try operation later: container "+r.ID, "a name that was freed "+(s.Now-gone.DeletedAt).String()+" ago", "one that was freed 30 s ago or more", "wait, or use another name")
}

// containerAccess: nobody reads anonymously in an account that forbids it (A255).
func containerAccess(s State, r, _ *Resource) *Error {
	account, access := s.holder(r.ID), r.props("publicAccess").text()
	if account == nil || access == "" || access == "None" || account.props("allowBlobPublicAccess").unknown() {
		return nil
	}
	if !account.props("allowBlobPublicAccess").flag() {
		return refuse(PublicAccessNotPermitted, "publicAccess", "Public access is not permitted on this storage account: container "+r.ID, strconv.Quote(access), "None, unless the account has allowBlobPublicAccess true", "set it to None")
	}
	return nil
}

// containerFixed: version-level immutability and the encryption scope are set
// once (A256).
func containerFixed(_ State, r, old *Resource) *Error {
	if old == nil {
		return nil
	}
	if now, was := r.props("immutableStorageWithVersioning.enabled"), old.props("immutableStorageWithVersioning.enabled"); now.known() && !was.unknown() && now.flag() != was.flag() {
		return refuse(ContainerOperationFailure, "immutableStorageWithVersioning.enabled", "immutability of "+r.ID, fmt.Sprint(now.v), fmt.Sprintf("%v, which it was made with", was.flag()), "migrate it, or replace it")
	}
	for _, path := range []string{"defaultEncryptionScope", "denyEncryptionScopeOverride"} {
		if now, was := r.props(path), old.props(path); now.known() && was.known() && fmt.Sprint(now.v) != fmt.Sprint(was.v) {
			return refuse(ContainerOperationFailure, path, path+" of "+r.ID, fmt.Sprint(now.v), fmt.Sprintf("%v, which it was made with", was.v), "replace the container")
		}
	}
	return nil
}

// completeContainer answers as Storage does (A257).
func completeContainer(_ State, r, old *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	keep(r, old, "defaultEncryptionScope", "denyEncryptionScopeOverride", "immutableStorageWithVersioning")
	setDefault(props, "publicAccess", "None")
	setDefault(props, "defaultEncryptionScope", "$account-encryption-key")
	setDefault(props, "denyEncryptionScopeOverride", false)
	if lasting := object(props, "immutableStorageWithVersioning"); lasting != nil {
		setDefault(lasting, "enabled", false)
	}
	props["hasImmutabilityPolicy"], props["hasLegalHold"] = false, false
	props["leaseStatus"], props["leaseState"] = "Unlocked", "Available"
	props["deleted"], props["remainingRetentionDays"], props["lastModifiedTime"] = false, 0.0, made
}

// policyName: there is one policy, called default; another name is no address (A260).
func policyName(_ State, r, _ *Resource) *Error {
	if Name(r.ID) == "default" {
		return nil
	}
	return refuse(HTTPResourceNotFound, "name", "The request url is not found: policy "+r.ID, strconv.Quote(Name(r.ID)), `"default", the only policy of an account`, "rename it")
}

// Limits of a lifecycle policy.
// https://learn.microsoft.com/azure/storage/blobs/lifecycle-management-overview
const (
	maxPolicyRules  = 100
	maxPrefixes     = 10
	maxIndexMatches = 10
)

// lifecycleTiers are the actions that move blobs.
var lifecycleTiers = []string{"tierToHot", "tierToCool", "tierToCold", "tierToArchive"}

// policyRules: names are unique, blobs of known types, actions that these take
// (A261). A prefix need not name a container that exists (A262).
func policyRules(_ State, r, _ *Resource) *Error {
	rules := r.props("policy.rules").list()
	if len(rules) > maxPolicyRules {
		return badPolicy("policy.rules", "rules of "+r.ID, strconv.Itoa(len(rules)), "at most 100", "join some")
	}
	seen := map[string]bool{}
	for i, rule := range rules {
		path := fmt.Sprintf("policy.rules[%d]", i)
		if name := rule.get("name").text(); name != "" {
			if seen[strings.ToLower(name)] {
				return badPolicy(path+".name", "rules of "+r.ID, "two of the name "+strconv.Quote(name), "one", "rename one")
			}
			seen[strings.ToLower(name)] = true
		}
		if err := policyRule(r, path, rule); err != nil {
			return err
		}
	}
	return nil
}

func policyRule(r *Resource, path string, rule value) *Error {
	types := rule.get("definition.filters.blobTypes")
	if rule.get("definition").known() && !types.unknown() && len(types.list()) == 0 {
		return badPolicy(path+".definition.filters.blobTypes", "rule of "+r.ID, "no blob types", "blockBlob, appendBlob or both", "set blobTypes")
	}
	for _, typ := range types.texts() {
		if typ != "blockBlob" && typ != "appendBlob" {
			return badPolicy(path+".definition.filters.blobTypes", "blob type in "+r.ID, strconv.Quote(typ), "blockBlob or appendBlob", "correct it")
		}
	}
	if n := len(rule.get("definition.filters.prefixMatch").list()); n > maxPrefixes {
		return badPolicy(path+".definition.filters.prefixMatch", "prefixes in "+r.ID, strconv.Itoa(n), "at most 10 in a rule", "make two rules")
	}
	matches := rule.get("definition.filters.blobIndexMatch").list()
	if len(matches) > maxIndexMatches {
		return badPolicy(path+".definition.filters.blobIndexMatch", "index matches in "+r.ID, strconv.Itoa(len(matches)), "at most 10 in a rule", "make two rules")
	}
	for _, match := range matches {
		if op := match.get("op"); op.known() && op.text() != "==" {
			return badPolicy(path+".definition.filters.blobIndexMatch", "index match in "+r.ID, strconv.Quote(op.text()), `"=="`, "correct it")
		}
	}
	actions := rule.get("definition.actions")
	if actions.hasUnknown() {
		return nil
	}
	count := 0
	for _, on := range []string{"baseBlob", "snapshot", "version"} {
		for _, action := range append([]string{"delete"}, lifecycleTiers...) {
			if actions.get(on + "." + action).absent() {
				continue
			}
			count++
			if action != "delete" && slices.Contains(types.texts(), "appendBlob") {
				return badPolicy(path+".definition.actions", "rule of "+r.ID, action+" of append blobs", "delete, their only action", "take appendBlob out of the rule")
			}
			if action != "tierToArchive" && actions.get(on+"."+action+".daysAfterLastTierChangeGreaterThan").known() {
				return badPolicy(path+".definition.actions", "rule of "+r.ID, action+" by the last change of tier", "tierToArchive, the only action that looks at it", "drop daysAfterLastTierChangeGreaterThan")
			}
		}
	}
	if count == 0 {
		return badPolicy(path+".definition.actions", "rule of "+r.ID, "no action", "one or more", "say what to do with the blobs")
	}
	if actions.get("baseBlob.enableAutoTierToHotFromCool").flag() && actions.get("baseBlob.tierToCool.daysAfterLastAccessTimeGreaterThan").absent() {
		return badPolicy(path+".definition.actions", "rule of "+r.ID, "enableAutoTierToHotFromCool alone", "tierToCool by the last access too", "add daysAfterLastAccessTimeGreaterThan")
	}
	return nil
}

func badPolicy(path, what, got, want, remedy string) *Error {
	return refuse(InvalidRequestProperty, path, what, got, want, remedy)
}

// policyTracking: who acts on the last access has it tracked (A263).
func policyTracking(s State, r, _ *Resource) *Error {
	service, ok := s.Find(topLevel(r.ID) + "/blobServices/default")
	if !ok || service.props("lastAccessTimeTrackingPolicy").hasUnknown() || service.props("lastAccessTimeTrackingPolicy.enable").flag() {
		return nil
	}
	for i, rule := range r.props("policy.rules").list() {
		for _, action := range append([]string{"delete"}, lifecycleTiers...) {
			if rule.get("definition.actions.baseBlob." + action + ".daysAfterLastAccessTimeGreaterThan").known() {
				return refuse(MissingLastAccessTracking, fmt.Sprintf("policy.rules[%d]", i), "Last access time based tracking policy must be enabled before using its specific actions: "+r.ID, action+" by the last access",
					"lastAccessTimeTrackingPolicy.enable true on the blob service", "enable it first, and depend on it")
			}
		}
	}
	return nil
}

func completePolicy(_ State, r, _ *Resource) {
	if props := object(r.Body, "properties"); props != nil {
		props["lastModifiedTime"] = made
	}
	for _, rule := range r.props("policy.rules").list() {
		if m, ok := rule.v.(map[string]any); ok {
			setDefault(m, "enabled", true)
		}
	}
}

// tableName: one name is taken by the service itself; the rest is in the type
// data (A264).
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model#table-names
func tableName(_ State, r, _ *Resource) *Error {
	if strings.EqualFold(Name(r.ID), "tables") {
		return refuse(InvalidResourceName, "name", "name of "+r.ID, strconv.Quote(Name(r.ID)), "another one, because it is the address of all tables", "rename it")
	}
	return nil
}

func completeTable(_ State, r, _ *Resource) {
	if props := object(r.Body, "properties"); props != nil {
		props["tableName"] = Name(r.ID)
	}
}
