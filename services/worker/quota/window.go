// Package quota owns how much of a model a replica uses: what it was promised in any
// 60 seconds, and less when the model says that this is too much. It knows nothing
// of other replicas.
package quota

import (
	"context"
	"sync"
	"time"

	"onedoor/internal/pause"
)

// Span is the time that the promise is about.
const Span = time.Minute

// How a window adapts: a 429 halves it, and time without one lets it grow back, as
// congestion control does. https://www.rfc-editor.org/rfc/rfc5681
const (
	cut     = 0.5
	least   = 1.0 / 64
	growth  = 0.05 / 60 // a second: from half to the whole in 10 minutes
	apart   = 5 * time.Second
	spread  = 0.25            // of a wait that is added at most, so that replicas do not come back together
	noLimit = 2 * time.Minute // a model that asks for more is asked again before
)

// Window is what may be used, and what was. All methods may be called at the same
// time.
type Window struct {
	tokens, requests int
	random           func() float64 // from 0 to 1

	turn chan struct{} // held by whoever waits first: nobody overtakes

	mu      sync.Mutex
	spent   []spend
	share   float64 // of the promise, at since
	since   time.Time
	paused  time.Time // until then nothing is used
	typical float64   // tokens of an item
}

// spend is one use.
type spend struct {
	at     time.Time
	tokens int
}

// New returns a window of tokens and requests a minute. random spreads waits, from
// 0 to 1.
func New(tokens, requests int, random func() float64) *Window {
	return &Window{tokens: tokens, requests: requests, random: random, turn: make(chan struct{}, 1), share: 1}
}

// Take waits until so many tokens and one request may be used, and uses them. One
// that is larger than the window takes all of it. Those who wait are served in turn.
func (w *Window) Take(ctx context.Context, tokens int) error {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for {
		wait := w.try(tokens, true)
		if wait <= 0 {
			return nil
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}

// Room waits until a typical item fits, and returns how many of most do: what is
// fetched and then waits would hold its lock for nothing.
func (w *Window) Room(ctx context.Context, most int) (int, error) {
	for {
		w.mu.Lock()
		typical := int(w.typical)
		w.mu.Unlock()
		wait := w.try(typical, false)
		if wait <= 0 {
			return w.fits(typical, most), nil
		}
		if err := pause.For(ctx, wait); err != nil {
			return 0, err
		}
	}
}

// Throttled hears of a 429 that asks for a wait. The window shrinks, once for all
// that come together, and nothing is used until the wait is over.
func (w *Window) Throttled(after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	after = min(after, noLimit)
	after += time.Duration(w.random() * spread * float64(after))
	if until := now.Add(after); until.After(w.paused) {
		w.paused = until
	}
	share := w.now(now)
	if now.Sub(w.since) >= apart || w.since.IsZero() {
		w.share, w.since = max(least, share*cut), now
	}
}

// Used corrects what a request was thought to use by what the model counted, when
// that is more: Azure keeps what a request might have used, not what it did.
// https://learn.microsoft.com/azure/ai-services/openai/how-to/quota
func (w *Window) Used(thought, counted int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if counted > thought {
		w.spent = append(w.spent, spend{time.Now(), counted - thought})
	}
}

// Share is what of the promise is used at present, above 0 to 1.
func (w *Window) Share() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now(time.Now())
}

// now is the share at a time.
func (w *Window) now(t time.Time) float64 {
	return min(1, w.share+growth*t.Sub(w.since).Seconds())
}

// try is how long to wait until the tokens may be used; 0 for now, and then they
// are, if take is set.
func (w *Window) try(tokens int, take bool) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if now.Before(w.paused) {
		return w.paused.Sub(now)
	}
	w.forget(now)
	share := w.now(now)
	mayTokens, mayRequests := int(share*float64(w.tokens)), max(1, int(share*float64(w.requests)))
	used := 0
	for _, s := range w.spent {
		used += s.tokens
	}
	if len(w.spent) == 0 || used+tokens <= mayTokens && len(w.spent) < mayRequests {
		if take {
			w.spent = append(w.spent, spend{now, tokens})
			if w.typical == 0 {
				w.typical = float64(tokens)
			}
			w.typical += (float64(tokens) - w.typical) / 8
		}
		return 0
	}
	// What was used first is given back first. As the window grows, it may be less.
	return w.spent[0].at.Add(Span).Sub(now)
}

// fits is how many typical items fit now, from 1 to most.
func (w *Window) fits(typical, most int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	share, used := w.now(now), 0
	for _, s := range w.spent {
		used += s.tokens
	}
	free := int(share*float64(w.requests)) - len(w.spent)
	if typical > 0 {
		free = min(free, (int(share*float64(w.tokens))-used)/typical)
	}
	return max(1, min(free, most))
}

// forget drops what was used a whole span ago.
func (w *Window) forget(now time.Time) {
	i := 0
	for i < len(w.spent) && now.Sub(w.spent[i].at) >= Span {
		i++
	}
	w.spent = w.spent[i:]
}
