package sim

import (
	"context"
	"time"

	"onedoor/sim/core"
)

// clock moves the virtual time of a Cloud. It stands still while any request is
// being worked on, and moves to the end of the operation that ends first once
// all of them wait and no new one has come for the quiet span. So requests that
// a client sends together overlap, and no answer depends on real time.
//
// All fields are guarded by the Cloud's mutex.
type clock struct {
	cloud   *Cloud
	quiet   time.Duration
	working int       // requests that are not waiting
	waiting []*waiter // requests that wait for a virtual time
	timer   *time.Timer
}

type waiter struct {
	until time.Duration
	done  chan struct{}
}

// enter says that a request has come; the returned function that it is done.
func (c *Cloud) enter() (leave func()) {
	c.mu.Lock()
	c.clock.working++
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		c.clock.working--
		c.clock.rest()
		c.mu.Unlock()
	}
}

// Sleep returns when d has passed on the virtual clock. It is for clients in this
// process that wait between two requests.
func (c *Cloud) Sleep(ctx context.Context, d time.Duration) error {
	defer c.enter()()
	return c.wait(ctx, c.State().Now+d)
}

// Hold keeps virtual time from going on until release is called, so that whatever
// is sent in between overlaps.
func (c *Cloud) Hold() (release func()) { return c.enter() }

// wait returns when the virtual time has come. The caller has entered.
func (c *Cloud) wait(ctx context.Context, until time.Duration) error {
	c.mu.Lock()
	if c.state.Now >= until {
		c.mu.Unlock()
		return nil
	}
	w := &waiter{until: until, done: make(chan struct{})}
	c.clock.waiting = append(c.clock.waiting, w)
	c.clock.working--
	c.clock.rest()
	c.mu.Unlock()
	var err error
	select {
	case <-w.done:
		return nil // wake has counted us as working again
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.clock.waiting {
		if other == w {
			c.clock.waiting = append(c.clock.waiting[:i], c.clock.waiting[i+1:]...)
			c.clock.working++
			break
		}
	}
	return err
}

// rest is called whenever the number of working requests changed.
func (k *clock) rest() {
	if k.timer != nil {
		k.timer.Stop()
	}
	if k.working > 0 || len(k.waiting) == 0 {
		return
	}
	if k.quiet <= 0 {
		k.tick()
		return
	}
	k.timer = time.AfterFunc(k.quiet, func() {
		k.cloud.mu.Lock()
		defer k.cloud.mu.Unlock()
		if k.working == 0 {
			k.tick()
		}
	})
}

// tick moves to the earliest end of an operation, or to the earliest waiter if
// that comes first, and wakes who waited for it.
func (k *clock) tick() {
	for k.working == 0 && len(k.waiting) > 0 {
		to := k.waiting[0].until
		for _, w := range k.waiting[1:] {
			to = min(to, w.until)
		}
		if end, ok := k.cloud.state.Next(); ok {
			to = min(to, end)
		}
		k.advance(to)
	}
}

// advance moves the clock and wakes waiters; what ended in failure is kept for
// those who ask.
func (k *clock) advance(to time.Duration) {
	for id, o := range k.cloud.state.Operations {
		if o.End <= to && o.Fail != nil {
			k.cloud.fails[id] = o.Fail
		}
	}
	// The end of an operation is not written to the file: it follows from its
	// start, and Open settles what it finds running.
	k.cloud.state = core.Advance(k.cloud.state, to)
	still := k.waiting[:0]
	for _, w := range k.waiting {
		if w.until <= to {
			k.working++
			close(w.done)
			continue
		}
		still = append(still, w)
	}
	k.waiting = still
}
