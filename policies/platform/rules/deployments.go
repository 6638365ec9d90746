package rules

import (
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// annotated are the filters that only mark what they find in Azure's own policy
// too.
// https://learn.microsoft.com/azure/ai-foundry/openai/concepts/default-safety-policies
var annotated = []string{"protected material code"}

// deployments are the rules of model deployments and their content filters.
func deployments(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "AOA-07", Severity: policypack.High,
			Title:     "Models are approved and their version is pinned",
			Rationale: "A default version moves, and with it what was approved and what can be reproduced.",
			Remedy:    `Take an approved model, set properties.model.version, and set properties.versionUpgradeOption to "NoAutoUpgrade".`,
			Controls:  []string{"MCSB AI-1", "Azure Policy aafe3651-cb78-4f68-9f81-e7e41509110f"},
			Sources:   []string{"https://learn.microsoft.com/azure/ai-services/openai/concepts/model-versions"},
			Types:     []string{azure.Deployment},
			Resource: func(c *policypack.Case) {
				name, version := c.At("properties.model.name"), c.At("properties.model.version")
				c.MustText(name, "an approved model: "+strings.Join(s.Models, ", "), func(n string) bool {
					v, _ := version.Text()
					return like(s.Models, n) || like(s.Models, n+"@"+v)
				})
				c.MustBeSet(version, "a version")
				c.Must(c.At("properties.versionUpgradeOption"), "NoAutoUpgrade")
			},
		},
		{
			ID: "AOA-08", Severity: policypack.High,
			Title:     "Deployments name a content filter, and no filter is weaker than Azure's own",
			Rationale: "A filter of one's own can silently let pass what the base filter blocks.",
			Remedy:    "Set properties.raiPolicyName; let every filter block, at Medium or Low.",
			Controls:  []string{"MCSB AI-1", "Azure Policy 930f48f9-f07e-427c-9494-52603581c6a9"},
			Sources:   []string{"https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter"},
			Types:     []string{azure.Deployment, azure.ContentFilter},
			Resource: func(c *policypack.Case) {
				if c.Type == azure.Deployment {
					c.MustBeSet(c.At("properties.raiPolicyName"), "the name of a content filter")
					return
				}
				filters, state := c.At("properties.contentFilters").Items()
				if state != propvalue.Known && state != propvalue.Absent { // absent: those of the base policy
					c.Undecided(c.At("properties.contentFilters"), "filters that are known")
				}
				for _, filter := range filters {
					c.MustIfSet(filter.At("enabled"), true)
					if name, _ := filter.At("name").Text(); !slices.Contains(annotated, strings.ToLower(name)) {
						c.MustIfSet(filter.At("blocking"), true)
					}
					c.MustIfSet(filter.At("severityThreshold"), "Medium", "Low")
				}
			},
		},
		{
			ID: "AOA-09", Severity: policypack.Medium,
			Title:     "Deployments say their capacity",
			Rationale: "A capacity that is left out is the smallest, and every job fails by it.",
			Remedy:    "Set sku.capacity, in thousands of tokens (a minute, or enqueued), or in units for provisioned SKUs.",
			Controls:  []string{"MCSB AM-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/ai-services/openai/quotas-limits"},
			Types:     []string{azure.Deployment},
			Resource: func(c *policypack.Case) {
				c.MustNumber(c.At("sku.capacity"), "above 0", func(n float64) bool { return n > 0 })
			},
		},
	}
}
