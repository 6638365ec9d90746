//go:build judges

package judges

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
)

// session is a stack of the project over an empty cloud.
func session(t *testing.T, stack string) *embedded.Session {
	t.Helper()
	dir, err := filepath.Abs(projectDir)
	require.NoError(t, err)
	return &embedded.Session{
		Dir: dir, StackFile: filepath.Join(dir, "Pulumi."+stack+".yaml"), Stack: stack, Home: t.TempDir(),
		WithoutPolicies: true, SkipCheckpoints: true,
	}
}

// up is an update of a stack over an empty cloud.
func up(t *testing.T, stack string) *engine.Result {
	t.Helper()
	result, err := session(t, stack).Up(t.Context())
	require.NoError(t, err)
	return result
}

// manifests are the objects that an update of a stack makes, from the files that
// it leaves, in an order in which they can be applied.
func manifests(t *testing.T, result *engine.Result) []*unstructured.Unstructured {
	t.Helper()
	dir := t.TempDir()
	_, err := embedded.Write(result, dir)
	require.NoError(t, err)
	var out []*unstructured.Unstructured
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "manifests"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		_, objects, _ := strings.Cut(string(text), "\n") // after the preamble, which names the word
		// A secret may stay hidden: the word in its place is a string, as the secret is.
		assert.NotContains(t, objects, engine.Unknown, path)
		out = append(out, parse(t, string(text)))
		return err
	}))
	require.NotEmpty(t, out)
	slices.SortStableFunc(out, func(a, b *unstructured.Unstructured) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// rank is when an object is applied: namespaces, then what else is the cluster's,
// then what is in namespaces.
func rank(object *unstructured.Unstructured) int {
	switch {
	case object.GetKind() == "Namespace":
		return 0
	case object.GetNamespace() == "":
		return 1
	}
	return 2
}

// find is the one object of a kind with this name.
func find(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object.DeepCopy()
		}
	}
	require.Fail(t, "no "+kind+" "+name)
	return nil
}
