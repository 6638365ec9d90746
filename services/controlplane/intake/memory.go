package intake

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// Memory is a bus of one process: it keeps messages until somebody takes them.
type Memory struct {
	mu    sync.Mutex
	sent  []Message
	known map[string]bool
	dead  map[string][]Dead // by queue
}

// Send implements Bus.
func (m *Memory) Send(_ context.Context, message Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]bool{}
	}
	if !m.known[message.ID] {
		m.known[message.ID] = true
		m.sent = append(m.sent, message)
	}
	return nil
}

// Sent are the messages that are on the bus.
func (m *Memory) Sent() []Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sent)
}

// Kill makes a dead letter.
func (m *Memory) Kill(queue string, d Dead) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead == nil {
		m.dead = map[string][]Dead{}
	}
	m.dead[queue] = append(m.dead[queue], d)
}

// Dead implements Bus.
func (m *Memory) Dead(_ context.Context, queue string, from int64) iter.Seq2[Dead, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := slices.Clone(m.dead[queue])
	return func(yield func(Dead, error) bool) {
		for _, d := range found {
			if d.Sequence >= from && !yield(d, nil) {
				return
			}
		}
	}
}

// Take implements Bus.
func (m *Memory) Take(_ context.Context, queue string, sequence int64, f func(Dead) error) error {
	m.mu.Lock()
	at := slices.IndexFunc(m.dead[queue], func(d Dead) bool { return d.Sequence == sequence })
	if at < 0 {
		m.mu.Unlock()
		return ErrNoLetter
	}
	d := m.dead[queue][at]
	m.mu.Unlock()
	if err := f(d); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead[queue] = slices.DeleteFunc(m.dead[queue], func(d Dead) bool { return d.Sequence == sequence })
	return nil
}
