// Package openai holds the rules of Azure OpenAI: which kinds of deployment
// there are, where each processes what it is sent, which models take batch jobs,
// and how deployments, content filters and subdomains may look. It declares
// nothing.
package openai

import (
	"maps"
	"slices"
)

// Residency is a promise about where a prompt is processed. What is stored at
// rest stays in the account's geography with every one.
type Residency string

// The promises, from the narrowest to the widest.
const (
	Regional Residency = "regional" // in the account's region
	DataZone Residency = "dataZone" // in the account's data zone: member states of the EU, or the United States
	Global   Residency = "global"   // anywhere in Azure
)

// Residencies are all promises, the narrowest first.
var Residencies = []Residency{Regional, DataZone, Global}

// SKU is a kind of deployment.
type SKU struct {
	Name        string
	Residency   Residency
	Provisioned bool // throughput is bought ahead, in units; else by the token
	Batch       bool // takes batch jobs, and no synchronous call
}

// skus are the kinds of deployment of models that Azure sells. The developer
// tier is left out: it lives for a day and promises nothing.
// https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/deployment-types
var skus = byName(
	SKU{Name: "Standard", Residency: Regional},
	SKU{Name: "DataZoneStandard", Residency: DataZone},
	SKU{Name: "GlobalStandard", Residency: Global},
	SKU{Name: "ProvisionedManaged", Residency: Regional, Provisioned: true},
	SKU{Name: "DataZoneProvisionedManaged", Residency: DataZone, Provisioned: true},
	SKU{Name: "GlobalProvisionedManaged", Residency: Global, Provisioned: true},
	SKU{Name: "DataZoneBatch", Residency: DataZone, Batch: true},
	SKU{Name: "GlobalBatch", Residency: Global, Batch: true},
)

func byName(list ...SKU) map[string]SKU {
	out := map[string]SKU{}
	for _, s := range list {
		out[s.Name] = s
	}
	return out
}

// Lookup is the kind of deployment of that name.
func Lookup(name string) (SKU, bool) {
	s, known := skus[name]
	return s, known
}

// Names are the names of the kinds that take batch jobs, or of those that take
// synchronous calls, sorted.
func Names(batch bool) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(skus)) {
		if skus[name].Batch == batch {
			out = append(out, name)
		}
	}
	return out
}

// TokensPerUnit is what one unit of capacity stands for, but for provisioned
// throughput: tokens per minute, and enqueued tokens of a batch deployment.
// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/quota
const TokensPerUnit = 1000
