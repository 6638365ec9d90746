package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/reach"
)

// recorded is the plan of a stack as the goldens have it.
func recorded(t *testing.T, stack string) []reach.Resource {
	t.Helper()
	_, resources, err := readPlan(filepath.Join("../../tests/testdata", stack+".preview.json"))
	require.NoError(t, err)
	return planned(resources)
}

// The pages of the documentation are what the code says.
func TestPagesAreCurrent(t *testing.T) {
	t.Parallel()
	at := screen{dir: "../..", stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	pages, err := at.pages("../..", recorded(t, "dev"), recorded(t, "prod")).Files()
	require.NoError(t, err)
	stale, err := staleIn("../..", pages)
	require.NoError(t, err)
	assert.Empty(t, stale, "run: go run ./cmd/onedoor docs")
}

// A page that differs, one that is not there, and one that nothing makes are stale; what
// others keep beside them is not.
func TestStalePagesAreFoundAndMended(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pages := map[string][]byte{"docs/reference/a.md": []byte("a\n"), "docs/rules/B-01.md": []byte("b\n"), "docs/picture.svg": []byte("c\n")}
	require.NoError(t, writeFiles(map[string][]byte{
		filepath.Join(dir, "docs/reference/a.md"):   []byte("an older a\n"),
		filepath.Join(dir, "docs/reference/old.md"): []byte("of a command that is gone\n"),
		filepath.Join(dir, "docs/picture.svg"):      []byte("c\n"),
		filepath.Join(dir, "docs/deploy.md"):        []byte("by hand\n"),
	}))
	stale, err := staleIn(dir, pages)
	require.NoError(t, err)
	assert.Equal(t, []string{"docs/reference/a.md", "docs/rules/B-01.md", "docs/reference/old.md"}, stale)

	require.NoError(t, writePages(dir, pages, stale))
	stale, err = staleIn(dir, pages)
	require.NoError(t, err)
	assert.Empty(t, stale)
	assert.NoFileExists(t, filepath.Join(dir, "docs/reference/old.md"))
	assert.FileExists(t, filepath.Join(dir, "docs/deploy.md"))
}

func TestDocsNeedTheSource(t *testing.T) {
	t.Parallel()
	code, _, stderr := call(project(t), "docs", "--check")
	assert.Equal(t, exitUser, code)
	assert.Contains(t, stderr, "holds no source of onedoor")
}

func TestGraphOfARecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	record(t, dir, "dev", "dev")
	code, stdout, stderr := call(dir, "graph", "--plan", "plan.json")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, filepath.Join("out", "dev", "graph.html"))
	assert.True(t, strings.HasSuffix(stdout, simulated+"\n"))
	for _, name := range []string{"graph.svg", "graph-narrow.svg", "graph.html"} {
		assert.FileExists(t, filepath.Join(dir, "out", "dev", name))
	}
}

// A plan with a flow that something holds back is drawn, and refused.
func TestGraphOfABrokenPlanIsARefusal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	record(t, dir, `"name": "out-f30-model-accounts"`, `"name": "turned", "direction": "Inbound"`)
	code, _, stderr := call(dir, "graph", "--plan", "plan.json")
	assert.Equal(t, exitUser, code)
	assert.Contains(t, stderr, "onedoor reach names what decides")
	picture, err := os.ReadFile(filepath.Join(dir, "out", "dev", "graph.svg"))
	require.NoError(t, err)
	assert.True(t, strings.Contains(string(picture), "THE PLAN IS NOT WHAT IT MUST BE"))
	assert.True(t, strings.Contains(string(picture), `class="flow blocked"`))
}

func TestGraphMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"NoFile": {[]string{"--plan", "none.json"}, "onedoor preview writes one"},
		"Both":   {[]string{"--plan", "a.json", "--stack", "prod"}, "got both, want one"},
		"Word":   {[]string{"prod"}, "name the stack with --stack"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := call(dir, append([]string{"graph"}, c.args...)...)
			assert.Equal(t, exitUser, code)
			assert.Contains(t, stderr, c.want)
		})
	}
}

// Every command that does something says when to use it, and how.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	for _, c := range runnable(newRoot(t.TempDir(), &bytes.Buffer{}, &bytes.Buffer{})) {
		assert.NotEmpty(t, c.Short, c.CommandPath())
		assert.Regexp(t, `^[A-Z].*[^.]$`, c.Short, c.CommandPath())
		assert.Contains(t, c.Example, c.CommandPath(), "%s needs an example of itself", c.CommandPath())
		assert.NotNil(t, c.Args, "%s says what words it takes", c.CommandPath())
	}
}

// What is shown in a help is what the command takes.
func TestExamplesAreWhatCommandsTake(t *testing.T) {
	t.Parallel()
	for _, c := range runnable(newRoot(t.TempDir(), &bytes.Buffer{}, &bytes.Buffer{})) {
		for line := range strings.SplitSeq(c.Example, "\n") {
			if words := onedoorWords(line); words != nil {
				assert.NoError(t, takes(words), "%s: %s", c.CommandPath(), line)
			} else { // what has to come before
				assert.Contains(t, line, "pulumi ", "%s shows no call of onedoor", c.CommandPath())
			}
		}
	}
	assert.Error(t, takes([]string{"preview", "--bse", "main"}))
	assert.Error(t, takes([]string{"previev"}))
	assert.Error(t, takes([]string{"preview", "prod"}))
}

// The codes that a caller may rely on, each by a command that ends so.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	dir := project(t)
	damaged := filepath.Join(dir, ".onedoor", "azure", "dev.json")
	require.NoError(t, writeFiles(map[string][]byte{damaged: []byte("{")}))
	for want, args := range map[int][]string{exitOK: {"version"}, exitUser: {"preview", "--stack", "nowhere"}, exitInternal: {"preview"}} {
		code, _, _ := call(dir, args...)
		assert.Equal(t, want, code, args)
	}
	var listed []int
	for _, e := range exits {
		listed = append(listed, e.Code)
		assert.NotEmpty(t, e.Meaning)
	}
	assert.Equal(t, []int{exitOK, exitUser, exitInternal}, listed)
}

// No screen has colours or other control characters: there is no terminal here, and on
// one it is the same.
func TestScreensAreOfPlainText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	record(t, dir, "dev", "dev")
	for _, args := range [][]string{{"--help"}, {"version"}, {"reach", "--plan", "plan.json"}, {"graph", "--plan", "plan.json"}, {"preview"}, {"nonsense"}} {
		_, stdout, stderr := call(dir, args...)
		for _, r := range stdout + stderr {
			require.False(t, r < ' ' && r != '\n' && r != '\t', "%v writes %q", args, r)
		}
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	dir := project(t)
	for _, shell := range shells {
		code, stdout, stderr := call(dir, "completion", shell)
		require.Equal(t, exitOK, code, stderr)
		assert.Contains(t, stdout, "onedoor", shell)
	}
	code, _, stderr := call(dir, "completion", "tcsh")
	assert.Equal(t, exitUser, code)
	assert.Contains(t, stderr, "bash, zsh, fish, powershell")

	for _, command := range []string{"preview", "graph", "up"} {
		_, stdout, _ := call(dir, "__complete", command, "--stack", "")
		assert.Equal(t, []string{"dev", "prod"}, strings.Fields(stdout)[:2], command)
	}
	_, stdout, _ := call(t.TempDir(), "__complete", "preview", "--stack", "")
	assert.True(t, strings.HasPrefix(stdout, ":"), "outside a project there are no names: %q", stdout)
}
