package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/tests/bad/replay"
)

const (
	queue    = "azure-native:servicebus:Queue"
	provider = "urn:pulumi:x::onedoor::pulumi:providers:azure-native::azure"
)

func stack() replay.Stack {
	return replay.Stack{Name: "x", Resources: []engine.Resource{
		{URN: provider, Type: "pulumi:providers:azure-native", Name: "azure"},
		{
			URN: "urn:pulumi:x::onedoor::azure-native:servicebus/v20240101:Queue::text", Type: "azure-native:servicebus/v20240101:Queue", Name: "text", Provider: provider,
			Inputs: map[string]any{"queueName": "text", "tags": map[string]any{"a.b": "c"}, "list": []any{1.0}},
		},
	}}
}

func TestMutationsChangeACopy(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mutation.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
add:
  - {name: other, like: {type: "azure-native:servicebus:Queue", name: text}, set: {queueName: other}}
change:
  - {type: "azure-native:servicebus:Queue", name: "te*", set: {'tags["a.b"]': d, "list[0]": 2}, replace: {queueName: [{old: ex, new: as}]}}
`), 0o600))
	m, err := replay.ReadMutation(file)
	require.NoError(t, err)
	before := stack()
	after, err := before.Mutate(m)
	require.NoError(t, err)
	assert.Equal(t, stack(), before)
	require.Len(t, after.Resources, 3)
	assert.Equal(t, map[string]any{"queueName": "tast", "tags": map[string]any{"a.b": "d"}, "list": []any{2.0}}, after.Resources[1].Inputs)
	assert.Equal(t, "other", after.Resources[2].Inputs["queueName"])
	assert.Equal(t, "urn:pulumi:x::onedoor::azure-native:servicebus/v20240101:Queue::other", after.Resources[2].URN)
	gone, err := before.Mutate(replay.Mutation{Remove: []replay.Selector{{Type: queue, Name: "text"}}})
	require.NoError(t, err)
	assert.Len(t, gone.Resources, 1)
}

// A mutation that changes nothing would prove nothing.
func TestMutationsThatMissAreRefused(t *testing.T) {
	t.Parallel()
	text := replay.Selector{Type: queue, Name: "text"}
	for name, c := range map[string]struct {
		mutation replay.Mutation
		want     string
	}{
		"NoSuchResource":    {replay.Mutation{Remove: []replay.Selector{{Type: queue, Name: "image"}}}, "which has of that type: text"},
		"NothingToDrop":     {replay.Mutation{Change: []replay.Change{{Selector: text, Edit: replay.Edit{Drop: []string{"sku"}}}}}, "nothing is there"},
		"NothingToReplace":  {replay.Mutation{Change: []replay.Change{{Selector: text, Edit: replay.Edit{Replace: map[string][]replay.Piece{"queueName": {{Old: "z"}}}}}}}, "is no part of it"},
		"ThroughAText":      {replay.Mutation{Change: []replay.Change{{Selector: text, Edit: replay.Edit{Set: map[string]any{"queueName.a": 1}}}}}, "no object or list"},
		"TheSameAgain":      {replay.Mutation{Add: []replay.Addition{{Name: "text", Like: text}}}, "already"},
		"AnUnknownProvider": {replay.Mutation{Add: []replay.Addition{{Name: "a", Type: "aws:s3:Bucket"}}}, "no provider of aws"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := stack().Mutate(c.mutation)
			require.ErrorContains(t, err, c.want)
		})
	}
	file := filepath.Join(t.TempDir(), "mutation.yaml")
	require.NoError(t, os.WriteFile(file, []byte("chnage: []\n"), 0o600))
	_, err := replay.ReadMutation(file)
	require.ErrorContains(t, err, "chnage")
}
