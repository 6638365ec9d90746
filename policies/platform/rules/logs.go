package rules

import (
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// logs are the rules of diagnostic settings.
func logs() []policypack.Rule {
	return []policypack.Rule{{
		ID: "OBS-01", Severity: policypack.High,
		Title:     "Doors, queues, vaults, registries and clusters log to a workspace",
		Rationale: "Without a log nobody can prove who called.",
		Remedy:    "Add a DiagnosticSetting with a workspace and the audit category group or all logs.",
		Controls:  []string{"MCSB LT-3", "Azure Policy 1b4d1c4e-934c-4703-944c-27c82c06bebb", "Azure Policy f8d36e2f-389b-4ee4-898d-21aeb69a0f45", "Azure Policy 245fc9df-fa96-4414-9a0b-3738c2f7341c"},
		Sources:   []string{"https://learn.microsoft.com/azure/azure-monitor/essentials/diagnostic-settings"},
		Types:     []string{azure.Account, azure.Gateway, azure.Bus, azure.Vault, azure.Registry, azure.Cluster},
		Stack:     func(st *policypack.Stack, c *policypack.Case) { logged(st, c, "") },
	}}
}

// logged demands a diagnostic setting of the resource with a workspace and an
// enabled log: of the category group, or of one of the categories, or any where
// group is "".
func logged(st *policypack.Stack, c *policypack.Case, group string, categories ...string) {
	expected := "a diagnostic setting with a workspace and logs"
	if group != "" {
		expected += " of " + strings.Join(append([]string{group}, categories...), " or ")
	}
	unclear := false
	for _, setting := range st.Of(azure.Diagnostics) {
		is, known := azure.Is(st, setting, "resourceUri", setting.Get("resourceUri"), c.Resource)
		unclear = unclear || !known
		if !is {
			continue
		}
		workspace := setting.Get("workspaceId")
		entries, state := setting.Get("logs").Items()
		if workspace.State() == propvalue.Absent || state == propvalue.Absent {
			continue
		}
		if unsure(state) {
			unclear = true
			continue
		}
		for _, entry := range entries {
			on, state := entry.At("enabled").Bool()
			category, _ := entry.At("category").Text()
			entryGroup, _ := entry.At("categoryGroup").Text()
			right := group == "" || strings.EqualFold(entryGroup, group) || strings.EqualFold(entryGroup, "allLogs") || slices.Contains(categories, category)
			if right && on && state == propvalue.Known {
				c.Saw(workspace, expected)
				return
			}
			unclear = unclear || unsure(state)
		}
	}
	if unclear {
		c.Undecidedf("", expected, "a diagnostic setting of the stack is not known enough")
		return
	}
	c.Failf("", "without one", expected)
}
