package report

import (
	"slices"

	"onedoor/internal/policypack/results"
)

// door is a way to a model, and the rules of each layer that keep it the only
// one.
type door struct {
	Name   string
	Layers []layer
}

type layer struct {
	Name  string
	Who   string // who gets through, when all its rules pass
	Rules []string
}

// doors are the platform's two. Whoever is stopped by one layer needs no other;
// each is judged by itself.
var doors = []door{
	{"Batch jobs, through the control plane", []layer{
		{"Deployment", "only the control plane's account has batch SKUs", []string{"BAT-01", "BAT-02", "BAT-09"}},
		{"Identity", "only the control plane's identity has the rights", []string{"BAT-03", "BAT-04", "AOA-01", "ID-01"}},
		{"Gateway", "no route leads to batches, files or uploads", []string{"BAT-05", "BAT-06"}},
		{"Network", "only the control plane's subnet has an endpoint", []string{"BAT-07", "BAT-08", "AOA-02", "NET-01"}},
		{"Storage", "only the control plane writes what jobs read", []string{"BAT-10"}},
	}},
	{"Chat and embeddings, through the gateway", []layer{
		{"Identity", "only the gateway's identity may call models", []string{"SYN-01", "AOA-01", "GW-03"}},
		{"Gateway", "callers who prove who they are, within their tokens", []string{"GW-01", "GW-04", "GW-05", "GW-06", "GW-07"}},
		{"Network", "those who reach a private endpoint or the gateway's network", []string{"AOA-02", "AOA-03", "GW-09", "NET-01"}},
	}},
}

// guarded is a layer with what became of its rules.
type guarded struct {
	layer
	State   results.State
	Judged  []judged
	Missing []string // rules that the run does not know
}

// guard joins the layer with the run. A rule that was not judged leaves the
// layer in doubt.
func (l layer) guard(rules []judged) guarded {
	g := guarded{layer: l, State: results.NotChecked}
	var all []results.Result
	for _, id := range l.Rules {
		if i := slices.IndexFunc(rules, func(r judged) bool { return r.ID == id }); i >= 0 {
			g.Judged = append(g.Judged, rules[i])
			all = append(all, rules[i].Results...)
		} else {
			g.Missing = append(g.Missing, id)
		}
	}
	if len(all) > 0 && (len(g.Missing) == 0 || worst(all) == results.Fail) {
		g.State = worst(all)
	}
	return g
}
