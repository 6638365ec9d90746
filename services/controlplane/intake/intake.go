// Package intake owns how an item gets into a queue: its payload into storage, a
// claim check with a proof of whose it is onto the bus, and, if it died there, back
// again or out of the way. What workers do with it belongs to them.
package intake

import (
	"context"
	"iter"
	"time"

	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/internal/claim"
	"onedoor/services/internal/ring"
)

// Message is a message as it goes onto the bus.
type Message struct {
	ID          string // the bus drops a second one
	Correlation string // follows the item through logs and traces
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
	// Dead are the dead letters of a queue, from the sequence number on, in their
	// order. An error is the last that there is.
	Dead(ctx context.Context, queue string, from int64) iter.Seq2[Dead, error]
	// Take calls f with the dead letter of that number, and removes it unless f
	// returns an error. ErrNoLetter if there is none, ErrHeld if another call has it.
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
	return in.Bus.Send(ctx, Message{ID: item.Message.ID(), Correlation: item.Correlation, ContentType: item.ContentType, Body: body, TimeToLive: item.TimeToLive})
}

// Letter is a dead letter with whose it is.
type Letter struct {
	Dead
	claim.Message
}

// ErrNoLetter says that there is no dead letter of that number, or none of the
// caller's.
var ErrNoLetter = apierror.New(apierror.NotFound, "sequence", "there is no such dead letter; list them with GET /dlq")

// ErrHeld says that a dead letter cannot be had now.
var ErrHeld = apierror.New(apierror.ServiceUnavailable, "sequence", "another call holds this dead letter, or one before it, at the moment; it is still there. Ask again after the time in Retry-After.").After(10 * time.Second)

// Letters are the tenant's first dead letters of a queue, from the sequence number on,
// however many of others lie between. One whose claim does not prove whose it is is
// nobody's.
func (in Intake) Letters(ctx context.Context, queue, tenant string, from int64, limit int) ([]Letter, error) {
	var out []Letter
	for d, err := range in.Bus.Dead(ctx, queue, from) {
		if err != nil {
			return nil, err
		}
		if m, err := claim.Verify(d.Body, in.Keys); err == nil && m.Tenant == tenant {
			out = append(out, Letter{d, m})
		}
		if len(out) == limit {
			break
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
		return in.Bus.Send(ctx, Message{ID: id, Correlation: l.Correlation, ContentType: again.ContentType, Body: body, TimeToLive: again.TimeToLive})
	})
}

// take takes a dead letter of the tenant's. It is looked at before: of another's
// nobody learns even that it is held.
func (in Intake) take(ctx context.Context, queue, tenant string, sequence int64, f func(Letter) error) error {
	found, err := in.Letters(ctx, queue, tenant, sequence, 1)
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].Sequence != sequence {
		return ErrNoLetter
	}
	return in.Bus.Take(ctx, queue, sequence, func(d Dead) error { return f(Letter{d, found[0].Message}) })
}
