package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// Tables sort by id, and lists begin with the newest.
func TestNewerIDsComeFirst(t *testing.T) {
	t.Parallel()
	last := ""
	for _, after := range []time.Duration{40 * 365 * 24 * time.Hour, 24 * time.Hour, time.Second, time.Nanosecond, 0} {
		id := jobs.NewJobID(now.Add(after))
		assert.Less(t, last, id)
		last = id
	}
	assert.NotEqual(t, jobs.NewJobID(now), jobs.NewJobID(now))
	assert.True(t, strings.HasPrefix(jobs.NewFileID(now), "file-"))
	file, job := jobs.Run("tickets", now)
	again, _ := jobs.Run("tickets", now)
	assert.Equal(t, file, again)
	_, other := jobs.Run("tickets", now.Add(time.Minute))
	assert.NotEqual(t, job, other)
}

func add(t *testing.T, s jobs.Store) *jobs.Job {
	t.Helper()
	j := &jobs.Job{ID: jobs.NewJobID(now), Tenant: "desk", Status: account.InProgress, Parts: []jobs.Part{{Tokens: 5, State: jobs.Waiting}}}
	require.NoError(t, s.Add(context.Background(), j))
	return j
}

// The caller cancels while the leader writes: both changes are there afterwards.
func TestChangesOfTwoAreBothThere(t *testing.T) {
	t.Parallel()
	s := jobs.Store{Table: ledger.NewLocal()}
	j := add(t, s)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			mine, err := s.Job(context.Background(), "desk", j.ID)
			assert.NoError(t, err)
			assert.NoError(t, s.Change(context.Background(), mine, func(j *jobs.Job) error { j.Lines++; return nil }))
		})
	}
	all.Wait()
	got, err := s.Job(context.Background(), "desk", j.ID)
	require.NoError(t, err)
	assert.Equal(t, 20, got.Lines)
}

// A leader that has lost the lead without knowing finds the state changed, and
// does nothing.
func TestAStaleChangeIsNotMade(t *testing.T) {
	t.Parallel()
	s := jobs.Store{Table: ledger.NewLocal()}
	old := add(t, s)
	fresh, err := s.Job(context.Background(), "desk", old.ID)
	require.NoError(t, err)
	reserve := func(j *jobs.Job) error {
		if j.Parts[0].State != jobs.Waiting {
			return jobs.ErrStale
		}
		j.Parts[0].Reserve()
		return nil
	}
	require.NoError(t, s.Change(context.Background(), fresh, reserve))
	require.ErrorIs(t, s.Change(context.Background(), old, reserve), jobs.ErrStale)
	assert.Equal(t, jobs.Reserved, old.Parts[0].State, "it knows the new state now")
	assert.Equal(t, int64(5), old.Parts[0].Counts(), "and the tokens count once")
	failed := errors.New("failed")
	require.ErrorIs(t, s.Change(context.Background(), old, func(j *jobs.Job) error { j.Lines = 9; return failed }), failed)
	assert.Zero(t, old.Lines)
}

func TestTokensAreReservedAndFreedOnce(t *testing.T) {
	t.Parallel()
	p := jobs.Part{Tokens: 7, State: jobs.Waiting}
	for range 3 { // each attempt
		p.Reserve()
		assert.Equal(t, int64(7), p.Counts())
		p.Release(jobs.Waiting)
		p.Release(jobs.Dropped)
		assert.Zero(t, p.Counts())
	}
	assert.Equal(t, []int64{21, 21}, []int64{p.Reserved, p.Refunded})
}

// A job of as many parts as there may be, each tried again three times, is one
// document.
func TestTheLargestJobFitsInADocument(t *testing.T) {
	t.Parallel()
	j := jobs.Job{Metadata: map[string]string{}}
	for i := range 16 {
		j.Metadata[strings.Repeat("k", 60)+string(rune('a'+i))] = strings.Repeat("v", 512)
	}
	for range 400 {
		p := jobs.Part{Blob: "files/" + strings.Repeat("t", 63) + "/" + jobs.NewFileID(now) + ".jsonl", Offset: 1 << 40, Length: 1 << 30, Lines: 100_000, Tokens: 1 << 40, No: 399, Of: 99, Again: 3, State: jobs.Submitting, Tried: now, After: now,
			Input: strings.Repeat("f", 40), Batch: strings.Repeat("b", 50), Status: account.InProgress, Output: strings.Repeat("f", 40), Errors: strings.Repeat("f", 40), Rows: 100_000, Reserved: 1 << 50, Refunded: 1 << 50}
		p.Results = jobs.Results{Answered: 100_000, Refused: 100_000, Failed: 100_000, Missing: 100_000, Usage: jobs.Usage{Input: 1 << 50, Cached: 1 << 50, Output: 1 << 50}}
		j.Parts = append(j.Parts, p)
	}
	text, err := json.Marshal(&j)
	require.NoError(t, err)
	assert.Less(t, len(text), ledger.MaxData)
}
