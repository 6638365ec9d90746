package core

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	accountType       = "microsoft.storage/storageaccounts"
	blobServiceType   = "microsoft.storage/storageaccounts/blobservices"
	containerType     = "microsoft.storage/storageaccounts/blobservices/containers"
	lifecycleType     = "microsoft.storage/storageaccounts/managementpolicies"
	tableServiceType  = "microsoft.storage/storageaccounts/tableservices"
	tableType         = "microsoft.storage/storageaccounts/tableservices/tables"
	storageServiceKey = "Microsoft.Storage"
)

// storageTypes are the rows of Storage. Services exist from the account's birth,
// and a write to one is done with its answer; all goes with the account (A265).
// The names of accounts and containers are in the type data (A258).
var storageTypes = map[string]*behaviour{
	accountType: {
		location: regional, create: 25 * time.Second, update: 5 * time.Second, remove: 5 * time.Second,
		check:    []rule{accountUnique, accountKind, accountFeatures, accountFixed, accountImmutability, accountNetwork},
		complete: completeStorage, after: accountServices, view: viewConnections, changesPromptly: true,
	},
	blobServiceType: {
		check: []rule{serviceKind, blobVersions, blobRestore}, complete: completeBlobService, view: viewService, inUse: neverDeleted, plain: true,
	},
	tableServiceType: {
		check: []rule{serviceKind}, complete: completeTableService, inUse: neverDeleted, plain: true,
	},
	containerType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: time.Second,
		check: []rule{containerGone, containerAccess, containerFixed}, complete: completeContainer, plain: true, etag: true, softDelete: true,
	},
	lifecycleType: {
		create: 3 * time.Second, update: 3 * time.Second, remove: 2 * time.Second,
		check: []rule{policyName, policyRules, policyTracking}, complete: completePolicy, plain: true,
	},
	tableType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{tableName}, complete: completeTable, plain: true,
	},
}

// accountUnique: an account is a name in DNS, so it exists once in the world; a
// second one in one's own subscription is told apart by its code (A240).
// https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-storage-account-name
func accountUnique(s State, r, old *Resource) *Error {
	if old != nil {
		return nil
	}
	other := s.namesake(r, accountType)
	switch {
	case other == nil:
		return nil
	case strings.EqualFold(SubscriptionOf(other.ID), SubscriptionOf(r.ID)):
		return refuse(StorageAccountInOtherGroup, "name", "The account "+Name(r.ID)+" is already in another resource group in this subscription: account "+r.ID, "the name of "+other.ID,
			"one that no account in the world has, because it becomes a name in DNS", "choose another name")
	}
	return refuse(StorageAccountAlreadyTaken, "name", "The storage account named "+Name(r.ID)+" is already taken: account "+r.ID, "the name of "+other.ID,
		"one that no account in the world has, because it becomes a name in DNS", "choose another name")
}

// skusOf lists the skus of each kind; a kind that is not here is not judged (A241).
var skusOf = map[string][]string{
	"Storage":          {"Standard_LRS", "Standard_ZRS", "Standard_GRS", "Standard_RAGRS", "Premium_LRS"},
	"StorageV2":        {"Standard_LRS", "Standard_ZRS", "Standard_GRS", "Standard_RAGRS", "Standard_GZRS", "Standard_RAGZRS", "Premium_LRS"},
	"BlobStorage":      {"Standard_LRS", "Standard_GRS", "Standard_RAGRS"},
	"BlockBlobStorage": {"Premium_LRS", "Premium_ZRS"},
	"FileStorage":      {"Premium_LRS", "Premium_ZRS", "PremiumV2_LRS", "PremiumV2_ZRS", "StandardV2_LRS", "StandardV2_ZRS", "StandardV2_GRS", "StandardV2_GZRS"},
}

func skuOf(r *Resource) string { return root(r.Body).get("sku.name").text() }

func accountKind(_ State, r, old *Resource) *Error {
	kind, sku := root(r.Body).get("kind").text(), skuOf(r)
	skus, known := skusOf[kind]
	if known && sku != "" && !slices.Contains(skus, sku) {
		return refuse(InvalidValuesForRequest, "sku", "Values for request parameters are invalid: kind, sku: account "+r.ID, kind+" with "+sku, kind+" with one of "+strings.Join(skus, ", "), "change one of the two")
	}
	if old == nil {
		return nil
	}
	// The older kinds become StorageV2; nothing else changes (A243).
	if was := root(old.Body).get("kind").text(); was != kind && kind != "" && was != "" && (kind != "StorageV2" || was != "Storage" && was != "BlobStorage") {
		return notUpdated(r, "kind", kind, was+", which it was made with; only Storage and BlobStorage become StorageV2")
	}
	was, _, _ := strings.Cut(skuOf(old), "_")
	if now, _, _ := strings.Cut(sku, "_"); now != was && now != "" && was != "" {
		return notUpdated(r, "sku.name", sku, was+"_..., because an account keeps its performance")
	}
	return nil
}

func notUpdated(r *Resource, path, got, want string) *Error {
	return refuse(AccountPropertyNotUpdated, path, "The property '"+path+"' was specified in the input, but it cannot be updated: account "+r.ID, got, want, "write what it was made with, or replace the account")
}

// accountFeatures: a hierarchical namespace is for two combinations of kind and
// sku, and SFTP and NFS for a hierarchical namespace (A242).
func accountFeatures(_ State, r, old *Resource) *Error {
	kind, sku, tree := root(r.Body).get("kind").text(), skuOf(r), r.props("isHnsEnabled")
	if tree.absent() && old != nil {
		tree = old.props("isHnsEnabled")
	}
	if tree.flag() && sku != "" && (kind != "StorageV2" || !strings.HasPrefix(sku, "Standard_")) && kind != "BlockBlobStorage" && kind != "" {
		return refuse(InvalidRequestProperty, "isHnsEnabled", "The value 'True' is not allowed for property isHnsEnabled: account "+r.ID, kind+" with "+sku, "StorageV2 with a Standard sku, or BlockBlobStorage", "change kind and sku")
	}
	for _, name := range []string{"isSftpEnabled", "isNfsV3Enabled"} {
		if r.props(name).flag() && !tree.unknown() && !tree.flag() {
			return refuse(InvalidRequestProperty, name, "The value 'True' is not allowed for property "+name+": account "+r.ID, "a flat namespace", "isHnsEnabled true too", "set it when the account is made")
		}
	}
	return nil
}

// accountFixed: what an account is made with. Two of these Azure refuses even as
// false when the account was made without saying so (A243).
func accountFixed(_ State, r, old *Resource) *Error {
	if old == nil {
		return nil
	}
	for _, path := range []string{"isHnsEnabled", "encryption.requireInfrastructureEncryption"} {
		was, now := old.props(path), r.props(path)
		if !now.known() || was.unknown() || was.known() && was.flag() == now.flag() {
			continue
		}
		before := "nothing said of it"
		if was.known() {
			before = fmt.Sprint(was.v)
		}
		return notUpdated(r, path, fmt.Sprint(now.v), before+", which it was made with")
	}
	for _, path := range []string{"isNfsV3Enabled", "dnsEndpointType", "encryption.services.table.keyType", "encryption.services.queue.keyType"} {
		was, now := old.props(path), r.props(path)
		if was.known() && now.known() && fmt.Sprint(was.v) != fmt.Sprint(now.v) {
			return notUpdated(r, path, fmt.Sprint(now.v), fmt.Sprintf("%v, which it was made with", was.v))
		}
	}
	if old.props("largeFileSharesState").text() == "Enabled" && r.props("largeFileSharesState").text() == "Disabled" {
		return notUpdated(r, "largeFileSharesState", "Disabled", "Enabled, because large shares stay")
	}
	return nil
}

// accountImmutability: an account is made for it or not; its policy is locked
// only later, and then only ever grows (A244).
// https://learn.microsoft.com/azure/storage/blobs/immutable-version-level-worm-policies
func accountImmutability(_ State, r, old *Resource) *Error {
	const path = "immutableStorageWithVersioning"
	policy := r.props(path + ".immutabilityPolicy")
	if old == nil {
		if policy.get("state").text() == "Locked" {
			return notUpdated(r, path, "a policy in state Locked", "Unlocked or Disabled at first, because a lock never opens again")
		}
		return nil
	}
	if now, was := r.props(path+".enabled"), old.props(path+".enabled"); now.known() && !was.unknown() && now.flag() != was.flag() {
		return notUpdated(r, path+".enabled", fmt.Sprint(now.v), fmt.Sprintf("%v, which it was made with", was.flag()))
	}
	was := old.props(path + ".immutabilityPolicy")
	if was.get("state").text() != "Locked" || policy.unknown() {
		return nil
	}
	if state := policy.get("state"); !state.unknown() && state.text() != "Locked" {
		return notUpdated(r, path+".immutabilityPolicy.state", strconv.Quote(state.text()), "Locked, because a lock never opens again")
	}
	days, _ := policy.get("immutabilityPeriodSinceCreationInDays").number()
	least, _ := was.get("immutabilityPeriodSinceCreationInDays").number()
	if !policy.get("immutabilityPeriodSinceCreationInDays").unknown() && days < least {
		return notUpdated(r, path+".immutabilityPolicy", fmt.Sprintf("%v days", days), fmt.Sprintf("%v days or more, because it is locked", least))
	}
	if writes := policy.get("allowProtectedAppendWrites"); !writes.unknown() && writes.flag() != was.get("allowProtectedAppendWrites").flag() {
		return notUpdated(r, path+".immutabilityPolicy", "another setting of allowProtectedAppendWrites", "the same, because it is locked")
	}
	return nil
}

// accountNetwork: a subnet that is let in exists and has the service endpoint
// (A245); addresses are public IPv4, single ones or blocks up to /30 (A246).
// https://learn.microsoft.com/azure/storage/common/storage-network-security
func accountNetwork(s State, r, _ *Resource) *Error {
	for i, item := range r.props("networkAcls.virtualNetworkRules").list() {
		path := fmt.Sprintf("networkAcls.virtualNetworkRules[%d].id", i)
		subnet, err := s.refer(r, path, item.get("id"), subnetType)
		if err != nil {
			return err
		}
		if subnet == nil || subnet.props("serviceEndpoints").hasUnknown() || s.External[Key(subnet.ID)] != nil {
			continue
		}
		if !slices.ContainsFunc(subnet.props("serviceEndpoints").list(), func(e value) bool {
			service := e.get("service").text()
			return service == storageServiceKey || service == storageServiceKey+".Global"
		}) {
			return refuse(NetworkAclsValidationFailure, path, "SubnetsHaveNoServiceEndpointsConfigured: networks of "+r.ID, subnet.ID+" without an endpoint for "+storageServiceKey, "that service among its serviceEndpoints", "add it to the subnet first")
		}
	}
	for i, item := range r.props("networkAcls.ipRules").list() {
		v := item.get("value")
		if !v.known() || publicIPv4(v.text()) {
			continue
		}
		return refuse(InvalidValuesForRequest, fmt.Sprintf("networkAcls.ipRules[%d]", i), "Values for request parameters are invalid: networkAcls.ipRules: account "+r.ID, strconv.Quote(v.text()),
			"a public IPv4 address, or a block of them up to /30", "name single addresses without a mask, and let private ones in by an endpoint")
	}
	return nil
}

func publicIPv4(text string) bool {
	addr, err := netip.ParseAddr(text)
	if p, perr := netip.ParsePrefix(text); perr == nil {
		if p.Bits() > 30 {
			return false
		}
		addr, err = p.Addr(), nil
	}
	return err == nil && addr.Is4() && !addr.IsPrivate() && !addr.IsLoopback()
}

// completeStorage answers as Storage does (A101, A247).
func completeStorage(_ State, r, old *Resource) {
	props, name := object(r.Body, "properties"), strings.ToLower(Name(r.ID))
	if props == nil {
		return
	}
	kind, sku := root(r.Body).get("kind").text(), skuOf(r)
	keep(r, old, "isHnsEnabled", "isNfsV3Enabled", "dnsEndpointType", "immutableStorageWithVersioning", "largeFileSharesState", "publicNetworkAccess", "allowBlobPublicAccess", "minimumTlsVersion")
	if m := object(r.Body, "sku"); m != nil && sku != "" {
		m["tier"] = "Standard"
		if strings.HasPrefix(sku, tierPremium) {
			m["tier"] = tierPremium
		}
	}
	endpoints := map[string]any{}
	for _, service := range servicesOf(kind) {
		endpoints[service] = "https://" + name + "." + service + ".core.windows.net/"
		if service == "web" {
			endpoints[service] = "https://" + name + ".z1.web.core.windows.net/"
		}
	}
	props["primaryEndpoints"], props["primaryLocation"] = endpoints, root(r.Body).get("location").v
	props["statusOfPrimary"], props["creationTime"] = "available", made
	props["keyCreationTime"] = map[string]any{"key1": made, "key2": made}
	setDefault(props, "supportsHttpsTrafficOnly", true)
	setDefault(props, "minimumTlsVersion", "TLS1_0")
	setDefault(props, "allowBlobPublicAccess", false)
	setDefault(props, "allowCrossTenantReplication", false)
	setDefault(props, "publicNetworkAccess", "Enabled")
	if kind == "StorageV2" || kind == "BlobStorage" {
		setDefault(props, "accessTier", "Hot")
	}
	if acls := object(props, "networkAcls"); acls != nil {
		setDefault(acls, "bypass", "AzureServices")
		setDefault(acls, "defaultAction", "Allow")
		setDefault(acls, "ipRules", []any{})
		setDefault(acls, "virtualNetworkRules", []any{})
		for _, list := range []string{"ipRules", "virtualNetworkRules"} {
			for _, item := range (value{acls[list]}).list() {
				if m, ok := item.v.(map[string]any); ok {
					setDefault(m, "action", "Allow")
					if list == "virtualNetworkRules" {
						m["state"] = Succeeded
					}
				}
			}
		}
	}
	if encryption := object(props, "encryption"); encryption != nil {
		setDefault(encryption, "keySource", "Microsoft.Storage")
		if services := object(encryption, "services"); services != nil {
			for _, service := range []string{"blob", "file"} {
				if m := object(services, service); m != nil {
					setDefault(m, "enabled", true)
					setDefault(m, "keyType", "Account")
					m["lastEnabledTime"] = made
				}
			}
		}
	}
}

// servicesOf lists the services that accounts of a kind have (A247).
func servicesOf(kind string) []string {
	switch kind {
	case "FileStorage":
		return []string{"file"}
	case "BlockBlobStorage":
		return []string{"blob", "dfs", "web"}
	case "BlobStorage":
		return []string{"blob", "dfs", "table"}
	case "Storage":
		return []string{"blob", "file", "queue", "table"}
	}
	return []string{"blob", "dfs", "file", "queue", "table", "web"}
}

// accountServices: the services exist from birth (A248); containers of an older
// account of the same name are forgotten.
func accountServices(s *State, r, old *Resource) {
	if old != nil {
		return
	}
	kind := root(r.Body).get("kind").text()
	for service, typ := range map[string]string{"blob": "blobServices", "table": "tableServices"} {
		if slices.Contains(servicesOf(kind), service) {
			s.born(r.ID+"/"+typ+"/default", "Microsoft.Storage/storageAccounts/"+typ, map[string]any{})
		}
	}
	for key := range s.SoftDeleted {
		if strings.HasPrefix(key, Key(r.ID)+"/") {
			delete(s.SoftDeleted, key)
		}
	}
}
