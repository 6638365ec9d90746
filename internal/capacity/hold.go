// Package capacity is the arithmetic of the platform: pure functions from what
// the configuration says to what Azure is told, each with its working as text.
package capacity

import (
	"fmt"
	"math"
	"time"
)

// Limits of a Service Bus lock.
// https://learn.microsoft.com/azure/service-bus-messaging/message-transfers-locks-settlement
const (
	minLock = 30 * time.Second // shorter locks are lost to one slow call
	maxLock = 5 * time.Minute  // Azure's limit
)

// MaxHold is the longest that a message may be held by renewing its lock. The
// service detaches links and connections that look idle, so work that takes
// longer belongs into a batch job.
const MaxHold = time.Hour

// holdFactor is how many times the 99th percentile of the work a message may
// be held before it is given to another worker.
const holdFactor = 3

// Hold is how long a worker may hold a message.
type Hold struct {
	Lock   time.Duration // lock duration of the queue, whole seconds
	Renew  time.Duration // how often the lock is renewed; 0: it covers the whole hold
	GiveUp time.Duration // after which the work on an item is cancelled; a message of many has as much for each
	Grace  time.Duration // that a stopping worker needs to finish or to let go
	Why    string
}

// settle is the time to write a result and complete a message.
const settle = 30 * time.Second

// HoldFor derives the hold from p99, the 99th percentile of the whole work on
// one message, and from batch, how many messages a worker fetches at once and
// works on one after another. It fails when no lock and no renewal can cover
// the work.
func HoldFor(p99 time.Duration, batch int) (Hold, error) {
	if p99 <= 0 || batch < 1 {
		return Hold{}, fmt.Errorf("the work on a message takes %s in batches of %d; both must be above zero", p99, batch)
	}
	if p99 > MaxHold || batch > int(MaxHold/p99) { // before multiplying, which could overflow
		return Hold{}, fmt.Errorf("%d x p99 %s x batch of %d is more than the %s that a message can be held by renewing its lock; post such work as a batch job", holdFactor, p99, batch, MaxHold)
	}
	need := time.Duration(math.Ceil((holdFactor * p99 * time.Duration(batch)).Seconds())) * time.Second
	h := Hold{Lock: max(minLock, need), GiveUp: max(minLock, need), Grace: p99 + settle}
	sum := fmt.Sprintf("%d x p99 %s x batch of %d = %s", holdFactor, p99, batch, need)
	switch {
	case need > MaxHold:
		return Hold{}, fmt.Errorf("%s is more than the %s that a message can be held by renewing its lock; post such work as a batch job", sum, MaxHold)
	case need > maxLock:
		h.Lock, h.Renew = maxLock, maxLock/3 // two renewals may fail
		h.Why = fmt.Sprintf("%s is more than a lock's %s: renewed every %s", sum, maxLock, h.Renew)
	default:
		h.Why = fmt.Sprintf("%s, at least %s", sum, minLock)
	}
	return h, nil
}

// TimeToLive is how long a message lives: as long as it may wait, and then all
// its deliveries. It comes in whole minutes.
func TimeToLive(wait time.Duration, deliveries int, hold Hold) (ttl time.Duration, why string) {
	ttl = wait + time.Duration(deliveries)*hold.GiveUp
	if rest := ttl % time.Minute; rest > 0 {
		ttl += time.Minute - rest
	}
	return ttl, fmt.Sprintf("%s of waiting + %d deliveries x %s = %s", wait, deliveries, hold.GiveUp, ttl)
}
