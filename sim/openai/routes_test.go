package openai_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	client "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Both families of paths answer; what neither has is not found, also in front of files
// and batches the deployment that clients like to put there (A800).
func TestPaths(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	for path, status := range map[string]int{
		"/openai/v1/batches":                     200,
		"/openai/batches?api-version=2024-10-21": 200,
		"/openai/batches":                        404,
		"/v1/batches":                            404,
		"/openai/v1/deployments/nightly/batches": 404,
		"/openai/deployments/nightly/batches?api-version=2024-10-21": 404,
		"/openai/deployments/nightly/files?api-version=2024-10-21":   404,
		"/openai/v1/uploads":                    404,
		"/openai/v1/batches/batch_x/cancel/now": 404,
	} {
		res, _ := w.send(submitter, http.MethodGet, path, "", "")
		assert.Equal(t, status, res.StatusCode, path)
	}
}

// Microsoft's way of using the client, with an api-version, sees capitals, 201, Location
// and null counts (A805, A807); a job and its results are the same.
func TestDatedAPI(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	api := client.NewClient(azure.WithEndpoint(w.url, "2024-10-21"), option.WithMaxRetries(0),
		option.WithHeaderDel("api-key"), option.WithHeader("Authorization", "Bearer "+submitter))
	var res *http.Response
	file, err := api.Files.New(t.Context(), client.FileNewParams{
		File: client.File(strings.NewReader(lines(1)), "in.jsonl", "application/jsonl"), Purpose: client.FilePurposeBatch,
	}, option.WithResponseInto(&res))
	require.NoError(t, err)
	assert.Equal(t, http.StatusCreated, res.StatusCode)
	assert.True(t, strings.HasSuffix(res.Header.Get("Location"), "/files/"+file.ID))
	assert.Contains(t, file.RawJSON(), `"status":"pending"`)
	w.pass(5 * time.Second)
	job, err := api.Batches.New(t.Context(), create(file.ID), option.WithResponseInto(&res))
	require.NoError(t, err)
	assert.Equal(t, http.StatusCreated, res.StatusCode)
	assert.EqualValues(t, "Validating", job.Status)
	assert.Contains(t, job.RawJSON(), `"total":null`)
	w.pass(time.Hour)
	job, err = api.Batches.Get(t.Context(), job.ID)
	require.NoError(t, err)
	assert.EqualValues(t, "Completed", job.Status)
	assert.Len(t, w.results(job.OutputFileID), 1)
}

// Lists show everybody's, the newest first, page by page, with the real client's pager
// (A806); ids are the same in every run (A804).
func TestLists(t *testing.T) {
	t.Parallel()
	w := open(t, config())
	file := w.upload(rogue, lines(1))
	api := w.client(submitter)
	var made []string
	for range 25 {
		job, err := api.Batches.New(t.Context(), create(file))
		require.NoError(t, err)
		made = append([]string{job.ID}, made...)
	}
	page, err := api.Batches.List(t.Context(), client.BatchListParams{})
	require.NoError(t, err)
	assert.Len(t, page.Data, 20)
	assert.True(t, page.HasMore)
	var got []string
	pager := api.Batches.ListAutoPaging(t.Context(), client.BatchListParams{Limit: client.Int(4)})
	for pager.Next() {
		got = append(got, pager.Current().ID)
	}
	require.NoError(t, pager.Err())
	assert.Equal(t, made, got)
	assert.Equal(t, made[24], open(t, config()).submit(submitter, lines(1)), "another run, the same id")

	for query, param := range map[string]string{"limit=0": "limit", "limit=101": "limit", "limit=x": "limit", "after=batch_nobody": "after"} {
		res, body := w.send(submitter, http.MethodGet, "/openai/v1/batches?"+query, "", "")
		assert.Equal(t, http.StatusBadRequest, res.StatusCode, query)
		assert.Equal(t, param, body["error"].(map[string]any)["param"], query)
	}
}
