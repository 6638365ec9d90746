package rules

import (
	"regexp"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// subject is a service account of Kubernetes, written out.
// https://learn.microsoft.com/azure/aks/workload-identity-overview
var subject = regexp.MustCompile(`^(system:serviceaccount:[a-z0-9]([a-z0-9-]*[a-z0-9])?:[a-z0-9]([a-z0-9.-]*[a-z0-9])?|repo:[^*?]+)$`)

// audience is the only one that Entra takes for workloads.
const audience = "api://AzureADTokenExchange"

// federation are the rules of federated credentials.
func federation(s *settings) []policypack.Rule {
	return []policypack.Rule{{
		ID: "ID-01", Severity: policypack.Critical,
		Title:     "Federated credentials trust this cluster, one service account, one audience",
		Rationale: "A subject or issuer that is too wide lets other workloads take the identity.",
		Remedy:    "Take the issuer from the cluster's output, write the service account out, and keep the audience " + audience + ".",
		Controls:  []string{"MCSB IM-3", "MCSB PA-7", "Azure Policy ae62c456-33de-4dc8-b100-7ce9028a7d99", "Azure Policy 2571b7c3-3056-4a61-b00a-9bc5232234f5"},
		Sources:   []string{"https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations"},
		Types:     []string{azure.Federation},
		Stack: func(st *policypack.Stack, c *policypack.Case) {
			c.MustText(c.At("subject"), "system:serviceaccount:<namespace>:<name> without wildcards", subject.MatchString)
			audiences := c.At("audiences")
			items, state := audiences.Items()
			switch {
			case unsure(state):
				c.Undecided(audiences, audience)
			case len(items) != 1:
				c.Fail(audiences, audience+" alone")
			default:
				c.Must(items[0], audience)
			}
			issuer := c.At("issuer")
			expected := "the issuer of a cluster of this stack, or one like " + strings.Join(s.Issuers, " or ")
			if issuer.State() == propvalue.Unknown && len(st.Behind(c.Resource, "issuer", azure.Cluster)) == 1 {
				c.Saw(issuer, expected)
				return
			}
			c.MustText(issuer, expected, func(text string) bool { return like(s.Issuers, text) })
		},
	}}
}
