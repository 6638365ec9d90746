package gpu

import (
	"fmt"
	"maps"

	"onedoor/internal/az/aks"
	"onedoor/internal/prices"
)

// Prices are what VM sizes cost in USD per hour.
type Prices struct {
	PerHour map[string]float64 // by the size's name as Azure spells it
	Source  string             // with the date
}

// ListPrices are the list prices of the GPU sizes. They are a snapshot to compare
// sizes with, not an offer: prices change, and regions, reservations and spot
// differ. A size that the price table lacks has no price here.
func ListPrices() Prices {
	table, err := prices.Load()
	if err != nil {
		panic(err) // the table is a part of the program
	}
	list := Prices{map[string]float64{}, fmt.Sprintf("list prices of internal/prices, East US, Linux, pay as you go, as of %s", table.AsOf())}
	for _, name := range table.VMs() {
		size, _ := aks.Lookup(name)
		if _, usable := deviceOf(size, ""); usable {
			price, _ := table.VM(name)
			list.PerHour[name] = price.USD.Float()
		}
	}
	return list
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
