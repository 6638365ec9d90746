package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/az/aks"
	"onedoor/internal/capacity/gpu"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	"onedoor/internal/propvalue"
	"onedoor/internal/rayserve"
	"onedoor/policies/internal/azure"
	"onedoor/policies/internal/kube"
)

// offer is what one node of a pool offers to pods: GPUs, or slices of them, by the
// name of the resource.
type offer struct {
	resource string
	perNode  int
	size     aks.Size
	profile  aks.Profile
	labels   propvalue.Value
}

// offers are those of the stack's pools; certain is false when a pool is not known.
func offers(st *policypack.Stack) (out []offer, certain bool) {
	certain = true
	for _, r := range st.Of(azure.Pool, azure.Cluster) {
		declared := []propvalue.Value{r.Get()}
		if r.Type == azure.Cluster {
			list, state := r.Get("agentPoolProfiles").Items()
			declared, certain = list, certain && !unsure(state)
		}
		for _, pool := range declared {
			name, sized := pool.At("vmSize").Text()
			profile, cut := pool.At("gpuInstanceProfile").Text()
			size, known := aks.Lookup(name)
			if sized != propvalue.Known || unsure(cut) || !known {
				certain = false
				continue
			}
			for _, strategy := range []aks.Strategy{aks.StrategySingle, aks.StrategyMixed} { // of slices; what names them
				resource, perNode, err := aks.Resource(size, aks.Profile(profile), strategy)
				if err == nil && resource != "" {
					out = append(out, offer{resource, perNode, size, aks.Profile(profile), pool.At("nodeLabels")})
				}
			}
		}
	}
	return out, certain
}

// takes tells whether a pod with the node selector may run on the pool's nodes.
// Labels that Kubernetes or Azure give are taken for right.
func (o offer) takes(selector propvalue.Value) bool {
	for label, value := range selector.Members() {
		want, known := value.Text()
		has, state := o.labels.At(label).Text()
		if known == propvalue.Known && state == propvalue.Known && has != want || state == propvalue.Absent && !givenLabel(label) {
			return false
		}
	}
	return true
}

func givenLabel(label string) bool {
	domain, _, found := strings.Cut(label, "/")
	return !found && label == "agentpool" || strings.HasSuffix(domain, "kubernetes.io") || domain == "kubernetes.azure.com"
}

// share is what a pod takes of a node: count of the resource of one of the offers.
type share struct {
	count  int
	offers []offer
}

// fits judges a Ray object: each pod with GPUs runs on one node of a pool, and what
// Ray Serve runs in the pods fits their GPUs.
func fits(st *policypack.Stack, c *policypack.Case) {
	all, certain := offers(st)
	var shares []share
	eachPod(c, func(pod propvalue.Value) {
		selector := pod.At("nodeSelector")
		if part, unknown := selector.Unknown(); unknown || unsure(selector.Object()) {
			c.Undecidedf(selector.Path(), "labels that are known", "%s is not known", cmp.Or(part.Path(), selector.Path()))
			return
		}
		for _, wanted := range gpusOf(c, pod) {
			matching := slices.DeleteFunc(slices.Clone(all), func(o offer) bool {
				return o.resource != wanted.resource || o.perNode < wanted.count || !o.takes(selector)
			})
			switch {
			case len(matching) > 0:
				c.Saw(pod.At("containers"), fmt.Sprintf("at most %d of %s, what one node of a pool offers", matching[0].perNode, wanted.resource))
				shares = append(shares, share{wanted.count, matching})
			case !certain || len(all) == 0:
				c.Undecidedf(pod.Path(), "a pool that offers "+wanted.resource, "the pools of the stack are not known")
			default:
				c.Failf(pod.Path()+".containers", fmt.Sprintf("asking for %d of %s", wanted.count, wanted.resource), most(all, wanted.resource))
			}
		}
	})
	if c.Type == kube.RayService && c.State() == results.Pass { // of its pods
		engines(c, shares)
	}
}

// most says what the pools offer of a resource.
func most(all []offer, resource string) string {
	n := 0
	for _, o := range all {
		if o.resource == resource {
			n = max(n, o.perNode)
		}
	}
	return fmt.Sprintf("at most %d of %s, what one node of a pool offers, and a nodeSelector that the pool has", n, resource)
}

// gpuCount is how many of a resource a pod asks for.
type gpuCount struct {
	resource string
	count    int
}

// gpusOf are the GPUs that a pod asks for, by resource.
func gpusOf(c *policypack.Case, pod propvalue.Value) (out []gpuCount) {
	wanted := map[string]int{}
	eachContainer(c, pod, func(container propvalue.Value) {
		limits := container.At("resources", "limits")
		if unsure(limits.Object()) {
			c.Undecided(limits, "limits that are known")
		}
		for key, value := range limits.Members() {
			if !isGPU(key) {
				continue
			}
			n, ok := count(value)
			if !ok {
				c.Undecided(value, "a whole number")
			}
			wanted[key] += n
		}
	})
	for _, resource := range slices.Sorted(maps.Keys(wanted)) {
		out = append(out, gpuCount{resource, wanted[resource]})
	}
	return out
}

// engines judges what a RayService serves by the planner of GPU memory.
func engines(c *policypack.Case, shares []share) {
	text := c.At("spec.serveConfigV2")
	written, state := text.Text()
	switch {
	case state == propvalue.Absent:
		return
	case state != propvalue.Known:
		c.Undecided(text, "a configuration that is known")
		return
	}
	config, err := rayserve.Parse(written)
	if err != nil {
		c.Failf(text.Path(), hide(text, err.Error()), "YAML that Ray Serve reads")
		return
	}
	for _, app := range config.Applications {
		for _, llm := range app.LLMs() {
			engine(c, text, llm, shares)
		}
	}
}

// hide is what may be shown of something that was read from v.
func hide(v propvalue.Value, shown string) string {
	if v.Secret() {
		return propvalue.ShownSecret
	}
	return shown
}

// engine judges one model: on one of the pods' GPUs at least, vLLM starts.
func engine(c *policypack.Case, text propvalue.Value, llm rayserve.LLM, shares []share) {
	at := fmt.Sprintf("%s: %s", text.Path(), hide(text, llm.Loading.ID))
	model, known := gpu.LookupModel(llm.Loading.Model())
	if !known {
		c.Undecidedf(at, "a model whose figures are known here", "the figures of %s are not known here", hide(text, llm.Loading.Model()))
		return
	}
	ranks := max(1, llm.Engine.TensorParallel)
	var why []string
	for _, s := range shares {
		if s.count < ranks {
			why = append(why, fmt.Sprintf("tensor_parallel_size %d in pods with %d GPUs", ranks, s.count))
			continue
		}
		for _, o := range s.offers {
			plan, err := gpu.Make(gpu.Request{Model: model, Size: o.size, Profile: o.profile, Engine: llm.Engine.Plan(model.Format), Concurrency: 1})
			switch {
			case err != nil:
				why = append(why, strings.ReplaceAll(err.Error(), "\n", "; "))
			case plan.Verdict == gpu.NoFit:
				why = append(why, fmt.Sprintf("%s: weights %.2f GiB, activations %.2f, others %.2f, KV cache %.2f left and %.2f needed",
					plan.GPU, plan.WeightsGiB, plan.ActivationGiB, plan.NonTorchGiB+plan.GraphsGiB, plan.KVCacheGiB, plan.KVNeededGiB))
			default:
				c.Saw(text, fmt.Sprintf("engines that start: %s on %s is a %s", hide(text, llm.Loading.ID), plan.GPU, plan.Verdict))
				return
			}
		}
	}
	if len(shares) == 0 {
		why = []string{"no pod with GPUs"}
	}
	c.Failf(at, hide(text, strings.Join(slices.Compact(why), " | ")), "a size, slice, context or quantisation with which the model fits; onedoor plan-gpu ranks them")
}

// count reads a quantity of whole things.
func count(v propvalue.Value) (int, bool) {
	if n, state := v.Number(); state == propvalue.Known {
		return int(n), n >= 0 && n == float64(int(n))
	}
	text, state := v.Text()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	return n, state == propvalue.Known && err == nil && n >= 0
}
