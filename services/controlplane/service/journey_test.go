package service_test

import (
	"context"
	"strings"
	"testing"

	client "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/services/controlplane/schedule"
)

// The whole way of a job with OpenAI's own client: only its base URL is another.
func TestOpenAIsClientRunsABatch(t *testing.T) {
	t.Parallel()
	w := open(t)
	api, ctx := w.as("desk"), context.Background()

	models, err := api.Models.List(ctx)
	require.NoError(t, err)
	require.Len(t, models.Data, 2)
	assert.Equal(t, "chat", models.Data[0].ID)

	content := line("a", "chat", "hello") + line("b", "chat", "[sim:refused]") + line("c", "chat", "bye")
	file, err := api.Files.New(ctx, client.FileNewParams{File: client.File(strings.NewReader(content), "in.jsonl", "application/jsonl"), Purpose: client.FilePurposeBatch})
	require.NoError(t, err)
	assert.Equal(t, int64(len(content)), file.Bytes)
	assert.Equal(t, content, w.content("desk", file.ID), "what was uploaded comes back as it was")

	batch, err := api.Batches.New(ctx, client.BatchNewParams{InputFileID: file.ID, Endpoint: client.BatchNewParamsEndpointV1ChatCompletions, CompletionWindow: "24h", Metadata: map[string]string{"mine": "yes"}})
	require.NoError(t, err)
	assert.Equal(t, client.BatchStatusValidating, batch.Status)

	j := w.ended("desk", batch.ID)
	got, err := api.Batches.Get(ctx, j.ID)
	require.NoError(t, err)
	assert.Equal(t, client.BatchStatusCompleted, got.Status)
	assert.Equal(t, "yes", got.Metadata["mine"])
	assert.Equal(t, []int64{3, 3, 0}, []int64{got.RequestCounts.Total, got.RequestCounts.Completed, got.RequestCounts.Failed}, "a refusal is a result")
	assert.Empty(t, got.ErrorFileID)
	assert.Positive(t, got.Usage.TotalTokens)

	statuses := map[string]int64{}
	for row := range strings.Lines(w.content("desk", got.OutputFileID)) {
		statuses[gjson.Get(row, "custom_id").String()] = gjson.Get(row, "response.status_code").Int()
	}
	assert.Equal(t, map[string]int64{"a": 200, "b": 400, "c": 200}, statuses)

	assert.Equal(t, []schedule.Event{{Name: schedule.Submitted, At: j.Started, Tenant: "desk", Alias: "chat", Job: j.ID}}, w.heard(schedule.Submitted))
	require.Len(t, w.heard(schedule.Terminal), 1)

	deleted, err := api.Files.Delete(ctx, file.ID)
	require.NoError(t, err)
	assert.True(t, deleted.Deleted)
	for f := range w.sim.State().Files.All() {
		assert.True(t, f.Gone, "file %s stays at the account", f.ID)
	}
}

func TestListsComeInPagesNewestFirst(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := w.upload("desk", lines(1))
	var made []string
	for range 5 {
		require.NoError(t, w.sim.Advance(1e9))
		made = append([]string{w.create("desk", file, nil)}, made...)
	}
	w.create("labs", w.upload("labs", lines(1)), nil)
	api := w.as("desk")
	var got []string
	pages := api.Batches.ListAutoPaging(context.Background(), client.BatchListParams{Limit: param.NewOpt[int64](2)})
	for pages.Next() {
		got = append(got, pages.Current().ID)
	}
	require.NoError(t, pages.Err())
	assert.Equal(t, made, got, "and nobody else's")
}
