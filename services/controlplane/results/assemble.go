package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/lines"
)

// count counts a row that is final.
func count(r *jobs.Results, row Row) {
	switch row.Kind {
	case Answered:
		r.Answered++
	case Refused:
		r.Refused++
	default:
		r.Failed++
	}
	r.Usage.Add(row.Usage)
}

// Assembly is a job put together.
type Assembly struct {
	Output, Errors blobs.Info // without a name if there are no such rows
	Results        jobs.Results
}

// Assemble writes the results of a job whose parts are all done: a row for each
// line, in one of two files.
func (s Store) Assemble(ctx context.Context, j *jobs.Job) (Assembly, error) {
	a := assembler{
		Store: s, job: j,
		output: blobs.NewPipe(ctx, s.Blobs, s.Outputs, OutputPath(j)),
		errors: blobs.NewPipe(ctx, s.Blobs, s.Outputs, ErrorsPath(j)),
	}
	var err error
	for n := range j.Parts {
		if j.Parts[n].Again == 0 && err == nil {
			err = a.part(ctx, n)
		}
	}
	var made Assembly
	var err1, err2 error
	made.Output, err1 = a.output.Close(err)
	made.Errors, err2 = a.errors.Close(err)
	made.Results = a.results
	return made, errors.Join(err1, err2)
}

type assembler struct {
	Store
	job            *jobs.Job
	output, errors *blobs.Pipe
	results        jobs.Results
}

// to is the file that a row goes to.
func (a *assembler) to(kind Kind) io.Writer {
	if kind == Answered || kind == Refused {
		return a.output
	}
	return a.errors
}

// part writes the rows of a part and of the parts in which its lines were tried
// again.
func (a *assembler) part(ctx context.Context, n int) error {
	known, err := a.known(ctx, &a.job.Parts[n])
	if err != nil {
		return err
	}
	write := func(_ int, kind Kind, raw []byte) error {
		_, err := a.to(kind).Write(append(slices.Clip(raw), '\n'))
		return err
	}
	var sorted *sorter
	if a.job.Ordered {
		if sorted, err = newSorter(a.Scratch, a.job.Parts[n].Lines); err != nil {
			return err
		}
		defer sorted.remove()
		write = sorted.add
	}
	for i := range a.job.Parts {
		p := &a.job.Parts[i]
		if p.Of != n || p.State != jobs.Collected {
			continue
		}
		err := a.rows(ctx, a.job, i, func(raw []byte, row Row, ok bool) error {
			if !ok || row.Kind == Transient && p.Followed {
				return nil // what became of the line is in the part that follows
			}
			at := known.take(row.CustomID)
			if at < 0 {
				return nil
			}
			count(&a.results, row)
			return write(at, row.Kind, raw)
		})
		if err != nil {
			return err
		}
	}
	if err := a.missing(ctx, n, known, write); err != nil {
		return err
	}
	if sorted != nil {
		return sorted.each(func(kind Kind, raw []byte) error {
			_, err := a.to(kind).Write(raw)
			return err
		})
	}
	return nil
}

// missing writes a row of error for each line that has none.
func (a *assembler) missing(ctx context.Context, n int, known *known, write func(int, Kind, []byte) error) error {
	if known.taken == a.job.Parts[n].Lines {
		return nil
	}
	if known.gone { // nobody knows their names
		a.results.Missing += a.job.Parts[n].Lines - known.taken
		return nil
	}
	code, message := a.reason(n)
	at := -1
	return a.input(ctx, &a.job.Parts[n], func(l lines.Line, _ []byte) error {
		if at++; known.seen[at] {
			return nil
		}
		a.results.Missing++
		raw, err := json.Marshal(missingRow{
			ID: fmt.Sprintf("%s-%d-%d", a.job.ID, n, at+1), CustomID: l.CustomID, Error: missingError{Code: code, Message: message},
		})
		if err != nil {
			return err
		}
		return write(at, Failed, raw)
	})
}

// missingRow is a row as OpenAI writes it for a line that was not run.
type missingRow struct {
	ID       string       `json:"id"`
	CustomID string       `json:"custom_id"`
	Response *struct{}    `json:"response"`
	Error    missingError `json:"error"`
}

type missingError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// reason is why lines of a part have no row.
func (a *assembler) reason(n int) (code, message string) {
	p := &a.job.Parts[n]
	switch {
	case p.State == jobs.Failed && len(p.Faults) > 0:
		return p.Faults[0].Code, "The model account did not take this part of the file: " + p.Faults[0].Message
	case !a.job.Late.IsZero():
		return "batch_expired", "This request was not run before the deadline of its batch. Send it again in another batch."
	case !a.job.Cancelling.IsZero():
		return "batch_cancelled", "This request was not run before its batch was cancelled."
	default:
		return "missing_row", "The model account ended this batch without a row for the request. Send it again in another batch."
	}
}

// sorter keeps rows in a file until all are there, and hands them out by the number
// of their line.
type sorter struct {
	file *os.File
	rows []place
	end  int64
}

// place is where a row is; no length is none.
type place struct {
	kind           Kind
	offset, length int64
}

func newSorter(dir string, lines int) (*sorter, error) {
	file, err := os.CreateTemp(dir, "rows-*")
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	return &sorter{file: file, rows: make([]place, lines)}, nil
}

func (s *sorter) remove() {
	s.file.Close()
	os.Remove(s.file.Name())
}

func (s *sorter) add(at int, kind Kind, raw []byte) error {
	n, err := s.file.Write(append(slices.Clip(raw), '\n'))
	s.rows[at] = place{kind, s.end, int64(n)}
	s.end += int64(n)
	return err
}

func (s *sorter) each(f func(Kind, []byte) error) error {
	var buf []byte
	for _, at := range s.rows {
		if int64(cap(buf)) < at.length {
			buf = make([]byte, at.length)
		}
		buf = buf[:at.length]
		if _, err := s.file.ReadAt(buf, at.offset); err != nil {
			return fmt.Errorf("results: %w", err)
		}
		if err := f(at.kind, buf); err != nil {
			return err
		}
	}
	return nil
}
