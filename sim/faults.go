package sim

import (
	"fmt"
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
	// AnswerLost lets the request succeed and cuts the connection before its answer:
	// the client cannot know what has happened.
	AnswerLost
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
	// Code is the ARM error code, such as core.OperationNotAllowed; a lost answer has
	// none.
	Code core.Code
	// Message is optional.
	Message string
	// Times is how often it strikes; 0 means once, below 0 for ever.
	Times int
	// Struck is called at the point of failure, by several goroutines at once. One that
	// does not return holds the request there. May be nil.
	Struck func(Strike)
}

// Strike is one request that a fault has struck.
type Strike struct {
	// URN is empty for requests over HTTP.
	URN string
	// Method and ID are those of the request.
	Method core.Method
	ID     string
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
	f := c.match(op, token, urn, when)
	if f == nil {
		return nil
	}
	if f.Struck != nil {
		f.Struck(Strike{URN: urn, Method: op.Method, ID: op.ID})
	}
	message := f.Message
	if message == "" {
		message = string(op.Method) + " of " + op.ID + ": injected fault"
	}
	return &core.Error{Code: f.Code, Target: op.ID, Message: message}
}

// lose returns what the client sees of a request that has succeeded and whose answer
// is lost; nil if it is not.
func (c *Cloud) lose(op core.Op, token, urn string) error {
	if c.strike(op, token, urn, AnswerLost) == nil {
		return nil
	}
	return fmt.Errorf("%s https://management.azure.com%s: read: connection reset by peer", op.Method, op.ID)
}

// match returns the first fault for a request, and counts that it has struck.
func (c *Cloud) match(op core.Op, token, urn string, when When) *Fault {
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
		return f
	}
	return nil
}
