package service_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/internal/settings"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/schedule"
	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// rows are the custom ids of a file with the status of each, or the code of its
// error.
func (w *world) rows(tenant, file string) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	if file == "" {
		return out
	}
	for row := range strings.Lines(w.content(tenant, file)) {
		r := gjson.Parse(row)
		id := r.Get("custom_id").String()
		assert.NotContains(w.t, out, id, "a line has one row")
		if out[id] = r.Get("response.status_code").String(); out[id] == "" {
			out[id] = r.Get("error.code").String()
		}
	}
	return out
}

// atAzure are the jobs of the account.
func (w *world) atAzure() []*core.Job { return slices.Collect(w.sim.State().Jobs.All()) }

// balanced asserts that no tokens are counted any more, and that all that were
// reserved were refunded.
func (w *world) balanced(j *jobs.Job) {
	w.t.Helper()
	for n, p := range j.Parts {
		assert.Equal(w.t, p.Reserved, p.Refunded, "part %d", n)
	}
}

// rogue is the client of somebody who has got at the account.
func (w *world) rogue() client.Client {
	return client.NewClient(option.WithBaseURL(w.azure+"/openai/v1"), option.WithAPIKey("rogue"), option.WithMaxRetries(0))
}

// intrude makes a job of n lines at the account, past the control plane.
func (w *world) intrude(n int, metadata map[string]string) string {
	w.t.Helper()
	api, ctx := w.rogue(), context.Background()
	file, err := api.Files.New(ctx, client.FileNewParams{File: client.File(strings.NewReader(strings.ReplaceAll(lines(n), `"model":"chat"`, `"model":"chat-batch"`)), "r.jsonl", "application/jsonl"), Purpose: client.FilePurposeBatch})
	require.NoError(w.t, err)
	require.NoError(w.t, w.sim.Advance(5*time.Second))
	batch, err := api.Batches.New(ctx, client.BatchNewParams{InputFileID: file.ID, Endpoint: "/chat/completions", CompletionWindow: "24h", Metadata: metadata})
	require.NoError(w.t, err)
	return batch.ID
}

func behave(f func(*core.Behaviour)) change {
	return change{azure: func(c *openai.Config) { f(&c.Behaviour) }}
}

// The account made the job and nobody heard of it.
func TestALostAnswerToCreateIsFoundByItsStamp(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.faulty = true
	w.sim.Inject(openai.Fault{Operation: core.CreateBatch, When: openai.After, Drop: true})
	j := w.ended("desk", w.submit("desk", lines(2), nil))
	assert.Equal(t, account.Completed, j.Status)
	assert.Len(t, w.atAzure(), 1)
	w.balanced(j)
}

// The answer was lost and there is no job: it is made again, but only once that is
// certain, and with another stamp.
func TestAJobThatWasNotMadeIsMadeLater(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.faulty = true
	w.sim.Inject(openai.Fault{Operation: core.CreateBatch, Drop: true})
	id := w.submit("desk", lines(2), nil)
	w.pass(3 * time.Minute)
	assert.Equal(t, jobs.Submitting, w.job("desk", id).Parts[0].State, "it may still come")
	j := w.ended("desk", id)
	assert.Equal(t, account.Completed, j.Status)
	require.Len(t, w.atAzure(), 1)
	assert.Equal(t, "desk."+id+".0.1", w.atAzure()[0].Metadata["onedoor_id"])
}

func TestAForeignJobIsEndedKeptAndReported(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.tick()
	id := w.intrude(3, nil)
	w.pass(time.Minute)
	require.Len(t, w.heard(schedule.Foreign), 1, "within one look")
	assert.Contains(t, w.heard(schedule.Foreign)[0].Detail, id)
	assert.Equal(t, core.Cancelling, w.atAzure()[0].Status)
	in, err := w.blobs.Read(context.Background(), "batch-output", "evidence/"+id+".jsonl", 0, -1)
	require.NoError(t, err)
	_ = in.Close()
	w.start(given()) // another leader does not call again
	w.pass(5 * time.Minute)
	assert.Len(t, w.heard(schedule.Foreign), 1)
}

// A stamp that was copied from another job, or made up, opens nothing.
func TestAForgedStampIsForeign(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.submit("desk", lines(1), nil)
	w.pass(time.Minute)
	stamp := maps.Clone(w.atAzure()[0].Metadata)
	stamp["onedoor_id"] = strings.Replace(stamp["onedoor_id"], "desk", "labs", 1)
	w.intrude(1, stamp)
	w.pass(2 * time.Minute)
	assert.Len(t, w.heard(schedule.Foreign), 1)
}

// The ledger was restored from a copy that does not have the job.
func TestAJobThatTheLedgerLostIsAdopted(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.submit("desk", lines(3), nil)
	w.pass(time.Minute)
	d, err := w.table.Get(context.Background(), keyOf("desk", id))
	require.NoError(t, err)
	require.NoError(t, w.table.Delete(context.Background(), d))
	w.start(given())
	w.pass(2 * time.Minute)
	require.Len(t, w.heard(schedule.Adopted), 1)
	j := w.ended("desk", id)
	assert.True(t, j.Adopted)
	assert.Equal(t, account.Completed, j.Status)
	assert.Equal(t, map[string]string{"row-0": "200", "row-1": "200", "row-2": "200"}, w.rows("desk", j.Output))
	assert.Len(t, w.atAzure(), 1)
	assert.Empty(t, w.heard(schedule.Foreign))
	w.balanced(j)
}

// Somebody else's job takes the quota between admission and create; regions differ
// in when they say so.
func TestAJobThatDoesNotFitWaitsAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, classic := range map[string]bool{"FailFast": false, "Classic": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, change{azure: func(c *openai.Config) {
				c.Accounts[0].Classic = classic
				c.Accounts[0].Deployments[0].Capacity = 1
				c.Behaviour.Cancelling = 10 * time.Minute
			}})
			w.intrude(50, nil)
			j := w.ended("desk", w.submit("desk", lines(10), nil))
			assert.Equal(t, account.Completed, j.Status)
			assert.Positive(t, j.Parts[0].Attempt)
			w.balanced(j)
			assert.Len(t, w.rows("desk", j.Output), 10)
		})
	}
}

// An estimate lets a job in, and the exact count minutes later does not.
func TestAnEstimateThatWasTooLowIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := open(t, change{azure: func(c *openai.Config) {
		c.Behaviour.EstimatePercent = 10
		c.Accounts[0].Deployments[0].Capacity = 1
	}})
	id := w.submit("desk", lines(60), map[string]string{"deadline": "2h"}) // more than 1000 tokens
	w.until("desk", id, func(j *jobs.Job) bool { return j.Parts[0].Attempt >= 2 })
	assert.Equal(t, jobs.Waiting, w.until("desk", id, func(j *jobs.Job) bool { return j.Parts[0].State == jobs.Waiting }).Parts[0].State)
	j := w.ended("desk", id)
	assert.Equal(t, account.Expired, j.Status, "nothing but the deadline ends it")
	w.balanced(j)
	for _, wait := range []int{0, 1, 2, 3} {
		assert.Equal(t, 5*time.Second<<wait, account.Backoff(wait))
	}
	assert.Equal(t, time.Hour, account.Backoff(40))
}

func TestRowsAreJoinedOnTheirIDs(t *testing.T) {
	t.Parallel()
	w := open(t, behave(func(b *core.Behaviour) { b.Missing, b.Repeated = []string{"row-1"}, []string{"row-2"} }))
	j := w.ended("desk", w.submit("desk", lines(4), map[string]string{"order": "input"}))
	assert.Equal(t, account.Completed, j.Status)
	assert.Equal(t, map[string]string{"row-0": "200", "row-2": "200", "row-3": "200"}, w.rows("desk", j.Output))
	assert.Equal(t, map[string]string{"row-1": "missing_row"}, w.rows("desk", j.Errors))
	assert.Equal(t, []int{3, 1}, []int{j.Results.Answered, j.Results.Missing})
}

// Parts, lines that are tried again, and an order that Azure does not keep.
func TestResultsComeInTheOrderOfTheInputOnRequest(t *testing.T) {
	t.Parallel()
	w := open(t, change{settings: func(s *settings.Settings) { s.MaxLines = 7 }}, flaky("row-3", "row-12"))
	j := w.ended("desk", w.submit("desk", lines(20), map[string]string{"order": "input"}))
	require.Len(t, j.Parts, 5, "three, and two that are tried again")
	var want, got []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("row-%d", i))
	}
	for row := range strings.Lines(w.content("desk", j.Output)) {
		got = append(got, gjson.Get(row, "custom_id").String())
	}
	assert.Equal(t, want, got)
	w.balanced(j)
}

// flaky makes lines fail once.
func flaky(ids ...string) change {
	failed := map[string]bool{}
	return change{azure: func(c *openai.Config) {
		c.Rules.Outcome = func(row core.Row) core.Outcome {
			if slices.Contains(ids, row.CustomID) && !failed[row.CustomID] {
				failed[row.CustomID] = true
				return core.Broken
			}
			return core.Marked(row)
		}
	}}
}

func TestLinesThatAreNotToBlameAreTriedThreeTimesAgain(t *testing.T) {
	t.Parallel()
	w := open(t)
	j := w.ended("desk", w.submit("desk", line("a", "chat", "x")+line("b", "chat", "[sim:busy]")+line("c", "chat", "[sim:refused]"), nil))
	assert.Equal(t, account.Completed, j.Status)
	assert.Len(t, w.atAzure(), 4, "one, and three more for the busy line alone")
	assert.Equal(t, map[string]string{"a": "200", "c": "400"}, w.rows("desk", j.Output), "a refusal is not tried again")
	assert.Equal(t, map[string]string{"b": "429"}, w.rows("desk", j.Errors))
	w.balanced(j)
}

func TestRefusalsAloneAreResults(t *testing.T) {
	t.Parallel()
	w := open(t)
	j := w.ended("desk", w.submit("desk", line("a", "chat", "[sim:refused]")+line("b", "chat", "[sim:filtered]"), nil))
	assert.Equal(t, account.Completed, j.Status)
	assert.Equal(t, 2, j.Results.Refused)
	assert.Empty(t, j.Errors)
	assert.Len(t, w.atAzure(), 1)
}

// Azure lets jobs run past their window: the deadline is ours.
func TestTheDeadlineEndsAJobThatAzureLetsRun(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(*core.Behaviour){
		"Validating": func(b *core.Behaviour) { b.Validating = 40 * time.Hour },
		"InProgress": func(b *core.Behaviour) { b.Running = 64 * time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, behave(f))
			id := w.submit("desk", lines(3), map[string]string{"deadline": "6h"})
			w.pass(6*time.Hour - time.Minute)
			assert.Empty(t, w.heard(schedule.Late))
			assert.True(t, w.job("desk", id).Open())
			j := w.ended("desk", id)
			assert.Equal(t, account.Expired, j.Status)
			require.Len(t, w.heard(schedule.Late), 1)
			assert.Equal(t, account.Expired, w.heard(schedule.Terminal)[0].Status)
			assert.Less(t, j.Ended.Sub(j.Deadline), 10*time.Minute)
			assert.Len(t, w.rows("desk", j.Output), j.Results.Answered)
			assert.Equal(t, 3, j.Results.Answered+j.Results.Missing)
			for _, code := range w.rows("desk", j.Errors) {
				assert.Equal(t, "batch_expired", code)
			}
			w.balanced(j)
		})
	}
}

// Azure expires jobs at times, whatever its documentation says.
func TestAJobThatAzureExpiresIsExpired(t *testing.T) {
	t.Parallel()
	w := open(t, behave(func(b *core.Behaviour) { b.Running, b.Expires = 64*time.Hour, true }))
	j := w.ended("desk", w.submit("desk", lines(3), map[string]string{"deadline": "48h"}))
	assert.Equal(t, account.Expired, j.Status)
	assert.Less(t, j.Ended.Sub(j.Created), 25*time.Hour)
	w.balanced(j)
}

func TestCancellingKeepsWhatHasRun(t *testing.T) {
	t.Parallel()
	w := open(t, behave(func(b *core.Behaviour) { b.Running, b.PerRow = 0, time.Minute }))
	id := w.submit("desk", lines(20), nil)
	w.until("desk", id, func(j *jobs.Job) bool { return j.Parts[0].Status == account.InProgress })
	w.pass(5 * time.Minute)
	api := w.as("desk")
	got, err := api.Batches.Cancel(context.Background(), id)
	require.NoError(t, err)
	assert.Equal(t, client.BatchStatusCancelling, got.Status)
	w.pass(30 * time.Second)
	p := w.job("desk", id).Parts[0]
	assert.Positive(t, p.Counts(), "tokens count until Azure has ended the job")
	j := w.ended("desk", id)
	assert.Equal(t, account.Cancelled, j.Status)
	ran := len(w.rows("desk", j.Output))
	assert.Positive(t, ran)
	assert.Less(t, ran, 20)
	assert.Equal(t, ran, j.Results.Answered)
	assert.Len(t, w.rows("desk", j.Errors), 20-ran)
	assert.Positive(t, *j.Cost, "what has run is billed")
	w.balanced(j)
	_, err = api.Batches.Cancel(context.Background(), id)
	var refusal *client.Error
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, "batch_ended", refusal.Code)
}

func TestACancelledJobMayEndAsCompleted(t *testing.T) {
	t.Parallel()
	w := open(t, behave(func(b *core.Behaviour) { b.CancelLoses = true }))
	id := w.submit("desk", lines(2), nil)
	w.until("desk", id, func(j *jobs.Job) bool { return j.Parts[0].Status == account.InProgress })
	api := w.as("desk")
	_, err := api.Batches.Cancel(context.Background(), id)
	require.NoError(t, err)
	j := w.ended("desk", id)
	assert.Equal(t, account.Completed, j.Status, "every line has its row")
	assert.Len(t, w.rows("desk", j.Output), 2)
}

func TestAJobThatWasNotSubmittedIsCancelledAtOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.submit("desk", lines(2), nil)
	api := w.as("desk")
	_, err := api.Batches.Cancel(context.Background(), id)
	require.NoError(t, err)
	w.tick()
	j := w.job("desk", id)
	assert.Equal(t, account.Cancelled, j.Status)
	assert.Empty(t, w.atAzure())
	assert.Equal(t, map[string]string{"row-0": "batch_cancelled", "row-1": "batch_cancelled"}, w.rows("desk", j.Errors))
}

// Stuck in cancelling, the tokens still count: what waits behind it waits on.
func TestTokensCountWhileAJobIsBeingCancelled(t *testing.T) {
	t.Parallel()
	w := open(t, change{settings: func(s *settings.Settings) {
		known := s.Aliases["chat"]
		known.EnqueuedTokens = 250
		s.Aliases["chat"] = known
	}}, behave(func(b *core.Behaviour) { b.Cancelling, b.Running = 3*time.Hour, 9*time.Hour }))
	first := w.submit("desk", lines(10), nil)
	require.NoError(t, w.sim.Advance(time.Second))
	second := w.submit("labs", lines(10), nil)
	w.pass(10 * time.Minute)
	api := w.as("desk")
	_, err := api.Batches.Cancel(context.Background(), first)
	require.NoError(t, err)
	w.pass(2 * time.Hour)
	assert.Equal(t, jobs.Waiting, w.job("labs", second).Parts[0].State)
	w.ended("desk", first)
	w.pass(time.Minute)
	assert.NotEqual(t, jobs.Waiting, w.job("labs", second).Parts[0].State)
}

func TestAnOutputThatIsGoneIsSaid(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.submit("desk", lines(2), nil)
	for range 100 {
		require.NoError(t, w.sim.Advance(10*time.Second))
		if b := w.atAzure(); len(b) == 1 && b[0].Status == core.Completed {
			break
		}
		if w.job("desk", id).Parts[0].State != jobs.Running {
			w.tick()
		}
	}
	api := w.rogue()
	_, err := api.Files.Delete(context.Background(), w.atAzure()[0].OutputFile)
	require.NoError(t, err)
	j := w.ended("desk", id)
	assert.Equal(t, account.Completed, j.Status)
	assert.Equal(t, 2, j.Results.Missing)
	assert.Equal(t, map[string]string{"row-0": "missing_row", "row-1": "missing_row"}, w.rows("desk", j.Errors))
}

func TestEveryShapeOfAnswerIsRead(t *testing.T) {
	t.Parallel()
	w := open(t, behave(func(b *core.Behaviour) {
		b.Shape = core.Shape{Capitalised: true, EmptyIDs: true, ISOTimes: true, NullCounts: true, OmitTimes: true}
		b.ExpirySkew = -48 * time.Hour // expires before it was made
	}))
	j := w.ended("desk", w.submit("desk", lines(3), nil))
	assert.Equal(t, account.Completed, j.Status)
	assert.Len(t, w.rows("desk", j.Output), 3)
}

func TestBurstsAndCutAnswersAreSatOut(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.faulty = true
	for _, op := range []core.Operation{core.CreateFile, core.GetFile, core.CreateBatch, core.ListBatches, core.FileContent, core.DeleteFile} {
		w.sim.Inject(openai.Fault{Operation: op, Status: 429, RetryAfter: 40, Code: "429"})
		w.sim.Inject(openai.Fault{Operation: op, Status: 503, Code: "503", Times: 2})
		w.sim.Inject(openai.Fault{Operation: op, Status: 500, Code: "500", When: openai.After})
	}
	w.sim.Inject(openai.Fault{Operation: core.FileContent, Truncate: 40})
	j := w.ended("desk", w.submit("desk", lines(5), nil))
	assert.Equal(t, account.Completed, j.Status)
	assert.Len(t, w.rows("desk", j.Output), 5)
	assert.Len(t, w.atAzure(), 1)
	w.balanced(j)
}

func TestADeploymentThatGoesAwayFailsWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := open(t, behave(func(b *core.Behaviour) { b.Running, b.PerRow = 0, time.Minute }))
	id := w.submit("desk", lines(10), nil)
	w.until("desk", id, func(j *jobs.Job) bool { return j.Parts[0].Status == account.InProgress })
	w.pass(4 * time.Minute)
	w.sim.DeleteDeployment(accountName, "chat-batch")
	j := w.ended("desk", id)
	assert.Equal(t, account.Completed, j.Status)
	assert.Positive(t, j.Results.Answered)
	assert.Positive(t, j.Results.Failed)
	assert.Equal(t, 10, j.Results.Answered+j.Results.Failed)
}

func TestAJobThatAzureDoesNotTakeFails(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.sim.DeleteDeployment(accountName, "chat-batch")
	j := w.ended("desk", w.submit("desk", lines(2), nil))
	assert.Equal(t, account.Failed, j.Status)
	require.NotEmpty(t, j.Faults)
	assert.Equal(t, account.Failed, w.heard(schedule.Terminal)[0].Status)
	w.balanced(j)
	for _, code := range w.rows("desk", j.Errors) {
		assert.Equal(t, j.Faults[0].Code, code)
	}
}

// Azure lets an account's jobs be listed once a minute: not more often, whoever leads.
func TestTheAccountIsNotAskedTooOften(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.submit("desk", lines(3), nil)
	for i := range 600 {
		require.NoError(t, w.sim.Advance(5*time.Second))
		if i == 303 { // a quarter of a minute after a look
			w.start(given()) // another leader
		}
		w.tick()
	}
	var lists []time.Time
	for _, call := range w.sim.Log() {
		if call.Operation == core.ListBatches {
			lists = append(lists, call.Time)
		}
	}
	require.Greater(t, len(lists), 40)
	for i := 1; i < len(lists); i++ {
		assert.GreaterOrEqual(t, lists[i].Sub(lists[i-1]), time.Minute, "look %d", i)
	}
}

// A job that the account has no room for is tried again ever more seldom.
func TestAJobThatDoesNotFitIsTriedEverMoreSeldom(t *testing.T) {
	t.Parallel()
	w := open(t, change{azure: func(c *openai.Config) { c.Accounts[0].Deployments[0].Capacity = 1 }})
	id := w.submit("desk", lines(60), nil) // more than 1000 tokens
	w.pass(3 * time.Hour)
	var tries []time.Time
	for _, call := range w.sim.Log() {
		if call.Operation == core.CreateBatch {
			assert.Equal(t, http.StatusBadRequest, call.Status)
			tries = append(tries, call.Time)
		}
	}
	require.Greater(t, len(tries), 8)
	for i := 1; i < len(tries); i++ {
		assert.GreaterOrEqual(t, tries[i].Sub(tries[i-1]), account.Backoff(i-1), "try %d", i)
	}
	assert.Equal(t, jobs.Waiting, w.job("desk", id).Parts[0].State)
	assert.Zero(t, w.job("desk", id).Parts[0].Counts())
}
