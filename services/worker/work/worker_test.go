package work

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/worker/model"
	"onedoor/services/worker/quota"
)

func TestSoManyItemsAreWorkedOnAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.takes = 10 * time.Second
		for i := range 12 {
			w.post(strconv.Itoa(i), "application/json", chat)
		}
		go func() {
			time.Sleep(5 * time.Second)
			assert.Equal(t, 5, w.gateway.count())
			_, held, _ := w.queue.counts()
			assert.Equal(t, 5, held, "no more are held than are worked on")
		}()
		w.run(25 * time.Second)
		assert.Len(t, w.queue.done, 12)
	})
}

// Messages that wait behind others keep their locks.
func TestMessagesThatAreFetchedAheadKeepTheirLocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Limits.Parallel, w.Limits.Fetch = 1, 4
		w.gateway.takes = 20 * time.Second
		for i := range 4 {
			w.post(strconv.Itoa(i), "application/json", chat)
		}
		w.run(90 * time.Second) // three times the lock
		assert.Len(t, w.queue.done, 4)
		assert.Equal(t, 4, w.gateway.count())
	})
}

// SIGTERM: nothing new is received, what is begun is finished within the grace, and
// what is not begun, or not finished, goes back and counts as no try.
func TestAWorkerThatStopsFinishesOrLetsGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes time.Duration
		done  int
		after time.Duration
	}{
		"Finishes": {15 * time.Second, 2, 15 * time.Second},
		"LetsGo":   {time.Minute, 0, 5*time.Second + 22500*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.Limits.Parallel, w.Limits.Fetch = 2, 2
				w.gateway.takes = c.takes
				for i := range 6 {
					w.post(strconv.Itoa(i), "application/json", chat)
				}
				began := time.Now()
				w.run(5 * time.Second)
				assert.Equal(t, c.after, time.Since(began))
				assert.Len(t, w.queue.done, c.done)
				assert.Len(t, w.queue.ready, 6-c.done)
				assert.Empty(t, w.queue.held)
				for _, m := range w.queue.ready {
					assert.Zero(t, m.tries)
				}
			})
		})
	}
}

// What a worker may not call for now stays in the queue, for others.
func TestNothingIsReceivedWithoutQuota(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Window = quota.New(10*134, 1000, func() float64 { return 0 }) // an item has 134
		w.Limits.Parallel = 1
		for i := range 30 {
			w.post(strconv.Itoa(i), "application/json", chat)
		}
		go func() {
			time.Sleep(30 * time.Second)
			ready, held, done := w.queue.counts()
			assert.Equal(t, []int{20, 0, 10}, []int{ready, held, done})
		}()
		w.run(59 * time.Second)
		assert.Equal(t, 10, w.gateway.count())
		w.run(3 * time.Minute)
		assert.Len(t, w.queue.done, 30)
	})
}

func TestAWorkerForOneMessageEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.post("1", "application/json", chat)
		w.post("2", "application/json", chat)
		require.NoError(t, w.RunOne(t.Context()))
		assert.Equal(t, []string{"1"}, w.queue.done)
		assert.Len(t, w.queue.ready, 1)
		require.NoError(t, w.RunOne(t.Context()))
		began := time.Now()
		require.NoError(t, w.RunOne(t.Context()), "no message is no failure")
		assert.Equal(t, 30*time.Second, time.Since(began))
		w.Queue = &flaky{queue: w.queue, failures: 1}
		require.ErrorContains(t, w.RunOne(t.Context()), "no connection")
		w.Queue = &idle{queue: w.queue}
		w.post("3", "application/json", chat)
		require.NoError(t, w.RunOne(t.Context()))
		assert.Equal(t, []string{"1", "2", "3"}, w.queue.done)
	})
}

// idle is a queue that brings nothing at first.
type idle struct {
	*queue
	asked bool
}

func (i *idle) Receive(ctx context.Context, most int) ([]Delivery, error) {
	if !i.asked {
		i.asked = true
		return nil, nil
	}
	return i.queue.Receive(ctx, most)
}

func TestAQueueThatDoesNotAnswerIsAskedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		down := &flaky{queue: w.queue, failures: 3}
		w.Queue = down
		w.post("1", "application/json", chat)
		go func() {
			time.Sleep(time.Millisecond)
			assert.EqualValues(t, 1, down.asked.Load())
			time.Sleep(time.Second)
			assert.EqualValues(t, 2, down.asked.Load())
		}()
		w.run(10 * time.Second)
		assert.Equal(t, []string{"1"}, w.queue.done)
		assert.Contains(t, w.log.String(), "the queue does not answer")
	})
}

// flaky is a queue that fails at first.
type flaky struct {
	*queue
	failures int64
	asked    atomic.Int64
}

func (f *flaky) Receive(ctx context.Context, most int) ([]Delivery, error) {
	if f.asked.Add(1) <= f.failures {
		return nil, fmt.Errorf("no connection")
	}
	return f.queue.Receive(ctx, most)
}

// A worker whose places are all taken is alive.
func TestABusyWorkerIsAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.takes = 30 * time.Minute
		w.Limits.GiveUp = time.Hour
		for i := range 5 {
			w.post(strconv.Itoa(i), "application/json", chat)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
		defer cancel()
		go w.Run(ctx)
		time.Sleep(15 * time.Minute)
		assert.Equal(t, []int{200, 200}, w.states(t))
		<-ctx.Done()
		time.Sleep(40 * time.Minute) // it does nothing any more
		assert.Equal(t, []int{200, 503}, w.states(t))
		time.Sleep(time.Hour)
		assert.Equal(t, []int{503, 503}, w.states(t))
	})
}

var _ model.Caller = (*gateway)(nil)
