package outbox_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/outbox"
	"onedoor/services/controlplane/schedule"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// sink takes what it is told to.
type sink struct {
	refuse func(schedule.Event) bool
	seen   []string // jobs of the events that were taken
	calls  int
}

func (s *sink) Send(_ context.Context, events []schedule.Event) (taken []int, err error) {
	s.calls++
	for i, e := range events {
		if s.refuse != nil && s.refuse(e) {
			err = errors.New("refused")
			continue
		}
		taken = append(taken, i)
		s.seen = append(s.seen, e.Job)
	}
	return taken, err
}

// fixture is an outbox before a sink, at a time.
type fixture struct {
	*outbox.Outbox
	sink  *sink
	clock time.Time
}

func open(table ledger.Table) *fixture {
	f := &fixture{sink: &sink{}, clock: now}
	f.Outbox = &outbox.Outbox{Table: table, Sink: f.sink, Now: func() time.Time { return f.clock }}
	return f
}

func late(job string, ago time.Duration) schedule.Event {
	return schedule.Event{Name: schedule.Late, At: now.Add(-ago), Tenant: "desk", Job: job}
}

func (f *fixture) put(t *testing.T, events ...schedule.Event) {
	t.Helper()
	for _, e := range events {
		require.NoError(t, f.Put(t.Context(), e))
	}
}

func TestEventsStayUntilTheyAreTaken(t *testing.T) {
	t.Parallel()
	table := ledger.NewLocal()
	f := open(table)
	f.sink.refuse = func(e schedule.Event) bool { return e.Job != "a" }
	f.put(t, late("a", time.Hour), late("b", 2*time.Hour), late("c", time.Minute))
	oldest, err := f.Send(t.Context())
	require.ErrorContains(t, err, "refused")
	assert.Equal(t, now.Add(-2*time.Hour), oldest)
	assert.Equal(t, []string{"a"}, f.sink.seen)

	next := open(table) // another instance leads now
	oldest, err = next.Send(t.Context())
	require.NoError(t, err)
	assert.Zero(t, oldest)
	assert.ElementsMatch(t, []string{"b", "c"}, next.sink.seen, "each of what was left, and nothing twice")
	_, err = next.Send(t.Context())
	require.NoError(t, err)
	assert.Len(t, next.sink.seen, 2)
}

// An event that is said again while it waits is one; its first time counts.
func TestAnEventWaitsOnce(t *testing.T) {
	t.Parallel()
	f := open(ledger.NewLocal())
	f.put(t, late("a", time.Hour), late("a", 0))
	f.sink.refuse = func(schedule.Event) bool { return true }
	oldest, err := f.Send(t.Context())
	require.Error(t, err)
	assert.Equal(t, now.Add(-time.Hour), oldest)
	f.sink.refuse, f.clock = nil, now.Add(time.Hour)
	_, err = f.Send(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, f.sink.seen)
}

// One event that nobody takes, out of many requests, holds up none of the others.
func TestARefusedEventHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	f := open(ledger.NewLocal())
	for i := range 250 {
		f.put(t, late(strconv.Itoa(i), time.Minute))
	}
	f.sink.refuse = func(e schedule.Event) bool { return e.Job == "7" }
	_, err := f.Send(t.Context())
	require.Error(t, err)
	assert.Equal(t, 3, f.sink.calls, "a hundred in a request")
	assert.Len(t, f.sink.seen, 249)
}

// After failures the sink is left alone, longer each time and five minutes at most.
func TestFailuresAreNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	f := open(ledger.NewLocal())
	f.put(t, late("a", 0))
	f.sink.refuse = func(schedule.Event) bool { return true }
	var at []time.Duration
	for calls := 0; f.clock.Before(now.Add(20 * time.Minute)); f.clock = f.clock.Add(5 * time.Second) {
		_, err := f.Send(t.Context())
		if f.sink.calls > calls {
			require.Error(t, err)
			at = append(at, f.clock.Sub(now).Round(time.Second))
		} else {
			require.NoError(t, err, "nothing was tried")
		}
		calls = f.sink.calls
	}
	const s, m = time.Second, time.Minute
	assert.Equal(t, []time.Duration{0, 5 * s, 15 * s, 35 * s, 75 * s, 155 * s, 315 * s, 615 * s, 915 * s}, at)
	assert.Equal(t, 5*m, at[8]-at[7])
}
