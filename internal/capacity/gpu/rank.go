package gpu

import (
	"cmp"
	"math"
	"slices"

	"onedoor/internal/az/aks"
)

// Option is a size, whole or in slices, that a model fits.
type Option struct {
	Plan
	Replicas        int     `json:"replicasPerVM"`                 // 0: a replica takes several VMs
	TokensPerSecond float64 `json:"tokensPerSecondPerVM"`          // estimate, see decodeRate
	USDPerHour      float64 `json:"usdPerHour,omitempty"`          // of the VM; 0: not known
	USDPerMillion   float64 `json:"usdPerMillionTokens,omitempty"` // generated at full load; 0: not known
}

// bandwidthUse is the share of a GPU's memory bandwidth that decoding reaches:
// Llama-3.1-8B wrote 75 tokens/s on an A100 of 40 GB.
// https://johnmusgrave.com/p/vllm-throughput-latency-sweep-on
const bandwidthUse = 0.77

// decodeRate is the tokens per second that one replica generates for so many
// requests at the same time, each with a context of the given length. Every step
// reads the weights once and the cache of every request; a mixture of experts
// reads what its requests pass, at most all. Prompts, the speed of computing and
// the exchange between ranks are left out, so it is what a replica at best does.
func (req Request) decodeRate(dev device, requests, context int) float64 {
	m, e := req.Model, req.Engine
	passed := min(1, float64(requests)*m.active()/m.Params)
	seconds := 0.0
	for _, layers := range stages(m, e.PipelineParallel) {
		count := Model{Layers: layers}.layerCount()
		weights := m.weightBytes(e.Quantization) * passed * float64(count) / float64(m.layerCount()) / float64(e.TensorParallel)
		c := cacheOf(layers, e)
		read := weights + float64(requests*c.perRequest(context, 1)*c.blockBytes())
		seconds += read / (bandwidthUse * dev.bandwidth * 1e9)
	}
	return float64(requests) / seconds
}

// Rank is every known size, whole and in slices, on which the request fits at
// least by the prediction. req has no size yet. Options with the lowest price per
// generated token come first, then those without a known price by the memory
// that they take.
func Rank(req Request, prices Prices) ([]Option, error) {
	var (
		all     = []Option{}
		legal   bool
		refusal error // the one with the fewest problems: what is wrong everywhere is wrong with req
	)
	for _, size := range aks.Sizes() {
		if size.GPU.Count == 0 {
			continue
		}
		profiles := []aks.Profile{""}
		if size.MIG() {
			profiles = append(profiles, aks.MIG1g, aks.MIG2g, aks.MIG3g, aks.MIG4g) // 7g is a whole GPU with less memory
		}
		for _, profile := range profiles {
			at := req
			at.Size, at.Profile = size, profile
			option, err := at.option(prices)
			switch {
			case err != nil:
				if refusal == nil || len(Problems(err)) < len(Problems(refusal)) {
					refusal = err
				}
			case option.Verdict == NoFit:
				legal = true
			default:
				legal = true
				all = append(all, option)
			}
		}
	}
	if !legal {
		return nil, refusal
	}
	slices.SortStableFunc(all, func(a, b Option) int {
		return cmp.Or(
			cmp.Compare(unknownLast(a.USDPerMillion), unknownLast(b.USDPerMillion)),
			cmp.Compare(a.GPUGiB*float64(a.TensorParallel), b.GPUGiB*float64(b.TensorParallel)),
			cmp.Compare(a.Replicas, b.Replicas), cmp.Compare(a.VM, b.VM), cmp.Compare(a.MIG, b.MIG),
		)
	})
	return all, nil
}

// option is the plan with what it yields at full load: as many requests with
// full contexts as the cache holds and vLLM admits.
func (req Request) option(prices Prices) (Option, error) {
	p, err := Make(req)
	if err != nil {
		return Option{}, err
	}
	dev, _ := deviceOf(req.Size, req.Profile)
	req.Engine = req.Engine.withDefaults(req.Model, dev)
	req.Engine.TensorParallel = p.TensorParallel
	o := Option{Plan: p, Replicas: dev.perVM / (p.TensorParallel * p.PipelineParallel)}
	o.USDPerHour = prices.PerHour[req.Size.Name]
	requests := min(int(p.MaxConcurrency), req.Engine.MaxNumSeqs)
	if requests < 1 {
		return o, nil
	}
	perVM := float64(o.Replicas)
	if o.Replicas == 0 { // pipeline stages on several VMs
		perVM = 1 / float64(p.VMs)
	}
	rate := perVM * req.decodeRate(dev, requests, req.Engine.MaxModelLen)
	o.TokensPerSecond = math.Round(rate)
	o.USDPerMillion = math.Round(o.USDPerHour/(rate*3600)*1e6*1e3) / 1e3
	return o, nil
}

func unknownLast(price float64) float64 {
	if price == 0 {
		return math.Inf(1)
	}
	return price
}
