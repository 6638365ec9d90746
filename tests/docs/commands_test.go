package docs_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/tests/docs/shown"
)

// elsewhere are the programs whose commands cannot be run here, with the reason. A
// command of any other program fails the test.
var elsewhere = []struct{ start, why string }{
	{"az ", "needs a login at Azure"},
	{"curl ", "needs a gateway"},
	{"go run github.com/google/ko@", "builds images and pushes them to a registry"},
	{"source ", "part of a shell's own start"},
}

// notRun are calls of the command line that are parsed, and not run here.
var notRun = []struct{ has, why string }{
	{"--base main", "builds the program of another commit; the tests beside the command run it"},
	{"enqueue", "posts to a running control plane; the tests of services/enqueue run it"},
	{"preflight", "asks Azure; the tests of internal/preflight run it"},
	{"verify", "asks Azure; the tests beside the command run it"},
}

// helpPage shows examples of every command, whose files are made up. The tests beside
// the commands parse them.
const helpPage = "docs/reference/commands.md"

func commands(t *testing.T) []shown.Command {
	t.Helper()
	var out []shown.Command
	for _, page := range pages(t) {
		found, err := shown.Commands(root, page)
		require.NoError(t, err)
		out = append(out, found...)
	}
	return out
}

func TestEveryCommandIsOfAKnownKind(t *testing.T) {
	t.Parallel()
	for _, c := range commands(t) {
		line := strings.Join(c.Words, " ") + " "
		known := shown.Onedoor(c.Words) != nil || c.Words[0] == "pulumi"
		for _, e := range elsewhere {
			known = known || strings.HasPrefix(line, e.start)
		}
		assert.True(t, known, "%s: a command that no test runs or parses; give it a kind", c)
	}
}

// A reader may show a command without a test only in a block of shell, where the tests
// find it.
func TestNoCommandHidesInABlockOfAnotherKind(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
		require.NoError(t, err)
		shell := map[int]bool{}
		found, err := shown.Commands(root, page)
		require.NoError(t, err)
		for _, c := range found {
			shell[c.Line] = true
		}
		for i, line := range strings.Split(string(raw), "\n") {
			text := strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			if strings.HasPrefix(text, "go run ./cmd/onedoor ") || strings.HasPrefix(text, "pulumi ") && strings.HasPrefix(line, " ") {
				assert.True(t, shell[i+1], "%s:%d: %s", page, i+1, text)
			}
		}
	}
}

// The Pulumi CLI itself says whether it has such a command with such flags.
func TestPulumiTakesWhatDocumentsShow(t *testing.T) {
	t.Parallel()
	cli, err := engine.Find(t.Context(), engine.Options{})
	require.NoError(t, err)
	asked := 0
	for _, c := range commands(t) {
		if c.Words[0] != "pulumi" {
			continue
		}
		asked++
		assert.NoError(t, taken(t.Context(), cli.Path, c.Words[1:]), c.String())
	}
	assert.Greater(t, asked, 8)
	assert.Error(t, taken(t.Context(), cli.Path, []string{"up", "--policy-packs", "x"}))
	assert.Error(t, taken(t.Context(), cli.Path, []string{"upp"}))
}

// taken asks for the help of a command with its flags, which are read first.
func taken(ctx context.Context, pulumi string, words []string) error {
	out, err := exec.CommandContext(ctx, pulumi, append(slices.Clone(words), "--help")...).CombinedOutput()
	if err != nil {
		return err
	}
	if usage := "pulumi " + words[0]; !bytes.Contains(out, []byte("\n  "+usage)) {
		return &exec.Error{Name: usage, Err: exec.ErrNotFound}
	}
	return nil
}

// Every call of the command line that needs nothing else works as it is printed: on a
// copy of the project, by the program as a reader builds it.
func TestCommandsWorkAsPrinted(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	onedoor := filepath.Join(t.TempDir(), "onedoor")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", onedoor, "./cmd/onedoor")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	run := func(words ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), onedoor, words...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		require.NoError(t, err, "onedoor %s\n%s", strings.Join(words, " "), out)
	}
	run("preview", "--stack", "prod") // what readers of reports have
	require.NoError(t, os.CopyFS(filepath.Join(dir, "main"), os.DirFS(filepath.Join(dir, "out", "prod"))))

	done := map[string]bool{}
	for _, c := range commands(t) {
		words := shown.Onedoor(c.Words)
		line := strings.TrimSuffix(strings.Join(words, " "), " --stack dev") // the default
		if words == nil || c.Page == helpPage || done[line] || slices.ContainsFunc(notRun, func(n struct{ has, why string }) bool { return strings.Contains(line, n.has) }) {
			continue
		}
		done[line] = true
		run(words...)
	}
	assert.Greater(t, len(done), 8)
	for _, made := range []string{"out/dev/preview.json", "out/prod/graph.html", "out/prod/report.html", "out/prod/platform.json"} {
		assert.FileExists(t, filepath.Join(dir, filepath.FromSlash(made)))
	}
}

// copied is what a checkout holds that documented commands read.
func copied(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := []string{"Pulumi.yaml", "Pulumi.dev.yaml", "Pulumi.prod.yaml", "tests/testdata/existing.yaml"}
	for _, pattern := range []string{"policies/stacks/*/*.json", "policies/*/profiles/*.json", "policies/waivers.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		for _, file := range found {
			rel, err := filepath.Rel(root, file)
			require.NoError(t, err)
			files = append(files, rel)
		}
	}
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		to := filepath.Join(dir, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, raw, 0o644))
	}
	waivers, err := os.ReadFile(filepath.Join(root, "policies", "waivers.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "base"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "base", "waivers.yaml"), waivers, 0o644))
	return dir
}
