package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"onedoor/internal/az/aks"
)

// check finds everything that vLLM, CUDA or AKS refuse before memory matters.
// req has its defaults. dev is the zero device where the hardware itself is
// refused; then nothing that depends on it is.
func (req Request) check(dev device) error {
	r := &report{}
	req.Model.check(r)
	req.checkHardware(r)
	req.checkTypes(r, dev)
	req.checkParallel(r, dev)
	req.checkBatches(r)
	req.checkMemory(r)
	req.checkDraft(r)
	return r.err()
}

// checkHardware refuses what the planner has no memory figures for, and MIG
// profiles that AKS does not make of the size's GPUs.
func (req Request) checkHardware(r *report) {
	size, name := req.Size, quote(req.Size.Name)
	switch gpu := size.GPU; {
	case gpu.Count == 0 && size.VCPUs == 0:
		r.add("vm", name, "a size that is known here, nearest is "+cmp.Or(aks.NearestSize(size.Name), "none"), "")
		return
	case gpu.Count == 0:
		r.add("vm", name, "a size with NVIDIA GPUs", "")
		return
	case gpu.Card.AMD():
		r.add("vm", name, "a size with NVIDIA GPUs; the overheads of vLLM on "+string(gpu.Card)+" are not known here", "")
		return
	case gpu.Share != 1:
		r.add("vm", name, fmt.Sprintf("whole GPUs; this size has 1/%d of a %s with %d GB, too little for a language model", gpu.Share, gpu.Card, gpu.MemoryGB), "take Standard_NV36ads_A10_v5, a whole A10")
		return
	}
	if req.Profile == "" {
		return
	}
	if _, want := profileOf(size, req.Profile); want != "" {
		r.add("mig", quote(req.Profile), want, "")
	}
}

// checkTypes refuses number formats that the GPU cannot compute with.
func (req Request) checkTypes(r *report, dev device) {
	e := req.Engine
	below := func(least int) bool { return dev.capability > 0 && dev.capability < least }
	switch f, known := formats[e.Quantization]; {
	case !known && e.Quantization != req.Model.Format: // else the check of the model says it
		r.add("quantization", quote(e.Quantization), choice(Formats), "")
	case known && below(f.least):
		fix := ""
		if e.Quantization == BFloat16 {
			fix = "set quantization to float16, which has the same size"
		}
		r.add("quantization", quote(e.Quantization), fmt.Sprintf("a format for compute capability %s, which the %s has; this one needs %s", capability(dev.capability), dev.name, capability(f.least)), fix)
	}
	switch {
	case !slices.Contains(KVDtypes, e.KVCacheDtype):
		r.add("kv_cache_dtype", quote(e.KVCacheDtype), choice(KVDtypes), "")
	case e.KVCacheDtype == KVBFloat16 && below(formats[BFloat16].least):
		r.add("kv_cache_dtype", quote(e.KVCacheDtype), "another type: bfloat16 needs compute capability 8.0, the "+dev.name+" has "+capability(dev.capability), "set kv_cache_dtype to auto")
	case e.KVCacheDtype == KVFP8DeepSeek && len(req.Model.Layers) > 0 && !slices.ContainsFunc(req.Model.Layers, func(l Layer) bool { return l.Latent == dsLatent }):
		r.add("kv_cache_dtype", quote(e.KVCacheDtype), fmt.Sprintf("another type: this one is the layout of MLA with a latent of %d, which %s has not", dsLatent, req.Model.Name), "set kv_cache_dtype to fp8")
	}
}

// checkParallel refuses degrees of parallelism that do not divide the model or
// do not find their GPUs.
func (req Request) checkParallel(r *report, dev device) {
	e, m := req.Engine, req.Model
	tp, pp := e.TensorParallel, e.PipelineParallel
	if tp < 0 {
		r.add("tensor_parallel_size", strconv.Itoa(tp), "1 or more", "")
	}
	if layers := m.layerCount(); pp < 1 || pp > max(1, layers) {
		r.add("pipeline_parallel_size", strconv.Itoa(pp), fmt.Sprintf("1 to %d, the layers of the model", max(1, layers)), "")
	}
	if tp < 1 {
		return
	}
	if req.Profile != "" && tp*pp > 1 {
		r.add("tensor_parallel_size", fmt.Sprintf("%d x pipeline_parallel_size %d", tp, pp),
			"1 x 1: a CUDA process sees one MIG slice only, and slices cannot reach one another (https://docs.nvidia.com/datacenter/tesla/mig-user-guide/)", "leave GPUs whole, or take a larger profile")
	} else if dev.perVM > 0 && tp > dev.perVM {
		r.add("tensor_parallel_size", strconv.Itoa(tp), fmt.Sprintf("at most %d, the GPUs of a %s; ranks exchange every layer's result and belong on one VM", dev.perVM, req.Size.Name), "raise pipeline_parallel_size to span VMs")
	}
	if why := m.undivided(tp); why != "" {
		r.add("tensor_parallel_size", strconv.Itoa(tp), why, "")
	}
}

// undivided says why the heads of a model cannot be divided among ranks, "" when
// they can. With fewer heads of keys and values than ranks, each is copied to
// the same number of ranks.
func (m Model) undivided(tensorParallel int) string {
	if m.Heads > 0 && m.Heads%tensorParallel != 0 {
		return fmt.Sprintf("a divisor of %d, the attention heads of %s", m.Heads, m.Name)
	}
	for _, l := range m.Layers {
		if l.KVHeads > 0 && l.KVHeads%tensorParallel != 0 && tensorParallel%l.KVHeads != 0 {
			return fmt.Sprintf("a divisor or a multiple of %d, the heads of keys and values of %s", l.KVHeads, m.Name)
		}
	}
	return ""
}

// checkBatches refuses batches that vLLM's scheduler refuses.
func (req Request) checkBatches(r *report) {
	e := req.Engine
	switch limit := req.Model.MaxContext; {
	case limit > 0 && (e.MaxModelLen < 1 || e.MaxModelLen > limit):
		r.add("max_model_len", strconv.Itoa(e.MaxModelLen), fmt.Sprintf("1 to %d tokens, max_position_embeddings of %s", limit, req.Model.Name), "")
	case e.MaxModelLen < 1:
		r.add("max_model_len", strconv.Itoa(e.MaxModelLen), "1 or more tokens", "")
	}
	if e.MaxNumSeqs < 1 {
		r.add("max_num_seqs", strconv.Itoa(e.MaxNumSeqs), "1 or more requests", "")
	}
	switch {
	case e.MaxNumBatchedTokens < 1:
		r.add("max_num_batched_tokens", strconv.Itoa(e.MaxNumBatchedTokens), "1 or more tokens", "")
	case e.MaxNumBatchedTokens < e.MaxNumSeqs:
		r.add("max_num_batched_tokens", strconv.Itoa(e.MaxNumBatchedTokens), fmt.Sprintf("at least max_num_seqs, %d: each request adds a token per step", e.MaxNumSeqs), "")
	case e.NoChunkedPrefill && e.MaxNumBatchedTokens < e.MaxModelLen:
		r.add("max_num_batched_tokens", strconv.Itoa(e.MaxNumBatchedTokens), fmt.Sprintf("at least max_model_len, %d: without chunked prefill a prompt must fit one step", e.MaxModelLen), "leave enable_chunked_prefill on")
	}
	switch {
	case req.Concurrency < 1:
		r.add("concurrency", strconv.Itoa(req.Concurrency), "1 or more requests", "")
	case e.MaxNumSeqs > 0 && req.Concurrency > e.MaxNumSeqs:
		r.add("concurrency", strconv.Itoa(req.Concurrency), fmt.Sprintf("at most max_num_seqs, %d: more requests wait", e.MaxNumSeqs), "raise max_num_seqs, which costs activation memory")
	}
}

// checkMemory refuses values of the arguments about memory itself.
func (req Request) checkMemory(r *report) {
	e := req.Engine
	if e.GPUMemoryUtilization <= 0 || e.GPUMemoryUtilization > 1 {
		r.add("gpu_memory_utilization", fmt.Sprint(e.GPUMemoryUtilization), "more than 0 and at most 1", "")
	}
	if e.KVCacheMemoryBytes < 0 {
		r.add("kv_cache_memory_bytes", strconv.FormatInt(e.KVCacheMemoryBytes, 10), "0 or more bytes", "")
	}
	if e.BlockSize < 1 {
		r.add("block_size", strconv.Itoa(e.BlockSize), "1 or more tokens", "")
	}
	if e.SwapSpace != 0 {
		r.add("swap_space", fmt.Sprint(e.SwapSpace), "0: vLLM has no swapping since its V1 engine", "use kv_offloading_size for memory of the host")
	}
	if n, err := minor(e.Version); err != nil || n < oldestMinor {
		r.add("vllm", quote(e.Version), fmt.Sprintf("a version from 0.%d.0 on; overheads of earlier engines are not known here", oldestMinor), "")
	}
}

// checkDraft refuses a draft model that vLLM refuses.
func (req Request) checkDraft(r *report) {
	d := req.Engine.Draft
	if d == nil {
		return
	}
	before := len(r.list)
	d.Model.check(r)
	for i := range r.list[before:] {
		r.list[before+i].Key = "speculative_config." + r.list[before+i].Key
	}
	if d.Tokens < 1 {
		r.add("speculative_config.num_speculative_tokens", strconv.Itoa(d.Tokens), "1 or more tokens", "")
	}
	if tp := req.Engine.TensorParallel; d.TensorParallel != 1 && d.TensorParallel != tp {
		r.add("speculative_config.draft_tensor_parallel_size", strconv.Itoa(d.TensorParallel), "1, or tensor_parallel_size of the model itself", "")
	}
}

// capability writes a compute capability.
func capability(tenfold int) string { return fmt.Sprintf("%d.%d", tenfold/10, tenfold%10) }
