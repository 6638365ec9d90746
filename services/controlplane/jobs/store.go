package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"onedoor/services/controlplane/ledger"
)

// Store keeps files and jobs. A tenant's are in partitions of their own: no id
// leads to another's.
type Store struct{ Table ledger.Table }

// ErrStale says that a job is no longer in the state that a change began from.
var ErrStale = errors.New("jobs: the job has moved on")

func fileKey(tenant, id string) ledger.Key { return ledger.Key{Partition: "file." + tenant, Row: id} }
func jobKey(tenant, id string) ledger.Key  { return ledger.Key{Partition: "job." + tenant, Row: id} }

// IsID tells whether text may be the id of something: what callers send as one is
// anything.
func IsID(text string) bool {
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return text != "" && len(text) <= 100
}

// AddFile writes down a file.
func (s Store) AddFile(ctx context.Context, f File) error {
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	_, err = s.Table.Insert(ctx, ledger.Document{Key: fileKey(f.Tenant, f.ID), Data: data})
	return err
}

func readFile(d ledger.Document) (File, error) {
	f := File{etag: d.ETag}
	if err := json.Unmarshal(d.Data, &f); err != nil {
		return File{}, fmt.Errorf("jobs: file %s: %w", d.Row, err)
	}
	return f, nil
}

// File is the tenant's file of that id. ledger.ErrNotFound if it has none.
func (s Store) File(ctx context.Context, tenant, id string) (File, error) {
	if !IsID(id) {
		return File{}, ledger.ErrNotFound
	}
	d, err := s.Table.Get(ctx, fileKey(tenant, id))
	if err != nil {
		return File{}, err
	}
	return readFile(d)
}

// RemoveFile forgets a file.
func (s Store) RemoveFile(ctx context.Context, f File) error {
	return s.Table.Delete(ctx, ledger.Document{Key: fileKey(f.Tenant, f.ID), ETag: f.etag})
}

// Files are the tenant's, newest first, behind the one of id after.
func (s Store) Files(ctx context.Context, tenant, after string, limit int) ([]File, error) {
	return list(ctx, s.Table, ledger.Query{Partition: fileKey(tenant, "").Partition, After: after, Limit: limit}, readFile)
}

func list[T any](ctx context.Context, table ledger.Table, q ledger.Query, read func(ledger.Document) (T, error)) ([]T, error) {
	found, err := table.List(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(found))
	for i, d := range found {
		if out[i], err = read(d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func document(j *Job) (ledger.Document, error) {
	data, err := json.Marshal(j)
	if err != nil {
		return ledger.Document{}, fmt.Errorf("jobs: %w", err)
	}
	return ledger.Document{Key: jobKey(j.Tenant, j.ID), ETag: j.etag, Open: j.Open(), Data: data}, nil
}

func readJob(d ledger.Document) (*Job, error) {
	j := &Job{etag: d.ETag}
	if err := json.Unmarshal(d.Data, j); err != nil {
		return nil, fmt.Errorf("jobs: job %s: %w", d.Row, err)
	}
	return j, nil
}

// Add writes down a job. ledger.ErrExists if there is one of its id.
func (s Store) Add(ctx context.Context, j *Job) error {
	d, err := document(j)
	if err != nil {
		return err
	}
	j.etag, err = s.Table.Insert(ctx, d)
	return err
}

// OnceKey names the promise that a tenant's key of idempotency stands for, by the
// hash of the key.
func OnceKey(tenant, hash string) ledger.Key {
	return ledger.Key{Partition: "once." + tenant, Row: hash}
}

// Remove forgets a job that has ended, and the promise that led to it.
func (s Store) Remove(ctx context.Context, j *Job) error {
	if j.Once != "" {
		promise, err := s.Table.Get(ctx, OnceKey(j.Tenant, j.Once))
		if err == nil {
			err = s.Table.Delete(ctx, promise)
		}
		if err != nil && !errors.Is(err, ledger.ErrNotFound) {
			return err
		}
	}
	return s.Table.Delete(ctx, ledger.Document{Key: jobKey(j.Tenant, j.ID), ETag: j.etag})
}

// Job is the tenant's job of that id. ledger.ErrNotFound if it has none.
func (s Store) Job(ctx context.Context, tenant, id string) (*Job, error) {
	if !IsID(id) {
		return nil, ledger.ErrNotFound
	}
	d, err := s.Table.Get(ctx, jobKey(tenant, id))
	if err != nil {
		return nil, err
	}
	return readJob(d)
}

// Jobs are the tenant's, newest first, behind the one of id after.
func (s Store) Jobs(ctx context.Context, tenant, after string, limit int) ([]*Job, error) {
	return list(ctx, s.Table, ledger.Query{Partition: jobKey(tenant, "").Partition, After: after, Limit: limit}, readJob)
}

// Open are the tenant's jobs with work left, newest first.
func (s Store) Open(ctx context.Context, tenant string) ([]*Job, error) {
	return list(ctx, s.Table, ledger.Query{Partition: jobKey(tenant, "").Partition, Open: true}, readJob)
}

// Change changes a job by f, and is j afterwards. If somebody else has changed it
// since j was read, f is called again with what it is now; so f looks whether the
// state is still the one that it means, and returns ErrStale if not. An error of f
// changes nothing.
func (s Store) Change(ctx context.Context, j *Job, f func(*Job) error) error {
	for {
		next, err := copied(j)
		if err != nil {
			return err
		}
		if err := f(next); err != nil {
			return err
		}
		d, err := document(next)
		if err != nil {
			return err
		}
		next.etag, err = s.Table.Replace(ctx, d)
		if err == nil {
			*j = *next
			return nil
		}
		if !errors.Is(err, ledger.ErrChanged) {
			return err
		}
		now, err := s.Job(ctx, j.Tenant, j.ID)
		if err != nil {
			return err
		}
		*j = *now
	}
}

// copied is a copy of the job that shares nothing with it.
func copied(j *Job) (*Job, error) {
	d, err := document(j)
	if err != nil {
		return nil, err
	}
	return readJob(d)
}
