package rules

import (
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// alerts are the rules of alerts.
func alerts() []policypack.Rule {
	return []policypack.Rule{{
		ID: "OBS-02", Severity: policypack.Medium,
		Title:     "Alerts are on, reach somebody and name their runbook",
		Rationale: "An alert without an action group is seen by nobody, and one without a runbook is one that nobody knows what to do about.",
		Remedy:    "Set an action group, and the address of a page as runbook in what the alert sends: webHookProperties, customProperties, or the annotation runbook_url.",
		Controls:  []string{"MCSB LT-3", "MCSB IR-2"},
		Sources:   []string{"https://learn.microsoft.com/azure/azure-monitor/alerts/action-groups"},
		Types:     []string{azure.MetricAlert, azure.QueryAlert, azure.ActivityAlert, azure.AnomalyAlert, azure.PrometheusAlerts},
		Resource: func(c *policypack.Case) {
			const page = "the address of a page"
			switch c.Type {
			case azure.MetricAlert:
				switchedOn(c, c.Get())
				eachAction(c, c.At("actions"), func(action propvalue.Value) {
					c.MustBeSet(action.At("actionGroupId"), "an action group")
					c.MustBeSet(action.At("webHookProperties", "runbook"), page)
				})
			case azure.QueryAlert:
				switchedOn(c, c.Get())
				c.MustBeSet(c.At("actions.actionGroups"), "an action group")
				c.MustBeSet(c.At("actions.customProperties.runbook"), page)
			case azure.ActivityAlert:
				switchedOn(c, c.Get())
				eachAction(c, c.At("actions.actionGroups"), func(action propvalue.Value) {
					c.MustBeSet(action.At("actionGroupId"), "an action group")
					c.MustBeSet(action.At("webhookProperties", "runbook"), page)
				})
			case azure.AnomalyAlert: // which carries no properties of ours
				c.Must(c.At("state"), "Enabled")
				c.MustBeSet(c.At("actionGroups.groupIds"), "an action group")
			case azure.PrometheusAlerts:
				eachRule(c, page)
			}
		},
	}}
}

// switchedOn judges what is on unless it says otherwise.
func switchedOn(c *policypack.Case, v propvalue.Value) { c.MustIfSet(v.At("enabled"), true) }

// eachAction calls judge with every action of an alert, of which there is one at least.
func eachAction(c *policypack.Case, list propvalue.Value, judge func(propvalue.Value)) {
	items, state := list.Items()
	switch {
	case unsure(state):
		c.Undecided(list, "actions that are known")
	case len(items) == 0:
		c.Fail(list, "an action group")
	}
	for _, item := range items {
		judge(item)
	}
}

// eachRule judges the alerts of a group of Prometheus rules; rules that only record
// tell nobody anything.
func eachRule(c *policypack.Case, page string) {
	switchedOn(c, c.Get())
	list := c.At("rules")
	rules, state := list.Items()
	if state != propvalue.Known {
		c.Undecided(list, "rules that are known")
	}
	alerting := false
	for _, rule := range rules {
		switch rule.At("alert").State() {
		case propvalue.Absent:
			continue
		case propvalue.Unknown:
			c.Undecided(rule.At("alert"), "known")
			continue
		}
		alerting = true
		switchedOn(c, rule)
		eachAction(c, rule.At("actions"), func(action propvalue.Value) {
			c.MustBeSet(action.At("actionGroupId"), "an action group")
		})
		c.MustBeSet(rule.At("annotations", "runbook_url"), page)
	}
	if !alerting {
		c.NotApplicable("the group has no alerts")
	}
}
