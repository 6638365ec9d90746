package docs

import (
	"fmt"
	"strings"
	"time"

	"onedoor/internal/bill"
	"onedoor/internal/prices"
	"onedoor/internal/propvalue"
	"onedoor/internal/reach"
)

// cost is what the two stacks cost idle, and at most.
func cost(dev, prod []reach.Resource) ([]byte, error) {
	table, err := prices.Load()
	if err != nil {
		return nil, err
	}
	p := newPage("What it costs", "the plans of `dev` and `prod` and the prices in `internal/prices/prices.yaml`")
	p.say("List prices of %s in USD a month, without discounts. Idle is while nobody calls, at the smallest size that each part scales to; at most is all month at the largest. "+
		"Replicas that served models keep are idle nodes of their pool. Tokens, batch jobs, messages, logs, stored data and traffic come on top: they cost by use; the disks of nodes and the rules of alerts, tens of dollars, are left out. `onedoor preview --base` says what a change does to the figures of your own stack.", table.AsOf())
	bills := []bill.Bill{billOf(dev, table), billOf(prod, table)}
	p.table([]string{"stack", "idle", "at most"}, [][]string{
		{"[dev](#dev)", bills[0].Idle.Whole(), bills[0].Most.Whole()}, {"[prod](#prod)", bills[1].Idle.Whole(), bills[1].Most.Whole()},
	})
	for i, stack := range []string{"dev", "prod"} {
		p.head(stack)
		var rows [][]string
		for _, line := range bills[i].Lines {
			if line.Idle == 0 && line.Most == 0 {
				continue
			}
			rows = append(rows, []string{line.Name(), plain(line.What), line.Idle.Whole(), line.Most.Whole()})
		}
		p.table([]string{"resource", "what is paid for", "idle", "at most"}, rows)
		if bills[i].AtLeast {
			p.say("The plan does not know every size: the sums are the least.")
		}
		if len(bills[i].Unpriced) > 0 {
			p.say("Without a price in the table, and so not in the sums: %s.", plain(strings.Join(bills[i].Unpriced, "; ")))
		}
	}
	return p.bytes(), nil
}

func billOf(resources []reach.Resource, table *prices.Table) bill.Bill {
	priced := make([]bill.Resource, len(resources))
	for i, r := range resources {
		priced[i] = bill.Resource{URN: r.URN, Kind: kind(r.Type), Inputs: propvalue.OfRecord(r.Inputs)}
	}
	return bill.Of(priced, table)
}

// kind is a type without its provider and the version of its API.
func kind(typ string) string {
	_, rest, _ := strings.Cut(typ, ":")
	module, name, _ := strings.Cut(rest, ":")
	module, _, _ = strings.Cut(module, "/")
	return module + ":" + name
}

// short writes a duration without units that are zero.
func short(d time.Duration) string {
	text := fmt.Sprint(d)
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}
