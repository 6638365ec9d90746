package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	"onedoor/internal/az/aks"
	"onedoor/internal/capacity/gpu"
)

// gpuFlags are what plan-gpu takes. The engine's have the names that vLLM gives
// them, but for context, which is max_model_len.
type gpuFlags struct {
	model, vm, mig string
	concurrency    int
	engine         gpu.Engine
	prices         map[string]string // size -> USD per hour
	json           bool
}

// planGPU answers whether a model fits a VM size, or which sizes it fits.
func (at screen) planGPU() *cobra.Command {
	var f gpuFlags
	c := &cobra.Command{
		Use:   "plan-gpu",
		Short: "Tell whether a model fits a GPU size, or rank the sizes that it fits",
		Long: "plan-gpu predicts the memory of vLLM on one GPU or MIG slice: weights, activations,\n" +
			"KV cache, and how many requests with a full context that is. It contacts nothing.\n" +
			"It ends with 0 when the model fits (also marginally) and with 1 when it does not.",
		Example: "  onedoor plan-gpu --model Llama-3.1-8B-Instruct --vm Standard_NC24ads_A100_v4 --mig MIG3g --context 16384 --concurrency 4\n" +
			"  onedoor plan-gpu --model gpt-oss-120b --context 32768\n" +
			"  onedoor plan-gpu --model my-model.json --vm Standard_ND96isr_H200_v5 --context 8192 --json",
		Args: noArguments("name the model with --model"),
		RunE: func(*cobra.Command, []string) error {
			request, prices, err := f.request(at.dir)
			if f.vm == "" {
				return at.rankGPU(f.json, request, prices, err)
			}
			return at.judgeGPU(f.json, request, err)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "name of a model on Hugging Face, or a .json file with the figures of its config.json")
	flags.StringVar(&f.vm, "vm", "", "VM size; without it, all sizes are ranked")
	flags.StringVar(&f.mig, "mig", "", "MIG profile, AKS's name or NVIDIA's (MIG3g, 3g.40gb); without it, whole GPUs")
	flags.IntVar(&f.concurrency, "concurrency", 1, "requests with a full context at the same time")
	flags.StringToStringVar(&f.prices, "price", nil, "SIZE=USD per hour, over the list prices")
	flags.BoolVar(&f.json, "json", false, "print the plan for machines")
	e := &f.engine
	flags.IntVar(&e.MaxModelLen, "context", 0, "tokens of prompt and answer together (max_model_len)")
	flags.StringVar(&e.Version, "vllm", "", "version of vLLM (default: the newest that is known)")
	flags.Float64Var(&e.GPUMemoryUtilization, "gpu-memory-utilization", 0.9, "share of the GPU's memory that vLLM may use")
	flags.Int64Var(&e.KVCacheMemoryBytes, "kv-cache-memory-bytes", 0, "KV cache per GPU; replaces the utilization")
	flags.IntVar(&e.BlockSize, "block-size", 16, "tokens per block of the KV cache")
	flags.IntVar(&e.TensorParallel, "tensor-parallel-size", 0, "GPUs that share each layer (default: the fewest that fit)")
	flags.IntVar(&e.PipelineParallel, "pipeline-parallel-size", 1, "groups of GPUs that share the layers")
	flags.StringVar((*string)(&e.Quantization), "quantization", "", "format of the weights (default: of the checkpoint)")
	flags.StringVar((*string)(&e.KVCacheDtype), "kv-cache-dtype", "auto", "type of the numbers in the KV cache")
	flags.IntVar(&e.MaxNumSeqs, "max-num-seqs", 0, "requests in one step (default: vLLM's for the GPU)")
	flags.IntVar(&e.MaxNumBatchedTokens, "max-num-batched-tokens", 0, "tokens in one step (default: vLLM's for the GPU)")
	flags.BoolVar(&e.EnforceEager, "enforce-eager", false, "run without CUDA graphs")
	return c
}

// request is what the flags ask for, as far as they can be read. The error joins
// problems of the flags themselves; names that are not known are left to the
// planner, which finds the nearest.
func (f gpuFlags) request(dir string) (gpu.Request, gpu.Prices, error) {
	request := gpu.Request{Profile: aks.Profile(f.mig), Engine: f.engine, Concurrency: f.concurrency}
	var problems []error
	model, err := findModel(dir, f.model)
	if err != nil {
		problems = append(problems, err)
	}
	request.Model = model
	size, known := aks.Lookup(f.vm)
	if !known {
		size.Name = f.vm
	}
	request.Size = size
	if f.vm == "" && f.mig != "" {
		problems = append(problems, gpu.Problem{Key: "mig", Got: strconv.Quote(f.mig), Want: "a VM size with it: what a profile is depends on the card", Fix: "name the size with --vm, or leave --mig out: the ranking has all profiles"})
	}
	given, err := f.givenPrices()
	return request, gpu.ListPrices().With(given), errors.Join(append(problems, err)...)
}

// givenPrices are the prices of --price.
func (f gpuFlags) givenPrices() (map[string]float64, error) {
	given := map[string]float64{}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(f.prices)) {
		price, err := strconv.ParseFloat(f.prices[name], 64)
		size, known := aks.Lookup(name)
		if err != nil || !(price > 0) || !known {
			problems = append(problems, gpu.Problem{Key: "price", Got: name + "=" + f.prices[name], Want: "a known VM size and more than 0 USD per hour, such as Standard_NC24ads_A100_v4=3.67"})
		}
		given[size.Name] = price
	}
	return given, errors.Join(problems...)
}

// findModel is the model that word names. One that is not known has a name only.
func findModel(dir, word string) (gpu.Model, error) {
	if filepath.Ext(word) != ".json" {
		model, known := gpu.LookupModel(word)
		if !known {
			model.Name = word
		}
		return model, nil
	}
	path := word
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, word)
	}
	var model gpu.Model
	raw, err := os.ReadFile(path)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&model)
	}
	if err != nil {
		return gpu.Model{Name: word}, gpu.Problem{Key: "model", Got: strconv.Quote(word), Want: "a file with the figures of a model: " + err.Error()}
	}
	return model, nil
}

// judgeGPU prints the plan of one size.
func (at screen) judgeGPU(asJSON bool, request gpu.Request, problems error) error {
	plan, err := gpu.Make(request)
	if err := merge(problems, err); err != nil {
		return at.refuseGPU(asJSON, err)
	}
	var end error
	if plan.Verdict == gpu.NoFit {
		end = usageError{fmt.Errorf("%s does not fit the %s of %s", plan.Model, plan.GPU, plan.VM)}
	}
	if asJSON {
		return errors.Join(end, embedded.Encode(at.stdout, plan))
	}
	printPlan(at.stdout, plan)
	return end
}

// ranking is what plan-gpu prints without a size.
type ranking struct {
	Model       string       `json:"model"`
	Context     int          `json:"context"`
	Concurrency int          `json:"concurrency"`
	Prices      string       `json:"prices"` // where they are from
	Options     []gpu.Option `json:"options"`
}

// rankGPU prints all sizes that the model fits.
func (at screen) rankGPU(asJSON bool, request gpu.Request, prices gpu.Prices, problems error) error {
	request.Profile = ""
	options, err := gpu.Rank(request, prices)
	if err := merge(problems, err); err != nil {
		return at.refuseGPU(asJSON, err)
	}
	r := ranking{request.Model.Name, request.Engine.MaxModelLen, request.Concurrency, prices.Source, options}
	var end error
	if len(options) == 0 {
		end = usageError{fmt.Errorf("%s fits no known size with a context of %d tokens and %d at the same time", r.Model, r.Context, r.Concurrency)}
	}
	if asJSON {
		return errors.Join(end, embedded.Encode(at.stdout, r))
	}
	if end == nil {
		printRanking(at.stdout, r)
	}
	return end
}

// merge joins problems of the flags with those of the planner, by the flag that
// each is about, and without the planner's about a model that could not be read.
func merge(flags, planner error) error {
	var all []gpu.Problem
	said := map[string]bool{}
	for _, p := range gpu.Problems(flags) {
		said[p.Key] = true
		all = append(all, p)
	}
	for _, p := range gpu.Problems(planner) {
		if !said[p.Key] {
			all = append(all, p)
		}
	}
	for i := range all {
		all[i].Key = flagOf(all[i].Key)
	}
	slices.SortStableFunc(all, func(a, b gpu.Problem) int { return strings.Compare(a.Key, b.Key) })
	joined := make([]error, len(all))
	for i, p := range all {
		joined[i] = p
	}
	return errors.Join(joined...)
}

// refuseGPU reports problems.
func (at screen) refuseGPU(asJSON bool, problems error) error {
	if asJSON {
		return errors.Join(usageError{problems}, embedded.Encode(at.stdout, map[string]any{"problems": gpu.Problems(problems)}))
	}
	return usageError{problems}
}

// flagOf is the flag that sets what a problem is about. Keys of a model's file
// are left as they are.
func flagOf(key string) string {
	switch {
	case key == "max_model_len":
		return "--context"
	case strings.Contains(key, "."):
		return key
	default:
		return "--" + strings.ReplaceAll(key, "_", "-")
	}
}

// printPlan writes a plan for a person.
func printPlan(w io.Writer, p gpu.Plan) {
	fmt.Fprintf(w, "%s: %s on the %s of %s, vLLM %s\n\n", p.Verdict, p.Model, p.GPU, p.VM, p.VLLM)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"weights", gibOf(p.WeightsGiB) + " per GPU"},
		{"activations", gibOf(p.ActivationGiB)},
		{"outside PyTorch", gibOf(p.NonTorchGiB)},
		{"CUDA graphs", gibOf(p.GraphsGiB)},
		{"KV cache", fmt.Sprintf("%s, %d tokens of %d bytes", gibOf(p.KVCacheGiB), p.KVCacheTokens, p.KVBytes)},
		{"wanted of it", gibOf(p.KVNeededGiB)},
		{"at the same time", fmt.Sprintf("%.2f requests with a full context", p.MaxConcurrency)},
		{"longest context", fmt.Sprintf("%d tokens with this concurrency", p.MaxContext)},
		{"GPUs", fmt.Sprintf("tensor parallel %d, pipeline parallel %d, VMs %d", p.TensorParallel, p.PipelineParallel, p.VMs)},
	} {
		fmt.Fprintf(table, "  %s\t%s\n", row[0], row[1])
	}
	table.Flush()
	printLines(w, "How", p.Arithmetic)
	printLines(w, "Note", p.Warnings)
	var changes []string
	for _, s := range p.Suggestions {
		changes = append(changes, fmt.Sprintf("%s: %d tokens, %.2f requests", s.Change, s.Then.KVCacheTokens, s.Then.MaxConcurrency))
	}
	printLines(w, "Would fit", changes)
}

// printRanking writes the ranking for a person.
func printRanking(w io.Writer, r ranking) {
	fmt.Fprintf(w, "%s, context %d tokens, at least %d at the same time\n\n", r.Model, r.Context, r.Concurrency)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  SIZE\tMIG\tVERDICT\tTP\tREPLICAS\tREQUESTS\tTOKENS/S\tUSD/H\tUSD/M TOKENS")
	for _, o := range r.Options {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%d\t%d\t%.2f\t%.0f\t%s\t%s\n", o.VM, orDash(string(o.MIG)), o.Verdict, o.TensorParallel, o.Replicas, o.MaxConcurrency, o.TokensPerSecond, usd(o.USDPerHour), usd(o.USDPerMillion))
	}
	table.Flush()
	fmt.Fprintf(w, "\nREQUESTS are per replica, TOKENS/S per VM: an upper bound for generation at full load with full contexts,\n"+
		"from memory bandwidth alone; prompts cost extra. Prices: %s.\nA dash is a price that is not known; give it with --price SIZE=USD.\n", r.Prices)
}

func printLines(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for _, line := range lines {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

func gibOf(g float64) string { return fmt.Sprintf("%.2f GiB", g) }

// usd writes a price, a dash for one that is not known.
func usd(price float64) string {
	if price == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", price)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
