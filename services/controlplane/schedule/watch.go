package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/lines"
	"onedoor/services/controlplane/stamp"
)

// look lists the account's jobs: how ours get on, and whether there are others.
// Only the control plane's identity may make jobs there, so another is a door that
// somebody has opened.
func (l *Leader) look(ctx context.Context, open []*jobs.Job) error {
	began := l.Now()
	listed, err := l.Account.Batches(ctx)
	if err != nil {
		return err
	}
	byID, stamped := make(map[string]account.Batch, len(listed)), make(map[stamp.Stamp]account.Batch, len(listed))
	mine := map[string]*jobs.Job{}
	for _, j := range open {
		mine[j.Tenant+"."+j.ID] = j
	}
	var failed []error
	for _, batch := range listed {
		byID[batch.ID] = batch
		mark, ok, err := l.Stamps.Read(batch.Metadata)
		switch {
		case err != nil: // the keys cannot be read now: whose it is must wait
			failed = append(failed, err)
			continue
		case ok:
			stamped[mark] = batch
		}
		if l.known[batch.ID] {
			continue
		}
		settled, err := l.judge(ctx, batch, mark, ok, mine)
		if err != nil {
			failed = append(failed, fmt.Errorf("batch %s of the account: %w", batch.ID, err))
		}
		if settled && err == nil {
			l.known[batch.ID] = true
		}
	}
	l.batches, l.stamped, l.looked = byID, stamped, began
	return errors.Join(failed...)
}

// judge says whose a job of the account is, and does what follows. It is settled
// when it need not be looked into again.
func (l *Leader) judge(ctx context.Context, batch account.Batch, mark stamp.Stamp, ours bool, mine map[string]*jobs.Job) (bool, error) {
	if !ours {
		noted, err := l.noted(ctx, batch, mark)
		if noted || err != nil {
			return noted, err
		}
		return true, l.foreign(ctx, batch, "it bears no stamp of the control plane")
	}
	j, ok := mine[mark.Tenant+"."+mark.Job]
	if !ok {
		found, err := l.Jobs.Job(ctx, mark.Tenant, mark.Job)
		switch {
		case errors.Is(err, ledger.ErrNotFound) && !l.forgotten(mark.Job):
			return true, l.adopt(ctx, batch, mark)
		case errors.Is(err, ledger.ErrNotFound) && batch.Status.Ended():
			return true, nil
		case errors.Is(err, ledger.ErrNotFound):
			return true, l.surplus(ctx, batch, mark)
		case err != nil:
			return false, err
		}
		j = found
	}
	for n := range j.Parts {
		p := &j.Parts[n]
		if p.No != mark.Part {
			continue
		}
		switch {
		case p.Batch == batch.ID:
			return true, nil
		case p.Attempt == mark.Attempt && p.State == jobs.Submitting: // findBatch takes it
			return false, nil
		case batch.Status.Ended(): // an attempt that was refused
			return true, nil
		default: // which was thought not to have been made
			return true, l.surplus(ctx, batch, mark)
		}
	}
	if j.Adopted && j.Open() {
		return true, l.adoptPart(ctx, j, batch, mark)
	}
	if batch.Status.Ended() {
		return true, nil
	}
	return true, l.surplus(ctx, batch, mark)
}

// noted tells whether a job is ours though no key proves its stamp, as after keys were
// changed twice: the ledger says that it is the job of a part. Of a job that has ended
// and that the account made before anything that the ledger still knows, a stamp that
// looks like ours is enough: it was judged while its key was valid.
func (l *Leader) noted(ctx context.Context, batch account.Batch, mark stamp.Stamp) (bool, error) {
	if !jobs.IsID(mark.Tenant) {
		return false, nil
	}
	j, err := l.Jobs.Job(ctx, mark.Tenant, mark.Job)
	if errors.Is(err, ledger.ErrNotFound) {
		return batch.Status.Ended() && l.forgotten(mark.Job) && !batch.Created.IsZero() && l.past(batch.Created), nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(j.Parts, func(p jobs.Part) bool { return p.Batch == batch.ID }), nil
}

// surplus ends a job of ours that nobody waits for.
func (l *Leader) surplus(ctx context.Context, batch account.Batch, mark stamp.Stamp) error {
	l.Log.Error("a job of the account is ours and nobody waits for it: it is cancelled", "batch", batch.ID, "stamp", mark.String())
	return l.Account.Cancel(ctx, batch.ID)
}

// evidencePath is where the input of a foreign job is kept, in the container of
// outputs.
func evidencePath(batch account.Batch) string { return "evidence/" + batch.ID + ".jsonl" }

// foreign keeps the input of a job that nobody here has made, ends the job, and
// calls for somebody.
func (l *Leader) foreign(ctx context.Context, batch account.Batch, why string) error {
	key := ledger.Key{Partition: "foreign", Row: rowOf(batch.ID)}
	if _, err := l.Jobs.Table.Get(ctx, key); !errors.Is(err, ledger.ErrNotFound) {
		return err // nil: dealt with already
	}
	input := "its input is kept as " + evidencePath(batch)
	switch kept, err := l.keepInput(ctx, batch, l.Results.Outputs, evidencePath(batch)); {
	case err != nil: // the job must end all the same, and somebody hears of it now
		input = "its input could not be kept: " + err.Error()
	case !kept:
		input = "its input is gone"
	}
	if !batch.Status.Ended() {
		if err := l.Account.Cancel(ctx, batch.ID); err != nil && !account.IsNotFound(err) {
			return err
		}
	}
	err := l.Emit(ctx, Event{Name: Foreign, At: l.Now(), Batch: batch.ID, Detail: fmt.Sprintf("job %s of the account was %s; %s; %s", batch.ID, batch.Status, why, input)})
	if err != nil {
		return err
	}
	_, err = l.Jobs.Table.Insert(ctx, ledger.Document{Key: key, Data: []byte(`{}`)})
	if errors.Is(err, ledger.ErrExists) {
		return nil
	}
	return err
}

// rowOf is an id of the account as a row.
func rowOf(id string) string {
	clean := []rune(id)
	for i, r := range clean {
		if strings.ContainsRune(`/\#?'`, r) || r < ' ' {
			clean[i] = '_'
		}
	}
	return string(clean)
}

// keepInput copies the input of a job of the account. It tells whether it was still
// there.
func (l *Leader) keepInput(ctx context.Context, batch account.Batch, container, path string) (bool, error) {
	if batch.Input == "" {
		return false, nil
	}
	in, err := l.Account.Content(ctx, batch.Input)
	if account.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = in.Close() }()
	_, err = l.Results.Blobs.Write(ctx, container, path, in)
	return true, err
}

// adopt takes a job back that bears our stamp and is not in the ledger, as after
// the ledger was restored from an older copy: its results are paid for.
func (l *Leader) adopt(ctx context.Context, batch account.Batch, mark stamp.Stamp) error {
	if _, known := l.Settings.Tenants[mark.Tenant]; !known {
		return l.foreign(ctx, batch, fmt.Sprintf("its stamp names tenant %q, which is not in the settings", mark.Tenant))
	}
	part, sum, ok, err := l.lost(ctx, batch, mark)
	if err != nil {
		return err
	}
	if !ok {
		return l.foreign(ctx, batch, "it bears our stamp, but its input is gone or unreadable")
	}
	now := l.Now()
	j := &jobs.Job{
		ID: mark.Job, Tenant: mark.Tenant, Adopted: true, Deployment: sum.Deployment, URL: sum.URL, Lines: sum.Lines, Alias: l.aliasOf(sum.Deployment),
		Created: now, Started: now, Deadline: now.Add(l.deadline()), Status: account.InProgress, Parts: []jobs.Part{part},
	}
	if err := l.Emit(ctx, Event{Name: Adopted, At: now, Tenant: j.Tenant, Alias: j.Alias, Job: j.ID, Detail: "the ledger had no row of the job"}); err != nil {
		return err
	}
	return l.Jobs.Add(ctx, j)
}

// adoptPart takes another job of an adopted job back.
func (l *Leader) adoptPart(ctx context.Context, j *jobs.Job, batch account.Batch, mark stamp.Stamp) error {
	part, sum, ok, err := l.lost(ctx, batch, mark)
	if err != nil {
		return err
	}
	if !ok {
		return l.foreign(ctx, batch, "it bears our stamp, but its input is gone or unreadable")
	}
	return l.Jobs.Change(ctx, j, func(j *jobs.Job) error {
		next := part
		next.Of = len(j.Parts)
		j.Parts = append(j.Parts, next)
		j.Lines += sum.Lines
		return nil
	})
}

// lost is the part that a job of the account was made of, read from its input. Not
// ok is one that cannot be read any more.
func (l *Leader) lost(ctx context.Context, batch account.Batch, mark stamp.Stamp) (jobs.Part, lines.Summary, bool, error) {
	path := "adopted/" + batch.ID + ".jsonl"
	kept, err := l.keepInput(ctx, batch, l.Results.Inputs, path)
	if err != nil || !kept {
		return jobs.Part{}, lines.Summary{}, false, err
	}
	in, err := l.Results.Blobs.Read(ctx, l.Results.Inputs, path, 0, -1)
	if err != nil {
		return jobs.Part{}, lines.Summary{}, false, err
	}
	defer func() { _ = in.Close() }()
	const all = 1 << 40
	sum, err := lines.Check(in, io.Discard, lines.Rules{
		MaxLines: l.Settings.MaxLines, MaxBytes: int64(l.Settings.MaxFileBytes), MaxParts: 1, PartLines: all, PartBytes: all,
		Serve: func(deployment string) (string, int64, *apierror.Error) { return deployment, all, nil },
	})
	if _, ok := errors.AsType[*apierror.Error](err); ok {
		return jobs.Part{}, lines.Summary{}, false, nil
	}
	if err != nil {
		return jobs.Part{}, lines.Summary{}, false, err
	}
	return jobs.Part{
		Blob: path, Length: sum.Bytes, Lines: sum.Lines, Tokens: sum.Tokens, No: mark.Part, State: jobs.Running, Attempt: mark.Attempt,
		Tried: l.Now(), Input: batch.Input, Batch: batch.ID, Status: batch.Status, Reserved: sum.Tokens,
	}, sum, true, nil
}

// aliasOf is the alias that a deployment serves, the first by name if it serves more;
// "" for none.
func (l *Leader) aliasOf(deployment string) string {
	for _, alias := range slices.Sorted(maps.Keys(l.Settings.Aliases)) {
		if l.Settings.Aliases[alias].Deployment == deployment {
			return alias
		}
	}
	return ""
}
