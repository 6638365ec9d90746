package tests

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Imports run one way: main and cmd, then stacks, then components, then
// internal. Components know nothing of one another or of configuration, and
// what judges or replaces Azure knows no component.
func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", "onedoor/...").CombinedOutput()
	require.NoError(t, err, string(out))
	forbidden := map[string][]string{
		"onedoor/internal/":   {"onedoor/components/", "onedoor/stacks", "onedoor/cmd/", "onedoor/sim"},
		"onedoor/components/": {"onedoor/components/", "onedoor/stacks", "onedoor/cmd/", "onedoor/sim"},
		"onedoor/stacks":      {"onedoor/cmd/", "onedoor/sim", "onedoor/internal/engine"},
		"onedoor/sim":         {"onedoor/components/", "onedoor/stacks", "onedoor/cmd/", "onedoor/internal/engine"},
		"onedoor/policies":    {"onedoor/components/", "onedoor/stacks", "onedoor/cmd/"},
		"onedoor/services":    {"onedoor/components/", "onedoor/stacks", "onedoor/cmd/"},
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for from, banned := range forbidden {
			if !strings.HasPrefix(fields[0]+"/", from) && fields[0] != from {
				continue
			}
			seen++
			for _, dep := range fields[1:] {
				for _, b := range banned {
					assert.False(t, strings.HasPrefix(dep+"/", b) && dep != fields[0], "%s must not import %s", fields[0], dep)
				}
			}
		}
	}
	assert.Greater(t, seen, 5, "the rules must have met packages")
}
