package core

import (
	"maps"
	"strings"
	"time"
)

// where a type's location is.
type place int

const (
	inherited  place = iota // a child: none of its own
	regional                // a region, required
	global                  // "global", required
	noLocation              // may be given or not
)

// behaviour is what one ARM type adds to the generic behaviour.
type behaviour struct {
	// location says where the type lives.
	location place
	// create, update and remove are how long writes take (A002); zero means
	// that the answer itself is final.
	create, update, remove time.Duration
	// took is how long a write of r takes where that depends on what it is; old
	// is nil for a creation. It replaces create and update.
	took func(r, old *Resource) time.Duration
	// lock names what a write to id keeps others from writing; without it the
	// resource alone.
	lock func(id string) string
	// check refuses a write; r is the resource as it would become, old as it is
	// or nil.
	check []rule
	// complete adds defaults and service-made values to r.Body.
	complete func(s State, r, old *Resource)
	// after does what a write does to other resources.
	after func(s *State, r, old *Resource)
	// inUse refuses a deletion; with is what is deleted, r itself or something
	// above it.
	inUse func(s State, r, with *Resource) *Error
	// view adds what a GET shows of other resources.
	view func(s State, r *Resource, body map[string]any)
	// plain types have no provisioningState; etag types show one.
	plain, etag bool
	// prompt types have a provisioningState, and answer a write when it is done
	// all the same; changesPromptly types so answer updates by PATCH and
	// deletions alone (A082).
	prompt, changesPromptly bool
	// attached types do not wait for what they are attached to (A301).
	attached bool
	// busy is the code while a type with the same code holds the lock;
	// AnotherOperationInProgress if empty.
	busy Code
	// unready is the code for a child's write while the resource has not
	// Succeeded; ReferencedResourceNotProvisioned if empty.
	unready Code
	// gone does what a deletion does to other resources, just before it.
	gone func(s *State, r *Resource)
	// softDelete types can be recovered by name after deletion.
	softDelete bool
}

// rule is one pure refusal of a write.
type rule func(s State, r, old *Resource) *Error

// behaviours is the one table, by lower-case ARM type. It is filled by init
// because rules reach the table through behaviourOf.
var behaviours map[string]*behaviour

func init() {
	behaviours = map[string]*behaviour{
		groupType: {location: regional, remove: 30 * time.Second},

		"microsoft.network/virtualnetworks": {
			location: regional, create: 5 * time.Second, update: 5 * time.Second, remove: 10 * time.Second,
			check: []rule{networkSpace, networkSubnets}, complete: completeNetwork, after: networkChildren,
			view: viewNetwork, etag: true,
		},
		subnetType: {
			create: 4 * time.Second, update: 4 * time.Second, remove: 10 * time.Second, lock: ParentOf,
			check: []rule{subnetPrefixes, subnetDelegations, subnetReferences}, complete: completeSubnet,
			inUse: subnetInUse, view: viewSubnet, etag: true,
		},
		peeringType: {
			create: 10 * time.Second, update: 10 * time.Second, remove: 10 * time.Second, lock: ParentOf,
			check: []rule{peeringRemote}, complete: completePeering, view: viewPeering, etag: true,
		},
		nsgType: {
			location: regional, create: 5 * time.Second, update: 5 * time.Second, remove: 5 * time.Second,
			check: []rule{nsgRules}, complete: completeNSG, inUse: nsgInUse, view: viewNSG, etag: true,
		},
		"microsoft.network/applicationsecuritygroups": {
			location: regional, create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
			complete: completeGUID, etag: true,
		},
		routeTableType: {
			location: regional, create: 5 * time.Second, update: 5 * time.Second, remove: 5 * time.Second,
			check: []rule{routes}, complete: completeRoutes, inUse: routeTableInUse, view: viewRoutes, etag: true,
		},
		publicIPType: {
			location: regional, create: 5 * time.Second, update: 5 * time.Second, remove: 10 * time.Second,
			check: []rule{publicIPSku, publicIPFixed}, complete: completePublicIP, inUse: publicIPInUse, etag: true,
		},
		natType: {
			location: regional, create: 20 * time.Second, update: 20 * time.Second, remove: 20 * time.Second,
			check: []rule{natSku, natAddresses}, complete: completeNat, inUse: natInUse, view: viewNat, etag: true,
		},
		zoneType: {
			location: global, create: 30 * time.Second, update: 5 * time.Second, remove: 30 * time.Second,
			check: []rule{zoneName}, complete: completeZone, inUse: zoneInUse, view: viewZone, etag: true,
		},
		linkType: {
			location: global, create: 60 * time.Second, update: 30 * time.Second, remove: 60 * time.Second,
			check: []rule{linkNetwork}, complete: completeLink, view: viewLink, etag: true,
		},

		workspaceType: {
			location: regional, create: 30 * time.Second, update: 10 * time.Second, remove: 20 * time.Second,
			check: []rule{workspaceRetention, workspaceQuota}, complete: completeWorkspace, softDelete: true, etag: true,
		},
		componentType: {
			location: regional, create: 10 * time.Second, update: 5 * time.Second, remove: 5 * time.Second,
			check: []rule{componentWorkspace, componentSettings}, complete: completeComponent, after: expectFailureAnomalies, etag: true, prompt: true,
		},
		actionGroupType: {
			location: noLocation, create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
			check: []rule{actionGroupPlace, actionGroupReceivers}, complete: completeActionGroup, plain: true,
		},
		detectorType: {
			location: noLocation, create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
			check: []rule{detectorRule}, plain: true,
		},

		assignmentType: {
			location: noLocation, create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
			check: []rule{assignmentName, assignmentRole, assignmentPrincipal, assignmentFixed, assignmentUnique}, complete: completeAssignment, plain: true, attached: true,
		},
		definitionType: {
			location: noLocation, create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
			check: []rule{definitionName, definitionUnique, definitionScopes, definitionActions}, complete: completeDefinition, inUse: definitionInUse, plain: true, attached: true,
		},
		policyDefinitionType: {
			location: noLocation, create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
			check: []rule{policyUnderstood}, complete: completePolicyDefinition, inUse: policyInUse, plain: true,
		},
		policyAssignmentType: {
			location: noLocation, create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
			check: []rule{policyAssignable}, complete: completePolicyAssignment, plain: true,
		},
		identityType: {
			location: regional, create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
			check: []rule{identityName}, complete: completeIdentity, plain: true,
		},
		credentialType: {
			create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second, lock: ParentOf, busy: ConcurrentFederatedWrites,
			check: []rule{credentialFields, credentialUnique}, plain: true,
		},
		vaultType: {
			location: regional, create: 30 * time.Second, update: 5 * time.Second, remove: 5 * time.Second,
			check: []rule{vaultName, vaultFree, vaultProtection, vaultAccess}, complete: completeVault, after: recoverSecrets, view: viewConnections, softDelete: true,
		},
		secretType: {
			location: noLocation, create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
			check: []rule{secretFree}, complete: completeSecret, plain: true, softDelete: true,
		},
		registryType: {
			location: regional, create: 15 * time.Second, update: 10 * time.Second, remove: 10 * time.Second,
			check: []rule{registryFree, registryTier, registryExport, registryZones}, complete: completeRegistry, view: viewRegistry,
		},
		cacheRuleType: {
			create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
			check: []rule{cacheRuleUnique}, complete: completeCacheRule,
		},
		endpointType: {
			location: regional, create: 60 * time.Second, update: 30 * time.Second, remove: 30 * time.Second,
			check: []rule{endpointSubnet, endpointPlace, endpointConnections, endpointAddresses}, complete: completeLinks, etag: true,
		},
		zoneGroupType: {
			create: 10 * time.Second, update: 10 * time.Second, remove: 10 * time.Second, lock: ParentOf,
			check: []rule{zoneGroupZones}, after: writeRecords, gone: dropRecords, view: viewZoneGroup, etag: true,
		},
		recordType: {
			create: 5 * time.Second, update: 5 * time.Second, remove: 5 * time.Second,
			check: []rule{recordSet}, plain: true, etag: true,
		},
	}
}

func init() {
	maps.Copy(behaviours, aksTypes)
	maps.Copy(behaviours, busTypes)
	maps.Copy(behaviours, storageTypes)
	maps.Copy(behaviours, cognitiveTypes)
	maps.Copy(behaviours, gatewayTypes)
	maps.Copy(behaviours, monitorTypes)
}

// unmodelled is the behaviour of a type that has no row: types are checked, the
// parent must exist, and a write takes ten seconds.
var unmodelled = behaviour{location: noLocation, create: 10 * time.Second, update: 10 * time.Second, remove: 10 * time.Second}

func behaviourOf(typ string) *behaviour {
	if b, ok := behaviours[strings.ToLower(typ)]; ok {
		return b
	}
	return &unmodelled
}

// lockOf returns the lock of a write to id: always in Key form.
func (b *behaviour) lockOf(id string) string {
	if b.lock != nil {
		return Key(b.lock(id))
	}
	return Key(id)
}
