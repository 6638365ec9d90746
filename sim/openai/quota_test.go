package openai_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	client "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim/openai/core"
)

// thousands makes a rule by which each row holds that many thousand tokens.
func thousands(n int64) func([]byte) int64 { return func([]byte) int64 { return n * 1000 } }

// An account in a region that fails fast refuses a job that does not fit (A820), up to the
// last token of its capacity (A822); others accept and fail it minutes later (A821).
func TestTokensThatDoNotFit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		region  string
		classic bool
		fast    bool
	}{
		"fail-fast region":      {"swedencentral", false, true},
		"other region":          {"westeurope", false, false},
		"region behaves as old": {"swedencentral", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config()
			c.Accounts[0].Region, c.Accounts[0].Classic = test.region, test.classic
			c.Rules.Tokens = thousands(25)
			w := open(t, c)
			fits := w.submit(submitter, lines(2)) // all 50,000
			api := w.client(submitter)
			job, err := api.Batches.New(t.Context(), create(w.upload(submitter, lines(1))))
			if test.fast {
				assert.Equal(t, "400 token_limit_exceeded", code(t, err))
			} else {
				require.NoError(t, err)
				w.pass(time.Hour)
				job = w.job(job.ID)
				assert.EqualValues(t, "failed", job.Status)
				assert.Equal(t, "token_limit_exceeded", job.Errors.Data[0].Code)
			}
			w.pass(time.Hour)
			assert.EqualValues(t, "completed", w.job(fits).Status)
		})
	}
}

// Tokens are held from the creation to a terminal state, whichever that is, and given back
// once (A829); the header of a creation tells how many there are (A828).
func TestTokensAreHeldUntilTheEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content string
		act     func(*world, string)
	}{
		"completed": {lines(2), func(w *world, _ string) { w.pass(time.Hour) }},
		"failed":    {lines(1) + lines(1), func(w *world, _ string) { w.pass(time.Hour) }},
		"cancelled": {lines(2), func(w *world, id string) {
			api := w.client(submitter)
			_, err := api.Batches.Cancel(context.Background(), id)
			require.NoError(w.t, err)
			w.pass(time.Hour)
		}},
		"expired": {lines(2), func(w *world, _ string) { w.pass(25 * time.Hour) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config()
			c.Rules.Tokens = func(body []byte) int64 {
				if strings.Contains(string(body), "probe") {
					return 1
				}
				return 20_000
			}
			if name == "expired" {
				c.Behaviour.Expires, c.Behaviour.Running = true, 30*time.Hour
			}
			w := open(t, c)
			id := w.submit(submitter, test.content)
			assert.EqualValues(t, 40_001, held(w), "the job, and the one that asks")
			test.act(w, id)
			assert.EqualValues(t, name, w.job(id).Status)
			assert.EqualValues(t, 2, held(w), "only the two that ask")
		})
	}
}

// held creates a job of one token and tells how many are held with it. The job does not end.
func held(w *world) int64 {
	w.t.Helper()
	w.Change(func(b *core.Behaviour) { b.Validating, b.Expires = 1000*time.Hour, false })
	res, _ := w.send(submitter, "POST", "/openai/v1/batches", "application/json",
		`{"input_file_id":"`+w.upload(submitter, probe)+`","endpoint":"/chat/completions","completion_window":"24h"}`)
	n, err := strconv.ParseInt(res.Header.Get("deployment-enqueued-tokens"), 10, 64)
	require.NoError(w.t, err)
	assert.Equal(w.t, "50000", res.Header.Get("deployment-maximum-enqueued-tokens"))
	return n
}

var probe = line("probe", "probe")

// Accounts of a region share one pool for a model and kind of deployment (A822).
func TestPoolIsShared(t *testing.T) {
	t.Parallel()
	c := config()
	second := c.Accounts[0]
	second.Name = "oai-batch-other"
	c.Accounts = append(c.Accounts, second)
	c.Pools = map[core.Pool]int64{{Region: "swedencentral", Model: "gpt-4o-mini", SKU: "GlobalBatch"}: 50_000}
	c.Rules.Tokens = thousands(30)
	w := open(t, c)
	other := &world{Service: w.Service, t: t, url: w.serve(second.Name)}
	mine, theirs := w.upload(submitter, lines(1)), other.upload(submitter, lines(1))
	api, otherAPI := w.client(submitter), other.client(submitter)
	_, err := api.Batches.New(t.Context(), create(theirs))
	assert.Equal(t, "400 invalid_request", code(t, err), "a file belongs to its account")
	_, err = api.Batches.New(t.Context(), create(mine))
	require.NoError(t, err)
	_, err = otherAPI.Batches.New(t.Context(), create(theirs))
	assert.Equal(t, "400 token_limit_exceeded", code(t, err))
	jobs, err := otherAPI.Batches.List(t.Context(), client.BatchListParams{})
	require.NoError(t, err)
	assert.Empty(t, jobs.Data)
	w.pass(time.Hour)
	_, err = otherAPI.Batches.New(t.Context(), create(theirs))
	assert.NoError(t, err)
}
