// Package model owns the calls to models, through the gateway alone: what is sent,
// and what an answer means. It tries once; whether to try again is decided by
// who calls.
package model

import (
	"context"
	"encoding/json"
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

// Caller calls a model. Its errors are a Throttled, a Rejected, a Failed, or the
// cause of the context's end.
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

// Failed says that a call failed which may do better the next time.
type Failed struct {
	Reason string // "status", "timeout" or "connection"
	Err    error
}

func (e *Failed) Error() string { return e.Reason + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Failed) Unwrap() error { return e.Err }
