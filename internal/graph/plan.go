package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
	"onedoor/internal/kube"
	"onedoor/internal/reach"
)

// doorsPlace is what the table of flows calls the subnet of the doors, and behind
// the boxes by the namespace of the pods that stand behind one.
const doorsPlace = string(netplan.Doors)

var behind = map[string]ID{kube.Batch: ControlPlane, kube.Edge: Edge}

// internet is what the table of flows calls whoever is outside.
const internet = "Internet"

// plan is the resources by kind, as in "network:Subnet", each list sorted by URN.
type plan struct {
	kinds map[string][]reach.Resource
}

func read(resources []reach.Resource) plan {
	p := plan{kinds: map[string][]reach.Resource{}}
	for _, r := range slices.SortedFunc(slices.Values(resources), func(a, b reach.Resource) int { return strings.Compare(a.URN, b.URN) }) {
		_, rest, _ := strings.Cut(r.Type, ":")
		module, typ, _ := strings.Cut(rest, ":")
		module, _, _ = strings.Cut(module, "/")
		p.kinds[module+":"+typ] = append(p.kinds[module+":"+typ], r)
	}
	return p
}

// deployments are the workloads of a namespace of the cluster.
func (p plan) deployments(namespace string) []reach.Resource {
	var out []reach.Resource
	for _, r := range p.kinds["apps:Deployment"] {
		if text(r, "metadata", "namespace") == namespace {
			out = append(out, r)
		}
	}
	return out
}

// first is the first resource of a kind; its inputs are empty where there is none.
func (p plan) first(kind string) (reach.Resource, bool) {
	all := p.kinds[kind]
	if len(all) == 0 {
		return reach.Resource{}, false
	}
	return all[0], true
}

// n counts the resources of kinds.
func (p plan) n(kinds ...string) int {
	n := 0
	for _, kind := range kinds {
		n += len(p.kinds[kind])
	}
	return n
}

func (p plan) location() string {
	for _, kind := range []string{"resources:ResourceGroup", "network:Subnet", "containerservice:ManagedCluster"} {
		if r, planned := p.first(kind); planned && text(r, "location") != "" {
			return text(r, "location")
		}
	}
	return ""
}

// name is the logical name of a resource.
func name(r reach.Resource) string { return r.URN[strings.LastIndex(r.URN, "::")+2:] }

// value is what path leads to in the inputs, nil where it leads nowhere.
func value(r reach.Resource, path ...string) any {
	var at any = r.Inputs
	for _, key := range path {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	return at
}

func text(r reach.Resource, path ...string) string {
	s, _ := value(r, path...).(string)
	return s
}

func number(r reach.Resource, path ...string) int {
	n, _ := value(r, path...).(float64)
	return int(n)
}

// last is the last part of an id.
func last(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// counted writes a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// names are the short names of resources, sorted, each once.
func names(resources []reach.Resource, short func(reach.Resource) string) string {
	var out []string
	for _, r := range resources {
		out = append(out, short(r))
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

// flows are the rows that hold for the plan and join two of its boxes.
func (p plan) flows(model *reach.Model, boxes []Box) []Flow {
	planned := map[ID]bool{}
	for _, b := range boxes {
		planned[b.ID] = true
	}
	known := model.Site()
	site := known
	site.PublicGateway = p.publicGateway()
	var out []Flow
	for _, row := range flows.Table {
		from, to := origins[row.From.String()], destination(row.To)
		if row.To.String() == internet && site.PublicGateway != "" {
			to = Gateway // which is there
		}
		switch {
		case from == to || !planned[from] || !planned[to]:
			continue
		case row.When != nil && !row.When(site):
			continue
		case row.From.String() == "peers" && !p.peered():
			continue
		}
		f := Flow{Number: row.Number, From: from, To: to, Ports: strings.Join(row.Ports.Numbers, ", "), Why: row.Why, State: Connects}
		if row.When != nil && !row.When(known) {
			f.State = Unproven
		}
		for _, finding := range model.Required([]flows.Flow{row}) {
			if finding.Fails() {
				f.State = Blocked
			} else if f.State == Connects {
				f.State = Unproven
			}
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Flow) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// peered tells whether others can be in the network: by a peering of ours, or because
// the network is not ours.
func (p plan) peered() bool {
	return p.n("network:VirtualNetworkPeering") > 0 || p.n("network:VirtualNetwork") == 0
}
