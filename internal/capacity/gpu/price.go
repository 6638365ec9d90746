package gpu

import "maps"

// Prices are what VM sizes cost in USD per hour.
type Prices struct {
	PerHour map[string]float64 // by the size's name as Azure spells it
	Source  string             // with the region and the date
}

// ListPrices are pay-as-you-go prices for Linux in East US. They are a snapshot
// to compare sizes with, not an offer: prices change, and regions, reservations
// and spot differ. The catalog does not say of which day they are. It has no
// H200, so its price is not known here.
func ListPrices() Prices {
	return Prices{maps.Clone(listPrices), listSource}
}

// With is the prices with others put over them.
func (p Prices) With(perHour map[string]float64) Prices {
	if len(perHour) == 0 {
		return p
	}
	all := maps.Clone(p.PerHour)
	maps.Copy(all, perHour)
	return Prices{all, p.Source + "; some given by the caller"}
}

const listSource = "East US, Linux, pay as you go, from https://github.com/skypilot-org/skypilot-catalog, catalogs/v6/azure/vms.csv at commit 098741e, read 2026-11-29"

var listPrices = map[string]float64{
	"Standard_NC4as_T4_v3":      0.526,
	"Standard_NC8as_T4_v3":      0.752,
	"Standard_NC16as_T4_v3":     1.204,
	"Standard_NC64as_T4_v3":     4.352,
	"Standard_NV36ads_A10_v5":   3.20,
	"Standard_NV36adms_A10_v5":  4.52,
	"Standard_NC24ads_A100_v4":  3.673,
	"Standard_NC48ads_A100_v4":  7.346,
	"Standard_NC96ads_A100_v4":  14.692,
	"Standard_ND96asr_v4":       27.197,
	"Standard_ND96amsr_A100_v4": 32.77,
	"Standard_NC40ads_H100_v5":  6.98,
	"Standard_NC80adis_H100_v5": 13.96,
	"Standard_ND96isr_H100_v5":  98.32,
}
