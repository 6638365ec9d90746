package core

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	modelAccountType = "microsoft.cognitiveservices/accounts"
	deploymentType   = "microsoft.cognitiveservices/accounts/deployments"
	raiPolicyType    = "microsoft.cognitiveservices/accounts/raipolicies"
)

// cognitiveTypes are the rows of Azure AI services: accounts and the models
// deployed in them. An account takes one write at a time, to itself or to what
// is in it (A460).
var cognitiveTypes = map[string]*behaviour{
	modelAccountType: {
		location: regional, create: 30 * time.Second, update: 10 * time.Second, remove: 20 * time.Second, busy: RequestConflict, unready: AccountProvisioningInvalid,
		check:    []rule{modelAccountKind, modelAccountRestore, modelAccountSubdomain, modelAccountNetwork, modelAccountCount, modelAccountCalm},
		complete: completeModelAccount, inUse: modelAccountInUse, view: viewConnections, softDelete: true, etag: true,
	},
	deploymentType: {
		create: 30 * time.Second, update: 20 * time.Second, remove: 10 * time.Second, lock: topLevel, busy: RequestConflict,
		check:    []rule{modelAccountCalm, deploymentKind, deploymentSku, deploymentModel, deploymentFixed, deploymentFilter, deploymentCount, deploymentQuota},
		complete: completeDeployment, etag: true,
	},
	raiPolicyType: {
		create: 5 * time.Second, update: 5 * time.Second, remove: 5 * time.Second, lock: topLevel, busy: RequestConflict,
		check:    []rule{modelAccountCalm, raiPolicyName, raiPolicyFilters},
		complete: completeRaiPolicy, inUse: raiPolicyInUse, plain: true, etag: true,
	},
}

func kindOfAccount(account *Resource) value { return root(account.Body).get("kind") }

// accountKinds are the kinds of accounts with their SKUs; the list is shortened
// to what a platform meets (A461).
// https://learn.microsoft.com/azure/ai-services/create-account-bicep
var accountKinds = map[string][]string{
	"AIServices":        {"S0"},
	"CognitiveServices": {"S0"},
	"ComputerVision":    {"F0", "S1"},
	"ContentSafety":     {"F0", "S0"},
	"FormRecognizer":    {"F0", "S0"},
	"OpenAI":            {"S0"},
	"SpeechServices":    {"F0", "S0"},
	"TextAnalytics":     {"F0", "S"},
	"TextTranslation":   {"F0", "S1", "S2", "S3", "S4"},
}

// modelAccountKind: kind and SKU go together, and the kind is chosen once (A461).
func modelAccountKind(s State, r, old *Resource) *Error {
	kind, sku := kindOfAccount(r), root(r.Body).get("sku.name")
	if kind.unknown() || r.props("restore").flag() {
		return nil
	}
	skus, ok := accountKinds[kind.text()]
	if !ok {
		return refuse(InvalidAPISetID, "kind", "kind of account "+r.ID, strconv.Quote(kind.text()), "one of "+strings.Join(sortedKeys(accountKinds), ", "), "use OpenAI for models of OpenAI alone")
	}
	if !sku.unknown() && !slices.Contains(skus, sku.text()) {
		return refuse(InvalidSkuID, "sku", "SKU of account "+r.ID, strconv.Quote(sku.text()), strings.Join(skus, " or ")+", which kind "+kind.text()+" has", "set sku.name")
	}
	if old != nil {
		if was := kindOfAccount(old); was.known() && was.text() != kind.text() {
			return refuse(BadRequest, "kind", "kind of account "+r.ID, strconv.Quote(kind.text()), strconv.Quote(was.text())+", which it was made with", "make another account")
		}
	}
	return nil
}

// nameRetention is how long a deleted account or gateway keeps its name.
// https://learn.microsoft.com/azure/ai-services/recover-purge-resources
const nameRetention = 48 * time.Hour

// deletedAccount returns the account that still holds r's id and place after its
// deletion (A465).
func (s State) deletedAccount(r *Resource) *Resource {
	gone, ok := s.SoftDeleted[Key(r.ID)]
	if !ok || s.Now-gone.DeletedAt >= nameRetention || Region(root(gone.Body).get("location").text()) != Region(root(r.Body).get("location").text()) {
		return nil
	}
	return gone
}

// modelAccountRestore: a deleted account keeps its name for 48 hours in its
// group and region; it comes back with restore, which needs one (A465).
func modelAccountRestore(s State, r, old *Resource) *Error {
	restore := r.props("restore")
	if old != nil || restore.unknown() {
		return nil
	}
	switch gone := s.deletedAccount(r); {
	case gone == nil && restore.flag():
		return refuse(BadRequest, "restore", "restore of account "+r.ID, "true", "a deleted account of this id and region, which there is not", "leave restore out")
	case gone != nil && !restore.flag():
		return refuse(FlagMustBeSetForRestore, "name", "name of account "+r.ID, "the id of an account that was deleted less than 48 hours ago", "another name, or restore",
			"set restore to true, purge the deleted account, or use another name")
	}
	return nil
}

// https://learn.microsoft.com/azure/ai-services/cognitive-services-custom-subdomains
var subdomainPattern = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,62}[a-zA-Z0-9])?$`)

// modelAccountSubdomain: the subdomain is a host name, set once (A462), that is
// there once in the world, those of deleted accounts included (A463).
func modelAccountSubdomain(s State, r, old *Resource) *Error {
	v := r.props("customSubDomainName")
	if v.text() == "" || r.props("restore").flag() {
		return nil
	}
	if name := v.text(); len(name) < 2 || !subdomainPattern.MatchString(name) {
		return refuse(BadRequest, "customSubDomainName", "subdomain of account "+r.ID, strconv.Quote(name), "2 to 64 letters, digits and hyphens, a letter or digit at both ends", "correct it")
	}
	if old != nil {
		if was := old.props("customSubDomainName").text(); was != "" && !strings.EqualFold(was, v.text()) {
			return refuse(BadRequest, "customSubDomainName", "subdomain of account "+r.ID, strconv.Quote(v.text()), strconv.Quote(was)+", which was set once and for all", "keep it, or make another account")
		}
	}
	for _, pool := range []map[string]*Resource{s.Resources, s.External, s.SoftDeleted} {
		for _, key := range sortedKeys(pool) {
			other := pool[key]
			if !isType(other.Type, modelAccountType) || pool[key] == old || !strings.EqualFold(other.props("customSubDomainName").text(), v.text()) {
				continue
			}
			if _, gone := s.SoftDeleted[key]; gone && s.Now-other.DeletedAt >= nameRetention {
				continue
			}
			return refuse(CustomDomainInUse, "customSubDomainName", "subdomain of account "+r.ID, strconv.Quote(v.text())+", which "+other.ID+" has", "a name that no account in the world has, nor had in the last 48 hours", "pick a different name, or purge the deleted account")
		}
	}
	return nil
}

const cognitiveService = "Microsoft.CognitiveServices"

// maxAddressRules is how many addresses an account lets in (A464).
// https://learn.microsoft.com/azure/ai-services/cognitive-services-virtual-networks
const maxAddressRules = 100

// modelAccountNetwork: network rules belong to the account's own host name, let
// in public addresses and subnets with the service endpoint (A464).
func modelAccountNetwork(s State, r, old *Resource) *Error {
	subnets, addresses := r.props("networkAcls.virtualNetworkRules").list(), r.props("networkAcls.ipRules").list()
	named := !r.props("customSubDomainName").absent() || old != nil && !old.props("customSubDomainName").absent() || r.props("restore").flag()
	if !named && (len(subnets)+len(addresses) > 0 || r.props("networkAcls.defaultAction").text() == "Deny") {
		return refuse(BadRequest, "networkAcls", "network rules of account "+r.ID, "no customSubDomainName", "one, because the rules hold at the account's own host name", "set customSubDomainName")
	}
	for i, item := range subnets {
		path := fmt.Sprintf("networkAcls.virtualNetworkRules[%d].id", i)
		subnet, err := s.refer(r, path, item.get("id"), subnetType)
		if err != nil {
			return err
		}
		if subnet == nil || item.get("ignoreMissingVnetServiceEndpoint").flag() || subnet.props("serviceEndpoints").hasUnknown() || s.External[Key(subnet.ID)] != nil {
			continue
		}
		if !slices.ContainsFunc(subnet.props("serviceEndpoints").list(), func(e value) bool { return e.get("service").text() == cognitiveService }) {
			return refuse(BadRequest, path, "SubnetsHaveNoServiceEndpointsConfigured: networks of account "+r.ID, subnet.ID+" without an endpoint for "+cognitiveService, "that service among its serviceEndpoints", "add it to the subnet first, or use a private endpoint")
		}
	}
	if len(addresses) > maxAddressRules {
		return refuse(BadRequest, "networkAcls.ipRules", "addresses of account "+r.ID, strconv.Itoa(len(addresses)), "at most 100", "join ranges")
	}
	for i, item := range addresses {
		if v := item.get("value"); v.known() && !publicIPv4(v.text()) {
			return refuse(BadRequest, fmt.Sprintf("networkAcls.ipRules[%d]", i), "address of account "+r.ID, strconv.Quote(v.text()), "a public IPv4 address, or a block of them up to /30", "name single addresses without a mask, and let private ones in by an endpoint")
		}
	}
	return nil
}

// maxAccounts is how many accounts a subscription has in a region (A470).
// https://learn.microsoft.com/azure/ai-services/openai/quotas-limits
const maxAccounts = 30

func modelAccountCount(s State, r, old *Resource) *Error {
	region := root(r.Body).get("location").text()
	if old != nil || region == "" {
		return nil
	}
	count := 0
	for _, other := range s.Resources {
		if isType(other.Type, modelAccountType) && strings.EqualFold(SubscriptionOf(other.ID), SubscriptionOf(r.ID)) && root(other.Body).get("location").text() == Region(region) {
			count++
		}
	}
	if count < maxAccounts {
		return nil
	}
	return refuse(QuotaExceeded, "location", "account "+r.ID, fmt.Sprintf("number %d in %s", count+1, Region(region)), "at most 30 for each subscription and region", "use another region, or ask for more")
}

// modelAccountCalm: a private endpoint that is being made changes its account,
// which takes no other write until then (A484).
func modelAccountCalm(s State, r, _ *Resource) *Error {
	for _, e := range s.endpointsOf(topLevel(r.ID)) {
		if e.Provisioning == Creating {
			return refuse(RequestConflict, r.ID, "write to "+r.ID, "one while "+e.ID+" is being made, which changes the account", "one write at a time on an account and what is in it", "make one depend on the other")
		}
	}
	return nil
}

// modelAccountLink: a private endpoint leads to the account's own host name
// (A483), and to an account that nothing else is writing to (A466).
func modelAccountLink(s State, r, old, account *Resource) *Error {
	if old != nil {
		return nil
	}
	state := account.Provisioning
	if state == Succeeded && s.busy(Key(account.ID)) != nil {
		state = "Accepted"
	}
	if state != Succeeded {
		return refuse(AccountProvisioningInvalid, "privateLinkServiceId", "target of "+r.ID, account.ID+" in state "+state, "state Succeeded, with nothing in it being written", "let endpoint and deployments depend on one another")
	}
	if account.props("customSubDomainName").absent() {
		return refuse(BadRequest, "privateLinkServiceId", "target of "+r.ID, account.ID+" without customSubDomainName", "an account with a host name of its own, which the endpoint's address stands for", "set customSubDomainName")
	}
	return nil
}

// modelAccountInUse: an account goes alone only when it is empty (A469).
func modelAccountInUse(s State, r, with *Resource) *Error {
	if Key(r.ID) != Key(with.ID) {
		return nil
	}
	for _, child := range s.under(r.ID) {
		if isType(child.Type, deploymentType) && child.Provisioning != Deleting {
			return refuse(CannotDeleteResource, r.ID, "Cannot delete resource while nested resources exist: account "+r.ID, child.ID, "no deployments in it", "delete those first")
		}
	}
	return nil
}

// completeModelAccount adds addresses and defaults; the subdomain stays when a
// write leaves it out (A462), and a restored account is the one it was (A465).
func completeModelAccount(s State, r, old *Resource) {
	if gone := s.deletedAccount(r); old == nil && gone != nil && r.props("restore").flag() {
		r.Body, r.Born, r.Generation = copyBody(gone.Body), gone.Born, gone.Generation+1
	}
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	delete(props, "restore") // write-only
	keep(r, old, "customSubDomainName")
	setDefault(props, "publicNetworkAccess", "Enabled")
	setDefault(props, "disableLocalAuth", false)
	if acls := object(props, "networkAcls"); acls != nil {
		setDefault(acls, "defaultAction", "Allow")
		setDefault(acls, "ipRules", []any{})
		setDefault(acls, "virtualNetworkRules", []any{})
	}
	props["dateCreated"], props["internalId"], props["isMigrated"] = made, strings.ReplaceAll(GUID(r, "internal"), "-", ""), false
	props["callRateLimit"] = map[string]any{}
	endpoint, endpoints := accountEndpoints(kindOfAccount(r).text(), strings.ToLower(r.props("customSubDomainName").text()), root(r.Body).get("location").text())
	props["endpoint"], props["endpoints"] = endpoint, endpoints
}

// accountEndpoints are the addresses of an account (A467): under its subdomain,
// or without one the region's, which take keys alone.
func accountEndpoints(kind, subdomain, region string) (endpoint string, endpoints map[string]any) {
	at := func(domain string) string {
		if subdomain == "" {
			return "https://" + region + ".api.cognitive.microsoft.com/"
		}
		return "https://" + subdomain + "." + domain + "/"
	}
	endpoint, endpoints = at("cognitiveservices.azure.com"), map[string]any{}
	if kind == "OpenAI" {
		endpoint = at("openai.azure.com")
	}
	if kind == "OpenAI" || kind == "AIServices" {
		for _, api := range []string{"OpenAI Language Model Instance API", "OpenAI Model Scaleset API", "OpenAI Moderations API", "OpenAI Realtime API"} {
			endpoints[api] = at("openai.azure.com")
		}
	}
	if kind == "AIServices" {
		endpoints["AI Foundry API"] = at("services.ai.azure.com")
	}
	endpoints["Token Service API"] = endpoint
	return endpoint, endpoints
}

// listAccountKeys answers the keys of an account, which has none to show when
// they are turned off (A468).
func listAccountKeys(_ State, r *Resource) (map[string]any, *Error) {
	if r.props("disableLocalAuth").flag() {
		return nil, refuse(BadRequest, r.ID, "Failed to list key. disableLocalAuth is set to be true: account "+r.ID, "a call for keys", "tokens of Entra ID instead", "give the caller a role")
	}
	return map[string]any{"key1": secretKey(r, "key1"), "key2": secretKey(r, "key2")}, nil
}

// secretKey is a key that Azure made: 32 hexadecimal digits.
func secretKey(r *Resource, name string) string {
	return strings.ReplaceAll(GUID(r, name), "-", "")
}
