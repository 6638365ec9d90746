package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"onedoor/services/worker/model"
	"onedoor/services/worker/payload"
	"onedoor/services/worker/store"
)

// kind is how a delivery ends.
type kind int

const (
	complete kind = iota // its result is written
	abandon              // somebody shall try again
	dead                 // nobody can mend it
	drop                 // it is no longer ours
)

// end is the end of a delivery.
type end struct {
	kind    kind
	reason  string     // of a dead letter, or why it was let go
	detail  string     // never a part of a payload
	tries   int        // that failed so far
	outcome string     // that is counted; "" for none
	at      time.Time  // of its result, or of becoming a dead letter
	used    store.Meta // of its result
}

// Outcomes that are counted beside those of results.
const (
	outcomeDead   = "dead_lettered"
	outcomeFailed = "failed" // a line of many
)

// Reasons of dead letters beside those of claims and payloads.
const (
	reasonQueue    = "wrong_queue"
	reasonAlias    = "alias_not_served"
	reasonRejected = "request_rejected"
	reasonLarge    = "answer_too_large"
	reasonRetries  = "retries_exhausted"
)

// maxDetail is the most that a dead letter says of itself, in bytes; the bus takes
// four times as much.
const maxDetail = 1024

// bury is the end as a dead letter.
func bury(reason, detail string) end {
	if len(detail) > maxDetail {
		detail = strings.ToValidUTF8(detail[:maxDetail], "") + "..."
	}
	return end{kind: dead, reason: reason, detail: detail, outcome: outcomeDead}
}

// settle does to the message what its end says, and tells whether it did. When the
// lock is lost, the next delivery finds the result, if there is one.
func (w *Worker) settle(ctx context.Context, d Delivery, e end) bool {
	var err error
	switch e.kind {
	case complete:
		err = d.Complete(ctx)
	case abandon:
		err = d.Abandon(ctx, e.tries)
	case dead:
		err = d.DeadLetter(ctx, e.reason, e.detail)
	case drop:
		err = ErrLockLost
	}
	switch {
	case errors.Is(err, ErrLockLost):
		w.Log.Warn("the lock was lost, another delivery follows")
	case err != nil:
		w.Log.Error("a message was not settled, another delivery follows", "error", err)
	case e.outcome != "":
		w.Metrics.Items.WithLabelValues(e.outcome).Inc()
	}
	return err == nil
}

// attributes are those of an end in logs.
func (e end) attributes() []slog.Attr {
	out := []slog.Attr{slog.String("end", [...]string{"completed", "abandoned", "dead-lettered", "dropped"}[e.kind])}
	for _, a := range []struct{ name, value string }{{"outcome", e.outcome}, {"reason", e.reason}, {"detail", e.detail}} {
		if a.value != "" {
			out = append(out, slog.String(a.name, a.value))
		}
	}
	return append(out, slog.Int("tries", e.tries))
}

// failed is the end that an error comes to.
func (it *item) failed(err error) end {
	if cause := context.Cause(it.ctx); cause != nil {
		return it.interrupted(cause, err)
	}
	var unfit *payload.Error
	var rejected *model.Rejected
	var large *model.TooLarge
	var often *exhausted
	switch {
	case unproven(err) != nil:
		return bury(unproven(err).Error(), err.Error())
	case errors.As(err, &unfit):
		return bury(unfit.Code, unfit.Err.Error())
	case errors.As(err, &rejected):
		return bury(reasonRejected, fmt.Sprintf("%d %s", rejected.Status, rejected.Code))
	case errors.As(err, &large):
		return bury(reasonLarge, large.Error())
	case errors.Is(err, store.ErrMissing), errors.Is(err, store.ErrChanged):
		return bury(err.Error(), "the blob is "+it.message.Blob)
	case errors.As(err, &often):
		return bury(reasonRetries, often.Error())
	}
	return end{kind: abandon, reason: err.Error(), tries: it.tries}
}

// interrupted is the end of work that was ended from outside. Taking too long is a
// try; that the worker stops, or can hold the message no longer, is none.
func (it *item) interrupted(cause, err error) end {
	if errors.Is(cause, ErrLockLost) {
		return end{kind: drop, reason: cause.Error(), tries: it.tries}
	}
	if errors.Is(cause, errGiveUp) {
		if often := it.tooLong(err); often != nil {
			return bury(reasonRetries, often.Error())
		}
	}
	return end{kind: abandon, reason: cause.Error(), tries: it.tries}
}
