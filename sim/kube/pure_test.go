package kube

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/manifest"
	"onedoor/sim/core"
)

// The package reads no clock, draws nothing at random, does no input or output.
func TestKubeIsPure(t *testing.T) {
	t.Parallel()
	allowed := strings.Fields(`encoding/base64 fmt maps net/http net/netip path slices strconv strings github.com/google/uuid
		onedoor/internal/armtypes onedoor/internal/az/aks onedoor/internal/manifest onedoor/sim/core`)
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			assert.True(t, slices.Contains(allowed, strings.Trim(spec.Path.Value, `"`)), "%s imports %s", name, spec.Path.Value)
		}
		for _, call := range []string{"uuid.New(", "uuid.NewString", "http.Get", "http.Client", "go func"} {
			assert.NotContains(t, string(text), call, name)
		}
	}
}

// Do leaves the state and the object that it was given as they were.
func TestDoChangesNothingGiven(t *testing.T) {
	t.Parallel()
	const id = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"
	before := core.Seed(core.New(), core.Resource{ID: id, Type: clusterType, Body: map[string]any{"properties": map[string]any{"fqdn": "aks"}}})
	object := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "batch"}}
	after, answer := Do(before, Op{Verb: Create, Host: "aks", Object: object})
	require.Nil(t, answer.Error)
	assert.Empty(t, before.Objects)
	assert.Equal(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "batch"}}, object)
	gone, answer := Do(after, Op{Verb: Delete, Host: "aks", Key: manifest.Key(object)})
	require.Nil(t, answer.Error)
	assert.Len(t, after.Objects, 1)
	assert.Empty(t, gone.Objects)
}
