package rules

import (
	"fmt"
	"strings"

	"onedoor/internal/az"
	"onedoor/internal/az/rights"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

const rolesDocs = "https://learn.microsoft.com/azure/ai-services/openai/how-to/role-based-access-control"

// roles are the rules of who may do what on a model account.
func roles(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "BAT-03", Severity: policypack.Critical,
			Title:     "Only the control plane's identity may reach the batch account",
			Rationale: "A role that submits jobs, reads what others stored, lists keys or hands out roles is a way round the control plane.",
			Remedy:    "Remove the assignment; give the control plane, and nobody else, an enumerated role at the batch account.",
			Controls:  []string{"MCSB PA-7"},
			Sources:   []string{rolesDocs},
			Types:     []string{azure.RoleAssignment},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				role, applies := s.roleAt(st, c, true)
				if !applies {
					return
				}
				operation := role.First(append(append([]string{}, rights.Batch...), rights.Stored...))
				for _, manage := range []string{rights.ListKeys, rights.AssignRole} {
					if operation == "" && role.Allows(manage, false) {
						operation = manage
					}
				}
				s.onlyFor(st, c, role, operation, s.ControlPlane, "the control plane")
			},
		},
		{
			ID: "BAT-04", Severity: policypack.High,
			Title:     "Custom roles enumerate their operations, and only the control plane's has batch and file operations",
			Rationale: "A wildcard grows with every operation that Azure adds, and opens the door again.",
			Remedy:    "List the operations; keep batch and file operations in a role that can be assigned at the batch account alone.",
			Controls:  []string{"MCSB PA-7"},
			Sources:   []string{"https://learn.microsoft.com/azure/role-based-access-control/permissions/ai-machine-learning"},
			Types:     []string{azure.RoleDefinition},
			Resource:  s.enumerated,
		},
		{
			ID: "SYN-01", Severity: policypack.Critical,
			Title:     "Only the gateway's identity may call models",
			Rationale: "Any other caller is not metered, not limited and not in the audit.",
			Remedy:    "Remove the assignment; let the workload call the gateway.",
			Controls:  []string{"MCSB PA-7", "MCSB IM-3"},
			Sources:   []string{rolesDocs},
			Types:     []string{azure.RoleAssignment},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				if role, applies := s.roleAt(st, c, false); applies {
					s.onlyFor(st, c, role, role.First(rights.Sync), s.Gateway, "the gateway")
				}
			},
		},
	}
}

// roleAt is the role that the assignment gives at a batch account, or at a
// synchronous one. It reports when there is no such account, or when that is not
// known.
func (s *settings) roleAt(st *policypack.Stack, c *policypack.Case, batch bool) (role rights.Role, applies bool) {
	reach := s.namesAccount(c, batch)
	for _, account := range azure.Near(st, c.Resource, azure.Account) {
		is, known := s.isBatch(st, account)
		if known && is != batch {
			continue
		}
		at := azure.Covers(st, c.Resource, account)
		if at == azure.Holds && !known {
			at = azure.Unclear
		}
		if at == azure.Holds || reach == azure.Elsewhere {
			reach = at
		}
	}
	kind := map[bool]string{true: "batch", false: "synchronous"}[batch]
	switch reach {
	case azure.Elsewhere:
		c.NotApplicable("the scope holds no %s account", kind)
		return role, false
	case azure.Unclear:
		c.Undecided(c.At("scope"), "a scope that is known")
		return role, false
	}
	role, err := azure.RoleOf(st, c.Resource)
	if err != nil {
		c.Undecidedf("roleDefinitionId", "a role whose rights are known", "%v", err)
		return role, false
	}
	return role, true
}

// namesAccount tells whether the scope itself names an account, or the group of
// batch accounts, also where the stack does not declare it.
func (s *settings) namesAccount(c *policypack.Case, batch bool) azure.Reach {
	text, state := c.At("scope").Text()
	id, err := az.ParseID(text)
	if state != propvalue.Known || err != nil || like(s.BatchGroups, id.ResourceGroup) != batch {
		return azure.Elsewhere
	}
	if strings.HasPrefix(strings.ToLower(id.Type), "microsoft.cognitiveservices/accounts") || (batch && id.Type == "") {
		return azure.Holds
	}
	return azure.Elsewhere
}

// onlyFor demands that a role which allows the operation is given to nobody but
// identities like allowed, and to them as an enumerated role.
func (s *settings) onlyFor(st *policypack.Stack, c *policypack.Case, role rights.Role, operation string, allowed []string, who string) {
	if operation == "" {
		c.Saw(c.At("roleDefinitionId"), fmt.Sprintf("role %q, which allows nothing that is reserved", role.Name))
		return
	}
	expected := fmt.Sprintf("nobody but %s (%s): role %q allows %s", who, strings.Join(allowed, " or "), role.Name, operation)
	principal, id := azure.Principal(st, c.Resource)
	switch {
	case principal == nil && id == propvalue.ShownUnknown:
		c.Undecided(c.At("principalId"), expected)
	case principal == nil:
		c.Failf("principalId", id, expected)
	default:
		name, state := azure.NameOf(principal).Text()
		switch {
		case state != propvalue.Known:
			c.Undecided(azure.NameOf(principal), expected)
		case principal.Type != azure.Identity || !like(allowed, name):
			c.Failf("principalId", fmt.Sprintf("the identity of %s %s", principal.Type[strings.LastIndex(principal.Type, ":")+1:], azure.NameOf(principal).Shown()), expected)
		case role.Wide() || role.Allows(rights.ListKeys, false) || role.Allows(rights.AssignRole, false):
			c.Failf("roleDefinitionId", fmt.Sprintf("the wide role %q", role.Name), "a role that enumerates the operations of "+who)
		default:
			c.Saw(azure.NameOf(principal), expected)
		}
	}
}

// enumerated judges a custom role.
func (s *settings) enumerated(c *policypack.Case) {
	role, err := azure.Defined(c.Resource)
	if err != nil {
		c.Undecidedf("permissions", "actions that are known", "%v", err)
		return
	}
	bad := func(got, expected string) {
		if c.At("permissions").HoldsSecret() {
			got = propvalue.ShownSecret
		}
		c.Failf("permissions", got, expected)
	}
	touches := false
	for _, pattern := range append(append([]string{}, role.Actions...), role.DataActions...) {
		lower := strings.ToLower(pattern)
		models := strings.HasPrefix(lower, "microsoft.cognitiveservices/") || strings.HasPrefix(lower, "*") || strings.HasPrefix(lower, "microsoft.*")
		if !models {
			continue
		}
		touches = true
		if strings.Contains(pattern, "*") {
			bad(pattern, "operations listed one by one, without *")
		}
	}
	if !touches {
		c.NotApplicable("the role holds nothing on model accounts")
		return
	}
	if role.Allows(rights.ListKeys, false) {
		bad(rights.ListKeys, "no operation that gives keys away")
	}
	operation := role.First(append(append([]string{}, rights.Batch...), rights.Stored...))
	if operation == "" {
		return
	}
	if sync := role.First(rights.Sync); sync != "" {
		bad(operation+" beside "+sync, "batch and synchronous operations in roles of their own")
	}
	scopes, state := c.At("assignableScopes").Items()
	if state != propvalue.Known {
		c.Undecided(c.At("assignableScopes"), "scopes that are known")
		return
	}
	for _, scope := range scopes {
		c.MustText(scope, "a group of batch accounts ("+strings.Join(s.BatchGroups, " or ")+"), as the role allows "+operation, func(text string) bool {
			id, err := az.ParseID(text)
			return err == nil && like(s.BatchGroups, id.ResourceGroup)
		})
	}
}
