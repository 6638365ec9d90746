package quota

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func none() float64 { return 0 }

// take takes tokens, and returns how long it waited.
func take(t *testing.T, w *Window, tokens int) time.Duration {
	t.Helper()
	began := time.Now()
	require.NoError(t, w.Take(t.Context(), tokens))
	return time.Since(began)
}

func TestTokensOfAnyMinuteStayWithinThePromise(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(100, 1000, none)
		assert.Zero(t, take(t, w, 60))
		time.Sleep(20 * time.Second)
		assert.Zero(t, take(t, w, 40))
		assert.Equal(t, 40*time.Second, take(t, w, 60), "when the first 60 are a minute old")
		assert.Equal(t, 20*time.Second, take(t, w, 40))
	})
}

// No 60 seconds, wherever they begin, hold more than the promise.
func TestTheWindowSlides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(1000, 1000, none)
		type use struct {
			at     time.Time
			tokens int
		}
		var uses []use
		for i := range 300 {
			tokens := 1 + i*37%180
			take(t, w, tokens)
			uses = append(uses, use{time.Now(), tokens})
			time.Sleep(time.Duration(i*7%13) * time.Second)
		}
		for i, first := range uses {
			sum := 0
			for _, u := range uses[i:] {
				if u.at.Sub(first.at) < Span {
					sum += u.tokens
				}
			}
			require.LessOrEqual(t, sum, 1000)
		}
	})
}

func TestRequestsCountToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(1000, 2, none)
		assert.Zero(t, take(t, w, 1))
		assert.Zero(t, take(t, w, 1))
		assert.Equal(t, time.Minute, take(t, w, 1))
	})
}

// One that is larger than the promise would never fit: it goes alone.
func TestAnItemThatIsTooLargeTakesTheWholeWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(100, 1000, none)
		assert.Zero(t, take(t, w, 1))
		assert.Equal(t, time.Minute, take(t, w, 500))
		assert.Equal(t, time.Minute, take(t, w, 1))
	})
}

// A small item does not overtake a large one, which would wait for ever.
func TestNobodyOvertakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(100, 1000, none)
		take(t, w, 90)
		var mu sync.Mutex
		var order []int
		var group sync.WaitGroup
		for _, tokens := range []int{95, 5} {
			group.Go(func() {
				take(t, w, tokens)
				mu.Lock()
				defer mu.Unlock()
				order = append(order, tokens)
			})
			synctest.Wait()
		}
		group.Wait()
		assert.Equal(t, []int{95, 5}, order)
	})
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(100, 1000, none)
		take(t, w, 100)
		why := errors.New("why")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, why)
		defer cancel()
		go func() { assert.ErrorIs(t, w.Take(ctx, 1), why) }() // in turn
		synctest.Wait()
		require.ErrorIs(t, w.Take(ctx, 1), why) // behind it
		_, err := w.Room(ctx, 1)
		require.ErrorIs(t, err, why)
		assert.Equal(t, 59*time.Second, take(t, w, 100), "what was not taken is not used")
	})
}

func TestA429PausesAndShrinksTheWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(1000, 1000, none)
		take(t, w, 1)
		w.Throttled(10 * time.Second)
		w.Throttled(7 * time.Second) // that came at the same time
		assert.InDelta(t, 0.5, w.Share(), 0.001, "once for all that come together")
		assert.Equal(t, 10*time.Second, take(t, w, 400))
		assert.Equal(t, 50*time.Second, take(t, w, 110), "500 and a little are left, 1 comes back after a minute")
		time.Sleep(9 * time.Minute)
		assert.InDelta(t, 1, w.Share(), 0.001, "without another 429 it grows back")
		for range 20 {
			time.Sleep(10 * time.Second)
			w.Throttled(0)
		}
		assert.InDelta(t, least, w.Share(), 0.02)
		assert.GreaterOrEqual(t, w.Share(), least)
	})
}

// Replicas that were told to wait for the same time do not come back together.
func TestWaitsAreSpread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for random, want := range map[float64]time.Duration{0: 10 * time.Second, 0.5: 11250 * time.Millisecond, 1: 12500 * time.Millisecond} {
			w := New(1000, 1000, func() float64 { return random })
			w.Throttled(10 * time.Second)
			assert.Equal(t, want, take(t, w, 1))
		}
	})
}

// A model that asks for a day is asked again before.
func TestALongWaitIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(1000, 1000, none)
		w.Throttled(24 * time.Hour)
		assert.Equal(t, 2*time.Minute, take(t, w, 1))
	})
}

func TestMoreThanWasThoughtCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(100, 1000, none)
		take(t, w, 50)
		w.Used(50, 80)
		assert.Equal(t, time.Minute, take(t, w, 30), "80 are used")
		w = New(100, 1000, none)
		take(t, w, 50)
		w.Used(50, 10)
		assert.Equal(t, time.Minute, take(t, w, 60), "what was reserved stays so")
	})
}

func TestRoomIsForTypicalItems(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(100, 1000, none)
		room := func(most int) int {
			n, err := w.Room(t.Context(), most)
			require.NoError(t, err)
			return n
		}
		assert.Equal(t, 5, room(5), "nobody knows yet what is typical")
		take(t, w, 20)
		assert.Equal(t, 4, room(5))
		assert.Equal(t, 2, room(2))
		for range 4 {
			take(t, w, 20)
		}
		began := time.Now()
		assert.Equal(t, 5, room(9))
		assert.Equal(t, time.Minute, time.Since(began))
	})
}
