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

	FragmentServingToken = "serving-token" // only where models are served in the cluster
)

// Audience of the tokens that model accounts take.
const modelsAudience = "https://cognitiveservices.azure.com"

// meters are the two families of token policies with the paths whose tokens each
// counts. The first is for models of any make, yet counts nothing in what is
// neither a chat nor a response; the second is for the rest.
// https://learn.microsoft.com/azure/api-management/llm-token-limit-policy
// https://learn.microsoft.com/azure/api-management/azure-openai-token-limit-policy
var meters = []struct {
	family string
	paths  []string
}{{"llm", []string{chat, responses}}, {"azure-openai", []string{completions, embeddings}}}

// metered is a token policy in the family that counts what the call is.
func metered(policy func(family string) *Node) *Node {
	out := el("choose")
	for _, m := range meters {
		out.with(when(isOperation(m.paths...), policy(m.family)))
	}
	return out
}

// tokenLimitOf is the policy that holds a tenant to its plan.
func tokenLimitOf(p Plan) *Node {
	return metered(func(family string) *Node { return p.limit(family + "-token-limit") })
}

// limit is a policy of that name with the plan's limits. The tenant's name
// counts, so that a tenant has one allowance however it calls. Prompts are not
// estimated ahead: that would cost a tenant for calls that are refused.
func (p Plan) limit(name string) *Node {
	limit := el(name, "counter-key", "@("+variable("tenant")+")")
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

// Routes is the fragment with which plan may use which aliases, how many tokens
// an answer of an alias may have, and which deployments serve it, in the order in
// which they are tried, for each residency. A deployment is back end, kind, name.
func Routes(plans []Plan, aliases []routing.Alias, region string) Document {
	var grants, caps, routes []string
	for _, p := range plans {
		grants = append(grants, p.Name+"="+strings.Join(slices.Sorted(slices.Values(p.Aliases)), ","))
	}
	for _, a := range aliases {
		if a.MaxOutputTokens > 0 {
			caps = append(caps, a.Name+"="+strconv.Itoa(a.MaxOutputTokens))
		}
		for _, residency := range routing.Residencies {
			var hops []string
			for _, t := range a.For(residency, region) {
				hops = append(hops, t.Backend+","+string(t.Kind)+","+t.Deployment)
			}
			routes = append(routes, a.Name+"/"+string(residency)+"="+strings.Join(hops, "|"))
		}
	}
	return fragment(FragmentRoutes, setVariable("grants", table(grants)), setVariable("caps", table(caps)), setVariable("routes", table(routes)))
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

// ServingToken is the fragment that gets a token for models served in the cluster
// as the same identity.
func ServingToken(clientID, audience string) Document {
	return fragment(FragmentServingToken, el("authentication-managed-identity",
		"resource", audience, "client-id", clientID, "output-token-variable-name", "serving-token", "ignore-error", "false"))
}

// ServesOwn tells whether an alias has a model that is served in the cluster.
func (g Gateway) ServesOwn() bool {
	return slices.ContainsFunc(g.Aliases, func(a routing.Alias) bool {
		return slices.ContainsFunc(a.Targets, func(t routing.Target) bool { return t.Kind == routing.Ray })
	})
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
