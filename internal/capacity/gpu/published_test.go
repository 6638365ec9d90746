package gpu

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const notebooks = "https://github.com/Azure-Samples/aks-anyscale/tree/main/examples/inferencing, "

// vllm is the address of an issue or a pull request of vLLM.
func vllm(n string) string { return "https://github.com/vllm-project/vllm/issues/" + n }

func known(t *testing.T, name string) Model {
	t.Helper()
	m, ok := LookupModel(name)
	require.True(t, ok, name)
	return m
}

// whole is a model of which only the cache matters.
func whole(layers ...Layer) Model { return Model{Layers: layers} }

// Memory of the KV cache in, tokens and concurrency out: what vLLM logged,
// within 0.1 %, or within half of the hundredth of a GiB that logs round to.
func TestTokensAreThoseThatVLLMLogged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source      string
		model       Model
		tp, pp      int
		stage       int // of the pipeline
		context     int
		dtype       KVDtype
		gib         float64
		blocks      int // 0: not logged
		tokens      int
		concurrency float64
	}{
		"Llama-3.1-8B":            {notebooks + "small-size-llm", known(t, "Llama-3.1-8B-Instruct"), 1, 1, 0, 8192, KVAuto, 55.13, 28_226, 451_616, 55.13},
		"Llama-3.1-70B":           {notebooks + "medium-size-llm", known(t, "Llama-3.1-70B-Instruct"), 8, 1, 0, 32768, KVAuto, 52.56, 86_108, 1_377_728, 42.04},
		"Qwen3-32B":               {notebooks + "hybrid-reasoning-llm", known(t, "Qwen3-32B"), 4, 1, 0, 32768, KVAuto, 53.43, 54_710, 875_360, 26.71},
		"QwQ-32B":                 {notebooks + "reasoning-llm", known(t, "QwQ-32B"), 4, 1, 0, 32768, KVAuto, 53.42, 0, 875_280, 26.71},
		"Qwen2.5-VL-7B":           {notebooks + "vision-llm", known(t, "Qwen2.5-VL-7B-Instruct"), 1, 1, 0, 8192, KVAuto, 53.08, 62_113, 993_808, 121.31},
		"gpt-oss-20b":             {notebooks + "gpt-oss: two groups, one of them windows", known(t, "gpt-oss-20b"), 1, 1, 0, 32768, KVAuto, 55.74, 152_218, 1_217_744, 69.66},
		"DeepSeek-R1 stage 1":     {notebooks + "large-size-llm: latents are not divided among ranks", known(t, "DeepSeek-R1"), 8, 2, 0, 16384, KVAuto, 31.13, 0, 935_888, 57.12},
		"DeepSeek-R1 stage 2":     {notebooks + "large-size-llm", known(t, "DeepSeek-R1"), 8, 2, 1, 16384, KVAuto, 27.27, 0, 847_312, 51.72},
		"RTX 3090":                {vllm("10517"), known(t, "Llama-3.1-8B-Instruct"), 1, 1, 0, 20000, KVAuto, 3.81, 1952, 31_232, 1.56},
		"RTX 3090, longer":        {vllm("10517"), known(t, "Llama-3.1-8B-Instruct"), 1, 1, 0, 29000, KVAuto, 2.89, 1478, 23_648, 0.82},
		"Qwen3-4B":                {"https://docs.vllm.ai/en/latest/features/quantization/quantized_kvcache/", known(t, "Qwen3-4B"), 1, 1, 0, 32768, KVAuto, 11.47, 0, 83_488, 2.55},
		"Qwen3-4B, 8-bit cache":   {"https://docs.vllm.ai/en/latest/features/quantization/quantized_kvcache/", known(t, "Qwen3-4B"), 1, 1, 0, 32768, KVFP8, 11.47, 0, 166_992, 5.10},
		"48 KiB per token":        {vllm("25350"), known(t, "Qwen3-30B-A3B"), 1, 1, 0, 100_000, KVFP8, 10.55, 0, 230_528, 2.31},
		"blocks alone":            {vllm("13596"), known(t, "Llama-3.1-8B-Instruct"), 1, 1, 0, 2048, KVAuto, 127_626 * 16 * 131072.0 / gib, 127_626, 2_042_016, 997.08},
		"tokens alone":            {"https://docs.vllm.ai/en/latest/serving/parallelism_scaling/", known(t, "Qwen3-8B"), 1, 1, 0, 40960, KVAuto, 643_232 * 147456.0 / gib, 0, 643_232, 15.70},
		"Llama-3.1-70B in 8 bits": {vllm("12569"), known(t, "Llama-3.1-70B-Instruct"), 1, 1, 0, 2048, KVAuto, 22_096 * 327680.0 / gib, 1381, 22_096, 10.79},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := Engine{BlockSize: 16, TensorParallel: c.tp, KVCacheDtype: c.dtype}
			cache := cacheOf(stages(c.model, c.pp)[c.stage], e)
			blocks := cache.blocks(c.gib * gib)
			tolerance := max(0.001, 0.005/c.gib)
			if c.blocks > 0 {
				assert.InEpsilon(t, c.blocks, blocks, tolerance, c.source)
			}
			assert.InEpsilon(t, c.tokens, cache.tokens(blocks), tolerance, c.source)
			assert.InDelta(t, c.concurrency, float64(blocks)/float64(cache.perRequest(c.context, 2048)), max(0.01, c.concurrency/1000), c.source)
		})
	}
}

// What one request needs, and the longest context that vLLM proposed when it
// refused one.
func TestNeedsAreThoseThatVLLMRefusedWith(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source  string
		model   Model
		dtype   KVDtype
		context int
		gib     float64 // needed
		has     float64 // GiB; 0: not told
		longest int
	}{
		"Llama-3.1-8B":             {"https://github.com/vllm-project/tpu-inference/issues/223", known(t, "Llama-3.1-8B-Instruct"), KVAuto, 131072, 16.00, 0, 0},
		"48 KiB per token":         {vllm("25350"), known(t, "Qwen3-30B-A3B"), KVFP8, 221_000, 10.12, 5.59, 122_080},
		"Mistral Small 4, latents": {"https://github.com/kaito-project/kaito/issues/2132", whole(Layer{Count: 36, Latent: 256 + 64}), KVAuto, 1_048_576, 22.5, 17.39, 810_208},
		"Kimi K2.5, 8-bit latents": {"https://github.com/SemiAnalysisAI/InferenceX/issues/1587", whole(Layer{Count: 61, Latent: 576}), KVFP8, 262_144, 8.58, 0, 0},
		"Qwen3-Coder-480B":         {"https://github.com/vllm-project/recipes/pull/12", whole(full(62, 8, 128)...), KVAuto, 262_144, 62.00, 48.66, 205_728},
		"Qwen3-Coder-480B, more":   {"https://github.com/vllm-project/recipes/pull/12", whole(full(62, 8, 128)...), KVAuto, 262_144, 62.00, 55.65, 235_296},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache := cacheOf(c.model.Layers, Engine{BlockSize: 16, TensorParallel: 1, KVCacheDtype: c.dtype})
			assert.InDelta(t, c.gib, float64(cache.perRequest(c.context, 2048)*cache.blockBytes())/gib, 0.005, c.source)
			if c.has > 0 {
				assert.InEpsilon(t, c.longest, cache.tokens(cache.blocks(c.has*gib)), 0.001, c.source)
			}
		})
	}
}

// GPUs that Azure does not offer, as the sources name them.
var (
	a100 = device{name: "A100-80GB", gib: 79.25, capability: 80, perVM: 8, a100: true}
	h100 = device{name: "H100", gib: 79.18, capability: 90, perVM: 8}
	l4   = device{name: "L4", gib: 22.05, capability: 89, perVM: 1}
	l40s = device{name: "L40S", gib: 44.39, capability: 89, perVM: 8}
)

// The whole prediction against logs: from the model and the GPU alone to the
// memory that is left for the KV cache. tolerance is in GiB. The first rows gave
// the constants; the others are independent of them.
func TestMemoryLeftIsNearWhatVLLMLogged(t *testing.T) {
	t.Parallel()
	const llmd = "https://github.com/llm-d/llm-d-benchmark/blob/main/config_explorer/empirical-vllm-memory-results.md"
	llama8, llama70, qwen32, oss120 := known(t, "Llama-3.1-8B-Instruct"), known(t, "Llama-3.3-70B-Instruct"), known(t, "Qwen3-32B"), known(t, "gpt-oss-120b")
	tiny := Model{Name: "Qwen/Qwen3-0.6B", Params: 0.6, Format: BFloat16, Weights: 1.12, Hidden: 1024, FFN: 3072, Heads: 16, Vocab: 151936, MaxContext: 40960, Layers: full(28, 8, 128)}
	for name, c := range map[string]struct {
		source    string
		dev       device
		model     Model
		engine    Engine
		gib       float64
		tolerance float64
	}{
		"A100, Llama-3.1-8B":  {notebooks + "small-size-llm", a100, llama8, Engine{MaxModelLen: 8192}, 55.13, 0.15},
		"A100, Llama-3.1-70B": {notebooks + "medium-size-llm", a100, llama70, Engine{MaxModelLen: 32768, TensorParallel: 8}, 52.56, 0.10},
		"A100, Qwen3-32B":     {notebooks + "hybrid-reasoning-llm", a100, qwen32, Engine{MaxModelLen: 32768, TensorParallel: 4}, 53.43, 0.20},
		"A100, QwQ-32B":       {notebooks + "reasoning-llm", a100, known(t, "QwQ-32B"), Engine{MaxModelLen: 32768, TensorParallel: 4}, 53.42, 0.20},
		"A100, Qwen2.5-VL-7B": {notebooks + "vision-llm", a100, known(t, "Qwen2.5-VL-7B-Instruct"), Engine{MaxModelLen: 8192}, 53.08, 0.15},
		"A100, gpt-oss-20b":   {notebooks + "gpt-oss", a100, known(t, "gpt-oss-20b"), Engine{MaxModelLen: 32768}, 55.74, 0.15},
		"A100, DeepSeek-R1":   {notebooks + "large-size-llm, the stage with less room", a100, known(t, "DeepSeek-R1"), Engine{MaxModelLen: 16384, TensorParallel: 8, PipelineParallel: 2}, 27.27, 1.1},

		"H100, Llama-3.1-8B":          {llmd, h100, llama8, Engine{MaxModelLen: 16000, BlockSize: 128}, 51.38, 0.15},
		"H100, Llama-3.3-70B FP8":     {llmd, h100, llama70, Engine{MaxModelLen: 16000, BlockSize: 128, Quantization: FP8}, -1.44, 0.15},
		"H100 x 2, Llama-3.3-70B FP8": {llmd, h100, llama70, Engine{MaxModelLen: 16000, BlockSize: 128, Quantization: FP8, TensorParallel: 2}, 32.00, 0.6},
		"H100, Qwen3-0.6B":            {llmd, h100, tiny, Engine{MaxModelLen: 32000, BlockSize: 128}, 64.45, 0.15},
		"H100, Qwen3-32B":             {llmd, h100, qwen32, Engine{MaxModelLen: 16000, BlockSize: 128}, 4.45, 0.15},
		"H100 x 2, Qwen3-32B":         {llmd, h100, qwen32, Engine{MaxModelLen: 16000, BlockSize: 128, TensorParallel: 2}, 34.49, 0.6},
		"H100, gpt-oss-20b":           {llmd, h100, known(t, "gpt-oss-20b"), Engine{MaxModelLen: 16000, BlockSize: 128}, 50.28, 0.3},
		"H100, gpt-oss-120b":          {vllm("23278"), h100, oss120, Engine{MaxModelLen: 131072}, -2.14, 0.15},
		"H100, gpt-oss-120b, 0.95":    {vllm("27508"), h100, oss120, Engine{MaxModelLen: 131072, GPUMemoryUtilization: 0.95, MaxNumBatchedTokens: 1024}, 1.71, 0.15},
		"H100 x 4, Qwen3-235B FP8":    {vllm("21348"), h100, known(t, "Qwen3-235B-A22B-FP8"), Engine{MaxModelLen: 32768, TensorParallel: 4}, 8.11, 1.5},
		"L4, Llama-3.1-8B":            {notebooks + "small-size-llm, README: 3.53x at 8192", l4, llama8, Engine{MaxModelLen: 8192}, 3.53, 0.15},
		"L40S x 8, Llama-3.1-70B":     {notebooks + "medium-size-llm, README: 17.79x at 32768", l40s, llama70, Engine{MaxModelLen: 32768, TensorParallel: 8}, 22.24, 1.1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := c.engine
			e.Version = "0.11.0"
			e.TensorParallel = max(1, e.TensorParallel)
			p := Request{Model: c.model, Engine: e.withDefaults(c.model, c.dev), Concurrency: 1}.judge(c.dev)
			assert.InDelta(t, c.gib, p.KVCacheGiB, c.tolerance, c.source)
			assert.LessOrEqual(t, p.KVCacheGiB-c.gib, p.MarginGiB, "the margin covers the error")
		})
	}
}

// Activations alone, which grow with requests and vocabulary.
func TestActivationsAreThoseThatVLLMLogged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dev  device
		tp   int
		want float64
	}{
		"Llama-3.1-8B-Instruct":  {a100, 1, 1.19},
		"Llama-3.1-70B-Instruct": {a100, 8, 1.21},
		"QwQ-32B":                {a100, 4, 1.41},
		"DeepSeek-R1":            {a100, 8, 1.27},
		"gpt-oss-20b":            {h100, 1, 7.38},
		"gpt-oss-120b":           {h100, 1, 7.38},
		"Llama-3.3-70B-Instruct": {h100, 2, 4.84},
		"Qwen3-32B":              {h100, 1, 5.64},
	} {
		m := known(t, name)
		e := Engine{TensorParallel: c.tp}.withDefaults(m, c.dev)
		assert.InEpsilon(t, c.want, activationBytes(m, e)/gib, 0.04, name)
	}
}

// Weights follow from the parameters where no size is given.
func TestWeightsOfOtherFormatsAreThoseThatVLLMLogged(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 67.72, known(t, "Llama-3.1-70B-Instruct").weightBytes(Int8)/gib, 0.1, vllm("12569"))
	assert.InDelta(t, 5.68, known(t, "Qwen3-8B").weightBytes(AWQ)/gib, 0.03, kaito)
	assert.InDelta(t, 61.03, known(t, "Qwen3-32B").weightBytes(Float16)/gib, 0.03, "16 bits are 16 bits")
}

// Windows count per request: two READMEs tell the concurrency alone.
func TestConcurrencyOfWindowsIsNearWhatVLLMLogged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dev         device
		model       string
		tp          int
		concurrency float64
	}{
		"gpt-oss-20b":  {l4, "gpt-oss-20b", 1, 5.22},
		"gpt-oss-120b": {l40s, "gpt-oss-120b", 2, 6.18},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := known(t, c.model)
			e := Engine{Version: "0.10.2", MaxModelLen: 32768, TensorParallel: c.tp}.withDefaults(m, c.dev)
			p := Request{Model: m, Engine: e, Concurrency: 1}.judge(c.dev)
			assert.InEpsilon(t, c.concurrency, p.MaxConcurrency, 0.10, notebooks+"gpt-oss, README")
		})
	}
}

// Refusals of vLLM are no fits here, and the change that its users made is one.
func TestPublishedRefusalsDoNotFit(t *testing.T) {
	t.Parallel()
	m := known(t, "gpt-oss-120b")
	at := func(e Engine) Verdict {
		return Request{Model: m, Engine: e.withDefaults(m, h100), Concurrency: 1}.judge(h100).Verdict
	}
	assert.Equal(t, NoFit, at(Engine{MaxModelLen: 131072, TensorParallel: 1}), vllm("23278"))
	assert.Equal(t, NoFit, at(Engine{MaxModelLen: 131072, TensorParallel: 1, GPUMemoryUtilization: 0.95, MaxNumBatchedTokens: 1024}), vllm("27508"))
	assert.Equal(t, Fit, at(Engine{MaxModelLen: 131072, TensorParallel: 2}), "on two GPUs")
}

// Decoding against measured rates of one stream.
func TestDecodeRateIsNearWhatWasMeasured(t *testing.T) {
	t.Parallel()
	const johnmusgrave = "https://johnmusgrave.com/p/vllm-throughput-latency-sweep-on"
	fast := device{bandwidth: 1555}
	small := device{bandwidth: 300} // L4
	for name, c := range map[string]struct {
		source    string
		dev       device
		model     string
		dtype     KVDtype
		context   int
		perSecond float64
	}{
		"8B on A100-40GB":       {johnmusgrave, fast, "Llama-3.1-8B-Instruct", KVAuto, 1152, 75},
		"4B on L4":              {"vLLM docs, quantized_kvcache, independent", small, "Qwen3-4B", KVAuto, 2048, 29.1},
		"4B on L4, long":        {"vLLM docs, quantized_kvcache, independent", small, "Qwen3-4B", KVAuto, 32768, 19.4},
		"4B on L4, long, 8 bit": {"vLLM docs, quantized_kvcache, independent", small, "Qwen3-4B", KVFP8, 32768, 23.4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := known(t, c.model)
			e := Engine{TensorParallel: 1, KVCacheDtype: c.dtype}.withDefaults(m, c.dev)
			assert.InEpsilon(t, c.perSecond, Request{Model: m, Engine: e}.decodeRate(c.dev, 1, c.context), 0.10, c.source)
		})
	}
}
