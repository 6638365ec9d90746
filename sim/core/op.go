package core

import "time"

// Method is what an operation does.
type Method string

// The methods of Apply. Put replaces, Patch merges (RFC 7386).
const (
	Get    Method = "GET"
	List   Method = "LIST"
	Put    Method = "PUT"
	Patch  Method = "PATCH"
	Delete Method = "DELETE"
)

// The provisioning states.
const (
	Creating  = "Creating"
	Updating  = "Updating"
	Deleting  = "Deleting"
	Succeeded = "Succeeded"
	Failed    = "Failed"
)

// Op is one request to Azure.
type Op struct {
	Method Method
	// ID is the resource id; for List the id of the collection.
	ID string
	// APIVersion is the api-version asked for; empty means the pinned one.
	APIVersion string
	// Body is the request body of Put and Patch. Apply keeps no reference to
	// it and does not change it.
	Body map[string]any
	// IfMatch, if set, is the etag that the resource must have, or "*" for any
	// existing one; IfNoneMatch "*" demands that there is none (A011).
	IfMatch     string
	IfNoneMatch string
	// Instant makes the operation end at once and ignores running ones. Previews
	// use it: they ask what would be refused, not how long it takes.
	Instant bool
	// TypesOnly leaves all behaviour rules out and checks types alone.
	TypesOnly bool
	// Fail, if set, lets the operation be accepted and end in this failure.
	Fail *Error
}

// Answer is what Azure says to an Op.
type Answer struct {
	// Status is the HTTP status: 200, 201, 202, 204 or that of Error.
	Status int
	// Body is the resource after Get, Put and Patch.
	Body map[string]any
	// Items are the resources of a List, sorted by id.
	Items []map[string]any
	// Operation is the accepted operation of a write that takes time.
	Operation *Operation
	// Error is the refusal; then the state is unchanged.
	Error *Error
	// RetryAt is set with AnotherOperationInProgress: the virtual time at which
	// the operation in the way will have ended.
	RetryAt time.Duration
}

func refused(err *Error) Answer { return Answer{Status: err.Status(), Error: err} }
