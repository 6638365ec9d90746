package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
	"onedoor/stacks"
	"onedoor/tests/docs/shown"
	"onedoor/tests/kit"
)

// typist types the commands of the Pulumi CLI that documents show, over stacks in the
// simulated cloud.
type typist struct {
	t     *testing.T
	dir   string // of the project
	typed map[string]bool
	cli   string // of Pulumi
}

// session is a stack of the typist's project.
func (p *typist) session(stack string) *embedded.Session {
	return &embedded.Session{
		Dir: p.dir, StackFile: filepath.Join(p.dir, "Pulumi."+stack+".yaml"), Stack: stack, Home: filepath.Join(p.dir, ".onedoor"),
		Progress: &kit.Log{T: p.t}, SkipCheckpoints: true,
	}
}

// shown are the words of the commands that begin so, with some replaced. From now on
// they count as typed.
func (p *typist) shown(start string, replace map[string]string) [][]string {
	p.t.Helper()
	var out [][]string
	for _, c := range of(p.t, shown.Pulumi) {
		if !strings.HasPrefix(strings.Join(c.Words, " ")+" ", "pulumi "+start+" ") {
			continue
		}
		p.typed[c.String()] = true
		var words []string
		for _, word := range c.Words[1:] {
			for old, with := range replace {
				word = strings.ReplaceAll(word, old, with)
			}
			words = append(words, p.placed(word))
		}
		out = append(out, words)
	}
	require.NotEmpty(p.t, out, "no page shows pulumi %s", start)
	return out
}

// placed is a word with paths below the project's directory whole, since the engine of
// the tests works elsewhere, and with the program in place of the directory of a pack,
// which the engine of the tests cannot compile.
func (p *typist) placed(word string) string {
	for _, pack := range embedded.Packs() {
		if word == "policies/"+pack.Name {
			return filepath.Join(p.dir, ".onedoor", "bin", pack.Executable())
		}
	}
	if strings.HasPrefix(word, "policies/") {
		path := filepath.Join(p.dir, filepath.FromSlash(word))
		require.FileExists(p.t, path)
		return path
	}
	return word
}

// types types what is shown and returns what is printed. more answers the question that
// the CLI would ask a person.
func (p *typist) types(s *embedded.Session, start string, replace map[string]string, more ...string) string {
	p.t.Helper()
	var out strings.Builder
	for _, words := range p.shown(start, replace) {
		printed, err := s.Pulumi(p.t.Context(), append(words, more...)...)
		require.NoError(p.t, err)
		out.WriteString(printed)
	}
	return out.String()
}

// checkpoint is the part of a stack's state that the tests look at.
type checkpoint struct{ Resources []any }

// state reads the state of a stack.
func (p *typist) state(stack string) checkpoint {
	p.t.Helper()
	raw, err := os.ReadFile(p.stateFile(stack))
	require.NoError(p.t, err)
	var file struct {
		Checkpoint struct{ Latest checkpoint }
	}
	require.NoError(p.t, json.Unmarshal(raw, &file))
	return file.Checkpoint.Latest
}

func (p *typist) stateFile(stack string) string {
	return filepath.Join(p.dir, ".onedoor", "state", ".pulumi", "stacks", "onedoor", stack+".json")
}

// The commands that bring a stack up work as they are printed, by the CLI itself, and do
// what the page says; the CLI takes all others. Replaced are what a page writes in capitals, the vault of the
// state's secrets by a passphrase, and directories of packs by their programs; --yes
// stands for the person who is asked.
func TestPulumiWorksAsPrinted(t *testing.T) {
	t.Parallel()
	p := &typist{t: t, dir: copied(t), typed: map[string]bool{}}
	p.initialise()

	dev := p.session("dev")
	p.types(dev, "up --stack dev", nil, "--yes")
	assert.Greater(t, len(p.state("dev").Resources), 500)
	var imports []any
	require.NoError(t, json.Unmarshal([]byte(p.types(dev, "stack output", nil)), &imports))
	assert.NotEmpty(t, imports)
	for _, start := range onlyAsked {
		for _, words := range p.shown(start, nil) {
			assert.NoError(t, taken(t.Context(), p.cli, words), words)
		}
	}
	for _, c := range of(t, shown.Pulumi) {
		assert.True(t, p.typed[c.String()], "nobody types %s", c)
	}
}

// onlyAsked are the commands that change a stack that stands, or take packs that this
// engine cannot compile: the CLI is asked whether it takes them. What they do is tested
// by the same operations in tests/faults and cmd/onedoor.
var onlyAsked = []string{"destroy", "refresh", "cancel", "import", "state unprotect", "preview", "up --stack prod"}

// initialise makes a stack in a new state, where the CLI writes how its secrets are
// encrypted into the stack's file, and configures it.
func (p *typist) initialise() {
	p.t.Helper()
	cli, err := engine.Find(p.t.Context(), engine.Options{})
	require.NoError(p.t, err)
	p.cli = cli.Path
	dir, state := p.t.TempDir(), p.t.TempDir()
	require.NoError(p.t, os.CopyFS(dir, os.DirFS(p.dir)))
	file := filepath.Join(dir, "Pulumi.dev.yaml")
	env := append(os.Environ(), "PULUMI_BACKEND_URL=file://"+filepath.ToSlash(state), "PULUMI_HOME="+p.t.TempDir(), "PULUMI_CONFIG_PASSPHRASE=docs", "PULUMI_SKIP_UPDATE_CHECK=true")
	types := func(start string, replace map[string]string) (*stacks.Config, string) {
		for _, words := range p.shown(start, replace) {
			c := exec.CommandContext(p.t.Context(), cli.Path, append(words, "--non-interactive")...)
			c.Dir, c.Env = dir, env
			out, err := c.CombinedOutput()
			require.NoError(p.t, err, "%s", out)
		}
		cfg, err := stacks.ParseFile("dev", file)
		require.NoError(p.t, err)
		raw, err := os.ReadFile(file)
		require.NoError(p.t, err)
		return cfg, string(raw)
	}
	_, text := types("stack init", map[string]string{"azurekeyvault://YOURVAULT.vault.azure.net/keys/pulumi": "passphrase"})
	assert.Contains(p.t, text, "encryptionsalt: ")
	assert.FileExists(p.t, filepath.Join(state, ".pulumi", "stacks", "onedoor", "dev.json"))
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	cfg, text := types("config set", map[string]string{"sha256:...": digest})
	assert.Equal(p.t, stacks.Skip, cfg.Cluster.InCluster)
	assert.Equal(p.t, 2, strings.Count(text, "digest: "+digest), "of the control plane and of the workers")
	cfg, _ = types("config rm", nil)
	assert.Equal(p.t, stacks.Apply, cfg.Cluster.InCluster)
}

// inline is a command of the Pulumi CLI in running text.
var inline = regexp.MustCompile("`pulumi ([a-z][^`]*)`")

// Running text names commands and flags, mostly without their values: the CLI itself
// says whether it has them.
func TestPulumiHasWhatRunningTextNames(t *testing.T) {
	t.Parallel()
	cli, err := engine.Find(t.Context(), engine.Options{})
	require.NoError(t, err)
	named := map[string]string{}
	for _, page := range pages(t) {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
		require.NoError(t, err)
		for _, found := range inline.FindAllStringSubmatch(string(raw), -1) {
			named[found[1]] = page
		}
	}
	assert.Greater(t, len(named), 8)
	for words, page := range named {
		assert.NoError(t, taken(t.Context(), cli.Path, strings.Fields(words)), "%s: pulumi %s", page, words)
	}
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
