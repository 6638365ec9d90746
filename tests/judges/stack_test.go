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
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"onedoor/cmd/embedded"
	"onedoor/internal/az/openai"
	"onedoor/internal/capacity"
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

// room is how many replicas of each queue's workers the quota has room for, from what
// a stack's file says.
func room(t *testing.T, file string) map[string]int64 {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	config := struct {
		Config struct {
			Models map[string]struct {
				Deployments map[string]struct {
					SKU                string
					Capacity           int
					ReserveInteractive int
				}
			} `json:"onedoor:models"`
			Workers struct {
				Queues map[string]struct {
					Alias, ItemTime                 string
					Parallel, TokensPerItem, Weight int
				}
			} `json:"onedoor:workers"`
		}
	}{}
	require.NoError(t, yaml.Unmarshal(raw, &config))
	claims := map[string][]capacity.Claim{} // by alias
	for name, queue := range config.Config.Workers.Queues {
		item, err := time.ParseDuration(queue.ItemTime)
		require.NoError(t, err)
		claims[queue.Alias] = append(claims[queue.Alias], capacity.Claim{Queue: name, Weight: max(1, queue.Weight), Load: capacity.Load{
			Parallel: queue.Parallel, Item: item, Tokens: queue.TokensPerItem, Calls: 1,
		}})
	}
	out := map[string]int64{}
	for alias, queues := range claims {
		var quotas []capacity.Limits
		for _, d := range config.Config.Models[alias].Deployments {
			if sku, _ := openai.Lookup(d.SKU); !sku.Provisioned {
				quotas = append(quotas, capacity.Limits{
					Tokens: d.Capacity * openai.TokensPerUnit, Requests: d.Capacity * capacity.RequestsPerUnit, Reserve: d.ReserveInteractive,
				})
			}
		}
		for _, share := range capacity.Shares(quotas, queues) {
			out[share.Queue] = int64(share.Replicas)
		}
	}
	return out
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

// find is the one object of a kind with this name, as in "planned" or
// "onedoor-serving/planned".
func find(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind && (object.GetName() == name || object.GetNamespace()+"/"+object.GetName() == name) {
			return object.DeepCopy()
		}
	}
	require.Fail(t, "no "+kind+" "+name)
	return nil
}
