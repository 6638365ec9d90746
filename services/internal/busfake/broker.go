package busfake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Azure/go-amqp"
)

// Outcome is what a receiver does with a message.
type Outcome string

// The outcomes of deliveries.
const (
	Completed    Outcome = "completed"
	Abandoned    Outcome = "abandoned"
	DeadLettered Outcome = "dead-lettered"
	Released     Outcome = "released"
)

// deadLetters is what comes after a queue's name in that of its dead letters.
const deadLetters = "/$DeadLetterQueue"

// The bus's own reason for a dead letter.
const reasonDeliveries = "MaxDeliveryCountExceeded"

// Names of a dead letter's properties.
const (
	propertyReason      = "DeadLetterReason"
	propertyDescription = "DeadLetterErrorDescription"
)

// errLockLost says that a message is no longer its receiver's.
var errLockLost = errors.New("the lock supplied is invalid: it has expired, or the message is gone")

// token identifies a lock. Its first half is zero, so that it is the same in both
// byte orders that the protocol has for it.
type token [16]byte

// message is one message of a queue.
type message struct {
	*amqp.Message
	sequence   int64
	enqueued   time.Time
	deliveries uint32 // that failed
	lock       token
	until      time.Time
}

// id is the message's id; "" without one.
func (m *message) id() string {
	if m.Properties == nil {
		return ""
	}
	id, _ := m.Properties.MessageID.(string)
	return id
}

// queue holds messages until somebody completes them.
type queue struct {
	name   string
	lock   time.Duration
	most   uint32 // deliveries; 0 for any number
	ready  []*message
	locked map[token]*message
	seen   map[string]bool // ids of all messages that were sent here
	dead   *queue          // nil for the dead letters of another
	sinks  []*link         // receivers, in the order of their attachment
}

func newQueue(name string, lock time.Duration, most int) *queue {
	q := &queue{name: name, lock: lock, most: uint32(most), locked: map[token]*message{}, seen: map[string]bool{}}
	if most > 0 {
		q.dead = newQueue(name+deadLetters, lock, 0)
	}
	return q
}

// send takes a message for the entity. Everything below holds the broker's lock.
func (b *Bus) send(entity string, m *amqp.Message) error {
	var targets []*queue
	if q, ok := b.queues[strings.ToLower(entity)]; ok {
		targets = []*queue{q}
	} else if topic, ok := b.topics[strings.ToLower(entity)]; ok {
		for _, s := range topic.Subscriptions {
			if s.ContentType == "" || m.Properties != nil && m.Properties.ContentType != nil && *m.Properties.ContentType == s.ContentType {
				targets = append(targets, b.queues[strings.ToLower(s.ForwardTo)])
			}
		}
	} else {
		return fmt.Errorf("there is no entity %q", entity)
	}
	data, err := m.MarshalBinary()
	if err != nil {
		return err
	}
	for _, q := range targets {
		own := &message{Message: new(amqp.Message), enqueued: time.Now()}
		if err := own.UnmarshalBinary(data); err != nil {
			return err
		}
		if id := own.id(); id != "" {
			if q.seen[id] {
				continue // a duplicate is accepted, and dropped
			}
			q.seen[id] = true
		}
		b.enqueue(q, own)
	}
	return nil
}

// enqueue adds a message at the end of a queue.
func (b *Bus) enqueue(q *queue, m *message) {
	b.sequence++
	m.sequence = b.sequence
	q.ready = append(q.ready, m)
	b.deliver(q)
}

// deliver gives messages to receivers that have credit, in turn.
func (b *Bus) deliver(q *queue) {
	for len(q.ready) > 0 {
		i := slices.IndexFunc(q.sinks, func(l *link) bool { return l.credit > 0 })
		if i < 0 {
			return
		}
		sink, m := q.sinks[i], q.ready[0]
		q.ready = q.ready[1:]
		q.sinks = append(slices.Delete(q.sinks, i, i+1), sink)
		b.locks++
		binary.BigEndian.PutUint64(m.lock[8:], b.locks)
		m.until = time.Now().Add(q.lock)
		q.locked[m.lock] = m
		sink.deliver(q, m)
	}
}

// back makes a message available again, or a dead letter when that was its last
// delivery.
func (b *Bus) back(q *queue, m *message, failed bool) {
	delete(q.locked, m.lock)
	if failed {
		m.deliveries++
	}
	if q.most > 0 && m.deliveries >= q.most {
		b.bury(q, m, reasonDeliveries, fmt.Sprintf("delivered %d times", m.deliveries))
		return
	}
	at, _ := slices.BinarySearchFunc(q.ready, m, func(a, b *message) int { return int(a.sequence - b.sequence) })
	q.ready = slices.Insert(q.ready, at, m)
	b.deliver(q)
}

// bury makes a message a dead letter.
func (b *Bus) bury(q *queue, m *message, reason, description string) {
	delete(q.locked, m.lock)
	if q.dead == nil {
		return
	}
	m.set(propertyReason, reason)
	m.set(propertyDescription, description)
	m.deliveries = 0
	b.enqueue(q.dead, m)
}

// set sets an application property.
func (m *message) set(name string, value any) {
	if m.ApplicationProperties == nil {
		m.ApplicationProperties = map[string]any{}
	}
	m.ApplicationProperties[name] = value
}

// settle does with a locked message what its receiver says. changes become
// properties of the message; a dead letter has its reason among them.
func (b *Bus) settle(q *queue, lock token, outcome Outcome, changes map[string]any) error {
	m, ok := q.locked[lock]
	if !ok {
		return errLockLost
	}
	if b.losesLock != nil && outcome != Released && b.losesLock(q.name, m.id(), outcome) {
		b.back(q, m, true)
		return errLockLost
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if outcome != DeadLettered || name != propertyReason && name != propertyDescription {
			m.set(name, changes[name])
		}
	}
	switch outcome {
	case Completed:
		delete(q.locked, lock)
	case Abandoned:
		b.back(q, m, true)
	case Released:
		b.back(q, m, false)
	case DeadLettered:
		b.bury(q, m, fmt.Sprint(changes[propertyReason]), fmt.Sprint(changes[propertyDescription]))
	}
	return nil
}

// renew makes a lock last its whole time again.
func (q *queue) renew(lock token) (time.Time, error) {
	m, ok := q.locked[lock]
	if !ok {
		return time.Time{}, errLockLost
	}
	m.until = time.Now().Add(q.lock)
	return m.until, nil
}

// expire takes messages back whose lock has run out, or all.
func (b *Bus) expire(all bool) {
	for _, name := range slices.Sorted(maps.Keys(b.queues)) {
		q := b.queues[name]
		var late []*message
		for _, m := range q.locked {
			if all || time.Now().After(m.until) {
				late = append(late, m)
			}
		}
		slices.SortFunc(late, func(a, b *message) int { return int(a.sequence - b.sequence) })
		for _, m := range late {
			b.back(q, m, true)
		}
	}
}
