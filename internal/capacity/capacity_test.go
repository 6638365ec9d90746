package capacity

import (
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHoldFollowsFromP99(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason              string
		p99                 time.Duration
		batch               int
		lock, renew, giveUp time.Duration
	}{
		"Short":     {"a lock is never shorter than 30 s", 2 * time.Second, 1, 30 * time.Second, 0, 30 * time.Second},
		"Plain":     {"the lock covers three times p99", 40 * time.Second, 1, 2 * time.Minute, 0, 2 * time.Minute},
		"Fraction":  {"whole seconds, rounded up", 33_400 * time.Millisecond, 1, 101 * time.Second, 0, 101 * time.Second},
		"Limit":     {"5 minutes is the longest lock", 100 * time.Second, 1, 5 * time.Minute, 0, 5 * time.Minute},
		"Beyond":    {"beyond it the lock is renewed", 101 * time.Second, 1, 5 * time.Minute, 100 * time.Second, 303 * time.Second},
		"InBatches": {"messages of a batch wait for one another", 10 * time.Second, 8, 4 * time.Minute, 0, 4 * time.Minute},
		"Longest":   {"an hour is the longest hold", 20 * time.Minute, 1, 5 * time.Minute, 100 * time.Second, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := HoldFor(c.p99, c.batch)
			require.NoError(t, err, c.reason)
			assert.Equal(t, c.lock, h.Lock, c.reason)
			assert.Equal(t, c.renew, h.Renew, c.reason)
			assert.Equal(t, c.giveUp, h.GiveUp, c.reason)
			assert.NotEmpty(t, h.Why)
		})
	}
}

func TestWorkThatNoLockCoversIsRefused(t *testing.T) {
	t.Parallel()
	_, err := HoldFor(20*time.Minute+time.Second, 1)
	require.ErrorContains(t, err, "3 x p99 20m1s x batch of 1 = 1h0m3s is more than the 1h0m0s")
	_, err = HoldFor(900_000*time.Hour, 1)
	require.ErrorContains(t, err, "is more than the 1h0m0s", "whose triple would overflow")
	_, err = HoldFor(time.Second, 1<<40)
	require.Error(t, err)
	_, err = HoldFor(0, 1)
	require.Error(t, err)
	_, err = HoldFor(time.Second, 0)
	require.Error(t, err)
}

// Whatever the work, a hold that is accepted covers three times p99, by a lock
// that Azure takes, and two renewals may fail.
func TestHoldProperties(t *testing.T) {
	t.Parallel()
	property := func(seconds uint16, size uint8) bool {
		p99, batch := time.Duration(seconds)*time.Second, int(size%16)
		h, err := HoldFor(p99, batch)
		need := 3 * p99 * time.Duration(batch)
		if err != nil {
			return p99 == 0 || batch == 0 || need > MaxHold
		}
		covers := h.GiveUp >= need && (h.Lock >= h.GiveUp || h.Renew > 0 && 3*h.Renew <= h.Lock)
		return covers && h.Lock >= minLock && h.Lock <= maxLock && h.Grace > p99 && h.Lock%time.Second == 0
	}
	require.NoError(t, quick.Check(property, &quick.Config{MaxCount: 5000}))
}

// A message outlives its waiting and all its deliveries, by less than a minute.
func TestTimeToLiveProperties(t *testing.T) {
	t.Parallel()
	property := func(wait uint32, deliveries uint8, giveUp uint16) bool {
		w, g := time.Duration(wait)*time.Second, time.Duration(giveUp)*time.Second
		ttl, why := TimeToLive(w, int(deliveries), Hold{GiveUp: g})
		sum := w + time.Duration(deliveries)*g
		return ttl >= sum && ttl < sum+time.Minute && ttl%time.Minute == 0 && why != ""
	}
	require.NoError(t, quick.Check(property, nil))
}

// A payload outlives everything that may still need it by at least a day, and
// by less than two.
func TestRetentionProperties(t *testing.T) {
	t.Parallel()
	property := func(ttl, window, triage uint16) bool {
		sum := time.Duration(int(ttl)+int(window)+int(triage)) * time.Minute
		days, _ := MinRetentionDays(time.Duration(ttl)*time.Minute, time.Duration(window)*time.Minute, time.Duration(triage)*time.Minute)
		kept := time.Duration(days) * day
		return kept >= sum+day && kept < sum+2*day
	}
	require.NoError(t, quick.Check(property, nil))
	days, why := MinRetentionDays(26*time.Hour, BatchWindow, 72*time.Hour)
	assert.Equal(t, 7, days)
	assert.Equal(t, "(message 26h0m0s + back end 24h0m0s + dead-letter triage 72h0m0s) in whole days + 1 = 7 days", why)
}
