package stacks

import (
	"fmt"
	"slices"
	"strings"

	"onedoor/internal/az"
)

// Policy is the root key "policy": Azure Policy, which holds whoever writes to the
// subscription by other means than this program.
type Policy struct {
	Assign bool        `json:"assign"` // false leaves definitions and assignments to others, who get them as JSON
	Guard  PolicyGuard `json:"guard"`
}

// PolicyGuard is the denial of batch deployments in the whole subscription.
type PolicyGuard struct {
	// BatchGroups are the ARM ids of every resource group of the subscription that
	// may hold batch deployments: this stack's and those of all other stacks. None
	// guards the stack's own groups alone. At most 400, Azure's limit of what an
	// assignment leaves out.
	BatchGroups []string `json:"batchGroups"`
}

var defaultPolicy = Policy{Assign: true}

// maxNotScopes is how many scopes an assignment can leave out.
// https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits#azure-policy-limits
const maxNotScopes = 400

func (p *Policy) check(report *problems) {
	if n := len(p.Guard.BatchGroups); n > maxNotScopes {
		report.bad("policy.guard.batchGroups", n, fmt.Sprintf("at most %d groups, what one assignment can leave out", maxNotScopes), "")
	}
	for _, id := range p.Guard.BatchGroups {
		checkID(report, "policy.guard.batchGroups", id, "")
	}
}

// checkGuard refuses a guard of the subscription that this stack's own batch
// account would run into, or that names groups elsewhere.
func (c *Config) checkGuard(report *problems) {
	groups := c.Policy.Guard.BatchGroups
	if len(groups) == 0 {
		return
	}
	own := c.Scope().GroupID(c.Scope().Name(az.ResourceGroup, "batch-door"))
	if !slices.ContainsFunc(groups, func(id string) bool { return strings.EqualFold(id, own) }) {
		report.bad("policy.guard.batchGroups", strings.Join(groups, ", "), "this stack's own batch group among them, or its deployments are refused: "+own, "")
	}
	for _, group := range groups {
		if id, err := az.ParseID(group); err == nil && !strings.EqualFold(id.SubscriptionID, c.Base.SubscriptionID) {
			report.bad("policy.guard.batchGroups", group, "groups of the stack's own subscription, "+c.Base.SubscriptionID+": the guard ends there", "")
		}
	}
}
