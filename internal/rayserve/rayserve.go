// Package rayserve writes and reads the configuration of Ray Serve LLM: the text
// that a RayService carries in serveConfigV2. It knows what the platform uses of it
// and how its engine arguments are those of the planner of GPU memory. What fits is
// the planner's to say, and the pods that the text runs in are others'.
// https://docs.ray.io/en/latest/serve/llm/index.html
package rayserve

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"

	"onedoor/internal/capacity/gpu"
)

// The two of them are a pair: each release of Ray Serve LLM works with one minor
// version of vLLM.
// https://docs.ray.io/en/latest/serve/llm/troubleshooting.html
const (
	RayVersion  = "2.56.0"
	VLLMVersion = "0.22.0"
)

// The builders of applications.
// https://docs.ray.io/en/latest/serve/api/index.html#llm-api
const (
	Builder              = "ray.serve.llm:build_openai_app"
	DisaggregatedBuilder = "ray.serve.llm:build_pd_openai_app" // prefill and decode on replicas of their own
)

// Config is the whole text.
type Config struct {
	Applications []Application `yaml:"applications"`
}

// Application is one application of Ray Serve.
type Application struct {
	Name        string `yaml:"name"`
	ImportPath  string `yaml:"import_path"` // of its builder
	RoutePrefix string `yaml:"route_prefix"`
	Args        Args   `yaml:"args"`
}

// Args are what a builder makes the application of: Models, or both of the others.
type Args struct {
	Models  []LLM      `yaml:"llm_configs,omitempty"`
	Prefill *LLM       `yaml:"prefill_config,omitempty"`
	Decode  *LLM       `yaml:"decode_config,omitempty"`
	Ingress Deployment `yaml:"ingress_deployment_config"` // of what takes calls and hands them to the models
}

// LLM is one model: an LLMConfig.
type LLM struct {
	Loading    Loading    `yaml:"model_loading_config"`
	Engine     Engine     `yaml:"engine_kwargs"`
	Deployment Deployment `yaml:"deployment_config"`
	Metrics    bool       `yaml:"log_engine_metrics"` // those of vLLM, on Ray's port for metrics
}

// Loading is where a model comes from.
type Loading struct {
	ID     string `yaml:"model_id"`     // that callers give it by
	Source string `yaml:"model_source"` // a folder, or a name on Hugging Face
}

// Model is the model's own name: the last part of a folder, or of a name with its
// owner.
func (l Loading) Model() string { return path.Base(l.Source) }

// Engine are arguments of vLLM's engine. All that decides about memory is set, so
// that a default of another version does not undo a plan.
// https://docs.vllm.ai/en/latest/configuration/engine_args/
type Engine struct {
	DType                string         `yaml:"dtype,omitempty"` // "" takes the checkpoint's
	Quantization         gpu.Format     `yaml:"quantization,omitempty"`
	TensorParallel       int            `yaml:"tensor_parallel_size"`
	PipelineParallel     int            `yaml:"pipeline_parallel_size"`
	MaxModelLen          int            `yaml:"max_model_len"`          // tokens
	MaxNumSeqs           int            `yaml:"max_num_seqs"`           // requests in one step
	MaxNumBatchedTokens  int            `yaml:"max_num_batched_tokens"` // in one step
	GPUMemoryUtilization float64        `yaml:"gpu_memory_utilization"` // share of the whole memory
	KVCacheDtype         gpu.KVDtype    `yaml:"kv_cache_dtype"`
	BlockSize            int            `yaml:"block_size"` // tokens
	PrefixCaching        bool           `yaml:"enable_prefix_caching"`
	ChunkedPrefill       bool           `yaml:"enable_chunked_prefill"`
	EnforceEager         bool           `yaml:"enforce_eager,omitempty"`
	Speculative          *Speculative   `yaml:"speculative_config,omitempty"`
	Transfer             *CacheTransfer `yaml:"kv_transfer_config,omitempty"`
}

// Speculative is speculative decoding with a draft model.
// https://docs.vllm.ai/en/latest/features/spec_decode.html
type Speculative struct {
	Method         string `yaml:"method"`
	Model          string `yaml:"model"` // a folder, or a name on Hugging Face
	Tokens         int    `yaml:"num_speculative_tokens"`
	TensorParallel int    `yaml:"draft_tensor_parallel_size"`
}

// draftMethod is decoding with a smaller model of the same vocabulary.
const draftMethod = "draft_model"

// CacheTransfer is how caches get from prefill to decode.
// https://docs.vllm.ai/en/latest/features/nixl_connector_usage.html
type CacheTransfer struct {
	Connector string `yaml:"kv_connector"`
	Role      string `yaml:"kv_role"` // which Nixl asks for and does not use
}

// Nixl sends caches from GPU to GPU.
var Nixl = CacheTransfer{Connector: "NixlConnector", Role: "kv_both"}

// Deployment is how many replicas there are.
// https://docs.ray.io/en/latest/serve/advanced-guides/advanced-autoscaling.html
type Deployment struct {
	Autoscaling Autoscaling `yaml:"autoscaling_config"`
	MaxOngoing  int         `yaml:"max_ongoing_requests"` // of a replica; more wait
	Actor       *Actor      `yaml:"ray_actor_options,omitempty"`
}

// Autoscaling is when there are more replicas. Ray Serve LLM's own target is so
// high that there never are.
type Autoscaling struct {
	Min            int `yaml:"min_replicas"`
	Max            int `yaml:"max_replicas"`
	Target         int `yaml:"target_ongoing_requests"` // of a replica
	UpscaleDelay   int `yaml:"upscale_delay_s"`
	DownscaleDelay int `yaml:"downscale_delay_s"`
}

// Actor is what a replica takes of a node of Ray. GPUs are no part of it: the
// builder adds them for each rank, and would add these to them.
// https://github.com/ray-project/ray/issues/58328
type Actor struct {
	CPUs      float64            `yaml:"num_cpus"`
	Resources map[string]float64 `yaml:"resources,omitempty"` // by names that nodes of Ray are given
}

// EngineOf are the arguments with which vLLM does what was planned: plan is that of
// the request, whose engine has all its defaults. draft is where the draft model is,
// if there is one.
func EngineOf(model gpu.Model, plan gpu.Engine, draft string) Engine {
	e := Engine{
		TensorParallel: plan.TensorParallel, PipelineParallel: plan.PipelineParallel, MaxModelLen: plan.MaxModelLen,
		MaxNumSeqs: plan.MaxNumSeqs, MaxNumBatchedTokens: plan.MaxNumBatchedTokens, GPUMemoryUtilization: plan.GPUMemoryUtilization,
		KVCacheDtype: plan.KVCacheDtype, BlockSize: plan.BlockSize, EnforceEager: plan.EnforceEager,
		PrefixCaching: true, ChunkedPrefill: !plan.NoChunkedPrefill,
	}
	switch plan.Quantization {
	case gpu.BFloat16, gpu.Float16:
		e.DType = string(plan.Quantization)
	case model.Format: // which vLLM reads from the checkpoint
	default:
		e.Quantization = plan.Quantization
	}
	if d := plan.Draft; d != nil {
		e.Speculative = &Speculative{Method: draftMethod, Model: draft, Tokens: d.Tokens, TensorParallel: d.TensorParallel}
	}
	return e
}

// Plan is the engine as the planner has it, for a model whose weights are in
// format. The draft model is looked up among those that the planner knows; one that
// it does not is a model without figures, which it refuses.
func (e Engine) Plan(format gpu.Format) gpu.Engine {
	out := gpu.Engine{
		Version: VLLMVersion, TensorParallel: e.TensorParallel, PipelineParallel: e.PipelineParallel, MaxModelLen: e.MaxModelLen,
		MaxNumSeqs: e.MaxNumSeqs, MaxNumBatchedTokens: e.MaxNumBatchedTokens, GPUMemoryUtilization: e.GPUMemoryUtilization,
		KVCacheDtype: e.KVCacheDtype, BlockSize: e.BlockSize, EnforceEager: e.EnforceEager, NoChunkedPrefill: !e.ChunkedPrefill,
		Quantization: format,
	}
	switch {
	case e.Quantization != "":
		out.Quantization = e.Quantization
	case e.DType != "":
		out.Quantization = gpu.Format(e.DType)
	}
	if s := e.Speculative; s != nil {
		name := path.Base(s.Model)
		draft, known := gpu.LookupModel(name)
		if !known {
			draft = gpu.Model{Name: name}
		}
		out.Draft = &gpu.Draft{Model: draft, Tokens: s.Tokens, TensorParallel: s.TensorParallel}
	}
	return out
}

// LLMs are all models of the application.
func (a Application) LLMs() []LLM {
	out := slices.Clone(a.Args.Models)
	for _, part := range []*LLM{a.Args.Prefill, a.Args.Decode} {
		if part != nil {
			out = append(out, *part)
		}
	}
	return out
}

// Text is the configuration as a RayService has it.
func (c Config) Text() string {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(c), encoder.Close()); err != nil { // plain values always can
		panic(err)
	}
	return out.String()
}

// Parse reads a configuration. Keys that are not known here are passed over: Ray
// has more of them than the platform uses.
func Parse(text string) (Config, error) {
	var c Config
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		return Config{}, fmt.Errorf("serveConfigV2: %w", err)
	}
	return c, nil
}
