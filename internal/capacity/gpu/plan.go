package gpu

import (
	"fmt"
	"math"

	"onedoor/internal/az/aks"
)

// Request is what to plan for.
type Request struct {
	Model       Model
	Size        aks.Size
	Profile     aks.Profile // MIG, also by NVIDIA's name for the card ("3g.40gb"); "": whole GPUs
	Engine      Engine
	Concurrency int // requests with a full context at the same time
}

// Verdict is whether a request fits.
type Verdict string

// The verdicts.
const (
	Fit      Verdict = "fit"
	Marginal Verdict = "marginal" // by the prediction it fits, but by less than predictions were off
	NoFit    Verdict = "no-fit"   // vLLM would refuse to start, or requests would wait
)

// Plan is the memory of one GPU of a request, the fullest where they differ.
type Plan struct {
	Verdict          Verdict     `json:"verdict"`
	Model            string      `json:"model"`
	VM               string      `json:"vm"`
	MIG              aks.Profile `json:"mig,omitempty"`
	GPU              string      `json:"gpu"` // card, with the slice's name
	VMs              int         `json:"vms"` // for one replica; more than 1 with pipeline parallelism only
	TensorParallel   int         `json:"tensorParallel"`
	PipelineParallel int         `json:"pipelineParallel"`
	VLLM             string      `json:"vllm"`        // the version whose overheads these are
	Context          int         `json:"context"`     // tokens of one request
	Concurrency      int         `json:"concurrency"` // requests that shall run at the same time

	GPUGiB         float64 `json:"gpuGiB"` // as CUDA reports it
	WeightsGiB     float64 `json:"weightsGiBPerGPU"`
	ActivationGiB  float64 `json:"activationGiBPerGPU"`
	NonTorchGiB    float64 `json:"nonTorchGiBPerGPU"`
	GraphsGiB      float64 `json:"cudaGraphsGiBPerGPU"`
	KVCacheGiB     float64 `json:"kvCacheGiBPerGPU"`      // what is left for it; below 0: the rest alone is too much
	KVNeededGiB    float64 `json:"kvNeededGiBPerGPU"`     // for the requests that shall run at the same time
	MarginGiB      float64 `json:"marginGiBPerGPU"`       // that a fit has left over
	KVBytes        int     `json:"kvBytesPerTokenPerGPU"` // of a token in all layers' caches
	KVCacheTokens  int     `json:"kvCacheTokens"`         // as vLLM logs it
	MaxConcurrency float64 `json:"maxConcurrency"`        // requests with a full context, as vLLM logs it
	MaxContext     int     `json:"maxContext"`            // the longest context that is a fit with this concurrency; 0: none

	Arithmetic  []string     `json:"arithmetic"`
	Warnings    []string     `json:"warnings"`
	Suggestions []Suggestion `json:"suggestions"` // nearest first, at most 3; none when it fits

	Engine Engine `json:"-"` // with all its defaults: what was planned

	stage int // layers on the GPU
}

// Make plans a request. The error joins a Problem for each reason why vLLM, CUDA
// or AKS would refuse it whatever the memory.
func Make(req Request) (Plan, error) {
	if profile, want := profileOf(req.Size, req.Profile); want == "" {
		req.Profile = profile
	}
	dev, _ := deviceOf(req.Size, req.Profile)
	req.Engine = req.Engine.withDefaults(req.Model, dev)
	if err := req.check(dev); err != nil {
		return Plan{}, err
	}
	req, p := req.settle(dev)
	p.Engine = req.Engine
	p.MaxContext = req.longest(dev)
	p.Arithmetic = req.arithmetic(dev, p)
	p.Warnings = req.warnings(dev)
	p.Suggestions = []Suggestion{}
	if p.Verdict != Fit {
		p.Suggestions = req.suggest()
	}
	return p.rounded(), nil
}

// rounded is the plan in hundredths, which is more than it knows. Concurrency is
// rounded down: 0.999 requests are none.
func (p Plan) rounded() Plan {
	for _, g := range []*float64{&p.WeightsGiB, &p.ActivationGiB, &p.NonTorchGiB, &p.GraphsGiB, &p.KVCacheGiB, &p.KVNeededGiB, &p.MarginGiB} {
		*g = math.Round(*g*100) / 100
	}
	p.MaxConcurrency = math.Floor(p.MaxConcurrency*100) / 100
	return p
}

// settle chooses the degree of tensor parallelism where none is given: the
// smallest that fits, else the smallest that is marginal, else the largest.
func (req Request) settle(dev device) (Request, Plan) {
	if req.Engine.TensorParallel > 0 {
		return req, req.judge(dev)
	}
	var best Plan
	chosen := req
	for _, tp := range req.degrees(dev) {
		req.Engine.TensorParallel = tp
		p := req.judge(dev)
		if p.Verdict == Fit {
			return req, p
		}
		if best.Verdict != Marginal {
			best, chosen = p, req
		}
	}
	return chosen, best
}

// degrees are the powers of two that tensor parallelism can have on the device,
// smallest first.
func (req Request) degrees(dev device) []int {
	all := []int{1}
	if req.Profile != "" {
		return all
	}
	for tp := 2; tp <= dev.perVM; tp *= 2 {
		if req.Model.undivided(tp) == "" {
			all = append(all, tp)
		}
	}
	return all
}

// judge is the arithmetic: the plan of the pipeline stage with the least room.
func (req Request) judge(dev device) Plan {
	var least Plan
	for i, layers := range stages(req.Model, req.Engine.PipelineParallel) {
		if p := req.judgeStage(dev, layers); i == 0 || p.MaxConcurrency < least.MaxConcurrency || p.KVCacheGiB < 0 && p.KVCacheGiB < least.KVCacheGiB {
			least = p
		}
	}
	return least
}

// judgeStage is the plan of a GPU that holds layers.
func (req Request) judgeStage(dev device, layers []Layer) Plan {
	m, e := req.Model, req.Engine
	count := Model{Layers: layers}.layerCount()
	share := float64(count) / float64(m.layerCount()) / float64(e.TensorParallel)
	total := dev.gib * gib
	weights := m.weightBytes(e.Quantization) * share
	if d := e.Draft; d != nil {
		weights += d.Model.weightBytes(d.Model.Format) / float64(d.TensorParallel)
	}
	activation, nonTorch, graphs := activationBytes(m, e), nonTorchBytes(e), graphBytes(m, e, count)

	// What vLLM reserves, and what must find room beside it.
	reserved, beside := total*e.GPUMemoryUtilization, float64(cudaContext)
	taken := weights + activation + nonTorch
	if e.graphsCounted() {
		taken += graphs
	} else {
		beside += graphs
	}
	left := reserved - taken
	if e.KVCacheMemoryBytes > 0 {
		left = float64(e.KVCacheMemoryBytes)
		reserved = taken + left
	}

	c := cacheOf(layers, e)
	perRequest := c.perRequest(e.MaxModelLen, e.MaxNumBatchedTokens)
	blocks := c.blocks(left)
	margin := marginBytes + marginWeight*weights
	p := Plan{
		Verdict: Fit, Model: m.Name, VM: req.Size.Name, MIG: req.Profile, GPU: dev.name,
		VMs: ceil(e.TensorParallel*e.PipelineParallel, dev.perVM), TensorParallel: e.TensorParallel, PipelineParallel: e.PipelineParallel,
		VLLM: e.Version, Context: e.MaxModelLen, Concurrency: req.Concurrency,
		GPUGiB: dev.gib, WeightsGiB: weights / gib, ActivationGiB: activation / gib, NonTorchGiB: nonTorch / gib, GraphsGiB: graphs / gib,
		KVCacheGiB: left / gib, KVNeededGiB: float64(req.Concurrency*perRequest*c.blockBytes()) / gib, MarginGiB: margin / gib,
		KVBytes: c.tokenBytes(), KVCacheTokens: c.tokens(blocks), MaxConcurrency: float64(blocks) / float64(perRequest),
		stage: count,
	}
	spare := left
	if e.KVCacheMemoryBytes > 0 {
		spare = min(left, total-taken-beside) // vLLM does not look, so what is too much fails later
	}
	switch need := req.Concurrency * perRequest; {
	case blocks < need, c.blocks(spare) < need:
		p.Verdict = NoFit
	case c.blocks(spare-margin) < need, total-reserved < beside:
		p.Verdict = Marginal
	}
	return p
}

// graphsCounted tells whether this version of vLLM subtracts CUDA graphs.
func (e Engine) graphsCounted() bool {
	n, _ := minor(e.Version) // checked
	return n >= graphsCounted
}

// longest is the longest context that is a fit with the wanted concurrency.
func (req Request) longest(dev device) int {
	fits := func(context int) bool {
		at := req
		at.Engine.MaxModelLen = context
		return at.judge(dev).Verdict == Fit
	}
	low, high := 0, req.Model.MaxContext // 0 fits, by convention
	if req.Engine.NoChunkedPrefill {
		high = min(high, req.Engine.MaxNumBatchedTokens)
	}
	for low < high {
		if middle := (low + high + 1) / 2; fits(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low / req.Engine.BlockSize * req.Engine.BlockSize
}

// arithmetic is the plan's working, line by line.
func (req Request) arithmetic(dev device, p Plan) []string {
	e := req.Engine
	c := cacheOf(stageOf(req.Model, p.stage), e)
	blocks := c.blocks(p.KVCacheGiB * gib)
	perRequest := c.perRequest(e.MaxModelLen, e.MaxNumBatchedTokens)
	graphs := "subtracted since vLLM 0.21"
	left := p.KVCacheGiB
	if !e.graphsCounted() {
		graphs = "outside the reservation before vLLM 0.21"
	}
	if e.EnforceEager {
		graphs = "none, enforce_eager"
	}
	lines := []string{
		fmt.Sprintf("reserved: %.2f GiB of the %s x gpu_memory_utilization %g = %.2f GiB", dev.gib, dev.name, e.GPUMemoryUtilization, dev.gib*e.GPUMemoryUtilization),
		fmt.Sprintf("- weights: %s, %d of %d layers, tensor parallel %d = %.2f GiB", e.Quantization, p.stage, req.Model.layerCount(), e.TensorParallel, p.WeightsGiB),
		fmt.Sprintf("- activations: max_num_seqs %d, max_num_batched_tokens %d, vocabulary %d = %.2f GiB", e.MaxNumSeqs, e.MaxNumBatchedTokens, req.Model.Vocab, p.ActivationGiB),
		fmt.Sprintf("- outside PyTorch (with NCCL above one GPU) = %.2f GiB", p.NonTorchGiB),
		fmt.Sprintf("- CUDA graphs (%s) = %.2f GiB", graphs, p.GraphsGiB),
	}
	if e.KVCacheMemoryBytes > 0 {
		lines = append(lines, fmt.Sprintf("= KV cache: kv_cache_memory_bytes = %.2f GiB, whatever is reserved", left))
	} else {
		lines = append(lines, fmt.Sprintf("= KV cache: %.2f GiB", left))
	}
	return append(lines,
		fmt.Sprintf("block: %d tokens in %d layers = %d bytes; %d bytes per token in %s", c.block, c.groupSize, c.blockBytes(), p.KVBytes, plural(c.groups(), "group")),
		fmt.Sprintf("blocks: %.2f GiB / %d bytes = %d, %d tokens", left, c.blockBytes(), blocks, p.KVCacheTokens),
		fmt.Sprintf("one request of %d tokens: %d blocks; at most %.2f at the same time", e.MaxModelLen, perRequest, p.rounded().MaxConcurrency),
		fmt.Sprintf("wanted: %s = %.2f GiB; a fit leaves %.2f GiB more (1 GiB + 2 %% of the weights)", plural(req.Concurrency, "request"), p.KVNeededGiB, p.MarginGiB),
	)
}

// stageOf is the layers of a pipeline stage that has n of them.
func stageOf(m Model, n int) []Layer { return share(m.Layers, n, m.layerCount()) }

func plural(n int, word string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// warnings are what a person should know though nothing refuses it.
func (req Request) warnings(dev device) []string {
	e := req.Engine
	all := []string{}
	if f := formats[e.Quantization]; dev.capability < f.native {
		all = append(all, fmt.Sprintf("%s on compute capability %s saves memory but computes in 16 bits", e.Quantization, capability(dev.capability)))
	}
	if e.KVCacheDtype.element() == 1 && dev.capability < formats[FP8].native {
		all = append(all, fmt.Sprintf("kv_cache_dtype %s on compute capability %s is only stored so; not every attention backend takes it", e.KVCacheDtype, capability(dev.capability)))
	}
	if n, _ := minor(e.Version); n > newestMinor {
		all = append(all, fmt.Sprintf("vLLM %s is newer than the overheads known here, of 0.%d", e.Version, newestMinor))
	}
	if beside := (1 - e.GPUMemoryUtilization) * dev.gib * gib; e.KVCacheMemoryBytes == 0 && beside < cudaContext {
		all = append(all, fmt.Sprintf("gpu_memory_utilization %g leaves %.2f GiB for the CUDA context, which needs about %.1f", e.GPUMemoryUtilization, beside/gib, cudaContext/gib))
	}
	if req.Model.Images && req.Model.VisionPeak == 0 {
		all = append(all, "what images of the largest size take is not known of "+req.Model.Name+": the plan is for text, with limit_mm_per_prompt at 0 images")
	}
	if e.Draft != nil {
		all = append(all, "vLLM does not measure the draft model when it starts, so watch for running out of memory under load (https://github.com/vllm-project/vllm/pull/14067)")
	}
	return all
}
