// Package outbox owns events on their way out: each is in the ledger from before
// what it is about is, until somebody has taken it. So none is lost, whatever fails
// or is killed; one may be sent twice, and bears an id that it is counted once by.
package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/schedule"
)

// Sink takes events.
type Sink interface {
	// Send says which of the events were taken, by their index. An error says that
	// not all were; those that were not are sent again.
	Send(ctx context.Context, events []schedule.Event) (taken []int, err error)
}

// Outbox keeps events until the sink has them. One instance sends at a time.
type Outbox struct {
	Table ledger.Table
	Sink  Sink
	Now   func() time.Time

	failures int
	next     time.Time // before which nothing is sent, after a failure
}

// partition is where they wait in the ledger.
const partition = "outbox"

// Put keeps an event. It is no error if it is waiting already.
func (o *Outbox) Put(ctx context.Context, e schedule.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	_, err = o.Table.Insert(ctx, ledger.Document{Key: ledger.Key{Partition: partition, Row: e.ID()}, Data: data})
	if errors.Is(err, ledger.ErrExists) {
		return nil
	}
	return err
}

// atOnce is the most that is sent in one request: with their longest texts they are
// well below the megabyte that ingestion takes.
const atOnce = 100

// patience is for one request: whoever calls has other work to do.
const patience = 10 * time.Second

// Send sends what waits and says when the oldest of what is left happened, zero for
// nothing. After a failure it is quiet for a while, up to five minutes.
func (o *Outbox) Send(ctx context.Context) (oldest time.Time, err error) {
	found, err := o.Table.List(ctx, ledger.Query{Partition: partition})
	if err != nil {
		return time.Time{}, err
	}
	events := make([]schedule.Event, len(found))
	for i, d := range found {
		if err := json.Unmarshal(d.Data, &events[i]); err != nil {
			return time.Time{}, fmt.Errorf("outbox: %s: %w", d.Row, err)
		}
	}
	gone := map[int]bool{}
	if !o.Now().Before(o.next) {
		gone, err = o.send(ctx, found, events)
		o.rest(err)
	}
	for i, e := range events {
		if !gone[i] && (oldest.IsZero() || e.At.Before(oldest)) {
			oldest = e.At
		}
	}
	return oldest, err
}

// send sends events in requests of a size, and removes what was taken. What one
// request fails over does not hold up those behind it.
func (o *Outbox) send(ctx context.Context, rows []ledger.Document, events []schedule.Event) (map[int]bool, error) {
	gone := map[int]bool{}
	var failed []error
	first := 0
	for part := range slices.Chunk(events, atOnce) {
		limited, cancel := context.WithTimeout(ctx, patience)
		taken, err := o.Sink.Send(limited, part)
		cancel()
		failed = append(failed, err)
		for _, i := range taken {
			if err := o.Table.Delete(ctx, rows[first+i]); err != nil {
				failed = append(failed, err) // it is sent again
				continue
			}
			gone[first+i] = true
		}
		first += len(part)
	}
	return gone, errors.Join(failed...)
}

// rest decides when to send again.
func (o *Outbox) rest(err error) {
	const first, most = 5 * time.Second, 5 * time.Minute
	if err == nil {
		o.failures, o.next = 0, time.Time{}
		return
	}
	o.next = o.Now().Add(min(most, first<<min(o.failures, 10)))
	o.failures++
}
