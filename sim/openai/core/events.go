package core

import (
	"cmp"
	"time"
)

// event is something that happens by itself: to the file or job of that index.
type event struct {
	at    time.Time
	seq   int // the order of events of the same time
	kind  eventKind
	index int
}

type eventKind uint8

const (
	fileReady eventKind = iota
	fileExpired
	jobValidated
	jobRan
	jobFinalized
	jobCancelled
	jobExpired
)

func (e event) before(other event) bool {
	return cmp.Or(e.at.Compare(other.at), cmp.Compare(e.seq, other.seq)) < 0
}

// agenda holds events, the earliest on top: a leftist heap, which is a value because
// merging makes new nodes and changes none.
type agenda struct {
	event
	rank        int
	left, right *agenda
}

func merge(a, b *agenda) *agenda {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case b.before(a.event):
		a, b = b, a
	}
	left, right := a.left, merge(a.right, b)
	if left.ranked() < right.ranked() {
		left, right = right, left
	}
	return &agenda{event: a.event, rank: right.ranked() + 1, left: left, right: right}
}

func (a *agenda) ranked() int {
	if a == nil {
		return 0
	}
	return a.rank
}

// schedule adds an event behind those of the same time.
func (s *State) schedule(at time.Time, kind eventKind, index int) {
	s.scheduled++
	s.agenda = merge(s.agenda, &agenda{event: event{at, s.scheduled, kind, index}, rank: 1})
}

// Next is when the next thing happens by itself.
func (s State) Next() (at time.Time, ok bool) {
	if s.agenda == nil {
		return time.Time{}, false
	}
	return s.agenda.at, true
}
