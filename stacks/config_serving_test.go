package stacks

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/netplan"
	"onedoor/internal/routing"
)

// changed are the values of a stack with another one at path.
func changed(t *testing.T, stack, path string, value any) map[string]string {
	t.Helper()
	out := values(t, stack)
	set(t, out, path, value)
	return out
}

// unserved takes the models that the cluster serves, and what names them, out of a
// stack.
func unserved(t *testing.T, v map[string]string) {
	t.Helper()
	delete(v, "serving")
	set(t, v, "models.open", nil)
	set(t, v, "plans.full.aliases", []string{"chat", "small", "reason", "embed"})
}

// served is prod's 8B with another value for one field.
func served(field string, value any) map[string]any {
	out := map[string]any{"model": "meta-llama/Llama-3.1-8B-Instruct", "pool": "a100", "context": 16384, "concurrency": 4, "replicas": map[string]any{"min": 1, "max": 4}}
	out[field] = value
	return out
}

func TestServedModelsAreChecked(t *testing.T) {
	t.Parallel()
	const key = "onedoor:serving.models.llama-8b"
	for name, c := range map[string]struct {
		field string
		value any
		want  string // "" is legal
	}{
		"AsItIs":           {"targetRequests", 16, ""},
		"UnknownModel":     {"model", "meta-llama/Llama-9-8B", key + `.model: got "meta-llama/Llama-9-8B", want a model that is known here, nearest is Qwen/Qwen3-8B; give the figures of its config.json`},
		"FactsOfItsOwn":    {"facts", map[string]any{"params": 8.03, "format": "bfloat16", "hidden": 4096, "ffn": 14336, "heads": 32, "vocab": 128256, "maxContext": 131072, "layers": []any{map[string]any{"count": 32, "kvHeads": 8, "headDim": 128}}}, ""},
		"HalfTheFacts":     {"facts", map[string]any{"params": 8.03, "layers": []any{map[string]any{"count": 32, "kvHeads": 8, "headDim": 128}}}, key + ".facts.ffn: got 0, want more than 0"},
		"ContextTooLong":   {"context", 131073, key + ".context: got 131073, want 1 to 131072 tokens, max_position_embeddings of meta-llama/Llama-3.1-8B-Instruct"},
		"LongestContext":   {"context", 32768, ""},
		"TooManyAtOnce":    {"concurrency", 12, key + `.model: got "meta-llama/Llama-3.1-8B-Instruct", want a model that fits A100-80GB 3g.40gb of pool a100: reserved: 39.25 GiB`},
		"PoolUnknown":      {"pool", "a10", key + `.pool: got "a10", want a kind of GPU node below onedoor:cluster.pools.gpu, nearest is "a100"`},
		"TwoSlices":        {"tensorParallel", 2, key + ".tensorParallel: got 2 x pipeline_parallel_size 1, want 1 x 1: a CUDA process sees one MIG slice only"},
		"MoreThanThePool":  {"replicas", map[string]any{"min": 1, "max": 5}, "onedoor:cluster.pools.gpu.a100.maxNodes: got 4, want at least 5 nodes for the models of serving.models (llama-8b: 5 replicas x 1 pods x 2 while a change is rolled out = 10 pods of 1 nvidia.com/gpu, 2 on a node = 5 nodes)"},
		"AsMuchAsThePool":  {"replicas", map[string]any{"min": 0, "max": 4}, ""},
		"NoReplica":        {"replicas", map[string]any{"min": 0, "max": 0}, key + ".replicas.max: got 0, want 1 to 100 replicas"},
		"LeastAboveMost":   {"replicas", map[string]any{"min": 3, "max": 2}, key + ".replicas.min: got 3, want 0 to 2 replicas"},
		"PrefillOnSlices":  {"prefill", map[string]any{"min": 1, "max": 1}, key + ".prefill: got 1, want none on slices"},
		"PrefillMayVanish": {"prefill", map[string]any{"min": 0, "max": 1}, key + ".prefill.min: got 0, want 1 to 1 replicas"},
		"FormatUnknown":    {"quantization", "fp4", key + `.quantization: got "fp4", want one of bfloat16, float16, fp8, or bfloat16, the checkpoint's`},
		"FormatOnTheFly":   {"quantization", "fp8", ""},
		"FormatOfAnother":  {"quantization", "awq", key + `.quantization: got "awq", want one of bfloat16, float16, fp8`},
		"DraftUnknown":     {"draft", map[string]any{"model": "meta-llama/Tiny", "tokens": 3}, key + ".draft.model: got"},
		"SourceUnknown":    {"source", "s3", key + `.source: got "s3", want one of volume, huggingFace`},
		"UpgradeUnknown":   {"upgrade", "later", key + `.upgrade: got "later", want one of beside, inPlace`},
		"BatchTooSmall":    {"maxRequests", 4096, key + ".maxTokens: got 2048, want at least max_num_seqs, 4096"},
		"PriorityTooHigh":  {"priority", 101, key + ".priority: got 101, want 0 to 100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("prod", changed(t, "prod", "serving.models.llama-8b", served(c.field, c.value)))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A change without a second set of GPUs needs half the nodes.
func TestUpgradesInPlaceNeedHalfTheGPUs(t *testing.T) {
	t.Parallel()
	model := served("replicas", map[string]any{"min": 1, "max": 8})
	_, err := Parse("prod", changed(t, "prod", "serving.models.llama-8b", model))
	require.ErrorContains(t, err, "cluster.pools.gpu.a100.maxNodes: got 4, want at least 8 nodes")
	model["upgrade"] = "inPlace"
	_, err = Parse("prod", changed(t, "prod", "serving.models.llama-8b", model))
	require.NoError(t, err)
}

// Weights that are fetched each time must fit beside the images.
func TestLargeModelsAreNotFetched(t *testing.T) {
	t.Parallel()
	model := served("source", "huggingFace")
	_, err := Parse("prod", changed(t, "prod", "serving.models.llama-8b", model))
	require.NoError(t, err)
	large := map[string]any{"model": "meta-llama/Llama-3.3-70B-Instruct", "pool": "h100", "context": 16384, "concurrency": 4, "maxRequests": 256, "replicas": map[string]any{"min": 1, "max": 2}, "source": "huggingFace"}
	_, err = Parse("prod", changed(t, "prod", "serving.models.llama-70b", large))
	require.ErrorContains(t, err, "serving.models.llama-70b.source: got \"huggingFace\", want volume: weights of 131 GiB are fetched to the node's disk of 128 GB")
}

func TestTheModelsDoorIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ key, value, want string }{
		"NotPinned":     {"serving.digest", "", "serving.digest: got \"\", want the image's digest"},
		"NoAudience":    {"serving.audience", "", "serving.audience: got \"\", want the application id URI"},
		"NoAuthority":   {"serving.authority", "", "this is not one block of CERTIFICATE"},
		"NoCertificate": {"serving.certificate", "a b", `serving.certificate: got "a b", want the name of a secret`},
		"EngineUnknown": {"serving.engine", "triton", `serving.engine: got "triton", want one of kuberay, anyscale`},
		"Anyscale":      {"serving.engine", "anyscale", "serving.models: got 2, want none with engine anyscale"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("prod", changed(t, "prod", c.key, c.value))
			require.ErrorContains(t, err, c.want)
		})
	}
	values := changed(t, "prod", "gateway.mode", string(netplan.Injected))
	_, err := Parse("prod", values)
	require.ErrorContains(t, err, "serving.models: got 2, want none with gateway.mode injected: only the classic tiers keep authorities")
}

func TestHopsNameServedModels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hops []any
		want string
	}{
		"Both":    {[]any{"ray:llama-8b", "ray:llama-70b"}, ""},
		"Unknown": {[]any{"ray:llama-7b"}, `models.open.hops: got "ray:llama-7b", want the name of a model below onedoor:serving.models, nearest is "ray:llama-70b"`},
		"NoKind":  {[]any{"llama-8b"}, `models.open.hops: got "llama-8b", want ray:<name>`},
		"Twice":   {[]any{"ray:llama-8b", "ray:llama-8b"}, `models.open.hops: got "ray:llama-8b", want each model once`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("prod", changed(t, "prod", "models.open.hops", c.hops))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// The name that the gateway sends is the one that Ray serves, at the path that the
// door routes by; and prompts do not leave the region.
func TestServedModelsAreHopsOfTheGateway(t *testing.T) {
	t.Parallel()
	cfg, err := Parse("prod", values(t, "prod"))
	require.NoError(t, err)
	targets := cfg.routes()["open"].Targets
	require.Len(t, targets, 2)
	assert.Equal(t, routing.Target{
		Backend: "ray_llama-70b", Kind: routing.Ray, Deployment: "llama-70b", URL: "https://serving.prod.onedoor.internal/llama-70b/v1",
		Region: "swedencentral", Residency: routing.Regional, Priority: 1,
	}, targets[0], "by priority")
	assert.Equal(t, "ray_llama-8b", targets[1].Backend)
	assert.Len(t, cfg.routes()["open"].For(routing.Regional, "swedencentral"), 2)
	args := cfg.callers("onedoor-edge")
	assert.Equal(t, []string{"10.48.8.0/27", "10.48.9.128/27"}, texts(args), "the gateway and the live checks")
}

func texts[T interface{ String() string }](list []T) []string {
	var out []string
	for _, v := range list {
		out = append(out, v.String())
	}
	return out
}

func TestAModelThatNobodyCanCallIsWarnedOf(t *testing.T) {
	t.Parallel()
	in := changed(t, "prod", "models.open.hops", []any{"ray:llama-8b"})
	cfg, err := Parse("prod", maps.Clone(in))
	require.NoError(t, err)
	assert.Condition(t, func() bool {
		return strings.Contains(strings.Join(cfg.Warnings, "\n"), "serving.models.llama-70b: no alias lists ray:llama-70b among its hops")
	}, "%v", cfg.Warnings)
}

// What stays to be done by hand is said in every preview.
func TestAnyscaleSaysWhatStaysManual(t *testing.T) {
	t.Parallel()
	v := values(t, "prod")
	unserved(t, v)
	set(t, v, "serving.engine", "anyscale")
	cfg, err := Parse("prod", v)
	require.NoError(t, err)
	said := strings.Join(cfg.Warnings, "\n")
	for _, want := range []string{"no hops of the gateway", "not in swedencentral", "az ad sp create", "anyscale cloud register"} {
		assert.Contains(t, said, want)
	}
	set(t, v, "serving.anyscale.registration", "cldrsrc_abc123")
	cfg, err = Parse("prod", v)
	require.NoError(t, err)
	assert.NotContains(t, strings.Join(cfg.Warnings, "\n"), "anyscale cloud register")
	set(t, v, "serving.anyscale.registration", "abc")
	_, err = Parse("prod", v)
	require.ErrorContains(t, err, "serving.anyscale.registration: got \"abc\", want the id of the cloud resource")
}
