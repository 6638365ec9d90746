package gpu

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/aks"
)

// on is a legal request of a model on a size; a test changes only its subject.
func on(t *testing.T, model, size string) Request {
	t.Helper()
	s, ok := aks.Lookup("Standard_" + size)
	require.True(t, ok, size)
	return Request{Model: known(t, model), Size: s, Engine: Engine{MaxModelLen: 8192, TensorParallel: 1}, Concurrency: 1}
}

// Each refusal has a neighbour that is legal.
func TestRefusalsAndTheirLegalNeighbours(t *testing.T) {
	t.Parallel()
	const a100, h100, t4 = "NC24ads_A100_v4", "NC40ads_H100_v5", "NC64as_T4_v3"
	draft := Draft{Model: known(t, "Llama-3.1-8B-Instruct"), Tokens: 5}
	for name, c := range map[string]struct {
		model, size string
		bad, good   func(*Request)
		want        string // in the message of bad
	}{
		"NoGPU": {"phi-4", a100,
			func(r *Request) { r.Size, _ = aks.Lookup("Standard_D4s_v5") }, nil,
			`vm: got "Standard_D4s_v5", want a size with NVIDIA GPUs`},
		"UnknownSize": {"phi-4", a100,
			func(r *Request) { r.Size = aks.Size{Name: "Standard_NC24ads_A100"} }, nil,
			`vm: got "Standard_NC24ads_A100", want a size that is known here, nearest is Standard_NC24ads_A100_v4`},
		"UnknownModel": {"phi-4", a100,
			func(r *Request) { r.Model = Model{Name: "phi-5"} }, nil,
			`model: got "phi-5", want a model that is known here, nearest is microsoft/phi-4`},
		"AMD": {"phi-4", a100,
			func(r *Request) { r.Size, _ = aks.Lookup("Standard_ND96isr_MI300X_v5") }, nil,
			"the overheads of vLLM on MI300X are not known here"},
		"ShareOfAGPU": {"phi-4", "NV36ads_A10_v5",
			func(r *Request) { r.Size, _ = aks.Lookup("Standard_NV18ads_A10_v5") }, nil,
			"this size has 1/2 of a A10 with 12 GB"},
		"MIGProfile": {"phi-4", a100,
			func(r *Request) { r.Profile = "MIG5g" }, func(r *Request) { r.Profile = aks.MIG3g },
			`mig: got "MIG5g", want one of MIG1g (1g.10gb), MIG2g (2g.20gb), MIG3g (3g.40gb), MIG4g (4g.40gb), MIG7g (7g.80gb), which are all that AKS makes of the A100-80GB of Standard_NC24ads_A100_v4`},
		"SliceOfAnotherCard": {"phi-4", a100,
			func(r *Request) { r.Profile = "3g.47gb" }, func(r *Request) { r.Profile = "3g.40gb" }, `mig: got "3g.47gb"`},
		"SliceWithDoubleMemory": {"Qwen3-8B-AWQ", h100,
			func(r *Request) { r.Profile = "1g.24gb" }, func(r *Request) { r.Profile = "mig1G" }, `mig: got "1g.24gb", want one of MIG1g (1g.12gb)`},
		"MIGOfACardWithout": {"phi-4", "NV36ads_A10_v5",
			func(r *Request) { r.Profile = aks.MIG1g }, func(r *Request) { r.Profile = "" },
			"none: AKS cannot partition the A10 of Standard_NV36ads_A10_v5"},
		"TensorParallelOnMIG": {"phi-4", "NC48ads_A100_v4",
			func(r *Request) { r.Profile, r.Engine.TensorParallel = aks.MIG3g, 2 }, func(r *Request) { r.Profile, r.Engine.TensorParallel = aks.MIG3g, 1 },
			"1 x 1: a CUDA process sees one MIG slice only"},
		"PipelineParallelOnMIG": {"phi-4", a100,
			func(r *Request) { r.Profile, r.Engine.PipelineParallel = aks.MIG3g, 2 }, func(r *Request) { r.Profile, r.Engine.PipelineParallel = aks.MIG3g, 1 },
			"1 x 1: a CUDA process sees one MIG slice only"},
		"TensorParallelBeyondTheVM": {"phi-4", "NC48ads_A100_v4",
			func(r *Request) { r.Engine.TensorParallel = 4 }, func(r *Request) { r.Engine.TensorParallel = 2 },
			"tensor_parallel_size: got 4, want at most 2, the GPUs of a Standard_NC48ads_A100_v4"},
		"PipelineSpansVMs": {"phi-4", a100,
			func(r *Request) { r.Engine.TensorParallel = 2 }, func(r *Request) { r.Engine.PipelineParallel = 2 },
			"raise pipeline_parallel_size to span VMs"},
		"Heads": {"Phi-4-mini-instruct", "ND96amsr_A100_v4",
			func(r *Request) { r.Engine.TensorParallel = 5 }, func(r *Request) { r.Engine.TensorParallel = 8 },
			"a divisor of 24, the attention heads of microsoft/Phi-4-mini-instruct"},
		"HeadsOfKeysAndValues": {"phi-4", "ND96amsr_A100_v4",
			func(r *Request) { r.Engine.TensorParallel = 4 }, func(r *Request) { r.Engine.TensorParallel = 5 },
			"a divisor or a multiple of 10, the heads of keys and values of microsoft/phi-4"},
		"HeadsCopiedToRanks": {"Qwen3-235B-A22B-FP8", "ND96isr_H100_v5",
			func(r *Request) { r.Engine.TensorParallel = 6 }, func(r *Request) { r.Engine.TensorParallel = 8 },
			"a divisor of 64"},
		"NegativeRanks": {"phi-4", a100,
			func(r *Request) { r.Engine.TensorParallel = -1 }, nil, "tensor_parallel_size: got -1, want 1 or more"},
		"PipelineBeyondLayers": {"phi-4", a100,
			func(r *Request) { r.Engine.PipelineParallel = 41 }, func(r *Request) { r.Engine.PipelineParallel = 40 },
			"pipeline_parallel_size: got 41, want 1 to 40"},
		"ContextBeyondPositions": {"phi-4", a100,
			func(r *Request) { r.Engine.MaxModelLen = 16385 }, func(r *Request) { r.Engine.MaxModelLen = 16384 },
			"max_model_len: got 16385, want 1 to 16384 tokens, max_position_embeddings of microsoft/phi-4"},
		"NoContext": {"phi-4", a100,
			func(r *Request) { r.Engine.MaxModelLen = 0 }, func(r *Request) { r.Engine.MaxModelLen = 1 }, "max_model_len: got 0"},
		"UtilizationAboveOne": {"phi-4", a100,
			func(r *Request) { r.Engine.GPUMemoryUtilization = 1.01 }, func(r *Request) { r.Engine.GPUMemoryUtilization = 1 },
			"gpu_memory_utilization: got 1.01, want more than 0 and at most 1"},
		"UtilizationBelowZero": {"phi-4", a100,
			func(r *Request) { r.Engine.GPUMemoryUtilization = -0.1 }, func(r *Request) { r.Engine.GPUMemoryUtilization = 0.1 },
			"gpu_memory_utilization: got -0.1"},
		"CacheBytes": {"phi-4", a100,
			func(r *Request) { r.Engine.KVCacheMemoryBytes = -1 }, func(r *Request) { r.Engine.KVCacheMemoryBytes = 1 << 30 },
			"kv_cache_memory_bytes: got -1"},
		"BlockSize": {"phi-4", a100,
			func(r *Request) { r.Engine.BlockSize = -16 }, func(r *Request) { r.Engine.BlockSize = 32 }, "block_size: got -16"},
		"BFloat16OnTuring": {"Qwen3-4B", t4,
			func(r *Request) {}, func(r *Request) { r.Engine.Quantization = Float16 },
			`quantization: got "bfloat16", want a format for compute capability 7.5, which the T4 has; this one needs 8.0` + "\n    fix: set quantization to float16"},
		"BFloat16CacheOnTuring": {"Qwen3-8B-AWQ", t4,
			func(r *Request) { r.Engine.KVCacheDtype = KVBFloat16 }, func(r *Request) { r.Engine.KVCacheDtype = KVFloat16 },
			`kv_cache_dtype: got "bfloat16", want another type`},
		"FP8OnTuring": {"Qwen3-4B", t4,
			func(r *Request) { r.Engine.Quantization = FP8 }, func(r *Request) { r.Engine.Quantization = AWQ },
			"this one needs 8.0"},
		"MXFP4OnTuring": {"gpt-oss-20b", t4,
			func(r *Request) {}, func(r *Request) { r.Engine.Quantization = GPTQ },
			`quantization: got "mxfp4"`},
		"Quantization": {"phi-4", a100,
			func(r *Request) { r.Engine.Quantization = "fp7" }, func(r *Request) { r.Engine.Quantization = FP8 },
			`quantization: got "fp7", want one of bfloat16, float16, fp8`},
		"CacheType": {"phi-4", a100,
			func(r *Request) { r.Engine.KVCacheDtype = "fp4" }, func(r *Request) { r.Engine.KVCacheDtype = KVFP8 },
			`kv_cache_dtype: got "fp4", want one of auto`},
		"CacheTypeOfMLA": {"phi-4", h100,
			func(r *Request) { r.Engine.KVCacheDtype = KVFP8DeepSeek },
			func(r *Request) { r.Model, r.Engine.KVCacheDtype = known(t, "DeepSeek-R1"), KVFP8DeepSeek },
			"the layout of MLA with a latent of 576, which microsoft/phi-4 has not"},
		"FewerTokensThanRequests": {"phi-4", a100,
			func(r *Request) { r.Engine.MaxNumSeqs, r.Engine.MaxNumBatchedTokens = 256, 255 },
			func(r *Request) { r.Engine.MaxNumSeqs, r.Engine.MaxNumBatchedTokens = 256, 256 },
			"max_num_batched_tokens: got 255, want at least max_num_seqs, 256"},
		"NoRequests": {"phi-4", a100,
			func(r *Request) { r.Engine.MaxNumSeqs = -1 }, func(r *Request) { r.Engine.MaxNumSeqs = 1 }, "max_num_seqs: got -1"},
		"NoTokens": {"phi-4", a100,
			func(r *Request) { r.Engine.MaxNumBatchedTokens = -1 }, func(r *Request) { r.Engine.MaxNumBatchedTokens = 1 }, "max_num_batched_tokens: got -1"},
		"WithoutChunkedPrefill": {"phi-4", a100,
			func(r *Request) { r.Engine.NoChunkedPrefill, r.Engine.MaxNumBatchedTokens = true, 8191 },
			func(r *Request) { r.Engine.NoChunkedPrefill, r.Engine.MaxNumBatchedTokens = true, 8192 },
			"max_num_batched_tokens: got 8191, want at least max_model_len, 8192"},
		"WithoutChunkedPrefillByDefault": {"phi-4", a100,
			func(r *Request) { r.Engine.NoChunkedPrefill, r.Engine.MaxNumBatchedTokens = true, 2048 },
			func(r *Request) { r.Engine.NoChunkedPrefill = true }, "without chunked prefill"},
		"SwapSpace": {"phi-4", a100,
			func(r *Request) { r.Engine.SwapSpace = 4 }, func(r *Request) { r.Engine.SwapSpace = 0 },
			"swap_space: got 4, want 0: vLLM has no swapping"},
		"OldEngine": {"phi-4", a100,
			func(r *Request) { r.Engine.Version = "0.9.2" }, func(r *Request) { r.Engine.Version = "v0.10" },
			`vllm: got "0.9.2", want a version from 0.10.0 on`},
		"NoVersion": {"phi-4", a100,
			func(r *Request) { r.Engine.Version = "latest" }, func(r *Request) { r.Engine.Version = "0.99.1" }, `vllm: got "latest"`},
		"NoConcurrency": {"phi-4", a100,
			func(r *Request) { r.Concurrency = 0 }, func(r *Request) { r.Concurrency = 1 }, "concurrency: got 0"},
		"ConcurrencyBeyondAStep": {"phi-4", a100,
			func(r *Request) { r.Concurrency = 257 }, func(r *Request) { r.Concurrency = 256 },
			"concurrency: got 257, want at most max_num_seqs, 256"},
		"ConcurrencyOnALargeGPU": {"phi-4", h100,
			func(r *Request) { r.Concurrency = 1025 }, func(r *Request) { r.Concurrency = 1024 }, "at most max_num_seqs, 1024"},
		"DraftTokens": {"Llama-3.1-70B-Instruct", "ND96amsr_A100_v4",
			func(r *Request) { d := draft; d.Tokens = 0; r.Engine.Draft = &d }, func(r *Request) { r.Engine.Draft = &draft },
			"speculative_config.num_speculative_tokens: got 0"},
		"DraftRanks": {"Llama-3.1-70B-Instruct", "ND96amsr_A100_v4",
			func(r *Request) { d := draft; d.TensorParallel = 2; r.Engine.TensorParallel, r.Engine.Draft = 4, &d },
			func(r *Request) { d := draft; d.TensorParallel = 4; r.Engine.TensorParallel, r.Engine.Draft = 4, &d },
			"speculative_config.draft_tensor_parallel_size: got 2, want 1, or tensor_parallel_size"},
		"DraftModel": {"phi-4", a100,
			func(r *Request) { r.Engine.Draft = &Draft{Tokens: 1} }, nil, `speculative_config.model: got "", want a model that is known here`},
		"ModelWithoutLayers": {"phi-4", a100,
			func(r *Request) { r.Model.Layers = nil }, nil, "model.layers: got none, want at least one kind"},
		"LayerOfTwoMinds": {"phi-4", a100,
			func(r *Request) { r.Model.Layers = []Layer{{Count: 40, KVHeads: 10, HeadDim: 128, Latent: 576}} },
			func(r *Request) { r.Model.Layers = []Layer{{Count: 40, Latent: 576}} }, "model.layers[0]: got"},
		"ModelWithoutFigures": {"phi-4", a100,
			func(r *Request) { r.Model.Params = 0 }, nil, "model.params: got 0, want more than 0"},
		"MoreActiveThanAll": {"phi-4", a100,
			func(r *Request) { r.Model.Active = r.Model.Params + 1 }, func(r *Request) { r.Model.Active = r.Model.Params }, "model.active: got 15.66"},
		"NegativeWeights": {"phi-4", a100,
			func(r *Request) { r.Model.Weights = -1 }, func(r *Request) { r.Model.Weights = 0 }, "model.weights: got -1"},
		"ModelFormat": {"phi-4", a100,
			func(r *Request) { r.Model.Format = "fp7" }, nil, `model.format: got "fp7"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := on(t, c.model, c.size)
			bad := req
			c.bad(&bad)
			_, err := Make(bad)
			require.ErrorContains(t, err, c.want)
			if c.good != nil {
				c.good(&req)
			}
			_, err = Make(req)
			assert.NoError(t, err, "the neighbour")
		})
	}
}

// What is wrong besides an unknown model or size is told with it, and nothing
// that only follows from it.
func TestUnknownNamesHideNoOtherProblem(t *testing.T) {
	t.Parallel()
	_, err := Make(Request{Model: Model{Name: "phi-5"}, Size: aks.Size{Name: "big"}, Engine: Engine{MaxModelLen: -1, KVCacheDtype: "fp4", Quantization: "fp7"}, Concurrency: 1})
	var keys []string
	for _, p := range Problems(err) {
		keys = append(keys, p.Key)
	}
	assert.Equal(t, []string{"kv_cache_dtype", "max_model_len", "model", "quantization", "vm"}, keys)
	assert.Nil(t, Problems(nil))
}

// All problems come at once, in the order of their keys, whatever the order in
// which they were found.
func TestProblemsComeTogetherAndInOrder(t *testing.T) {
	t.Parallel()
	req := on(t, "phi-4", "NC24ads_A100_v4")
	req.Profile = aks.MIG3g
	req.Engine = Engine{MaxModelLen: 1 << 20, TensorParallel: 2, SwapSpace: 1, KVCacheDtype: "fp4", GPUMemoryUtilization: 2, Version: "0.6"}
	_, err := Make(req)
	require.Error(t, err)
	var keys []string
	for line := range strings.Lines(err.Error()) {
		if key, _, found := strings.Cut(line, ": got "); found {
			keys = append(keys, key)
		}
	}
	assert.Equal(t, []string{"gpu_memory_utilization", "kv_cache_dtype", "max_model_len", "swap_space", "tensor_parallel_size", "vllm"}, keys)
}
