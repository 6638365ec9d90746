package openai

import "onedoor/sim/openai/core"

// When says at which point a fault strikes.
type When int

const (
	// Before refuses the request; nothing has happened.
	Before When = iota
	// After lets the service do what it was asked for, and spoils the answer.
	After
)

// Fault makes requests fail on demand.
type Fault struct {
	// Operation is which requests it strikes; empty means all.
	Operation core.Operation
	// When is the point of failure.
	When When
	// Status and Code are what the client sees, such as 503; RetryAfter is in
	// seconds, 0 says nothing.
	Status     int
	Code       string
	RetryAfter int
	// Drop breaks the connection instead of answering.
	Drop bool
	// Truncate breaks the connection after that many bytes of a content; it
	// implies After.
	Truncate int64
	// Times is how often it strikes; 0 means once, below 0 for ever.
	Times int
}

// Inject adds a fault.
func (s *Service) Inject(f Fault) {
	if f.Times == 0 {
		f.Times = 1
	}
	if f.Truncate > 0 {
		f.When = After
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// strike returns a fault that matches, using it up once.
func (s *Service) strike(operation core.Operation, when When) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Times == 0 || f.When != when || f.Operation != "" && f.Operation != operation {
			continue
		}
		f.Times--
		return f
	}
	return nil
}
