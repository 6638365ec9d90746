package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
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
