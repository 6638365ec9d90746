package service_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/internal/prices"
	"onedoor/internal/settings"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/schedule"
	"onedoor/services/controlplane/usage"
)

// takes limits what the deployment of chat takes at a time.
func takes(tokens int) change {
	return change{settings: func(s *settings.Settings) {
		known := s.Aliases["chat"]
		known.EnqueuedTokens = tokens
		s.Aliases["chat"] = known
	}}
}

func TestTheEarliestDeadlineGoesFirst(t *testing.T) {
	t.Parallel()
	w := open(t, takes(200)) // one job of 170 tokens at a time
	made := map[string]string{}
	for tenant, deadline := range map[string]string{"desk": "20h", "labs": "8h"} {
		made[tenant] = w.submit(tenant, lines(10), map[string]string{"deadline": deadline})
	}
	made["home"] = w.submit("home", strings.ReplaceAll(lines(10), `"chat"`, `"zone"`), nil)
	w.tick()
	assert.Equal(t, jobs.Waiting, w.job("desk", made["desk"]).Parts[0].State)
	assert.NotEqual(t, jobs.Waiting, w.job("labs", made["labs"]).Parts[0].State)
	assert.NotEqual(t, jobs.Waiting, w.job("home", made["home"]).Parts[0].State, "another deployment has room of its own")
	for tenant, id := range made {
		assert.Equal(t, account.Completed, w.ended(tenant, id).Status)
	}
}

// Small jobs do not pass a large one for ever.
func TestWhatDoesNotFitHoldsUpWhatComesLater(t *testing.T) {
	t.Parallel()
	w := open(t, takes(400))
	first := w.submit("desk", lines(10), map[string]string{"deadline": "2h"})
	large := w.submit("desk", lines(20), map[string]string{"deadline": "3h"})
	small := w.submit("labs", lines(1), map[string]string{"deadline": "4h"})
	w.tick()
	assert.NotEqual(t, jobs.Waiting, w.job("desk", first).Parts[0].State)
	assert.Equal(t, jobs.Waiting, w.job("desk", large).Parts[0].State)
	assert.Equal(t, jobs.Waiting, w.job("labs", small).Parts[0].State)
	assert.Equal(t, account.Completed, w.ended("labs", small).Status)
	assert.Equal(t, account.Completed, w.ended("desk", large).Status)
}

// A deployment is given fewer tokens than a part has that was cut before: the part
// fails, and nobody waits behind it.
func TestAPartThatNeverFitsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	w := open(t)
	large := w.submit("desk", lines(30), map[string]string{"deadline": "2h"}) // of 17 tokens each
	s := given()
	takes(200).settings(&s)
	w.start(s)
	small := w.submit("labs", lines(1), map[string]string{"deadline": "4h"})
	j := w.ended("labs", small)
	assert.Equal(t, account.Completed, j.Status)
	assert.Less(t, j.Ended.Sub(j.Created), time.Hour)
	j = w.ended("desk", large)
	assert.Equal(t, account.Failed, j.Status)
	require.Len(t, j.Faults, 1)
	assert.Equal(t, "token_limit_exceeded", j.Faults[0].Code)
	assert.Contains(t, j.Faults[0].Message, "chat takes 200 in all")
	for _, code := range w.rows("desk", j.Errors) {
		assert.Equal(t, "token_limit_exceeded", code)
	}
	w.balanced(j)
}

// A file that Azure would not take whole is one batch for its caller.
func TestALargeFileIsSeveralJobsAndOneBatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change change
		parts  int
	}{
		"Lines":  {change{settings: func(s *settings.Settings) { s.MaxLines = 4 }}, 3},
		"Bytes":  {change{settings: func(s *settings.Settings) { s.MaxFileBytes = 700 }}, 3},
		"Tokens": {takes(80), 3},
		"Fits":   {takes(170), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, c.change)
			j := w.ended("desk", w.submit("desk", lines(10), nil))
			assert.Len(t, j.Parts, c.parts)
			assert.Len(t, w.atAzure(), c.parts)
			assert.Equal(t, account.Completed, j.Status)
			assert.Len(t, w.rows("desk", j.Output), 10)
			assert.Len(t, w.heard(schedule.Submitted), 1)
			assert.Len(t, w.heard(schedule.Terminal), 1)
			w.balanced(j)
		})
	}
}

func TestAPilotSaysWhatTheRestWillCost(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.submit("desk", lines(50), map[string]string{"pilot": "10"})
	w.pass(time.Hour)
	require.Len(t, w.atAzure(), 1)
	assert.Equal(t, 10, w.atAzure()[0].Scan.Lines)
	j := w.job("desk", id)
	require.NotNil(t, j.Pilot.Projected)
	assert.Equal(t, *j.Pilot.Cost*5, *j.Pilot.Projected)
	assert.True(t, j.Open())
	code, body, _ := w.call(http.MethodPost, "/v1/batches/"+id+"/confirm", "desk", "", "")
	require.Equal(t, http.StatusOK, code, body)
	assert.True(t, gjson.Get(body, "onedoor.pilot.confirmed").Bool())
	assert.InDelta(t, j.Pilot.Projected.Dollars(), gjson.Get(body, "onedoor.pilot.projected_usd").Float(), 1e-9)
	j = w.ended("desk", id)
	assert.Equal(t, account.Completed, j.Status)
	assert.Len(t, w.rows("desk", j.Output), 50)
	assert.InDelta(t, float64(*j.Pilot.Projected), float64(*j.Cost), float64(*j.Cost)/5, "the projection was about right")
}

func TestAPilotGoesOnByItselfBelowItsBudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget string
		parts  int // at the account after an hour
	}{"Below": {"1", 2}, "Above": {"0.000001", 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			id := w.submit("desk", lines(50), map[string]string{"pilot": "10", "budget_usd": c.budget, "deadline": "3h"})
			w.pass(time.Hour)
			assert.Len(t, w.atAzure(), c.parts)
			j := w.ended("desk", id)
			if c.parts == 2 {
				assert.Equal(t, account.Completed, j.Status)
				return
			}
			assert.Equal(t, account.Expired, j.Status, "nobody has confirmed it")
			assert.Len(t, w.rows("desk", j.Output), 10)
			w.balanced(j)
		})
	}
}

// put writes an input of a nightly job.
func (w *world) put(name, content string) {
	w.t.Helper()
	_, err := w.blobs.Write(context.Background(), "batch-input", name, strings.NewReader(content))
	require.NoError(w.t, err)
}

func TestANightlyJobStartsOnceForEachTime(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.put("nightly/tickets/a.jsonl", strings.TrimSuffix(line("a", "chat", "x"), "\n"))
	w.put("nightly/tickets/b.jsonl", line("b", "chat", "y"))
	w.put("nightly/other/c.jsonl", line("c", "chat", "z"))
	var ids []string
	for range 3 {
		code, body, _ := w.call(http.MethodPost, "/v1/nightly/tickets", "nightly", "", "")
		require.Equal(t, http.StatusOK, code, body)
		ids = append(ids, gjson.Get(body, "id").String())
	}
	assert.Equal(t, []string{ids[0], ids[0], ids[0]}, ids)
	j := w.ended("desk", ids[0])
	assert.Equal(t, "tickets", j.Nightly)
	assert.Len(t, w.rows("desk", j.Output), 2)
	assert.Equal(t, time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC), j.Deadline, "a day after the scheduled time")
	require.NoError(t, w.sim.Advance(24*time.Hour))
	_, body, _ := w.call(http.MethodPost, "/v1/nightly/tickets", "nightly", "", "")
	assert.NotEqual(t, ids[0], gjson.Get(body, "id").String())
	for caller, path := range map[string]string{"desk": "/v1/nightly/tickets", "nightly": "/v1/batches"} {
		code, body, _ := w.call(http.MethodPost, path, caller, "", "")
		assert.Equal(t, http.StatusForbidden, code, "%s: %s", caller, body)
	}
}

func TestANightlyJobThatWasNotStartedIsReported(t *testing.T) {
	t.Parallel()
	w := open(t) // at noon
	w.tick()
	require.NoError(t, w.sim.Advance(13*time.Hour+59*time.Minute)) // 01:59
	w.tick()
	assert.Empty(t, w.heard(schedule.Missed), "it may be an hour late, and yesterday's was nobody's")
	require.NoError(t, w.sim.Advance(time.Minute))
	w.tick()
	w.start(given())
	w.tick()
	require.Len(t, w.heard(schedule.Missed), 1)
	assert.Contains(t, w.heard(schedule.Missed)[0].Detail, `"tickets" was not started at 2026-11-30T01:00:00Z`)
}

func TestTheLastRunOfASchedule(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for spec, want := range map[string]string{
		"0 1 * * *": "2026-11-29T01:00:00Z", "0 12 * * *": "2026-11-29T12:00:00Z", "1 12 * * *": "2026-11-28T12:01:00Z",
		"* * * * *": "2026-11-29T12:00:00Z", "30 2 * * 1-5": "2026-11-27T02:30:00Z", "0 0 29 2 *": "0001-01-01T00:00:00Z", "0 0 1 1 *": "2026-01-01T00:00:00Z",
	} {
		at, err := schedule.LastRun(spec, now)
		require.NoError(t, err)
		assert.Equal(t, want, at.Format(time.RFC3339), spec)
	}
	_, err := schedule.LastRun("nightly", now)
	require.ErrorContains(t, err, `schedule "nightly"`)
}

func TestUsageIsOfTheTenantAlone(t *testing.T) {
	t.Parallel()
	w := open(t)
	j := w.ended("desk", w.submit("desk", lines(3), nil))
	w.ended("labs", w.submit("labs", lines(5), nil))
	code, body, _ := w.call(http.MethodPost, "/v1/usage", "worker-text", "application/json",
		`{"tenant":"desk","alias":"small","job":"q","item":"1","outcome":"answered","at":"2026-11-29T12:10:00Z","input_tokens":10,"output_tokens":5}`)
	require.Equal(t, http.StatusNoContent, code, body)
	_, body, _ = w.call(http.MethodGet, "/usage?from=2026-11-29", "desk", "", "")
	assert.Equal(t, int64(4), gjson.Get(body, "total.requests").Int(), body)
	assert.Equal(t, j.Results.Input+10, gjson.Get(body, "total.input_tokens").Int())
	assert.Equal(t, "chat", gjson.Get(body, "aliases.0.alias").String())
	assert.Equal(t, j.ID, gjson.Get(body, "jobs.0.job").String(), body)
	assert.InDelta(t, j.Cost.Dollars(), gjson.Get(body, "jobs.0.cost_usd").Float(), 1e-9)
	assert.Positive(t, j.Cost.Dollars())
	assert.Equal(t, gjson.Null, gjson.Get(body, "total.cost_usd").Type, "a part of it has no price")
	for path, code := range map[string]int{"/usage?from=soon": 400, "/usage?from=2026-11-29&to=2026-11-28": 400, "/usage?from=2026-11-29&to=2026-11-30": 200} {
		got, body, _ := w.call(http.MethodGet, path, "desk", "", "")
		assert.Equal(t, code, got, "%s: %s", path, body)
	}
}

// The workers of a queue call the gateway, at the price of whoever waits, also where the
// alias has a batch deployment at half of it.
func TestItemsOfQueuesAreCountedAtThePriceOfTheGateway(t *testing.T) {
	t.Parallel()
	w := open(t, change{settings: func(s *settings.Settings) {
		text := s.Queues["text"]
		text.Alias, text.PriceAs = "chat", "gpt-5.1/GlobalStandard"
		s.Queues["text"] = text
	}})
	code, body, _ := w.call(http.MethodPost, "/v1/usage", "worker-text", "application/json",
		`{"tenant":"desk","alias":"chat","job":"q","item":"1","outcome":"answered","at":"2026-11-29T11:50:00Z","input_tokens":1000000,"output_tokens":1000000}`)
	require.Equal(t, http.StatusNoContent, code, body)
	table, err := prices.Load()
	require.NoError(t, err)
	row, ok := table.Tokens("gpt-5.1", "GlobalStandard")
	require.True(t, ok)
	_, body, _ = w.call(http.MethodGet, "/usage?from=2026-11-29", "desk", "", "")
	assert.InDelta(t, float64(row.Cost(1_000_000, 0, 1_000_000).Micro())/1e6, gjson.Get(body, "total.cost_usd").Float(), 1e-9, body)
}

// What a plan pays for is counted before anything runs, and after it has run.
func TestATenantsPlanLimitsWhatItMayRun(t *testing.T) {
	t.Parallel()
	w := open(t)
	zone := func(n int) string { return strings.ReplaceAll(lines(n), `"chat"`, `"zone"`) }
	first := w.create("mini", w.upload("mini", zone(60)), nil) // 60 x 17 of 2000 tokens
	file := w.upload("mini", zone(60))
	create := fmt.Sprintf(`{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h"}`, file)
	code, body, header := w.call(http.MethodPost, "/v1/batches", "mini", "application/json", create)
	assert.Equal(t, http.StatusTooManyRequests, code)
	assert.Equal(t, "tenant_quota", gjson.Get(body, "error.code").String())
	assert.Contains(t, body, `plan \"small\"`)
	assert.Equal(t, "43200", header.Get("Retry-After"), "at midnight")
	w.ended("mini", first)
	code, _, _ = w.call(http.MethodPost, "/v1/batches", "mini", "application/json", create)
	assert.Equal(t, http.StatusTooManyRequests, code, "it was used")
	require.NoError(t, w.sim.Advance(24*time.Hour))
	code, body, _ = w.call(http.MethodPost, "/v1/batches", "mini", "application/json", create)
	assert.Equal(t, http.StatusOK, code, body)
}

// A nightly job is posted by nobody who could be refused: it waits for the next period
// of its tenant's plan.
func TestANightlyJobWaitsForTheNextPeriod(t *testing.T) {
	t.Parallel()
	w := open(t, change{settings: func(s *settings.Settings) {
		s.NightlyJobs["sum"] = settings.Nightly{Schedule: "0 11 * * *", Tenant: "mini", Alias: "zone", Source: "nightly/sum/", DeadlineSeconds: 86_400}
	}})
	w.put("nightly/sum/a.jsonl", line("a", "zone", "x"))
	used := usage.Store{Table: w.table}
	require.NoError(t, used.Put(context.Background(), usage.Entry{At: w.sim.Now(), Tenant: "mini", Alias: "zone", Job: "earlier", Used: jobs.Results{Usage: jobs.Usage{Input: 1500, Output: 490}}})) // of 2000 a day
	code, body, _ := w.call(http.MethodPost, "/v1/nightly/sum", "nightly", "", "")
	require.Equal(t, http.StatusOK, code, body)
	id := gjson.Get(body, "id").String()
	w.pass(11*time.Hour + 59*time.Minute)
	assert.Equal(t, jobs.Waiting, w.job("mini", id).Parts[0].State)
	w.pass(2 * time.Minute) // midnight
	assert.NotEqual(t, jobs.Waiting, w.job("mini", id).Parts[0].State)
}
