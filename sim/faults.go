package sim

import (
	"strings"

	"onedoor/sim/core"
)

// When says at which point a fault strikes.
type When int

const (
	// BeforeStart refuses the request; nothing has happened.
	BeforeStart When = iota
	// AfterApply accepts the request and fails it at its end: a write leaves the
	// resource behind in state Failed, a deletion leaves it there.
	AfterApply
)

// Fault makes requests fail on demand. Empty selectors match everything.
type Fault struct {
	// Type is a Pulumi token or an ARM type, ID an ARM id in any letter case,
	// URN a Pulumi URN; only gRPC requests carry token and URN.
	Type, ID, URN string
	// Method is Put, Patch or Delete; empty means all three.
	Method core.Method
	// When is the point of failure.
	When When
	// Code is the ARM error code, such as core.OperationNotAllowed.
	Code core.Code
	// Message is optional.
	Message string
	// Times is how often it strikes; 0 means once, below 0 for ever.
	Times int
}

// Inject adds a fault.
func (c *Cloud) Inject(f Fault) {
	if f.Times == 0 {
		f.Times = 1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, &f)
}

// strike returns the error of a matching fault, using it up once.
func (c *Cloud) strike(op core.Op, token, urn string, when When) *core.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.faults {
		typ := f.Type == "" || f.Type == token || strings.EqualFold(f.Type, core.TypeOf(op.ID))
		if f.Times == 0 || f.When != when || !typ ||
			f.ID != "" && core.Key(f.ID) != core.Key(op.ID) ||
			f.URN != "" && f.URN != urn ||
			f.Method != "" && f.Method != op.Method {
			continue
		}
		f.Times--
		message := f.Message
		if message == "" {
			message = string(op.Method) + " of " + op.ID + ": injected fault"
		}
		return &core.Error{Code: f.Code, Target: op.ID, Message: message}
	}
	return nil
}
