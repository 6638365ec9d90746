// Package apim holds the tiers of API Management that can join a network: how
// each does, and how much fits into one. It declares nothing.
package apim

import "onedoor/internal/az/netplan"

// SKU is the name of a tier.
type SKU string

// The tiers.
const (
	Developer  SKU = "Developer" // no SLA
	Premium    SKU = "Premium"   // the one with availability zones
	StandardV2 SKU = "StandardV2"
	PremiumV2  SKU = "PremiumV2"
)

// Tier is what a SKU allows.
type Tier struct {
	SKU                            SKU
	Mode                           netplan.GatewayMode // the one way in which it joins a network
	Units, Products, Subscriptions int                 // at most
}

// Tiers are all of them, for each mode the smaller first.
// https://learn.microsoft.com/azure/api-management/service-limits
// https://learn.microsoft.com/azure/api-management/api-management-capacity
var Tiers = []Tier{
	{Developer, netplan.Classic, 1, 100, 10_000},
	{Premium, netplan.Classic, 99, 2_000, 75_000},
	{StandardV2, netplan.Endpoint, 10, 500, 25_000},
	{PremiumV2, netplan.Injected, 30, 2_000, 75_000},
}

// Lookup is the tier of that name.
func Lookup(sku SKU) (Tier, bool) {
	for _, t := range Tiers {
		if t.SKU == sku {
			return t, true
		}
	}
	return Tier{}, false
}

// Of are the names of the tiers of a mode.
func Of(mode netplan.GatewayMode) []SKU {
	var names []SKU
	for _, t := range Tiers {
		if t.Mode == mode {
			names = append(names, t.SKU)
		}
	}
	return names
}
