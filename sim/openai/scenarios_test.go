package openai_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// The nasty scenarios: what a service that submits batch jobs must survive. Each shows
// that the simulator can bring it about, and what the client then sees.

// 1. The job is there, the client saw a broken connection; it finds it by metadata.
func TestScenario01ResponseLostAfterCreate(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	api := w.client(submitter)
	params := create(w.upload(submitter, lines(1)))
	params.Metadata = map[string]string{"ledger": "42"}
	w.Inject(openai.Fault{Operation: core.CreateBatch, When: openai.After, Drop: true})
	_, err := api.Batches.New(t.Context(), params)
	require.Error(t, err)
	var refused *client.Error
	assert.False(t, errors.As(err, &refused), "an answer came: %v", err)

	page, err := api.Batches.List(t.Context(), client.BatchListParams{})
	require.NoError(t, err)
	require.Len(t, page.Data, 1)
	assert.Equal(t, "42", page.Data[0].Metadata["ledger"])
}

// 2. A foreign job takes the quota between the admission and the creation.
func TestScenario02QuotaTakenByForeignJob(t *testing.T) {
	t.Parallel()
	c := config()
	c.Rules.Tokens = func([]byte) int64 { return 30_000 } // of 50,000
	w := open(t, c)
	mine := w.upload(submitter, lines(1))
	foreign := w.submit(rogue, lines(1))
	api := w.client(submitter)
	_, err := api.Batches.New(t.Context(), create(mine))
	assert.Equal(t, "400 token_limit_exceeded", code(t, err))
	_, err = api.Batches.Cancel(t.Context(), foreign)
	require.NoError(t, err)
	w.pass(time.Minute)
	_, err = api.Batches.New(t.Context(), create(mine))
	assert.NoError(t, err, "the foreign job has ended, the tokens are free")
}

// 3. A completed job lacks rows, repeats some, and has another order (A840).
func TestScenario03RowsMissingRepeatedShuffled(t *testing.T) {
	t.Parallel()
	c := config()
	c.Behaviour.Missing, c.Behaviour.Repeated = []string{"row-3"}, []string{"row-5"}
	w := open(t, c)
	id := w.submit(submitter, lines(8))
	w.pass(time.Hour)
	job := w.job(id)
	assert.EqualValues(t, "completed", job.Status)
	got := ids(w.results(job.OutputFileID))
	assert.NotContains(t, got, "row-3")
	assert.Len(t, got, 8, "seven of eight, one of them twice")
	assert.False(t, slices.IsSorted(got), "%v", got)
}

// 4. A job validates for six hours and runs on for 40 hours after expires_at (A832).
func TestScenario04RunsPastExpiresAt(t *testing.T) {
	t.Parallel()
	c := config()
	c.Behaviour.Validating, c.Behaviour.Running = 6*time.Hour, 58*time.Hour
	w := open(t, c)
	id := w.submit(submitter, lines(4))
	w.pass(6*time.Hour - time.Second)
	assert.EqualValues(t, "validating", w.job(id).Status)
	w.pass(57 * time.Hour)
	job := w.job(id)
	assert.EqualValues(t, "in_progress", job.Status)
	assert.Greater(t, w.Now().Unix(), job.ExpiresAt)
	w.pass(2 * time.Hour)
	assert.EqualValues(t, "completed", w.job(id).Status)
}

// 5. A cancellation is accepted; the job ends as completed, or stays in cancelling for
// three hours with its tokens (A829, A833).
func TestScenario05CancelLosesOrHangs(t *testing.T) {
	t.Parallel()
	t.Run("loses", func(t *testing.T) {
		t.Parallel()
		w := open(t, config())
		id := w.submit(submitter, lines(2))
		w.pass(237 * time.Second)
		w.Change(func(b *core.Behaviour) { b.CancelLoses = true })
		api := w.client(submitter)
		job, err := api.Batches.Cancel(t.Context(), id)
		require.NoError(t, err)
		assert.EqualValues(t, "cancelling", job.Status)
		w.pass(time.Hour)
		job = w.job(id)
		assert.EqualValues(t, "completed", job.Status)
		assert.Len(t, w.results(job.OutputFileID), 2)
	})
	t.Run("hangs", func(t *testing.T) {
		t.Parallel()
		c := config()
		c.Rules.Tokens = func([]byte) int64 { return 30_000 }
		c.Behaviour.Cancelling = 3 * time.Hour
		w := open(t, c)
		id := w.submit(submitter, lines(1))
		file := w.upload(submitter, lines(1))
		api := w.client(submitter)
		_, err := api.Batches.Cancel(t.Context(), id)
		require.NoError(t, err)
		w.pass(3*time.Hour - time.Second)
		assert.EqualValues(t, "cancelling", w.job(id).Status)
		_, err = api.Batches.New(t.Context(), create(file))
		assert.Equal(t, "400 token_limit_exceeded", code(t, err))
		w.pass(time.Second)
		assert.EqualValues(t, "cancelled", w.job(id).Status)
		_, err = api.Batches.New(t.Context(), create(file))
		assert.NoError(t, err)
	})
}

// 6. The output expires, or somebody deletes it, before it is collected.
func TestScenario06OutputGoneBeforeCollection(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	api := w.client(submitter)
	params := create(w.upload(submitter, lines(1)))
	params.OutputExpiresAfter = client.BatchNewParamsOutputExpiresAfter{Seconds: 1_209_600}
	expiring, err := api.Batches.New(t.Context(), params)
	require.NoError(t, err)
	deleted := w.submit(submitter, lines(1))
	w.pass(time.Hour)
	_, err = api.Files.Delete(t.Context(), w.job(deleted).OutputFileID)
	require.NoError(t, err)
	w.pass(14*24*time.Hour - 3600*time.Second)
	assert.Len(t, w.results(w.job(expiring.ID).OutputFileID), 1, "not yet expired")
	w.pass(time.Hour)
	for _, id := range []string{expiring.ID, deleted} {
		_, err = api.Files.Content(t.Context(), w.job(id).OutputFileID) //nolint:bodyclose // it is refused
		assert.Equal(t, "404 404", code(t, err))
	}
}

// 7. Capitals, empty ids, ISO times and null counts in one job (A807).
func TestScenario07OtherShape(t *testing.T) {
	t.Parallel()
	c := config()
	c.Behaviour.Shape = core.Shape{Capitalised: true, EmptyIDs: true, ISOTimes: true, NullCounts: true, OmitTimes: true}
	w := open(t, c)
	id := createRaw(w, w.upload(submitter, lines(1)))
	_, job := w.send(submitter, http.MethodGet, "/openai/v1/batches/"+id, "", "")
	assert.Equal(t, "Validating", job["status"])
	assert.Empty(t, job["output_file_id"])
	assert.NotNil(t, job["output_file_id"])
	assert.Equal(t, "2026-11-29T12:00:05Z", job["created_at"])
	assert.Equal(t, map[string]any{"total": nil, "completed": nil, "failed": nil}, job["request_counts"])
	w.pass(time.Hour)
	_, job = w.send(submitter, http.MethodGet, "/openai/v1/batches/"+id, "", "")
	assert.Equal(t, "Completed", job["status"])
	assert.Nil(t, job["in_progress_at"])
}

// createRaw creates a job without a client that insists on numbers.
func createRaw(w *world, file string) string {
	_, job := w.send(submitter, http.MethodPost, "/openai/v1/batches", "application/json",
		`{"input_file_id":"`+file+`","endpoint":"/chat/completions","completion_window":"24h"}`)
	return job["id"].(string)
}

// 8. Bursts of 500, 503 and 429, and a download that breaks off.
func TestScenario08FaultsAndTruncatedDownload(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	id := w.submit(submitter, lines(3))
	w.pass(time.Hour)
	output := w.job(id).OutputFileID
	api := w.client(submitter)
	for _, status := range []int{500, 503, 429} {
		w.Inject(openai.Fault{Operation: core.GetBatch, Status: status, Code: "burst", RetryAfter: 7, Times: 2})
		for range 2 {
			res, body := w.send(submitter, http.MethodGet, "/openai/v1/batches/"+id, "", "")
			assert.Equal(t, status, res.StatusCode)
			assert.Equal(t, "7", res.Header.Get("Retry-After"))
			assert.Equal(t, "burst", body["error"].(map[string]any)["code"])
		}
		assert.EqualValues(t, "completed", w.job(id).Status, "the burst is over")
	}
	w.Inject(openai.Fault{Operation: core.FileContent, Truncate: 100})
	res, err := api.Files.Content(t.Context(), output)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Len(t, text, 100)
	assert.Len(t, w.results(output), 3, "the next download is whole")
}

// 9. A principal with files/write uploads and submits; the owner of the account sees both
// in its lists, and the log says who.
func TestScenario09RoguePrincipal(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	id := w.submit(rogue, lines(1))
	api := w.client(submitter)
	jobs, err := api.Batches.List(t.Context(), client.BatchListParams{})
	require.NoError(t, err)
	require.Len(t, jobs.Data, 1)
	assert.Equal(t, id, jobs.Data[0].ID)
	files, err := api.Files.List(t.Context(), client.FileListParams{})
	require.NoError(t, err)
	assert.Len(t, files.Data, 1)
	var foreign []core.Operation
	for _, row := range w.Log() {
		if row.ObjectID == "rogue" {
			foreign = append(foreign, row.Operation)
		}
	}
	assert.Equal(t, []core.Operation{core.CreateFile, core.CreateBatch}, foreign)
}

// 10. The input blob is rewritten in the middle of the run, or the output container closed
// before the end (A837).
func TestScenario10BlobsChangeMidRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*world)
		want   string
	}{
		"rewritten": {func(w *world) { require.NoError(w.t, w.PutBlob(inputBlob, strings.NewReader(lines(3)))) }, "input_modified"},
		"closed":    {func(w *world) { w.Deny("https://stdata.blob.core.windows.net/out", true) }, "input_no_permissions"},
		"untouched": {func(*world) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, config())
			require.NoError(t, w.PutBlob(inputBlob, strings.NewReader(lines(2))))
			id := createFromBlob(w)
			w.pass(240 * time.Second)
			require.EqualValues(t, "in_progress", w.job(id).Status)
			test.change(w)
			w.pass(time.Hour)
			job := w.job(id)
			if test.want == "" {
				assert.EqualValues(t, "completed", job.Status)
				return
			}
			assert.EqualValues(t, "failed", job.Status)
			require.Len(t, job.Errors.Data, 1)
			assert.Equal(t, test.want, job.Errors.Data[0].Code)
		})
	}
}

const inputBlob = "https://stdata.blob.core.windows.net/in/tickets.jsonl"

func createFromBlob(w *world) string {
	_, job := w.send(submitter, http.MethodPost, "/openai/v1/batches", "application/json",
		`{"input_file_id":null,"input_blob":"`+inputBlob+`","output_folder":{"url":"https://stdata.blob.core.windows.net/out"},"endpoint":"/chat/completions","completion_window":"24h"}`)
	return job["id"].(string)
}

// 11. The deployment goes while a job runs: the rows that were not done fail (A834).
func TestScenario11DeploymentDeletedMidRun(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	id := w.submit(submitter, lines(4))
	w.pass(237*time.Second + 56*time.Second) // half of the rows
	w.DeleteDeployment(account, deployment)
	w.pass(time.Hour)
	job := w.job(id)
	assert.EqualValues(t, "completed", job.Status)
	assert.Equal(t, [3]int64{4, 2, 2}, [3]int64{job.RequestCounts.Total, job.RequestCounts.Completed, job.RequestCounts.Failed})
	for _, r := range w.results(job.ErrorFileID) {
		assert.Equal(t, 404, r.Response.StatusCode)
		assert.Equal(t, "DeploymentNotFound", r.Response.Body.Error.Code)
	}
}

// 12. The content filter refuses every row: completed, no output file, all failed (A842).
func TestScenario12AllRowsRefused(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	id := w.submit(submitter, line("a", "[sim:refused] one")+line("b", "[sim:refused] two"))
	w.pass(time.Hour)
	job := w.job(id)
	assert.EqualValues(t, "completed", job.Status)
	assert.Empty(t, job.OutputFileID)
	assert.Equal(t, [3]int64{2, 0, 2}, [3]int64{job.RequestCounts.Total, job.RequestCounts.Completed, job.RequestCounts.Failed})
	for _, r := range w.results(job.ErrorFileID) {
		assert.Equal(t, 400, r.Response.StatusCode)
		assert.Equal(t, "content_filter", r.Response.Body.Error.Code)
	}
}

// 13. A large file passes the estimate, and its exact count fails minutes later.
func TestScenario13EstimatePassesExactCountFails(t *testing.T) {
	t.Parallel()
	c := config()
	c.Behaviour.EstimatePercent = 50
	c.Rules.Tokens = func([]byte) int64 { return 30_000 }
	w := open(t, c)
	id := w.submit(submitter, lines(2)) // estimated 30,000 and really 60,000 of 50,000
	assert.EqualValues(t, "validating", w.job(id).Status)
	w.pass(237 * time.Second)
	job := w.job(id)
	assert.EqualValues(t, "failed", job.Status)
	require.Len(t, job.Errors.Data, 1)
	assert.Equal(t, "token_limit_exceeded", job.Errors.Data[0].Code)
	assert.Contains(t, job.Errors.Data[0].Message, deployment)
	w.submit(submitter, lines(1)) // its tokens are free again
}

// 14. The service's clock is behind: expires_at is before now at the creation.
func TestScenario14ClockSkew(t *testing.T) {
	t.Parallel()
	c := config()
	c.Behaviour.ExpirySkew = -25 * time.Hour
	w := open(t, c)
	id := w.submit(submitter, lines(1))
	job := w.job(id)
	assert.EqualValues(t, "validating", job.Status)
	assert.Less(t, job.ExpiresAt, w.Now().Unix())
	w.pass(time.Hour)
	assert.EqualValues(t, "completed", w.job(id).Status)
}
