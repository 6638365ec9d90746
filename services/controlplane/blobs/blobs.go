// Package blobs owns the bytes of the control plane: inputs, outputs, payloads and
// evidence. Nothing is ever held whole. What lies where belongs to others.
package blobs

import (
	"context"
	"errors"
	"io"
)

// ErrNotFound says that there is no blob of that name.
var ErrNotFound = errors.New("blobs: not found")

// Info is what is known of a blob.
type Info struct {
	Name string
	Size int64 // bytes
	ETag string
}

// Store holds blobs by container and name.
type Store interface {
	// Write makes a blob of what r has, or replaces it. Nothing is to be seen of it
	// until r has ended, or ever if r ends with an error. A blob that was written with
	// the same bytes stays as it is, with its ETag.
	Write(ctx context.Context, container, name string, r io.Reader) (Info, error)
	// Read is the blob from offset on, length bytes of it or, with -1, all.
	// ErrNotFound if there is none.
	Read(ctx context.Context, container, name string, offset, length int64) (io.ReadCloser, error)
	// Stat says what is known of a blob. ErrNotFound if there is none.
	Stat(ctx context.Context, container, name string) (Info, error)
	// Delete removes a blob. A second time is no error.
	Delete(ctx context.Context, container, name string) error
	// List are the blobs whose names begin with prefix, sorted by name.
	List(ctx context.Context, container, prefix string) ([]Info, error)
}
