package openai_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	client "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A job goes through its states in the time that Microsoft's samples show (A830), its rows
// finish evenly (A831), and the results are those of its rows (A841, A842, A843), with
// usage as it was counted for the quota (A824).
func TestJobFromUploadToResults(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	content := lines(2) + line("refused", "[sim:refused]") + line("filtered", "[sim:filtered]") + line("cut", "[sim:cut] and on and on") +
		line("busy", "[sim:busy]") + line("broken", "[sim:broken]") + line("row-7", "last")
	id := w.submit(submitter, content)
	assert.EqualValues(t, "validating", w.job(id).Status)
	w.pass(237 * time.Second)
	job := w.job(id)
	assert.EqualValues(t, "in_progress", job.Status)
	assert.Equal(t, [3]int64{8, 0, 0}, counts(job))
	w.pass(56 * time.Second) // half of it: four of eight, the third of them refused
	assert.Equal(t, [3]int64{8, 3, 1}, counts(w.job(id)))
	w.pass(56 * time.Second)
	assert.EqualValues(t, "finalizing", w.job(id).Status)
	w.pass(49 * time.Second)
	job = w.job(id)
	assert.EqualValues(t, "completed", job.Status)
	assert.Equal(t, [3]int64{8, 5, 3}, counts(job))
	assert.Equal(t, start.Add(5*time.Second+398*time.Second).Unix(), job.CompletedAt)

	got := map[string]result{}
	for _, r := range append(w.results(job.OutputFileID), w.results(job.ErrorFileID)...) {
		got[r.CustomID] = r
	}
	require.Len(t, got, 8)
	for id, status := range map[string]int{"row-0": 200, "filtered": 200, "cut": 200, "refused": 400, "busy": 429, "broken": 500} {
		assert.Equal(t, status, got[id].Response.StatusCode, id)
	}
	for id, finish := range map[string]string{"row-0": "stop", "filtered": "content_filter", "cut": "length"} {
		assert.Equal(t, finish, got[id].Response.Body.Choices[0].FinishReason, id)
	}
	body := `{"model":"nightly","messages":[{"role":"user","content":"ticket 0"}]}`
	assert.EqualValues(t, (len(body)+3)/4, got["row-0"].Response.Body.Usage.PromptTokens)
	assert.Equal(t, "ResponsibleAIPolicyViolation", got["refused"].Response.Body.Error.Inner["code"])
}

func counts(job *client.Batch) [3]int64 {
	c := job.RequestCounts
	return [3]int64{c.Total, c.Completed, c.Failed}
}

// The error file of a job without failures is there, and empty (A842).
func TestErrorFileIsEmptyWithoutFailures(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	id := w.submit(submitter, lines(1))
	w.pass(time.Hour)
	job := w.job(id)
	require.NotEmpty(t, job.ErrorFileID)
	assert.Empty(t, w.download(job.ErrorFileID))
	api := w.client(submitter)
	file, err := api.Files.Get(t.Context(), job.OutputFileID)
	require.NoError(t, err)
	assert.EqualValues(t, len(w.download(job.OutputFileID)), file.Bytes)
}

// Results of the responses API have its form, and name the deployment (A851).
func TestJobOfResponses(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	id := w.submit(submitter, `{"custom_id":"a","method":"POST","url":"/v1/responses","body":{"model":"nightly","input":"say hello"}}`)
	w.pass(time.Hour)
	text := w.download(w.job(id).OutputFileID)
	for _, part := range []string{`"object":"response"`, `"model":"nightly"`, `"text":"You wrote: say hello"`, `"input_tokens":`} {
		assert.Contains(t, text, part)
	}
}

// What is wrong with a file fails the job after minutes, with code and line; the first kind
// in this order counts (A823, A825, A826).
func TestValidation(t *testing.T) {
	t.Parallel()
	other := strings.Replace(line("b", "x"), `"nightly"`, `"other"`, 1)
	responses := strings.Replace(line("b", "x"), "/chat/completions", "/responses", 1)
	for name, test := range map[string]struct {
		content string
		code    string // empty: the job completes
		line    int64
	}{
		"good":            {lines(2), "", 0},
		"no last newline": {strings.TrimSuffix(lines(2), "\n"), "", 0},
		"carriage return": {strings.ReplaceAll(lines(2), "\n", "\r\n"), "", 0},
		"as many as may":  {lines(5), "", 0},
		"empty":           {"", "empty_file", 0},
		"too many":        {lines(6), "too_many_tasks", 0},
		"mark":            {"\xef\xbb\xbf" + lines(2), "model_not_found", 1},
		"no JSON":         {lines(1) + "{" + "\n" + lines(1), "invalid_json_line", 2},
		"blank line":      {lines(1) + "\n" + line("b", "x"), "invalid_json_line", 2},
		"no id":           {strings.Replace(line("a", "x"), "custom_id", "id", 1), "invalid_request", 1},
		"no method":       {strings.Replace(line("a", "x"), "POST", "GET", 1), "invalid_request", 1},
		"embeddings":      {strings.Replace(line("a", "x"), "chat/completions", "embeddings", 1), "invalid_request", 1},
		"no model":        {strings.Replace(line("a", "x"), `"model"`, `"modal"`, 1), "invalid_request", 1},
		"same id":         {line("a", "x") + line("b", "x") + line("a", "y"), "duplicate_custom_id", 3},
		"other url":       {line("a", "x") + responses, "url_mismatch", 2},
		"other model":     {line("a", "x") + other, "model_mismatch", 2},
		"unknown model":   {other, "model_not_found", 0},
		"JSON before url": {line("a", "x") + responses + "{\n", "invalid_json_line", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config()
			c.Limits.FileLines = 5
			w := open(t, c)
			id := w.submit(submitter, test.content)
			w.pass(236 * time.Second)
			assert.EqualValues(t, "validating", w.job(id).Status)
			w.pass(time.Hour)
			job := w.job(id)
			if test.code == "" {
				assert.EqualValues(t, "completed", job.Status, job.RawJSON())
				return
			}
			assert.EqualValues(t, "failed", job.Status)
			require.NotEmpty(t, job.Errors.Data)
			assert.Equal(t, test.code, job.Errors.Data[0].Code)
			assert.Equal(t, test.line, job.Errors.Data[0].Line)
			assert.NotZero(t, job.FailedAt)
			assert.Zero(t, job.CompletedAt)
		})
	}
}

// A deployment of another kind takes no batch job, whatever the caller may do: there is no
// second door (A823).
func TestOnlyBatchDeploymentsTakeJobs(t *testing.T) {
	t.Parallel()
	c := config()
	c.Accounts[0].Deployments[0].SKU = "GlobalStandard"
	w := open(t, c)
	id := w.submit(rogue, lines(1))
	w.pass(time.Hour)
	job := w.job(id)
	assert.EqualValues(t, "failed", job.Status)
	assert.Equal(t, "invalid_request", job.Errors.Data[0].Code)
	assert.Contains(t, job.Errors.Data[0].Message, "GlobalStandard")
}

// What is wrong with the request itself is refused at once (A816, A817, A827).
func TestCreateRules(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	file := w.upload(submitter, lines(1))
	long := strings.Repeat("x", 513)
	many := `"a":"","b":"","c":"","d":"","e":"","f":"","g":"","h":"","i":"","j":"","k":"","l":"","m":"","n":"","o":"","p":""`
	const rest = `"endpoint":"/chat/completions","completion_window":"24h"`
	for name, test := range map[string]struct{ body, param string }{
		"good":              {`{"input_file_id":"FILE",` + rest + `}`, ""},
		"other endpoint":    {`{"input_file_id":"FILE","endpoint":"/v1/responses","completion_window":"24h"}`, ""},
		"unknown endpoint":  {`{"input_file_id":"FILE","endpoint":"/v1/embeddings","completion_window":"24h"}`, "endpoint"},
		"other window":      {`{"input_file_id":"FILE","endpoint":"/chat/completions","completion_window":"48h"}`, "completion_window"},
		"no input":          {`{` + rest + `}`, "input_file_id"},
		"both inputs":       {`{"input_file_id":"FILE","input_blob":"https://b/c/d",` + rest + `}`, "input_file_id"},
		"unknown file":      {`{"input_file_id":"file-nobody",` + rest + `}`, "input_file_id"},
		"no output folder":  {`{"input_blob":"https://b/c/d",` + rest + `}`, "output_folder"},
		"blob and metadata": {`{"input_blob":"https://b/c/d","output_folder":{"url":"https://b/o"},"metadata":{"a":"b"},` + rest + `}`, "metadata"},
		"16 keys":           {`{"input_file_id":"FILE","metadata":{` + many + `},` + rest + `}`, ""},
		"17 keys":           {`{"input_file_id":"FILE","metadata":{"q":"",` + many + `},` + rest + `}`, "metadata"},
		"longest value":     {`{"input_file_id":"FILE","metadata":{"a":"` + long[:512] + `"},` + rest + `}`, ""},
		"long value":        {`{"input_file_id":"FILE","metadata":{"a":"` + long + `"},` + rest + `}`, "metadata.a"},
		"output expiry":     {`{"input_file_id":"FILE","output_expires_after":{"seconds":1209600,"anchor":"created_at"},` + rest + `}`, ""},
		"short expiry":      {`{"input_file_id":"FILE","output_expires_after":{"seconds":1209599,"anchor":"created_at"},` + rest + `}`, "output_expires_after.seconds"},
		"anchor outside":    {`{"input_file_id":"FILE","output_expires_after":{"seconds":1209600},"anchor":"created_at",` + rest + `}`, "output_expires_after.anchor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, body := w.send(submitter, http.MethodPost, "/openai/v1/batches", "application/json", strings.ReplaceAll(test.body, "FILE", file))
			if test.param == "" {
				assert.Equal(t, http.StatusOK, res.StatusCode, "%v", body)
				return
			}
			require.Equal(t, http.StatusBadRequest, res.StatusCode, "%v", body)
			assert.Equal(t, test.param, body["error"].(map[string]any)["param"])
		})
	}
}

// A window may also be accepted first and fail later.
func TestLateWindowCheck(t *testing.T) {
	t.Parallel()
	c := config()
	c.Behaviour.LateWindowCheck = true
	w := open(t, c)
	api := w.client(submitter)
	params := create(w.upload(submitter, lines(1)))
	params.CompletionWindow = "48h"
	job, err := api.Batches.New(t.Context(), params)
	require.NoError(t, err)
	w.pass(time.Hour)
	assert.EqualValues(t, "failed", w.job(job.ID).Status)
}

// A cancellation stops a job; what is done is delivered (A833). It cannot be asked of a job
// that has ended, and once more makes no difference.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after  time.Duration
		status string
		rows   int
	}{
		"validating":  {0, "cancelled", 0},
		"in progress": {(237 + 56) * time.Second, "cancelled", 2},
		"finalizing":  {(237 + 112) * time.Second, "completed", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, config())
			id := w.submit(submitter, lines(4))
			w.pass(test.after)
			api := w.client(submitter)
			for range 2 {
				job, err := api.Batches.Cancel(t.Context(), id)
				require.NoError(t, err)
				assert.EqualValues(t, "cancelling", job.Status)
				w.pass(10 * time.Second)
			}
			w.pass(50 * time.Second)
			job := w.job(id)
			assert.EqualValues(t, test.status, job.Status)
			if test.rows > 0 {
				assert.Len(t, w.results(job.OutputFileID), test.rows)
			} else {
				assert.Empty(t, job.OutputFileID)
			}
			_, err := api.Batches.Cancel(t.Context(), id)
			assert.Equal(t, "400 invalid_request", code(t, err))
		})
	}
}

// Where the service keeps to its window, a job ends as expired with what is done (A832).
func TestExpired(t *testing.T) {
	t.Parallel()
	c := config()
	c.Behaviour.Expires, c.Behaviour.Running = true, 48*time.Hour-2*237*time.Second
	w := open(t, c)
	id := w.submit(submitter, lines(4))
	w.pass(24*time.Hour - time.Second)
	assert.EqualValues(t, "in_progress", w.job(id).Status)
	w.pass(time.Second)
	job := w.job(id)
	assert.EqualValues(t, "expired", job.Status)
	assert.NotZero(t, job.ExpiredAt)
	assert.Len(t, w.results(job.OutputFileID), 2)
	w.pass(48 * time.Hour)
	assert.EqualValues(t, "expired", w.job(id).Status)
}

// Results of a blob go to blobs; both are named, the one without rows is not there (A836,
// A838).
func TestResultsInBlobs(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	require.NoError(t, w.PutBlob(inputBlob, strings.NewReader(lines(2))))
	id := createFromBlob(w)
	w.pass(time.Hour)
	_, job := w.send(submitter, http.MethodGet, "/openai/v1/batches/"+id, "", "")
	assert.Equal(t, "completed", job["status"])
	assert.Nil(t, job["output_file_id"])
	results, err := w.Blob(job["output_blob"].(string))
	require.NoError(t, err)
	assert.NoError(t, results.Close())
	require.NotEmpty(t, job["error_blob"])
	_, err = w.Blob(job["error_blob"].(string))
	assert.ErrorContains(t, err, job["error_blob"].(string))
}
