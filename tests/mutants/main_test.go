package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fault that nobody can make any more, or whose test is gone, guards nothing. Whether the
// tests turn red takes longer to find out, which is what the command is for.
func TestEveryFaultCanBeMade(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	mutants, err := chosen(nil)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, m := range mutants {
		assert.False(t, names[m.Name], "two are named %s", m.Name)
		names[m.Name] = true
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
		require.NoError(t, err, m.Name)
		_, err = m.breaks(string(source))
		require.NoError(t, err, m.Name)
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(m.In), "*_test.go"))
		require.NoError(t, err)
		found := false
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			found = found || strings.Contains(string(raw), "\nfunc "+m.Test+"(t *testing.T)")
		}
		assert.True(t, found, "%s: no %s in %s", m.Name, m.Test, m.In)
	}
	_, err = chosen([]string{mutants[0].Name, "none"})
	require.ErrorContains(t, err, "no mutant is named none")
}
