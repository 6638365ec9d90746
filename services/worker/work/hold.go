package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"onedoor/internal/capacity"
)

// errGiveUp ends work on an item that takes too long.
var errGiveUp = errors.New("the work takes longer than a message may be held")

// errLongest ends work on a message that was held for as long as the bus lets it.
var errLongest = fmt.Errorf("the message was held for %s, the next delivery goes on", capacity.MaxHold)

// hold keeps a message while it is worked on: it renews the lock, and ends the work
// when the lock is lost, or was held for as long as it can be at all. It also ends the
// work on an item that takes too long. What that waits for quota is not its fault and
// does not count.
type hold struct {
	lock  context.Context // ends with the hold
	lose  context.CancelCauseFunc
	ended sync.WaitGroup

	ctx    context.Context // of the item at hand; ends with lock
	cancel context.CancelCauseFunc
	giveUp time.Duration // of an item
	timer  *time.Timer
	left   time.Duration
	since  time.Time
}

// newHold holds a delivery, and begins with its first item.
func newHold(parent context.Context, d Delivery, renew, giveUp time.Duration, log *slog.Logger) *hold {
	h := &hold{giveUp: giveUp - margin(giveUp)}
	h.lock, h.lose = context.WithCancelCause(parent)
	h.begin()
	h.ended.Go(func() { h.renew(d, renew, log) })
	return h
}

// begin gives the next item, or the next try of one, its whole time: what makes
// progress is not let go.
func (h *hold) begin() {
	if h.timer != nil {
		h.timer.Stop()
		h.cancel(context.Canceled)
	}
	ctx, cancel := context.WithCancelCause(h.lock)
	h.ctx, h.cancel, h.left, h.since = ctx, cancel, h.giveUp, time.Now()
	h.timer = time.AfterFunc(h.left, func() { cancel(errGiveUp) })
}

// margin is kept of the time to settle, while the lock lasts.
func margin(giveUp time.Duration) time.Duration { return min(5*time.Second, giveUp/10) }

// renew renews the lock until the work ends. That one renewal fails does no harm:
// there is another before the lock runs out.
func (h *hold) renew(d Delivery, every time.Duration, log *slog.Logger) {
	ticker, longest := time.NewTicker(every), time.NewTimer(capacity.MaxHold)
	defer ticker.Stop()
	defer longest.Stop()
	for {
		select {
		case <-h.lock.Done():
			return
		case <-longest.C:
			h.lose(errLongest)
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(h.lock, every)
		err := d.Renew(ctx)
		cancel()
		switch {
		case errors.Is(err, ErrLockLost):
			h.lose(ErrLockLost)
			return
		case err != nil && h.lock.Err() == nil:
			log.Warn("a lock was not renewed", "error", err)
		}
	}
}

// waiting runs what waits for quota, and does not count its time.
func (h *hold) waiting(wait func(ctx context.Context) error) error {
	if h.timer.Stop() {
		h.left -= time.Since(h.since)
	}
	defer func() {
		h.since = time.Now()
		h.timer.Reset(max(0, h.left))
	}()
	return wait(h.ctx)
}

// release ends the hold.
func (h *hold) release() {
	h.lose(context.Canceled)
	h.timer.Stop()
	h.ended.Wait()
}
