package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// Store keeps the contents of files, each under a name of letters, digits, "-" and
// "_". A content is written once and then only read.
type Store interface {
	// Create begins a content; it is there once the writer is closed.
	Create(name string) (io.WriteCloser, error)
	// Open opens a content and tells its size.
	Open(name string) (Content, int64, error)
	// Remove takes a content away; one that is not there is no error. Who has it
	// open can read on.
	Remove(name string) error
}

// Content is an open content.
type Content interface {
	io.ReadCloser
	io.ReaderAt
}

// Memory is a Store in memory.
type Memory struct {
	mu       sync.Mutex
	contents map[string][]byte
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{contents: map[string][]byte{}} }

type memoryWriter struct {
	bytes.Buffer
	store *Memory
	name  string
}

// Close implements io.Closer.
func (w *memoryWriter) Close() error {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.store.contents[w.name] = w.Bytes()
	return nil
}

// Create implements Store.
func (m *Memory) Create(name string) (io.WriteCloser, error) {
	return &memoryWriter{store: m, name: name}, nil
}

type memoryContent struct{ *bytes.Reader }

// Close implements io.Closer.
func (memoryContent) Close() error { return nil }

// Open implements Store.
func (m *Memory) Open(name string) (Content, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.contents[name]
	if !ok {
		return nil, 0, fmt.Errorf("content %q: %w", name, fs.ErrNotExist)
	}
	return memoryContent{bytes.NewReader(content)}, int64(len(content)), nil
}

// Remove implements Store.
func (m *Memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.contents, name)
	return nil
}

// Dir is a Store in a directory, for what is too large for memory.
type Dir struct{ root *os.Root }

// NewDir returns a Store in an existing directory.
func NewDir(path string) (Dir, error) {
	root, err := os.OpenRoot(path)
	return Dir{root}, err
}

// Create implements Store.
func (d Dir) Create(name string) (io.WriteCloser, error) { return d.root.Create(name) }

// Open implements Store.
func (d Dir) Open(name string) (Content, int64, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// Remove implements Store.
func (d Dir) Remove(name string) error {
	if err := d.root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
