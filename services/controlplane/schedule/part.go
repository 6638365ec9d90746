package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/lines"
	"onedoor/services/controlplane/stamp"
)

// part gets a part on until there is something to wait for.
func (l *Leader) part(ctx context.Context, at place) error {
	for {
		before := at.job.Parts[at.part].State
		if err := l.step(ctx, at); err != nil {
			return fmt.Errorf("job %s, part %d, %s: %w", at.job.ID, at.part, before, err)
		}
		if at.job.Parts[at.part].State == before {
			return nil
		}
	}
}

func (l *Leader) step(ctx context.Context, at place) error {
	p := &at.job.Parts[at.part]
	switch p.State {
	case jobs.Held, jobs.Waiting:
		if at.job.Stopping() {
			return l.drop(ctx, at)
		}
	case jobs.Reserved:
		return l.upload(ctx, at)
	case jobs.Uploading:
		return l.findFile(ctx, at)
	case jobs.Uploaded:
		return l.submit(ctx, at)
	case jobs.Submitting:
		return l.findBatch(ctx, at)
	case jobs.Running:
		return l.follow(ctx, at)
	case jobs.Ended:
		return l.collect(ctx, at)
	}
	return nil
}

// drop ends a part that never became a job.
func (l *Leader) drop(ctx context.Context, at place) error {
	return l.change(ctx, at, at.job.Parts[at.part].State, func(_ *jobs.Job, p *jobs.Part) { p.Release(jobs.Dropped) })
}

// stampOf is the mark of the part's present attempt.
func stampOf(at place) stamp.Stamp {
	p := &at.job.Parts[at.part]
	return stamp.Stamp{Tenant: at.job.Tenant, Job: at.job.ID, Part: p.No, Attempt: p.Attempt}
}

// fileName is that of the part's file at the account.
func fileName(at place) string {
	return fmt.Sprintf("%s.%d.jsonl", at.job.ID, at.job.Parts[at.part].No)
}

// upload makes the part's file at the account, with its lines as Azure takes them.
func (l *Leader) upload(ctx context.Context, at place) error {
	p := &at.job.Parts[at.part]
	if at.job.Stopping() {
		return l.drop(ctx, at)
	}
	if l.Now().Before(p.After) {
		return nil
	}
	if p.Input != "" { // of an attempt before
		return l.change(ctx, at, jobs.Reserved, func(_ *jobs.Job, p *jobs.Part) { p.State = jobs.Uploaded })
	}
	err := l.change(ctx, at, jobs.Reserved, func(_ *jobs.Job, p *jobs.Part) { p.State, p.Tried = jobs.Uploading, l.Now() })
	if err != nil || at.job.Parts[at.part].State != jobs.Uploading {
		return err
	}
	return l.send(ctx, at)
}

func (l *Leader) send(ctx context.Context, at place) error {
	p := &at.job.Parts[at.part]
	file, err := l.Account.Upload(ctx, fileName(at), l.Settings.OutputExpirySeconds, func(w io.Writer) error {
		in, err := l.Results.Blobs.Read(ctx, l.Results.Inputs, p.Blob, p.Offset, p.Length)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		return lines.Rename(in, w, at.job.Deployment)
	})
	switch {
	case errors.Is(err, blobs.ErrNotFound):
		return l.fail(ctx, at, account.Fault{Code: "input_gone", Message: "storage does not keep the lines of the file any more; upload them again"})
	case account.IsFinal(err):
		return l.fail(ctx, at, refused(err))
	case err != nil:
		return err // findFile goes on from here
	}
	return l.uploaded(ctx, at, file)
}

func (l *Leader) uploaded(ctx context.Context, at place, file account.File) error {
	return l.change(ctx, at, jobs.Uploading, func(_ *jobs.Job, p *jobs.Part) { p.State, p.Input = jobs.Uploaded, file.ID })
}

// findFile looks for a file whose making was not answered, before it is made again.
func (l *Leader) findFile(ctx context.Context, at place) error {
	found, err := l.Account.FilesNamed(ctx, fileName(at))
	if err != nil {
		return err
	}
	for _, file := range found {
		if !file.Failed() {
			return l.uploaded(ctx, at, file)
		}
	}
	if at.job.Stopping() {
		return l.drop(ctx, at)
	}
	return l.send(ctx, at)
}

// submit makes a job of the part's file.
func (l *Leader) submit(ctx context.Context, at place) error {
	p := &at.job.Parts[at.part]
	if at.job.Stopping() {
		l.tidy(ctx, p.Input)
		return l.drop(ctx, at)
	}
	if l.Now().Before(p.After) {
		return nil
	}
	file, err := l.Account.File(ctx, p.Input)
	switch {
	case account.IsNotFound(err): // it has expired
		return l.change(ctx, at, jobs.Uploaded, func(_ *jobs.Job, p *jobs.Part) { p.State, p.Input = jobs.Reserved, "" })
	case err != nil:
		return err
	case file.Failed():
		return l.fail(ctx, at, account.Fault{Code: "invalid_file", Message: "the account could not read the file"})
	case !file.Ready(): // a job of it would fail
		return nil
	}
	metadata, err := l.Stamps.Metadata(stampOf(at))
	if err != nil {
		return err
	}
	// Whoever finds the part in this state looks for the job before it makes one.
	err = l.change(ctx, at, jobs.Uploaded, func(_ *jobs.Job, p *jobs.Part) { p.State, p.Tried = jobs.Submitting, l.Now() })
	if err != nil || at.job.Parts[at.part].State != jobs.Submitting {
		return err
	}
	batch, quota, err := l.Account.Create(ctx, file.ID, l.Settings.OutputExpirySeconds, metadata)
	if err == nil {
		l.counted(at.job.Deployment, quota)
		return l.running(ctx, at, batch)
	}
	var refusal *account.Error
	switch {
	case account.IsTokenLimit(err):
		return l.overLimit(ctx, at)
	case account.IsFinal(err):
		return l.fail(ctx, at, refused(err))
	case errors.As(err, &refusal): // there is no job, and may be one later
		return l.change(ctx, at, jobs.Submitting, func(_ *jobs.Job, p *jobs.Part) {
			p.State, p.Attempt, p.Refusals = jobs.Uploaded, p.Attempt+1, p.Refusals+1
			p.After = l.Now().Add(max(refusal.Retry, account.Backoff(p.Refusals-1)))
		})
	default:
		return err // findBatch goes on from here
	}
}

func refused(err error) account.Fault {
	var refusal *account.Error
	errors.As(err, &refusal)
	return account.Fault{Code: refusal.Code, Message: refusal.Message}
}

// running notes the job that the account has made.
func (l *Leader) running(ctx context.Context, at place, batch account.Batch) error {
	if at.job.Started.IsZero() { // said before it is written down, so that a crash loses no event
		if err := l.Emit(ctx, Event{Name: Submitted, At: l.Now(), Tenant: at.job.Tenant, Alias: at.job.Alias, Job: at.job.ID}); err != nil {
			return err
		}
	}
	return l.change(ctx, at, jobs.Submitting, func(j *jobs.Job, p *jobs.Part) {
		p.State, p.Batch, p.Status, p.Refusals = jobs.Running, batch.ID, batch.Status, 0
		if j.Started.IsZero() {
			j.Started = l.Now()
		}
		if j.Status == account.Validating {
			j.Status = account.InProgress
		}
	})
}

// overLimit lets a part wait that did not fit beside what is enqueued already. What
// was refused is an attempt of its own: its stamp is not used again.
func (l *Leader) overLimit(ctx context.Context, at place) error {
	return l.change(ctx, at, at.job.Parts[at.part].State, func(_ *jobs.Job, p *jobs.Part) {
		p.Release(jobs.Waiting)
		p.After = l.Now().Add(account.Backoff(p.Refusals))
		p.Attempt, p.Refusals, p.Batch, p.Status = p.Attempt+1, p.Refusals+1, "", ""
	})
}

// fail ends a part that the account does not take.
func (l *Leader) fail(ctx context.Context, at place, faults ...account.Fault) error {
	l.tidy(ctx, at.job.Parts[at.part].Input)
	return l.change(ctx, at, at.job.Parts[at.part].State, func(_ *jobs.Job, p *jobs.Part) {
		p.Release(jobs.Failed)
		p.Faults = faults
	})
}

// findBatch looks for a job whose making was not answered, before it is made again.
func (l *Leader) findBatch(ctx context.Context, at place) error {
	if batch, ok := l.stamped[stampOf(at)]; ok {
		return l.running(ctx, at, batch)
	}
	if l.looked.Before(at.job.Parts[at.part].Tried.Add(account.Settle)) {
		return nil
	}
	return l.change(ctx, at, jobs.Submitting, func(_ *jobs.Job, p *jobs.Part) { p.State, p.Attempt = jobs.Uploaded, p.Attempt+1 })
}

// follow sees how the job of a part gets on.
func (l *Leader) follow(ctx context.Context, at place) error {
	p := &at.job.Parts[at.part]
	batch, listed := l.batches[p.Batch]
	switch {
	case listed && batch.OverLimit():
		return l.overLimit(ctx, at)
	case listed && batch.Status == account.Failed && batch.Output == "" && batch.Errors == "":
		return l.fail(ctx, at, batch.Faults...)
	case listed && batch.Status.Ended():
		return l.change(ctx, at, jobs.Running, func(_ *jobs.Job, p *jobs.Part) {
			p.Release(jobs.Ended)
			p.Status, p.Output, p.Errors, p.Faults, p.Rows = batch.Status, batch.Output, batch.Errors, batch.Faults, batch.Completed+batch.Rejected
		})
	case at.job.Stopping() && batch.Status != account.Cancelling:
		return l.cancel(ctx, at)
	case listed && (p.Status != batch.Status || p.Rows != batch.Completed+batch.Rejected):
		return l.change(ctx, at, jobs.Running, func(_ *jobs.Job, p *jobs.Part) {
			p.Status, p.Rows = batch.Status, batch.Completed+batch.Rejected
		})
	}
	return nil
}

// cancel asks the account to end the part's job, not more often than it is listed.
func (l *Leader) cancel(ctx context.Context, at place) error {
	id := at.job.Parts[at.part].Batch
	if !l.askAgain(id) {
		return nil
	}
	err := l.Account.Cancel(ctx, id)
	if account.IsNotFound(err) {
		return l.fail(ctx, at, account.Fault{Code: "batch_not_found", Message: "the account does not know the job any more"})
	}
	return err
}

// askAgain tells whether it is time to ask the account to cancel a job.
func (l *Leader) askAgain(batch string) bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	now := l.Now()
	if last, asked := l.asked[batch]; asked && now.Before(last.Add(l.poll())) {
		return false
	}
	l.asked[batch] = now
	return true
}

// maxAgain is how often lines are tried again that the service was too busy or too
// broken for.
const maxAgain = 3

// collect brings a part's results home.
func (l *Leader) collect(ctx context.Context, at place) error {
	p := &at.job.Parts[at.part]
	open := func(ctx context.Context, file string) (io.ReadCloser, error) {
		in, err := l.Account.Content(ctx, file)
		if account.IsNotFound(err) {
			return nil, blobs.ErrNotFound
		}
		return in, err
	}
	again := p.Again < maxAgain && !at.job.Stopping()
	got, err := l.Results.Collect(ctx, at.job, at.part, open, again)
	if err != nil {
		return err
	}
	if got.Foreign > 0 || got.Unusable > 0 {
		l.Log.Warn("rows that no line has asked for", "job", at.job.ID, "part", at.part, "foreign", got.Foreign, "unusable", got.Unusable)
	}
	files := []string{p.Input, p.Output, p.Errors}
	err = l.change(ctx, at, jobs.Ended, func(j *jobs.Job, p *jobs.Part) {
		p.State, p.Results = jobs.Collected, got.Results
		if got.Again != nil {
			p.Followed = true
			next := *got.Again
			next.No = nextNo(j)
			next.After = l.Now().Add(account.Backoff(next.Again))
			j.Parts = append(j.Parts, next)
		}
	})
	if err == nil {
		l.tidy(ctx, files...)
	}
	return err
}

// nextNo is a number that no stamp of the job has.
func nextNo(j *jobs.Job) int {
	no := 0
	for i := range j.Parts {
		no = max(no, j.Parts[i].No+1)
	}
	return no
}

// tidy removes files of the account that are of no use any more. What stays goes
// when it expires.
func (l *Leader) tidy(ctx context.Context, files ...string) {
	for _, id := range files {
		if id == "" {
			continue
		}
		if err := l.Account.Delete(ctx, id); err != nil {
			l.Log.Warn("a file of the account stays until it expires", "file", id, "error", err)
		}
	}
}
