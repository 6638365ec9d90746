package gpu

import "math"

// cache is how vLLM divides the memory of a GPU's KV cache into blocks. Layers
// of one kind (whole context, or a window) form groups of equal size, and a
// block holds BlockSize tokens of one group.
// https://github.com/vllm-project/vllm, vllm/v1/core/kv_cache_utils.py
type cache struct {
	block     int // tokens
	pageBytes int // of one block in one layer
	groupSize int // layers
	kinds     []cacheKind
	draft     int // bytes of one block in all layers of a draft model
}

type cacheKind struct {
	groups int
	window int // tokens; 0: whole context
}

// layerBytes is what one token takes in one layer, per GPU. Tensor parallelism
// divides heads among ranks, but each rank has at least one, and the latents of
// MLA are whole on every rank.
func layerBytes(l Layer, tensorParallel int, dtype KVDtype) int {
	if l.Latent > 0 {
		if dtype == KVFP8DeepSeek {
			return dsMLA
		}
		return l.Latent * dtype.element()
	}
	heads := max(1, l.KVHeads/tensorParallel)
	return heads * (2*l.HeadDim*dtype.element() + dtype.scales())
}

// cacheOf lays out the cache of the layers of one pipeline stage.
func cacheOf(layers []Layer, e Engine) cache {
	c := cache{block: e.BlockSize}
	least, most := math.MaxInt, 0
	for _, l := range layers {
		least, most = min(least, l.Count), max(most, l.Count)
		c.pageBytes = max(c.pageBytes, e.BlockSize*layerBytes(l, e.TensorParallel, e.KVCacheDtype))
	}
	c.groupSize = least
	if 4*most < 5*least { // nearly equal kinds are padded to one size
		c.groupSize = most
	}
	for _, l := range layers {
		c.kinds = append(c.kinds, cacheKind{groups: ceil(l.Count, c.groupSize), window: l.Window})
	}
	if d := e.Draft; d != nil {
		for _, l := range d.Model.Layers {
			c.draft += l.Count * e.BlockSize * layerBytes(l, d.TensorParallel, e.KVCacheDtype)
		}
	}
	return c
}

func (c cache) groups() int {
	n := 0
	for _, k := range c.kinds {
		n += k.groups
	}
	return n
}

// blockBytes is one block in all layers of a group.
func (c cache) blockBytes() int { return c.pageBytes*c.groupSize + c.draft }

// tokenBytes is what a token takes as long as no window has passed it.
func (c cache) tokenBytes() int { return c.blockBytes() / c.block * c.groups() }

// blocks is how many blocks fit into memory.
func (c cache) blocks(bytes float64) int { return max(0, int(bytes/float64(c.blockBytes()))) }

// tokens is what vLLM logs as the size of so many blocks.
func (c cache) tokens(blocks int) int { return blocks / c.groups() * c.block }

// perRequest is how many blocks a request with a full context takes. A window
// layer keeps its window and the tokens of the step, rounded up and one more,
// because a window seldom begins with a block.
func (c cache) perRequest(context, batched int) int {
	n := 0
	for _, k := range c.kinds {
		blocks := ceil(context, c.block)
		if k.window > 0 {
			blocks = ceil(min(k.window-1+batched, context), c.block) + 1
		}
		n += k.groups * blocks
	}
	return n
}

// stages are the layers of each pipeline stage. The stages before the last have
// one more where the division leaves a rest, because the last also has the
// output head.
// https://github.com/vllm-project/vllm, vllm/distributed/utils.py, get_pp_indices
func stages(m Model, pipelineParallel int) [][]Layer {
	total := m.layerCount()
	each, rest := total/pipelineParallel, total%pipelineParallel
	var all [][]Layer
	for s := range pipelineParallel {
		n := each
		if s < pipelineParallel-1 && s >= pipelineParallel-1-rest {
			n++
		}
		all = append(all, share(m.Layers, n, total))
	}
	return all
}

// share is n of a model's total layers, its kinds mixed as in the whole.
func share(layers []Layer, n, total int) []Layer {
	var part []Layer
	left := n
	for i, l := range layers {
		l.Count = l.Count * n / total
		if i == len(layers)-1 {
			l.Count = left
		}
		left -= l.Count
		if l.Count > 0 {
			part = append(part, l)
		}
	}
	return part
}

func ceil(a, b int) int { return (a + b - 1) / b }
