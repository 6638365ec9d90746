// Package work owns what a worker does with messages: which end each one comes to,
// when it is tried again, and how many are held at once. It knows queues, models and
// storage only by what it asks of them.
package work

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"onedoor/internal/capacity"
	"onedoor/internal/pause"
	"onedoor/services/internal/ring"
	"onedoor/services/worker/model"
	"onedoor/services/worker/payload"
	"onedoor/services/worker/quota"
	"onedoor/services/worker/report"
	"onedoor/services/worker/status"
	"onedoor/services/worker/store"
)

// Queue is where messages come from.
type Queue interface {
	// Receive waits for a message, and returns up to most. It fails with the
	// context's error when none comes before its end.
	Receive(ctx context.Context, most int) ([]Delivery, error)
}

// Delivery is a message that this worker holds. Its methods but Body and Tries fail
// with ErrLockLost when it does no longer.
type Delivery interface {
	Body() []byte
	Tries() int // of its item that failed in other deliveries
	Renew(ctx context.Context) error
	Complete(ctx context.Context) error
	Abandon(ctx context.Context, tries int) error
	DeadLetter(ctx context.Context, reason, description string) error
}

// ErrLockLost says that a message is no longer this worker's: another one has it, or
// will.
var ErrLockLost = errors.New("the lock of the message is lost")

// Limits are how much is done at once, how long, and how often.
type Limits struct {
	Parallel int             // items at once
	Fetch    int             // messages that each of them fetches at once
	Renew    time.Duration   // between two renewals of a lock; 0: a third of GiveUp
	GiveUp   time.Duration   // of work on an item, without what it waits for quota
	Grace    time.Duration   // from the end of Run's context to its return
	Attempts int             // tries of an item in all
	Backoff  []time.Duration // before the second try, the third, and so on; the last one repeats
	Check    int             // items of a message after which it notes how far it is
}

// Worker works on the messages of a queue.
type Worker struct {
	Queue   Queue
	Keys    ring.Ring
	Store   *store.Store
	Model   model.Caller
	Window  *quota.Window
	Maker   payload.Maker
	Limits  Limits
	Metrics *status.Metrics
	Health  *status.Health
	Report  func(context.Context, report.Item) error // to the control plane
	Cost    func(model.Usage) float64                // USD
	Log     *slog.Logger
}

const (
	// poll is how long one look at the queue takes at most.
	poll = time.Minute
	// oneWait is how long a worker for one message waits for it.
	oneWait = 30 * time.Second
	// slack is how late the worker may be with what it says of itself.
	slack = 4 * time.Minute
	// settleShare is the part of the grace that is kept for letting messages go.
	settleShare = 4
)

// errStopping ends work that did not finish within the grace.
var errStopping = errors.New("the worker stops")

// Run works until the context ends, then finishes or lets go what it holds within
// the grace, and returns.
func (w *Worker) Run(ctx context.Context) {
	held := make(chan Delivery) // to whoever is free
	slots := make(chan struct{}, w.Limits.Parallel*w.Limits.Fetch)
	working, stop := w.working(ctx)
	defer stop()
	var group sync.WaitGroup
	for range w.Limits.Parallel {
		group.Go(func() {
			for d := range held {
				w.handle(working, d)
				<-slots
			}
		})
	}
	var waiting sync.WaitGroup
	patience := time.Second
	for ctx.Err() == nil {
		got, err := w.receive(ctx, slots)
		switch {
		case ctx.Err() != nil, err == nil, errors.Is(err, context.DeadlineExceeded): // no message is no failure
			patience = time.Second
		default:
			w.Health.Receiving(false)
			w.Log.Error("the queue does not answer", "error", err, "again_in", patience.String())
			_ = pause.For(ctx, patience) // the loop looks at the context
			patience = min(2*patience, time.Minute)
		}
		for _, d := range got {
			waiting.Go(func() { w.pass(ctx, d, held, slots) })
		}
	}
	w.Health.Receiving(false)
	waiting.Wait()
	close(held)
	group.Wait()
}

// RunOne works on one message, if there is one.
func (w *Worker) RunOne(ctx context.Context) error {
	w.Health.Within(oneWait + capacity.MaxHold + slack)
	w.Health.Receiving(true)
	defer w.Health.Receiving(false)
	limited, cancel := context.WithTimeout(ctx, oneWait)
	defer cancel()
	if _, err := w.Window.Room(limited, 1); err != nil {
		return nil // there is no quota, so it stays for later
	}
	var got []Delivery
	for len(got) == 0 && limited.Err() == nil { // a link that breaks brings nothing, and no error
		var err error
		if got, err = w.Queue.Receive(limited, 1); err != nil && limited.Err() == nil {
			return err
		}
	}
	working, stop := w.working(ctx)
	defer stop()
	for _, d := range got {
		w.handle(working, d)
	}
	return nil
}

// working is the context of work: it outlives that of receiving by the grace, except
// for what letting go takes.
func (w *Worker) working(ctx context.Context) (context.Context, func()) {
	working, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	grace := w.Limits.Grace - w.Limits.Grace/settleShare
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, func() { cancel(errStopping) })
		context.AfterFunc(working, func() { timer.Stop() })
	})
	return working, func() { stop(); cancel(nil) }
}

// receive takes as many messages as there are free places and quota for. What it
// took holds its places in slots.
func (w *Worker) receive(ctx context.Context, slots chan struct{}) ([]Delivery, error) {
	w.Health.Within(capacity.MaxHold + slack) // all places may be taken
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	most := 1
	for most < cap(slots) && add(slots) {
		most++
	}
	taken := most
	defer func() {
		for range taken {
			<-slots
		}
	}()
	room, err := w.Window.Room(ctx, most)
	if err != nil {
		return nil, err
	}
	w.Health.Within(poll + slack)
	limited, cancel := context.WithTimeout(ctx, poll)
	defer cancel()
	w.Health.Receiving(true)
	got, err := w.Queue.Receive(limited, room)
	taken -= len(got)
	if len(got) > 0 {
		err = nil
	}
	return got, err
}

// add takes one more place, if there is one.
func add(slots chan<- struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// pass gives a message to whoever is free, or back to the queue when the worker
// stops before somebody is. Its lock is kept while it waits.
func (w *Worker) pass(ctx context.Context, d Delivery, held chan<- Delivery, slots <-chan struct{}) {
	renew := time.NewTicker(w.renewal())
	defer renew.Stop()
	for {
		select {
		case held <- d:
			return
		case <-renew.C:
			if errors.Is(d.Renew(ctx), ErrLockLost) {
				<-slots
				return
			}
		case <-ctx.Done():
			w.settle(context.WithoutCancel(ctx), d, end{kind: abandon, tries: d.Tries()})
			<-slots
			return
		}
	}
}

// renewal is the time between two renewals.
func (w *Worker) renewal() time.Duration {
	if w.Limits.Renew > 0 {
		return w.Limits.Renew
	}
	return max(time.Millisecond, w.Limits.GiveUp/3)
}
