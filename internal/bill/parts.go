package bill

import (
	"fmt"

	"onedoor/internal/az/openai"
	"onedoor/internal/prices"
)

// part is something that a resource pays by the hour.
type part struct {
	what       string
	perHour    prices.USD
	known      bool // the table has its price
	idle, most int  // how many of it
}

// counter knows the prices, and the pools that are resources of their own.
type counter struct {
	table    *prices.Table
	pools    map[string]string // their VM sizes by their label
	separate map[string]bool   // by their name; a cluster that was read back lists them too
}

// parts are what a resource pays by the hour; none for what is paid by use.
func (c counter) parts(r Resource) []part {
	in := r.Inputs
	switch r.Kind {
	case "containerservice:ManagedCluster":
		parts := []part{c.fixed(prices.AKS, "Free", text(in, "sku", "tier"), 1)}
		for _, pool := range list(in, "agentPoolProfiles") {
			if !c.separate[text(pool, "name")] {
				parts = append(parts, c.nodes(pool))
			}
		}
		return parts
	case "containerservice:AgentPool":
		return []part{c.nodes(in)}
	case "apimanagement:ApiManagementService":
		return []part{c.fixed(prices.Gateway, "", text(in, "sku", "name"), number(in, 1, "sku", "capacity"))}
	case "servicebus:Namespace":
		return []part{c.fixed(prices.Bus, "Standard", text(in, "sku", "name"), number(in, 1, "sku", "capacity"))}
	case "containerregistry:Registry":
		return []part{c.fixed(prices.Registry, "", text(in, "sku", "name"), 1)}
	case "network:PrivateEndpoint":
		return []part{c.fixed(prices.PrivateEndpoint, "", "", 1)}
	case "network:PublicIPAddress":
		return []part{c.fixed(prices.PublicAddress, "", "", 1)}
	case "network:NatGateway":
		return []part{c.fixed(prices.NATGateway, "", "", 1)}
	case "network:PrivateZone":
		return []part{c.fixed(prices.DNSZone, "", "", 1)}
	case "core:Service":
		if text(in, "spec", "type") == "LoadBalancer" {
			return []part{c.fixed(prices.LoadBalancer, "", "", 1)}
		}
	case "cognitiveservices:Deployment":
		sku, known := openai.Lookup(text(in, "sku", "name"))
		if known && sku.Provisioned {
			units := number(in, 0, "sku", "capacity")
			price, priced := c.table.Provisioned(sku.Name)
			return []part{{fmt.Sprintf("%d units of %s", units, sku.Name), price.USD, priced, units, units}}
		}
	}
	return nil
}

// fixed is a part of the platform in a number of units.
func (c counter) fixed(kind prices.Kind, otherwise, sku string, units int) part {
	if sku == "" {
		sku = otherwise
	}
	what := string(kind)
	if sku != "" {
		what += " " + sku
	}
	if units > 1 {
		what = fmt.Sprintf("%d units of %s", units, what)
	}
	price, known := c.table.Fixed(kind, sku)
	return part{what, price.USD, known, units, units}
}

// nodes are those of a pool, between the fewest and the most.
func (c counter) nodes(pool map[string]any) part {
	idle := number(pool, 1, "count")
	most := idle
	if scales, _ := pool["enableAutoScaling"].(bool); scales {
		idle, most = number(pool, 0, "minCount"), number(pool, idle, "maxCount")
	}
	size := text(pool, "vmSize")
	price, known := c.table.VM(size)
	what := fmt.Sprintf("%d %s", idle, size)
	if most != idle {
		what = fmt.Sprintf("%d to %d %s", idle, most, size)
	}
	return part{what, price.USD, known || most == 0, idle, most}
}

// at is the value that a path leads to, nil where there is none.
func at(v any, path ...string) any {
	for _, key := range path {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

func text(inputs map[string]any, path ...string) string {
	s, _ := at(inputs, path...).(string)
	return s
}

// number is a number of the inputs, otherwise where there is none.
func number(inputs map[string]any, otherwise int, path ...string) int {
	if n, ok := at(inputs, path...).(float64); ok {
		return int(n)
	}
	return otherwise
}

// list are the objects of a list.
func list(inputs map[string]any, path ...string) []map[string]any {
	items, _ := at(inputs, path...).([]any)
	var out []map[string]any
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}
