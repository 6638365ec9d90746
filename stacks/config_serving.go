package stacks

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onedoor/components/serving"
	"onedoor/internal/az/aks"
	"onedoor/internal/az/netplan"
	"onedoor/internal/capacity"
	"onedoor/internal/capacity/gpu"
	"onedoor/internal/rayserve"
	"onedoor/internal/routing"
)

// Serving is the root key "serving": open models on the GPUs of the cluster. A stack
// without models serves none.
type Serving struct {
	Engine      ServingEngine          `json:"engine"`
	Audience    string                 `json:"audience"`    // of the Entra tokens that the gateway shows the door of the models
	Certificate string                 `json:"certificate"` // name, in the gateway's vault, of the secret with the door's certificate and key as PEM
	Authority   string                 `json:"authority"`   // certificate, as PEM, of the authority that issued the door's: the gateway trusts it
	Token       string                 `json:"token"`       // name, in the gateway's vault, of the secret with the token of Hugging Face
	Digest      string                 `json:"digest"`      // of the image ray-llm as the registry has it once it is imported, as in "sha256:..."; prod requires it
	Models      map[string]ServedModel `json:"models"`      // by the name that aliases list as "ray:<name>"
	Anyscale    Anyscale               `json:"anyscale"`
}

// ServingEngine is what runs the models.
type ServingEngine string

// The engines.
const (
	EngineKubeRay  ServingEngine = "kuberay"
	EngineAnyscale ServingEngine = "anyscale" // a service of others, which is set up by hand; this stack makes what it needs
)

// ServedModel is one model.
type ServedModel struct {
	Model            string         `json:"model"`            // its name on Hugging Face
	Facts            gpu.Model      `json:"facts"`            // figures of its config.json, where the planner has none
	Pool             string         `json:"pool"`             // the kind of GPU node below cluster.pools.gpu
	Context          int            `json:"context"`          // tokens of a prompt and its answer
	Concurrency      int            `json:"concurrency"`      // requests with a full context that a replica must hold at once
	TensorParallel   int            `json:"tensorParallel"`   // GPUs of one node that share a replica; 0 takes as few as fit
	PipelineParallel int            `json:"pipelineParallel"` // nodes that share a replica; 0 is 1
	Quantization     gpu.Format     `json:"quantization"`     // of the weights; "" is the checkpoint's
	KVCache          gpu.KVDtype    `json:"kvCache"`          // of the cache; "" is auto
	MaxRequests      int            `json:"maxRequests"`      // of one step; 0 is vLLM's default for the GPU
	MaxTokens        int            `json:"maxTokens"`        // of one step; 0 is vLLM's default for the GPU
	WholePrompts     bool           `json:"wholePrompts"`     // a prompt is read in one step instead of in chunks
	Utilization      float64        `json:"utilization"`      // share of the GPU's memory; 0 is 0.9
	Draft            Draft          `json:"draft"`            // a smaller model that guesses ahead
	Replicas         Replicas       `json:"replicas"`
	Prefill          Replicas       `json:"prefill"`        // replicas that read prompts, apart from those that answer; max 0 is none
	TargetRequests   int            `json:"targetRequests"` // at once on a replica; above it there is another one; 0 is the concurrency
	Source           serving.Source `json:"source"`         // of the weights; "" is volume
	Upgrade          Upgrade        `json:"upgrade"`
	Priority         int            `json:"priority"` // 0 to 100: its place among what Azure bills by the token, the lower first; 0 puts it last
}

// Draft is a draft model of speculative decoding.
type Draft struct {
	Model  string `json:"model"`  // its name on Hugging Face, one that the planner knows, as in "Qwen/Qwen3-4B"; "" is none
	Tokens int    `json:"tokens"` // that it guesses ahead
}

// Replicas is how many there are. The autoscaler chooses.
type Replicas struct {
	Min int `json:"min"` // 0 frees the GPUs while nobody calls; the call that wakes them waits for minutes, longer than the gateway does
	Max int `json:"max"` // the pool must have room for as many, and for twice as many where changes are made beside
}

// Upgrade is what a change of a model's pods does.
type Upgrade string

// The ways. The first takes twice the GPUs for a while, the second serves nothing
// while pods are deleted by hand.
const (
	UpgradeBeside  Upgrade = "beside"
	UpgradeInPlace Upgrade = "inPlace"
)

var defaultServing = Serving{Engine: EngineKubeRay, Certificate: "serving-edge", Token: "hugging-face"}

// Limits of served models.
const (
	maxServedName = 40  // a RayService has 47
	maxReplicas   = 100 // of a model
	maxTarget     = 1024
	// What of a node's disk is left for weights that are fetched each time: images of
	// Ray take 25 GB of it.
	fetchedGiB = 80
)

// rayHop is how an alias lists a served model.
const rayHop = "ray:"

// filled is the model with its defaults.
func (m ServedModel) filled() ServedModel {
	if m.Source == "" {
		m.Source = serving.Volume
	}
	if m.Upgrade == "" {
		m.Upgrade = UpgradeBeside
	}
	m.Concurrency, m.PipelineParallel = max(1, m.Concurrency), max(1, m.PipelineParallel)
	if m.TargetRequests == 0 {
		m.TargetRequests = m.Concurrency
	}
	return m
}

// servedModel is the form of a model's name on Hugging Face.
var servedModel = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$`)

// check checks what the key says by itself. In prod what runs is what was reviewed.
func (s *Serving) check(report *problems, prod bool) {
	if s.Engine != EngineKubeRay && s.Engine != EngineAnyscale {
		report.bad("serving.engine", s.Engine, oneOf(EngineKubeRay, EngineAnyscale), string(EngineKubeRay))
	}
	for field, name := range map[string]string{"certificate": s.Certificate, "token": s.Token} {
		if !secretName.MatchString(name) {
			report.bad("serving."+field, name, "the name of a secret in a vault: 1 to 127 letters, digits and hyphens", "serving-"+field)
		}
	}
	for _, name := range sortedKeys(s.Models) {
		s.Models[name].check(report, "serving.models."+name, name)
	}
	s.Anyscale.check(report, s.Engine)
	if s.Engine == EngineAnyscale && len(s.Models) > 0 {
		report.bad("serving.models", len(s.Models), "none with engine anyscale: its models are declared at Anyscale, and its services are no hops of the gateway", "")
	}
	if len(s.Models) == 0 {
		return
	}
	if !isAudience(s.Audience) {
		report.bad("serving.audience", s.Audience, "the application id URI, or the client id, that the gateway's tokens for the models carry: otherwise any token of your Entra directory would be accepted", "api://onedoor-serving")
	}
	for _, p := range s.image().Check(prod) {
		report.bad("serving."+p.Field, p.Got, p.Want, "")
	}
	if why := authority(s.Authority); why != "" {
		report.bad("serving.authority", nil, "the certificate of the authority that issues the door's, as PEM: the gateway trusts public ones only, and none issues for a private name; "+why, "")
	}
}

// authority says what is wrong with the certificate of an authority, "" for nothing.
func authority(text string) string {
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE" || strings.TrimSpace(string(rest)) != "" {
		return "this is not one block of CERTIFICATE"
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return err.Error()
	case !certificate.IsCA:
		return "this one is not an authority's"
	}
	return ""
}

// check checks what a model says by itself.
func (m ServedModel) check(report *problems, key, name string) {
	checkName(report, key, name, maxServedName)
	if !servedModel.MatchString(m.Model) {
		report.bad(key+".model", m.Model, "the name of a model on Hugging Face, with its owner", "meta-llama/Llama-3.1-8B-Instruct")
	}
	number := func(field string, n, least, most int, what string) {
		if n < least || n > most {
			report.bad(key+"."+field, n, between(least, most)+" "+what, strconv.Itoa(max(least, 1)))
		}
	}
	number("replicas.max", m.Replicas.Max, 1, maxReplicas, "replicas")
	number("replicas.min", m.Replicas.Min, 0, max(m.Replicas.Max, 0), "replicas, at most replicas.max")
	number("targetRequests", m.TargetRequests, 0, maxTarget, "requests of a replica at once, where 0 is the concurrency: without a target there is never another replica")
	number("priority", m.Priority, 0, maxPriority, "where 0 puts it last")
	if m.Source != "" && !slices.Contains(serving.Sources, m.Source) {
		report.bad(key+".source", m.Source, oneOf(serving.Sources...), string(serving.Volume))
	}
	switch m.Upgrade {
	case "", UpgradeBeside, UpgradeInPlace:
	default:
		report.bad(key+".upgrade", m.Upgrade, oneOf(UpgradeBeside, UpgradeInPlace), string(UpgradeBeside))
	}
	if m.Prefill.Max != 0 {
		number("prefill.max", m.Prefill.Max, 1, maxReplicas, "replicas")
		number("prefill.min", m.Prefill.Min, 1, max(m.Prefill.Max, 1), "replicas: one that reads prompts and one that answers must both be there, or no call ends")
		number("replicas.min", m.Replicas.Min, 1, max(m.Replicas.Max, 1), "replicas with prefill: one that reads prompts and one that answers must both be there, or no call ends")
	}
}

// gpuFields are the keys of a model by what the planner calls them.
var gpuFields = map[string]string{
	"max_model_len": "context", "concurrency": "concurrency", "tensor_parallel_size": "tensorParallel", "pipeline_parallel_size": "pipelineParallel",
	"quantization": "quantization", "kv_cache_dtype": "kvCache", "max_num_seqs": "maxRequests", "max_num_batched_tokens": "maxTokens",
	"gpu_memory_utilization": "utilization", "model": "model", "mig": "pool", "vm": "pool",
	"speculative_config.num_speculative_tokens": "draft.tokens", "speculative_config.model": "draft.model",
}

// gpuField is the key for what the planner calls key.
func gpuField(key string) string {
	if field, ours := gpuFields[key]; ours {
		return field
	}
	if rest, facts := strings.CutPrefix(key, "model."); facts {
		return "facts." + rest
	}
	return "model"
}

// checkServing refuses models that no GPU of their pool holds and pools that are too
// small, each with the arithmetic. Roots that it reads are sound.
func (c *Config) checkServing(report *problems) {
	if c.Serving.Engine == EngineAnyscale {
		c.warnOfAnyscale()
	}
	if len(c.Serving.Models) == 0 {
		return
	}
	if c.Gateway.Mode != netplan.Classic {
		report.bad("serving.models", len(c.Serving.Models), fmt.Sprintf("none with gateway.mode %s: only the classic tiers keep authorities for all back ends, and the models' door has a certificate of a private one (https://learn.microsoft.com/azure/api-management/v2-service-tiers-overview)", c.Gateway.Mode), "")
	}
	nodes, whys := map[string]int{}, map[string][]string{}
	for _, name := range sortedKeys(c.Serving.Models) {
		model, key := c.Serving.Models[name].filled(), "serving.models."+name
		pool, known := c.servingPool(model.Pool)
		if !known {
			want := "a kind of GPU node below " + namespace + ":cluster.pools.gpu"
			if near := nearest(model.Pool, sortedKeys(c.Cluster.Pools.GPU)); near != "" {
				want += fmt.Sprintf(", nearest is %q", near)
			}
			report.bad(key+".pool", model.Pool, want, "")
			continue
		}
		plan, fits := c.checkPlan(report, key, model, pool)
		if !fits {
			continue
		}
		c.checkSource(report, key, model, plan)
		fleet := model.fleet(plan)
		n, why := fleet.Nodes(pool)
		if n == 0 {
			report.bad(key+".tensorParallel", fleet.GPUs, "GPUs of one node: "+why, "")
			continue
		}
		if model.Prefill.Max > 0 && pool.MIG != "" {
			report.bad(key+".prefill", model.Prefill.Max, "none on slices: caches go from GPU to GPU, and slices cannot reach one another (https://docs.nvidia.com/datacenter/tesla/mig-user-guide/)", "")
		}
		nodes[model.Pool] += n
		whys[model.Pool] = append(whys[model.Pool], name+": "+why)
		if pool.Priority == aks.Spot {
			c.warn(key+".pool", "%q is a pool of spot nodes: Azure takes them back with 30 seconds' notice, and calls that they serve end", model.Pool)
		}
	}
	for _, kind := range sortedKeys(nodes) {
		if most := c.Cluster.Pools.GPU[kind].MaxNodes; nodes[kind] > most {
			report.bad("cluster.pools.gpu."+kind+".maxNodes", most, fmt.Sprintf("at least %d nodes for the models of serving.models (%s); serve fewer replicas, or set upgrade inPlace, which takes no second set", nodes[kind], strings.Join(whys[kind], "; ")), strconv.Itoa(nodes[kind]))
		}
	}
	c.checkHops()
}

// checkPlan refuses a model that does not fit, and warns of one that only may.
func (c *Config) checkPlan(report *problems, key string, model ServedModel, pool aks.Pool) (gpu.Plan, bool) {
	if format, known := model.Quantization, model.facts(); format != "" && known.Format != "" && format != known.Format && !slices.Contains(onTheFly, format) {
		report.bad(key+".quantization", format, fmt.Sprintf("%s, or %s, the checkpoint's: vLLM makes no other format while it loads; name a checkpoint that has it", oneOf(onTheFly...), known.Format), "")
		return gpu.Plan{}, false
	}
	plan, err := model.plan(pool)
	if err != nil {
		for _, p := range gpu.Problems(err) {
			want := p.Want
			if p.Fix != "" {
				want += "; " + p.Fix
			}
			report.list = append(report.list, Problem{Key: key + "." + gpuField(p.Key), Got: p.Got, Want: "want " + want})
		}
		return gpu.Plan{}, false
	}
	switch plan.Verdict {
	case gpu.NoFit:
		parts := []string{fmt.Sprintf("a model that fits %s of pool %s: %s", plan.GPU, pool.Name, strings.Join(plan.Arithmetic, "; "))}
		for _, s := range plan.Suggestions {
			parts = append(parts, "or: "+s.Change)
		}
		report.bad(key+".model", model.Model, strings.Join(parts, "; "), "")
		return plan, false
	case gpu.Marginal:
		c.warn(key+".model", "fits %s by less than the prediction may be off: %s", plan.GPU, strings.Join(plan.Arithmetic, "; "))
	}
	for _, warning := range plan.Warnings {
		c.warn(key+".model", "%s", warning)
	}
	return plan, true
}

// onTheFly are the formats that vLLM makes of a 16-bit checkpoint while it loads.
// https://docs.vllm.ai/en/latest/features/quantization/fp8.html
var onTheFly = []gpu.Format{gpu.BFloat16, gpu.Float16, gpu.FP8}

// checkSource refuses weights that a node's disk has no room for.
func (c *Config) checkSource(report *problems, key string, model ServedModel, plan gpu.Plan) {
	if weights := plan.WeightsGiB * float64(plan.TensorParallel*plan.PipelineParallel); model.Source == serving.HuggingFace && weights > fetchedGiB {
		report.bad(key+".source", model.Source, fmt.Sprintf("volume: weights of %.0f GiB are fetched to the node's disk of %d GB, which has room for %d GiB beside images", weights, osDiskGB, fetchedGiB), string(serving.Volume))
	}
}

// checkHops warns of models that nobody can call.
func (c *Config) checkHops() {
	for _, name := range sortedKeys(c.Serving.Models) {
		used := false
		for _, model := range c.Models {
			used = used || slices.Contains(model.Hops, rayHop+name)
		}
		if !used {
			c.warn("serving.models."+name, "no alias lists %s%s among its hops, so nobody can call it", rayHop, name)
		}
	}
}

// servingPool is the pool of a kind of GPU node.
func (c *Config) servingPool(kind string) (aks.Pool, bool) {
	if _, known := c.Cluster.Pools.GPU[kind]; !known {
		return aks.Pool{}, false
	}
	for _, p := range c.Cluster.pools() {
		if p.rule.Name == kind {
			return p.rule, true
		}
	}
	return aks.Pool{}, false
}

// facts are the model's figures: the planner's own, or those that were given.
func (m ServedModel) facts() gpu.Model {
	if known, is := gpu.LookupModel(m.Model); is && len(m.Facts.Layers) == 0 {
		return known
	}
	facts := m.Facts
	facts.Name = m.Model
	return facts
}

// request is what the planner is asked.
func (m ServedModel) request(pool aks.Pool) gpu.Request {
	size, _ := aks.Lookup(pool.Size)
	req := gpu.Request{
		Model: m.facts(), Size: size, Profile: pool.MIG, Concurrency: m.Concurrency,
		Engine: gpu.Engine{
			Version: rayserve.VLLMVersion, MaxModelLen: m.Context, GPUMemoryUtilization: m.Utilization, TensorParallel: m.TensorParallel,
			PipelineParallel: m.PipelineParallel, Quantization: m.Quantization, KVCacheDtype: m.KVCache, MaxNumSeqs: m.MaxRequests,
			MaxNumBatchedTokens: m.MaxTokens, NoChunkedPrefill: m.WholePrompts,
		},
	}
	if m.Draft.Model != "" {
		draft, known := gpu.LookupModel(m.Draft.Model)
		if !known {
			draft = gpu.Model{Name: m.Draft.Model}
		}
		req.Engine.Draft = &gpu.Draft{Model: draft, Tokens: m.Draft.Tokens}
	}
	return req
}

// plan is what the planner answers.
func (m ServedModel) plan(pool aks.Pool) (gpu.Plan, error) { return gpu.Make(m.request(pool)) }

// fleet is what the model takes of its pool.
func (m ServedModel) fleet(plan gpu.Plan) capacity.Fleet {
	return capacity.Fleet{GPUs: plan.TensorParallel, Pods: plan.PipelineParallel, Replicas: m.Replicas.Max + m.Prefill.Max, Twice: m.Upgrade == UpgradeBeside}
}

// rayTarget is the model as a hop of the gateway. Its prompts never leave the region.
func (c *Config) rayTarget(name string) routing.Target {
	return routing.Target{
		Backend: "ray_" + name, Kind: routing.Ray, Deployment: name, URL: fmt.Sprintf("%s/%s/v1", c.doorURL(netplan.ServingEdge), name),
		Region: c.Base.Location, Residency: routing.Regional, Priority: c.Serving.Models[name].Priority,
	}
}

// servedBy are the served models among the hops of an alias, and what is wrong with
// the others.
func (c *Config) servedBy(model Model) (names []string, wrong map[string]string) {
	wrong = map[string]string{}
	for _, hop := range model.Hops {
		name, ray := strings.CutPrefix(hop, rayHop)
		_, served := c.Serving.Models[name]
		switch {
		case !ray:
			wrong[hop] = "ray:<name> with a name below " + namespace + ":serving.models"
		case !served:
			wrong[hop] = "the name of a model below " + namespace + ":serving.models"
			if near := nearest(name, sortedKeys(c.Serving.Models)); near != "" {
				wrong[hop] += fmt.Sprintf(", nearest is %q", rayHop+near)
			}
		case slices.Contains(names, name):
			wrong[hop] = "each model once"
		default:
			names = append(names, name)
		}
	}
	return names, wrong
}
