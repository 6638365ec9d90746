package rules

import (
	"fmt"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// storage are the rules of the containers that feed batch jobs.
func storage(s *settings) []policypack.Rule {
	return []policypack.Rule{{
		ID: "BAT-10", Severity: policypack.High,
		Title:     "Only the control plane and the batch account write the containers of batch jobs",
		Rationale: "Whoever writes the input of a job submits in the control plane's name; whoever reads the output sees every tenant's results.",
		Remedy:    "Remove the assignment, or scope it to another container.",
		Controls:  []string{"MCSB PA-7", "MCSB DP-8"},
		Sources:   []string{"https://learn.microsoft.com/azure/ai-services/openai/how-to/batch-blob-storage"},
		Types:     []string{azure.RoleAssignment},
		Stack: func(st *policypack.Stack, c *policypack.Case) {
			container := s.jobContainer(st, c)
			if container == nil {
				return
			}
			role, err := azure.RoleOf(st, c.Resource)
			if err != nil {
				c.Undecidedf("roleDefinitionId", "a role whose rights are known", "%v", err)
				return
			}
			if !role.Allows(azure.WriteBlobs, true) {
				c.NotApplicable("role %q does not write blobs", role[0].Name)
				return
			}
			expected := fmt.Sprintf("the control plane (%s) or a batch account: role %q writes blobs", strings.Join(s.ControlPlane, " or "), role[0].Name)
			principal, id := azure.Principal(st, c.Resource)
			switch {
			case principal == nil && id == propvalue.ShownUnknown:
				c.Undecided(c.At("principalId"), expected)
			case principal == nil:
				c.Failf("principalId", id, expected)
			case principal.Type == azure.Account:
				if batch, known := s.isBatch(st, principal); !known {
					c.Undecided(azure.GroupOf(principal), expected)
				} else if !batch {
					c.Failf("principalId", "the identity of a synchronous account", expected)
				}
			default:
				c.MustText(azure.NameOf(principal), expected, func(name string) bool { return like(s.ControlPlane, name) })
			}
		},
	}}
}

// jobContainer is a container of batch jobs at which the assignment holds. It
// reports when there is none, or when that is not known.
func (s *settings) jobContainer(st *policypack.Stack, c *policypack.Case) *policypack.Resource {
	unclear := false
	for _, container := range azure.Near(st, c.Resource, azure.BlobContainer) {
		name, state := azure.NameOf(container).Text()
		if state == propvalue.Known && !like(s.JobContainers, name) {
			continue
		}
		switch reach := azure.Covers(st, c.Resource, container); {
		case reach == azure.Holds && state == propvalue.Known:
			return container
		case reach != azure.Elsewhere:
			unclear = true
		}
	}
	if unclear {
		c.Undecided(c.At("scope"), "a scope that is known")
	} else {
		c.NotApplicable("the scope holds no container of batch jobs")
	}
	return nil
}
