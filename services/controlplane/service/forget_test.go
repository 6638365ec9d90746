package service_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/internal/settings"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/schedule"
	"onedoor/sim/openai/core"
)

const day = 24 * time.Hour

// forgetful forgets jobs 15 days after their end.
func forgetful(s *settings.Settings) { s.ForgetSeconds = 15 * settings.SecondsOfADay }

// documents are the rows of a partition.
func (w *world) documents(partition string) []string {
	w.t.Helper()
	found, err := w.table.List(context.Background(), ledger.Query{Partition: partition})
	require.NoError(w.t, err)
	rows := []string{}
	for _, d := range found {
		rows = append(rows, d.Row)
	}
	return rows
}

// What has ended is forgotten with all that belongs to it, and does not come back:
// the account may list its jobs for ever.
func TestAJobIsForgottenWithItsFiles(t *testing.T) {
	t.Parallel()
	w := open(t, change{settings: forgetful})
	post := func(file string) string {
		body := fmt.Sprintf(`{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h"}`, file)
		status, got := w.post(http.MethodPost, "/v1/batches", "desk", map[string]string{"Idempotency-Key": "k"}, strings.NewReader(body))
		require.Equal(t, http.StatusOK, status, got)
		return gjson.Get(got, "id").String()
	}
	id := post(w.upload("desk", lines(2)))
	j := w.ended("desk", id)
	require.NotEmpty(t, j.Output)
	sweep := func() {
		for range 10 { // a page in each
			w.tick()
		}
	}
	require.NoError(t, w.sim.Advance(15*day-time.Minute))
	sweep()
	assert.Equal(t, j.Output, w.job("desk", id).Output, "for 15 days it is there")

	require.NoError(t, w.sim.Advance(2*time.Hour)) // the next sweep
	sweep()
	for _, partition := range []string{"job.desk", "file.desk", "once.desk"} {
		assert.Empty(t, w.documents(partition), partition)
	}
	for _, path := range []string{"/v1/batches/" + id, "/v1/files/" + j.Output, "/v1/files/" + j.File} {
		status, got, _ := w.call(http.MethodGet, path, "desk", "", "")
		refused(t, http.StatusNotFound, "not_found", status, got)
	}
	require.Len(t, w.atAzure(), 1, "the account lists it")
	forgets := given()
	forgetful(&forgets)
	w.start(forgets) // a leader that knows nothing
	w.pass(5 * time.Minute)
	assert.Empty(t, w.documents("job.desk"))
	assert.Empty(t, w.heard(schedule.Adopted))
	assert.Empty(t, w.heard(schedule.Foreign))

	_, got, _ := w.call(http.MethodGet, "/usage?from=2026-11-01&to=2027-01-01", "desk", "", "")
	assert.Equal(t, int64(2), gjson.Get(got, "total.requests").Int(), "what it cost stays known")
	assert.NotEqual(t, id, post(w.upload("desk", lines(2))), "the key of idempotency is free")
}

// Keys are changed twice, and nothing proves the stamps of the jobs before: those of
// which the ledger knows are ours, and those that it has forgotten were. Whoever copies
// such a stamp gains nothing by it.
func TestJobsWhoseKeyIsGoneAreNotForeign(t *testing.T) {
	t.Parallel()
	w := open(t, change{settings: forgetful}, behave(func(b *core.Behaviour) { b.Running = 2 * time.Hour }))
	forgotten := w.submit("desk", lines(1), nil)
	w.ended("desk", forgotten)
	require.NoError(t, w.sim.Advance(16*day))
	w.pass(5 * time.Minute)
	require.Empty(t, w.documents("job.desk"))
	ended := w.submit("desk", lines(1), nil)
	w.ended("desk", ended)
	running := w.submit("labs", lines(1), nil)
	w.until("labs", running, func(j *jobs.Job) bool { return j.Parts[0].Status == account.InProgress })

	for _, id := range []string{"1", "2"} {
		require.NoError(t, os.Remove(filepath.Join(w.keys, id)))
		require.NoError(t, os.WriteFile(filepath.Join(w.keys, "3"+id), []byte(strings.Repeat(id, 64)), 0o600))
	}
	s := given()
	forgetful(&s)
	w.start(s) // a leader that knows nothing
	w.pass(5 * time.Minute)
	assert.Empty(t, w.heard(schedule.Foreign))
	assert.Equal(t, account.Completed, w.ended("labs", running).Status)

	for i, copied := range w.atAzure() {
		w.intrude(1, copied.Metadata)
		require.NoError(t, w.sim.Advance(3*time.Hour)) // it has ended before anybody looks
		w.pass(2 * time.Minute)
		assert.Len(t, w.heard(schedule.Foreign), i+1, copied.Metadata["onedoor_id"])
	}
}

// Only what is over goes, and a long time after its end.
func TestWhatIsNotOverIsNotForgotten(t *testing.T) {
	t.Parallel()
	w := open(t, change{settings: forgetful})
	store := jobs.Store{Table: w.table}
	now := w.sim.Now()
	for name, c := range map[string]struct {
		stays bool
		made  time.Duration // ago
		ended time.Duration // ago; 0 for never
		part  jobs.Part
	}{
		"Over":       {false, 30 * day, 15*day + time.Second, jobs.Part{State: jobs.Collected}},
		"Failed":     {false, 30 * day, 16 * day, jobs.Part{State: jobs.Failed, Reserved: 7, Refunded: 7}},
		"JustNow":    {true, 30 * day, 15*day - time.Minute, jobs.Part{State: jobs.Collected}},
		"Young":      {true, 14 * day, 14 * day, jobs.Part{State: jobs.Collected}},
		"Open":       {true, 30 * day, 0, jobs.Part{State: jobs.Held}},
		"Reserves":   {true, 30 * day, 20 * day, jobs.Part{State: jobs.Collected, Reserved: 7}},
		"TriedAgain": {true, 30 * day, 20 * day, jobs.Part{State: jobs.Waiting, Again: 1}},
	} {
		id := jobs.NewJobID(now.Add(-c.made))
		j := &jobs.Job{ID: id, Tenant: "desk", File: "file-" + strings.ToLower(name), Alias: "chat", Deployment: "chat-batch", Lines: 1, Created: now.Add(-c.made), Deadline: now.Add(day), Status: account.Completed, Ended: now.Add(-c.ended), Parts: []jobs.Part{c.part}}
		if c.ended == 0 {
			j.Status, j.Ended = account.InProgress, time.Time{}
		}
		require.NoError(t, store.Add(context.Background(), j))
		defer func() {
			_, err := store.Job(context.Background(), "desk", id)
			if c.stays {
				assert.NoError(t, err, name)
			} else {
				assert.ErrorIs(t, err, ledger.ErrNotFound, name)
			}
		}()
	}
	file := func(id string, ago time.Duration) {
		require.NoError(t, store.AddFile(context.Background(), jobs.File{ID: id, Tenant: "desk", Created: now.Add(-ago)}))
	}
	old, young := jobs.NewFileID(now.Add(-16*day)), jobs.NewFileID(now.Add(-14*day))
	file("file-open", 30*day) // the input of the job that is open
	file(old, 16*day)
	file(young, 14*day)
	for range 10 {
		w.tick()
	}
	assert.ElementsMatch(t, []string{"file-open", young}, w.documents("file.desk"))
}

// A sweep goes on from tick to tick, a page in each: a leader has other work to do.
func TestASweepIsMadeInSteps(t *testing.T) {
	t.Parallel()
	w := open(t, change{settings: forgetful})
	store := jobs.Store{Table: w.table}
	now := w.sim.Now()
	for i := range 250 {
		made := now.Add(-30*day - time.Duration(i))
		require.NoError(t, store.Add(context.Background(), &jobs.Job{ID: jobs.NewJobID(made), Tenant: "desk", Created: made, Status: account.Completed, Ended: made}))
	}
	var left []int
	for range 4 {
		w.tick()
		left = append(left, len(w.documents("job.desk")))
	}
	assert.Equal(t, []int{150, 50, 0, 0}, left)
}

// Without a retention, as with settings of an older deployment, nothing is forgotten.
func TestWithoutARetentionNothingIsForgotten(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.submit("desk", lines(1), nil)
	w.ended("desk", id)
	require.NoError(t, w.sim.Advance(1000*day))
	for range 10 {
		w.tick()
	}
	assert.Equal(t, []string{id}, w.documents("job.desk"))
}

// A nightly job that seldom runs is neither started again nor missed once the ledger
// has forgotten its last run.
func TestAForgottenRunIsNeitherMissedNorStartedAgain(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.put("nightly/tickets/a.jsonl", line("a", "chat", "x"))
	told := given()
	forgetful(&told)
	told.NightlyJobs["tickets"] = settings.Nightly{Schedule: "0 13 29 11 *", Tenant: "desk", Alias: "chat", Source: "nightly/tickets/", DeadlineSeconds: 86_400} // in an hour, and in a year
	w.start(told)
	w.tick()
	require.NoError(t, w.sim.Advance(61*time.Minute))
	start := func() (int, string) {
		status, got, _ := w.call(http.MethodPost, "/v1/nightly/tickets", "nightly", "", "")
		return status, got
	}
	status, got := start()
	require.Equal(t, http.StatusOK, status, got)
	w.ended("desk", gjson.Get(got, "id").String())
	require.NoError(t, w.sim.Advance(17*day))
	for range 10 {
		w.tick()
	}
	require.Empty(t, w.documents("job.desk"))
	w.start(told) // a leader that knows nothing
	w.tick()
	assert.Empty(t, w.heard(schedule.Missed))
	status, got = start()
	refused(t, http.StatusConflict, "conflict", status, got)
	assert.Contains(t, got, "wait for its next time")
	assert.Empty(t, w.documents("job.desk"))
}

// Lines that storage does not keep any more end a batch with that reason, and a file
// without content is said to be gone.
func TestContentThatIsGoneIsSaid(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := w.upload("desk", lines(20))
	f, err := jobs.Store{Table: w.table}.File(context.Background(), "desk", file)
	require.NoError(t, err)
	require.NoError(t, w.blobs.Delete(context.Background(), f.Container, f.Blob))
	j := w.ended("desk", w.create("desk", file, nil))
	assert.Equal(t, account.Failed, j.Status)
	require.Len(t, j.Faults, 1)
	assert.Equal(t, "input_gone", j.Faults[0].Code)
	assert.Equal(t, 20, j.Results.Missing)
	w.balanced(j)
	status, got, _ := w.call(http.MethodGet, "/v1/files/"+file+"/content", "desk", "", "")
	refused(t, http.StatusNotFound, "not_found", status, got)
	assert.Contains(t, got, "not kept any more")
	status, got, _ = w.call(http.MethodPost, "/v1/batches", "desk", "application/json", fmt.Sprintf(`{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{"pilot":"10"}}`, file))
	refused(t, http.StatusNotFound, "not_found", status, got)
}

// A batch whose lines storage removes while it runs ends with the rows that come: only
// what has none cannot be named or tried again.
func TestABatchEndsWithoutItsLines(t *testing.T) {
	t.Parallel()
	for _, ordered := range []string{"", "input"} {
		w := open(t, behave(func(b *core.Behaviour) { b.Missing, b.Repeated = []string{"row-1"}, []string{"row-2"} }))
		metadata := map[string]string{}
		if ordered != "" {
			metadata["order"] = ordered
		}
		id := w.submit("desk", lines(3)+line("busy", "chat", "[sim:busy]"), metadata)
		w.until("desk", id, func(j *jobs.Job) bool { return j.Parts[0].State == jobs.Running })
		p := w.job("desk", id).Parts[0]
		require.NoError(t, w.blobs.Delete(context.Background(), "batch-input", p.Blob))
		j := w.ended("desk", id)
		assert.Equal(t, map[string]string{"row-0": "200", "row-2": "200"}, w.rows("desk", j.Output))
		assert.Equal(t, map[string]string{"busy": "429"}, w.rows("desk", j.Errors))
		assert.Equal(t, []int{2, 1, 1}, []int{j.Results.Answered, j.Results.Failed, j.Results.Missing})
		w.balanced(j)
	}
}
