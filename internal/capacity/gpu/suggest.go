package gpu

import (
	"cmp"
	"fmt"
	"slices"

	"onedoor/internal/az/aks"
)

// Suggestion is one change that makes a request a fit.
type Suggestion struct {
	Change string `json:"change"`
	Then   Effect `json:"then"`
}

// Effect is what a changed request would have.
type Effect struct {
	VM             string      `json:"vm"`
	MIG            aks.Profile `json:"mig,omitempty"`
	TensorParallel int         `json:"tensorParallel"`
	KVCacheTokens  int         `json:"kvCacheTokens"`
	MaxConcurrency float64     `json:"maxConcurrency"`
}

// maxSuggestions is as many as a person compares.
const maxSuggestions = 3

// A change is a way to change a request.
type change struct {
	text string
	req  Request
}

// suggest is the nearest changes, each alone, that make the request a fit. Those
// come first that cost nothing but a setting, then those that need more of the
// same VM, then those that ask less of the model: one of each. Other VMs fill up
// what is missing.
func (req Request) suggest() []Suggestion {
	kinds := [][]change{req.fewerSeqs(), req.moreRanks(), req.largerSlice(), req.smallerCache(), req.shorter(), req.fewer(), req.smallerWeights()}
	all := []Suggestion{}
	add := func(changes []change, limit int) {
		for _, c := range changes {
			if limit == 0 || len(all) == maxSuggestions {
				return
			}
			if effect, fits := c.req.effect(); fits {
				all = append(all, Suggestion{c.text, effect})
				limit--
			}
		}
	}
	for _, changes := range kinds {
		add(changes, 1)
	}
	add(req.otherSize(), maxSuggestions)
	return all
}

// effect is what a changed request would have, and whether it is legal and fits.
func (req Request) effect() (Effect, bool) {
	dev, usable := deviceOf(req.Size, req.Profile)
	if !usable || req.check(dev) != nil {
		return Effect{}, false
	}
	_, p := req.settle(dev)
	p = p.rounded()
	return Effect{p.VM, p.MIG, p.TensorParallel, p.KVCacheTokens, p.MaxConcurrency}, p.Verdict == Fit
}

// fewerSeqs lowers max_num_seqs, and so what the sampler takes.
func (req Request) fewerSeqs() []change {
	var all []change
	for n := 512; n >= 32; n /= 2 {
		if n < req.Engine.MaxNumSeqs {
			to := req
			to.Engine.MaxNumSeqs = n
			all = append(all, change{fmt.Sprintf("lower max_num_seqs from %d to %d", req.Engine.MaxNumSeqs, n), to})
		}
	}
	return all
}

// moreRanks divides the model among more GPUs of the VM.
func (req Request) moreRanks() []change {
	dev, _ := deviceOf(req.Size, req.Profile)
	var all []change
	for _, tp := range req.degrees(dev) {
		if tp > req.Engine.TensorParallel {
			to := req
			to.Engine.TensorParallel = tp
			all = append(all, change{fmt.Sprintf("raise tensor_parallel_size from %d to %d", req.Engine.TensorParallel, tp), to})
		}
	}
	return all
}

// largerSlice takes a larger MIG profile, at last whole GPUs.
func (req Request) largerSlice() []change {
	if req.Profile == "" {
		return nil
	}
	var all []change
	for _, profile := range aks.Profiles[slices.Index(aks.Profiles, req.Profile)+1:] {
		to := req
		to.Profile = profile
		all = append(all, change{fmt.Sprintf("take MIG profile %s instead of %s", profile, req.Profile), to})
	}
	to := req
	to.Profile, to.Engine.TensorParallel = "", 0
	return append(all, change{"leave the GPUs whole", to})
}

// smallerCache stores the KV cache in 8 bits where the GPU computes with them.
func (req Request) smallerCache() []change {
	dev, _ := deviceOf(req.Size, req.Profile)
	if req.Engine.KVCacheDtype.element() == 1 || dev.capability < formats[FP8].native {
		return nil
	}
	to := req
	to.Engine.KVCacheDtype = KVFP8
	return []change{{"set kv_cache_dtype to fp8", to}}
}

// shorter is the longest context that fits, when it is at least an eighth of the
// wanted one.
func (req Request) shorter() []change {
	dev, _ := deviceOf(req.Size, req.Profile)
	longest := req.longest(dev)
	if longest < req.Engine.MaxModelLen/8 || longest >= req.Engine.MaxModelLen {
		return nil
	}
	to := req
	to.Engine.MaxModelLen = longest
	return []change{{fmt.Sprintf("lower max_model_len from %d to %d", req.Engine.MaxModelLen, longest), to}}
}

// fewer is as many requests at the same time as fit.
func (req Request) fewer() []change {
	var all []change
	for n := req.Concurrency - 1; n >= 1; n-- {
		to := req
		to.Concurrency = n
		all = append(all, change{fmt.Sprintf("lower the concurrency from %d to %d", req.Concurrency, n), to})
	}
	return all
}

// smallerWeights are formats with fewer bits that the GPU computes with.
func (req Request) smallerWeights() []change {
	dev, _ := deviceOf(req.Size, req.Profile)
	var all []change
	for _, f := range []Format{FP8, Int8, AWQ} {
		if formats[f].bytes < formats[req.Engine.Quantization].bytes && dev.capability >= formats[f].native {
			to := req
			to.Engine.Quantization = f
			all = append(all, change{fmt.Sprintf("take a checkpoint with quantization %s instead of %s", f, req.Engine.Quantization), to})
		}
	}
	return all
}

// otherSize are the other sizes with whole GPUs, those with the least memory of
// all GPUs together first.
func (req Request) otherSize() []change {
	var all []change
	for _, size := range aks.Sizes() {
		if size.Name == req.Size.Name {
			continue
		}
		to := req
		to.Size, to.Profile, to.Engine.TensorParallel = size, "", 0
		all = append(all, change{"take " + size.Name, to})
	}
	slices.SortStableFunc(all, func(a, b change) int {
		return cmp.Or(
			cmp.Compare(a.req.Size.GPU.Count*a.req.Size.GPU.MemoryGB, b.req.Size.GPU.Count*b.req.Size.GPU.MemoryGB),
			cmp.Compare(a.req.Size.MemoryGB, b.req.Size.MemoryGB),
		)
	})
	return all
}
