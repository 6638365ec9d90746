package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	gatewayType         = "microsoft.apimanagement/service"
	apiType             = "microsoft.apimanagement/service/apis"
	operationType       = "microsoft.apimanagement/service/apis/operations"
	apiPolicyType       = "microsoft.apimanagement/service/apis/policies"
	operationPolicyType = "microsoft.apimanagement/service/apis/operations/policies"
	apiDiagnosticType   = "microsoft.apimanagement/service/apis/diagnostics"
	productType         = "microsoft.apimanagement/service/products"
	productAPIType      = "microsoft.apimanagement/service/products/apis"
	productLinkType     = "microsoft.apimanagement/service/products/apilinks"
	productPolicyType   = "microsoft.apimanagement/service/products/policies"
	keyType             = "microsoft.apimanagement/service/subscriptions"
	backendType         = "microsoft.apimanagement/service/backends"
	namedValueType      = "microsoft.apimanagement/service/namedvalues"
	gatewayLoggerType   = "microsoft.apimanagement/service/loggers"
	diagnosticType      = "microsoft.apimanagement/service/diagnostics"
	fragmentType        = "microsoft.apimanagement/service/policyfragments"
	userGroupType       = "microsoft.apimanagement/service/groups"
	gatewayPolicyType   = "microsoft.apimanagement/service/policies"
)

// gatewayTypes are the rows of API Management. Most of what is in a service is
// answered when it is done. Writes to one API and what is in it exclude one
// another (A523); nothing is written while the service itself is (A511, A515).
var gatewayTypes = map[string]*behaviour{
	gatewayType: {
		location: regional, remove: 10 * time.Minute, took: gatewayTook, busy: Conflict, unready: Conflict,
		check:    []rule{gatewayName, gatewayUnits, gatewayPlaces, gatewayNetwork, gatewayAddress, gatewayAccess},
		complete: completeGateway, after: gatewayBorn, gone: keepGateway, view: viewConnections, softDelete: true, etag: true,
	},
	apiType: {
		create: 5 * time.Second, update: 5 * time.Second, remove: 5 * time.Second, lock: apiOf, busy: PessimisticConcurrency,
		check: []rule{gatewayActive, apiPath, apiNamed, apiRevision}, complete: completeAPI, gone: dropLinks, changesPromptly: true,
	},
	operationType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second, lock: apiOf, busy: PessimisticConcurrency,
		check: []rule{gatewayActive, gatewayLimit, operationRoute, operationParameters}, complete: completeOperation, plain: true,
	},
	apiPolicyType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second, lock: apiOf, busy: PessimisticConcurrency,
		check: []rule{gatewayActive, gatewayPolicyName, policyText}, complete: completeGatewayPolicy, plain: true,
	},
	operationPolicyType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second, lock: apiOf, busy: PessimisticConcurrency,
		check: []rule{gatewayActive, gatewayPolicyName, policyText}, complete: completeGatewayPolicy, plain: true,
	},
	apiDiagnosticType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second, lock: apiOf, busy: PessimisticConcurrency,
		check: []rule{gatewayActive, diagnosticLogger}, complete: completeDiagnostic, plain: true,
	},
	productType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, gatewayLimit, productFields}, complete: completeProduct, after: productBorn, inUse: productInUse, plain: true,
	},
	productAPIType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, productLink}, plain: true,
	},
	productLinkType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, productLink}, plain: true,
	},
	productPolicyType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, gatewayPolicyName, policyText}, complete: completeGatewayPolicy, plain: true,
	},
	gatewayPolicyType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, gatewayPolicyName, policyText}, complete: completeGatewayPolicy, plain: true,
	},
	keyType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, gatewayLimit, keyScope, keyUnique}, complete: completeKey, view: viewKey, plain: true,
	},
	backendType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, backendSingle, backendPool, backendBreaker}, complete: completeBackend, inUse: backendInUse, plain: true,
	},
	namedValueType: {
		create: 3 * time.Second, update: 3 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, gatewayLimit, namedValueSource, namedValueUnique, namedValueVault}, complete: completeNamedValue, inUse: namedValueInUse, view: viewNamedValue, prompt: true,
	},
	gatewayLoggerType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, gatewayLimit, loggerTarget}, complete: completeLogger, after: loggerCredentials, inUse: loggerInUse, plain: true,
	},
	diagnosticType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, diagnosticLogger}, complete: completeDiagnostic, plain: true,
	},
	fragmentType: {
		create: 3 * time.Second, update: 3 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, policyText}, complete: completeGatewayPolicy, inUse: fragmentInUse, prompt: true,
	},
	userGroupType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{gatewayActive, userGroup}, complete: completeUserGroup, inUse: userGroupInUse, plain: true,
	},
}

// invalidField refuses as API Management does for what is wrong in itself.
func invalidField(target, what, got, want, remedy string) *Error {
	return refuse(ValidationError, target, "One or more fields contain incorrect values: "+what, got, want, remedy)
}

// gatewayTier is what a tier of API Management has.
type gatewayTier struct {
	// family is what a service changes its tier within (A509).
	family string
	// least and most are its units (A500).
	least, most float64
	// networks are the virtual network types beside None (A504).
	networks []string
	// zones, regions and endpoints say whether it has availability zones, more
	// regions (A508), and private endpoints (A514).
	zones, regions, endpoints bool
	// activation and change are how long it takes to make and to change (A510).
	activation, change time.Duration
	// limits are how many there may be of a type (A567).
	limits map[string]int
}

const (
	classic     = "classic"
	version2    = "v2"
	consumption = "Consumption"

	developer = "Developer"
	noNetwork = "None"
	external  = "External"
	internal  = "Internal"
)

// limitsOf makes the limits of a tier.
// https://learn.microsoft.com/azure/api-management/service-limits
func limitsOf(operations, namedValues, loggers, products, keys int) map[string]int {
	return map[string]int{operationType: operations, namedValueType: namedValues, gatewayLoggerType: loggers, productType: products, keyType: keys}
}

var (
	injected = []string{external, internal}

	smallLimits    = limitsOf(3000, 5000, 100, 100, 10000)
	basicLimits    = limitsOf(10000, 5000, 100, 200, 15000)
	standardLimits = limitsOf(50000, 10000, 200, 500, 25000)
	premiumLimits  = limitsOf(75000, 18000, 400, 2000, 75000)
)

// gatewayTiers is the table of tiers.
// https://learn.microsoft.com/azure/api-management/api-management-features
var gatewayTiers = map[string]gatewayTier{
	consumption: {family: consumption, activation: time.Minute, change: time.Minute, limits: smallLimits},
	developer: {
		family: classic, least: 1, most: 1, networks: injected, endpoints: true, activation: 35 * time.Minute, change: 15 * time.Minute, limits: smallLimits,
	},
	"Basic":    {family: classic, least: 1, most: 2, endpoints: true, activation: 30 * time.Minute, change: 15 * time.Minute, limits: basicLimits},
	"Standard": {family: classic, least: 1, most: 4, endpoints: true, activation: 30 * time.Minute, change: 15 * time.Minute, limits: standardLimits},
	"Premium": {
		family: classic, least: 1, most: 99, networks: injected, zones: true, regions: true, endpoints: true,
		activation: 45 * time.Minute, change: 20 * time.Minute, limits: premiumLimits,
	},
	"BasicV2":    {family: version2, least: 1, most: 10, activation: 5 * time.Minute, change: 3 * time.Minute, limits: basicLimits},
	"StandardV2": {family: version2, least: 1, most: 10, networks: []string{external}, endpoints: true, activation: 5 * time.Minute, change: 3 * time.Minute, limits: standardLimits},
	"PremiumV2":  {family: version2, least: 1, most: 30, networks: injected, endpoints: true, activation: 10 * time.Minute, change: 5 * time.Minute, limits: premiumLimits},
}

func gatewaySku(gateway *Resource) string { return root(gateway.Body).get("sku.name").text() }

// tierOfGateway returns the tier of the service that id lies in; ok is false if
// the service or its tier is not known.
func (s State) tierOfGateway(id string) (tier gatewayTier, ok bool) {
	gateway := s.holder(id)
	if gateway == nil {
		return tier, false
	}
	tier, ok = gatewayTiers[gatewaySku(gateway)]
	return tier, ok
}

// gatewayActive: nothing in a service is written while the service itself is
// being made or changed, at whatever depth (A515).
func gatewayActive(s State, r, _ *Resource) *Error {
	gateway, ok := s.Find(topLevel(r.ID))
	if !ok || gateway.Provisioning == Succeeded || gateway.Provisioning == Failed {
		return nil
	}
	return refuse(Conflict, gateway.ID, "service of "+r.ID, gateway.ID+" in state "+gateway.Provisioning, "state Succeeded, because the service takes nothing while it is being activated or changed", "let everything in it depend on the service")
}

// gatewayLimit: a tier holds so many of each (A567).
func gatewayLimit(s State, r, old *Resource) *Error {
	tier, ok := s.tierOfGateway(r.ID)
	if old != nil || !ok {
		return nil
	}
	typ := strings.ToLower(r.Type)
	limit, count := tier.limits[typ], len(s.under(topLevel(r.ID), typ))
	if count < limit {
		return nil
	}
	return refuse(QuotaExceeded, "name", Name(r.Type)+" of "+topLevel(r.ID), fmt.Sprintf("%d and one more", count), fmt.Sprintf("at most %d in tier %s", limit, gatewaySku(s.holder(r.ID))), "use a higher tier, or drop some")
}

// siblings are the other live resources of r's type in its parent.
func (s State) siblings(r *Resource) []*Resource {
	return slices.DeleteFunc(s.under(ParentOf(r.ID), strings.ToLower(r.Type)), func(other *Resource) bool {
		return other.Provisioning == Deleting || strings.EqualFold(other.ID, r.ID)
	})
}

// uniqueField refuses a text that a sibling has in the same field, without
// regard to case.
func (s State) uniqueField(r *Resource, field string) *Error {
	v := r.props(field)
	if v.text() == "" {
		return nil
	}
	for _, other := range s.siblings(r) {
		if strings.EqualFold(other.props(field).text(), v.text()) {
			return invalidField(field, field+" of "+r.ID, strconv.Quote(v.text())+", which "+other.ID+" has", "one that no other has", "choose another one")
		}
	}
	return nil
}

// holds says whether text occurs in any string at or below v.
func holds(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text)
	case map[string]any:
		for _, item := range v {
			if holds(item, text) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return holds(item, text) })
	}
	return false
}

// holders are the resources of a service that hold text somewhere, except r.
func (s State) holders(r *Resource, text string) []*Resource {
	return slices.DeleteFunc(s.under(topLevel(r.ID)), func(other *Resource) bool {
		return Key(other.ID) == Key(r.ID) || other.Provisioning == Deleting || !holds(other.Body, text)
	})
}
