package demo

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Report is what a demonstration came to. It is the same for every run.
type Report struct {
	Model string `json:"model"`
	SKU   string `json:"sku"`
	// VirtualSeconds is how long it would have taken in Azure.
	VirtualSeconds int `json:"virtualSeconds"`
	// AccountJobs is how many jobs the account saw: one for each tenant, and one for each
	// that had lines to try again.
	AccountJobs int       `json:"accountJobs"`
	Tenants     []Tenant  `json:"tenants"`
	Attempts    []Attempt `json:"attempts"`
}

// Tenant is what one tenant gets.
type Tenant struct {
	Name       string         `json:"name"`
	Status     string         `json:"status"` // of its job
	Tickets    int            `json:"tickets"`
	Answered   int            `json:"answered"`
	Categories map[string]int `json:"categories"`
	Urgent     []string       `json:"urgent"`
	Refusals   []Refusal      `json:"refusals"`
	// Tokens of the answers, and what they cost in US dollars by the prices of that day.
	InputTokens  int64   `json:"inputTokens"`
	OutputTokens int64   `json:"outputTokens"`
	CostUSD      float64 `json:"costUSD"`
	PricesOf     string  `json:"pricesOf"`
}

// Refusal is a ticket that the model did not answer.
type Refusal struct {
	Ticket string `json:"ticket"`
	Status int    `json:"status"`
	Code   string `json:"code"`
}

// Attempt is a try to go round the door, and what came of it.
type Attempt struct {
	What   string `json:"what"`
	Status int    `json:"status"`
	Code   string `json:"code"`
}

// Print writes the report for a person.
func (r *Report) Print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "tenant\tjob\ttickets\tanswered\trefused\tinput tokens\toutput tokens\tUSD")
	for _, t := range r.Tenants {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%.6f\n", t.Name, t.Status, t.Tickets, t.Answered, len(t.Refusals), t.InputTokens, t.OutputTokens, t.CostUSD)
	}
	w.Flush()
	for _, t := range r.Tenants {
		fmt.Fprintf(out, "\n%s: ", t.Name)
		var parts []string
		for _, category := range slices.Sorted(maps.Keys(t.Categories)) {
			parts = append(parts, fmt.Sprintf("%s %d", category, t.Categories[category]))
		}
		fmt.Fprintf(out, "%s; urgent: %s\n", strings.Join(parts, ", "), strings.Join(t.Urgent, ", "))
		for _, refusal := range t.Refusals {
			fmt.Fprintf(out, "  %s was refused: %d %s\n", refusal.Ticket, refusal.Status, refusal.Code)
		}
	}
	fmt.Fprintln(out, "\nTried, and refused:")
	for _, a := range r.Attempts {
		fmt.Fprintf(out, "  %s: %d %s\n", a.What, a.Status, a.Code)
	}
	fmt.Fprintf(out, "\n%d minutes of virtual time, %d jobs at the account, prices of %s for %s as %s.\n",
		r.VirtualSeconds/60, r.AccountJobs, r.Tenants[0].PricesOf, r.Model, r.SKU)
}
