package rules

import (
	"strings"

	"onedoor/internal/az"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// network are the rules of the way to the batch account.
func network(s *settings) []policypack.Rule {
	return []policypack.Rule{{
		ID: "BAT-07", Severity: policypack.Critical,
		Title:     "Private endpoints of the batch account lie only in the control plane's subnet for them",
		Rationale: "The route is the last lock: whoever reaches the endpoint is one stolen token away from the batch door.",
		Remedy:    "Put the endpoint into the subnet that only the control plane reaches.",
		Controls:  []string{"MCSB NS-1", "MCSB NS-2"},
		Sources:   []string{"https://learn.microsoft.com/azure/private-link/private-endpoint-overview"},
		Types:     []string{azure.PrivateEndpoint},
		Stack: func(st *policypack.Stack, c *policypack.Case) {
			leads, known := s.leadsToBatch(st, c)
			if !known {
				return
			}
			if !leads {
				c.NotApplicable("the endpoint does not lead to a batch account")
				return
			}
			expected := "a subnet like " + strings.Join(s.BatchSubnets, " or ")
			id := c.At("subnet.id")
			text, state := id.Text()
			name := text[strings.LastIndex(text, "/")+1:]
			if state == propvalue.Unknown {
				if behind := st.Behind(c.Resource, "subnet", azure.Subnet); len(behind) == 1 {
					name, state = azure.NameOf(behind[0]).Text()
				}
			}
			switch {
			case state == propvalue.Unknown || state == propvalue.Mistyped:
				c.Undecided(id, expected)
			case !like(s.BatchSubnets, name):
				c.Fail(id, expected)
			default:
				c.Saw(id, expected)
			}
		},
	}}
}

// leadsToBatch tells whether a connection of the endpoint leads to a batch
// account. It reports when that is not known.
func (s *settings) leadsToBatch(st *policypack.Stack, c *policypack.Case) (leads, known bool) {
	known = true
	for _, property := range []string{"privateLinkServiceConnections", "manualPrivateLinkServiceConnections"} {
		connections, state := c.Get(property).Items()
		if state == propvalue.Unknown || state == propvalue.Mistyped {
			c.Undecided(c.Get(property), "connections that are known")
			known = false
		}
		for _, connection := range connections {
			target := connection.At("privateLinkServiceId")
			text, state := target.Text()
			switch state {
			case propvalue.Known:
				id, err := az.ParseID(text)
				leads = leads || (err == nil && strings.EqualFold(id.Type, "Microsoft.CognitiveServices/accounts") && like(s.BatchGroups, id.ResourceGroup))
			case propvalue.Absent:
			default:
				behind := st.Behind(c.Resource, property, azure.Account)
				for _, account := range behind {
					batch, sure := s.isBatch(st, account)
					if leads = leads || batch; !sure {
						c.Undecided(target, "a target that is known")
						known = false
					}
				}
				if len(behind) == 0 && len(st.Behind(c.Resource, property)) == 0 {
					c.Undecided(target, "a target that is known")
					known = false
				}
			}
		}
	}
	return leads, known
}
