package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/internal/manifest"
	"onedoor/internal/rayserve"
	"onedoor/internal/reach"
)

// rayServices are the RayServices of a plan by their names, each legal.
func rayServices(t *testing.T, result *engine.Result) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for _, r := range result.Resources {
		if strings.HasSuffix(r.Type, ":RayService") {
			assert.Empty(t, manifest.Check(r.Inputs), r.URN)
			out[r.Inputs["metadata"].(map[string]any)["name"].(string)] = r.Inputs["spec"].(map[string]any)
		}
	}
	return out
}

// Prompts are read on other replicas than those that answer. The stack is prod's but
// for that.
func TestADisaggregatedModelPreviewsClean(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(stackFiles["prod"])
	require.NoError(t, err)
	const replicas = "replicas: { min: 2, max: 4 } # 4 nodes, 8 while a change is rolled out\n"
	text := strings.Replace(string(raw), replicas, "replicas: { min: 1, max: 2 }\n        prefill: { min: 1, max: 2 }\n", 1)
	require.NotEqual(t, string(raw), text)
	file := filepath.Join(t.TempDir(), "disaggregated.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))

	_, result := preview(t, "prod", file)
	assert.Equal(t, map[string]int{"create": len(result.Resources)}, result.Changes)
	assert.Empty(t, result.Diagnostics)
	config, err := rayserve.Parse(rayServices(t, result)["llama-70b"]["serveConfigV2"].(string))
	require.NoError(t, err)
	app := config.Applications[0]
	assert.Equal(t, rayserve.DisaggregatedBuilder, app.ImportPath)
	require.Len(t, app.LLMs(), 2)
	for _, llm := range app.LLMs() {
		assert.Equal(t, &rayserve.Nixl, llm.Engine.Transfer)
		assert.Equal(t, 2, llm.Engine.TensorParallel)
	}
}

// Only the gateway, and live checks, open a connection to the door of the models;
// only the door to model servers; and only the operator to the heads of Ray clusters.
func TestOnlyTheGatewayReachesTheModelsDoorAndOnlyTheDoorReachesModels(t *testing.T) {
	t.Parallel()
	for _, stack := range []string{"dev", "prod"} {
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			_, result := preview(t, stack, stackFiles[stack])
			var planned []reach.Resource
			for _, r := range result.Resources {
				planned = append(planned, reach.Resource{URN: r.URN, Type: r.Type, Inputs: r.Inputs})
			}
			got := map[string][]string{}
			for _, c := range reach.New(planned).Matrix().Cells {
				within := strings.HasPrefix(c.From, "model servers") // the parts of one Ray cluster
				if c.State != reach.Closed && c.State != reach.Absent && !within {
					got[c.To] = append(got[c.To], c.From)
				}
			}
			assert.Equal(t, []string{"gateway", "runner"}, got["serving edge"])
			assert.Equal(t, []string{"serving edge"}, got["model servers"])
			assert.Equal(t, []string{"ray operator"}, got["heads of Ray clusters"])
			assert.Empty(t, got["control stores of Ray clusters"])
			assert.Empty(t, got["client servers of Ray clusters"])
		})
	}
}

// The gateway's back end, the door's route and the name that Ray serves are one.
func TestServedModelsAreCalledByTheirNames(t *testing.T) {
	t.Parallel()
	_, result := preview(t, "prod", stackFiles["prod"])
	served := rayServices(t, result)
	assert.Len(t, served, 2)
	for name, spec := range served {
		config, err := rayserve.Parse(spec["serveConfigV2"].(string))
		require.NoError(t, err)
		assert.Equal(t, name, config.Applications[0].Args.Models[0].Loading.ID)
		found := false
		for _, r := range result.Resources {
			if strings.HasSuffix(r.Type, ":Backend") && r.Inputs["backendId"] == "ray_"+name {
				found = true
				assert.Equal(t, "https://serving.prod.onedoor.internal/"+name+"/v1", r.Inputs["url"])
				assert.Nil(t, r.Inputs["credentials"], "it takes the gateway's token")
			}
		}
		assert.True(t, found, name)
	}
}
