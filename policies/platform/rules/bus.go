package rules

import (
	"strings"

	"onedoor/internal/policypack"
	"onedoor/policies/internal/azure"
)

// bus are the rules of Service Bus.
func bus(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "SB-01", Severity: policypack.High,
			Title:     "Queues take Entra tokens alone",
			Rationale: "A connection string cannot be tied to an identity, and gives all that its rule allows to whoever has it.",
			Remedy:    "Set disableLocalAuth to true.",
			Controls:  []string{"MCSB IM-1", "Azure Policy cfb11c26-f069-4c14-8e36-56c394dae5af", "Checkov CKV_AZURE_203"},
			Sources:   []string{"https://learn.microsoft.com/azure/service-bus-messaging/disable-local-authentication"},
			Types:     []string{azure.Bus},
			Resource:  func(c *policypack.Case) { c.Must(c.At("disableLocalAuth"), true) },
		},
		{
			ID: "SB-02", Severity: policypack.High,
			Title:     "The queues' namespace is private: Premium, closed, with a private endpoint",
			Rationale: "The Standard tier has no private endpoint; a closed namespace without one is reached by nobody.",
			Remedy:    `Take sku.name "Premium", set publicNetworkAccess to "Disabled" and add a private endpoint.`,
			Controls:  []string{"MCSB NS-2", "Azure Policy cbd11fd3-3002-4907-b6c8-579f0e700e13", "Azure Policy 1c06e275-d63d-4540-b761-71f364c2111d", "Checkov CKV_AZURE_204"},
			Sources:   []string{"https://learn.microsoft.com/azure/service-bus-messaging/private-link-service"},
			Types:     []string{azure.Bus},
			Stack:     s.privateBus,
		},
		{
			ID: "SB-03", Severity: policypack.Medium,
			Title:     "Nobody holds a key to queues",
			Rationale: "An authorization rule is a key for whoever has it; one of the namespace opens every queue.",
			Remedy:    "Remove the rule, and give identities a role at a queue. The rule that Azure makes itself does no harm where keys are off.",
			Controls:  []string{"MCSB PA-7", "Azure Policy a1817ec0-a368-432a-8057-8371e17ac6ee"},
			Sources:   []string{"https://learn.microsoft.com/azure/service-bus-messaging/service-bus-sas"},
			Types:     []string{azure.BusAuthRule, azure.BusQueueRule, azure.BusTopicRule},
			Stack:     withoutKeys,
		},
		{
			ID: "SB-04", Severity: policypack.Medium,
			Title:     "Queues use TLS 1.2, keep what expires, and drop what comes twice",
			Rationale: "Otherwise a job that expires is lost, and one that is sent again runs twice.",
			Remedy:    `Set minimumTlsVersion "1.2"; deadLetteringOnMessageExpiration and requiresDuplicateDetection true.`,
			Controls:  []string{"MCSB DP-3", "Checkov CKV_AZURE_205"},
			Sources:   []string{"https://learn.microsoft.com/azure/service-bus-messaging/duplicate-detection"},
			Types:     []string{azure.Bus, azure.BusQueue},
			Resource: func(c *policypack.Case) {
				if c.Type == azure.Bus {
					c.Must(c.At("minimumTlsVersion"), "1.2", "1.3")
					return
				}
				c.Must(c.At("deadLetteringOnMessageExpiration"), true)
				c.Must(c.At("requiresDuplicateDetection"), true)
			},
		},
	}
}

// rootRule is what Azure makes with every namespace.
const rootRule = "RootManageSharedAccessKey"

// withoutKeys judges an authorization rule: there is none, but for the one that Azure
// makes, and that one opens nothing.
func withoutKeys(st *policypack.Stack, c *policypack.Case) {
	if c.Type != azure.BusAuthRule {
		c.Fail(c.At("authorizationRuleName"), "no rule of a queue or topic")
		return
	}
	if !c.Must(c.At("authorizationRuleName"), rootRule) {
		return
	}
	bus := azure.Owner(st, c.Resource, "namespaceName", azure.Bus)
	if bus == nil {
		c.Undecided(c.At("namespaceName"), "a namespace of the stack, whose keys are off")
		return
	}
	c.Must(bus.Get("disableLocalAuth"), true)
}

// privateBus judges tier, access and endpoint together.
func (s *settings) privateBus(st *policypack.Stack, c *policypack.Case) {
	sku, access := c.At("sku.name"), c.At("publicNetworkAccess")
	tier, tierState := sku.Text()
	open, openState := access.Text()
	if unsure(tierState) || unsure(openState) {
		c.Undecided(sku, "a tier and an access that are known")
		return
	}
	closed, premium := strings.EqualFold(open, "Disabled"), strings.EqualFold(tier, "Premium")
	local, _ := c.At("disableLocalAuth").Bool()
	if !closed && s.excused(c, local, tier != "" && !premium) {
		return
	}
	c.Must(sku, "Premium")
	c.Must(access, "Disabled")
	hasEndpoint(st, c)
}

// hasEndpoint demands a private endpoint that leads to the resource.
func hasEndpoint(st *policypack.Stack, c *policypack.Case) {
	endpoints, unclear := endpointsOf(st, c.Resource)
	switch {
	case len(endpoints) > 0:
		c.Saw(azure.NameOf(endpoints[0]), "a private endpoint")
	case unclear:
		c.Undecidedf("", "a private endpoint", "where an endpoint of the stack leads is not known")
	default:
		c.Failf("", "without a private endpoint", "one")
	}
}
