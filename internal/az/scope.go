// Package az holds Azure's own rules: names, tags and ids. Each limit stands
// beside its source. What a subnet holds and who may talk to whom live in the
// packages netplan and flows below it.
package az

// Environment says how strict a stack is.
type Environment string

// The environments. Prod protects stateful resources and closes what dev
// leaves open for cost.
const (
	Dev  Environment = "dev"
	Prod Environment = "prod"
)

// Scope is what every resource of a stack has in common.
type Scope struct {
	Project        string      // Pulumi project, the first word of every name
	Stack          string      // Pulumi stack, the second word of every name
	Environment    Environment // decides protection
	SubscriptionID string      // GUID of the subscription that everything lives in
	Location       string      // region, as in "swedencentral"
	Generation     int         // raised to rebuild under new names while Azure reserves the old ones; from 1
	Owner          string      // team or address answerable for the stack
	CostCentre     string      // whom finance bills
}

// Protect tells whether stateful resources refuse deletion.
func (s Scope) Protect() bool { return s.Environment == Prod }
