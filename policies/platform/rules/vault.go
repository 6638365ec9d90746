package rules

import (
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// vaults are the rules of Key Vault and the container registry.
func vaults(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "KV-01", Severity: policypack.High,
			Title:     "Vaults are private, governed by roles, and cannot be emptied at once",
			Rationale: "Access policies are outside the audit of roles; without purge protection a stolen role destroys every secret.",
			Remedy:    "Set enablePurgeProtection and enableRbacAuthorization to true, and publicNetworkAccess to \"Disabled\".",
			Controls:  []string{"MCSB DP-8", "CIS Azure 3.3.5", "CIS Azure 3.3.6", "Azure Policy 0b60c0b2-2dc2-4e1c-b5c9-abbed971de53", "Azure Policy 12d4fa5e-1f9f-4c21-97a9-b99b3c6611b5", "Azure Policy 405c5871-3e91-4644-8a63-58e19d68ff5b"},
			Sources:   []string{"https://learn.microsoft.com/azure/key-vault/general/best-practices"},
			Types:     []string{azure.Vault},
			Resource: func(c *policypack.Case) {
				c.Must(c.At("properties.enablePurgeProtection"), true)
				c.Must(c.At("properties.enableRbacAuthorization"), true)
				rbac, _ := c.At("properties.enableRbacAuthorization").Bool()
				action, _ := c.At("properties.networkAcls.defaultAction").Text()
				access, _ := c.At("properties.publicNetworkAccess").Text()
				if !strings.EqualFold(access, "Disabled") && s.excused(c, rbac, strings.EqualFold(action, "Deny")) {
					return
				}
				c.Must(c.At("properties.publicNetworkAccess"), "Disabled")
			},
		},
		{
			ID: "ACR-01", Severity: policypack.High,
			Title:     "The registry has no administrator's password and is private",
			Rationale: "What runs comes from the registry: whoever can push runs code beside the models.",
			Remedy:    `Set adminUserEnabled to false, take sku.name "Premium" and set publicNetworkAccess to "Disabled".`,
			Controls:  []string{"MCSB NS-2", "MCSB IM-1", "Azure Policy dc921057-6b28-4fbe-9b83-f7bec05db6c2", "Azure Policy 0fdf0491-d080-4575-b627-ad0e843cba0f"},
			Sources:   []string{"https://learn.microsoft.com/azure/container-registry/container-registry-private-link"},
			Types:     []string{azure.Registry},
			Resource: func(c *policypack.Case) {
				c.MustIfSet(c.At("adminUserEnabled"), false) // off unless set
				admin := c.At("adminUserEnabled")
				on, state := admin.Bool()
				entraOnly := admin.State() == propvalue.Absent || state == propvalue.Known && !on
				sku, tier := c.At("sku.name").Text()
				action, _ := c.At("networkRuleSet.defaultAction").Text()
				if !closed(c) && s.excused(c, entraOnly, tier == propvalue.Known && !strings.EqualFold(sku, "Premium") || strings.EqualFold(action, "Deny")) {
					return
				}
				c.Must(c.At("publicNetworkAccess"), "Disabled")
			},
		},
	}
}
