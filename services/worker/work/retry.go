package work

import (
	"errors"
	"fmt"
	"time"

	"onedoor/internal/pause"
	"onedoor/services/internal/claim"
	"onedoor/services/worker/model"
	"onedoor/services/worker/payload"
	"onedoor/services/worker/store"
)

// waited marks an end that came while nothing was tried.
type waited struct{ error }

func (w waited) Unwrap() error { return w.error }

// exhausted says that an item was tried as often as it may be.
type exhausted struct {
	tries int
	last  error
}

func (e *exhausted) Error() string {
	return fmt.Sprintf("tried %d times, at last: %v", e.tries, e.last)
}

// retry calls a model until it answers, no try mends it, or the item was tried often
// enough. A 429 is no try: it waits for as long as the model asks. Neither is a call
// that another item spoiled.
func (it *item) retry(try func() error) error {
	for {
		err := try()
		if throttled, ok := errors.AsType[*model.Throttled](err); ok {
			it.Metrics.Throttled.Inc()
			it.Window.Throttled(throttled.After)
			continue // the window waits
		}
		if errors.Is(err, model.ErrSpoiled) {
			continue
		}
		if err == nil || it.ctx.Err() != nil || final(err) {
			return err
		}
		it.tries++
		it.Metrics.Retries.WithLabelValues(retryReason(err)).Inc()
		if it.tries >= it.Limits.Attempts {
			return &exhausted{it.tries, err}
		}
		if pause.For(it.ctx, it.backoff(it.tries)) != nil {
			return waited{err}
		}
	}
}

// tooLong counts a try that took too long and failed with err, unless nothing was
// being tried. It fails when that was the last one.
func (it *item) tooLong(err error) error {
	if _, idle := errors.AsType[waited](err); idle {
		return nil
	}
	it.tries++
	it.Metrics.Retries.WithLabelValues("timeout").Inc()
	if it.tries >= it.Limits.Attempts {
		return &exhausted{it.tries, errGiveUp}
	}
	return nil
}

// stored asks storage for something until it works, no try mends it, or the message
// is let go. None of it counts as a try of the item: it waits for storage to be well.
func (it *item) stored(try func() error) error {
	for n := 1; ; n++ {
		err := try()
		if err == nil || final(err) {
			return err
		}
		it.Metrics.Retries.WithLabelValues("storage").Inc()
		if it.ctx.Err() != nil || pause.For(it.ctx, it.backoff(n)) != nil {
			return waited{err}
		}
	}
}

// backoff is what is waited after so many tries.
func (w *Worker) backoff(tries int) time.Duration {
	return w.Limits.Backoff[min(tries, len(w.Limits.Backoff))-1]
}

// final says whether no second try mends an error.
func final(err error) bool {
	var unfit *payload.Error
	var rejected *model.Rejected
	var large *model.TooLarge
	return errors.As(err, &unfit) || errors.As(err, &rejected) || errors.As(err, &large) || unproven(err) != nil ||
		errors.Is(err, store.ErrMissing) || errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrTaken)
}

// unproven is why a message is none of a tenant's; nil when that is not the error.
func unproven(err error) error {
	for _, reason := range []error{claim.ErrTooLarge, claim.ErrMalformed, claim.ErrNotProven} {
		if errors.Is(err, reason) {
			return reason
		}
	}
	return nil
}

// retryReason is the reason of a try that failed, as metrics have it.
func retryReason(err error) string {
	if failed, ok := errors.AsType[*model.Failed](err); ok {
		return failed.Reason
	}
	return "other"
}
