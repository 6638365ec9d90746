package apimpolicy_test

import (
	"cmp"
	"slices"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/routing"
)

const (
	directory       = "66666666-7777-8888-9999-000000000000"
	audience        = "api://onedoor"
	acmeApp         = "aaaaaaaa-0000-0000-0000-000000000001"
	initechApp      = "aaaaaaaa-0000-0000-0000-000000000002"
	workerApp       = "bbbbbbbb-0000-0000-0000-000000000001"
	strangerApp     = "cccccccc-0000-0000-0000-000000000001"
	gatewayID       = "dddddddd-0000-0000-0000-000000000001"
	controlPlane    = "https://batch.onedoor.internal"
	servingAudience = "api://onedoor-serving"
	region          = "swedencentral"
)

// given is a gateway with three tenants, two plans and three aliases, the first
// with a limit of what it answers.
func given() apimpolicy.Gateway {
	g := apimpolicy.Gateway{
		Directory: directory, Audience: audience, ControlPlane: controlPlane, Region: region, Serving: servingAudience,
		Plans: []apimpolicy.Plan{
			{Name: "gold", TokensPerMinute: 20000, Quota: 5000000, Period: apimpolicy.Monthly, Aliases: []string{"gpt-4.1", "embed", "llama"}},
			{Name: "tin", TokensPerMinute: 100, Aliases: []string{"gpt-4.1"}},
		},
		Tenants: []apimpolicy.Tenant{
			{Name: "acme", Plan: "gold", Applications: []string{acmeApp}, Residency: routing.Regional},
			{Name: "initech", Plan: "gold", Applications: []string{initechApp}, Residency: routing.Global, LogPrompts: true},
			{Name: "hooli", Plan: "tin", Residency: routing.DataZone},
		},
		Aliases: []routing.Alias{
			routing.New("gpt-4.1", region,
				azure("east-gpt-41", "east", "gpt-41-global", "GlobalStandard", "eastus2", routing.Global),
				azure("sweden-gpt-41", "sweden", "gpt-41", "Standard", region, routing.Regional),
				azure("sweden-gpt-41-zone", "sweden", "gpt-41-zone", "DataZoneStandard", region, routing.DataZone),
			),
			routing.New("embed", region, azure("east-embed", "east", "embed", "GlobalStandard", "eastus2", routing.Global)),
			routing.New("llama", region, routing.Target{
				Backend: "ray-llama", Kind: routing.Ray, Deployment: "llama-3.3", URL: "https://serving.onedoor.internal/v1",
				Region: region, Residency: routing.Regional,
			}),
		},
	}
	g.Aliases[0].MaxOutputTokens = 1000
	return g
}

func azure(backend, account, deployment, sku, region string, residency routing.Residency) routing.Target {
	return routing.Target{
		Backend: backend, Kind: routing.Azure, Account: account, Deployment: deployment,
		URL: "https://" + account + ".openai.azure.com/openai/v1", SKU: sku, Region: region, Residency: residency,
	}
}

// documents are all documents of a gateway, by the names of their files.
func documents(g apimpolicy.Gateway) map[string]apimpolicy.Document {
	declared := &apimpolicy.Declared{}
	for _, d := range fragments(g) {
		declared.Fragments = append(declared.Fragments, d.Name)
	}
	out := map[string]apimpolicy.Document{"api": g.API(false), "api-logged": g.API(true)}
	for _, d := range fragments(g) {
		out["fragment-"+d.Name] = d
	}
	for _, p := range g.Plans {
		out["product-"+p.Name] = apimpolicy.Product(p)
	}
	for name, d := range out {
		d.Declared = declared
		out[name] = d
	}
	return out
}

func fragments(g apimpolicy.Gateway) []apimpolicy.Document {
	out := []apimpolicy.Document{
		apimpolicy.Tenants(g.Tenants), apimpolicy.Routes(g.Plans, g.Aliases, g.Region),
		apimpolicy.Workers([]string{workerApp}), apimpolicy.ModelsToken(gatewayID), apimpolicy.ServingToken(gatewayID, servingAudience),
		apimpolicy.Limits(g.Plans),
	}
	slices.SortFunc(out, func(a, b apimpolicy.Document) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
