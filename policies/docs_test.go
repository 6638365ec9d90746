package policies_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"onedoor/internal/policypack"
)

// The pages and the profiles' configuration files follow from the rules.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	t.Parallel()
	docs := filepath.Join("..", "docs", "rules")
	all := []policypack.Pack{packs["batchdoor"](), packs["platform"]()}
	var want []string
	for _, pack := range all {
		for _, rule := range pack.Rules {
			golden(t, filepath.Join(docs, rule.ID+".md"), pack.Page(rule))
			want = append(want, rule.ID+".md")
		}
		for _, profile := range policypack.Profiles {
			file, err := pack.ConfigFile(profile)
			require.NoError(t, err)
			golden(t, filepath.Join(pack.Name, "profiles", string(profile)+".json"), file)
		}
		var project struct {
			Name, Version, Runtime, Description string
		}
		raw, err := os.ReadFile(filepath.Join(pack.Name, "PulumiPolicy.yaml"))
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(raw, &project))
		assert.Equal(t, pack.Name, project.Name)
		assert.Equal(t, pack.Version, project.Version, "the engine reports the version of this file")
		assert.Equal(t, pack.Description, project.Description)
		assert.Equal(t, "go", project.Runtime)
	}
	catalog, err := policypack.Catalog(all...)
	require.NoError(t, err)
	golden(t, filepath.Join(docs, "rules.json"), catalog)
	golden(t, filepath.Join(docs, "README.md"), policypack.Index(all...))
	slices.Sort(want)
	assert.Len(t, slices.Compact(slices.Clone(want)), len(want), "an id belongs to one pack")
	pages, err := filepath.Glob(filepath.Join(docs, "*-*.md"))
	require.NoError(t, err)
	for _, page := range pages {
		assert.Contains(t, want, filepath.Base(page), "a page of no rule")
	}
}
