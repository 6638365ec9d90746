package rules

import (
	"regexp"
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// Policies that count, in the general form and in the one for Azure OpenAI.
var (
	tokenLimits  = []string{"llm-token-limit", "azure-openai-token-limit"}
	tokenMetrics = []string{"llm-emit-token-metric", "azure-openai-emit-token-metric"}
	tokenChecks  = []string{"validate-azure-ad-token", "validate-jwt"}
)

// modelRoute finds routes of an inference API.
var modelRoute = regexp.MustCompile(`(?i)/(chat/completions|completions|embeddings|responses|models/)`)

// apis are the rules of the APIs that lead to models.
func apis() []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "GW-01", Severity: policypack.High,
			Title:     "Every model API limits tokens by consumer",
			Rationale: "Without a limit of its own one consumer uses up what all share. The limit can be overshot under load, so watch it too.",
			Remedy:    "Put llm-token-limit with a counter-key into the API's policy, or into that of every product.",
			Controls:  []string{"MCSB NS-2", "MCSB AI-6"},
			Sources:   []string{"https://learn.microsoft.com/azure/api-management/llm-token-limit-policy"},
			Types:     []string{azure.API},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				holds(st, c, "a token limit with a counter-key", func(e azure.Element) bool { return e.Attr("counter-key") != "" }, tokenLimits...)
			},
		},
		{
			ID: "GW-02", Severity: policypack.Medium,
			Title:     "Every model API counts tokens by consumer",
			Rationale: "Audit and charging need the consumer on every figure.",
			Remedy:    "Put llm-emit-token-metric with a dimension for the tenant or subscription into the API's policy.",
			Controls:  []string{"MCSB LT-3", "MCSB AI-6"},
			Sources:   []string{"https://learn.microsoft.com/azure/api-management/llm-emit-token-metric-policy"},
			Types:     []string{azure.API},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				holds(st, c, "token metrics with a dimension for the consumer", namesConsumer, tokenMetrics...)
			},
		},
		{
			ID: "GW-03", Severity: policypack.High,
			Title:     "The gateway calls models with its managed identity",
			Rationale: "A shared key at the gateway undoes the accounts' refusal of keys.",
			Remedy:    "Use authentication-managed-identity; take keys of services outside Azure from named values.",
			Controls:  []string{"MCSB IM-4", "MCSB IM-8", "Azure Policy c15dcc82-b93c-4dcb-9332-fbf121685b54"},
			Sources:   []string{"https://learn.microsoft.com/azure/api-management/azure-openai-api-authentication"},
			Types:     []string{azure.API},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				if !holds(st, c, "authentication-managed-identity", func(azure.Element) bool { return true }, "authentication-managed-identity") {
					return
				}
				headers, _, _ := elements(st, c.Resource, "set-header")
				for _, header := range headers {
					value := header.Child("value")
					if strings.EqualFold(header.Attr("name"), "api-key") && value.Text() != "" && !strings.Contains(value.Text(), "{{") {
						c.Failf("value of the policy", "a literal api-key", "no key in a policy")
					}
				}
			},
		},
		{
			ID: "GW-04", Severity: policypack.High,
			Title:     "The gateway checks who calls",
			Rationale: "A subscription key alone names a contract, not a caller, and can be passed on.",
			Remedy:    "Use validate-azure-ad-token, or validate-jwt, with the audience and the allowed clients.",
			Controls:  []string{"MCSB IM-1"},
			Sources:   []string{"https://learn.microsoft.com/azure/api-management/validate-azure-ad-token-policy"},
			Types:     []string{azure.API},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				holds(st, c, "a check of tokens with an audience", func(e azure.Element) bool {
					return len(e.Child("audiences").Children()) > 0
				}, tokenChecks...)
			},
		},
	}
}

// modelAPI tells whether an API leads to models: by its routes, by the document
// that it is made from, or by its address.
func modelAPI(st *policypack.Stack, api *policypack.Resource) bool {
	for _, operation := range azure.Children(st, api, "apiId", azure.APIOperation) {
		if template, _ := operation.Get("urlTemplate").Text(); modelRoute.MatchString("/" + template) {
			return true
		}
	}
	document, _ := api.Get("value").Text()
	path, _ := api.Get("path").Text()
	return modelRoute.MatchString(document) || strings.Contains(strings.ToLower(path), "openai")
}

// holds demands that an element which accept accepts applies to every call of a
// model API.
func holds(st *policypack.Stack, c *policypack.Case, expected string, accept func(azure.Element) bool, names ...string) bool {
	if !modelAPI(st, c.Resource) {
		c.NotApplicable("the API does not lead to models")
		return false
	}
	if unsure(c.At("apiId").State()) {
		c.Undecided(c.At("apiId"), "an id that is known")
		return false
	}
	found, unknown, err := elements(st, c.Resource, names...)
	if slices.ContainsFunc(found, accept) {
		c.Saw(c.At("apiId"), expected)
		return true
	}
	switch {
	case err != nil:
		c.Failf("value of the policy", err.Error(), expected)
	case unknown:
		c.Undecidedf("value of the policy", expected, "a policy of the API is not known")
	default:
		c.Failf("value of the policy", "without "+strings.Join(names, " or "), expected)
	}
	return false
}

// elements are the elements of the names that apply to every call of the API:
// those of its own policy and of the whole gateway, those of fragments that they
// include, and those that every product of the gateway has. unknown tells that a
// document is not known, err that one cannot be read.
func elements(st *policypack.Stack, api *policypack.Resource, names ...string) (found []azure.Element, unknown bool, err error) {
	sameService := func(r *policypack.Resource) bool { return azure.SameOwner(st, r, api, "serviceName", azure.Gateway) }
	read := func(policy *policypack.Resource) []azure.Element {
		doc, state, failed := azure.PolicyOf(policy)
		unknown = unknown || unsure(state)
		if failed != nil {
			err = failed
			return nil
		}
		out := doc.All(names...)
		for _, include := range doc.All("include-fragment") {
			for _, fragment := range st.Of(azure.PolicyFragment) {
				id, state := fragment.Get("id").Text()
				if state != propvalue.Known || !strings.EqualFold(id, include.Attr("fragment-id")) || !sameService(fragment) {
					continue
				}
				body, state, failed := azure.PolicyOf(fragment)
				unknown = unknown || unsure(state)
				if failed != nil {
					err = failed
				}
				out = append(out, body.All(names...)...)
			}
		}
		return out
	}
	for _, policy := range st.Of(azure.APIPolicy, azure.GlobalPolicy) {
		if sameService(policy) && (policy.Type == azure.GlobalPolicy || azure.SameOwner(st, policy, api, "apiId", azure.API)) {
			found = append(found, read(policy)...)
		}
	}
	if len(found) > 0 {
		return found, unknown, err
	}
	if required, state := api.Get("subscriptionRequired").Bool(); state == propvalue.Known && !required {
		return nil, unknown, err // no product applies
	}
	for _, policy := range st.Of(azure.ProductPolicy) {
		if !sameService(policy) {
			continue
		}
		one := read(policy)
		if len(one) == 0 {
			return nil, unknown, err
		}
		found = append(found, one...)
	}
	return found, unknown, err
}

// namesConsumer finds a dimension that tells consumers apart.
func namesConsumer(metric azure.Element) bool {
	for _, dimension := range metric.Children() {
		text := strings.ToLower(dimension.Attr("name") + " " + dimension.Attr("value"))
		for _, word := range []string{"tenant", "subscription", "consumer", "user"} {
			if dimension.Name() == "dimension" && strings.Contains(text, word) {
				return true
			}
		}
	}
	return false
}
