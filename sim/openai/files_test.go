package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// A file is pending for some seconds (A813) and is then given back as it came.
func TestFileLife(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	api := w.client(submitter)
	file, err := api.Files.New(t.Context(), client.FileNewParams{
		File: client.File(strings.NewReader(lines(2)), "in.jsonl", "application/jsonl"), Purpose: client.FilePurposeBatch,
		ExpiresAfter: client.FileNewParamsExpiresAfter{Seconds: 1_209_600, Anchor: "created_at"},
	})
	require.NoError(t, err)
	assert.Contains(t, file.RawJSON(), `"status":"pending"`)
	assert.Equal(t, "in.jsonl", file.Filename)
	assert.EqualValues(t, len(lines(2)), file.Bytes)
	assert.Equal(t, start.Add(14*24*time.Hour).Unix(), file.ExpiresAt)
	_, err = api.Batches.New(t.Context(), create(file.ID))
	assert.Equal(t, "400 invalid_request", code(t, err), "the file is pending")
	w.pass(5 * time.Second)
	file, err = api.Files.Get(t.Context(), file.ID)
	require.NoError(t, err)
	assert.Contains(t, file.RawJSON(), `"status":"processed"`)
	assert.Equal(t, lines(2), w.download(file.ID))
	w.pass(14 * 24 * time.Hour)
	_, err = api.Files.Get(t.Context(), file.ID)
	assert.Equal(t, "404 404", code(t, err), "it has expired")
}

// Uploads are refused for their form, purpose, expiry (A811, A812, A818) and size (A810).
func TestUploadRules(t *testing.T) {
	t.Parallel()
	c := config()
	c.Limits.FileBytes = 1000
	w := open(t, c)
	for name, test := range map[string]struct {
		size   int
		header textproto.MIMEHeader
		fields []string
		param  string // of the refusal; empty means accepted
	}{
		"accepted":         {1000, nil, []string{"purpose", "batch"}, ""},
		"too large":        {1001, nil, []string{"purpose", "batch"}, "file"},
		"other purpose":    {10, nil, []string{"purpose", "assistants"}, "purpose"},
		"no purpose":       {10, nil, nil, "purpose"},
		"no content type":  {10, textproto.MIMEHeader{}, []string{"purpose", "batch"}, "file"},
		"shortest expiry":  {10, nil, []string{"purpose", "batch", "expires_after.seconds", "1209600", "expires_after.anchor", "created_at"}, ""},
		"in brackets":      {10, nil, []string{"purpose", "batch", "expires_after[seconds]", "2592000", "expires_after[anchor]", "created_at"}, ""},
		"too short expiry": {10, nil, []string{"purpose", "batch", "expires_after.seconds", "1209599", "expires_after.anchor", "created_at"}, "expires_after.seconds"},
		"too long expiry":  {10, nil, []string{"purpose", "batch", "expires_after.seconds", "2592001", "expires_after.anchor", "created_at"}, "expires_after.seconds"},
		"no anchor":        {10, nil, []string{"purpose", "batch", "expires_after.seconds", "1209600"}, "expires_after.anchor"},
		"no number":        {10, nil, []string{"purpose", "batch", "expires_after.seconds", "1e6"}, "expires_after.seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contentType, body := form(strings.Repeat("x", test.size), test.header, test.fields...)
			res, answer := w.send(submitter, http.MethodPost, "/openai/v1/files", contentType, body)
			if test.param == "" {
				assert.Equal(t, http.StatusOK, res.StatusCode, "%v", answer)
				return
			}
			require.Equal(t, http.StatusBadRequest, res.StatusCode, "%v", answer)
			assert.Equal(t, test.param, answer["error"].(map[string]any)["param"])
		})
	}
}

// Files with an expiry and files without are counted by themselves (A812).
func TestCountOfFiles(t *testing.T) {
	t.Parallel()
	c := config()
	c.Limits.Files, c.Limits.ExpiringFiles = 2, 1
	w := open(t, c)
	api := w.client(submitter)
	upload := func(seconds int64) error {
		params := client.FileNewParams{File: client.File(strings.NewReader(lines(1)), "in.jsonl", "application/jsonl"), Purpose: client.FilePurposeBatch}
		if seconds > 0 {
			params.ExpiresAfter = client.FileNewParamsExpiresAfter{Seconds: seconds, Anchor: "created_at"}
		}
		_, err := api.Files.New(t.Context(), params)
		return err
	}
	require.NoError(t, upload(0))
	require.NoError(t, upload(0))
	assert.Equal(t, "400 invalid_request", code(t, upload(0)))
	require.NoError(t, upload(1_209_600))
	assert.Equal(t, "400 invalid_request", code(t, upload(1_209_600)))
	w.pass(14 * 24 * time.Hour)
	assert.NoError(t, upload(1_209_600), "the other has expired")
}

// A file can be pulled from a blob (A814).
func TestImportFromBlob(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	require.NoError(t, w.PutBlob(inputBlob, strings.NewReader(lines(2))))
	for source, status := range map[string]string{inputBlob: "processed", "https://stdata.blob.core.windows.net/in/missing": "error"} {
		res, file := w.send(submitter, http.MethodPost, "/openai/v1/files/import", "application/json",
			`{"purpose":"batch","filename":"in.jsonl","content_url":"`+source+`"}`)
		require.Equal(t, http.StatusOK, res.StatusCode, "%v", file)
		assert.Equal(t, "pending", file["status"])
		w.pass(5 * time.Second)
		_, file = w.send(submitter, http.MethodGet, "/openai/v1/files/"+file["id"].(string), "", "")
		assert.Equal(t, status, file["status"])
	}
}

// A file can be deleted while a job reads it (A815); what nobody needs any more leaves the
// store.
func TestDeletedInputIsReadToTheEnd(t *testing.T) {
	t.Parallel()
	c, dir := config(), t.TempDir()
	store, err := openai.NewDir(dir)
	require.NoError(t, err)
	c.Store = store
	w := open(t, c)
	file := w.upload(submitter, lines(2))
	api := w.client(submitter)
	job, err := api.Batches.New(t.Context(), create(file))
	require.NoError(t, err)
	_, err = api.Files.Delete(t.Context(), file)
	require.NoError(t, err)
	_, err = api.Files.Get(t.Context(), file)
	assert.Equal(t, "404 404", code(t, err))
	w.pass(time.Hour)
	done := w.job(job.ID)
	assert.Len(t, w.results(done.OutputFileID), 2)
	for _, f := range []string{done.OutputFileID, done.ErrorFileID} {
		_, err = api.Files.Delete(t.Context(), f)
		require.NoError(t, err)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A large file is never held: neither while it comes in nor while results are written.
func TestFilesAreStreamed(t *testing.T) { //nolint:paralleltest // other tests need memory too
	if testing.Short() {
		t.Skip("moves 32 MB")
	}
	c := config()
	c.Accounts[0].Deployments[0].Capacity = 1 << 30
	store, err := openai.NewDir(t.TempDir())
	require.NoError(t, err)
	c.Store = store
	w := open(t, c)
	const rows, size = 2048, 16 << 10
	padding := strings.Repeat("x", size)
	body, writer := io.Pipe()
	contentType, frame := form("CONTENT", nil, "purpose", "batch")
	before, after, _ := strings.Cut(frame, "CONTENT")
	go func() {
		_, _ = io.WriteString(writer, before)
		for i := range rows {
			_, _ = io.WriteString(writer, line(fmt.Sprintf("row-%d", i), padding))
		}
		_, _ = io.WriteString(writer, after)
		_ = writer.Close()
	}()
	var peak atomic.Uint64
	stop := watchHeap(&peak)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/openai/v1/files", body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer "+submitter)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	w.pass(5 * time.Second)
	file := w.State().Files.At(0)
	require.Equal(t, rows, file.Scan.Lines)
	api := w.client(submitter)
	_, err = api.Batches.New(t.Context(), create(file.ID))
	require.NoError(t, err)
	w.pass(time.Hour)
	stop()
	assert.EqualValues(t, "completed", w.State().Jobs.At(0).Status)
	t.Logf("peak %d MB", peak.Load()>>20)
	assert.Less(t, peak.Load(), uint64(rows*size/2), "bytes of heap for a file of %d bytes", rows*size)
}

// watchHeap keeps the largest heap that it sees until it is stopped.
func watchHeap(peak *atomic.Uint64) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapAlloc))
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() { close(done); <-ended }
}

// A line above the limit is not held, and fails the job like any line that is no JSON.
func TestLongLineIsCut(t *testing.T) {
	t.Parallel()
	c := config()
	c.Limits.LineBytes = 1000
	w := open(t, c)
	id := w.submit(submitter, lines(1)+line("long", strings.Repeat("x", 100_000))+lines(1))
	w.pass(time.Hour)
	job := w.job(id)
	assert.EqualValues(t, "failed", job.Status)
	require.Len(t, job.Errors.Data, 1)
	assert.Equal(t, "invalid_json_line", job.Errors.Data[0].Code)
	assert.EqualValues(t, 2, job.Errors.Data[0].Line)
}

// A store that fails is no refusal: the client sees a 500 and can try again.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	c, dir := config(), t.TempDir()
	store, err := openai.NewDir(dir)
	require.NoError(t, err)
	c.Store = store
	w := open(t, c)
	file := w.upload(submitter, lines(1))
	require.NoError(t, os.Remove(dir+"/"+w.State().Files.At(0).Content))
	res, body := w.send(submitter, http.MethodGet, "/openai/v1/files/"+file+"/content", "", "")
	assert.Equal(t, http.StatusInternalServerError, res.StatusCode)
	assert.Equal(t, "SimulatorFailed", body["error"].(map[string]any)["code"])
	assert.Equal(t, core.FileContent, w.Log()[len(w.Log())-1].Operation)
}
