package rayserve

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/aks"
	"onedoor/internal/capacity/gpu"
)

// planned is the engine of a plan that fits.
func planned(t *testing.T, change func(*gpu.Request)) (gpu.Model, gpu.Plan) {
	t.Helper()
	model, _ := gpu.LookupModel("Llama-3.1-8B-Instruct")
	size, _ := aks.Lookup("Standard_NC40ads_H100_v5")
	req := gpu.Request{Model: model, Size: size, Concurrency: 2, Engine: gpu.Engine{Version: VLLMVersion, MaxModelLen: 8192}}
	change(&req)
	plan, err := gpu.Make(req)
	require.NoError(t, err)
	require.Equal(t, gpu.Fit, plan.Verdict)
	return req.Model, plan
}

// Who judges the text judges what was planned: nothing is lost on the way there and
// back.
func TestThePlanComesBack(t *testing.T) {
	t.Parallel()
	draft, _ := gpu.LookupModel("Phi-4-mini-instruct")
	for name, change := range map[string]func(*gpu.Request){
		"Plain":   func(*gpu.Request) {},
		"Float16": func(r *gpu.Request) { r.Engine.Quantization = gpu.Float16 },
		"FP8":     func(r *gpu.Request) { r.Engine.Quantization, r.Engine.KVCacheDtype = gpu.FP8, gpu.KVFP8 },
		"AWQ":     func(r *gpu.Request) { r.Model, _ = gpu.LookupModel("Qwen3-8B-AWQ") },
		"Whole":   func(r *gpu.Request) { r.Engine.NoChunkedPrefill = true },
		"Eager":   func(r *gpu.Request) { r.Engine.EnforceEager = true },
		"Draft":   func(r *gpu.Request) { r.Engine.Draft = &gpu.Draft{Model: draft, Tokens: 4} },
		"AllGiven": func(r *gpu.Request) {
			r.Engine.MaxNumSeqs, r.Engine.MaxNumBatchedTokens, r.Engine.BlockSize = 64, 4096, 32
		},
		"LowMemory": func(r *gpu.Request) { r.Engine.GPUMemoryUtilization = 0.7 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, plan := planned(t, change)
			path := ""
			if d := plan.Engine.Draft; d != nil {
				path = "/weights/" + d.Model.Name
			}
			one := LLM{Loading: Loading{ID: "m", Source: "/weights/" + model.Name}, Engine: EngineOf(model, plan.Engine, path)}
			text := Config{Applications: []Application{{Name: "m", ImportPath: Builder, RoutePrefix: "/", Args: Args{Models: []LLM{one}}}}}.Text()
			back, err := Parse(text)
			require.NoError(t, err)
			llm := back.Applications[0].LLMs()[0]
			known, ok := gpu.LookupModel(llm.Loading.Model())
			require.True(t, ok)
			assert.Equal(t, model, known)
			assert.Equal(t, plan.Engine, llm.Engine.Plan(known.Format))
		})
	}
}

// A draft model without figures is refused by the planner, and not left out.
func TestAnUnknownDraftIsNoDraftWithoutWeight(t *testing.T) {
	t.Parallel()
	e := Engine{Speculative: &Speculative{Model: "/weights/org/unknown", Tokens: 3, TensorParallel: 1}}.Plan(gpu.BFloat16)
	require.NotNil(t, e.Draft)
	assert.Equal(t, gpu.Model{Name: "unknown"}, e.Draft.Model)
}

func TestKeysOfOthersArePassedOver(t *testing.T) {
	t.Parallel()
	c, err := Parse("proxy_location: EveryNode\napplications: [{name: a, args: {llm_configs: [{engine_kwargs: {max_model_len: 4096, seed: 1}}]}}]")
	require.NoError(t, err)
	assert.Equal(t, 4096, c.Applications[0].LLMs()[0].Engine.MaxModelLen)
	_, err = Parse("applications: [")
	require.ErrorContains(t, err, "serveConfigV2: ")
}

func TestBothPartsOfADisaggregatedApplication(t *testing.T) {
	t.Parallel()
	prefill, decode := LLM{Loading: Loading{ID: "p"}}, LLM{Loading: Loading{ID: "d"}}
	app := Application{Args: Args{Prefill: &prefill, Decode: &decode}}
	assert.Equal(t, []LLM{prefill, decode}, app.LLMs())
}
