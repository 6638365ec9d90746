package work

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"onedoor/internal/capacity"
)

// errGiveUp ends work that takes too long.
var errGiveUp = errors.New("the work takes longer than a message may be held")

// hold keeps a message while it is worked on: it renews the lock, and ends the work
// when the lock is lost or the work takes too long. What the work waits for quota is
// not its fault and does not count, up to the longest that a message can be held at
// all.
type hold struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  sync.WaitGroup

	mu    sync.Mutex
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// newHold holds a delivery.
func newHold(parent context.Context, d Delivery, renew, giveUp time.Duration, log *slog.Logger) *hold {
	h := &hold{left: giveUp - margin(giveUp), since: time.Now()}
	h.ctx, h.cancel = context.WithCancelCause(parent)
	h.timer = time.AfterFunc(h.left, func() { h.cancel(errGiveUp) })
	h.ended.Go(func() { h.renew(d, renew, log) })
	return h
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
		case <-h.ctx.Done():
			return
		case <-longest.C:
			h.cancel(errGiveUp)
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(h.ctx, every)
		err := d.Renew(ctx)
		cancel()
		switch {
		case errors.Is(err, ErrLockLost):
			h.cancel(ErrLockLost)
			return
		case err != nil && h.ctx.Err() == nil:
			log.Warn("a lock was not renewed", "error", err)
		}
	}
}

// waiting runs what waits for quota, and does not count its time.
func (h *hold) waiting(wait func(ctx context.Context) error) error {
	h.mu.Lock()
	if h.timer.Stop() {
		h.left -= time.Since(h.since)
	}
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.since = time.Now()
		h.timer.Reset(max(0, h.left))
		h.mu.Unlock()
	}()
	return wait(h.ctx)
}

// release ends the hold.
func (h *hold) release() {
	h.cancel(context.Canceled)
	h.mu.Lock()
	h.timer.Stop()
	h.mu.Unlock()
	h.ended.Wait()
}
