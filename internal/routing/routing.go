// Package routing decides which deployments serve an alias, and in which order.
// It is arithmetic on plain values: it neither knows a gateway nor reads
// configuration.
package routing

import (
	"cmp"
	"slices"

	"onedoor/internal/az/openai"
)

// Residency is where a tenant's prompts may be processed, and what a target
// promises.
type Residency = openai.Residency

// The promises, from the narrowest to the widest.
const (
	Regional = openai.Regional
	DataZone = openai.DataZone
	Global   = openai.Global
	// Anywhere is what a service outside Azure promises, and what a tenant takes who
	// agreed to such services.
	Anywhere Residency = "anywhere"
)

// Residencies are all promises, the narrowest first.
var Residencies = append(slices.Clone(openai.Residencies), Anywhere)

// Kind says what a target is.
type Kind string

// The kinds.
const (
	Azure    Kind = "azure"    // a deployment of a model account
	External Kind = "external" // an OpenAI-compatible service outside Azure
	Ray      Kind = "ray"      // a model served in the platform's own cluster
)

// Target is one place that can answer for an alias.
type Target struct {
	Backend         string // id of the gateway's back end, unique
	Kind            Kind
	Account         string    // custom subdomain of the model account; Azure only
	Deployment      string    // what the target calls the model
	URL             string    // without a slash at the end; "/chat/completions" and its like follow
	SKU             string    // of the deployment; Azure only
	Region          string    // that it lies in; "" outside Azure
	Residency       Residency // the narrowest promise that it keeps
	Priority        int       // among targets alike the lower goes first; 0 sends what is not Azure to the end
	TokensPerMinute int       // that it can take; 0 where nobody says
}

// Alias is a name that callers give a model by.
type Alias struct {
	Name            string
	Targets         []Target // in the order in which they are tried
	MaxOutputTokens int      // the most that one answer may have; 0 leaves it to the model
}

// New is the alias with its targets in the order in which a gateway in region
// tries them: what is paid for already, then the own region, then by priority,
// then by name. What is not an Azure deployment comes last, unless it has a
// priority: it then stands among the deployments that are paid by the token.
func New(name, region string, targets ...Target) Alias {
	sorted := slices.Clone(targets)
	slices.SortFunc(sorted, func(a, b Target) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)),
			cmp.Compare(distance(a, region), distance(b, region)),
			cmp.Compare(a.Priority, b.Priority),
			cmp.Compare(a.Backend, b.Backend),
		)
	})
	return Alias{Name: name, Targets: sorted}
}

// rank is the class of a target: the lower is tried first.
func rank(t Target) int {
	sku, _ := openai.Lookup(t.SKU)
	switch {
	case sku.Provisioned:
		return 0
	case t.Kind == Azure || t.Priority > 0:
		return 1
	default:
		return 2
	}
}

// distance is 0 in region and 1 elsewhere. What has no region is nowhere else.
func distance(t Target, region string) int {
	if t.Region == region || t.Region == "" {
		return 0
	}
	return 1
}

// For are the targets that a tenant of that residency may use through a gateway
// in region, in the order in which they are tried.
func (a Alias) For(residency Residency, region string) []Target {
	var out []Target
	for _, t := range a.Targets {
		if t.keeps(residency, region) {
			out = append(out, t)
		}
	}
	return out
}

// keeps tells whether the target processes only where the residency of a tenant
// in region allows.
func (t Target) keeps(residency Residency, region string) bool {
	switch residency {
	case Regional:
		return t.Residency == Regional && t.Region == region
	case DataZone:
		// A deployment that stays in its region stays in its zone, too.
		return t.keeps(Regional, region) || within(t.Residency, DataZone) && openai.SameDataZone(t.Region, region)
	case Global, Anywhere:
		return within(t.Residency, residency)
	default:
		return false
	}
}

// within tells whether promise a is as narrow as b, or narrower.
func within(a, b Residency) bool {
	return slices.Index(Residencies, a) <= slices.Index(Residencies, b)
}
