//go:build judges

package judges

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"onedoor/internal/kube"
)

// node is where all pods run: nobody looks at what fits.
const node = "node"

// standIn says what AKS, its nodes and its load balancer would say, until the test
// ends: that pods run and end, that services have their address, that models are served,
// and, if keda, that KEDA is satisfied. It judges nothing.
func (c *cluster) standIn(t *testing.T, keda bool) {
	t.Helper()
	require.NoError(t, c.apply(t.Context(), kindOf("v1", "Node", "", node)))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() { stop(); <-ended })
	go func() {
		defer close(ended)
		address := 0
		for ctx.Err() == nil {
			c.each(ctx, "v1", "pods", func(pod *unstructured.Unstructured) map[string]any {
				if !c.placed(ctx, pod) || isTrue(pod, "Ready") {
					return nil
				}
				address++
				return running(address)
			})
			c.each(ctx, "v1", "services", balanced)
			c.each(ctx, "ray.io/v1", "rayservices", satisfied)
			if keda {
				c.each(ctx, "keda.sh/v1alpha1", "scaledobjects", satisfied)
				c.each(ctx, "keda.sh/v1alpha1", "scaledjobs", satisfied)
			}
			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond):
			}
		}
	}()
}

// each gives objects of a kind the status that says makes, none for nil. Objects
// that changed meanwhile have their turn again.
func (c *cluster) each(ctx context.Context, apiVersion, plural string, says func(*unstructured.Unstructured) map[string]any) {
	kind := schema.FromAPIVersionAndKind(apiVersion, "").GroupVersion().WithResource(plural)
	list, err := c.dynamic.Resource(kind).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for i := range list.Items {
		object := &list.Items[i]
		status := says(object)
		if status == nil {
			continue
		}
		object.Object["status"] = status
		_, _ = c.dynamic.Resource(kind).Namespace(object.GetNamespace()).UpdateStatus(ctx, object, metav1.UpdateOptions{})
	}
}

// placed puts a pod on the node, or takes it away if it was deleted, and says
// whether it is there for good.
func (c *cluster) placed(ctx context.Context, pod *unstructured.Unstructured) bool {
	at := c.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(pod.GetNamespace())
	on, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	switch {
	case pod.GetDeletionTimestamp() != nil:
		now := int64(0)
		_ = at.Delete(ctx, pod.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now})
		return false
	case on == "":
		binding := kindOf("v1", "Binding", pod.GetNamespace(), pod.GetName())
		binding.Object["target"] = map[string]any{"apiVersion": "v1", "kind": "Node", "name": node}
		_, _ = at.Create(ctx, binding, metav1.CreateOptions{}, "binding")
		return false // it has another version now
	}
	return true
}

// condition is one that holds.
func condition(name string) map[string]any {
	return map[string]any{"type": name, "status": "True", "reason": "StandIn", "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
}

// running is the status of a pod that runs, the n-th one.
func running(n int) map[string]any {
	address := fmt.Sprintf("10.244.%d.%d", n/250, n%250+1)
	return map[string]any{
		"phase": "Running", "podIP": address, "podIPs": []any{map[string]any{"ip": address}},
		"conditions": []any{condition("Ready"), condition("ContainersReady"), condition("Initialized"), condition("PodScheduled")},
	}
}

// balanced is the status of a service that has the address it asks for.
func balanced(service *unstructured.Unstructured) map[string]any {
	kind, _, _ := unstructured.NestedString(service.Object, "spec", "type")
	_, has, _ := unstructured.NestedSlice(service.Object, "status", "loadBalancer", "ingress")
	address := service.GetAnnotations()["service.beta.kubernetes.io/azure-load-balancer-ipv4"]
	if kind != "LoadBalancer" || has || address == "" {
		return nil
	}
	return map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": address}}}}
}

// satisfied is the status of an object that its operator found nothing wrong with.
func satisfied(object *unstructured.Unstructured) map[string]any {
	if isTrue(object, "Ready") {
		return nil
	}
	return map[string]any{"conditions": []any{condition("Ready")}}
}

// addOns makes what AKS brings: KEDA's deployment.
func (c *cluster) addOns(t *testing.T) {
	t.Helper()
	eventually(t, "the namespace of the system is there", func(ctx context.Context) (bool, error) {
		_, err := c.get(ctx, kindOf("v1", "Namespace", "", kube.System))
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	require.NoError(t, c.apply(t.Context(), parse(t, fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  selector: {matchLabels: {app: keda-operator}}
  template:
    metadata: {labels: {app: keda-operator}}
    spec: {containers: [{name: keda-operator, image: registry.example/keda}]}
`, kube.KEDA.Name, kube.KEDA.Namespace))))
}
