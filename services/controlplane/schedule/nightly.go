package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robfig/cron/v3"

	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
)

// grace is how late a nightly job may start before somebody hears of it.
const grace = time.Hour

// horizon is how far back a scheduled time is looked for: a schedule may name one
// day of a year.
const horizon = 366 * 24 * time.Hour

// LastRun is the last time, up to now, that a schedule of five fields names, in
// UTC; zero if there was none for a year.
func LastRun(schedule string, now time.Time) (time.Time, error) {
	spec, err := cron.ParseStandard(schedule)
	if err != nil {
		return time.Time{}, fmt.Errorf("schedule %q: %w", schedule, err)
	}
	// The library only looks forward: from ever further back.
	now = now.UTC()
	for back := time.Hour; back <= 2*horizon; back *= 2 {
		last := time.Time{}
		for at := spec.Next(now.Add(-back)); !at.IsZero() && !at.After(now); at = spec.Next(at) {
			last = at
		}
		if !last.IsZero() {
			return last, nil
		}
	}
	return time.Time{}, nil
}

// watchNightly says which nightly jobs were not started.
func (l *Leader) watchNightly(ctx context.Context) error {
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(l.Settings.NightlyJobs)) {
		failed = append(failed, l.watchRun(ctx, name))
	}
	return errors.Join(failed...)
}

func (l *Leader) watchRun(ctx context.Context, name string) error {
	job := l.Settings.NightlyJobs[name]
	at, err := LastRun(job.Schedule, l.Now().Add(-grace))
	if err != nil || at.IsZero() {
		return err
	}
	if since, err := l.firstLed(ctx); err != nil || at.Before(since) {
		return err
	}
	_, id := jobs.Run(name, at)
	if l.forgotten(id) { // of a schedule that seldom comes round
		return nil
	}
	if l.known[id] {
		return nil
	}
	if _, err := l.Jobs.Job(ctx, job.Tenant, id); !errors.Is(err, ledger.ErrNotFound) {
		l.known[id] = err == nil
		return err
	}
	key := ledger.Key{Partition: "missed", Row: id}
	_, err = l.Jobs.Table.Get(ctx, key)
	if errors.Is(err, ledger.ErrNotFound) {
		err = l.Emit(ctx, Event{Name: Missed, At: l.Now(), Tenant: job.Tenant, Alias: job.Alias, Job: id, Detail: fmt.Sprintf("nightly job %q was not started at %s", name, at.Format(time.RFC3339))})
		if err != nil {
			return err
		}
		_, err = l.Jobs.Table.Insert(ctx, ledger.Document{Key: key, Data: []byte(`{}`)})
	}
	l.known[id] = err == nil
	return err
}

// firstLed is when somebody led for the first time: what was to start before was
// nobody's.
func (l *Leader) firstLed(ctx context.Context) (time.Time, error) {
	if !l.since.IsZero() {
		return l.since, nil
	}
	key := ledger.Key{Partition: "service", Row: "began"}
	data, err := json.Marshal(l.Now())
	if err != nil {
		return time.Time{}, err
	}
	if _, err := l.Jobs.Table.Insert(ctx, ledger.Document{Key: key, Data: data}); err != nil && !errors.Is(err, ledger.ErrExists) {
		return time.Time{}, err
	}
	d, err := l.Jobs.Table.Get(ctx, key)
	if err != nil {
		return time.Time{}, err
	}
	err = json.Unmarshal(d.Data, &l.since)
	return l.since, err
}

// deadline is that of a job whose caller names none.
func (l *Leader) deadline() time.Duration {
	return time.Duration(l.Settings.DeadlineSeconds) * time.Second
}
