package images

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestArtifactsArePinnedAndDistinct(t *testing.T) {
	t.Parallel()
	reference := regexp.MustCompile(`^[a-z0-9.-]+\.[a-z]+/[a-z0-9./-]+:[a-zA-Z0-9._-]+$`)
	seen := map[string]bool{}
	for _, a := range Artifacts {
		assert.Regexp(t, reference, a.Source)
		assert.False(t, strings.HasSuffix(a.Source, ":latest"), a.Name)
		assert.False(t, seen[a.Repository()], "two artifacts would share %s", a.Repository())
		assert.NotEmpty(t, a.Why)
		seen[a.Repository()] = true
	}
	assert.True(t, slices.IsSortedFunc(Artifacts, func(a, b Artifact) int { return strings.Compare(a.Name, b.Name) }))
}

func TestImagesAreRewrittenToThePlatformsRegistry(t *testing.T) {
	t.Parallel()
	got, ok := Rewrite("nvcr.io/nvidia/k8s-device-plugin:v0.17.0", "crx.azurecr.io")
	assert.True(t, ok)
	assert.Equal(t, "crx.azurecr.io/nvidia/k8s-device-plugin:v0.17.0", got)
	_, ok = Rewrite("docker.io/library/nginx:1", "crx.azurecr.io")
	assert.False(t, ok, "what is not imported must not be rewritten")
}
