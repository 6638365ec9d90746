// Package intake owns how an item gets into a queue: its payload into storage, a
// claim check with a proof of whose it is onto the bus, and, if it died there, back
// again or out of the way. What workers do with it belongs to them.
package intake

import (
	"context"
	"time"

	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/internal/claim"
	"onedoor/services/internal/ring"
)

// Message is a message as it goes onto the bus.
type Message struct {
	ID          string // the bus drops a second one
	ContentType string // by which the topic sorts it
	Body        []byte // of a claim
	TimeToLive  time.Duration
}

// Dead is a dead letter.
type Dead struct {
	Sequence  int64 // names it within its queue
	Body      []byte
	Reason    string
	Detail    string
	Died      time.Time
	Delivered int
}

// Bus takes messages.
type Bus interface {
	// Send puts a message onto the topic.
	Send(ctx context.Context, m Message) error
	// Dead are the first dead letters of a queue, from the sequence number on.
	Dead(ctx context.Context, queue string, from int64, limit int) ([]Dead, error)
	// Take calls f with the dead letter of that number, and removes it unless f
	// returns an error. ErrNoLetter if there is none.
	Take(ctx context.Context, queue string, sequence int64, f func(Dead) error) error
}

// Signer of upload URLs; nil where storage cannot sign.
type Signer interface {
	UploadURL(ctx context.Context, container, name string, from, until time.Time) (string, error)
}

// Intake takes items.
type Intake struct {
	Bus     Bus
	Signer  Signer
	Keys    ring.Ring
	Signing string // id of the key
}

// Item is what a caller posts.
type Item struct {
	claim.Message
	Payloads    string // container
	ContentType string // of the message
	TimeToLive  time.Duration
}

// Post sends the claim check of an item whose payload is in storage.
func (in Intake) Post(ctx context.Context, item Item, payload blobs.Info) error {
	item.Blob, item.ETag = item.Path(), payload.ETag
	body, err := claim.Sign(item.Message, in.Keys, in.Signing)
	if err != nil {
		return err
	}
	return in.Bus.Send(ctx, Message{ID: item.Message.ID(), ContentType: item.ContentType, Body: body, TimeToLive: item.TimeToLive})
}

// Letter is a dead letter with whose it is.
type Letter struct {
	Dead
	claim.Message
}

// ErrNoLetter says that there is no dead letter of that number, or none of the
// caller's.
var ErrNoLetter = apierror.New(apierror.NotFound, "sequence", "there is no such dead letter; list them with GET /dlq")

// scan is how many dead letters are looked at for one answer.
const scan = 1000

// Letters are the tenant's dead letters of a queue, from the sequence number on. One
// whose claim does not prove whose it is is nobody's.
func (in Intake) Letters(ctx context.Context, queue, tenant string, from int64, limit int) ([]Letter, error) {
	var out []Letter
	seen := 0
	for seen < scan && len(out) < limit {
		found, err := in.Bus.Dead(ctx, queue, from, 100)
		if err != nil || len(found) == 0 {
			return out, err
		}
		for _, d := range found {
			from = d.Sequence + 1
			seen++
			if m, err := claim.Verify(d.Body, in.Keys); err == nil && m.Tenant == tenant && len(out) < limit {
				out = append(out, Letter{d, m})
			}
		}
	}
	return out, nil
}

// Discard removes a dead letter of the tenant's.
func (in Intake) Discard(ctx context.Context, queue, tenant string, sequence int64) error {
	return in.take(ctx, queue, tenant, sequence, func(Letter) error { return nil })
}

// Redrive sends a dead letter of the tenant's again, with a proof by the key of
// today.
func (in Intake) Redrive(ctx context.Context, queue, tenant string, sequence int64, again Item) error {
	return in.take(ctx, queue, tenant, sequence, func(l Letter) error {
		body, err := claim.Sign(l.Message, in.Keys, in.Signing)
		if err != nil {
			return err
		}
		// The id of the first time would be dropped as a duplicate.
		id := l.Message.ID()[:40] + "-" + l.Died.UTC().Format("20060102T150405.000")
		return in.Bus.Send(ctx, Message{ID: id, ContentType: again.ContentType, Body: body, TimeToLive: again.TimeToLive})
	})
}

func (in Intake) take(ctx context.Context, queue, tenant string, sequence int64, f func(Letter) error) error {
	return in.Bus.Take(ctx, queue, sequence, func(d Dead) error {
		m, err := claim.Verify(d.Body, in.Keys)
		if err != nil || m.Tenant != tenant {
			return ErrNoLetter
		}
		return f(Letter{d, m})
	})
}
