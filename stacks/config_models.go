package stacks

import (
	"fmt"
	"regexp"
	"strconv"

	"onedoor/components/models"
	"onedoor/internal/apimpolicy"
	"onedoor/internal/az/netplan"
	"onedoor/internal/az/openai"
	"onedoor/internal/routing"
)

// Models is the root key "models": by alias, the name that callers give a model
// by, what answers for it.
type Models map[string]Model

// Model is one alias.
type Model struct {
	Model           string                `json:"model"`           // in Azure's catalogue, as in "gpt-5.1"; "" where only others than Azure serve the alias
	Version         string                `json:"version"`         // pinned, as in "2025-11-13"
	ContentFilter   openai.Filter         `json:"contentFilter"`   // of its deployments
	MaxOutputTokens int                   `json:"maxOutputTokens"` // the most that an answer may have, up to 128000: the gateway lowers what callers ask for; 0 leaves it to the model
	Deployments     map[string]Deployment `json:"deployments"`     // by a short name: those that take synchronous calls
	Hops            []string              `json:"hops"`            // what else serves the alias, as in "ray:llama-8b": models of serving.models
	Batch           *BatchDeployment      `json:"batch"`           // that takes batch jobs; none without it
}

// Deployment is a deployment that takes synchronous calls.
type Deployment struct {
	SKU                string `json:"sku"`                // says where it processes and how it is paid
	Region             string `json:"region"`             // of its account; the stack's or another one
	Capacity           int    `json:"capacity"`           // units: of 1000 tokens per minute, or of provisioned throughput
	TokensPerMinute    int    `json:"tokensPerMinute"`    // provisioned only: what Azure's calculator says that the units give
	Priority           int    `json:"priority"`           // 0 to 100; of deployments alike the lower is tried first
	ReserveInteractive int    `json:"reserveInteractive"` // tokens per minute that queues leave to people
}

// BatchDeployment is a deployment that takes batch jobs. Its account is in the
// stack's region.
type BatchDeployment struct {
	SKU      string `json:"sku"`      // says where jobs may be processed
	Capacity int    `json:"capacity"` // units of 1000 enqueued tokens
}

const (
	// maxAlias keeps the names of deployments and back ends below Azure's 64
	// characters: an alias, a hyphen and a short name.
	maxAlias    = 30
	maxPriority = 100
)

var (
	// entryName is the form of the name of an alias, a plan, a tenant or a
	// provider: it becomes part of names in Azure.
	entryName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	// shortName is the form of a deployment's short name. Without a hyphen, the
	// last word of a deployment's name is always it.
	shortName = regexp.MustCompile(`^[a-z][a-z0-9]{0,19}$`)
	// modelWord is the form of models' names and versions.
	modelWord = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]{0,63}$`)
)

func (m *Models) read(root, text string, report *problems) {
	readEntries(root, text, (*map[string]Model)(m), report)
}

// checkName refuses a name that cannot be part of names in Azure.
func checkName(report *problems, key, name string, most int) {
	if !entryName.MatchString(name) || len(name) > most {
		report.bad(key, nil, fmt.Sprintf("a name of lower-case letters, digits and single hyphens, at most %d characters, that starts with a letter", most), "")
	}
}

func (m *Models) check(report *problems) {
	if len(*m) == 0 {
		report.bad("models", nil, "at least one alias: callers name models by it", "")
	}
	for _, alias := range sortedKeys(*m) {
		model, key := (*m)[alias], "models."+alias
		checkName(report, key, alias, maxAlias)
		if model.MaxOutputTokens < 0 || model.MaxOutputTokens > openai.MaxOutputTokens {
			report.bad(key+".maxOutputTokens", model.MaxOutputTokens, between(1, openai.MaxOutputTokens)+" tokens, or 0 to leave it to the model", "0")
		}
		if len(model.Deployments) > 0 || model.Batch != nil {
			model.checkModel(report, key)
		}
		for _, name := range sortedKeys(model.Deployments) {
			model.Deployments[name].check(report, key+".deployments."+name, name, key)
		}
		if b := model.Batch; b != nil {
			if sku, known := openai.Lookup(b.SKU); !known || !sku.Batch {
				names := openai.Names(true)
				report.bad(key+".batch.sku", b.SKU, oneOf(names...)+", the SKUs that take batch jobs", names[0])
			}
			if b.Capacity < 1 {
				report.bad(key+".batch.capacity", b.Capacity, "at least 1 unit of 1000 enqueued tokens: Azure gives a forgotten capacity the least there is, and every job fails", "1000")
			}
		}
	}
}

// checkModel checks what the deployments of the alias have in common.
func (m Model) checkModel(report *problems, key string) {
	if !modelWord.MatchString(m.Model) {
		report.bad(key+".model", m.Model, "the name of a model in Azure's catalogue", "gpt-5.1")
	}
	if !modelWord.MatchString(m.Version) {
		report.bad(key+".version", m.Version, "a version: without one Azure would move the deployment to another by itself", "2025-11-13")
	}
	switch m.ContentFilter {
	case openai.Standard, openai.Strict:
	default:
		report.bad(key+".contentFilter", m.ContentFilter, oneOf(openai.FilterNames...), string(openai.Standard))
	}
}

// check checks one deployment of the alias at key alias.
func (d Deployment) check(report *problems, key, name, alias string) {
	if !shortName.MatchString(name) {
		report.bad(key, nil, "a short name of 1 to 20 lower-case letters and digits that starts with a letter: it becomes the end of the deployment's name", "")
	}
	sku, known := openai.Lookup(d.SKU)
	switch names := openai.Names(false); {
	case !known:
		report.bad(key+".sku", d.SKU, oneOf(names...), "GlobalStandard")
	case sku.Batch:
		report.bad(key+".sku", d.SKU, fmt.Sprintf("%s; a SKU that takes batch jobs belongs to %s.batch, in an account of its own", oneOf(names...), alias), "GlobalStandard")
	}
	if !shortLocation.MatchString(d.Region) {
		report.bad(key+".region", d.Region, "a region's short name, lower-case without blanks", "swedencentral")
	}
	if d.Priority < 0 || d.Priority > maxPriority {
		report.bad(key+".priority", d.Priority, between(0, maxPriority)+", the lower is tried first", "0")
	}
	if d.Capacity < 1 {
		report.bad(key+".capacity", d.Capacity, "at least 1 unit: Azure gives a forgotten capacity the least there is", "50")
		return
	}
	switch {
	case sku.Provisioned && d.TokensPerMinute < 1:
		report.bad(key+".tokensPerMinute", d.TokensPerMinute, "what Azure's capacity calculator says that the units give: plans and queues are measured by it", "")
		return
	case !sku.Provisioned && d.TokensPerMinute != 0:
		report.bad(key+".tokensPerMinute", d.TokensPerMinute, "nothing: only provisioned throughput needs it, else it is 1000 a unit of capacity", "0")
		return
	}
	if d.ReserveInteractive < 0 || d.ReserveInteractive > d.tokens() {
		report.bad(key+".reserveInteractive", d.ReserveInteractive, between(0, d.tokens())+", the deployment's tokens per minute", strconv.Itoa(d.tokens()/2))
	}
}

// tokens is how many tokens per minute the deployment takes.
func (d Deployment) tokens() int {
	if sku, _ := openai.Lookup(d.SKU); sku.Provisioned {
		return d.TokensPerMinute
	}
	return d.Capacity * openai.TokensPerUnit
}

// checkServed refuses aliases that nothing answers for and accounts that are too
// full, and warns of batch jobs that Azure may not take.
func (c *Config) checkServed(report *problems) {
	routes, deployments := c.routes(), map[string]int{}
	for _, alias := range sortedKeys(c.Models) {
		model := c.Models[alias]
		if len(routes[alias].Targets) == 0 && model.Batch == nil {
			report.bad("models."+alias+".deployments", nil, "at least one deployment, or a provider that serves the alias: nothing answers for it", "")
		}
		if n := len(routes[alias].Targets); n > apimpolicy.MaxTargets {
			report.bad("models."+alias+".deployments", n, fmt.Sprintf("at most %d deployments and providers together: a call is tried on each, and each try may take as long as the whole", apimpolicy.MaxTargets), "")
		}
		_, wrong := c.servedBy(model)
		for _, hop := range sortedKeys(wrong) {
			report.bad("models."+alias+".hops", hop, wrong[hop], "")
		}
		for _, name := range sortedKeys(model.Deployments) {
			d := model.Deployments[name]
			deployments[d.Region]++
			c.checkZone("models."+alias+".deployments."+name, d.SKU, d.Region)
		}
		if model.Batch != nil {
			c.checkZone("models."+alias+".batch", model.Batch.SKU, c.Base.Location)
		}
		if model.Batch != nil && !openai.TakesBatches(model.Model) {
			c.warn("models."+alias+".batch", "%q is not among the models that were known to take batch jobs in August 2026; if Azure does not take them yet, the deployment fails", model.Model)
		}
	}
	for _, region := range sortedKeys(deployments) {
		if n := deployments[region]; n > openai.MaxDeployments {
			report.bad("models", n, fmt.Sprintf("at most %d deployments in %s, Azure's limit for the account there", openai.MaxDeployments, region), "")
		}
	}
}

// checkZone warns of a deployment of a data zone in a region that is in none: no
// tenant of residency dataZone is served by it.
func (c *Config) checkZone(key, sku, region string) {
	if known, _ := openai.Lookup(sku); known.Residency == openai.DataZone && !openai.InDataZone(region) {
		c.warn(key+".sku", "%s processes in a data zone, and %s is in none that is known here: Azure may refuse it there, and tenants of residency %s are not served by it", sku, region, openai.DataZone)
	}
}

// routes are the aliases with what serves each, in the order in which the
// gateway tries it.
func (c *Config) routes() map[string]routing.Alias {
	targets := c.External.targets()
	scope := c.Scope()
	for alias, model := range c.Models {
		served, _ := c.servedBy(model)
		for _, name := range served {
			targets[alias] = append(targets[alias], c.rayTarget(name))
		}
		for name, d := range model.Deployments {
			sku, _ := openai.Lookup(d.SKU)
			account, deployment := models.AccountName(scope, d.Region), deploymentName(alias, name)
			targets[alias] = append(targets[alias], routing.Target{
				Backend: deployment, Kind: routing.Azure, Account: account, Deployment: deployment, URL: openai.URL(account),
				SKU: d.SKU, Region: d.Region, Residency: sku.Residency, Priority: d.Priority, TokensPerMinute: d.tokens(),
			})
		}
	}
	routes := map[string]routing.Alias{}
	for alias, list := range targets {
		route := routing.New(alias, c.Base.Location, list...)
		route.MaxOutputTokens = c.Models[alias].MaxOutputTokens
		routes[alias] = route
	}
	return routes
}

// deploymentName is the name of an alias's deployment, and of its back end.
func deploymentName(alias, name string) string { return alias + "-" + name }

// modelsArgs are what the configuration says about models.
func (c *Config) modelsArgs(p *platform) models.Args {
	args := models.Args{
		Scope: c.Scope(), Logs: p.base.Logs, Zones: p.network.Zones,
		Sync: models.Door{
			Group: p.base.Platform, Endpoints: p.network.Subnets[netplan.EndpointsModels],
			Caller: p.identity.Gateway, Role: p.identity.SyncOnly,
		},
		Batch: models.Door{
			Group: p.base.BatchDoor, Endpoints: p.network.Subnets[netplan.EndpointsBatch],
			Caller: p.identity.ControlPlane, Role: p.identity.BatchSubmitter,
		},
		Accounts: map[string][]models.Deployment{},
	}
	for _, alias := range sortedKeys(c.Models) {
		model := c.Models[alias]
		deployment := models.Deployment{Model: model.Model, Version: model.Version, Filter: model.ContentFilter}
		for _, name := range sortedKeys(model.Deployments) {
			d := model.Deployments[name]
			deployment.Name, deployment.SKU, deployment.Capacity, deployment.Reserve = deploymentName(alias, name), d.SKU, d.Capacity, d.ReserveInteractive
			args.Accounts[d.Region] = append(args.Accounts[d.Region], deployment)
		}
		if b := model.Batch; b != nil {
			deployment.Name, deployment.SKU, deployment.Capacity, deployment.Reserve = alias, b.SKU, b.Capacity, 0
			args.BatchJobs = append(args.BatchJobs, deployment)
		}
	}
	return args
}
