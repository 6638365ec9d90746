package schedule

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
)

// How the ledger is swept: so often, and so many documents in a tick, which has other
// work to do.
const (
	sweepEvery  = time.Hour
	sweepAtOnce = 100
)

// sweep is how far the leader is with looking for what the ledger may forget.
type sweep struct {
	next  time.Time // before which no other sweep begins
	left  []shelf
	after string // id to go on behind; "" for the newest that may be old enough
}

// shelf is the jobs of a tenant, or its files.
type shelf struct {
	tenant string
	files  bool
}

// retention is how long the ledger knows what has ended; 0 for ever.
func (l *Leader) retention() time.Duration {
	return time.Duration(l.Settings.ForgetSeconds) * time.Second
}

// forgotten tells whether a job of that id is so old that the ledger may have
// forgotten it.
func (l *Leader) forgotten(job string) bool {
	made, ok := jobs.Made(job)
	return ok && l.past(made)
}

// past tells whether the ledger may have forgotten what was made then.
func (l *Leader) past(made time.Time) bool {
	return l.retention() > 0 && l.Now().Sub(made) > l.retention()
}

// forget removes jobs from the ledger that have ended, and files, as old as storage
// keeps no content of: lists would grow for ever.
func (l *Leader) forget(ctx context.Context, open []*jobs.Job) error {
	now := l.Now()
	if l.retention() == 0 {
		return nil
	}
	if len(l.sweep.left) == 0 {
		if now.Before(l.sweep.next) {
			return nil
		}
		l.sweep.next = now.Add(sweepEvery)
		for _, tenant := range slices.Sorted(maps.Keys(l.Settings.Tenants)) {
			l.sweep.left = append(l.sweep.left, shelf{tenant, false}, shelf{tenant, true})
		}
	}
	at, before := l.sweep.left[0], now.Add(-l.retention())
	var seen int
	var err error
	if at.files {
		seen, err = l.forgetFiles(ctx, at.tenant, before, open)
	} else {
		seen, err = l.forgetJobs(ctx, at.tenant, before)
	}
	if err != nil {
		return err // and the next tick begins here
	}
	if seen < sweepAtOnce {
		l.sweep.left, l.sweep.after = l.sweep.left[1:], ""
	}
	return nil
}

// forgetJobs forgets the next jobs of a tenant that had ended before that time, and
// says how many it has looked at.
func (l *Leader) forgetJobs(ctx context.Context, tenant string, before time.Time) (int, error) {
	after := l.sweep.after
	if after == "" {
		_, after = jobs.Before(before)
	}
	found, err := l.Jobs.Jobs(ctx, tenant, after, sweepAtOnce)
	if err != nil {
		return 0, err
	}
	for _, j := range found {
		if over(j) && j.Ended.Before(before) {
			switch err := l.Jobs.Remove(ctx, j); {
			case err == nil:
				l.Log.InfoContext(ctx, "the ledger forgets a job", "tenant", tenant, "job", j.ID, "ended", j.Ended)
			case !errors.Is(err, ledger.ErrChanged): // one that somebody has just written is for the next sweep
				return 0, err
			}
		}
		l.sweep.after = j.ID
	}
	return len(found), nil
}

// over tells whether nothing is left to be done for a job: none of its lines are tried
// again, and no tokens count.
func over(j *jobs.Job) bool {
	if j.Open() || j.Ended.IsZero() {
		return false
	}
	for n := range j.Parts {
		if p := &j.Parts[n]; !p.Done() || p.Counts() != 0 {
			return false
		}
	}
	return true
}

// forgetFiles forgets the next files of a tenant that were made before that time and
// are the input of no open job, and says how many it has looked at.
func (l *Leader) forgetFiles(ctx context.Context, tenant string, before time.Time, open []*jobs.Job) (int, error) {
	after := l.sweep.after
	if after == "" {
		after, _ = jobs.Before(before)
	}
	found, err := l.Jobs.Files(ctx, tenant, after, sweepAtOnce)
	if err != nil {
		return 0, err
	}
	for _, f := range found {
		used := slices.ContainsFunc(open, func(j *jobs.Job) bool { return j.Tenant == tenant && j.File == f.ID })
		if !used && f.Created.Before(before) {
			if err := l.Jobs.RemoveFile(ctx, f); err != nil && !errors.Is(err, ledger.ErrChanged) {
				return 0, err
			}
		}
		l.sweep.after = f.ID
	}
	return len(found), nil
}
