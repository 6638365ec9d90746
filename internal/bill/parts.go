package bill

import (
	"cmp"
	"fmt"

	"onedoor/internal/az/openai"
	"onedoor/internal/prices"
	"onedoor/internal/propvalue"
)

// part is something that a resource pays by the hour.
type part struct {
	what       string
	perHour    prices.USD
	priced     bool // the table has its price
	idle, most int  // how many of it
	sure       bool // that the plan says how many
}

// counter knows the prices, and the pools that are resources of their own.
type counter struct {
	table    *prices.Table
	pools    map[string]pool   // by their label
	separate map[string]bool   // by their name; a cluster that was read back lists them too
	asked    map[string]demand // by the label of the pool
}

// parts are what a resource pays by the hour; none for what is paid by use.
func (c counter) parts(r Resource) []part {
	in := r.Inputs
	switch r.Kind {
	case "containerservice:ManagedCluster":
		parts := []part{c.fixed(prices.AKS, "Free", in.At("sku", "tier"), propvalue.Value{})}
		pools, state := in.At("agentPoolProfiles").Items()
		if unsure(state) {
			parts = append(parts, part{what: "pools " + in.At("agentPoolProfiles").Shown()})
		}
		for _, pool := range pools {
			if !c.separate[text(pool.At("name"))] {
				parts = append(parts, c.nodes(pool))
			}
		}
		return parts
	case "containerservice:AgentPool":
		return []part{c.nodes(in)}
	case "apimanagement:ApiManagementService":
		return []part{c.fixed(prices.Gateway, "", in.At("sku", "name"), in.At("sku", "capacity"))}
	case "servicebus:Namespace":
		return []part{c.fixed(prices.Bus, "Standard", in.At("sku", "name"), in.At("sku", "capacity"))}
	case "containerregistry:Registry":
		return []part{c.fixed(prices.Registry, "", in.At("sku", "name"), propvalue.Value{})}
	case "network:PrivateEndpoint":
		return []part{c.one(prices.PrivateEndpoint)}
	case "network:PublicIPAddress":
		return []part{c.one(prices.PublicAddress)}
	case "network:NatGateway":
		return []part{c.one(prices.NATGateway)}
	case "network:PrivateZone":
		return []part{c.one(prices.DNSZone)}
	case "core:Service":
		typ, state := in.At("spec", "type").Text()
		if typ == "LoadBalancer" || unsure(state) {
			return []part{c.one(prices.LoadBalancer)}
		}
	case "cognitiveservices:Deployment":
		return c.deployment(in.At("sku"))
	}
	return nil
}

// deployment is what a deployment of a model pays by the hour, by its SKU.
func (c counter) deployment(sku propvalue.Value) []part {
	name := sku.At("name")
	facts, known := openai.Lookup(text(name))
	units, sure := sku.At("capacity").Count(0)
	switch {
	case name.State() == propvalue.Absent, known && !facts.Provisioned:
		return nil
	case !known:
		return []part{{what: fmt.Sprintf("%d units of %s", units, name.Shown())}}
	}
	price, priced := c.table.Provisioned(facts.Name)
	return []part{{fmt.Sprintf("%d units of %s", units, facts.Name), price.USD, priced, units, units, sure}}
}

// one is a part of the platform that has no SKUs.
func (c counter) one(kind prices.Kind) part {
	return c.fixed(kind, "", propvalue.Value{}, propvalue.Value{})
}

// fixed is a part of the platform in a number of units, one if nothing is said.
// otherwise is the SKU where the resource names none.
func (c counter) fixed(kind prices.Kind, otherwise string, sku, units propvalue.Value) part {
	name, shown := otherwise, otherwise
	if sku.State() != propvalue.Absent {
		name, shown = text(sku), sku.Shown()
	}
	what := string(kind)
	if shown != "" {
		what += " " + shown
	}
	n, sure := units.Count(1)
	if n > 1 {
		what = fmt.Sprintf("%d units of %s", n, what)
	}
	price, priced := c.table.Fixed(kind, name)
	return part{what, price.USD, priced, n, n, sure}
}

// labelOf is the label that pods select a pool by, else its name.
func labelOf(pool propvalue.Value) string {
	return cmp.Or(text(pool.At("nodeLabels", "pool")), text(pool.At("agentPoolName")), text(pool.At("name")))
}

// nodes are those of a pool, between the fewest and the most.
func (c counter) nodes(pool propvalue.Value) part {
	idle, sure := pool.At("count").Count(1)
	most := idle
	scales, state := pool.At("enableAutoScaling").Bool()
	switch {
	case unsure(state):
		sure = false
	case scales:
		var least bool
		idle, least = pool.At("minCount").Count(0)
		most, sure = pool.At("maxCount").Count(idle)
		sure = sure && least
	}
	held := ""
	if label := labelOf(pool); c.asked[label].most > 0 {
		kept, known := c.kept(label)
		sure = sure && known
		if kept > idle {
			idle, most = kept, max(kept, most)
			held = ", where served models stand"
		}
	}
	size := pool.At("vmSize")
	what := fmt.Sprintf("%d %s%s", idle, size.Shown(), held)
	if most != idle {
		what = fmt.Sprintf("%d to %d %s%s", idle, most, size.Shown(), held)
	}
	price, priced := c.table.VM(text(size))
	return part{what, price.USD, priced || most == 0, idle, most, sure}
}

// text is a text that is known, else "".
func text(v propvalue.Value) string {
	s, _ := v.Text()
	return s
}

// unsure tells whether a value is there and not known to be what it must be.
func unsure(state propvalue.State) bool {
	return state == propvalue.Unknown || state == propvalue.Mistyped
}
