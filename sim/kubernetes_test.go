package sim_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
	"onedoor/sim/core"
)

// What is wrong with an object by itself is said by Check, at its path, and
// secrets are not shown (A601).
func TestKubernetesCheck(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	in := body(t, strings.Replace(workerYAML, "image:", "imagge:", 1))
	_, failures := e.check(tokenOf(in), "worker", in)
	require.Len(t, failures, 2)
	assert.Equal(t, "spec.template.spec.containers[0].image", failures[0].GetProperty())
	assert.Contains(t, failures[0].GetReason(), "got nothing, want an image")
	assert.Equal(t, "spec.template.spec.containers[0].imagge", failures[1].GetProperty())
	assert.Contains(t, failures[1].GetReason(), "did you mean image?")

	in = body(t, workerYAML)
	env := list(m{"name": "A", "value": 7.0})
	in["spec"].ObjectValue()["template"].ObjectValue()["spec"].ObjectValue()["containers"].ArrayValue()[0].ObjectValue()["env"] = resource.MakeSecret(resource.NewPropertyValue(env))
	_, failures = e.check(tokenOf(in), "worker", in)
	require.Len(t, failures, 1)
	assert.Contains(t, failures[0].GetReason(), "got [secret], want a string")

	_, failures = e.check("kubernetes:core/v1:ConfigMap", "x", body(t, workerYAML))
	require.Len(t, failures, 1)
	assert.Contains(t, failures[0].GetReason(), "ConfigMap of v1, as the resource's type says")

	_, failures = e.check("kubernetes:apps/v1:Deploymentt", "x", props(m{"metadata": m{"name": "x"}}))
	require.Len(t, failures, 1)
	assert.Contains(t, failures[0].GetReason(), "did you mean Deployment?")

	checked, failures := e.check("kubernetes:core/v1:ConfigMap", "x", props(m{"metadata": m{"name": "x"}}))
	assert.Empty(t, failures)
	assert.Equal(t, m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": "x", "namespace": "default"}}, checked.Mappable())
	checked, _ = e.check("kubernetes:core/v1:Namespace", "x", props(m{"metadata": m{"name": "x"}}))
	assert.Equal(t, m{"name": "x"}, checked.Mappable()["metadata"])

	_, err := e.p.Check(t.Context(), &pulumirpc.CheckRequest{Urn: urn("kubernetes:Namespace", "x"), News: e.pack(nil)})
	assert.ErrorContains(t, err, "kubernetes:group/version:Kind")
}

// A preview refuses what the update would refuse, but not what the program may
// make first, and changes nothing (A605).
func TestKubernetesPreview(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	preview := func(name, text string) (*made, error) {
		in := body(t, text)
		return e.create(tokenOf(in), name, in, true)
	}
	for name, text := range map[string]string{
		"no namespace yet": conf,
		"no kind yet":      `{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: ray}, spec: {headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: ray, image: ray}]}}}}}`,
		"unknown":          strings.Replace(conf, "a: b", "a: '?'", 1),
	} {
		r, err := preview(name, text)
		require.NoError(t, err, name)
		assert.Empty(t, r.id, name)
	}
	_, err := preview("namespace", batchNamespace)
	require.NoError(t, err)
	_, err = preview("gpu", gpuPod("nvidia.com/gpu: 8", tolerateGPU))
	require.ErrorContains(t, err, "no pool of the cluster takes")
	r, err := preview("worker", workerYAML)
	require.NoError(t, err)
	assert.NotContains(t, r.outputs, resource.PropertyKey("status"))
	assert.NotContains(t, r.outputs["metadata"].ObjectValue(), resource.PropertyKey("uid"))
	_, err = preview("again", workerYAML)
	require.ErrorContains(t, err, "two resources of this program are the same object")
	assert.Empty(t, e.cloud.State().Objects)

	e.mustApply(batchNamespace, conf)
	e.configureWith(props(m{"kubeconfig": kubeconfig(apiServer)}))
	_, err = preview("conf", conf)
	require.NoError(t, err, "its replacement looks the same")
}

// Secrets stay secret in outputs, as text and as data (A608).
func TestKubernetesKeepsSecrets(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	e.mustApply(batchNamespace)
	in := body(t, keyYAML)
	in["stringData"] = resource.NewProperty(resource.PropertyMap{"key": resource.MakeSecret(resource.NewProperty("opensesame"))})
	for _, preview := range []bool{true, false} {
		r, err := e.create(tokenOf(in), "key", in, preview)
		require.NoError(t, err)
		assert.True(t, r.outputs["data"].IsSecret(), r.outputs)
		assert.NotContains(t, r.outputs, resource.PropertyKey("stringData"))
	}
}

// A namespace takes all that is in it along (A617); what is the cluster's own
// stays (A611).
func TestKubernetesNamespaceDeletion(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	namespace := e.mustApply(batchNamespace)
	inside := e.mustApply(workerYAML)
	outside := e.mustApply(strings.ReplaceAll(conf, "batch", "default"))
	require.NoError(t, e.delete(namespace))
	assert.Empty(t, e.read(inside).id)
	assert.Equal(t, outside.id, e.read(outside).id)
	require.NoError(t, e.delete(inside))
	system := &made{id: "kube-system", urn: urn("kubernetes:core/v1:Namespace", "x"), in: body(t, batchNamespace)}
	require.ErrorContains(t, e.delete(system), "may not be deleted")
}

// KEDA's objects wait for its operator (A618), and its kinds stay as long as they
// do (A621).
func TestKubernetesFinalizers(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	namespace := e.mustApply(batchNamespace)
	auth := e.mustApply(authYAML)
	assert.Equal(t, list("finalizer.keda.sh"), auth.outputs.Mappable()["metadata"].(m)["finalizers"])
	e.cloud.Seed(managedCluster(m{"workloadAutoScalerProfile": m{"keda": m{"enabled": false}}}))
	require.ErrorContains(t, e.delete(auth), "timed out waiting for the deletion")
	require.ErrorContains(t, e.delete(namespace), "finalizer.keda.sh")
	assert.Equal(t, auth.id, e.read(auth).id)
	other := e.mustApply(strings.Replace(authYAML, "name: bus", "name: other", 1))
	assert.NotContains(t, other.outputs["metadata"].ObjectValue(), resource.PropertyKey("finalizers"), "nobody adds one")
	require.NoError(t, e.delete(other))
	e.cloud.Seed(managedCluster(nil))
	require.NoError(t, e.delete(auth))
	require.NoError(t, e.delete(namespace))
	assert.Empty(t, e.cloud.State().Objects)
}

// A scaler whose target or credentials are missing is accepted and not ready
// (A632).
func TestKubernetesScalerStatus(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	e.mustApply(batchNamespace)
	ready := func(r *made) (string, any) {
		c := r.outputs.Mappable()["status"].(m)["conditions"].([]any)[0].(m)
		return c["status"].(string), c["message"]
	}
	r := e.mustApply(scalerYAML)
	status, message := ready(r)
	assert.Equal(t, "False", status)
	assert.Equal(t, `Deployment "worker" not found`, message)
	require.NoError(t, e.delete(r))
	e.mustApply(workerYAML)
	r = e.mustApply(scalerYAML)
	_, message = ready(r)
	assert.Equal(t, `TriggerAuthentication "bus" not found`, message)
	require.NoError(t, e.delete(r))
	e.mustApply(authYAML)
	status, _ = ready(e.mustApply(scalerYAML))
	assert.Equal(t, "True", status)
}

// Two runs answer the same; an object made again has another id (A613).
func TestKubernetesIsDeterministic(t *testing.T) {
	t.Parallel()
	run := func() (out []m) {
		e := aksEngine(t, nil)
		r := e.mustApply(batchNamespace)
		out = append(out, r.outputs.Mappable(), e.mustApply(workerYAML).outputs.Mappable())
		require.NoError(t, e.delete(r))
		return append(out, e.mustApply(batchNamespace).outputs.Mappable())
	}
	first := run()
	assert.Equal(t, first, run())
	assert.NotEqual(t, first[0]["metadata"].(m)["uid"], first[2]["metadata"].(m)["uid"])
}

// Objects survive the process (A610).
func TestKubernetesStateSurvives(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "azure.json")
	reopen := func() *engine {
		cloud, err := sim.Open(path, sim.WithQuiet(0), sim.WithSeed(managedCluster(nil)))
		require.NoError(t, err)
		return connect(t, cloud, m{"kubeconfig": kubeconfig(apiServer)})
	}
	e := reopen()
	e.mustApply(batchNamespace)
	r := e.mustApply(workerYAML)
	e = reopen()
	assert.Equal(t, r.outputs, e.read(r).outputs)
}

// Faults strike objects as they strike resources of Azure.
func TestKubernetesFaults(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	e.cloud.Inject(sim.Fault{Type: "kubernetes:core/v1:Namespace", Code: core.OperationNotAllowed, Message: "before"})
	_, err := e.apply(batchNamespace)
	require.ErrorContains(t, err, "before")
	assert.Empty(t, e.cloud.State().Objects)
	e.cloud.Inject(sim.Fault{ID: clusterID + "/objects//Namespace//batch", When: sim.AfterApply, Code: core.OperationNotAllowed, Message: "after"})
	_, err = e.apply(batchNamespace)
	require.ErrorContains(t, err, "failed to fully initialize")
	assert.Len(t, e.cloud.State().Objects, 1)
	assert.Equal(t, clusterID+"/objects//Namespace//batch", e.cloud.Log()[0].ID)
}

// Create takes over what exists only if the provider is told to (A615).
func TestKubernetesUpsert(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	e.mustApply(batchNamespace, conf)
	_, err := e.apply(conf)
	require.ErrorContains(t, err, "already exists")
	e.configureWith(props(m{"kubeconfig": kubeconfig(apiServer), "upsertExistingObjects": "true"}))
	e.mustApply(conf)
}
