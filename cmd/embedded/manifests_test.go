package embedded

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
)

// object is a resource of the cluster.
func object(token, op, apiVersion, kind string, metadata map[string]any) engine.Resource {
	return engine.Resource{
		Type: token, Name: "logical", Op: op,
		Inputs: map[string]any{"kind": kind, "apiVersion": apiVersion, "metadata": metadata},
	}
}

// files are the files below dir with what is in them.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = string(raw)
		return err
	}))
	return out
}

func TestEveryObjectHasAManifest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	result := &engine.Result{Operation: engine.OpPreview, Stack: "dev", Resources: []engine.Resource{
		object("kubernetes:apps/v1:Deployment", "create", "apps/v1", "Deployment", map[string]any{"namespace": "batch", "name": "worker", "uid": engine.Unknown}),
		object("kubernetes:core/v1:Namespace", "same", "v1", "Namespace", map[string]any{"name": "batch"}),
		object("kubernetes:core/v1:ConfigMap", "create", "v1", "ConfigMap", map[string]any{"namespace": "batch", "name": engine.Unknown}),
		object("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", "create", "rbac.authorization.k8s.io/v1", "ClusterRole", map[string]any{"name": "onedoor:reader"}),
		object("kubernetes:core/v1:Service", "delete", "v1", "Service", map[string]any{"namespace": "batch", "name": "gone"}),
		object("kubernetes:apps/v1:DeploymentPatch", "create", "apps/v1", "Deployment", map[string]any{"namespace": "kube-system", "name": "keda-operator"}),
		object("kubernetes:helm.sh/v3:Release", "create", "", "", nil),
		object("azure-native:network/v20240501:Subnet", "create", "", "", nil),
		object("pulumi:providers:kubernetes", "create", "", "", nil),
	}}
	stale := filepath.Join(dir, "manifests", "batch", "service-gone.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(stale), 0o755))
	require.NoError(t, os.WriteFile(stale, nil, 0o644))
	_, err := Write(result, dir)
	require.NoError(t, err)
	const head = "# As declared. [unknown] is known after an update, [secret] is not shown.\n"
	want := map[string]string{
		"batch/deployment-worker.yaml":             head + "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: worker\n  namespace: batch\n  uid: '[unknown]'\n",
		"_cluster/namespace-batch.yaml":            head + "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: batch\n",
		"batch/configmap-logical.yaml":             head + "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: '[unknown]'\n  namespace: batch\n",
		"_cluster/clusterrole-onedoor_reader.yaml": head + "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: onedoor:reader\n",
	}
	assert.Equal(t, want, files(t, filepath.Join(dir, "manifests")))
	_, err = Write(result, dir)
	require.NoError(t, err)
	assert.Equal(t, want, files(t, filepath.Join(dir, "manifests")), "equal results give equal bytes")
}
