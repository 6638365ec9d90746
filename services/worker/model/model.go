// Package model owns the calls to models, through the gateway alone: what is sent,
// and what an answer means. It tries once; whether to try again is decided by
// who calls.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// TenantHeader is where the gateway reads for which tenant a worker calls.
const TenantHeader = "x-onedoor-tenant"

// Path is an operation of the API, after the base URL.
type Path string

// The operations that items may use.
const (
	Chat       Path = "chat/completions"
	Embeddings Path = "embeddings"
)

// Request is one call.
type Request struct {
	Path        Path
	Body        []byte // JSON
	Tenant      string // that the message proved
	Correlation string
	Key         string // the same for every try of the item
	Alone       bool   // shares no call with others
}

// Answer is what a model, or its filter, answered.
type Answer struct {
	Status    int
	RequestID string
	Body      json.RawMessage
	Refused   bool // by the model or its filter: an answer like others
	Usage     Usage
}

// Usage is what the model counted, in tokens. Cached is a part of Prompt.
type Usage struct{ Prompt, Cached, Completion int }

// Plus is the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Prompt + v.Prompt, u.Cached + v.Cached, u.Completion + v.Completion}
}

// ErrSpoiled says that one of those who shared a call spoiled it for all. Each calls
// alone then, which is one more request of its quota.
var ErrSpoiled = errors.New("a shared call was refused")

// Caller calls a model. Its errors are a Throttled, a Rejected, a TooLarge, a Failed,
// ErrSpoiled, or the cause of the context's end.
type Caller interface {
	Call(ctx context.Context, r Request) (Answer, error)
}

// Throttled says that the model has too much to do.
type Throttled struct{ After time.Duration }

func (e *Throttled) Error() string { return fmt.Sprintf("throttled, try again in %s", e.After) }

// Rejected says that no such request will ever be taken.
type Rejected struct {
	Status int
	Code   string // of the gateway or the model
}

func (e *Rejected) Error() string { return fmt.Sprintf("rejected with %d %s", e.Status, e.Code) }

// TooLarge says that the model answered more than there is memory for, as it would
// again.
type TooLarge struct{ Most int64 }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("the answer has more than %d bytes; ask for less at once, or raise payloadMiB", e.Most)
}

// Failed says that a call failed which may do better the next time.
type Failed struct {
	Reason string // "status", "timeout" or "connection"
	Err    error
}

func (e *Failed) Error() string { return e.Reason + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Failed) Unwrap() error { return e.Err }
