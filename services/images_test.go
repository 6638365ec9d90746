// Package services_test owns what holds for all programs that become images.
package services_test

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// build is how ko builds a program. https://ko.build/configuration/
type build struct {
	Main    string   `yaml:"main"`
	Env     []string `yaml:"env"`
	Flags   []string `yaml:"flags"`
	Ldflags []string `yaml:"ldflags"`
}

// programs are the directories of the programs, with what each of them misses when it
// is told nothing.
var programs = map[string]struct {
	args   []string
	misses []string
}{
	"controlplane": {[]string{"serve"}, []string{"ONEDOOR_CONFIG_FILE", "ONEDOOR_BLOB_URL", "ONEDOOR_TABLE_URL", "ONEDOOR_BUS_HOST", "ONEDOOR_KEYS_DIR", "ONEDOOR_TLS_FILE", "ONEDOOR_DOOR_PORT", "ONEDOOR_LEASE"}},
	"worker":       {nil, []string{"ONEDOOR_QUEUE", "ONEDOOR_BUS_HOST", "ONEDOOR_GATEWAY_URL", "ONEDOOR_TOKENS_PER_MINUTE", "ONEDOOR_BLOB_URL", "ONEDOOR_KEYS_DIR", "ONEDOOR_STATUS_PORT"}},
}

// An image holds one file beside its base, which has no libraries: each program is
// built as ko builds it, is static, and says all that it misses when it is told
// nothing, with the exit code that says that no new start mends it.
func TestProgramsAreStaticAndSayWhatTheyMiss(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links two programs")
	}
	for name, want := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(name, ".ko.yaml"))
			require.NoError(t, err)
			var ko struct {
				Platforms []string `yaml:"defaultPlatforms"`
				Builds    []build  `yaml:"builds"`
			}
			require.NoError(t, yaml.Unmarshal(text, &ko))
			require.Equal(t, []string{"linux/amd64"}, ko.Platforms)
			require.Len(t, ko.Builds, 1)
			b := ko.Builds[0]
			require.Equal(t, "./services/"+name, b.Main)

			program := filepath.Join(t.TempDir(), name)
			args := append([]string{"build", "-o", program, "-ldflags", strings.Join(b.Ldflags, " ")}, b.Flags...)
			compile := exec.CommandContext(t.Context(), "go", append(args, b.Main)...)
			compile.Dir, compile.Env = "..", append(os.Environ(), b.Env...)
			out, err := compile.CombinedOutput()
			require.NoError(t, err, "%s", out)

			file, err := elf.Open(program)
			require.NoError(t, err)
			defer func() { _ = file.Close() }()
			for _, part := range file.Progs {
				assert.NotContains(t, []elf.ProgType{elf.PT_INTERP, elf.PT_DYNAMIC}, part.Type, "it asks for a loader")
			}

			run := exec.CommandContext(t.Context(), program, want.args...)
			run.Env = []string{}
			said, err := run.Output()
			var ended *exec.ExitError
			require.True(t, errors.As(err, &ended), "%v", err)
			assert.Equal(t, 1, ended.ExitCode(), "%s", said)
			var line struct{ Error string }
			require.NoError(t, json.Unmarshal(said, &line), "one line of JSON: %s", said)
			for _, variable := range want.misses {
				assert.Contains(t, line.Error, variable+": ", "all at once")
			}
		})
	}
}

// Whoever deploys reads the commands that build the images in one page, as they stand
// beside each program.
func TestTheCommandsOfImagesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "deploy.md"))
	require.NoError(t, err)
	words := strings.Join(strings.Fields(string(page)), " ")
	for name := range programs {
		text, err := os.ReadFile(filepath.Join(name, ".ko.yaml"))
		require.NoError(t, err)
		_, rest, ok := strings.Cut(string(text), "KO_CONFIG_PATH=")
		require.True(t, ok)
		command, _, ok := strings.Cut(rest, "\n#\n")
		require.True(t, ok)
		command = "KO_CONFIG_PATH=" + strings.Join(strings.Fields(strings.ReplaceAll(command, "#", "")), " ")
		assert.Contains(t, words, command)
	}
}
