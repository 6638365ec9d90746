// Package ledger owns where the control plane writes down what it is about to do
// and what it has done: a table of small documents, each changed only by whoever
// has seen its last state. What the documents mean belongs to others.
package ledger

import (
	"context"
	"errors"
)

// The refusals of a table. Every other error says that it could not be asked.
var (
	ErrNotFound = errors.New("ledger: not found")
	ErrExists   = errors.New("ledger: exists already")
	ErrChanged  = errors.New("ledger: changed by somebody else")
)

// Key names a document. Neither part has '/', '\', '#', '?' or control characters,
// which Azure refuses, or a single quote, which Azure's client doubles.
// https://learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model
type Key struct{ Partition, Row string }

// Document is a document with its state.
type Document struct {
	Key
	ETag string // of its last state
	Open bool   // that work is left to be done; lists can be kept to these
	Data []byte // at most MaxData
}

// MaxData is the largest document in bytes: Azure takes 1 MiB with all names, and
// 64 KiB in a property.
const MaxData = 12 * chunk

// Query selects documents of a partition, in the order of their rows.
type Query struct {
	Partition string
	After     string // row to begin behind; "" for the first
	Limit     int    // of the answer; 0 for all
	Open      bool   // only those with work left
}

// Table holds documents.
type Table interface {
	// Insert adds a document and returns its ETag. ErrExists if there is one.
	Insert(ctx context.Context, d Document) (string, error)
	// Get is the document of that key. ErrNotFound if there is none.
	Get(ctx context.Context, key Key) (Document, error)
	// Replace writes a document whose ETag is still d.ETag, and returns the new one.
	// ErrChanged if it is not, ErrNotFound if there is none.
	Replace(ctx context.Context, d Document) (string, error)
	// Delete removes a document whose ETag is still d.ETag. A second time is no error.
	Delete(ctx context.Context, d Document) error
	// List are the documents of a query.
	List(ctx context.Context, q Query) ([]Document, error)
}
