package stacks

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every key that a file may have is listed once, with the default that a file without
// it gets.
func TestKeysAreThoseThatAreRead(t *testing.T) {
	t.Parallel()
	defaults, paths := map[string]string{}, []string{}
	for _, key := range Keys() {
		defaults[key.Path] = key.Default
		paths = append(paths, key.Path)
	}
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(paths))), len(paths))
	for root := range new(Config).roots() {
		assert.Contains(t, paths, root)
	}
	for path, want := range map[string]string{
		"base.environment":                     "dev",
		"base.generation":                      "1",
		"storage.triage":                       "72h",
		"batch.poll":                           "1m",
		"cluster.podCidr":                      "10.244.0.0/16",
		"cluster.access.private":               "false",
		"policy.assign":                        "true",
		"queue.queues":                         "audio, document, image, text, video",
		"queue.queues.<name>.p99":              "",
		"models.<name>.batch.sku":              "",
		"serving.models.<name>.replicas.max":   "",
		"models.<name>.deployments.<name>.sku": "",
	} {
		got, known := defaults[path]
		assert.True(t, known, path)
		assert.Equal(t, want, got, path)
	}
	assert.NotContains(t, paths, "network.addressSpace.ip", "an address range is written as text")
}
