package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// write writes a row to the file that it goes to.
func (a *assembler) write(kind Kind, raw []byte) error {
	to := a.errors
	if kind == Answered || kind == Refused {
		to = a.output
	}
	_, err := to.Write(append(slices.Clip(raw), '\n'))
	return err
}

// part writes the rows of a part and of the parts in which its lines were tried
// again.
func (a *assembler) part(ctx context.Context, n int) error {
	known, err := a.known(ctx, &a.job.Parts[n])
	if err != nil {
		return err
	}
	if a.job.Ordered {
		return a.ordered(ctx, n, known)
	}
	err = a.final(ctx, n, known, func(_ int, at place, raw []byte) error { return a.write(at.kind, raw) })
	if err != nil {
		return err
	}
	return a.missing(ctx, n, known, func(_ int, raw []byte) error { return a.write(Failed, raw) })
}

// final counts the rows of a part that say what became of a line in the end, and the
// lines without one. It calls f with each such row and the number of its line.
func (a *assembler) final(ctx context.Context, n int, known *known, f func(line int, at place, raw []byte) error) error {
	for i := range a.job.Parts {
		p := &a.job.Parts[i]
		if p.Of != n || p.State != jobs.Collected {
			continue
		}
		err := a.rows(ctx, a.job, i, func(at place, raw []byte, row Row, ok bool) error {
			if !ok || row.Kind == Transient && p.Followed {
				return nil // what became of the line is in the part that follows
			}
			line := known.take(row.CustomID)
			if line < 0 {
				return nil
			}
			count(&a.results, row)
			return f(line, at, raw)
		})
		if err != nil {
			return err
		}
	}
	a.results.Missing += a.job.Parts[n].Lines - known.taken
	return nil
}

// missing calls f with a row of error for each line that has none, and with the
// line's number. Of lines that storage does not keep nobody knows the names.
func (a *assembler) missing(ctx context.Context, n int, known *known, f func(line int, raw []byte) error) error {
	if known.taken == a.job.Parts[n].Lines || known.gone {
		return nil
	}
	code, message := a.reason(n)
	at := -1
	return a.input(ctx, &a.job.Parts[n], func(l lines.Line, _ []byte) error {
		if at++; known.seen[at] {
			return nil
		}
		raw, err := json.Marshal(missingRow{
			ID: fmt.Sprintf("%s-%d-%d", a.job.ID, n, at+1), CustomID: l.CustomID, Error: missingError{Code: code, Message: message},
		})
		if err != nil {
			return err
		}
		return f(at, raw)
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
