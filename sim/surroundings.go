package sim

import (
	"slices"
	"strings"

	"onedoor/internal/az/rights"
	"onedoor/sim/core"
)

// Surroundings are what a subscription is like around the resources of a stack: no
// program declares it, and Azure answers for it. The zero value is a subscription
// that takes writes, in which everything is registered, nothing is offered and the
// caller owns all.
type Surroundings struct {
	// State is that of the subscription; "" is Enabled.
	State string
	// Tenant is that of the subscription; "" is the simulator's own.
	Tenant string
	// Unregistered are resource providers, as in "Microsoft.Compute".
	Unregistered []string
	// Models are those that regions offer.
	Models []OfferedModel
	// ModelsInUse are units that others than the stack hold, by "region/usage name"
	// as in WithModelQuota.
	ModelsInUse map[string]float64
	// Cores are the quotas of virtual CPUs by "region/family"; the families "cores"
	// and "lowPriorityCores" are those of a whole region.
	Cores map[string]Quota
	// Sizes are the sizes of virtual machines.
	Sizes []MachineSize
	// TakenNames are names that somebody else has, whatever the type.
	TakenNames []string
	// Permissions are what the caller may do at the subscription; nil is everything.
	Permissions []rights.Role
	// Administrators are the classic ones, as mail addresses.
	Administrators []string
}

// OfferedModel is a model that a region offers.
type OfferedModel struct {
	Region, Name, Version string
	SKUs                  []string
}

// Quota is how much may be used, and how much is.
type Quota struct{ Used, Limit int }

// MachineSize is a size of virtual machines in a region.
type MachineSize struct {
	Region, Name, Family string
	CPUs                 int
	Zones                []string
	// Restricted keeps it from the subscription; Closed does in some zones.
	Restricted bool
	Closed     []string
}

// WithSurroundings makes the subscription be like s.
func WithSurroundings(s Surroundings) Option { return func(c *Cloud) { c.around = s } }

// SeedDeleted adds resources that were deleted before, see core.SeedDeleted.
func (c *Cloud) SeedDeleted(resources ...core.Resource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = core.SeedDeleted(c.state, resources...)
}

// defaultTenant is what the subscription belongs to if nothing else is said.
const defaultTenant = "66666666-7777-8888-9999-000000000000"

func (s Surroundings) registered(namespace string) bool {
	return !slices.ContainsFunc(s.Unregistered, func(other string) bool { return strings.EqualFold(other, namespace) })
}

func (s Surroundings) taken(name string) bool {
	return slices.ContainsFunc(s.TakenNames, func(other string) bool { return strings.EqualFold(other, name) })
}
