package kube

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"onedoor/internal/armtypes"
	"onedoor/internal/az/aks"
	"onedoor/sim/core"
)

const clusterType = "microsoft.containerservice/managedclusters"

// Cluster is one managed cluster in one state.
type Cluster struct {
	state    core.State
	resource *core.Resource
	body     map[string]any // as ARM shows it
}

// Find returns the cluster whose API server has this host name. One that is not
// there, not made yet, or stopped does not answer (A604).
func Find(s core.State, host string) (*Cluster, *Status) {
	for _, c := range clusters(s) {
		if !slices.Contains(c.hosts(), strings.ToLower(host)) {
			continue
		}
		state := c.resource.Provisioning
		if state == core.Creating || state == core.Deleting {
			return nil, unreachable(host, "the cluster is in state "+state)
		}
		if c.text("powerState.code") == "Stopped" {
			return nil, unreachable(host, "the cluster is stopped")
		}
		return c, nil
	}
	return nil, unreachable(host, "no cluster of this cloud has this API server; it was deleted, or made again under another name")
}

// clusters returns the managed clusters of a state, those of others too.
func clusters(s core.State) []*Cluster {
	var out []*Cluster
	for _, r := range s.Resources {
		if strings.EqualFold(r.Type, clusterType) {
			out = append(out, &Cluster{s, r, s.Show(r)})
		}
	}
	for _, r := range s.External {
		if strings.EqualFold(r.Type, clusterType) {
			out = append(out, &Cluster{s, r, r.Body})
		}
	}
	return out
}

func unreachable(host, why string) *Status {
	return &Status{http.StatusServiceUnavailable, Unreachable, fmt.Sprintf("unable to load schema information from the API server: Get \"https://%s:443/openapi/v2?timeout=32s\": %s", host, why)}
}

// hosts are the names of the API server.
func (c *Cluster) hosts() []string {
	var out []string
	for _, field := range []string{"fqdn", "privateFQDN", "azurePortalFQDN"} {
		if name := c.text(field); name != "" {
			out = append(out, strings.ToLower(name))
		}
	}
	return out
}

// ID returns the ARM id of the cluster.
func (c *Cluster) ID() string { return c.resource.ID }

// at reads a property of the cluster by a dotted path.
func (c *Cluster) at(path string) any {
	return at(c.body, "properties."+path)
}

func (c *Cluster) text(path string) string {
	s, _ := c.at(path).(string)
	return s
}

func (c *Cluster) flag(path string) bool { return c.at(path) == true }

// keda says whether the add-on runs.
func (c *Cluster) keda() bool { return c.flag("workloadAutoScalerProfile.keda.enabled") }

// pool is one node pool with its name in Azure.
type pool struct {
	aks.Pool
	size aks.Size
	// known says that the size is one that the project knows.
	known bool
}

// pools returns the node pools, sorted by name. A cluster shows all it has, those
// that are resources of their own too.
func (c *Cluster) pools() []pool {
	profiles, _ := c.at("agentPoolProfiles").([]any)
	out := make([]pool, 0, len(profiles))
	for _, profile := range profiles {
		if body, ok := profile.(map[string]any); ok {
			out = append(out, poolOf(body))
		}
	}
	slices.SortFunc(out, func(a, b pool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// poolOf reads what scheduling needs of a pool.
func poolOf(body map[string]any) pool {
	text := func(key string) string { s, _ := body[key].(string); return s }
	number := func(key string) int { n, _ := body[key].(float64); return int(n) }
	p := pool{Pool: aks.Pool{
		Name: text("name"), Mode: aks.Mode(text("mode")), Size: text("vmSize"), OS: aks.OS(text("osType")),
		Priority: aks.Priority(text("scaleSetPriority")), MIG: aks.Profile(text("gpuInstanceProfile")),
		Labels: map[string]string{},
	}}
	taints, _ := body["nodeTaints"].([]any)
	for _, taint := range taints {
		if s, ok := taint.(string); ok {
			p.Taints = append(p.Taints, s)
		}
	}
	labels, _ := body["nodeLabels"].(map[string]any)
	for key, v := range labels {
		if s, ok := v.(string); ok {
			p.Labels[key] = s
		}
	}
	most := number("count")
	if body["enableAutoScaling"] == true {
		most = number("maxCount")
	}
	p.Max = &most
	p.size, p.known = aks.Lookup(p.Size)
	return p
}

// at walks a dotted path of keys.
func at(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		if u, ok := v.(armtypes.Unknown); ok {
			return u
		}
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// textAt returns the string at a dotted path, or "".
func textAt(v any, path string) string {
	s, _ := at(v, path).(string)
	return s
}

// listAt returns the list at a dotted path, or nil.
func listAt(v any, path string) []any {
	items, _ := at(v, path).([]any)
	return items
}
