package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
)

func TestMain(m *testing.M) {
	embedded.Dispatch()
	if filepath.Base(os.Args[0]) == asCommand { // see selfBuild
		main()
	}
	os.Exit(m.Run())
}

// asCommand is the name under which this test binary is the command line.
const asCommand = "onedoor"

// selfBuild takes this test binary for the program of another state of the project:
// right where the states differ by configuration alone.
func selfBuild(_ context.Context, _, file string, _ io.Writer) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(exe, file)
}

// project is a copy of what a checkout holds that the command line reads.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"Pulumi.yaml", "Pulumi.dev.yaml", "Pulumi.prod.yaml"} {
		raw, err := os.ReadFile(filepath.Join("../..", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), raw, 0o644))
	}
	require.NoError(t, os.CopyFS(filepath.Join(dir, "policies", "stacks"), os.DirFS("../../policies/stacks")))
	return dir
}

// edit replaces old, which stands once in the file, by new.
func edit(t *testing.T, path, old, new string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(raw), old))
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(raw), old, new, 1)), 0o644))
}

// call runs the command line in dir.
func call(dir string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), dir, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestPreviewSaysWhatItFoundAndThatItIsSimulated(t *testing.T) {
	t.Parallel()
	dir := project(t)
	inside := filepath.Join(dir, "docs")
	require.NoError(t, os.Mkdir(inside, 0o755))
	code, stdout, stderr := call(inside, "preview")
	require.Equal(t, exitOK, code, stderr)
	first, _, _ := strings.Cut(stderr, "\n")
	assert.Equal(t, "OneDoor preview of dev. "+simulated, first)
	assert.True(t, strings.HasSuffix(stdout, simulated+"\n"), stdout)
	assert.Regexp(t, `\n  NatGateway +1 create\n`, stdout)
	assert.Contains(t, stdout, "No warnings.")

	file := filepath.Join(dir, "out", "dev", "preview.json")
	assert.Contains(t, stdout, file, "from another folder the whole path is shown")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var doc struct {
		Stack     string
		Simulated bool
		Resources []engine.Resource
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	assert.Equal(t, "dev", doc.Stack)
	assert.True(t, doc.Simulated)
	assert.NotEmpty(t, doc.Resources)
}

func TestJSONIsForMachines(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	code, stdout, stderr := call(project(t), "preview", "--stack", "prod", "--json", "--out", out)
	require.Equal(t, exitOK, code, stderr)
	var doc document
	require.NoError(t, json.Unmarshal([]byte(stdout), &doc))
	assert.True(t, doc.OK && doc.Simulated)
	assert.Equal(t, 11, doc.Kinds["azure-native:network/v20240501:Subnet"]["create"])
	assert.Equal(t, filepath.Join(out, "prod", "preview.json"), doc.File)
	assert.FileExists(t, doc.File)
}

func TestWrongConfigurationIsTheUsersMistakeAndWritesNothing(t *testing.T) {
	t.Parallel()
	dir := project(t)
	edit(t, filepath.Join(dir, "Pulumi.dev.yaml"), "retentionDays: 30", "retentionDays: 3")
	edit(t, filepath.Join(dir, "Pulumi.dev.yaml"), "addressSpace:", "addresSpace:")
	for _, command := range []string{"preview", "up", "refresh", "destroy"} {
		code, stdout, stderr := call(dir, command)
		assert.Equal(t, exitUser, code, command)
		assert.Contains(t, stderr, "onedoor:logs.retentionDays: got 3, want 30 to 730 days", "what can be judged is judged")
		assert.Contains(t, stderr, "onedoor:network.addresSpace: unknown key, nearest is onedoor:network.addressSpace")
		assert.NotContains(t, stderr, "fault of OneDoor")
		assert.True(t, strings.HasSuffix(stderr, simulated+"\n"), "every screen ends with it")
		assert.Empty(t, stdout)
	}
	code, stdout, _ := call(dir, "preview", "--json")
	assert.Equal(t, exitUser, code)
	var doc document
	require.NoError(t, json.Unmarshal([]byte(stdout), &doc))
	assert.False(t, doc.OK)
	assert.Contains(t, doc.Error, "onedoor:network.addresSpace: unknown key")
	assert.NoDirExists(t, filepath.Join(dir, ".onedoor"))
	assert.NoDirExists(t, filepath.Join(dir, "out"))
}

func TestMistakesInTheCommandAreTheUsers(t *testing.T) {
	t.Parallel()
	dir := project(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "dev.yaml"), []byte("config: {}\n"), 0o644))
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"NoSuchStack":   {[]string{"preview", "--stack", "staging"}, "the project has dev, prod"},
		"NoSuchFile":    {[]string{"preview", "--stack", "other/stack.yaml"}, "there is no file"},
		"BadName":       {[]string{"preview", "--stack", "a b"}, "want a name of letters"},
		"UnknownFlag":   {[]string{"preview", "--stak", "dev"}, "unknown flag: --stak"},
		"UnknownVerb":   {[]string{"apply"}, `unknown command "apply"`},
		"WordLeftOver":  {[]string{"preview", "prod"}, "name the stack with --stack"},
		"NameOfAnother": {[]string{"preview", "--stack", "sub/dev.yaml"}, "the project has a stack \"dev\" of its own"},
		"FlagElsewhere": {[]string{"up", "--ignore-protect"}, "unknown flag: --ignore-protect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := call(dir, c.args...)
			assert.Equal(t, exitUser, code)
			assert.Contains(t, stderr, c.want)
		})
	}
	code, _, stderr := call(t.TempDir(), "preview")
	assert.Equal(t, exitUser, code)
	assert.Contains(t, stderr, "run onedoor inside the project")
}

// Files that cannot be read are the user's to mend.
func TestUnreadableFilesAreTheUsersMistake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"NoYAML":      {"Pulumi.dev.yaml", "config: [", "Pulumi.dev.yaml: yaml:"},
		"KeyTwice":    {"Pulumi.dev.yaml", "config:\n  a: 1\n  a: 2\n", "already defined"},
		"Environment": {"Pulumi.dev.yaml", "environment: [shared]\n", "Pulumi ESC"},
		"NoProject":   {"Pulumi.yaml", "runtime: go\n", "`name` is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := project(t)
			path := filepath.Join(dir, c.file)
			if c.file == "Pulumi.dev.yaml" && name == "Environment" {
				raw, err := os.ReadFile(path)
				require.NoError(t, err)
				c.text += string(raw)
			}
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
			code, _, stderr := call(dir, "preview")
			assert.Equal(t, exitUser, code, stderr)
			assert.Contains(t, stderr, c.want)
			assert.NotContains(t, stderr, "fault of OneDoor")
		})
	}
}

func TestDestroyRefusesProtectedResourcesUnlessTold(t *testing.T) {
	t.Parallel()
	dir := project(t)
	code, _, stderr := call(dir, "up", "--stack", "prod", "--as-base")
	require.Equal(t, exitOK, code, stderr)
	code, _, stderr = call(dir, "destroy", "--stack", "prod")
	assert.Equal(t, exitUser, code)
	for _, name := range []string{"base-logs", "base-platform", "base-batch-door"} {
		assert.Contains(t, stderr, name)
	}
	code, stdout, stderr := call(dir, "destroy", "--stack", "prod", "--ignore-protect")
	require.Equal(t, exitOK, code, stderr)
	assert.Regexp(t, `destroy of prod: \d+ delete\.`, stdout)
}

// A damaged state is ours to explain, and never to be overwritten.
func TestDamagedStateIsReportedAndKept(t *testing.T) {
	t.Parallel()
	dir := project(t)
	file := filepath.Join(dir, ".onedoor", "azure", "dev.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	code, _, stderr := call(dir, "preview")
	assert.Equal(t, exitInternal, code)
	assert.Contains(t, stderr, file)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "{", string(raw))
}
