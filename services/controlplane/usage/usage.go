// Package usage owns what tenants have used: an entry for each job that has ended,
// and for each item of a queue that a worker reports. Entries are written once,
// however often they are reported.
package usage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"onedoor/internal/prices"
	"onedoor/internal/settings"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
)

// Entry is what one piece of work used.
type Entry struct {
	At     time.Time    `json:"at"`
	Tenant string       `json:"tenant"`
	Alias  string       `json:"alias"`
	Job    string       `json:"job"`
	Item   string       `json:"item,omitempty"` // of a queue
	Used   jobs.Results `json:"used"`
	Cost   *jobs.Money  `json:"cost,omitempty"` // nil without a price
}

// Store keeps entries.
type Store struct{ Table ledger.Table }

// layout makes rows that sort by time.
const layout = "20060102T150405"

func (e Entry) key() ledger.Key {
	sum := sha256.Sum256([]byte(e.Job + "\n" + e.Item))
	return ledger.Key{Partition: "usage." + e.Tenant, Row: e.At.UTC().Format(layout) + "." + hex.EncodeToString(sum[:12])}
}

// Put writes an entry. A second time is no error and changes nothing; the time is a
// part of what makes it the same.
func (s Store) Put(ctx context.Context, e Entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("usage: %w", err)
	}
	_, err = s.Table.Insert(ctx, ledger.Document{Key: e.key(), Data: data})
	if errors.Is(err, ledger.ErrExists) {
		return nil
	}
	return err
}

// Between are the tenant's entries from a time on and before another, by time.
func (s Store) Between(ctx context.Context, tenant string, from, until time.Time) ([]Entry, error) {
	// A row of the very second of from sorts behind its bare time.
	found, err := s.Table.List(ctx, ledger.Query{Partition: "usage." + tenant, After: from.UTC().Format(layout)})
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, d := range found {
		var e Entry
		if err := json.Unmarshal(d.Data, &e); err != nil {
			return nil, fmt.Errorf("usage: %s: %w", d.Row, err)
		}
		if !e.At.Before(until) {
			break
		}
		out = append(out, e)
	}
	return out, nil
}

// Tokens are all that the tenant has used in the period that now is in: of what
// went in and of what came out.
func (s Store) Tokens(ctx context.Context, tenant, period string, now time.Time) (int64, error) {
	found, err := s.Between(ctx, tenant, Begin(period, now), now.Add(time.Second))
	var sum int64
	for _, e := range found {
		sum += e.Used.Input + e.Used.Output
	}
	return sum, err
}

// Begin is when the period that now is in began, on the calendar and in UTC, as
// plans have it.
func Begin(period string, now time.Time) time.Time {
	now = now.UTC()
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	switch period {
	case "Hourly":
		return now.Truncate(time.Hour)
	case "Weekly": // from Monday on
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case "Monthly":
		return day.AddDate(0, 0, 1-day.Day())
	case "Yearly":
		return time.Date(now.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	default:
		return day
	}
}

// End is when the period that now is in ends.
func End(period string, now time.Time) time.Time {
	begin := Begin(period, now)
	switch period {
	case "Hourly":
		return begin.Add(time.Hour)
	case "Weekly":
		return begin.AddDate(0, 0, 7)
	case "Monthly":
		return begin.AddDate(0, 1, 0)
	case "Yearly":
		return begin.AddDate(1, 0, 0)
	default:
		return begin.AddDate(0, 0, 1)
	}
}

// Prices say what answers cost.
type Prices struct {
	Table   *prices.Table
	Aliases map[string]settings.Alias
}

// Cost is what the answers of an alias's batch deployment cost, to the millionth of a
// dollar; nil where the table has no price for it. Batch deployments have rows of
// their own, at half the price.
func (p Prices) Cost(alias string, u jobs.Usage) *jobs.Money {
	known := p.Aliases[alias]
	return p.cost(known.Model, known.SKU, u)
}

// CostAs is what answers cost that are counted by a row of the table, as in
// gpt-5.1/GlobalStandard: those to items of queues, whose workers call the gateway.
func (p Prices) CostAs(name string, u jobs.Usage) *jobs.Money {
	model, sku, _ := strings.Cut(name, "/")
	return p.cost(model, sku, u)
}

func (p Prices) cost(model, sku string, u jobs.Usage) *jobs.Money {
	row, ok := p.Table.Tokens(model, sku)
	if !ok {
		return nil
	}
	cost := jobs.Money(row.Cost(u.Input, u.Cached, u.Output).Micro())
	return &cost
}
