package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/tests/docs/shown"
)

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

// A command that no test runs fails, unless it is one of few, with a reason.
func TestEveryCommandIsRunByATest(t *testing.T) {
	t.Parallel()
	kinds := map[shown.Kind]int{}
	for _, c := range commands(t) {
		kind := shown.KindOf(c)
		assert.NotEmpty(t, kind, "%s: a command that no test runs; give it a kind", c)
		kinds[kind]++
	}
	assert.Len(t, kinds, 10, "each kind has commands: %v", kinds)
	for _, n := range shown.NotRun {
		assert.NotEmpty(t, n.Why)
		assert.True(t, slices.ContainsFunc(commands(t), func(c shown.Command) bool {
			return strings.HasPrefix(strings.Join(c.Words, " ")+" ", n.Start)
		}), "no page shows %q any more", n.Start)
	}
}

// usage is the page whose blocks of text say how commands are called, and show no calls.
const usage = "docs/reference/commands.md"

// A document shows a command in a block of shell, where the tests find it, and in no
// other block.
func TestNoCommandHidesInABlockOfAnotherKind(t *testing.T) {
	t.Parallel()
	starts := []string{"onedoor ", "go run ", "go test ", "pulumi ", "az ", "curl ", "kubectl "}
	for _, page := range pages(t) {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
		require.NoError(t, err)
		fence := "" // that the block has begun with
		for i, line := range strings.Split(string(raw), "\n") {
			text := strings.TrimSpace(line)
			switch {
			case !strings.HasPrefix(text, "```"):
			case fence == "":
				fence = text
			default:
				fence = ""
			}
			if shell := fence == "```sh" || fence == "```text" && page == usage; shell || fence == "" && !strings.HasPrefix(line, "    ") {
				continue
			}
			for _, start := range starts {
				assert.False(t, strings.HasPrefix(strings.TrimPrefix(text, "$ "), start), "%s:%d: a command outside a block of sh: %s", page, i+1, text)
			}
		}
	}
}

// Every call of the command line that needs nothing else works as it is printed: on a
// copy of the project, by the program as a reader builds it, in the order of the pages.
func TestCommandsWorkAsPrinted(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	run := func(words ...string) {
		t.Helper()
		out, err := onedoor(t, dir, nil, words...)
		require.NoError(t, err, "onedoor %s\n%s", strings.Join(words, " "), out)
	}
	run("preview", "--stack", "prod") // what readers of reports have, here and at the base
	require.NoError(t, os.CopyFS(filepath.Join(dir, "main"), os.DirFS(filepath.Join(dir, "out", "prod"))))
	run("preview") // and what packs wrote while Pulumi ran, which other commands clear
	wrote := t.TempDir()
	require.NoError(t, os.CopyFS(wrote, os.DirFS(filepath.Join(dir, ".onedoor", "judged"))))

	n := 0
	for _, c := range of(t, shown.Offline) {
		words := shown.Onedoor(c.Words)
		if c.Page == usage && !shown.All() { // an example for each flag; the tests beside the commands parse them
			continue
		}
		if slices.Contains(words, "collect") {
			judged := filepath.Join(dir, "judged")
			require.NoError(t, os.RemoveAll(judged))
			require.NoError(t, os.CopyFS(judged, os.DirFS(filepath.Join(wrote, after(t, words, "--stack")))))
		}
		n++
		run(expanded(t, dir, words)...)
	}
	assert.Greater(t, n, 10)
	for _, made := range []string{"out/dev/preview.json", "out/prod/graph.html", "out/prod/report.html", "out/prod/platform.json"} {
		assert.FileExists(t, filepath.Join(dir, filepath.FromSlash(made)))
	}
}

// expanded are words with patterns of files replaced, as a shell does.
func expanded(t *testing.T, dir string, words []string) []string {
	t.Helper()
	var out []string
	for _, word := range words {
		if !strings.Contains(word, "*") {
			out = append(out, word)
			continue
		}
		found, err := filepath.Glob(filepath.Join(dir, word))
		require.NoError(t, err)
		require.NotEmpty(t, found, word)
		out = append(out, found...)
	}
	return out
}

// copied is what a checkout holds that documented commands read, with the files that a
// reader has: a stack of their own, a model, the waivers of the base.
func copied(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"path/to/stack.yaml": "Pulumi.dev.yaml", "base/waivers.yaml": "policies/waivers.yaml"}
	for _, pack := range embedded.Packs() { // of the stack that is named after its file
		files["policies/stacks/stack/"+pack.Name+".json"] = "policies/stacks/dev/" + pack.Name + ".json"
	}
	for _, pattern := range []string{"Pulumi*.yaml", "tests/testdata/existing.yaml", "policies/stacks/*/*.json", "policies/*/profiles/*.json", "policies/waivers.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		for _, file := range found {
			rel, err := filepath.Rel(root, file)
			require.NoError(t, err)
			files[rel] = rel
		}
	}
	write := func(name string, text []byte) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, text, 0o644))
	}
	for to, from := range files {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(from)))
		require.NoError(t, err)
		write(to, raw)
	}
	planner, err := os.ReadFile(filepath.Join(root, "docs", "serving-planner.md"))
	require.NoError(t, err)
	_, model, found := strings.Cut(string(planner), "```json\n")
	require.True(t, found, "the page shows a model of one's own")
	model, _, _ = strings.Cut(model, "```")
	write("my-model.json", []byte(model))
	return dir
}
