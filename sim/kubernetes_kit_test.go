package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

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
