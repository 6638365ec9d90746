package stacks

import (
	"fmt"
	"slices"

	"onedoor/internal/apimpolicy"
)

// Plans is the root key "plans": by name, what tenants buy.
type Plans map[string]Plan

// Plan is a set of limits. Each tenant of the plan has them for itself.
type Plan struct {
	TokensPerMinute int               `json:"tokensPerMinute"` // prompts and answers together, at least 1
	Quota           int               `json:"quota"`           // tokens in a period; 0 for none
	Period          apimpolicy.Period `json:"period"`          // of the quota, by the calendar in UTC
	Aliases         []string          `json:"aliases"`         // the models that its tenants may call
}

const maxPlan = 40

func (p *Plans) read(root, text string, report *problems) {
	readEntries(root, text, (*map[string]Plan)(p), report)
}

func (p *Plans) check(report *problems) {
	if len(*p) == 0 {
		report.bad("plans", nil, "at least one plan: nobody could call a model", "")
	}
	for _, name := range sortedKeys(*p) {
		plan, key := (*p)[name], "plans."+name
		checkName(report, key, name, maxPlan)
		if plan.TokensPerMinute < 1 {
			report.bad(key+".tokensPerMinute", plan.TokensPerMinute, "at least 1: without a limit one tenant could starve the others", "20000")
		}
		if plan.Quota < 0 {
			report.bad(key+".quota", plan.Quota, "a number of tokens, or 0 for none", "0")
		}
		switch {
		case plan.Quota == 0 && plan.Period != "":
			report.bad(key+".period", plan.Period, "nothing: there is no quota", "")
		case plan.Quota > 0 && !slices.Contains(apimpolicy.Periods, plan.Period):
			report.bad(key+".period", plan.Period, oneOf(apimpolicy.Periods...), string(apimpolicy.Monthly))
		}
		if len(plan.Aliases) == 0 {
			report.bad(key+".aliases", nil, "at least one alias: its tenants could call nothing", "")
		}
		seen := map[string]bool{}
		for _, alias := range plan.Aliases {
			if seen[alias] {
				report.bad(key+".aliases", alias, "each alias once", "")
			}
			seen[alias] = true
		}
	}
}

// checkPlans refuses aliases that there are not and plans that sell nothing at
// the gateway, and warns of one whose tenant could ask for more than its models
// give.
func (c *Config) checkPlans(report *problems) {
	for _, name := range sortedKeys(c.External) {
		for _, alias := range sortedKeys(c.External[name].Aliases) {
			c.checkAlias(report, "externalProviders."+name+".aliases", alias)
		}
	}
	routes := c.routes()
	for _, name := range sortedKeys(c.Plans) {
		plan, key := c.Plans[name], "plans."+name
		empty := true
		for _, alias := range slices.Sorted(slices.Values(plan.Aliases)) {
			targets := routes[alias].Targets
			if !c.checkAlias(report, key+".aliases", alias) || len(targets) > 0 {
				empty = false
			}
			sum, known := 0, len(targets) > 0
			for _, target := range targets {
				sum += target.TokensPerMinute
				known = known && target.TokensPerMinute > 0
			}
			if known && plan.TokensPerMinute > sum {
				c.warn(key+".tokensPerMinute", "one tenant may use %d tokens per minute, but the deployments of alias %q give %d to all: they will answer 429 before the plan does", plan.TokensPerMinute, alias, sum)
			}
		}
		if empty {
			report.bad(key+".aliases", nil, "at least one alias that takes synchronous calls: the gateway would offer the plan's tenants nothing", "")
		}
	}
}

// checkAlias tells whether there is such an alias, and refuses one that there is
// not.
func (c *Config) checkAlias(report *problems, key, alias string) bool {
	if _, known := c.Models[alias]; known {
		return true
	}
	want := "the name of an alias below " + namespace + ":models"
	if near := nearest(alias, sortedKeys(c.Models)); near != "" {
		want += fmt.Sprintf(", nearest is %q", near)
	}
	report.bad(key, alias, want, "")
	return false
}
