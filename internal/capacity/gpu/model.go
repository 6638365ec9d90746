// Package gpu plans the memory of vLLM on Azure's GPUs: whether a model with a
// context length fits a VM size or a MIG slice, how many tokens its KV cache
// holds, how many requests that is, and what to change when it does not fit.
// It owns the facts of models and of GPU memory and the arithmetic of vLLM's
// start-up check. VM sizes and MIG profiles are those of internal/az/aks.
//
// Everything is pure and per GPU. GiB is 2^30 bytes; a GPU is one CUDA device,
// so under MIG one slice. What vLLM measures when it starts (activations, CUDA
// graphs, NCCL) is predicted from published logs, see overhead.go, so a plan
// has three verdicts. Not modelled, and refused or left out: AMD GPUs, vGPU
// shares, encoder-decoder and state-space models, LoRA adapters, data and
// expert parallelism, offloading to the host.
package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

const gib = 1 << 30

// Model is what decides how much memory a model takes: figures of its
// config.json and the size of its checkpoint.
type Model struct {
	Name       string  `json:"name"`                 // on Hugging Face, as in "example/model-7b"
	Params     float64 `json:"params"`               // billions, with all experts
	Active     float64 `json:"active,omitempty"`     // billions that one token passes; 0: all, a dense model
	Format     Format  `json:"format"`               // of the checkpoint
	Weights    float64 `json:"weights,omitempty"`    // GiB of the checkpoint in memory; 0: follows from Params and Format
	Hidden     int     `json:"hidden"`               // hidden_size
	FFN        int     `json:"ffn"`                  // intermediate size, of all experts that one token passes
	Heads      int     `json:"heads"`                // num_attention_heads
	Vocab      int     `json:"vocab"`                // vocab_size
	Tied       bool    `json:"tied,omitempty"`       // tie_word_embeddings: the output head is the input embedding
	MaxContext int     `json:"maxContext"`           // max_position_embeddings, tokens
	Layers     []Layer `json:"layers"`               // one entry per kind of attention
	Images     bool    `json:"images,omitempty"`     // takes images
	VisionPeak float64 `json:"visionPeak,omitempty"` // GiB: activation peak with images of the largest size, where it is known
	Source     string  `json:"source,omitempty"`     // where the figures come from, as in "config.json of 2026-11-01"
}

// Layer is a kind of attention layer and how many of them a model has.
type Layer struct {
	Count   int `json:"count"`
	KVHeads int `json:"kvHeads,omitempty"` // num_key_value_heads; 0 with Latent
	HeadDim int `json:"headDim,omitempty"` // head_dim, which is not always hidden / heads; 0 with Latent
	Window  int `json:"window,omitempty"`  // sliding_window in tokens; 0: attends to the whole context
	Latent  int `json:"latent,omitempty"`  // MLA: kv_lora_rank + qk_rope_head_dim; 0: keys and values per head
}

// layerCount is how many layers the model has.
func (m Model) layerCount() int {
	n := 0
	for _, l := range m.Layers {
		n += l.Count
	}
	return n
}

// moe tells whether a token passes only a part of the model.
func (m Model) moe() bool { return m.Active > 0 && m.Active < m.Params }

// active is how many billions of parameters one token passes.
func (m Model) active() float64 { return cmp.Or(m.Active, m.Params) }

// weightBytes is the model in memory when its weights have the format f. The
// embeddings and the head stay in 16 bits. Without a measured size:
// https://docs.vllm.ai/en/latest/features/quantization/
func (m Model) weightBytes(f Format) float64 {
	if m.Weights > 0 && formats[f].bytes == formats[m.Format].bytes {
		return m.Weights * gib
	}
	embeddings := float64(m.Vocab) * float64(m.Hidden)
	if !m.Tied {
		embeddings *= 2
	}
	params := m.Params * 1e9
	return embeddings*2 + (params-embeddings)*formats[f].bytes
}

// check finds what a model of the caller's own lacks. One that is nothing but a
// name is not known.
func (m Model) check(r *report) {
	if m.Params == 0 && m.MaxContext == 0 && len(m.Layers) == 0 {
		r.add("model", quote(m.Name), "a model that is known here, nearest is "+NearestModel(m.Name), "give the figures of its config.json, or take one of: "+strings.Join(names(), ", "))
		return
	}
	for _, figure := range []struct {
		key   string
		value float64
	}{
		{"params", m.Params}, {"hidden", float64(m.Hidden)}, {"ffn", float64(m.FFN)}, {"heads", float64(m.Heads)},
		{"vocab", float64(m.Vocab)}, {"maxContext", float64(m.MaxContext)},
	} {
		if figure.value <= 0 {
			r.add("model."+figure.key, fmt.Sprint(figure.value), "more than 0, as in the model's config.json", "")
		}
	}
	if m.Active < 0 || m.Active > m.Params {
		r.add("model.active", fmt.Sprint(m.Active), fmt.Sprintf("0 to params, %g", m.Params), "")
	}
	if m.Weights < 0 || m.VisionPeak < 0 {
		r.add("model.weights", fmt.Sprintf("%g, visionPeak %g", m.Weights, m.VisionPeak), "0 or more GiB", "")
	}
	if _, known := formats[m.Format]; !known {
		r.add("model.format", quote(m.Format), choice(Formats), "")
	}
	if len(m.Layers) == 0 {
		r.add("model.layers", "none", "at least one kind of attention layer", "")
	}
	for i, l := range m.Layers {
		heads := l.KVHeads > 0 && l.HeadDim > 0 && l.Latent == 0
		latent := l.KVHeads == 0 && l.HeadDim == 0 && l.Latent > 0
		if l.Count < 1 || l.Window < 0 || !heads && !latent {
			r.add(fmt.Sprintf("model.layers[%d]", i), fmt.Sprintf("%+v", l), "count above 0, window 0 or more, and either kvHeads and headDim or latent (MLA) above 0", "")
		}
	}
}

// Models are the known models, by name.
func Models() []Model {
	return slices.SortedFunc(slices.Values(models), func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
}

// names are the names of the known models.
func names() []string {
	var all []string
	for _, m := range Models() {
		all = append(all, m.Name)
	}
	return all
}

// LookupModel is the known model called name, with or without its owner and in
// any case.
func LookupModel(name string) (Model, bool) {
	i := slices.IndexFunc(models, func(m Model) bool {
		return strings.EqualFold(m.Name, name) || strings.EqualFold(short(m.Name), name)
	})
	if i < 0 {
		return Model{}, false
	}
	return models[i], true
}

// NearestModel is the known model whose name is most like name, the first by
// name of equally near ones.
func NearestModel(name string) string {
	all := Models()
	return slices.MinFunc(all, func(a, b Model) int {
		return cmp.Compare(distance(name, a.Name), distance(name, b.Name))
	}).Name
}

func distance(a, b string) int {
	return levenshtein.Distance(strings.ToLower(short(a)), strings.ToLower(short(b)), nil)
}

// short is a model's name without its owner.
func short(name string) string { return name[strings.LastIndex(name, "/")+1:] }
