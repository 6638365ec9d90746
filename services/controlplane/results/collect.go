package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/lines"
)

// Store puts results together in the platform's storage.
type Store struct {
	Blobs           blobs.Store
	Inputs, Outputs string // containers
	Scratch         string // directory for rows that are put in order; "" for the system's
	Window          int64  // bytes of them that are there at a time, for each job; 0 for 128 MiB
}

// Source opens what the account wrote: the file of that id.
type Source func(ctx context.Context, file string) (io.ReadCloser, error)

// Collection is what came of a part.
type Collection struct {
	Results  jobs.Results
	Again    *jobs.Part // lines to try again; nil for none
	Foreign  int        // rows of lines that were never sent, or sent once and answered twice
	Unusable int        // rows that were cut, are no rows, or are longer than any line may be
}

// Collect copies what the account wrote for a part, and says what came of its
// lines. If again, those that the service was too busy or broken for become a part
// of their own.
func (s Store) Collect(ctx context.Context, j *jobs.Job, n int, open Source, again bool) (Collection, error) {
	p := &j.Parts[n]
	for _, f := range []struct{ id, what string }{{p.Output, "output"}, {p.Errors, "errors"}} {
		if err := s.copy(ctx, f.id, rawPath(j, n, f.what), open); err != nil {
			return Collection{}, err
		}
	}
	known, err := s.known(ctx, p)
	if err != nil {
		return Collection{}, err
	}
	var c Collection
	retry := map[lines.ID]bool{}
	err = s.rows(ctx, j, n, func(_ place, _ []byte, row Row, ok bool) error {
		if !ok {
			c.Unusable++
			return nil
		}
		at := known.take(row.CustomID)
		switch {
		case at < 0:
			c.Foreign++
		case row.Kind == Transient && again && !known.gone:
			retry[known.hash.Of(row.CustomID)] = true
		default:
			count(&c.Results, row)
		}
		return nil
	})
	if err != nil {
		return Collection{}, err
	}
	c.Results.Missing = p.Lines - known.taken
	if len(retry) > 0 {
		c.Again, err = s.again(ctx, j, n, known.hash, retry)
	}
	return c, err
}

// copy copies a file of the account. No id is an empty file. A file that is gone was
// copied before, by whoever removed it there: the copy stays as it is. If there is
// none, the file has expired, and its rows are missing.
func (s Store) copy(ctx context.Context, id, path string, open Source) error {
	from := io.NopCloser(&io.LimitedReader{})
	if id != "" {
		switch found, err := open(ctx, id); {
		case err == nil:
			from = found
		case !errors.Is(err, blobs.ErrNotFound):
			return err
		default:
			if _, err := s.Blobs.Stat(ctx, s.Outputs, path); !errors.Is(err, blobs.ErrNotFound) {
				return err
			}
		}
	}
	defer func() { _ = from.Close() }()
	_, err := s.Blobs.Write(ctx, s.Outputs, path, from)
	return err
}

// known are the lines of a part, with which of them have a row.
type known struct {
	hash  lines.Hasher
	at    map[lines.ID]int // number of the line within the part
	seen  []bool
	taken int
	gone  bool // storage does not keep the lines any more: they are those that rows come for
}

// take is the number of the line of that id, and -1 for one that has a row already
// or was never sent.
func (k *known) take(customID string) int {
	id := k.hash.Of(customID)
	at, ok := k.at[id]
	if !ok && k.gone && len(k.at) < len(k.seen) {
		at, ok = len(k.at), true
		k.at[id] = at
	}
	if !ok || k.seen[at] {
		return -1
	}
	k.seen[at] = true
	k.taken++
	return at
}

func (s Store) known(ctx context.Context, p *jobs.Part) (*known, error) {
	k := &known{hash: lines.NewHasher(), at: make(map[lines.ID]int, p.Lines), seen: make([]bool, p.Lines)}
	n := 0
	err := s.input(ctx, p, func(l lines.Line, _ []byte) error {
		k.at[k.hash.Of(l.CustomID)] = n
		n++
		return nil
	})
	if errors.Is(err, blobs.ErrNotFound) {
		k.gone = true
		return k, nil
	}
	if err == nil && n != p.Lines {
		err = fmt.Errorf("results: %s has %d lines from byte %d, want %d", p.Blob, n, p.Offset, p.Lines)
	}
	return k, err
}

// input calls f with every line of a part.
func (s Store) input(ctx context.Context, p *jobs.Part, f func(lines.Line, []byte) error) error {
	in, err := s.Blobs.Read(ctx, s.Inputs, p.Blob, p.Offset, p.Length)
	if err != nil {
		return fmt.Errorf("results: input %s: %w", p.Blob, err)
	}
	defer func() { _ = in.Close() }()
	return lines.Each(in, func(l lines.Line, raw []byte, _ *lines.Reader) error { return f(l, raw) })
}

// place is where a row is that the account wrote for a part.
type place struct {
	part           int
	what           string // which of the part's files
	offset, length int64  // in bytes of it, without the line break
	kind           Kind
}

// rows calls f with every row that the account wrote for a part, first of its
// output, then of its errors. Not ok is one that cannot be read.
func (s Store) rows(ctx context.Context, j *jobs.Job, n int, f func(at place, raw []byte, row Row, ok bool) error) error {
	for _, what := range []string{"output", "errors"} {
		in, err := s.Blobs.Read(ctx, s.Outputs, rawPath(j, n, what), 0, -1)
		if err != nil {
			return fmt.Errorf("results: rows of part %d: %w", n, err)
		}
		reader := lines.NewReader(in)
		for {
			raw, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if long := errors.Is(err, lines.ErrLong); long || err == nil && len(raw) > 0 {
				row, ok := Read(raw)
				err = f(place{n, what, reader.Offset, int64(len(raw)), row.Kind}, raw, row, ok)
			}
			if err != nil {
				return errors.Join(err, in.Close())
			}
		}
		if err := in.Close(); err != nil {
			return err
		}
	}
	return nil
}

// again writes down the lines that are tried again.
func (s Store) again(ctx context.Context, j *jobs.Job, n int, hash lines.Hasher, retry map[lines.ID]bool) (*jobs.Part, error) {
	p := &j.Parts[n]
	out := &jobs.Part{Blob: AgainPath(j, n), Of: p.Of, Again: p.Again + 1, Pilot: p.Pilot, State: jobs.Waiting}
	pipe := blobs.NewPipe(ctx, s.Blobs, s.Inputs, out.Blob)
	err := s.input(ctx, p, func(l lines.Line, raw []byte) error {
		if !retry[hash.Of(l.CustomID)] {
			return nil
		}
		out.Lines++
		out.Tokens += l.Tokens
		out.Length += int64(len(raw)) + 1
		_, err := pipe.Write(append(slices.Clip(raw), '\n'))
		return err
	})
	_, err = pipe.Close(err)
	return out, err
}
