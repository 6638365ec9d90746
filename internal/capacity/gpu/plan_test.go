package gpu

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/aks"
)

func plan(t *testing.T, req Request) Plan {
	t.Helper()
	p, err := Make(req)
	require.NoError(t, err)
	return p
}

// The longest context that fits is a fit, one block more is not; the verdict in
// between is marginal until vLLM itself would refuse.
func TestVerdictsChangeWhereTheMemoryEnds(t *testing.T) {
	t.Parallel()
	req := on(t, "Llama-3.1-8B-Instruct", "NC24ads_A100_v4")
	req.Profile = aks.MIG3g
	at := func(context int) Plan {
		req.Engine.MaxModelLen = context
		return plan(t, req)
	}
	req.Concurrency = 2 // of 9478 blocks
	longest := at(8192).MaxContext
	assert.Equal(t, 70496, longest, "(18.51 GiB - 1.30 of margin) / 2")
	assert.Equal(t, Fit, at(longest).Verdict)
	assert.Equal(t, Marginal, at(longest+1).Verdict, "a token more is a block more")
	assert.Equal(t, longest, at(131072).MaxContext, "it does not depend on the context asked for")
	assert.Equal(t, Marginal, at(9478/2*16).Verdict)
	assert.Equal(t, NoFit, at(9478/2*16+1).Verdict)

	req.Profile = aks.MIG1g
	p := at(1)
	assert.Equal(t, NoFit, p.Verdict, "14.99 GiB of weights on 9.50")
	assert.Negative(t, p.KVCacheGiB)
	assert.Zero(t, p.KVCacheTokens)
	assert.Zero(t, p.MaxConcurrency)
	assert.Zero(t, p.MaxContext)
	assert.InDelta(t, 0.99, Plan{MaxConcurrency: 0.999}.rounded().MaxConcurrency, 0, "0.999 requests are none")
}

// Of every model on every size: the longest context is a fit, a block more is
// not, but for the model's own limit.
func TestLongestContextIsTheLongest(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, m := range Models() {
		for _, size := range aks.Sizes() {
			req := Request{Model: m, Size: size, Engine: Engine{MaxModelLen: 1, TensorParallel: 1}, Concurrency: 3}
			p, err := Make(req)
			if err != nil || p.MaxContext == 0 {
				continue
			}
			tried++
			req.Engine.MaxModelLen = p.MaxContext
			assert.Equal(t, Fit, plan(t, req).Verdict, "%s on %s at %d", m.Name, size.Name, p.MaxContext)
			if req.Engine.MaxModelLen += 16; req.Engine.MaxModelLen <= m.MaxContext {
				assert.NotEqual(t, Fit, plan(t, req).Verdict, "%s on %s at %d", m.Name, size.Name, req.Engine.MaxModelLen)
			}
		}
	}
	assert.Greater(t, tried, 100)
	req := on(t, "Llama-3.1-8B-Instruct", "NC24ads_A100_v4")
	req.Engine.NoChunkedPrefill, req.Engine.MaxNumBatchedTokens = true, 16384
	assert.Equal(t, 16384, plan(t, req).MaxContext, "without chunked prefill a prompt must fit one step")
}

// A MIG slice is judged by its own memory, not by its name or by the card.
func TestSlicesHaveTheirOwnMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model, size string
		profile     aks.Profile
		gib         float64
		context     int
		want        Verdict
	}{
		"8B on 3g.40gb":         {"Llama-3.1-8B-Instruct", "NC24ads_A100_v4", aks.MIG3g, 39.25, 32768, Fit},
		"8B on 4g.40gb":         {"Llama-3.1-8B-Instruct", "NC24ads_A100_v4", aks.MIG4g, 39.25, 32768, Fit},
		"8B on 2g.20gb":         {"Llama-3.1-8B-Instruct", "NC24ads_A100_v4", aks.MIG2g, 19.50, 4096, Marginal},
		"8B on 2g.20gb, longer": {"Llama-3.1-8B-Instruct", "NC24ads_A100_v4", aks.MIG2g, 19.50, 8192, NoFit},
		"8B on 2g.10gb":         {"Llama-3.1-8B-Instruct", "ND96asr_v4", aks.MIG2g, 9.62, 1, NoFit},
		"8B on 1g.18gb":         {"Llama-3.1-8B-Instruct", "ND96isr_H200_v5", aks.MIG1g, 16.00, 1, NoFit},
		"mini on 1g.10gb":       {"Phi-4-mini-instruct", "NC24ads_A100_v4", aks.MIG1g, 9.50, 8192, NoFit},
		"mini on 1g.12gb":       {"Phi-4-mini-instruct", "NC40ads_H100_v5", aks.MIG1g, 10.75, 8192, NoFit},
		"mini on 2g.20gb":       {"Phi-4-mini-instruct", "NC24ads_A100_v4", aks.MIG2g, 19.50, 32768, Fit},
		"AWQ on 1g.12gb":        {"Qwen3-8B-AWQ", "NC40ads_H100_v5", aks.MIG1g, 10.75, 4096, Fit},
		"AWQ on 1g.10gb":        {"Qwen3-8B-AWQ", "NC24ads_A100_v4", aks.MIG1g, 9.50, 4096, Marginal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := on(t, c.model, c.size)
			req.Profile, req.Engine.MaxModelLen = c.profile, c.context
			p := plan(t, req)
			assert.InDelta(t, c.gib, p.GPUGiB, 0)
			assert.Equal(t, c.want, p.Verdict, "%.2f GiB of cache, %.2f wanted", p.KVCacheGiB, p.KVNeededGiB)
		})
	}
}

// Two cards of 16 GB are not one of 32.
func TestMemoryIsPerGPU(t *testing.T) {
	t.Parallel()
	req := on(t, "Llama-3.1-8B-Instruct", "NC64as_T4_v3")
	req.Engine.Quantization = Float16
	assert.Equal(t, NoFit, plan(t, req).Verdict)
	req.Engine.TensorParallel = 4
	p := plan(t, req)
	assert.Equal(t, Fit, p.Verdict)
	assert.InDelta(t, 14.99/4, p.WeightsGiB, 0.01)
	assert.Equal(t, 131072/4, p.KVBytes)
}

func TestSmallestDegreeThatFitsIsChosen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model, size string
		profile     aks.Profile
		want        int
		verdict     Verdict
	}{
		"One":          {"Llama-3.1-8B-Instruct", "ND96amsr_A100_v4", "", 1, Fit},
		"Two":          {"Llama-3.1-70B-Instruct", "ND96isr_H200_v5", "", 2, Fit},
		"Four":         {"Llama-3.1-70B-Instruct", "NC96ads_A100_v4", "", 4, Fit},
		"HeadsDecide":  {"phi-4", "NC64as_T4_v3", "", 2, NoFit}, // 4 does not divide its 10 heads
		"NothingFits":  {"DeepSeek-R1", "ND96amsr_A100_v4", "", 8, NoFit},
		"SlicesAreOne": {"Llama-3.1-70B-Instruct", "ND96isr_H200_v5", aks.MIG7g, 1, NoFit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := on(t, c.model, c.size)
			req.Profile, req.Engine.TensorParallel = c.profile, 0
			if req.Model.Format == BFloat16 {
				req.Engine.Quantization = Float16 // which all GPUs compute with
			}
			p := plan(t, req)
			assert.Equal(t, c.want, p.TensorParallel)
			assert.Equal(t, c.verdict, p.Verdict)
		})
	}
}

// More ranks do not always help: latents are whole on each, and NCCL takes memory.
func TestFewestRanksAreChosenWhereAllAreMarginal(t *testing.T) {
	t.Parallel()
	req := on(t, "DeepSeek-V3", "NC48ads_A100_v4")
	req.Model.Params, req.Model.Active, req.Model.Weights = 2, 0, 1
	for tp, want := range map[int]Verdict{1: Marginal, 2: NoFit, 0: Marginal} {
		req.Engine.TensorParallel = tp
		req.Concurrency = 126
		p := plan(t, req)
		assert.Equal(t, want, p.Verdict, "%d ranks: %.2f requests", tp, p.MaxConcurrency)
		assert.Equal(t, max(tp, 1), p.TensorParallel)
	}
}

// Kinds of layers that are nearly as many are padded to groups of one size.
func TestNearlyEqualKindsMakeOneGroupEach(t *testing.T) {
	t.Parallel()
	for sliding, want := range map[int]int{20: 2, 24: 2, 25: 3} {
		c := cacheOf([]Layer{{Count: 20, KVHeads: 8, HeadDim: 128}, {Count: sliding, KVHeads: 8, HeadDim: 128, Window: 512}}, Engine{BlockSize: 16, TensorParallel: 1, KVCacheDtype: KVAuto})
		assert.Equal(t, want, c.groups(), "20 and %d layers", sliding)
	}
}

// What each argument does to the memory that is left.
func TestArgumentsMoveTheMemoryThatIsLeft(t *testing.T) {
	t.Parallel()
	base := on(t, "Llama-3.1-8B-Instruct", "NC40ads_H100_v5")
	before := plan(t, base)
	for name, c := range map[string]struct {
		reason string
		change func(*Engine)
		gib    float64 // more than before
	}{
		"Eager":          {"32 layers x 16 MiB", func(e *Engine) { e.EnforceEager = true }, 0.5},
		"OlderEngine":    {"graphs are outside the reservation", func(e *Engine) { e.Version = "0.20.0" }, 0.5},
		"SameEngine":     {"", func(e *Engine) { e.Version = "0.21.0" }, 0},
		"FewerSeqs":      {"768 requests x 128256 words x 38 bytes", func(e *Engine) { e.MaxNumSeqs = 256 }, 768 * 128256 * 38.0 / gib},
		"LargerSteps":    {"64 Ki tokens: the widest moment of a layer, not the sampler", func(e *Engine) { e.MaxNumSeqs, e.MaxNumBatchedTokens = 256, 65536 }, before.ActivationGiB - 65536*2*(3*14336+4*4096.0)/gib},
		"Utilization":    {"5 % of 93.1", func(e *Engine) { e.GPUMemoryUtilization = 0.95 }, 0.05 * 93.1},
		"EightBits":      {"linear layers in 8 bits", func(e *Engine) { e.Quantization = FP8 }, (8.03e9 - 2*128256*4096 - 0) / gib},
		"CacheBytes":     {"what is given, not what is left", func(e *Engine) { e.KVCacheMemoryBytes = 10 * gib }, 10 - before.KVCacheGiB},
		"ShorterContext": {"nothing: batches are what is measured", func(e *Engine) { e.MaxModelLen = 512 }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := base
			c.change(&req.Engine)
			assert.InDelta(t, c.gib, plan(t, req).KVCacheGiB-before.KVCacheGiB, 0.04, c.reason)
		})
	}
}

// A cache in 8 bits holds twice the tokens; scales per head take their part.
func TestCacheTypesChangeTheBytesOfAToken(t *testing.T) {
	t.Parallel()
	for dtype, want := range map[KVDtype]int{
		KVAuto: 131072, KVBFloat16: 131072, KVFP8: 65536, KVFP8E5M2: 65536, KVInt8PerTokenHead: 65536 + 32*8*8,
	} {
		req := on(t, "Llama-3.1-8B-Instruct", "NC40ads_H100_v5")
		req.Engine.KVCacheDtype = dtype
		assert.Equal(t, want, plan(t, req).KVBytes, dtype)
	}
	req := on(t, "DeepSeek-R1", "ND96isr_H200_v5")
	req.Engine.TensorParallel = 8
	assert.Equal(t, 61*576*2, plan(t, req).KVBytes, "latents are whole on every rank")
	req.Engine.KVCacheDtype = KVFP8DeepSeek
	assert.Equal(t, 61*656, plan(t, req).KVBytes)
}

// A draft model has weights and a cache of its own.
func TestDraftModelTakesMemory(t *testing.T) {
	t.Parallel()
	req := on(t, "Llama-3.1-70B-Instruct", "ND96amsr_A100_v4")
	req.Engine.TensorParallel = 4
	before := plan(t, req)
	req.Engine.Draft = &Draft{Model: known(t, "Llama-3.1-8B-Instruct"), Tokens: 5}
	after := plan(t, req)
	assert.InDelta(t, 14.99, after.WeightsGiB-before.WeightsGiB, 0.01)
	assert.Equal(t, 131072, after.KVBytes-before.KVBytes)
	assert.Contains(t, after.Warnings[0], "does not measure the draft model")
	assert.Zero(t, req.Engine.Draft.TensorParallel, "the caller's own is not written to")
	req.Engine.Draft.TensorParallel = 4
	assert.InDelta(t, 14.99/4, plan(t, req).WeightsGiB-before.WeightsGiB, 0.01)
}

// vLLM takes kv_cache_memory_bytes at its word, so the planner must not.
func TestCacheBytesThatDoNotFitAreFound(t *testing.T) {
	t.Parallel()
	req := on(t, "Llama-3.1-8B-Instruct", "NC24ads_A100_v4")
	for bytes, want := range map[int64]Verdict{1 << 29: NoFit, 3 << 30: Fit, 60 << 30: Fit, 62 << 30: Marginal} {
		req.Engine.KVCacheMemoryBytes = bytes
		assert.Equal(t, want, plan(t, req).Verdict, "%d GiB", bytes>>30)
	}
	req.Model = known(t, "Qwen3-32B") // 61 GiB of weights
	req.Engine.MaxModelLen = 32768    // 8 GiB
	for bytes, want := range map[int64]Verdict{7 << 30: NoFit, 14 << 30: Fit} {
		req.Engine.KVCacheMemoryBytes = bytes
		assert.Equal(t, want, plan(t, req).Verdict, "%d GiB", bytes>>30)
	}
	req.Engine.MaxModelLen = 40960 // 10 GiB
	req.Concurrency = 2
	req.Engine.KVCacheMemoryBytes = 20 << 30
	assert.Equal(t, NoFit, plan(t, req).Verdict, "20 GiB are given but 79 are not enough for them")
}

// What utilization leaves must hold the CUDA context, and before 0.21 the graphs.
func TestNoFitWhereNothingIsLeftBesides(t *testing.T) {
	t.Parallel()
	req := on(t, "Qwen3-4B", "NC24ads_A100_v4")
	for utilization, want := range map[float64]Verdict{0.99: Fit, 0.995: Marginal} {
		req.Engine.GPUMemoryUtilization = utilization
		p := plan(t, req)
		assert.Equal(t, want, p.Verdict, utilization)
		assert.Equal(t, want == Marginal, len(p.Warnings) == 1, p.Warnings)
	}
	req.Engine.GPUMemoryUtilization, req.Engine.Version = 0.99, "0.20.0"
	assert.Equal(t, Marginal, plan(t, req).Verdict, "0.79 GiB for a context of 0.5 and graphs of 0.56")
}

func TestWarningsTellWhatNothingRefuses(t *testing.T) {
	t.Parallel()
	req := on(t, "Llama-3.1-8B-Instruct", "NC24ads_A100_v4")
	assert.Empty(t, plan(t, req).Warnings)
	req.Engine.Quantization = FP8
	req.Engine.KVCacheDtype = KVFP8
	req.Engine.Version = "0.99.0"
	assert.Equal(t, []string{
		"fp8 on compute capability 8.0 saves memory but computes in 16 bits",
		"kv_cache_dtype fp8 on compute capability 8.0 is only stored so; not every attention backend takes it",
		"vLLM 0.99.0 is newer than the overheads known here, of 0.26",
	}, plan(t, req).Warnings)
	req.Size, _ = aks.Lookup("Standard_NC40ads_H100_v5")
	req.Engine.Version = ""
	assert.Empty(t, plan(t, req).Warnings, "Hopper computes in 8 bits")
	assert.Contains(t, plan(t, on(t, "gemma-3-27b-it", "NC24ads_A100_v4")).Warnings[0], "the plan is for text")
	assert.Empty(t, plan(t, on(t, "Qwen2.5-VL-7B-Instruct", "NC24ads_A100_v4")).Warnings, "what its images take is known")
}

// The working, whole, of the example that the documentation shows.
func TestArithmeticIsTheWorking(t *testing.T) {
	t.Parallel()
	req := on(t, "Llama-3.1-8B-Instruct", "NC24ads_A100_v4")
	req.Profile, req.Engine.MaxModelLen, req.Concurrency = aks.MIG3g, 16384, 4
	assert.Equal(t, []string{
		"reserved: 39.25 GiB of the A100-80GB 3g.40gb x gpu_memory_utilization 0.9 = 35.33 GiB",
		"- weights: bfloat16, 32 of 32 layers, tensor parallel 1 = 14.99 GiB",
		"- activations: max_num_seqs 256, max_num_batched_tokens 2048, vocabulary 128256 = 1.19 GiB",
		"- outside PyTorch (with NCCL above one GPU) = 0.13 GiB",
		"- CUDA graphs (subtracted since vLLM 0.21) = 0.50 GiB",
		"= KV cache: 18.51 GiB",
		"block: 16 tokens in 32 layers = 2097152 bytes; 131072 bytes per token in 1 group",
		"blocks: 18.51 GiB / 2097152 bytes = 9478, 151648 tokens",
		"one request of 16384 tokens: 1024 blocks; at most 9.25 at the same time",
		"wanted: 4 requests = 8.00 GiB; a fit leaves 1.30 GiB more (1 GiB + 2 % of the weights)",
	}, plan(t, req).Arithmetic)
	req.Engine.EnforceEager, req.Engine.KVCacheMemoryBytes = true, 9<<30
	lines := plan(t, req).Arithmetic
	assert.Contains(t, lines, "- CUDA graphs (none, enforce_eager) = 0.00 GiB")
	assert.Contains(t, lines, "= KV cache: kv_cache_memory_bytes = 9.00 GiB, whatever is reserved")
	req.Engine = Engine{MaxModelLen: 16384, Version: "0.12.0"}
	assert.Contains(t, plan(t, req).Arithmetic, "- CUDA graphs (outside the reservation before vLLM 0.21) = 0.50 GiB")
}

// Pipeline stages divide layers and weights, and may span VMs.
func TestPipelineStagesSpanVMs(t *testing.T) {
	t.Parallel()
	req := on(t, "DeepSeek-R1", "ND96amsr_A100_v4")
	req.Engine = Engine{MaxModelLen: 16384, TensorParallel: 8, PipelineParallel: 2}
	p := plan(t, req)
	assert.Equal(t, 2, p.VMs)
	assert.Equal(t, Fit, p.Verdict)
	assert.Equal(t, 31*576*2, p.KVBytes, "the stage with more layers has less room")
	var counts []int
	for _, layers := range stages(known(t, "gpt-oss-120b"), 5) {
		counts = append(counts, Model{Layers: layers}.layerCount())
	}
	assert.Equal(t, []int{7, 7, 7, 8, 7}, counts, "36 layers in 5 stages: the last does not get the one over")
}
