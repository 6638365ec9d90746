package gpu

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/aks"
)

var update = flag.Bool("update", false, "write testdata")

// Bytes per token with all heads on one GPU, as published or as follows by hand.
var tokenBytes = map[string]int{
	"Llama-3.1-8B-Instruct": 131072, "Llama-3.1-70B-Instruct": 327680, "Llama-3.3-70B-Instruct": 327680,
	"Qwen2.5-7B-Instruct": 57344, "Qwen2.5-32B-Instruct": 262144, "Qwen2.5-72B-Instruct": 327680, "Qwen2.5-VL-7B-Instruct": 57344, "QwQ-32B": 262144,
	"Qwen3-4B": 147456, "Qwen3-8B": 147456, "Qwen3-8B-AWQ": 147456, "Qwen3-32B": 262144, "Qwen3-30B-A3B": 98304, "Qwen3-235B-A22B-FP8": 192512,
	"Mistral-7B-Instruct-v0.3": 131072, "Mixtral-8x7B-Instruct-v0.1": 131072,
	"Phi-3-mini-128k-instruct": 393216, "Phi-3-medium-128k-instruct": 204800, "phi-4": 204800, "Phi-4-mini-instruct": 131072,
	"gemma-2-9b-it": 344064, "gemma-2-27b-it": 376832, "gemma-3-27b-it": 573440, // 62 layers in 7 groups of 10, so 8 of them are padding
	"gpt-oss-20b": 49152, "gpt-oss-120b": 73728, "DeepSeek-R1": 70272, "DeepSeek-V3": 70272,
}

func TestModelsAreWholeAndDistinct(t *testing.T) {
	t.Parallel()
	assert.Len(t, Models(), len(tokenBytes))
	seen := map[string]bool{}
	for _, m := range Models() {
		r := &report{}
		m.check(r)
		require.NoError(t, r.err(), m.Name)
		assert.False(t, seen[strings.ToLower(short(m.Name))], "%s twice", m.Name)
		seen[strings.ToLower(short(m.Name))] = true
		assert.Regexp(t, `^https://`, m.Source, m.Name)
		cache := cacheOf(m.Layers, Engine{BlockSize: 16, TensorParallel: 1, KVCacheDtype: KVAuto})
		assert.Equal(t, tokenBytes[short(m.Name)], cache.tokenBytes(), m.Name)
		if m.Weights > 0 && m.Format != MXFP4 { // whose attention stays in 16 bits
			bare := m
			bare.Weights = 0
			assert.InEpsilon(t, m.Weights, bare.weightBytes(m.Format)/gib, 0.04, "%s: parameters and size agree", m.Name)
		}
	}
}

func TestModelsAreFoundByAnySpelling(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"openai/gpt-oss-20b", "gpt-oss-20b", "GPT-OSS-20B"} {
		m, ok := LookupModel(name)
		assert.True(t, ok, name)
		assert.Equal(t, "openai/gpt-oss-20b", m.Name)
	}
	_, ok := LookupModel("gpt-oss-21b")
	assert.False(t, ok)
	assert.Equal(t, "openai/gpt-oss-20b", NearestModel("gpt-oss-21b"))
	assert.Equal(t, "meta-llama/Llama-3.1-8B-Instruct", NearestModel("llama-3-8b-instruct"))
}

// All models on all sizes, whole and in slices, with a context of 8192 tokens. A
// line that changes is a verdict that users see change.
func TestTableOfModelsAndSizes(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	fmt.Fprintln(&b, "# verdict, tensor parallel degree, tokens of KV cache; whole GPUs, then MIG1g to MIG7g")
	for _, m := range Models() {
		fmt.Fprintf(&b, "\n%s\n", m.Name)
		for _, size := range aks.Sizes() {
			if size.GPU.Count == 0 {
				continue
			}
			cells := []string{cell(m, size, "")}
			if size.MIG() {
				for _, profile := range aks.Profiles {
					cells = append(cells, cell(m, size, profile))
				}
			}
			fmt.Fprintf(&b, "  %-26s %s\n", size.Name, strings.TrimRight(strings.Join(cells, " | "), " "))
		}
	}
	path := filepath.Join("testdata", "table.txt")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String(), "go test ./internal/capacity/gpu -update, then read the diff")
}

func cell(m Model, size aks.Size, profile aks.Profile) string {
	p, err := Make(Request{Model: m, Size: size, Profile: profile, Engine: Engine{MaxModelLen: 8192}, Concurrency: 1})
	if err != nil {
		key, _, _ := strings.Cut(err.Error(), ":")
		return fmt.Sprintf("%-20s", "refused: "+key)
	}
	if p.Verdict == NoFit {
		return fmt.Sprintf("%-20s", p.Verdict)
	}
	return fmt.Sprintf("%-20s", fmt.Sprintf("%s x%d %d", p.Verdict, p.TensorParallel, p.KVCacheTokens))
}
