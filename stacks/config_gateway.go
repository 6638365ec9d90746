package stacks

import (
	"fmt"
	"net/mail"
	"net/url"
	"slices"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/az"
	"onedoor/internal/az/apim"
	"onedoor/internal/az/netplan"
)

// Gateway is the root key "gateway": the synchronous door.
type Gateway struct {
	Mode           netplan.GatewayMode `json:"mode"`           // how API Management joins the network; a gateway keeps it for life, see the gateway's component
	Exposure       Exposure            `json:"exposure"`       // whether it has a public address
	SKU            apim.SKU            `json:"sku"`            // "" takes the mode's, for classic Developer in dev and Premium in prod
	Capacity       int                 `json:"capacity"`       // units, as many as the SKU allows; Premium spreads them over zones
	Audience       string              `json:"audience"`       // of the Entra tokens that it accepts
	PublisherName  string              `json:"publisherName"`  // whom Azure's mails name, 1 to 100 characters
	PublisherEmail string              `json:"publisherEmail"` // who gets them, 1 to 100 characters
}

// Exposure is who can open a connection to the gateway.
type Exposure string

// The exposures.
const (
	ExposureInternal Exposure = "internal" // the network and its peers
	ExposureExternal Exposure = "external" // the internet; tokens and limits are then the only wall
)

var defaultGateway = Gateway{Mode: netplan.Classic, Exposure: ExposureInternal, Capacity: 1}

// maxPublisher is Azure's limit, in characters.
// https://learn.microsoft.com/azure/templates/microsoft.apimanagement/service
const maxPublisher = 100

func (g *Gateway) check(report *problems) {
	switch g.Mode {
	case netplan.Classic, netplan.Endpoint, netplan.Injected:
	default:
		report.bad("gateway.mode", g.Mode, oneOf(netplan.GatewayModes...), string(netplan.Classic))
	}
	switch g.Exposure {
	case ExposureInternal:
	case ExposureExternal:
		if g.Mode == netplan.Endpoint || g.Mode == netplan.Injected {
			report.bad("gateway.exposure", g.Exposure, "internal: only mode classic can also answer on the internet", string(ExposureInternal))
		}
	default:
		report.bad("gateway.exposure", g.Exposure, oneOf(ExposureInternal, ExposureExternal), string(ExposureInternal))
	}
	if !isAudience(g.Audience) {
		report.bad("gateway.audience", g.Audience, "the application id URI, or the client id, that Entra tokens for the gateway carry: otherwise any token of your Entra directory would be accepted", "api://onedoor")
	}
	if n := len([]rune(g.PublisherName)); n < 1 || n > maxPublisher {
		report.bad("gateway.publisherName", g.PublisherName, between(1, maxPublisher)+" characters", "Platform team")
	}
	if parsed, err := mail.ParseAddress(g.PublisherEmail); err != nil || parsed.Address != g.PublisherEmail || len(g.PublisherEmail) > maxPublisher {
		report.bad("gateway.publisherEmail", g.PublisherEmail, fmt.Sprintf("a plain e-mail address of at most %d characters", maxPublisher), "platform@example.com")
	}
}

// isAudience tells whether s is what the audience of a token can be.
func isAudience(s string) bool {
	parsed, err := url.Parse(s)
	return az.IsGUID(s) || err == nil && (parsed.Scheme == "api" || parsed.Scheme == "https") && parsed.Host != ""
}

func (g *Gateway) network() netplan.GatewayNetwork {
	return netplan.GatewayNetwork{Mode: g.Mode, Internal: g.Exposure == ExposureInternal}
}

// gatewayTier is the SKU that the gateway gets. It is no legal one where the
// configuration names none.
func (c *Config) gatewayTier() apim.Tier {
	var fitting apim.Tier
	for _, t := range apim.Tiers {
		switch {
		case t.SKU == c.Gateway.SKU:
			return t
		case c.Gateway.SKU != "" || t.Mode != c.Gateway.Mode:
		case fitting.SKU == "" || c.Base.Environment == az.Prod:
			fitting = t
		}
	}
	return fitting
}

// gatewayZones are the availability zones that the units are spread over evenly,
// nil where the SKU has none or the units cannot be.
// https://learn.microsoft.com/azure/reliability/reliability-api-management
func (c *Config) gatewayZones() []string {
	zones := []string{"1", "2", "3"}
	for n := len(zones); n > 1; n-- {
		if c.gatewayTier().SKU == apim.Premium && c.Gateway.Capacity%n == 0 {
			return zones[:n]
		}
	}
	return nil
}

// checkGateway refuses a SKU that cannot do what mode, environment, plans and
// tenants ask of it, and names one that can.
func (c *Config) checkGateway(report *problems) {
	t := c.gatewayTier()
	var names []apim.SKU
	for _, sku := range apim.Of(c.Gateway.Mode) {
		if sku != apim.Developer || c.Base.Environment == az.Dev {
			names = append(names, sku)
		}
	}
	if t.Mode != c.Gateway.Mode {
		report.bad("gateway.sku", c.Gateway.SKU, fmt.Sprintf("%s: no other SKU can do mode %s here", oneOf(names...), c.Gateway.Mode), string(names[0]))
		return
	}
	if t.SKU == apim.Developer && c.Base.Environment == az.Prod {
		report.bad("gateway.sku", c.Gateway.SKU, "Premium: Developer has no SLA and no zones", string(apim.Premium))
	}
	if c.Gateway.Capacity < 1 || c.Gateway.Capacity > t.Units {
		report.bad("gateway.capacity", c.Gateway.Capacity, fmt.Sprintf("%s units of SKU %s", between(1, t.Units), t.SKU), "1")
	} else if t.SKU == apim.Premium && c.Base.Environment == az.Prod && c.gatewayZones() == nil {
		report.bad("gateway.capacity", c.Gateway.Capacity, "units that 2 or 3 zones can share evenly: prod loses a zone without losing the door", "3")
	}
	most := func(key string, n int, limit func(apim.Tier) int, what string) {
		if n <= limit(t) {
			return
		}
		want := fmt.Sprintf("at most %d, the %s of SKU %s", limit(t), what, t.SKU)
		if i := slices.IndexFunc(apim.Tiers, func(other apim.Tier) bool { return n <= limit(other) }); i != -1 {
			want += fmt.Sprintf("; %s, with gateway.mode %s, has %d", apim.Tiers[i].SKU, apim.Tiers[i].Mode, limit(apim.Tiers[i]))
		}
		report.bad(key, n, want, "")
	}
	most("plans", len(c.Plans), func(t apim.Tier) int { return t.Products }, "products")
	most("tenants", len(c.Tenants), func(t apim.Tier) int { return t.Subscriptions }, "subscriptions")
}

// gatewayRules are what the gateway's policies are made from. controlPlane is the
// URL of the batch door, which callers who knock at the wrong one are told.
func (c *Config) gatewayRules(controlPlane string) apimpolicy.Gateway {
	rules := apimpolicy.Gateway{Directory: c.Base.TenantID, Audience: c.Gateway.Audience, ControlPlane: controlPlane, Region: c.Base.Location, Serving: c.Serving.Audience}
	routes := c.routes()
	for _, alias := range sortedKeys(routes) {
		rules.Aliases = append(rules.Aliases, routes[alias])
	}
	for _, name := range sortedKeys(c.Plans) {
		plan := c.Plans[name]
		sold := apimpolicy.Plan{Name: name, TokensPerMinute: plan.TokensPerMinute, Quota: plan.Quota, Period: plan.Period}
		for _, alias := range slices.Sorted(slices.Values(plan.Aliases)) {
			if _, served := routes[alias]; served { // others only take batch jobs
				sold.Aliases = append(sold.Aliases, alias)
			}
		}
		rules.Plans = append(rules.Plans, sold)
	}
	for _, name := range sortedKeys(c.Tenants) {
		tenant := c.Tenants[name]
		rules.Tenants = append(rules.Tenants, apimpolicy.Tenant{
			Name: name, Plan: tenant.Plan, Applications: slices.Sorted(slices.Values(tenant.Applications)),
			Residency: tenant.reach(), LogPrompts: tenant.LogPrompts,
		})
	}
	return rules
}
