package main

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVersionNamesThePinnedModules: as go.mod has them.
func TestVersionNamesThePinnedModules(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := call(t.TempDir(), "version", "--json")
	require.Equal(t, exitOK, code, stderr)
	var got built
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	mod, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	for module, version := range map[string]string{"github.com/pulumi/pulumi/sdk/v3": got.Pulumi, "github.com/pulumi/pulumi-azure-native-sdk/v2": got.Azure} {
		pinned := regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(module) + ` (\S+)`).FindSubmatch(mod)
		require.NotNil(t, pinned, module)
		assert.Equal(t, string(pinned[1]), version, module)
	}
	assert.Equal(t, runtime.Version(), got.Go)
}

func TestVersionReadsWhatTheToolchainStamped(t *testing.T) {
	t.Parallel()
	got := builtFrom(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}})
	assert.Equal(t, built{"v1.2.3", "abc", true, runtime.Version(), "unknown", "unknown"}, got)
	assert.Equal(t, "unknown", builtFrom(nil).Version)
}
