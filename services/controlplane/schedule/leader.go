// Package schedule owns how jobs get on: one leader decides what is sent to the
// account, sends it once, looks after it, and brings its results home. Everything
// that it knows is in the ledger; it can be killed at any point, and whoever leads
// next goes on from there.
package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"onedoor/internal/settings"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/results"
	"onedoor/services/controlplane/stamp"
	"onedoor/services/controlplane/usage"
)

// Leader gets jobs on. Only one works at a time.
type Leader struct {
	Settings settings.Settings
	Jobs     jobs.Store
	Usage    usage.Store
	Prices   usage.Prices
	Results  results.Store
	Account  *account.Client
	Stamps   stamp.Stamps
	Now      func() time.Time
	Emit     func(context.Context, Event) error    // comes before what the event is about; an error keeps that from being
	Observe  func(open []*jobs.Job, now time.Time) // for metrics
	Drift    func(deployment string, tokens int64) // hears by how many tokens more the account counts as enqueued than the ledger
	Log      *slog.Logger

	lock    sync.Mutex                    // of asked and quotas
	since   time.Time                     // when somebody led for the first time; zero before it is known
	due     time.Time                     // before which the account's jobs are not listed
	looked  time.Time                     // when the last list began
	batches map[string]account.Batch      // of it, by id
	stamped map[stamp.Stamp]account.Batch // of it, the ones that are ours
	known   map[string]bool               // jobs of the account that were looked into, by id
	asked   map[string]time.Time          // when the account was last asked to cancel a job, by id
	quotas  map[string]account.Quota      // what the account has said in this tick, by deployment
	sweep   sweep                         // through what the ledger may forget
}

// atOnce is how many jobs get on at a time: uploads take minutes. What the pod has for
// scratch is shared out among as many.
const atOnce = 4

// Begin forgets what this instance knew when it last led. The account's jobs are not
// listed at once: whoever led before may have done it a moment ago.
func (l *Leader) Begin() {
	l.known, l.asked, l.due = map[string]bool{}, map[string]time.Time{}, l.Now().Add(l.poll())
	l.batches, l.stamped, l.looked, l.sweep = nil, nil, time.Time{}, sweep{}
}

// Tick gets every open job on as far as it goes now. Call it every few seconds. The
// error is of what did not work; the rest has got on, and the next Tick tries again.
func (l *Leader) Tick(ctx context.Context) error {
	if l.known == nil {
		l.Begin()
	}
	open, err := l.open(ctx)
	if err != nil {
		return err
	}
	var failed []error
	if now := l.Now(); !now.Before(l.due) {
		if err := l.look(ctx, open); err != nil {
			failed = append(failed, err)
		}
		l.due = now.Add(l.poll())
		if open, err = l.open(ctx); err != nil { // with those that were found
			return errors.Join(append(failed, err)...)
		}
	}
	if err := l.reserve(ctx, open); err != nil {
		failed = append(failed, err)
	}
	errs := make([]error, len(open))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, j := range open {
		group.Go(func() error {
			errs[i] = l.job(ctx, j)
			return nil
		})
	}
	_ = group.Wait() // errs has them
	failed = append(failed, errs...)
	failed = append(failed, l.watchNightly(ctx), l.forget(ctx, open))
	l.compare(open)
	l.Observe(open, l.Now())
	return errors.Join(failed...)
}

// poll is the time between two lists of the account's jobs.
func (l *Leader) poll() time.Duration { return time.Duration(l.Settings.PollSeconds) * time.Second }

// open are the open jobs of all tenants.
func (l *Leader) open(ctx context.Context) ([]*jobs.Job, error) {
	var out []*jobs.Job
	for _, tenant := range slices.Sorted(maps.Keys(l.Settings.Tenants)) {
		found, err := l.Jobs.Open(ctx, tenant)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// place is a part of a job.
type place struct {
	job  *jobs.Job
	part int
}

// reserve gives parts that wait the room that there is among the enqueued tokens of
// their deployment: the earliest deadline first. A part that does not fit holds up
// those behind it, or small ones would keep it out for ever; one that Azure has just
// refused does not, because nobody knows for how long. One that has more tokens than
// all the room there is, as after that was made smaller, fails.
func (l *Leader) reserve(ctx context.Context, open []*jobs.Job) error {
	used := map[string]int64{}
	var waiting []place
	for _, j := range open {
		for n := range j.Parts {
			p := &j.Parts[n]
			used[j.Deployment] += p.Counts()
			if p.State == jobs.Waiting && !j.Stopping() && !l.Now().Before(p.After) {
				waiting = append(waiting, place{j, n})
			}
		}
	}
	slices.SortFunc(waiting, func(a, b place) int {
		return cmp.Or(a.job.Deadline.Compare(b.job.Deadline), a.job.Created.Compare(b.job.Created), cmp.Compare(a.job.ID, b.job.ID), cmp.Compare(a.part, b.part))
	})
	full := map[string]bool{}
	allowance := allowances{leader: l, open: open, left: map[string]int64{}}
	for _, at := range waiting {
		pool, tokens := at.job.Deployment, at.job.Parts[at.part].Tokens
		room := int64(l.Settings.Aliases[at.job.Alias].EnqueuedTokens)
		if tokens > room {
			err := l.fail(ctx, at, account.Fault{
				Code: account.TokenLimit, Message: fmt.Sprintf("it has about %d tokens of input, and %s takes %d in all by now; upload the file again, which cuts it anew", tokens, at.job.Alias, room),
			})
			if err != nil {
				return err
			}
			continue
		}
		if full[pool] || used[pool]+tokens > room {
			full[pool] = true
			continue
		}
		if ok, err := allowance.take(ctx, at.job.Tenant, tokens); err != nil {
			return err
		} else if !ok {
			continue
		}
		err := l.change(ctx, at, jobs.Waiting, func(_ *jobs.Job, p *jobs.Part) { p.Reserve() })
		if err != nil {
			return err
		}
		used[pool] += at.job.Parts[at.part].Counts()
	}
	return nil
}

// allowances are what tenants may still use in the period of their plan.
type allowances struct {
	leader *Leader
	open   []*jobs.Job
	left   map[string]int64
}

// take takes tokens of a tenant's allowance, if it has so many.
func (a allowances) take(ctx context.Context, tenant string, tokens int64) (bool, error) {
	l := a.leader
	plan := l.Settings.Plans[l.Settings.Tenants[tenant].Plan]
	if plan.Quota == 0 {
		return true, nil
	}
	left, known := a.left[tenant]
	if !known {
		used, err := l.Usage.Tokens(ctx, tenant, plan.Period, l.Now())
		if err != nil {
			return false, err
		}
		left = int64(plan.Quota) - used
		for _, j := range a.open {
			for n := range j.Parts {
				if j.Tenant == tenant { // what has come back is in no entry before the job has ended
					p := &j.Parts[n]
					left -= p.Counts() + p.Results.Input + p.Results.Output
				}
			}
		}
	}
	ok := tokens <= left
	if ok {
		left -= tokens
	}
	a.left[tenant] = left
	return ok, nil
}

// change changes a part that is still in that state, and its job. A state that it
// is not in any more is left alone: somebody else was faster.
func (l *Leader) change(ctx context.Context, at place, from jobs.State, f func(*jobs.Job, *jobs.Part)) error {
	attempt := at.job.Parts[at.part].Attempt
	err := l.Jobs.Change(ctx, at.job, func(j *jobs.Job) error {
		p := &j.Parts[at.part]
		if p.State != from || p.Attempt != attempt {
			return jobs.ErrStale
		}
		f(j, p)
		return nil
	})
	if errors.Is(err, jobs.ErrStale) {
		return nil
	}
	return err
}
