package core

import (
	"maps"
	"time"
)

// State is everything the embedded Azure knows. It is a value: Apply and
// Advance return a new one and leave the one they were given as it was. Maps
// are copied on write and must not be changed by a reader; the resources they
// hold never change once stored.
type State struct {
	// Now is the virtual time since the state was made.
	Now time.Duration
	// Seq numbers operations in the order in which they were accepted.
	Seq int
	// Resources holds every live resource by Key(id).
	Resources map[string]*Resource
	// SoftDeleted holds resources that can still be recovered by name (A052).
	SoftDeleted map[string]*Resource
	// External holds resources that exist but belong to somebody else; see Seed.
	External map[string]*Resource
	// LateIdentityWebhook makes the webhook of workload identity come after KEDA's
	// operator, whatever the order of the writes.
	LateIdentityWebhook bool
	// Operations holds the running operations by their id.
	Operations map[string]*Operation
	// Events are things Azure will do by itself, such as A061.
	Events []Event
	// Births counts how often an id was created, so that a resource made again
	// under its old name gets new service-made ids, as in Azure.
	Births map[string]int
	// Objects holds the objects of managed clusters by ObjectKey.
	Objects map[string]*Object
	// ClosedTenant says that the directory holds no principals but the
	// identities of this state; a role for anybody else is refused (A304).
	ClosedTenant bool
	// BackgroundWrites lets AKS write to a new cluster by itself (A402).
	BackgroundWrites bool
	// ResetOmittedProfiles makes a write to a cluster reset the
	// workloadAutoScalerProfile that it leaves out (A405).
	ResetOmittedProfiles bool
	// ModelQuota is how many units the deployments of a subscription may have
	// together, by "region/usage name" such as
	// "swedencentral/OpenAI.GlobalStandard.gpt-4o"; what is not listed has no
	// limit, and nil limits nothing (A474).
	ModelQuota map[string]float64
}

// Resource is one ARM resource as stored. It is never changed after it was
// stored; an update stores another one.
type Resource struct {
	// ID is the resource id in the letter case of its first write (A010).
	ID string `json:"id"`
	// Type is the ARM type, such as "Microsoft.Network/virtualNetworks".
	Type string `json:"type"`
	// APIVersion is the version of the last write.
	APIVersion string `json:"apiVersion"`
	// Body is the stored body: location, tags, properties and so on, without
	// id, name, type and without views over other resources.
	Body map[string]any `json:"body"`
	// Etag changes with every write.
	Etag string `json:"etag"`
	// Generation counts writes, from 1.
	Generation int `json:"generation"`
	// Provisioning is the provisioningState: Creating, Updating, Deleting,
	// Succeeded or Failed.
	Provisioning string `json:"provisioning"`
	// Born is which creation under this id this is, from 1.
	Born int `json:"born"`
	// ByAzure is set on resources that Azure made by itself (A061).
	ByAzure bool `json:"byAzure,omitempty"`
	// Addresses are those that a private endpoint holds in its subnet, by member.
	Addresses map[string]string `json:"addresses,omitempty"`
	// DeletedAt is when a soft-deleted resource was deleted.
	DeletedAt time.Duration `json:"deletedAt,omitempty"`
}

// Operation is one accepted write.
type Operation struct {
	// ID names the operation; the HTTP endpoint puts it into its status URL.
	ID string `json:"id"`
	// Seq is its place in the order of acceptance, from 1.
	Seq int `json:"seq"`
	// Method is Put, Patch or Delete.
	Method Method `json:"method"`
	// Target is the id of the resource written.
	Target string `json:"target"`
	// Start and End are in virtual time.
	Start time.Duration `json:"start"`
	End   time.Duration `json:"end"`
	// Lock names what nobody else may write until End; see Behaviour.lock.
	Lock string `json:"lock,omitempty"`
	// Fail is set when the operation will end in failure.
	Fail *Error `json:"fail,omitempty"`
}

// Event is something Azure does by itself at a certain time.
type Event struct {
	At   time.Duration `json:"at"`
	Kind string        `json:"kind"`
	ID   string        `json:"id"`
}

// New returns an empty state.
func New() State {
	return State{
		Resources:   map[string]*Resource{},
		SoftDeleted: map[string]*Resource{},
		External:    map[string]*Resource{},
		Operations:  map[string]*Operation{},
		Births:      map[string]int{},
		Objects:     map[string]*Object{},
	}
}

// clone returns a state whose maps can be written without touching s.
func (s State) clone() State {
	s.Resources = maps.Clone(s.Resources)
	s.SoftDeleted = maps.Clone(s.SoftDeleted)
	s.External = maps.Clone(s.External)
	s.Operations = maps.Clone(s.Operations)
	s.Births = maps.Clone(s.Births)
	s.Objects = maps.Clone(s.Objects)
	s.Events = append([]Event(nil), s.Events...)
	return s
}

// Find returns the live resource with this id, in any letter case.
func (s State) Find(id string) (*Resource, bool) {
	r, ok := s.Resources[Key(id)]
	return r, ok
}

// Seed adds resources that exist outside the stack: networks to join, zones to
// link, workspaces to send to. They can be referred to and, if they are
// networks, get subnets; nothing deletes them (A014).
func Seed(s State, resources ...Resource) State {
	s = s.clone()
	for _, r := range resources {
		r.ID = Clean(r.ID)
		if r.Type == "" {
			r.Type = TypeOf(r.ID)
		}
		r.Provisioning = Succeeded
		s.External[Key(r.ID)] = &r
	}
	return s
}

// Leave removes a resource without any check. Previews use it for a resource
// that will have been replaced before its successor is made; a name that soft
// deletion keeps is kept here too (A329).
func Leave(s State, id string) State {
	s = s.clone()
	if r, ok := s.Find(id); ok {
		s.drop(r)
	}
	return s
}
