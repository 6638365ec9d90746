package rules

import (
	"fmt"
	"slices"
	"strings"

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
				own := slices.Concat(rights.Batch, rights.Stored)
				operation := reserved(role, own)
				for _, manage := range []string{rights.ListKeys, rights.AssignRole} {
					if operation == "" && role.Allows(manage, false) {
						operation = manage
					}
				}
				s.onlyFor(st, c, role, operation, s.ControlPlane, "the control plane", own)
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
					s.onlyFor(st, c, role, reserved(role, rights.Sync), s.Gateway, "the gateway", rights.Sync)
				}
			},
		},
	}
}

// roleAt is the role that the assignment gives at a batch account, or at a
// synchronous one. It reports when there is no such account, or when that is not
// known.
func (s *settings) roleAt(st *policypack.Stack, c *policypack.Case, batch bool) (role rights.Roles, applies bool) {
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
// batch accounts, also where the stack does not declare it. One that cannot be read may.
func (s *settings) namesAccount(c *policypack.Case, batch bool) azure.Reach {
	text, state := c.At("scope").Text()
	id, err := azure.ParseScope(text)
	switch {
	case state != propvalue.Known:
		return azure.Elsewhere
	case err != nil:
		return azure.Holds
	case like(s.BatchGroups, id.ResourceGroup) != batch:
		return azure.Elsewhere
	}
	if strings.HasPrefix(strings.ToLower(id.Type), "microsoft.cognitiveservices/accounts") || (batch && id.Type == "") {
		return azure.Holds
	}
	return azure.Elsewhere
}

// reserved is what of a role only the holder of the own operations may do, "" for
// nothing. Whatever does more than read is, also what is in no list here: Azure has
// operations that run models which neither door needs, and adds more.
func reserved(role rights.Roles, own []string) string {
	operation := role.First(own)
	if operation == "" && len(role.Beyond(rights.Read)) > 0 {
		return "more than reading on model accounts"
	}
	return operation
}

// onlyFor demands that a role which allows the operation is given to nobody but
// identities like allowed, and to them as a role that enumerates operations of their
// own.
func (s *settings) onlyFor(st *policypack.Stack, c *policypack.Case, role rights.Roles, operation string, allowed []string, who string, own []string) {
	if operation == "" {
		c.Saw(c.At("roleDefinitionId"), fmt.Sprintf("role %q, which allows nothing that is reserved", role[0].Name))
		return
	}
	expected := fmt.Sprintf("nobody but %s (%s): role %q allows %s", who, strings.Join(allowed, " or "), role[0].Name, operation)
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
		case len(role.Beyond(own...)) > 0 || role.Allows(rights.ListKeys, false) || role.Allows(rights.AssignRole, false):
			c.Failf("roleDefinitionId", fmt.Sprintf("the wide role %q", role[0].Name), "a role that enumerates the operations of "+who+", and holds no other on model accounts")
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
	for _, permission := range role {
		for _, pattern := range slices.Concat(permission.Actions, permission.DataActions) {
			if !rights.OnModels(pattern) {
				continue
			}
			touches = true
			if strings.Contains(pattern, "*") {
				bad(pattern, "operations listed one by one, without *")
			}
		}
	}
	if !touches {
		c.NotApplicable("the role holds nothing on model accounts")
		return
	}
	if role.Allows(rights.ListKeys, false) {
		bad(rights.ListKeys, "no operation that gives keys away")
	}
	operation := role.First(slices.Concat(rights.Batch, rights.Stored))
	if operation == "" {
		return
	}
	if others := role.Beyond(append([]string{rights.Read}, rights.Batch...)...); len(others) > 0 {
		bad(operation+" beside "+others[0], "batch and synchronous operations in roles of their own")
	}
	scopes, state := c.At("assignableScopes").Items()
	if state != propvalue.Known {
		c.Undecided(c.At("assignableScopes"), "scopes that are known")
		return
	}
	for _, scope := range scopes {
		c.MustText(scope, "a group of batch accounts ("+strings.Join(s.BatchGroups, " or ")+"), as the role allows "+operation, func(text string) bool {
			id, err := azure.ParseScope(text)
			return err == nil && like(s.BatchGroups, id.ResourceGroup)
		})
	}
}
