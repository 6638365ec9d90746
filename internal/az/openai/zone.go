package openai

// zone is a data zone.
type zone string

const (
	european zone = "EU" // processed in any member state
	american zone = "US" // processed anywhere in the United States
)

// zones are the data zones of regions. A region that is not here is in none, as
// are those of the United Kingdom, Norway and Switzerland: no member states. Some
// of these sell data zone deployments too, and where exactly they process is not
// said; an Asian zone is announced, and no region sells it yet (June 2026).
// https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/deployment-types
// https://learn.microsoft.com/azure/reliability/regions-list
var zones = map[string]zone{
	"austriaeast": european, "belgiumcentral": european, "denmarkeast": european, "francecentral": european, "francesouth": european,
	"germanynorth": european, "germanywestcentral": european, "italynorth": european, "northeurope": european, "polandcentral": european,
	"spaincentral": european, "swedencentral": european, "swedensouth": european, "westeurope": european,

	"centralus": american, "eastus": american, "eastus2": american, "northcentralus": american, "southcentralus": american,
	"westcentralus": american, "westus": american, "westus2": american, "westus3": american,
}

// InDataZone tells whether the region is part of a data zone.
func InDataZone(region string) bool {
	_, in := zones[region]
	return in
}

// SameDataZone tells whether the regions lie in one data zone.
func SameDataZone(a, b string) bool {
	zone, in := zones[a]
	return in && zones[b] == zone
}
