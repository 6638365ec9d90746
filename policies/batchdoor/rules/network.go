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
			to := s.leads(st, c.Resource)
			if !to.known {
				c.Undecided(to.unclear, "connections and targets that are known")
				return
			}
			if !to.batch {
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

// targets are the model accounts that a private endpoint leads to.
type targets struct {
	batch, sync bool
	known       bool
	unclear     propvalue.Value // unless known
}

// leads tells where the connections of an endpoint lead.
func (s *settings) leads(st *policypack.Stack, endpoint *policypack.Resource) targets {
	to := targets{known: true}
	doubt := func(v propvalue.Value) { to.known, to.unclear = false, v }
	for _, property := range []string{"privateLinkServiceConnections", "manualPrivateLinkServiceConnections"} {
		connections, state := endpoint.Get(property).Items()
		if state == propvalue.Unknown || state == propvalue.Mistyped {
			doubt(endpoint.Get(property))
		}
		for _, connection := range connections {
			target := connection.At("privateLinkServiceId")
			text, state := target.Text()
			switch state {
			case propvalue.Known:
				if id, err := az.ParseID(text); err == nil && strings.EqualFold(id.Type, "Microsoft.CognitiveServices/accounts") {
					batch := like(s.BatchGroups, id.ResourceGroup)
					to.batch, to.sync = to.batch || batch, to.sync || !batch
				}
			case propvalue.Absent:
			default:
				accounts := st.Behind(endpoint, property, azure.Account)
				for _, account := range accounts {
					batch, sure := s.isBatch(st, account)
					if to.batch, to.sync = to.batch || batch, to.sync || !batch; !sure {
						doubt(target)
					}
				}
				if len(accounts) == 0 && len(st.Behind(endpoint, property)) == 0 {
					doubt(target)
				}
			}
		}
	}
	return to
}
