package rules

import (
	"maps"
	"regexp"
	"slices"
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
		Remedy:    "Take the issuer from the cluster's output, write the service account out, keep the audience " + audience + ", and leave the control plane's identity to its own account, the gateway's to none.",
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
			s.owns(st, c)
			s.issues(st, c)
		},
	}}
}

// owns judges the subject by whose identity it would act as.
func (s *settings) owns(st *policypack.Stack, c *policypack.Case) {
	identity := c.At("resourceName")
	name, state := identity.Text()
	if owner := azure.Owner(st, c.Resource, "resourceName", azure.Identity); state == propvalue.Unknown && owner != nil {
		name, state = azure.NameOf(owner).Text()
	}
	if state != propvalue.Known {
		c.Undecided(identity, "an identity that is known")
		return
	}
	for _, pattern := range slices.Sorted(maps.Keys(s.Subjects)) {
		if !like([]string{pattern}, name) {
			continue
		}
		own := s.Subjects[pattern]
		expected := "no subject: nothing in a cluster acts as an identity like " + pattern
		if len(own) > 0 {
			expected = strings.Join(own, " or ") + ", which alone may act as an identity like " + pattern
		}
		c.MustText(c.At("subject"), expected, func(text string) bool { return slices.Contains(own, text) })
	}
}

// issues judges the issuer. AKS gives every cluster of every customer one of the same
// form, so that a form tells nothing: it is compared with what the stack's own
// clusters issue, which a first preview knows by where the value comes from.
// https://learn.microsoft.com/azure/aks/use-oidc-issuer
func (s *settings) issues(st *policypack.Stack, c *policypack.Case) {
	issuer := c.At("issuer")
	expected := "the output oidcIssuerProfile.issuerURL of a cluster of this stack"
	if len(s.Issuers) > 0 {
		expected += ", or " + strings.Join(s.Issuers, " or ")
	}
	known := slices.Clone(s.Issuers)
	for _, cluster := range st.Of(azure.Cluster) {
		if own, state := cluster.Outputs.At("oidcIssuerProfile", "issuerURL").Text(); state == propvalue.Known {
			known = append(known, own)
		}
	}
	if issuer.State() == propvalue.Unknown && len(st.Behind(c.Resource, "issuer", azure.Cluster)) == 1 {
		c.Saw(issuer, expected)
		return
	}
	c.MustText(issuer, expected, func(text string) bool { return slices.Contains(known, text) })
}
