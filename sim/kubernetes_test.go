package sim_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"sigs.k8s.io/yaml"

	"onedoor/internal/armtypes"
	"onedoor/sim"
	"onedoor/sim/core"
	"onedoor/sim/kube"
)

const (
	clusterID = groupID + "/providers/Microsoft.ContainerService/managedClusters/aks"
	apiServer = "aks-1.hcp.swedencentral.azmk8s.io"
)

// managedCluster is a cluster of somebody else, with all add-ons unless they are
// taken away.
func managedCluster(changes m) core.Resource {
	properties := with(m{
		"fqdn": apiServer, "networkProfile": m{"networkDataplane": "cilium", "serviceCidr": "10.9.0.0/16"},
		"workloadAutoScalerProfile": m{"keda": m{"enabled": true}},
		"addonProfiles":             m{"azureKeyvaultSecretsProvider": m{"enabled": true}},
		"azureMonitorProfile":       m{"metrics": m{"enabled": true}},
		"agentPoolProfiles": list(
			m{"name": "system", "mode": "System", "vmSize": "Standard_D4s_v5", "count": 3.0},
			m{"name": "gpu", "mode": "User", "vmSize": "Standard_NC24ads_A100_v4", "enableAutoScaling": true, "minCount": 0.0, "maxCount": 4.0, "nodeTaints": list("sku=gpu:NoSchedule"), "nodeLabels": m{"onedoor/gpu": "a100"}},
			m{"name": "mig", "mode": "User", "vmSize": "Standard_NC24ads_A100_v4", "count": 1.0, "gpuInstanceProfile": "MIG1g", "nodeTaints": list("sku=gpu:NoSchedule")},
			m{"name": "off", "mode": "User", "vmSize": "Standard_ND96isr_H100_v5", "count": 0.0, "nodeTaints": list("sku=gpu:NoSchedule")},
		),
	}, changes)
	return core.Resource{ID: clusterID, Type: "Microsoft.ContainerService/managedClusters", Body: m{"location": "swedencentral", "properties": properties}}
}

func kubeconfig(host string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: aks, clusters: [{name: aks, cluster: {server: "https://%s:443", certificate-authority-data: eA==}}], contexts: [{name: aks, context: {cluster: aks, user: u}}], users: [{name: u, user: {}}]}`, host)
}

// aksEngine returns an engine that drives the provider of a cluster.
func aksEngine(t testing.TB, changes m, opts ...sim.Option) *engine {
	t.Helper()
	cloud, err := sim.Open("", append([]sim.Option{sim.WithQuiet(0), sim.WithSeed(managedCluster(changes))}, opts...)...)
	require.NoError(t, err)
	return connect(t, cloud, m{"kubeconfig": kubeconfig(apiServer)})
}

func connect(t testing.TB, cloud *sim.Cloud, config m) *engine {
	t.Helper()
	e := &engine{t: t, cloud: cloud, p: cloud.Providers()[sim.Kubernetes]}
	e.configureWith(props(config))
	return e
}

func (e *engine) configureWith(config resource.PropertyMap) {
	e.t.Helper()
	urn := "urn:pulumi:dev::p::pulumi:providers:kubernetes::aks"
	_, err := e.p.Configure(context.Background(), &pulumirpc.ConfigureRequest{Urn: &urn, Args: e.pack(config)})
	require.NoError(e.t, err)
}

// body reads an object; "?" stands for what is not known yet.
func body(t testing.TB, text string) resource.PropertyMap {
	t.Helper()
	var out m
	require.NoError(t, yaml.Unmarshal([]byte(text), &out))
	return resource.NewPropertyMapFromMapRepl(out, nil, func(v any) (resource.PropertyValue, bool) { return unknown, v == "?" })
}

// token of an object, as the SDK writes it.
func tokenOf(in resource.PropertyMap) string {
	version := in["apiVersion"].StringValue()
	if !strings.Contains(version, "/") {
		version = "core/" + version
	}
	return "kubernetes:" + version + ":" + in["kind"].StringValue()
}

func (e *engine) apply(text string) (*made, error) {
	e.t.Helper()
	in := body(e.t, text)
	token, name := tokenOf(in), in["metadata"].ObjectValue()["name"].StringValue()
	if in["kind"].StringValue() == kube.ReleaseKind { // a release has none of these
		for _, key := range []resource.PropertyKey{"apiVersion", "kind", "metadata"} {
			delete(in, key)
		}
	}
	return e.create(token, name, in, false)
}

func (e *engine) mustApply(texts ...string) (last *made) {
	e.t.Helper()
	for _, text := range texts {
		r, err := e.apply(text)
		require.NoError(e.t, err)
		last = r
	}
	return last
}

const (
	batchNamespace = `{apiVersion: v1, kind: Namespace, metadata: {name: batch}}`
	workerYAML     = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, namespace: batch}
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec: {containers: [{name: worker, image: "worker:1", resources: {requests: {cpu: 1}}}]}
`
	scalerYAML = `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: worker, namespace: batch}
spec: {scaleTargetRef: {name: worker}, triggers: [{type: azure-servicebus, metadata: {queueName: q, namespace: bus}, authenticationRef: {name: bus}}]}
`
	authYAML = `{apiVersion: keda.sh/v1alpha1, kind: TriggerAuthentication, metadata: {name: bus, namespace: batch}, spec: {podIdentity: {provider: azure-workload}}}`
	hpaYAML  = `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: worker, namespace: batch}, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: worker}}}`
	keyYAML  = `{apiVersion: v1, kind: Secret, metadata: {name: key, namespace: batch}, stringData: {key: opensesame}}`
	conf     = `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: batch}, data: {a: b}}`
)

// gpuPod is a pod that asks for devices.
func gpuPod(resources, more string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: gpu, namespace: batch}, spec: {%s containers: [{name: a, image: "a:1", resources: {limits: {%s}}}]}}`, more, resources)
}

const tolerateGPU = `tolerations: [{key: sku, operator: Equal, value: gpu, effect: NoSchedule}],`

func devicePlugin(strategy string) string {
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: plugin, namespace: kube-system}, spec: {selector: {matchLabels: {app: p}}, template: {metadata: {labels: {app: p}}, spec: {containers: [{name: p, image: "nvcr.io/nvidia/k8s-device-plugin:v0.17.0", env: [{name: MIG_STRATEGY, value: %s}]}]}}}}`, strategy)
}

// Each rule of the API server refuses what it must, and lets its legal neighbour
// pass.
func TestKubernetesRules(t *testing.T) {
	t.Parallel()
	release := func(name, chart string) string {
		return fmt.Sprintf(`{apiVersion: helm.sh/v3, kind: Release, metadata: {name: %s}, name: %s, namespace: batch, chart: %s, version: 1.5.0, repositoryOpts: {repo: "https://charts.example.org"}}`, name, name, chart)
	}
	ray := `{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: ray, namespace: batch}, spec: {headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: a, image: "a:1"}]}}}}}`
	definition := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: xs.x.org}, spec: {group: x.org, scope: Cluster, names: {kind: X, plural: xs}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`
	off := func(path string) m {
		return map[string]m{
			"keda":    {"workloadAutoScalerProfile": m{}},
			"secrets": {"addonProfiles": nil}, "metrics": {"azureMonitorProfile": nil}, "cilium": {"networkProfile": m{"networkDataplane": "azure"}},
		}[path]
	}
	provider := `{apiVersion: secrets-store.csi.x-k8s.io/v1, kind: SecretProviderClass, metadata: {name: tls, namespace: batch}, spec: {provider: azure, parameters: {keyvaultName: kv, tenantId: t}}}`
	monitor := `{apiVersion: azmonitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: m, namespace: batch}, spec: {selector: {}, podMetricsEndpoints: [{port: m}]}}`
	policy := `{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: batch}, spec: {endpointSelector: {}, egress: [{toEntities: [cluster]}]}}`
	for name, c := range map[string]struct {
		changes m        // of the cluster
		before  []string // besides the namespace
		object  string
		want    string // "" for a legal neighbour
	}{
		"A616 no namespace": {object: strings.ReplaceAll(conf, "batch", "nope"), want: `namespaces "nope" not found`},
		"A616 a namespace":  {object: conf},
		"A611 of its own":   {object: strings.ReplaceAll(conf, "batch", "kube-system")},
		"A611 made again":   {object: `{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}`, want: `namespaces "kube-system" already exists`},
		"A611 an account":   {object: `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: batch}}`, want: `serviceaccounts "default" already exists`},
		"A615 twice":        {before: []string{conf}, object: conf, want: `configmaps "conf" already exists`},

		"A620 KEDA is off":            {changes: off("keda"), object: authYAML, want: `no matches for kind "TriggerAuthentication"`},
		"A620 KEDA is on":             {object: authYAML},
		"A620 secrets are off":        {changes: off("secrets"), object: provider, want: "azureKeyvaultSecretsProvider"},
		"A620 secrets are on":         {object: provider},
		"A620 metrics are off":        {changes: off("metrics"), object: monitor, want: "azureMonitorProfile"},
		"A620 metrics are on":         {object: monitor},
		"A620 another dataplane":      {changes: off("cilium"), object: policy, want: "networkDataplane cilium"},
		"A620 Cilium":                 {object: policy},
		"A620 no operator":            {object: ray, want: "install the chart kuberay-operator"},
		"A620 the operator's chart":   {before: []string{release("ray", "kuberay-operator")}, object: ray},
		"A620 another chart":          {before: []string{release("ray", "kuberay-apiserver")}, object: ray, want: "no matches"},
		"A620 a definition":           {before: []string{definition}, object: `{apiVersion: x.org/v1, kind: X, metadata: {name: x}, any: thing}`},
		"A651 KEDA twice":             {object: release("keda", "keda"), want: "v1beta1.external.metrics.k8s.io"},
		"A651 KEDA by chart":          {changes: off("keda"), object: release("keda", "keda")},
		"A652 a chart's namespace":    {object: strings.ReplaceAll(strings.Replace(release("ray", "kuberay-operator"), "chart:", "createNamespace: true, chart:", 1), "namespace: batch", "namespace: ray")},
		"A652 a chart without one":    {object: strings.ReplaceAll(release("ray", "kuberay-operator"), "namespace: batch", "namespace: ray"), want: `namespaces "ray" not found`},
		"A630 two scalers":            {before: []string{workerYAML, scalerYAML}, object: strings.Replace(scalerYAML, "name: worker, namespace", "name: other, namespace", 1), want: "already managed by the ScaledObject 'worker'"},
		"A630 two targets":            {before: []string{workerYAML, scalerYAML}, object: strings.NewReplacer("name: worker, namespace", "name: other, namespace", "{name: worker}", "{name: other}").Replace(scalerYAML)},
		"A630 the autoscaler's name":  {before: []string{workerYAML, scalerYAML}, object: strings.NewReplacer("name: worker, namespace", "name: other, namespace", "{name: worker}", "{name: other}, advanced: {horizontalPodAutoscalerConfig: {name: keda-hpa-worker}}").Replace(scalerYAML), want: "the HPA 'keda-hpa-worker' is already managed"},
		"A630 an autoscaler":          {before: []string{workerYAML, hpaYAML}, object: scalerYAML, want: "already managed by the hpa 'worker'"},
		"A630 one that is handed on":  {before: []string{workerYAML, hpaYAML}, object: strings.NewReplacer("namespace: batch}", "namespace: batch, annotations: {scaledobject.keda.sh/transfer-hpa-ownership: \"true\"}}", "{name: worker}", "{name: worker}, advanced: {horizontalPodAutoscalerConfig: {name: worker}}").Replace(scalerYAML)},
		"A630 one that is excused":    {before: []string{workerYAML, strings.Replace(hpaYAML, "namespace: batch", "namespace: batch, annotations: {validations.keda.sh/hpa-ownership: \"false\"}", 1)}, object: scalerYAML},
		"A630 one afterwards":         {before: []string{workerYAML, scalerYAML}, object: hpaYAML},
		"A631 memory without request": {before: []string{workerYAML}, object: strings.NewReplacer("triggers: [", "minReplicaCount: 1, triggers: [{type: memory, metricType: Utilization, metadata: {value: \"50\"}}, ").Replace(scalerYAML), want: "doesn't have the memory request"},
		"A631 CPU with request":       {before: []string{workerYAML}, object: strings.NewReplacer("triggers: [", "minReplicaCount: 1, triggers: [{type: cpu, metricType: Utilization, metadata: {value: \"50\"}}, ").Replace(scalerYAML)},

		"A640 a GPU":                  {object: gpuPod("nvidia.com/gpu: 1", tolerateGPU)},
		"A640 two GPUs of one node":   {object: gpuPod("nvidia.com/gpu: 8", tolerateGPU), want: "pool gpu (Standard_NC24ads_A100_v4): offers 1 nvidia.com/gpu a node"},
		"A640 a taint":                {object: gpuPod("nvidia.com/gpu: 1", ""), want: "does not tolerate sku=gpu:NoSchedule"},
		"A640 an empty pool":          {object: gpuPod("nvidia.com/gpu: 8", tolerateGPU+`nodeSelector: {agentpool: "off"},`), want: "pool off (Standard_ND96isr_H100_v5): has no nodes"},
		"A640 a label":                {object: gpuPod("nvidia.com/gpu: 1", tolerateGPU+`nodeSelector: {onedoor/gpu: a100},`)},
		"A640 another label":          {object: gpuPod("nvidia.com/gpu: 1", tolerateGPU+`nodeSelector: {onedoor/gpu: h100},`), want: "has no label onedoor/gpu=h100"},
		"A640 an affinity":            {object: gpuPod("nvidia.com/gpu: 1", tolerateGPU+`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: onedoor/gpu, operator: In, values: [a100, h100]}]}]}}},`)},
		"A640 another affinity":       {object: gpuPod("nvidia.com/gpu: 1", tolerateGPU+`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: onedoor/gpu, operator: NotIn, values: [a100]}, {key: agentpool, operator: In, values: [gpu]}]}]}}},`), want: "required affinity"},
		"A640 a label of discovery":   {object: gpuPod("nvidia.com/gpu: 1", tolerateGPU+`nodeSelector: {nvidia.com/gpu.product: A100},`)},
		"A640 a daemon set":           {object: devicePlugin("single")},
		"A640 workers of Ray":         {before: []string{release("ray", "kuberay-operator")}, object: strings.Replace(ray, "{headGroupSpec", "{workerGroupSpecs: [{groupName: g, template: {spec: {containers: [{name: a, image: \"a:1\", resources: {limits: {nvidia.com/gpu: 4}}}]}}}], headGroupSpec", 1), want: "spec.workerGroupSpecs[0].template: got pods that no pool of the cluster takes (4 nvidia.com/gpu)"},
		"A641 a slice, mixed":         {before: []string{devicePlugin("mixed")}, object: gpuPod("nvidia.com/mig-1g.10gb: 7", tolerateGPU)},
		"A641 too many slices":        {before: []string{devicePlugin("mixed")}, object: gpuPod("nvidia.com/mig-1g.10gb: 8", tolerateGPU), want: "offers 7 nvidia.com/mig-1g.10gb a node"},
		"A641 a slice of another cut": {before: []string{devicePlugin("mixed")}, object: gpuPod("nvidia.com/mig-3g.40gb: 1", tolerateGPU), want: "offers 7 nvidia.com/mig-1g.10gb"},
		"A641 a named slice, single":  {before: []string{devicePlugin("single")}, object: gpuPod("nvidia.com/mig-1g.10gb: 1", tolerateGPU), want: "offers 7 nvidia.com/gpu"},
		"A641 slices, single":         {before: []string{devicePlugin("single")}, object: gpuPod("nvidia.com/gpu: 7", tolerateGPU)},
		"A641 slices, hidden":         {before: []string{devicePlugin("none")}, object: gpuPod("nvidia.com/gpu: 7", tolerateGPU), want: "offers no slices with MIG strategy none"},
		"A641 slices by a chart":      {before: []string{strings.Replace(release("plugin", "nvidia-device-plugin"), "chart:", "values: {migStrategy: mixed}, chart:", 1)}, object: gpuPod("nvidia.com/gpu: 7", tolerateGPU), want: "offers 7 nvidia.com/mig-1g.10gb"},
		"A641 no plugin yet":          {object: gpuPod("nvidia.com/mig-1g.10gb: 1", tolerateGPU)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := aksEngine(t, c.changes)
			e.mustApply(batchNamespace)
			e.mustApply(c.before...)
			_, err := e.apply(c.object)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			_, err = aksEngine(t, c.changes, sim.WithTypesOnly()).apply(c.object)
			if !strings.HasPrefix(name, "A615") && !strings.HasPrefix(name, "A611") { // no other object is asked
				assert.NoError(t, err, "with types only")
			}
		})
	}
}

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

// A changed or unknown identifier is another cluster, the same one is not,
// whatever the kubeconfig says; without one the kubeconfig decides (A600).
func TestKubernetesProviderReplacement(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	one, other := kubeconfig("one"), kubeconfig("other")
	for name, c := range map[string]struct {
		olds, news m
		changes    bool
		replaces   []string
	}{
		"nothing":                      {m{"kubeconfig": one}, m{"kubeconfig": one}, false, nil},
		"another cluster":              {m{"kubeconfig": one}, m{"kubeconfig": other}, true, []string{"kubeconfig"}},
		"the same cluster, other user": {m{"kubeconfig": one}, m{"kubeconfig": strings.Replace(one, "name: u", "name: v", 1)}, true, nil},
		"unknown":                      {m{"kubeconfig": one}, m{"kubeconfig": "?"}, true, []string{"kubeconfig"}},
		"unknown, same identifier":     {m{"kubeconfig": one, "clusterIdentifier": "a"}, m{"kubeconfig": "?", "clusterIdentifier": "a"}, true, nil},
		"another, same identifier":     {m{"kubeconfig": one, "clusterIdentifier": "a"}, m{"kubeconfig": other, "clusterIdentifier": "a"}, true, nil},
		"another identifier":           {m{"kubeconfig": one, "clusterIdentifier": "a"}, m{"kubeconfig": one, "clusterIdentifier": "b"}, true, []string{"clusterIdentifier"}},
		"an unknown identifier":        {m{"kubeconfig": one, "clusterIdentifier": "a"}, m{"kubeconfig": one, "clusterIdentifier": "?"}, true, []string{"clusterIdentifier"}},
		"a first identifier":           {m{"kubeconfig": one}, m{"kubeconfig": one, "clusterIdentifier": "a"}, true, nil},
	} {
		unknowns := func(v any) (resource.PropertyValue, bool) { return unknown, v == "?" }
		d, err := e.p.DiffConfig(t.Context(), &pulumirpc.DiffRequest{
			Urn: "urn:pulumi:dev::p::pulumi:providers:kubernetes::aks", Olds: e.pack(props(c.olds)), News: e.pack(resource.NewPropertyMapFromMapRepl(c.news, nil, unknowns)),
		})
		require.NoError(t, err)
		assert.Equal(t, c.changes, d.GetChanges() == pulumirpc.DiffResponse_DIFF_SOME, name)
		assert.Equal(t, c.replaces, d.GetReplaces(), name)
	}
}

// Options that do not exist and kubeconfigs that lead nowhere are refused (A606).
func TestKubernetesCheckConfig(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	for name, c := range map[string]struct {
		config m
		want   string
	}{
		"right":               {m{"kubeconfig": kubeconfig("x"), "clusterIdentifier": "a"}, ""},
		"an option":           {m{"kubeConfig": "x"}, "an option that the simulator does not know"},
		"no YAML":             {m{"kubeconfig": "[[["}, "no YAML"},
		"no context":          {m{"kubeconfig": kubeconfig("x"), "context": "b"}, `no context "b"`},
		"no server":           {m{"kubeconfig": kubeconfig("x"), "cluster": "b"}, `no server of the cluster "b"`},
		"without server side": {m{"enableServerSideApply": "false"}, "server-side apply alone"},
	} {
		r, err := e.p.CheckConfig(t.Context(), &pulumirpc.CheckRequest{News: e.pack(props(c.config))})
		require.NoError(t, err)
		if c.want == "" {
			assert.Empty(t, r.GetFailures(), name)
			continue
		}
		require.Len(t, r.GetFailures(), 1, name)
		assert.Contains(t, r.GetFailures()[0].GetReason(), c.want, name)
	}
}

// Until the kubeconfig is known previews echo their inputs, and nothing else
// reaches a cluster (A603).
func TestKubernetesWithoutKubeconfig(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	e.configureWith(resource.PropertyMap{"kubeconfig": unknown})
	in := body(t, conf)
	r, err := e.create(tokenOf(in), "conf", in, true)
	require.NoError(t, err)
	assert.Empty(t, r.id)
	assert.Equal(t, in, r.outputs)
	_, err = e.create(tokenOf(in), "conf", in, false)
	assert.ErrorContains(t, err, "configured Kubernetes cluster is unreachable: the kubeconfig is not known")
	assert.Empty(t, e.cloud.State().Objects)

	e.configureWith(nil)
	_, err = e.create(tokenOf(in), "conf", in, false)
	assert.ErrorContains(t, err, "unreachable: no kubeconfig")
}

// A cluster that is gone or stopped does not answer (A604).
func TestKubernetesUnreachable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host    string
		changes m
		want    string
	}{
		"of another name": {host: "nobody.example.org", want: "no cluster of this cloud has this API server"},
		"stopped":         {host: apiServer, changes: m{"powerState": m{"code": "Stopped"}}, want: "the cluster is stopped"},
		"private":         {host: "Private.example.org", changes: m{"privateFQDN": "private.example.org"}},
	} {
		e := aksEngine(t, c.changes)
		e.configureWith(props(m{"kubeconfig": kubeconfig(c.host)}))
		_, err := e.apply(batchNamespace)
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, "unable to load schema information from the API server", name)
		r := &made{id: "batch", urn: urn("kubernetes:core/v1:Namespace", "batch"), in: body(t, batchNamespace)}
		require.ErrorContains(t, e.delete(r), c.want, name)
		_, err = e.p.Read(t.Context(), &pulumirpc.ReadRequest{Id: r.id, Urn: r.urn, Inputs: e.pack(r.in)})
		require.ErrorContains(t, err, "PULUMI_K8S_DELETE_UNREACHABLE", name)

		e.configureWith(props(m{"kubeconfig": kubeconfig(c.host), "deleteUnreachable": true}))
		require.NoError(t, e.delete(r), name)
		assert.Empty(t, e.read(r).id, name)
	}
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

// A cluster that is made again under its name is empty, and its objects have
// other ids (A610, A613).
func TestKubernetesRebuiltClusterIsEmpty(t *testing.T) {
	t.Parallel()
	azure := open(t)
	azure.mustCreate(groupToken, "group", groupIn)
	aks := m{
		"resourceGroupName": "rg", "resourceName": "aks", "dnsPrefix": "aks", "identity": m{"type": "SystemAssigned"},
		"agentPoolProfiles": list(m{"name": "system", "mode": "System", "vmSize": "Standard_D4s_v5", "count": 1.0, "type": "VirtualMachineScaleSets", "osType": "Linux"}),
	}
	ids := map[string]bool{}
	for range 2 {
		cluster := azure.mustCreate(aksToken, "aks", aks)
		e := connect(t, azure.cloud, m{"kubeconfig": kubeconfig(cluster.outputs["fqdn"].StringValue())})
		assert.Empty(t, kube.Objects(azure.cloud.State(), cluster.id))
		r := e.mustApply(batchNamespace)
		out := r.outputs.Mappable()["metadata"].(m)
		assert.Equal(t, "2026-01-01T00:00:00Z", out["creationTimestamp"])
		ids[out["uid"].(string)] = true
		require.NoError(t, azure.delete(cluster))
		assert.Empty(t, azure.cloud.State().Objects)
		_, err := e.apply(conf)
		require.ErrorContains(t, err, "no cluster of this cloud")
	}
	assert.Len(t, ids, 2)
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
	_, err := e.create(token, "again", props(right), false)
	require.ErrorContains(t, err, "already exists")
	d := e.diff(r, props(with(right, m{"version": "1.5.1"})))
	assert.Empty(t, d.GetReplaces())
	assert.Equal(t, []string{"version"}, d.GetDiffs())
	assert.Equal(t, []string{"name"}, e.diff(r, props(with(right, m{"name": "other"}))).GetReplaces())
	u, err := e.update(r, props(with(right, m{"version": "1.5.1"})), false)
	require.NoError(t, err)
	assert.InDelta(t, 2, u.outputs.Mappable()["status"].(m)["revision"], 0)
	require.NoError(t, e.delete(r))
	assert.Empty(t, e.read(r).id)
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

// Two instances of the provider over one listener keep to their own clusters, as
// the old and the new one of a replacement do (A602).
func TestKubernetesInstancesAreApart(t *testing.T) {
	t.Parallel()
	second := managedCluster(m{"fqdn": "second.example.org"})
	second.ID += "2"
	cloud, err := sim.Open("", sim.WithQuiet(0), sim.WithSeed(managedCluster(nil), second))
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	pulumirpc.RegisterResourceProviderServer(server, cloud.Providers()[sim.Kubernetes])
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	e := aksEngine(t, nil)
	in := body(t, batchNamespace)
	var clients []pulumirpc.ResourceProviderClient
	for _, host := range []string{apiServer, "second.example.org"} {
		connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		require.NoError(t, err)
		t.Cleanup(func() { _ = connection.Close() })
		client := pulumirpc.NewResourceProviderClient(connection)
		_, err = client.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: e.pack(props(m{"kubeconfig": kubeconfig(host)}))})
		require.NoError(t, err)
		clients = append(clients, client)
	}
	for range 2 {
		_, err = clients[0].Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(tokenOf(in), "a"), Properties: e.pack(in)})
	}
	require.ErrorContains(t, err, "already exists")
	_, err = clients[1].Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(tokenOf(in), "b"), Properties: e.pack(in)})
	require.NoError(t, err)
	assert.Len(t, kube.Objects(cloud.State(), clusterID), 1)
	assert.Len(t, kube.Objects(cloud.State(), second.ID), 1)
}
