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

func TestArtifactsRunFromThePlatformsRegistry(t *testing.T) {
	t.Parallel()
	for _, a := range Artifacts {
		host, rest, _ := strings.Cut(a.Source, "/")
		assert.Equal(t, "crx.azurecr.io/"+rest, a.In("crx.azurecr.io"))
		assert.NotContains(t, a.In("crx.azurecr.io"), host)
	}
}
