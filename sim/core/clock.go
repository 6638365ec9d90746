package core

import (
	"slices"
	"time"
)

// Duration is a span of virtual time.
type Duration = time.Duration

// Next returns when the earliest running operation ends.
func (s State) Next() (at Duration, ok bool) {
	for _, o := range s.Operations {
		if !ok || o.End < at {
			at, ok = o.End, true
		}
	}
	return at, ok
}

// Advance moves the clock to the given time, ends the operations and fires the
// events that are due by then, in order. It does not change s.
func Advance(s State, to Duration) State {
	if to < s.Now {
		to = s.Now
	}
	next := s.clone()
	for {
		o := next.due(to)
		e, at := next.dueEvent(to)
		switch {
		case o != nil && (e < 0 || o.End <= at):
			next.Now = max(next.Now, o.End)
			next.finish(o)
		case e >= 0:
			next.Now = max(next.Now, at)
			event := next.Events[e]
			next.Events = slices.Delete(next.Events, e, e+1)
			next.fire(event)
		default:
			next.Now = to
			return next
		}
	}
}

// Settle ends all running operations at once, the clock moving as far as that takes.
func Settle(s State) State {
	for {
		at, ok := s.Next()
		if !ok {
			return s
		}
		s = Advance(s, at)
	}
}

// due returns the operation that ends first, not after to.
func (s State) due(to Duration) *Operation {
	var first *Operation
	for _, o := range s.Operations {
		if o.End <= to && (first == nil || o.End < first.End || o.End == first.End && o.Seq < first.Seq) {
			first = o
		}
	}
	return first
}

func (s State) dueEvent(to Duration) (index int, at Duration) {
	index = -1
	for i, e := range s.Events {
		if e.At <= to && (index < 0 || e.At < at) {
			index, at = i, e.At
		}
	}
	return index, at
}

// finish ends an operation: the resource has Succeeded, Failed or is gone.
func (s *State) finish(o *Operation) {
	delete(s.Operations, o.ID)
	r, ok := s.Find(o.Target)
	if !ok {
		return
	}
	if o.Method == Delete && o.Fail == nil {
		s.drop(r)
		return
	}
	done := *r
	done.Provisioning = Succeeded
	if o.Fail != nil {
		done.Provisioning = Failed
	}
	s.Resources[Key(done.ID)] = &done
}
