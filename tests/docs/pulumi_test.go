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
	"onedoor/sim"
	"onedoor/sim/core"
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
	if strings.HasPrefix(word, "policies/") || strings.HasPrefix(word, "out/") {
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
	printed, err := p.tries(s, start, replace, more...)
	if err != nil {
		said := err.Error() // ends with what counts
		require.NoError(p.t, err, "%s", said[max(0, len(said)-4000):])
	}
	return printed
}

// tries is types of what may fail.
func (p *typist) tries(s *embedded.Session, start string, replace map[string]string, more ...string) (string, error) {
	p.t.Helper()
	var out strings.Builder
	for _, words := range p.shown(start, replace) {
		printed, err := s.Pulumi(p.t.Context(), append(words, more...)...)
		if err != nil {
			return "", err
		}
		out.WriteString(printed)
	}
	return out.String(), nil
}

// checkpoint is the part of a stack's state that the tests look at.
type checkpoint struct {
	Resources []struct {
		URN     string
		Protect bool
	}
}

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

// A stack comes up, is looked after and goes again by the commands as they are printed,
// typed into the CLI itself, and each does what its page says. Replaced are what a page
// writes in capitals, prod by the smaller dev, the vault of the state's secrets by a
// passphrase, and directories of packs by their programs; --yes stands for the person who
// is asked.
func TestPulumiWorksAsPrinted(t *testing.T) {
	t.Parallel()
	p := &typist{t: t, dir: copied(t), typed: map[string]bool{}}
	p.initialise()
	dev, inDev := p.session("dev"), map[string]string{"prod": "dev"}

	p.takesOverTheCluster(dev)
	p.types(dev, "up --stack dev", nil, "--yes")
	assert.Greater(t, len(p.state("dev").Resources), 500)
	var imports []any
	require.NoError(t, json.Unmarshal([]byte(p.types(dev, "stack output", nil)), &imports))
	assert.NotEmpty(t, imports)
	assert.Contains(t, p.types(dev, "up --stack prod", inDev, "--yes"), "unchanged")

	config := filepath.Join(p.dir, "out", "dev", "platform.json") // by `onedoor report waivers`, which another test types
	require.NoError(t, os.MkdirAll(filepath.Dir(config), 0o755))
	raw, err := os.ReadFile(filepath.Join(p.dir, "policies", "stacks", "dev", "platform.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, raw, 0o600))
	assert.Contains(t, p.types(dev, "preview", inDev), "platform@")

	p.types(dev, "cancel", inDev)
	assert.Contains(t, p.types(dev, "refresh", inDev, "--yes"), "unchanged")
	p.types(dev, "destroy --stack dev", nil, "--yes")
	assert.Empty(t, p.state("dev").Resources)

	prod := p.session("prod")
	prod.UpAlone, prod.WithoutPolicies = true, true
	_, err = prod.Up(t.Context())
	require.NoError(t, err)
	var protected []string
	for _, r := range p.state("prod").Resources {
		if r.Protect && strings.HasSuffix(r.URN, "::storage-ledger") {
			protected = append(protected, r.URN)
		}
	}
	require.Len(t, protected, 1)
	p.types(prod, "state unprotect", map[string]string{"URN": protected[0]}, "--yes")
	_, err = prod.Pulumi(t.Context(), "destroy", "--stack", "prod", "--run-program", "--yes")
	require.ErrorContains(t, err, "pulumi state unprotect '"+protected[0]+"'", "the program has protected it again")
	p.types(prod, "destroy --stack prod", nil, "--yes")
	assert.Empty(t, p.state("prod").Resources)

	for _, c := range of(t, shown.Pulumi) {
		assert.True(t, p.typed[c.String()], "nobody types %s", c)
	}
}

// takesOverTheCluster leaves a cluster behind that the stack does not know, and follows the
// advice of the next update, which is what the page shows.
func (p *typist) takesOverTheCluster(dev *embedded.Session) {
	p.t.Helper()
	const cluster = "urn:pulumi:dev::onedoor::onedoor:cluster:Cluster$azure-native:containerservice/v20250101:ManagedCluster::cluster"
	dev.Prepare = func(cloud *sim.Cloud) { cloud.Inject(sim.Fault{URN: cluster, Method: core.Put, When: sim.AnswerLost}) }
	_, err := p.tries(dev, "up --stack dev", nil, "--yes")
	require.Error(p.t, err)
	dev.Prepare = nil
	_, err = p.tries(dev, "up --stack dev", nil, "--yes")
	require.ErrorContains(p.t, err, "cluster exists already")
	advice := regexp.MustCompile(`pulumi import 'azure-native:containerservice.* '/subscriptions/([^/]+)/.* 'parent=(\S+)' .* 'azure=(\S+)' .*`).FindStringSubmatch(err.Error())
	require.NotNil(p.t, advice, "%v", err)
	asked := map[string]string{"prod": "dev", "SUBSCRIPTION": advice[1], "PARENT": advice[2], "PROVIDER": advice[3]}
	for _, words := range p.shown("import", asked) {
		assert.Equal(p.t, strings.ReplaceAll(advice[0], "'", ""), "pulumi "+strings.Join(words, " "))
	}
	p.types(dev, "import", asked)
}

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
