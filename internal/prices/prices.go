// Package prices holds what Azure charges, as a table with a date and a source
// for each row: tokens of models, provisioned units, virtual machines, and what
// costs the same whether it is used or not. It is data for estimates; what was
// paid is on the bill. What a region, a contract or a reservation changes is
// left out.
package prices

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// Table is the price table. It never changes.
type Table struct {
	asOf        string
	tokens      []Tokens
	provisioned map[string]Price
	vms         map[string]Price
	fixed       map[fixedKey]Price
	metered     map[string]Price
}

// Price is one amount with where it comes from.
type Price struct {
	USD    USD
	Source string // link
	Read   bool   // false: written from memory of the linked page
}

// Tokens are the prices of a model in one SKU.
type Tokens struct {
	Model, SKU string
	// USD per million tokens. Cached is Input where the model has no cheaper rate.
	Input, Cached, Output USD
	Source                string // link
	Read                  bool   // false: written from memory of the linked page
}

// Cost is what tokens cost. input counts all of the prompt, cached the part of
// it that came from the model's cache (0 to input), output what was generated.
func (t Tokens) Cost(input, cached, output int64) USD {
	perToken := func(perMillion USD) USD { return perMillion / 1e6 } // whole: see digits
	return perToken(t.Input).Times(input - cached).Plus(perToken(t.Cached).Times(cached)).Plus(perToken(t.Output).Times(output))
}

// Load returns the table.
func Load() (*Table, error) { return load() }

//go:embed prices.yaml
var text []byte

var load = sync.OnceValues(func() (*Table, error) { return read(text) })

// AsOf is the day of the table, as in "2026-11-29".
func (t *Table) AsOf() string { return t.asOf }

// Tokens are the prices of a model in a SKU, by Azure's names.
func (t *Table) Tokens(model, sku string) (Tokens, bool) {
	i, ok := slices.BinarySearchFunc(t.tokens, Tokens{Model: model, SKU: sku}, byModel)
	if !ok {
		return Tokens{}, false
	}
	return t.tokens[i], true
}

// AllTokens are the prices of all models, sorted by model and SKU.
func (t *Table) AllTokens() []Tokens { return slices.Clone(t.tokens) }

// Provisioned is the price of one provisioned throughput unit for an hour.
func (t *Table) Provisioned(sku string) (Price, bool) { p, ok := t.provisioned[sku]; return p, ok }

// VM is the price of a virtual machine with Linux for an hour, by its size as
// Azure spells it.
func (t *Table) VM(size string) (Price, bool) { p, ok := t.vms[size]; return p, ok }

// VMs are the sizes that have a price, sorted.
func (t *Table) VMs() []string {
	var sizes []string
	for size := range t.vms {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	return sizes
}

// Kind is a part of the platform that costs the same whether it is used or not.
type Kind string

// The kinds of fixed parts. Those without SKUs have the SKU "".
const (
	AKS             Kind = "aks"             // a cluster's control plane, by tier
	Bus             Kind = "bus"             // a Service Bus namespace, by tier; per messaging unit in Premium
	DNSZone         Kind = "dnsZone"         // a private DNS zone
	Gateway         Kind = "gateway"         // API Management, by SKU and unit
	LoadBalancer    Kind = "loadBalancer"    // with at most five rules
	NATGateway      Kind = "natGateway"      //
	PrivateEndpoint Kind = "privateEndpoint" //
	PublicAddress   Kind = "publicAddress"   //
	Registry        Kind = "registry"        // by SKU
)

// Fixed is the price of one unit of a fixed part for an hour.
func (t *Table) Fixed(kind Kind, sku string) (Price, bool) {
	p, ok := t.fixed[fixedKey{kind, sku}]
	return p, ok
}

// LogsPerGB is the price of a gigabyte that comes into the workspace.
func (t *Table) LogsPerGB() Price { return t.metered["logs"] }

// MetricsPerMillion is the price of a million Prometheus samples.
func (t *Table) MetricsPerMillion() Price { return t.metered["metrics"] }

type fixedKey struct {
	kind Kind
	sku  string
}

func byModel(a, b Tokens) int {
	return strings.Compare(a.Model+"\x00"+a.SKU, b.Model+"\x00"+b.SKU)
}

// file is the table as it is written.
type file struct {
	AsOf     string `yaml:"asOf"`
	Currency string `yaml:"currency"`
	Sources  map[string]struct {
		URL  string `yaml:"url"`
		Read bool   `yaml:"read"`
	} `yaml:"sources"`
	Tokens []struct {
		Model, SKU, Input, Cached, Output, Source string
	} `yaml:"tokens"`
	Provisioned []struct {
		SKU     string
		PerHour string `yaml:"perHour"`
		Source  string
	} `yaml:"provisioned"`
	VMs []struct {
		Size    string
		PerHour string `yaml:"perHour"`
		Source  string
	} `yaml:"vms"`
	Fixed []struct {
		Kind    Kind
		SKU     string
		PerHour string `yaml:"perHour"`
		Source  string
	} `yaml:"fixed"`
	Metered []struct {
		Kind, Unit, Price, Source string
	} `yaml:"metered"`
}

// read parses a table and reports all that is wrong with it.
func read(text []byte) (*Table, error) {
	var f file
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	var found []error
	bad := func(format string, args ...any) { found = append(found, fmt.Errorf("prices: "+format, args...)) }
	if _, err := time.Parse(time.DateOnly, f.AsOf); err != nil {
		bad("asOf: got %q, want a date such as 2026-11-29", f.AsOf)
	}
	if f.Currency != "USD" {
		bad("currency: got %q, want USD", f.Currency)
	}
	price := func(row, amount, source string) Price {
		from, ok := f.Sources[source]
		if !ok {
			bad("%s: no source %q", row, source)
		}
		usd, err := parse(amount)
		if err != nil {
			bad("%s: %w", row, err)
		}
		return Price{usd, from.URL, from.Read}
	}
	t := &Table{asOf: f.AsOf, provisioned: map[string]Price{}, vms: map[string]Price{}, fixed: map[fixedKey]Price{}, metered: map[string]Price{}}
	for _, r := range f.Tokens {
		row := "tokens of " + r.Model + " in " + r.SKU
		input := price(row+": input", r.Input, r.Source)
		out := Tokens{Model: r.Model, SKU: r.SKU, Input: input.USD, Cached: input.USD, Source: input.Source, Read: input.Read}
		if r.Cached != "" {
			out.Cached = price(row+": cached", r.Cached, r.Source).USD
		}
		if r.Output != "" {
			out.Output = price(row+": output", r.Output, r.Source).USD
		}
		if n := len(t.tokens); n > 0 && byModel(t.tokens[n-1], out) >= 0 {
			bad("%s: out of order, or twice", row)
		}
		t.tokens = append(t.tokens, out)
	}
	for _, r := range f.Provisioned {
		add(t.provisioned, r.SKU, price("provisioned "+r.SKU, r.PerHour, r.Source), bad)
	}
	for _, r := range f.VMs {
		add(t.vms, r.Size, price("VM "+r.Size, r.PerHour, r.Source), bad)
	}
	for _, r := range f.Fixed {
		add(t.fixed, fixedKey{r.Kind, r.SKU}, price(strings.TrimSpace("fixed "+string(r.Kind)+" "+r.SKU), r.PerHour, r.Source), bad)
	}
	for _, r := range f.Metered {
		add(t.metered, r.Kind, price("metered "+r.Kind, r.Price, r.Source), bad)
	}
	if err := errors.Join(found...); err != nil {
		return nil, err
	}
	return t, nil
}

func add[K comparable](to map[K]Price, key K, p Price, bad func(string, ...any)) {
	if _, twice := to[key]; twice {
		bad("%v: twice", key)
	}
	to[key] = p
}
