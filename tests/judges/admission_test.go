//go:build judges

package judges

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"onedoor/internal/kube"
)

// pod is a pod that the strictest namespace takes, with more in its spec.
func pod(t *testing.T, namespace, spec string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: guest, namespace: %s}
spec:
  securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: main
    image: registry.example/guest
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {cpu: 10m, memory: 16Mi}}
`, namespace))
	more := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(spec), &more))
	maps.Copy(object.Object["spec"].(map[string]any), more)
	return object
}

// autoscaler is an HPA of a deployment.
func autoscaler(t *testing.T, namespace string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, fmt.Sprintf(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: second, namespace: %s}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: worker-text}
  maxReplicas: 50
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`, namespace))
}

// provider registers somebody for a group of metrics.
func provider(t *testing.T, group, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, fmt.Sprintf(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.%[1]s}
spec:
  group: %[1]s
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {namespace: %[2]s, name: %[3]s}
`, group, namespace, name))
}

// attempt is an object that somebody writes, and what the server should say.
type attempt struct {
	who    string
	object *unstructured.Unstructured
	refuse string // what the message says; "" is accepted
}

// judge says what is wrong with the server's answer. The clients are by name.
func (a attempt) judge(ctx context.Context, clients map[string]client) error {
	switch err := dryRun(ctx, clients[a.who], a.object); {
	case a.refuse == "" && err != nil:
		return fmt.Errorf("refused: %w", err)
	case a.refuse != "" && err == nil:
		return fmt.Errorf("accepted, want %q", a.refuse)
	case a.refuse != "" && !(apierrors.IsForbidden(err) && strings.Contains(err.Error(), a.refuse)):
		return fmt.Errorf("want %q, got %w", a.refuse, err)
	}
	return nil
}

// attempts are what each wall is for, and what is nearest to it.
func attempts(t *testing.T) map[string]attempt {
	t.Helper()
	const key, value = "onedoor/batch", "only"
	byName := fmt.Sprintf("tolerations: [{key: %s, operator: Equal, value: %s, effect: NoSchedule}]", key, value)
	const everything = "tolerations: [{operator: Exists}]"
	return map[string]attempt{
		"a worker that tolerates the batch nodes":    {admin, pod(t, kube.Workers, byName), "may not tolerate the taint " + key},
		"by the key alone":                           {admin, pod(t, kube.Workers, fmt.Sprintf("tolerations: [{key: %s, operator: Exists}]", key)), "may not tolerate the taint"},
		"without an operator, which is Equal":        {admin, pod(t, kube.Workers, fmt.Sprintf("tolerations: [{key: %s, value: %s}]", key, value)), "may not tolerate the taint"},
		"a worker that tolerates everything":         {admin, pod(t, kube.Workers, everything), "may not tolerate the taint"},
		"everything, elsewhere":                      {admin, pod(t, "default", everything), "may not tolerate the taint"},
		"everything, as a controller of the cluster": {controller, pod(t, "default", everything), "may not tolerate the taint"},
		"another value of the taint":                 {admin, pod(t, kube.Workers, fmt.Sprintf("tolerations: [{key: %s, operator: Equal, value: other, effect: NoSchedule}]", key)), ""},
		"another effect of it":                       {admin, pod(t, kube.Workers, fmt.Sprintf("tolerations: [{key: %s, operator: Exists, effect: NoExecute}]", key)), ""},
		"another taint":                              {admin, pod(t, kube.Workers, "tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]"), ""},
		"no toleration":                              {admin, pod(t, kube.Workers, ""), ""},
		"the batch namespace itself":                 {admin, pod(t, kube.Batch, byName), ""},
		"AKS's own pods":                             {admin, pod(t, kube.System, everything), ""},
		"a node by its name":                         {admin, pod(t, kube.Workers, "nodeName: aks-batch-0"), "may not name their node"},
		"a node by its name, elsewhere":              {admin, pod(t, "default", "nodeName: aks-batch-0"), "may not name their node"},
		"nodes by a label":                           {admin, pod(t, kube.Workers, "nodeSelector: {pool: worker}"), ""},
		"a second autoscaler of workers":             {admin, autoscaler(t, kube.Workers), "scaled by KEDA"},
		"KEDA's autoscaler":                          {kube.KEDA.String(), autoscaler(t, kube.Workers), ""},
		"an autoscaler elsewhere":                    {admin, autoscaler(t, "default"), ""},
		"another provider of external metrics":       {admin, provider(t, "external.metrics.k8s.io", "monitoring", "adapter"), "external metrics are KEDA's"},
		"one of that name in another namespace":      {admin, provider(t, "external.metrics.k8s.io", "monitoring", "keda-operator-metrics-apiserver"), "external metrics are KEDA's"},
		"KEDA as provider of external metrics":       {admin, provider(t, "external.metrics.k8s.io", kube.System, "keda-operator-metrics-apiserver"), ""},
		"a provider of custom metrics":               {admin, provider(t, "custom.metrics.k8s.io", "monitoring", "adapter"), ""},
		"a worker as root":                           {admin, pod(t, kube.Workers, "securityContext: {runAsUser: 0}"), `violates PodSecurity "restricted`},
		"more devices than are planned":              {admin, gpuPod(t, 10_000), "exceeded quota: planned"},
		"a device":                                   {admin, gpuPod(t, 1), ""},
	}
}

// The people of attempts.
const (
	admin      = "admin@example"
	controller = "system:serviceaccount:kube-system:replicaset-controller"
)

// Each wall refuses what it is for, and lets through what is nearest to it. One
// wrong field of a wall changes that.
func TestAdmissionPoliciesRefuse(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	objects := manifests(t, up(t, "prod"))
	for _, object := range objects {
		require.NoError(t, c.apply(t.Context(), object), object.GetName())
	}
	clients, all := map[string]client{}, attempts(t)
	for _, who := range []string{admin, controller, kube.KEDA.String()} {
		clients[who] = c.as(t, who)
	}
	wrong := func(ctx context.Context) bool {
		for _, one := range all {
			if one.judge(ctx, clients) != nil {
				return true
			}
		}
		return false
	}
	for _, name := range []string{"a worker that tolerates everything", "a second autoscaler of workers", "another provider of external metrics"} {
		require.Contains(t, all, name)
		eventually(t, "a policy holds: "+name, func(ctx context.Context) (bool, error) { return all[name].judge(ctx, clients) == nil, nil })
	}
	for _, namespace := range []string{"default", kube.Batch, kube.Serving, kube.System, kube.Workers} {
		eventually(t, "pods can be made in "+namespace, func(ctx context.Context) (bool, error) {
			_, err := c.get(ctx, kindOf("v1", "ServiceAccount", namespace, "default"))
			return err == nil, nil
		})
	}
	for name, one := range all {
		t.Run(name, func(t *testing.T) { require.NoError(t, one.judge(t.Context(), clients)) })
	}
	const policy, binding = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
	for name, one := range map[string]struct { //nolint:paralleltest // one cluster has one of each policy
		kind, object string
		path         string
		value        any // nil takes the field away
	}{
		"tolerations of anybody":      {policy, "onedoor-batch-nodes", "spec.validations.0.expression", "true"},
		"tolerations of nobody":       {policy, "onedoor-batch-nodes", "spec.validations.0.expression", "!has(object.spec.tolerations)"},
		"any name of a node":          {policy, "onedoor-batch-nodes", "spec.validations.1.expression", "true"},
		"also the batch namespace":    {policy, "onedoor-batch-nodes", "spec.matchConstraints.namespaceSelector", nil},
		"other objects than pods":     {policy, "onedoor-batch-nodes", "spec.matchConstraints.resourceRules.0.resources", []any{"services"}},
		"changes alone":               {policy, "onedoor-batch-nodes", "spec.matchConstraints.resourceRules.0.operations", []any{"UPDATE"}},
		"a log in place of a refusal": {binding, "onedoor-batch-nodes", "spec.validationActions", []any{"Audit"}},
		"any autoscaler":              {policy, "onedoor-one-autoscaler", "spec.validations.0.expression", "true"},
		"no autoscaler":               {policy, "onedoor-one-autoscaler", "spec.validations.0.expression", "false"},
		"autoscalers everywhere":      {policy, "onedoor-one-autoscaler", "spec.matchConstraints.namespaceSelector", nil},
		"autoscalers with a warning":  {binding, "onedoor-one-autoscaler", "spec.validationActions", []any{"Warn"}},
		"any provider of metrics":     {policy, "onedoor-one-external-metrics", "spec.validations.0.expression", "true"},
		"providers of another group":  {policy, "onedoor-one-external-metrics", "spec.matchConstraints.resourceRules.0.apiGroups", []any{"apps"}},
		"a binding of another policy": {binding, "onedoor-one-external-metrics", "spec.policyName", "onedoor-one-autoscaler"},
		"a namespace without a level": {"Namespace", kube.Workers, "metadata.labels", nil},
		"a quota of pods alone":       {"ResourceQuota", kube.Serving + "/planned", "spec.hard", map[string]any{"pods": "100"}},
	} {
		t.Run("one field is wrong: "+name, func(t *testing.T) {
			right := find(t, objects, one.kind, one.object)
			broken := right.DeepCopy()
			put(t, broken, one.path, one.value)
			require.NoError(t, c.apply(t.Context(), broken))
			eventually(t, "an attempt ends otherwise", func(ctx context.Context) (bool, error) { return wrong(ctx), nil })
			require.NoError(t, c.apply(t.Context(), right))
			eventually(t, "the wall stands again", func(ctx context.Context) (bool, error) { return !wrong(ctx), nil })
		})
	}
	t.Run("a toleration that comes later", func(t *testing.T) {
		running := pod(t, kube.Workers, "")
		require.NoError(t, c.create(t.Context(), running))
		spec := running.Object["spec"].(map[string]any)
		spec["tolerations"] = []any{map[string]any{"operator": "Exists", "effect": "NoSchedule"}}
		require.ErrorContains(t, c.apply(t.Context(), running), "may not tolerate the taint")
		spec["tolerations"] = []any{map[string]any{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}}
		require.NoError(t, c.apply(t.Context(), running))
	})
}

// gpuPod is a model server with so many GPUs.
func gpuPod(t *testing.T, n int64) *unstructured.Unstructured {
	t.Helper()
	object := pod(t, kube.Serving, "")
	container := object.Object["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	count := strconv.FormatInt(n, 10)
	container["resources"] = map[string]any{"requests": map[string]any{"nvidia.com/gpu": count}, "limits": map[string]any{"nvidia.com/gpu": count}}
	return object
}
