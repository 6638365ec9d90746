package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/usage"
)

// job gets a job on. Its parts do not wait for one another.
func (l *Leader) job(ctx context.Context, j *jobs.Job) error {
	if err := l.late(ctx, j); err != nil {
		return err
	}
	var failed []error
	for n := range j.Parts { // those that are added meanwhile have their turn in the next tick
		failed = append(failed, l.part(ctx, place{j, n}))
	}
	failed = append(failed, l.pilot(ctx, j))
	for n := range j.Parts {
		if !j.Parts[n].Done() {
			return errors.Join(failed...)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if err := l.finish(ctx, j); err != nil {
		return fmt.Errorf("job %s: %w", j.ID, err)
	}
	return nil
}

// late notes that the deadline has passed: from then on the job is stopped, because
// Azure itself lets it run on.
func (l *Leader) late(ctx context.Context, j *jobs.Job) error {
	now := l.Now()
	if now.Before(j.Deadline) || j.Stopping() || !j.Finalizing.IsZero() {
		return nil
	}
	err := l.Emit(ctx, Event{Name: Late, At: now, Tenant: j.Tenant, Alias: j.Alias, Job: j.ID, Detail: "deadline " + j.Deadline.UTC().Format(time.RFC3339)})
	if err != nil {
		return err
	}
	return l.Jobs.Change(ctx, j, func(j *jobs.Job) error {
		j.Late = now
		return nil
	})
}

// pilot says what all lines will cost, once the first ones are back, and lets the
// rest go on if somebody has confirmed it, or it stays below the budget.
func (l *Leader) pilot(ctx context.Context, j *jobs.Job) error {
	if j.Pilot == nil || j.Stopping() {
		return nil
	}
	var came jobs.Results
	held, took := false, false
	for n := range j.Parts {
		p := &j.Parts[n]
		held = held || p.State == jobs.Held
		if !p.Pilot {
			continue
		}
		if !p.Done() {
			return nil
		}
		took = took || p.State == jobs.Collected
		came.Add(p.Results)
	}
	cost := l.Prices.Cost(j.Alias, came.Usage)
	if !held || took && !j.Pilot.Confirmed && (cost == nil || j.Pilot.Cost != nil) {
		return nil // nothing is left to be said before somebody confirms it
	}
	return l.Jobs.Change(ctx, j, func(j *jobs.Job) error {
		next := jobs.Waiting
		switch {
		case !took: // the account does not take such lines
			next = jobs.Dropped
		case cost != nil && j.Pilot.Cost == nil:
			projected := *cost * jobs.Money(j.Lines) / jobs.Money(j.Pilot.Items)
			j.Pilot.Cost, j.Pilot.Projected = cost, &projected
			j.Pilot.Confirmed = j.Pilot.Confirmed || j.Pilot.Budget != nil && projected <= *j.Pilot.Budget
		}
		for n := range j.Parts {
			if p := &j.Parts[n]; p.State == jobs.Held && (j.Pilot.Confirmed || next == jobs.Dropped) {
				p.State = next
			}
		}
		return nil
	})
}

// finish puts a job together whose parts are all done, and ends it.
func (l *Leader) finish(ctx context.Context, j *jobs.Job) error {
	if j.Finalizing.IsZero() {
		now := l.Now()
		err := l.Jobs.Change(ctx, j, func(j *jobs.Job) error {
			j.Finalizing = now
			if j.Status != account.Cancelling {
				j.Status = account.Finalizing
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	made, err := l.Results.Assemble(ctx, j)
	if err != nil {
		return err
	}
	cost := l.Prices.Cost(j.Alias, made.Results.Usage)
	err = l.Usage.Put(ctx, usage.Entry{At: j.Finalizing, Tenant: j.Tenant, Alias: j.Alias, Job: j.ID, Used: made.Results, Cost: cost})
	if err != nil {
		return err
	}
	output, err := l.keep(ctx, j, jobs.OutputID(j.ID), "output", made.Output)
	if err != nil {
		return err
	}
	rejected, err := l.keep(ctx, j, jobs.ErrorsID(j.ID), "errors", made.Errors)
	if err != nil {
		return err
	}
	status := outcome(j, made.Results)
	// What it says follows from what is written down already, so that a second time
	// says the same: nothing can be cancelled any more.
	err = l.Emit(ctx, Event{Name: Terminal, At: j.Finalizing, Tenant: j.Tenant, Alias: j.Alias, Job: j.ID, Status: status, Lines: j.Lines, Results: made.Results})
	if err != nil {
		return err
	}
	return l.Jobs.Change(ctx, j, func(j *jobs.Job) error {
		j.Status, j.Ended, j.Output, j.Errors, j.Results, j.Cost = status, l.Now(), output, rejected, made.Results, cost
		for n := range j.Parts {
			if j.Parts[n].State == jobs.Failed {
				j.Faults = append(j.Faults, j.Parts[n].Faults...)
			}
		}
		return nil
	})
}

// keep makes a file of the caller of results, and returns its id; "" for none.
func (l *Leader) keep(ctx context.Context, j *jobs.Job, id, what string, made blobs.Info) (string, error) {
	if made.Name == "" {
		return "", nil
	}
	err := l.Jobs.AddFile(ctx, jobs.File{
		ID: id, Tenant: j.Tenant, Name: j.ID + "_" + what + ".jsonl", Purpose: jobs.OutputPurpose,
		Created: j.Finalizing, Container: l.Results.Outputs, Blob: made.Name, Bytes: made.Size,
	})
	if errors.Is(err, ledger.ErrExists) { // written before a crash
		err = nil
	}
	return id, err
}

// outcome is how a job ended. One whose lines all have a row is complete, whatever
// was asked for meanwhile.
func outcome(j *jobs.Job, got jobs.Results) account.Status {
	took := false
	ended := account.Completed // that a job of the account did not end with by itself
	for n := range j.Parts {
		p := &j.Parts[n]
		took = took || p.State == jobs.Collected
		if p.State == jobs.Collected && p.Status != account.Completed {
			ended = p.Status
		}
	}
	switch {
	case took && got.Missing == 0:
		return account.Completed
	case !j.Cancelling.IsZero():
		return account.Cancelled
	case !j.Late.IsZero():
		return account.Expired
	case !took:
		return account.Failed
	default:
		return ended
	}
}
