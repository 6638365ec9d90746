package apimpolicy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/apimpolicy/csharp"
	"onedoor/internal/routing"
)

// The names of the fragments.
const (
	FragmentLimits      = "limits"
	FragmentTenants     = "tenants"
	FragmentRoutes      = "routes"
	FragmentWorkers     = "workers"
	FragmentModelsToken = "models-token"
)

// Audience of the tokens that model accounts take.
const modelsAudience = "https://cognitiveservices.azure.com"

// tokenLimitOf is the policy that holds a tenant to its plan. The tenant's name
// counts, so that a tenant has one allowance however it calls. Prompts are not
// estimated ahead: that would cost a tenant for calls that are refused.
// https://learn.microsoft.com/azure/api-management/llm-token-limit-policy
func tokenLimitOf(p Plan) *Node {
	limit := el("llm-token-limit", "counter-key", "@("+variable("tenant")+")")
	if p.TokensPerMinute > 0 {
		limit.Attrs = append(limit.Attrs, Attr{"tokens-per-minute", strconv.Itoa(p.TokensPerMinute)})
	}
	if p.Quota > 0 {
		limit.Attrs = append(limit.Attrs, Attr{"token-quota", strconv.Itoa(p.Quota)}, Attr{"token-quota-period", string(p.Period)})
	}
	limit.Attrs = append(limit.Attrs,
		Attr{"estimate-prompt-tokens", "false"},
		Attr{"remaining-tokens-header-name", "x-ratelimit-remaining-tokens"})
	if p.Quota > 0 {
		limit.Attrs = append(limit.Attrs, Attr{"remaining-quota-tokens-header-name", "x-quota-remaining-tokens"})
	}
	return limit
}

// Limits is the fragment with the limits of every plan, for callers without a
// key: no product's policy runs for them.
func Limits(plans []Plan) Document {
	byPlan := el("choose")
	for _, p := range slices.SortedFunc(slices.Values(plans), func(a, b Plan) int { return cmp.Compare(a.Name, b.Name) }) {
		byPlan.with(when(variable("plan")+` == `+csharp.Quote(p.Name), tokenLimitOf(p)))
	}
	return fragment(FragmentLimits, byPlan)
}

// Tenants is the fragment with who the tenants are: their plan, residency and
// whether they agreed to be logged, and which applications call for them.
func Tenants(tenants []Tenant) Document {
	var records, applications []string
	for _, t := range tenants {
		logged := "-"
		if t.LogPrompts {
			logged = "logged"
		}
		records = append(records, t.Name+"="+t.Plan+","+string(t.Residency)+","+logged)
		for _, a := range t.Applications {
			applications = append(applications, strings.ToLower(a)+"="+t.Name)
		}
	}
	return fragment(FragmentTenants, setVariable("tenants", table(records)), setVariable("applications", table(applications)))
}

// Routes is the fragment with which plan may use which alias, and which
// deployments serve it, in the order in which they are tried, for each
// residency. A deployment is back end, kind, name.
func Routes(plans []Plan, aliases []routing.Alias, region string) Document {
	var grants, routes []string
	for _, p := range plans {
		for _, a := range p.Aliases {
			grants = append(grants, p.Name+"/"+a)
		}
	}
	for _, a := range aliases {
		for _, residency := range residencies {
			var hops []string
			for _, t := range a.For(residency, region) {
				hops = append(hops, t.Backend+","+string(t.Kind)+","+t.Deployment)
			}
			routes = append(routes, a.Name+"/"+string(residency)+"="+strings.Join(hops, "|"))
		}
	}
	return fragment(FragmentRoutes, setVariable("grants", table(grants)), setVariable("routes", table(routes)))
}

// Workers is the fragment with the applications that call for whoever posted the
// work: they, and nobody else, name the tenant in a header.
func Workers(applications []string) Document {
	return fragment(FragmentWorkers, setVariable("workers", table(applications)))
}

// ModelsToken is the fragment that gets a token for model accounts as the
// identity with that client id.
func ModelsToken(clientID string) Document {
	return fragment(FragmentModelsToken, el("authentication-managed-identity",
		"resource", modelsAudience, "client-id", clientID, "output-token-variable-name", "models-token", "ignore-error", "false"))
}

// table writes words, sorted, each between two semicolons, so that one can be
// looked up with both its ends.
func table(words []string) string {
	sorted := slices.Sorted(slices.Values(words))
	return ";" + strings.Join(append(sorted, ""), ";")
}

func fragment(name string, children ...*Node) Document {
	return Document{Name: name, Scope: FragmentScope, Text: el("fragment").with(children...).String()}
}

func setVariable(name, value string) *Node {
	return el("set-variable", "name", name, "value", value)
}
