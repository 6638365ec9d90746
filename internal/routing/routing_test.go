package routing_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/az/openai"
	"onedoor/internal/routing"
)

const home = "swedencentral"

// azure is a deployment called name.
func azure(name, sku, region string, priority int) routing.Target {
	known, _ := openai.Lookup(sku)
	return routing.Target{Backend: name, Kind: routing.Azure, SKU: sku, Region: region, Residency: known.Residency, Priority: priority}
}

func ray(name string, priority int) routing.Target {
	return routing.Target{Backend: name, Kind: routing.Ray, Region: home, Residency: routing.Regional, Priority: priority}
}

func external(name string, priority int) routing.Target {
	return routing.Target{Backend: name, Kind: routing.External, Residency: routing.Anywhere, Priority: priority}
}

func backends(targets []routing.Target) []string {
	names := []string{}
	for _, t := range targets {
		names = append(names, t.Backend)
	}
	return names
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		in     []routing.Target // in the wanted order
	}{
		"ProvisionedFirst": {"it is paid for already, wherever it is", []routing.Target{
			azure("b", "ProvisionedManaged", "westeurope", 9), azure("a", "Standard", home, 1)}},
		"OwnRegionFirst": {"near is fast, and one region's fault stays there", []routing.Target{
			azure("b", "GlobalStandard", home, 2), azure("a", "GlobalStandard", "westeurope", 1)}},
		"ThenPriority": {"alike but for it", []routing.Target{
			azure("b", "GlobalStandard", home, 1), azure("a", "GlobalStandard", home, 2)}},
		"ThenName": {"nothing else differs, and the order must not be chance", []routing.Target{
			azure("a", "GlobalStandard", home, 1), azure("b", "Standard", home, 1)}},
		"OthersLast": {"they have no priority", []routing.Target{
			azure("z", "GlobalStandard", "eastus2", 9), ray("a", 0), external("b", 0)}},
		"OthersByPriority": {"a priority puts them among what is paid by the token, behind what is paid already", []routing.Target{
			azure("z", "GlobalProvisionedManaged", "eastus2", 9), ray("y", 1), azure("x", "Standard", home, 2), external("w", 3), azure("a", "Standard", "westeurope", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := backends(c.in)
			random := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				random.Shuffle(len(c.in), func(i, j int) { c.in[i], c.in[j] = c.in[j], c.in[i] })
				assert.Equal(t, want, backends(routing.New("chat", home, c.in...).Targets), c.reason)
			}
		})
	}
}

func TestTheCallersTargetsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	given := []routing.Target{azure("b", "Standard", home, 2), azure("a", "Standard", home, 1)}
	routing.New("chat", home, given...)
	assert.Equal(t, []string{"b", "a"}, backends(given))
}

func TestATenantsTargetsKeepItsResidency(t *testing.T) {
	t.Parallel()
	alias := routing.New("chat", home,
		azure("home", "Standard", home, 1),
		azure("home-paid", "ProvisionedManaged", home, 1),
		azure("neighbour", "Standard", "westeurope", 1),
		azure("oversea", "Standard", "eastus2", 1),
		azure("zone", "DataZoneStandard", home, 2),
		azure("zone-neighbour", "DataZoneStandard", "westeurope", 2),
		azure("zone-oversea", "DataZoneStandard", "eastus2", 2),
		azure("global", "GlobalStandard", home, 3),
		ray("ray", 0),
		external("external", 0),
	)
	for name, c := range map[string]struct {
		residency routing.Residency
		region    string
		want      []string
	}{
		"Regional": {routing.Regional, home, []string{"home-paid", "home", "ray"}},
		"DataZone": {routing.DataZone, home, []string{"home-paid", "home", "zone", "neighbour", "zone-neighbour", "ray"}},
		"Global": {routing.Global, home, []string{
			"home-paid", "home", "zone", "global", "neighbour", "oversea", "zone-neighbour", "zone-oversea", "ray"}},
		"Anywhere": {routing.Anywhere, home, []string{ // outside Azure, too
			"home-paid", "home", "zone", "global", "neighbour", "oversea", "zone-neighbour", "zone-oversea", "external", "ray"}},
		"AnotherZone":  {routing.DataZone, "westus3", []string{"oversea", "zone-oversea"}},
		"OutsideZones": {routing.DataZone, "uksouth", []string{}},
		"Unknown":      {"", home, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, backends(alias.For(c.residency, c.region)))
		})
	}
}

// A wider residency never loses a target, whatever the deployment and wherever
// the gateway.
func TestAWiderResidencyAllowsMore(t *testing.T) {
	t.Parallel()
	regions := []string{home, "westeurope", "eastus2", "uksouth", "norwayeast"}
	for _, sku := range openai.Names(false) {
		for _, region := range regions {
			for _, gateway := range regions {
				alias := routing.New("chat", gateway, azure("a", sku, region, 1))
				count := 0
				for _, residency := range routing.Residencies {
					now := len(alias.For(residency, gateway))
					assert.GreaterOrEqual(t, now, count, "%s in %s from %s as %s", sku, region, gateway, residency)
					count = now
				}
				assert.Equal(t, 1, count)
			}
		}
	}
}
