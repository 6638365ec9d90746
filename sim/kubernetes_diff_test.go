package sim_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The server's defaults and its status are in the outputs and make no difference
// (A607, A612, A614).
func TestKubernetesDefaultsMakeNoDifference(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	e.mustApply(batchNamespace)
	r := e.mustApply(workerYAML)
	out := r.outputs.Mappable()
	assert.Equal(t, "batch/worker", r.id)
	assert.InDelta(t, 1, out["spec"].(m)["replicas"], 0)
	assert.Equal(t, "Available", out["status"].(m)["conditions"].([]any)[0].(m)["type"])
	assert.Equal(t, pulumirpc.DiffResponse_DIFF_NONE, e.diff(r, r.in).GetChanges())
	assert.Equal(t, pulumirpc.DiffResponse_DIFF_NONE, e.diff(r, body(t, strings.Replace(workerYAML, "replicas: 2", "", 1))).GetChanges())
	read := e.read(r)
	assert.Equal(t, r.in, read.in)
	assert.Equal(t, r.outputs, read.outputs)

	balanced := e.mustApply(`{apiVersion: v1, kind: Service, metadata: {name: door, namespace: batch, annotations: {service.beta.kubernetes.io/azure-load-balancer-internal: "true", service.beta.kubernetes.io/azure-load-balancer-ipv4: 10.0.4.10}}, spec: {type: LoadBalancer, ports: [{port: 443}]}}`)
	out = balanced.outputs.Mappable()
	assert.Equal(t, m{"loadBalancer": m{"ingress": list(m{"ip": "10.0.4.10"})}}, out["status"])
	assert.Regexp(t, `^10\.9\.`, out["spec"].(m)["clusterIP"])
	assert.Equal(t, m{"port": 443.0, "protocol": "TCP", "targetPort": 443.0}, out["spec"].(m)["ports"].([]any)[0])
	assert.Equal(t, pulumirpc.DiffResponse_DIFF_NONE, e.diff(balanced, balanced.in).GetChanges())
}

// What replaces an object and what changes it in place (A609), and what of a
// change the server itself refuses (A619).
func TestKubernetesDiff(t *testing.T) {
	t.Parallel()
	const update, replace, deleteFirst = "update", "replace", "delete first"
	priority := `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1}`
	for name, c := range map[string]struct {
		of, old, new string
		config       m
		kind         string
		path         string
		refused      string // by the server, if it comes to an update
	}{
		"an image":          {of: workerYAML, old: "worker:1", new: "worker:2", kind: update, path: "spec.template.spec.containers[0].image"},
		"replicas":          {of: workerYAML, old: "spec:\n  selector", new: "spec:\n  replicas: 2\n  selector", kind: update, path: "spec.replicas"},
		"a name":            {of: workerYAML, old: "name: worker, namespace", new: "name: other, namespace", kind: replace, path: "metadata.name"},
		"a namespace":       {of: conf, old: "batch", new: "default", kind: replace, path: "metadata.namespace"},
		"a selector":        {of: workerYAML, old: "matchLabels: {app: worker}", new: "matchLabels: {app: other}", kind: deleteFirst, path: "spec.selector.matchLabels.app"},
		"data":              {of: conf, old: "a: b", new: "a: c", kind: deleteFirst, path: "data.a"},
		"mutable data":      {of: conf, old: "a: b", new: "a: c", config: m{"enableConfigMapMutable": "true"}, kind: update, path: "data.a"},
		"a secret":          {of: keyYAML, old: "opensesame", new: "open", kind: deleteFirst, path: "data.key"},
		"a mutable secret":  {of: keyYAML, old: "opensesame", new: "open", config: m{"enableSecretMutable": true}, kind: update, path: "data.key"},
		"a label":           {of: batchNamespace, old: "name: batch", new: "name: batch, labels: {a: b}", kind: update, path: "metadata.labels"},
		"a priority":        {of: priority, old: "value: 1", new: "value: 2", kind: update, path: "value", refused: "cannot be changed"},
		"its description":   {of: priority, old: "value: 1", new: "value: 1, description: x", kind: update, path: "description"},
		"an unknown image":  {of: workerYAML, old: `"worker:1"`, new: "'?'", kind: update, path: "spec.template.spec.containers[0].image"},
		"nothing, in bytes": {of: keyYAML, old: "stringData: {key: opensesame}", new: "data: {key: b3BlbnNlc2FtZQ==}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := aksEngine(t, nil)
			e.configureWith(props(with(m{"kubeconfig": kubeconfig(apiServer)}, c.config)))
			if c.of != batchNamespace {
				e.mustApply(batchNamespace)
			}
			r := e.mustApply(c.of)
			require.Equal(t, 1, strings.Count(c.of, c.old))
			in := body(t, strings.Replace(c.of, c.old, c.new, 1))
			d := e.diff(r, in)
			kind := ""
			switch {
			case d.GetDeleteBeforeReplace():
				kind = deleteFirst
			case len(d.GetReplaces()) > 0:
				kind = replace
			case d.GetChanges() == pulumirpc.DiffResponse_DIFF_SOME:
				kind = update
			}
			require.Equal(t, c.kind, kind)
			if kind == "" {
				return
			}
			assert.Equal(t, []string{c.path}, slices.Sorted(maps.Keys(d.GetDetailedDiff())))
			assert.Equal(t, pulumirpc.DiffResponse_DIFF_NONE, e.diff(r, in, c.path).GetChanges(), "ignored")
			if kind != update || in.ContainsUnknowns() {
				return
			}
			_, err := e.update(r, in, true)
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				_, err = e.update(r, in, false)
				require.ErrorContains(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			updated, err := e.update(r, in, false)
			require.NoError(t, err)
			read := e.read(updated)
			assert.Equal(t, updated.outputs, read.outputs)
			assert.Equal(t, "2", read.outputs["metadata"].ObjectValue()["resourceVersion"].StringValue())
		})
	}
}

// A refresh brings back what changed in the cluster, and nothing that was never
// an input (A607); an object that is gone is gone.
func TestKubernetesRefresh(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	e.mustApply(batchNamespace)
	r := e.mustApply(strings.Replace(workerYAML, "spec:\n  selector", "spec:\n  replicas: 2\n  selector", 1))
	_, err := e.update(r, body(t, strings.Replace(workerYAML, "spec:\n  selector", "spec:\n  replicas: 5\n  selector", 1)), false)
	require.NoError(t, err)
	read := e.read(r)
	assert.InDelta(t, 5, read.in["spec"].ObjectValue()["replicas"].NumberValue(), 0)
	assert.NotContains(t, read.in["spec"].ObjectValue(), resource.PropertyKey("strategy"))
	imported, err := e.p.Read(t.Context(), &pulumirpc.ReadRequest{Id: r.id, Urn: r.urn})
	require.NoError(t, err)
	in := e.unpack(imported.GetInputs())
	assert.NotContains(t, in, resource.PropertyKey("status"))
	assert.NotContains(t, in["metadata"].ObjectValue(), resource.PropertyKey("uid"))
	require.NoError(t, e.delete(r))
	assert.Empty(t, e.read(r).id)
	require.NoError(t, e.delete(r))
}
