package stacks

import (
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"strings"

	"onedoor/components/gateway"
	"onedoor/internal/az"
	"onedoor/internal/az/openai"
	"onedoor/internal/routing"
)

// Tenants is the root key "tenants": by name, who may call models.
type Tenants map[string]Tenant

// Tenant is one team or product.
type Tenant struct {
	Owner             string           `json:"owner"`             // e-mail address of who answers for it
	Applications      []string         `json:"applications"`      // client ids of the Entra applications whose tokens speak for it; none leaves it its subscription key
	Plan              string           `json:"plan"`              // its limits and models
	Residency         openai.Residency `json:"residency"`         // where its prompts may be processed
	ExternalProviders bool             `json:"externalProviders"` // its prompts may leave Azure, for the services of the root key of this name; with residency global only
	MonthlyBudget     int              `json:"monthlyBudget"`     // US dollars a month at list prices; alerts tell when the pace of the last two days passes 80 % and 100 % of it, calls go on; 0 for none
	LogPrompts        bool             `json:"logPrompts"`        // keep its prompts and answers with the logs, for as long as these
	KeyGeneration     int              `json:"keyGeneration"`     // 0 to 99; raise it when a tenant that was removed comes back while the vault still holds its deleted key, and so the name of it
}

// master is the name of the subscription that opens every API of a service.
// https://learn.microsoft.com/azure/api-management/api-management-subscriptions
const master = "master"

const maxKeyGeneration = 99

// maxTenant leaves room for the names of a tenant's subscription and secrets.
const maxTenant = 40

func (t *Tenants) read(root, text string, report *problems) {
	readEntries(root, text, (*map[string]Tenant)(t), report)
}

func (t *Tenants) check(report *problems) {
	owner := map[string]string{} // of an application
	for _, name := range sortedKeys(*t) {
		tenant, key := (*t)[name], "tenants."+name
		checkName(report, key, name, maxTenant)
		if name == master {
			report.bad(key, nil, "another name: the key of all APIs, which every service has, is called so", "")
		}
		if parsed, err := mail.ParseAddress(tenant.Owner); err != nil || parsed.Address != tenant.Owner {
			report.bad(key+".owner", tenant.Owner, "a plain e-mail address: somebody must answer for its calls", "team@example.com")
		}
		for _, id := range tenant.Applications {
			if !az.IsGUID(id) {
				report.bad(key+".applications", id, "the client id of an Entra application, a GUID", "")
				continue
			}
			id = strings.ToLower(id)
			if other, taken := owner[id]; taken {
				report.bad(key+".applications", id, fmt.Sprintf("an application of its own: this one speaks for tenant %q, and a token must tell who calls", other), "")
			}
			owner[id] = name
		}
		switch tenant.Residency {
		case openai.Regional, openai.DataZone, openai.Global:
		default:
			report.bad(key+".residency", tenant.Residency, oneOf(openai.Residencies...), string(openai.Regional))
		}
		if tenant.ExternalProviders && tenant.Residency != openai.Global {
			report.bad(key+".externalProviders", tenant.ExternalProviders, "false with residency "+string(tenant.Residency)+": nobody says where a service outside Azure processes", "false")
		}
		if tenant.KeyGeneration < 0 || tenant.KeyGeneration > maxKeyGeneration {
			report.bad(key+".keyGeneration", tenant.KeyGeneration, between(0, maxKeyGeneration), "0")
		}
		if tenant.MonthlyBudget < 0 {
			report.bad(key+".monthlyBudget", tenant.MonthlyBudget, "an amount, or 0 for none", "0")
		}
	}
}

// reach is how far the tenant's calls may go.
func (t Tenant) reach() routing.Residency {
	if t.ExternalProviders {
		return routing.Anywhere
	}
	return t.Residency
}

// keys are how the tenants' keys are kept.
func (t Tenants) keys() map[string]gateway.Key {
	keys := map[string]gateway.Key{}
	for name, tenant := range t {
		keys[name] = gateway.Key{Owner: tenant.Owner, Generation: tenant.KeyGeneration}
	}
	return keys
}

// checkTenants refuses a plan that there is not, and one that sells a tenant a
// model which no deployment may serve it, and warns of providers that nobody's
// calls may reach.
func (c *Config) checkTenants(report *problems) {
	routes := c.routes()
	agreed := slices.ContainsFunc(slices.Collect(maps.Values(c.Tenants)), func(t Tenant) bool { return t.ExternalProviders })
	if len(c.External) > 0 && !agreed {
		c.warn("externalProviders", "no tenant has externalProviders set to true, so no call reaches them")
	}
	for _, name := range sortedKeys(c.Tenants) {
		tenant, key := c.Tenants[name], "tenants."+name
		plan, known := c.Plans[tenant.Plan]
		if !known {
			want := "the name of a plan below " + namespace + ":plans"
			if near := nearest(tenant.Plan, sortedKeys(c.Plans)); near != "" {
				want += fmt.Sprintf(", nearest is %q", near)
			}
			report.bad(key+".plan", tenant.Plan, want, "")
			continue
		}
		for _, alias := range plan.Aliases {
			if len(routes[alias].Targets) > 0 && len(routes[alias].For(tenant.reach(), c.Base.Location)) == 0 {
				report.bad(key+".residency", tenant.Residency, fmt.Sprintf("one that a deployment of alias %q keeps, which plan %q sells, from %s; add such a deployment, give the tenant another plan, or let it use externalProviders that serve the alias", alias, tenant.Plan, c.Base.Location), "")
			}
		}
	}
}
