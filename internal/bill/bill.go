// Package bill estimates what a stack costs a month before anybody uses it, and at
// most: nodes, units and addresses by the hour, from the dated price table. What
// is paid by use (tokens, messages, gigabytes of logs and blobs, traffic) is left
// out, and so are the disks of nodes and the rules of alerts: of all that an idle
// platform costs little.
package bill

import (
	"cmp"
	"slices"
	"strings"

	"onedoor/internal/prices"
	"onedoor/internal/propvalue"
)

// HoursPerMonth is how long Azure's own estimates take a month to be.
// https://azure.microsoft.com/pricing/calculator/
const HoursPerMonth = 730

// Resource is a planned resource.
type Resource struct {
	URN    string
	Kind   string // as in "containerservice:AgentPool"
	Inputs propvalue.Value
}

// Line is what one resource costs a month.
type Line struct {
	URN  string     `json:"urn"`
	What string     `json:"what"` // how the amount is made, as in "0 to 8 Standard_D8s_v5"
	Idle prices.USD `json:"idle"`
	Most prices.USD `json:"most"`
}

// Name is the logical name of the resource.
func (l Line) Name() string { return name(l.URN) }

// Bill is what a stack costs a month.
type Bill struct {
	AsOf string     `json:"asOf"` // the day of the prices
	Idle prices.USD `json:"idle"` // at the smallest size that the stack scales to
	Most prices.USD `json:"most"` // at the largest, all month
	// UpgradePerHour is what the model servers cost more while a new version of them
	// all starts beside the old one: 2N nodes.
	UpgradePerHour prices.USD `json:"upgradePerHour"`
	Lines          []Line     `json:"lines"` // the dearest idle one first
	// Unpriced are the resources that cost by the hour and have no price in the
	// table, or do not say how much of it they are: the sums are too low by them.
	Unpriced []string `json:"unpriced"`
	// AtLeast says that some of the unpriced run, or may run, while the stack is idle:
	// Idle is too low.
	AtLeast bool `json:"atLeast"`
}

// Of is the bill of a plan.
func Of(resources []Resource, table *prices.Table) Bill {
	b := Bill{AsOf: table.AsOf(), Lines: []Line{}, Unpriced: []string{}}
	c := counter{table, map[string]pool{}, map[string]bool{}, map[string]demand{}}
	for _, r := range resources {
		if r.Kind == "containerservice:AgentPool" {
			c.separate[text(r.Inputs.At("agentPoolName"))] = true
			c.pools[labelOf(r.Inputs)] = pool{text(r.Inputs.At("vmSize")), text(r.Inputs.At("gpuInstanceProfile"))}
		}
		for _, more := range demands(r) {
			sum, asked := c.asked[more.pool]
			c.asked[more.pool] = demand{more.pool, sum.least + more.least, sum.most + more.most, more.sure && (sum.sure || !asked)}
		}
	}
	for _, r := range resources {
		for _, part := range c.parts(r) {
			if !part.priced || !part.sure {
				b.Unpriced = append(b.Unpriced, name(r.URN)+": "+part.what)
				b.AtLeast = b.AtLeast || part.idle > 0 || !part.sure
				continue
			}
			line := Line{URN: r.URN, What: part.what, Idle: part.perHour.Times(int64(part.idle) * HoursPerMonth), Most: part.perHour.Times(int64(part.most) * HoursPerMonth)}
			b.Idle, b.Most = b.Idle.Plus(line.Idle), b.Most.Plus(line.Most)
			b.Lines = append(b.Lines, line)
		}
		b.UpgradePerHour = b.UpgradePerHour.Plus(c.upgrade(r))
	}
	slices.SortFunc(b.Lines, func(x, y Line) int {
		return cmp.Or(cmp.Compare(y.Idle, x.Idle), cmp.Compare(y.Most, x.Most), cmp.Compare(x.URN, y.URN), cmp.Compare(x.What, y.What))
	})
	slices.Sort(b.Unpriced)
	return b
}

// name is the last part of a URN.
func name(urn string) string { return urn[strings.LastIndex(urn, ":")+1:] }
