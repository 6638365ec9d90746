//go:build judges

package judges

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"onedoor/internal/kube"
)

// The life of a stack with Pulumi's own provider and a real API server: what it
// makes comes up, a second update finds nothing to do, one queue changes alone, and
// at the end nothing is left.
func TestUpdatesOfARealCluster(t *testing.T) {
	slow(t)
	t.Parallel()
	c := newCluster(t)
	c.addOns(t)
	c.standIn(t, true)
	s := session(t, "dev")
	s.Kubernetes = newForward(t, c)

	made, err := s.Up(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"create": len(made.Resources)}, made.Changes)
	c.comesUp(t)

	again, err := s.Up(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"same": len(made.Resources)}, again.Changes)

	text := kindOf("keda.sh/v1alpha1", "ScaledObject", kube.Workers, "worker-text")
	assert.Equal(t, room(t, s.StackFile)["text"], c.most(t, text))
	image := c.scaler(t, "worker-image")
	s.StackFile = edited(t, s.StackFile, "        itemTime: 15s\n        tokensPerItem: 1500\n", "        itemTime: 20s\n        tokensPerItem: 1000\n")
	require.NotEqual(t, c.most(t, text), room(t, s.StackFile)["text"], "less work takes more replicas")
	changed, err := s.Up(t.Context())
	require.NoError(t, err)
	var updated []string
	for _, r := range changed.Resources {
		if r.Op != "same" {
			updated = append(updated, r.Op+" "+r.Name)
		}
	}
	assert.Equal(t, []string{"update cluster-base-onedoor-workers-quota", "update workers-text", "update workers-text-scaler"}, updated)
	assert.Equal(t, room(t, s.StackFile)["text"], c.most(t, text))
	assert.Equal(t, image, c.scaler(t, "worker-image"), "another queue's")

	s.StackFile = edited(t, s.StackFile, "  onedoor:cluster:\n", "  onedoor:cluster:\n    inCluster: skip\n")
	without, err := s.Up(t.Context())
	require.NoError(t, err)
	for _, r := range without.Resources {
		if strings.HasPrefix(r.Type, "kubernetes:") {
			assert.Equal(t, "delete", r.Op, r.Name)
		}
	}
	for _, namespace := range []string{kube.Batch, kube.Devices, kube.Serving, kube.Workers} {
		_, err := c.get(t.Context(), kindOf("v1", "Namespace", "", namespace))
		assert.True(t, apierrors.IsNotFound(err), "%s: %v", namespace, err)
	}
	operator, err := c.get(t.Context(), kindOf("apps/v1", "Deployment", kube.KEDA.Namespace, kube.KEDA.Name))
	require.NoError(t, err, "what is AKS's stays")
	annotations, _, _ := unstructured.NestedMap(operator.Object, "spec", "template", "metadata", "annotations")
	assert.NotContains(t, annotations, "onedoor/started-after")

	gone, err := s.Destroy(t.Context(), true)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"delete": len(gone.Resources)}, gone.Changes)
}

// comesUp asks the controllers whether the API server let them make every pod that
// is declared.
func (c *cluster) comesUp(t *testing.T) {
	t.Helper()
	for _, kind := range []string{"deployments", "daemonsets", "replicasets"} {
		list, err := c.dynamic.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: kind}).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, list.Items, kind)
		for i := range list.Items {
			object := &list.Items[i]
			assert.False(t, isTrue(object, "ReplicaFailure"), "%s %s: %v", kind, object.GetName(), object.Object["status"])
			if kind == "deployments" {
				assert.True(t, isTrue(object, "Available"), "%s: %v", object.GetName(), object.Object["status"])
			}
		}
	}
}

// scaler is what is declared of a ScaledObject of the workers, as the cluster has it.
func (c *cluster) scaler(t *testing.T, name string) []any {
	t.Helper()
	live, err := c.get(t.Context(), kindOf("keda.sh/v1alpha1", "ScaledObject", kube.Workers, name))
	require.NoError(t, err)
	return []any{live.GetAnnotations(), live.Object["spec"]}
}

// most is the most replicas of a ScaledObject or a ScaledJob.
func (c client) most(t *testing.T, object *unstructured.Unstructured) int64 {
	t.Helper()
	live, err := c.get(t.Context(), object)
	require.NoError(t, err)
	n, found, err := unstructured.NestedInt64(live.Object, "spec", "maxReplicaCount")
	require.NoError(t, err)
	require.True(t, found)
	return n
}

// edited is a stack file with a text in place of another, which is in it once.
func edited(t *testing.T, file, old, new string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), old), "%q in %s", old, file)
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600))
	return path
}
