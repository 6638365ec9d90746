package sim_test

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/armtypes"
)

// A release is checked, kept with its status, and replaced by name (A650).
func TestKubernetesRelease(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	const token = "kubernetes:helm.sh/v3:Release"
	right := m{"name": "ray", "namespace": "default", "chart": "kuberay-operator", "version": "1.5.0", "values": m{"replicas": 2.0}, "repositoryOpts": m{"repo": "https://ray-project.github.io/kuberay-helm/"}}
	for name, c := range map[string]struct {
		changes m
		path    string // "" for a legal neighbour
	}{
		"right":               {m{}, ""},
		"by registry":         {m{"chart": "oci://mcr.microsoft.com/aks/ai-runtime/helm/kuberay-operator", "repositoryOpts": nil}, ""},
		"unknown values":      {m{"values": armtypes.Unknown{}}, ""},
		"an input":            {m{"value": m{}}, "value"},
		"an option":           {m{"repositoryOpts": m{"repo": "https://x", "repoo": "x"}}, "repositoryOpts.repoo"},
		"no chart":            {m{"chart": nil}, "chart"},
		"no name":             {m{"name": nil}, "name"},
		"a long name":         {m{"name": strings.Repeat("x", 54)}, "name"},
		"a range":             {m{"version": ">=1.0.0"}, "version"},
		"no version":          {m{"version": nil}, "version"},
		"no repository":       {m{"repositoryOpts": nil}, "repositoryOpts.repo"},
		"a repository's name": {m{"repositoryOpts": m{"repo": "stable"}}, "repositoryOpts.repo"},
		"two registries":      {m{"chart": "oci://x/y"}, "repositoryOpts.repo"},
		"values as text":      {m{"values": "a: b"}, "values"},
	} {
		in := resource.NewPropertyMapFromMapRepl(with(right, c.changes), nil, func(v any) (resource.PropertyValue, bool) {
			_, is := v.(armtypes.Unknown)
			return unknown, is
		})
		_, failures := e.check(token, "ray", in)
		if c.path == "" {
			assert.Empty(t, failures, name)
			continue
		}
		if assert.Len(t, failures, 1, name) {
			assert.Equal(t, c.path, failures[0].GetProperty(), name)
		}
	}
	r := e.mustCreate(token, "ray", right)
	assert.Equal(t, "default/ray", r.id)
	out := r.outputs.Mappable()
	assert.Equal(t, "deployed", out["status"].(m)["status"])
	assert.InDelta(t, 1, out["status"].(m)["revision"], 0)
	assert.NotContains(t, out, "metadata")
	assert.Equal(t, r.outputs, e.read(r).outputs)
	imported := e.read(&made{id: r.id, urn: r.urn}).in.Mappable()
	assert.Subset(t, imported, m{"name": "ray", "namespace": "default", "chart": "kuberay-operator", "version": "1.5.0"})
	assert.NotContains(t, imported, "uid", "what only the server says")
	_, err := e.create(token, "again", props(right), false)
	require.ErrorContains(t, err, "cannot re-use a name that is still in use") // A653
	d := e.diff(r, props(with(right, m{"version": "1.5.1"})))
	assert.Empty(t, d.GetReplaces())
	assert.Equal(t, []string{"version"}, d.GetDiffs())
	assert.Equal(t, []string{"name"}, e.diff(r, props(with(right, m{"name": "other"}))).GetReplaces())
	u, err := e.update(r, props(with(right, m{"version": "1.5.1"})), false)
	require.NoError(t, err)
	assert.InDelta(t, 2, u.outputs.Mappable()["status"].(m)["revision"], 0)
	require.NoError(t, e.delete(r))
	assert.Empty(t, e.read(r).id)
	require.ErrorContains(t, e.delete(r), "uninstall: Release not loaded: ray: release: not found")
}
