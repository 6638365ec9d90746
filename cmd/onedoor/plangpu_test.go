package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The arguments of a request that fits; a test adds to them or changes one.
func fits(more ...string) []string {
	return append([]string{"plan-gpu", "--model", "Llama-3.1-8B-Instruct", "--vm", "Standard_NC24ads_A100_v4", "--context", "8192"}, more...)
}

func TestPlanGPUEndsWithItsVerdict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more   []string
		code   int
		stdout string
		stderr string
	}{
		"Fit":      {nil, exitOK, "fit: meta-llama/Llama-3.1-8B-Instruct on the A100-80GB of Standard_NC24ads_A100_v4, vLLM 0.26\n", ""},
		"Slice":    {[]string{"--mig", "3g.40gb"}, exitOK, "on the A100-80GB 3g.40gb of", ""},
		"Marginal": {[]string{"--mig", "mig2g", "--context", "4096"}, exitOK, "marginal: ", ""},
		"NoFit":    {[]string{"--mig", "MIG2g"}, exitUser, "\nWould fit\n  take MIG profile MIG3g instead of MIG2g: ", "does not fit the A100-80GB 2g.20gb of Standard_NC24ads_A100_v4"},
		"Older":    {[]string{"--mig", "MIG2g", "--vllm", "0.20.1"}, exitOK, "outside the reservation before vLLM 0.21", ""},
		"Eager":    {[]string{"--enforce-eager"}, exitOK, "CUDA graphs       0.00 GiB", ""},
		"Warned":   {[]string{"--quantization", "fp8"}, exitOK, "\nNote\n  fp8 on compute capability 8.0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := call(t.TempDir(), fits(c.more...)...)
			assert.Equal(t, c.code, code, stderr)
			assert.Contains(t, stdout, c.stdout)
			assert.Contains(t, stderr, c.stderr)
			assert.NotContains(t, stderr, "fault of OneDoor")
		})
	}
}

func TestPlanGPUForMachines(t *testing.T) {
	t.Parallel()
	var plan struct {
		Verdict               string
		KVBytesPerTokenPerGPU int
		KVCacheTokens         int
		MaxConcurrency        float64
		WeightsGiBPerGPU      float64
		Arithmetic            []string
		Warnings              []string
		Suggestions           []struct {
			Change string
			Then   struct{ KVCacheTokens int }
		}
	}
	code, stdout, stderr := call(t.TempDir(), fits("--json")...)
	require.Equal(t, exitOK, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &plan))
	assert.Equal(t, "fit", plan.Verdict)
	assert.Equal(t, 131072, plan.KVBytesPerTokenPerGPU)
	assert.InDelta(t, 14.99, plan.WeightsGiBPerGPU, 0)
	assert.InEpsilon(t, 451_616, plan.KVCacheTokens, 0.02)
	assert.InEpsilon(t, 55.13, plan.MaxConcurrency, 0.02)
	assert.Len(t, plan.Arithmetic, 10)
	assert.Contains(t, stdout, `"suggestions": []`, "a list, also when it is empty")
	assert.Contains(t, stdout, `"warnings": []`)

	code, stdout, _ = call(t.TempDir(), fits("--json", "--mig", "MIG1g")...)
	assert.Equal(t, exitUser, code)
	require.NoError(t, json.Unmarshal([]byte(stdout), &plan), "the plan of what does not fit is a plan")
	assert.Equal(t, "no-fit", plan.Verdict)
	require.Len(t, plan.Suggestions, 3)
	assert.Positive(t, plan.Suggestions[0].Then.KVCacheTokens)
}

// Every problem is told at once, by the flag that mends it, and prints no plan.
func TestPlanGPUTellsAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	args := []string{
		"plan-gpu", "--model", "lama-3.1-8b-instruct", "--vm", "Standard_NC24ads_A100", "--context", "-1", "--concurrency", "0",
		"--quantization", "fp7", "--kv-cache-dtype", "fp4", "--gpu-memory-utilization", "1.5", "--block-size", "-1",
		"--max-num-seqs", "-1", "--vllm", "0.6.0", "--price", "Standard_NC24ads_A100_v4=free",
	}
	want := []string{
		"--block-size: got -1", "--concurrency: got 0", "--context: got -1", "--gpu-memory-utilization: got 1.5", `--kv-cache-dtype: got "fp4"`,
		"--max-num-seqs: got -1", `--model: got "lama-3.1-8b-instruct", want a model that is known here, nearest is meta-llama/Llama-3.1-8B-Instruct`,
		"--price: got Standard_NC24ads_A100_v4=free", `--quantization: got "fp7"`,
		`--vllm: got "0.6.0"`, `--vm: got "Standard_NC24ads_A100", want a size that is known here, nearest is Standard_NC24ads_A100_v4`,
	}
	code, stdout, stderr := call(t.TempDir(), args...)
	assert.Equal(t, exitUser, code)
	assert.Empty(t, stdout)
	at := 0
	for _, problem := range want {
		i := strings.Index(stderr[at:], problem)
		require.GreaterOrEqual(t, i, 0, "%s\nin this order in\n%s", problem, stderr)
		at += i
	}
	assert.NotContains(t, stderr, "fault of OneDoor")

	code, stdout, _ = call(t.TempDir(), append(args, "--json")...)
	assert.Equal(t, exitUser, code)
	var doc struct {
		Problems []struct{ Key, Got, Want, Fix string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &doc))
	require.Len(t, doc.Problems, len(want))
	for i, problem := range doc.Problems {
		assert.True(t, strings.HasPrefix(want[i], problem.Key+": got "+problem.Got), problem.Key)
	}
}

func TestPlanGPUMistakesInFlags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"NoModel":        {[]string{"plan-gpu", "--vm", "Standard_NC24ads_A100_v4", "--context", "1"}, `--model: got ""`},
		"NoContext":      {[]string{"plan-gpu", "--model", "phi-4"}, "--context: got 0, want 1 to 16384 tokens"},
		"WordLeftOver":   {fits("phi-4"), "name the model with --model"},
		"MIGWithoutSize": {[]string{"plan-gpu", "--model", "phi-4", "--context", "1", "--mig", "MIG1g"}, `--mig: got "MIG1g", want a VM size with it`},
		"TwoSlices":      {fits("--mig", "MIG3g", "--tensor-parallel-size", "2"), "a CUDA process sees one MIG slice only"},
		"PriceOfNoSize":  {fits("--price", "Standard_X=1"), "--price: got Standard_X=1, want a known VM size"},
		"PriceOfNothing": {fits("--price", "Standard_NC24ads_A100_v4=0"), "more than 0 USD per hour"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := call(t.TempDir(), c.args...)
			assert.Equal(t, exitUser, code)
			assert.Contains(t, stderr, c.want)
			assert.Empty(t, stdout)
		})
	}
}

func TestPlanGPURanksSizes(t *testing.T) {
	t.Parallel()
	args := []string{"plan-gpu", "--model", "gpt-oss-120b", "--context", "32768"}
	code, stdout, stderr := call(t.TempDir(), args...)
	require.Equal(t, exitOK, code, stderr)
	assert.Regexp(t, `SIZE +MIG +VERDICT +TP +REPLICAS +REQUESTS +TOKENS/S +USD/H +USD/M TOKENS\n  Standard_NC48ads_A100_v4 +- +fit +2 +1 `, stdout, "the cheapest first")
	assert.Regexp(t, `\n  Standard_ND96isr_H200_v5 .* - +-\n`, stdout, "no price is told as none")
	assert.Contains(t, stdout, "an upper bound for generation")
	assert.Contains(t, stdout, "East US, Linux, pay as you go")

	var doc ranking
	code, stdout, stderr = call(t.TempDir(), append(args, "--json", "--price", "Standard_ND96isr_H200_v5=1")...)
	require.Equal(t, exitOK, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &doc))
	assert.Equal(t, "Standard_ND96isr_H200_v5", doc.Options[0].VM, "a price that was given wins")
	assert.Contains(t, doc.Prices, "some given by the caller")

	code, stdout, stderr = call(t.TempDir(), "plan-gpu", "--model", "DeepSeek-R1", "--context", "163840", "--concurrency", "256", "--json")
	assert.Equal(t, exitUser, code)
	assert.Contains(t, stderr, "deepseek-ai/DeepSeek-R1 fits no known size")
	assert.Contains(t, stdout, `"options": []`)
}

// A model of one's own is a file with the figures of its config.json.
func TestPlanGPUReadsAModelOfOnesOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	const good = `{"name": "own/8b", "params": 8.03, "format": "bfloat16", "hidden": 4096, "ffn": 14336, "heads": 32, "vocab": 128256, "maxContext": 8192,
		"layers": [{"count": 32, "kvHeads": 8, "headDim": 128}]}`
	write("good.json", good)
	write("typo.json", strings.Replace(good, `"heads"`, `"haeds"`, 1))
	write("gap.json", strings.Replace(good, `"vocab": 128256,`, "", 1))
	own := func(file string) []string {
		return []string{"plan-gpu", "--model", file, "--vm", "Standard_NC24ads_A100_v4", "--context", "8192"}
	}
	code, stdout, stderr := call(dir, own("good.json")...)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "fit: own/8b on")
	assert.Contains(t, stdout, "14.96 GiB per GPU", "8.03 billion x 2 bytes")
	code, _, _ = call(t.TempDir(), own(filepath.Join(dir, "good.json"))...)
	assert.Equal(t, exitOK, code, "a path from the root")
	for file, want := range map[string]string{
		"typo.json": `unknown field "haeds"`,
		"gap.json":  "model.vocab: got 0, want more than 0",
		"none.json": "no such file",
	} {
		code, stdout, stderr := call(dir, own(file)...)
		assert.Equal(t, exitUser, code, file)
		assert.Contains(t, stderr, want)
		assert.Equal(t, 1, strings.Count(stderr, ": got "), "one problem, told once: %s", stderr)
		assert.Empty(t, stdout)
	}
}

// The page shows a screen and a model's file; both are what a reader will see.
func TestPlanGPUPageShowsTheScreen(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/serving-planner.md")
	require.NoError(t, err)
	page := string(raw)
	block := func(start string) string {
		_, after, found := strings.Cut(page, start)
		require.True(t, found, start)
		text, _, found := strings.Cut(after, "```")
		require.True(t, found)
		return text
	}
	var commands [][]string
	for line := range strings.Lines(block("```sh\nonedoor ")) {
		line, _, _ = strings.Cut(line, "#")
		commands = append(commands, strings.Fields(strings.TrimPrefix(line, "onedoor ")))
	}
	require.Len(t, commands, 3)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "my-model.json"), []byte(block("```json\n")), 0o644))
	screens := make([]string, len(commands))
	for i, args := range commands {
		code, stdout, stderr := call(dir, args...)
		require.Equal(t, exitOK, code, "%s: %s", args, stderr)
		screens[i] = stdout
	}
	assert.Equal(t, "fit: "+block("```\nfit: "), screens[0])
}
