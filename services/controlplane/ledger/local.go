package ledger

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
)

// Local is a table of one process: in memory, and in a journal if it has one.
type Local struct {
	mu      sync.Mutex
	rows    map[string][]Document // by partition, sorted by row
	version int
	journal *os.File
}

// NewLocal is an empty table in memory.
func NewLocal() *Local { return &Local{rows: map[string][]Document{}} }

// entry is a line of the journal: what a document is from now on.
type entry struct {
	Document
	Gone bool `json:",omitempty"`
}

// OpenLocal is the table of that journal, which is made if there is none. A last
// line that was not written to its end never happened.
func OpenLocal(path string) (*Local, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	l := NewLocal()
	whole, err := l.replay(file)
	if err == nil {
		err = file.Truncate(whole)
	}
	if err == nil {
		_, err = file.Seek(whole, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ledger %s: %w", path, err), file.Close())
	}
	l.journal = file
	return l, nil
}

// replay reads the journal and returns the length of what is whole.
func (l *Local) replay(file io.Reader) (int64, error) {
	in := bufio.NewReaderSize(file, 1<<20)
	var whole int64
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return whole, nil
		}
		if err != nil {
			return 0, err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, fmt.Errorf("at byte %d: %w", whole, err)
		}
		whole += int64(len(line))
		l.apply(e)
		l.version, _ = strconv.Atoi(e.ETag)
	}
}

// Close closes the journal.
func (l *Local) Close() error {
	if l.journal == nil {
		return nil
	}
	return l.journal.Close()
}

func (l *Local) find(key Key) (int, bool) {
	return slices.BinarySearchFunc(l.rows[key.Partition], key.Row, func(d Document, row string) int { return cmp.Compare(d.Row, row) })
}

func (l *Local) apply(e entry) {
	at, found := l.find(e.Key)
	rows := l.rows[e.Partition]
	switch {
	case e.Gone && found:
		rows = slices.Delete(rows, at, at+1)
	case e.Gone:
	case found:
		rows[at] = e.Document
	default:
		rows = slices.Insert(rows, at, e.Document)
	}
	l.rows[e.Partition] = rows
}

// write notes the next state of a document, first in the journal.
func (l *Local) write(d Document, gone bool) (string, error) {
	if len(d.Data) > MaxData {
		return "", fmt.Errorf("ledger: document %s/%s has %d bytes, want at most %d", d.Partition, d.Row, len(d.Data), MaxData)
	}
	l.version++
	d.ETag, d.Data = strconv.Itoa(l.version), slices.Clone(d.Data)
	e := entry{Document: d, Gone: gone}
	if l.journal != nil {
		text, err := json.Marshal(e)
		if err != nil {
			return "", fmt.Errorf("ledger: %w", err)
		}
		if _, err := l.journal.Write(append(text, '\n')); err != nil {
			return "", fmt.Errorf("ledger: %w", err)
		}
	}
	l.apply(e)
	return d.ETag, nil
}

// Insert implements Table.
func (l *Local) Insert(_ context.Context, d Document) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, found := l.find(d.Key); found {
		return "", ErrExists
	}
	return l.write(d, false)
}

// Get implements Table.
func (l *Local) Get(_ context.Context, key Key) (Document, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, found := l.find(key)
	if !found {
		return Document{}, ErrNotFound
	}
	return l.rows[key.Partition][at], nil
}

// Replace implements Table.
func (l *Local) Replace(_ context.Context, d Document) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, found := l.find(d.Key)
	if !found {
		return "", ErrNotFound
	}
	if l.rows[d.Partition][at].ETag != d.ETag {
		return "", ErrChanged
	}
	return l.write(d, false)
}

// Delete implements Table.
func (l *Local) Delete(_ context.Context, d Document) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, found := l.find(d.Key)
	if !found {
		return nil
	}
	if l.rows[d.Partition][at].ETag != d.ETag {
		return ErrChanged
	}
	_, err := l.write(d, true)
	return err
}

// List implements Table.
func (l *Local) List(_ context.Context, q Query) ([]Document, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := l.rows[q.Partition]
	at, found := l.find(Key{q.Partition, q.After})
	if found {
		at++
	}
	var out []Document
	for _, d := range rows[at:] {
		if q.Limit > 0 && len(out) == q.Limit {
			break
		}
		if d.Open || !q.Open {
			out = append(out, d)
		}
	}
	return out, nil
}
