package gpu

import (
	"fmt"
	"strconv"
	"strings"
)

// Engine is how vLLM is started: those of its arguments that decide about
// memory. A zero value is vLLM's default, but for GPUMemoryUtilization, whose
// default has changed between releases.
// https://docs.vllm.ai/en/latest/configuration/engine_args/
type Engine struct {
	Version              string  // of vLLM; "": the newest that the planner knows
	MaxModelLen          int     // context: tokens of prompt and answer together
	GPUMemoryUtilization float64 // share of the GPU's whole memory, above 0 and at most 1; 0: 0.90
	KVCacheMemoryBytes   int64   // per GPU; replaces GPUMemoryUtilization and vLLM's own measuring; 0: unset
	BlockSize            int     // tokens per KV block; 0: 16
	TensorParallel       int     // 0: the smallest that fits one VM
	PipelineParallel     int     // 0: 1
	Quantization         Format  // of the weights; "": as the checkpoint
	KVCacheDtype         KVDtype // "": auto
	MaxNumSeqs           int     // requests in one step; 0: 256, or 1024 on large GPUs
	MaxNumBatchedTokens  int     // tokens in one step; 0: 2048, or 8192 on large GPUs
	NoChunkedPrefill     bool    // a prompt must fit one step
	EnforceEager         bool    // no CUDA graphs
	SwapSpace            float64 // GiB; must be 0, see check
	Draft                *Draft  // speculative decoding with a draft model; nil: none
}

// Draft is the draft model of speculative_config.
type Draft struct {
	Model          Model
	Tokens         int // num_speculative_tokens
	TensorParallel int // draft_tensor_parallel_size: 1 or that of the engine; 0: 1
}

// The defaults that the planner fills in.
const (
	defaultUtilization = 0.90 // vLLM's until 0.92 replaced it; said in every plan, so set it explicitly
	defaultBlock       = 16
)

// batchDefaults are max_num_seqs and max_num_batched_tokens of vLLM's API
// server. Both are larger on GPUs of 70 GiB and more, except the A100.
// https://github.com/vllm-project/vllm, vllm/engine/arg_utils.py, get_batch_defaults
func batchDefaults(d device) (seqs, tokens int) {
	if d.gib >= 70 && !d.a100 {
		return 1024, 8192
	}
	return 256, 2048
}

// withDefaults is the engine as vLLM would run it on d. TensorParallel stays 0.
func (e Engine) withDefaults(m Model, d device) Engine {
	if e.Version == "" {
		e.Version = fmt.Sprintf("0.%d", newestMinor)
	}
	if e.GPUMemoryUtilization == 0 {
		e.GPUMemoryUtilization = defaultUtilization
	}
	if e.BlockSize == 0 {
		e.BlockSize = defaultBlock
	}
	if e.PipelineParallel == 0 {
		e.PipelineParallel = 1
	}
	if e.Quantization == "" {
		e.Quantization = m.Format
	}
	if e.KVCacheDtype == "" {
		e.KVCacheDtype = KVAuto
	}
	if e.Draft != nil && e.Draft.TensorParallel == 0 {
		draft := *e.Draft
		draft.TensorParallel = 1
		e.Draft = &draft
	}
	seqs, tokens := batchDefaults(d)
	if e.NoChunkedPrefill {
		tokens = max(tokens, e.MaxModelLen)
	}
	if e.MaxNumBatchedTokens == 0 {
		e.MaxNumBatchedTokens = tokens
	}
	if e.MaxNumSeqs == 0 {
		e.MaxNumSeqs = min(seqs, e.MaxNumBatchedTokens)
	}
	return e
}

// The minor versions of vLLM 0.x that the planner knows. Versions before have
// other engines and other overheads. Ray Serve LLM pairs each of its releases
// with one of them.
// https://docs.ray.io/en/latest/serve/llm/troubleshooting.html
const (
	oldestMinor = 10
	newestMinor = 26
)

// minor is the minor version of vLLM in a version such as "0.22.0" or "v0.22".
func minor(version string) (int, error) {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 2 || len(parts) > 3 || parts[0] != "0" {
		return 0, fmt.Errorf("version %q", version)
	}
	return strconv.Atoi(parts[1])
}
