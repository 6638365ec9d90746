package rules

import (
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// patches are the rules of changes to parts of what other resources declare.
func patches(s *settings) []policypack.Rule {
	return []policypack.Rule{{
		ID: "PAT-01", Severity: policypack.High,
		Title:     "Patches change nothing but what is on the list, and never open a service",
		Rationale: "A patch comes after the resource was judged, and could undo what every other rule demands.",
		Remedy:    "Declare the property on the resource itself; or add its path to patches in the settings of SET-02, once it was reviewed.",
		Controls:  []string{"MCSB PV-2"},
		Sources:   []string{"https://datatracker.ietf.org/doc/html/rfc7386", "https://www.pulumi.com/registry/packages/kubernetes/how-to-guides/managing-resources-with-server-side-apply/"},
		Types:     []string{azure.Patch, "kubernetes:*Patch"},
		Resource: func(c *policypack.Case) {
			body := c.At("properties")
			if c.Type != azure.Patch {
				body = c.Get()
			}
			if body.Object() != propvalue.Known {
				c.Undecided(body, "a change that is known")
				return
			}
			s.leaves(c, body, "")
		},
	}}
}

// leaves judges every value that the patch sets.
func (s *settings) leaves(c *policypack.Case, v propvalue.Value, path string) {
	if v.Object() == propvalue.Known {
		for key, member := range v.Members() {
			s.leaves(c, member, strings.TrimPrefix(path+"."+key, "."))
		}
		return
	}
	switch {
	case v.State() == propvalue.Unknown: // it may be an object with more than its path says
		c.Undecided(v, "a change that is known")
	case strings.EqualFold(path, "properties.publicNetworkAccess"):
		c.Must(v, "Disabled")
	case !like(s.Patches, path):
		c.Fail(v, "one of "+strings.Join(append([]string{"properties.publicNetworkAccess to Disabled"}, s.Patches...), ", "))
	}
}
