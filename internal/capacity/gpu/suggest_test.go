package gpu

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/aks"
)

func TestSuggestionsAreTheNearestChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model, size string
		change      func(*Request)
		want        []string
	}{
		"Fits": {"phi-4", "NC24ads_A100_v4", func(*Request) {}, []string{}},
		"SliceTooSmall": {"Llama-3.1-8B-Instruct", "NC24ads_A100_v4",
			func(r *Request) { r.Profile = aks.MIG2g },
			[]string{"take MIG profile MIG3g instead of MIG2g", "take a checkpoint with quantization int8 instead of bfloat16", "take Standard_NV36ads_A10_v5"}},
		"SamplerOfALargeGPU": {"gpt-oss-120b", "NC40ads_H100_v5",
			func(r *Request) { r.Engine.MaxModelLen, r.Concurrency = 131072, 2 },
			[]string{"lower max_num_seqs from 1024 to 512", "set kv_cache_dtype to fp8", "lower max_model_len from 131072 to 92736"}},
		"MoreGPUs": {"Llama-3.1-70B-Instruct", "NC96ads_A100_v4",
			func(r *Request) { r.Engine.TensorParallel = 2 },
			[]string{"raise tensor_parallel_size from 2 to 4", "take a checkpoint with quantization int8 instead of bfloat16", "take Standard_NC80adis_H100_v5"}},
		"ContextTooLong": {"Llama-3.1-8B-Instruct", "NV36ads_A10_v5",
			func(r *Request) { r.Engine.MaxModelLen = 65536 },
			[]string{"lower max_model_len from 65536 to 13808", "take a checkpoint with quantization int8 instead of bfloat16", "take Standard_NV72ads_A10_v5"}},
		"TooManyAtOnce": {"Llama-3.1-8B-Instruct", "NC24ads_A100_v4",
			func(r *Request) { r.Engine.MaxModelLen, r.Concurrency = 131072, 5 },
			[]string{"lower max_model_len from 131072 to 87168", "lower the concurrency from 5 to 3", "take Standard_NC48ads_A100_v4"}},
		"TooLittleIsLeftToShorten": {"Llama-3.1-8B-Instruct", "NV36ads_A10_v5",
			func(r *Request) { r.Engine.MaxModelLen, r.Engine.GPUMemoryUtilization = 131072, 0.85 },
			[]string{"take Standard_NC24ads_A100_v4", "take Standard_NC40ads_H100_v5", "take Standard_NC48ads_A100_v4"}},
		"NothingHelps": {"DeepSeek-R1", "NC24ads_A100_v4",
			func(r *Request) { r.Engine.MaxModelLen, r.Concurrency = 163840, 256 }, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := on(t, c.model, c.size)
			c.change(&req)
			p := plan(t, req)
			got := []string{}
			for _, s := range p.Suggestions {
				got = append(got, s.Change)
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, p.Verdict == Fit, name == "Fits")
		})
	}
}

// A suggestion that is followed is a fit, with the figures that it promised.
func TestSuggestionsKeepTheirPromise(t *testing.T) {
	t.Parallel()
	req := on(t, "Llama-3.1-8B-Instruct", "NC24ads_A100_v4")
	req.Profile = aks.MIG2g
	first := plan(t, req).Suggestions[0]
	req.Profile = aks.MIG3g
	p := plan(t, req)
	assert.Equal(t, Fit, p.Verdict)
	assert.Equal(t, Effect{p.VM, p.MIG, p.TensorParallel, p.KVCacheTokens, p.MaxConcurrency}, first.Then)
}

func TestRankPutsTheCheapestTokenFirst(t *testing.T) {
	t.Parallel()
	req := Request{Model: known(t, "Llama-3.1-8B-Instruct"), Engine: Engine{MaxModelLen: 8192}, Concurrency: 1}
	prices := Prices{PerHour: map[string]float64{"Standard_NC24ads_A100_v4": 3.6, "Standard_NC40ads_H100_v5": 100}, Source: "a test"}
	options, err := Rank(req, prices)
	require.NoError(t, err)
	require.NotEmpty(t, options)
	assert.Equal(t, "Standard_NC24ads_A100_v4", options[0].VM)
	seen := map[string]Option{}
	last := 0.0
	for _, o := range options {
		assert.NotEqual(t, NoFit, o.Verdict)
		assert.NotContains(t, o.VM, "T4", "bfloat16 is refused there")
		assert.NotContains(t, o.VM, "MI300X")
		assert.GreaterOrEqual(t, unknownLast(o.USDPerMillion), last, "in order")
		last = unknownLast(o.USDPerMillion)
		assert.Equal(t, prices.PerHour[o.VM] > 0, o.USDPerMillion > 0, "no price, no cost: %s", o.VM)
		seen[o.VM+string(o.MIG)] = o
	}
	whole, sliced := seen["Standard_NC24ads_A100_v4"], seen["Standard_NC24ads_A100_v4MIG3g"]
	assert.Equal(t, 1, whole.Replicas)
	assert.Equal(t, 2, sliced.Replicas, "two slices of a GPU are two replicas")
	assert.InEpsilon(t, 3.6/(whole.TokensPerSecond*3600)*1e6, whole.USDPerMillion, 1e-3)
	assert.Equal(t, 8, seen["Standard_ND96asr_v4"].Replicas)

	req.Engine.PipelineParallel = 2
	options, err = Rank(req, prices)
	require.NoError(t, err)
	spread := options[slices.IndexFunc(options, func(o Option) bool { return o.VM == "Standard_NC24ads_A100_v4" })]
	assert.Equal(t, [2]int{0, 2}, [2]int{spread.Replicas, spread.VMs})
	assert.Positive(t, spread.USDPerMillion, "one replica on two VMs has a price")

	req.Engine.PipelineParallel = 1
	req.Model = known(t, "Llama-3.1-70B-Instruct")
	options, err = Rank(req, prices)
	require.NoError(t, err)
	for _, o := range options {
		if o.VM == "Standard_ND96amsr_A100_v4" {
			assert.Equal(t, [2]int{4, 2}, [2]int{o.TensorParallel, o.Replicas}, "8 GPUs are two replicas of 4")
		}
	}
}

// A single request reads the experts that it passes, a full batch all of them.
func TestExpertsAreReadAsRequestsPassThem(t *testing.T) {
	t.Parallel()
	sparse := known(t, "Qwen3-30B-A3B")
	dense := sparse
	dense.Active = 0
	rate := func(m Model, requests int) float64 {
		return Request{Model: m, Engine: Engine{TensorParallel: 1}.withDefaults(m, h100)}.decodeRate(device{bandwidth: 3350}, requests, 16)
	}
	assert.InEpsilon(t, 30.53/3.35, rate(sparse, 1)/rate(dense, 1), 0.01)
	assert.InEpsilon(t, 1, rate(sparse, 64)/rate(dense, 64), 0.01)
}

func TestRankOfAnIllegalRequestIsItsProblem(t *testing.T) {
	t.Parallel()
	req := Request{Model: known(t, "phi-4"), Engine: Engine{MaxModelLen: 16385}, Concurrency: 1}
	_, err := Rank(req, ListPrices())
	require.EqualError(t, err, "max_model_len: got 16385, want 1 to 16384 tokens, max_position_embeddings of microsoft/phi-4")
	req.Model, req.Engine.MaxModelLen, req.Concurrency = known(t, "DeepSeek-R1"), 163840, 256
	options, err := Rank(req, ListPrices())
	require.NoError(t, err)
	assert.Empty(t, options, "legal, and nothing fits")
}

// Every price is of a size that a model can run on, and the caller's own win.
func TestPrices(t *testing.T) {
	t.Parallel()
	list := ListPrices()
	for name, price := range list.PerHour {
		size, ok := aks.Lookup(name)
		require.True(t, ok, name)
		assert.Equal(t, name, size.Name, "as Azure spells it")
		_, usable := deviceOf(size, "")
		assert.True(t, usable, name)
		assert.Positive(t, price, name)
	}
	own := list.With(map[string]float64{"Standard_ND96isr_H200_v5": 85})
	assert.InDelta(t, 85, own.PerHour["Standard_ND96isr_H200_v5"], 0)
	assert.NotContains(t, ListPrices().PerHour, "Standard_ND96isr_H200_v5", "the list itself stays")
	assert.NotEqual(t, list.Source, own.Source)
	assert.NotContains(t, list.PerHour, "Standard_ND96isr_H200_v5")
	assert.Equal(t, list, list.With(nil))
	list.PerHour["Standard_ND96isr_H200_v5"] = 1
	assert.NotContains(t, ListPrices().PerHour, "Standard_ND96isr_H200_v5", "each caller has a copy")
}
