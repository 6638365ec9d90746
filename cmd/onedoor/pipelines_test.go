package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-shellwords"
	"github.com/rhysd/actionlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"onedoor/internal/engine"
)

// pipelines are the files of both forges, by their path.
func pipelines(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, pattern := range []string{"../../.github/workflows/*.yaml", "../../azure-pipelines/*.yaml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			out[filepath.ToSlash(strings.TrimPrefix(file, "../../"))] = raw
		}
	}
	return out
}

func TestWorkflowsAreLinted(t *testing.T) {
	t.Parallel()
	linter, err := actionlint.NewLinter(&bytes.Buffer{}, &actionlint.LinterOptions{})
	require.NoError(t, err)
	for path, text := range pipelines(t) {
		if !strings.HasPrefix(path, ".github") {
			continue
		}
		problems, err := linter.Lint(path, text, nil)
		require.NoError(t, err)
		for _, p := range problems {
			if strings.Contains(p.Message, `label "onedoor-`) { // runners of the platform's own
				continue
			}
			assert.Fail(t, p.Error())
		}
	}
}

// scalars are all values of a key, at any depth, of a YAML document.
func scalars(t *testing.T, text []byte, keys ...string) []string {
	t.Helper()
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal(text, &root))
	var out []string
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.ScalarNode {
				for _, key := range keys {
					if n.Content[i-1].Value == key {
						out = append(out, child.Value)
					}
				}
			}
			walk(child)
		}
	}
	walk(&root)
	return out
}

// expressions are what the forges and the shell put in while a pipeline runs.
var expressions = regexp.MustCompile(`\$\{\{.*?\}\}|\$\([^)]*\)|\$\{[^}]*\}|\$[A-Za-z_]+`)

// commands are the calls of a program in the scripts of a pipeline, with a word for
// everything that is put in.
func commands(t *testing.T, text []byte, program string) [][]string {
	t.Helper()
	var out [][]string
	for _, script := range scalars(t, text, "run", "bash", "inlineScript") {
		script = strings.ReplaceAll(script, "\\\n", " ")
		for line := range strings.SplitSeq(script, "\n") {
			_, call, found := strings.Cut(line, program+" ")
			if !found {
				continue
			}
			call, _, _ = strings.Cut(call, " || ")
			call = strings.ReplaceAll(call, `$ACCEPT`, "--accept-loss")
			args, err := shellwords.Parse(expressions.ReplaceAllString(call, "word"))
			require.NoError(t, err, line)
			out = append(out, args)
		}
	}
	return out
}

// TestPipelinesCallCommandsThatExist: every call in a pipeline is one that the
// command line takes, by its name, its flags and its arguments.
func TestPipelinesCallCommandsThatExist(t *testing.T) {
	t.Parallel()
	called := map[string]bool{}
	for path, text := range pipelines(t) {
		for _, args := range commands(t, text, "go run ./cmd/onedoor") {
			c, rest, err := newRoot(t.TempDir(), &bytes.Buffer{}, &bytes.Buffer{}).Find(args)
			require.NoError(t, err, "%s: %q", path, args)
			require.NoError(t, c.ParseFlags(rest), "%s: %q", path, args)
			assert.NoError(t, c.ValidateArgs(c.Flags().Args()), "%s: %q", path, args)
			called[c.CommandPath()] = true
		}
	}
	assert.Equal(t, map[string]bool{
		"onedoor preview": true, "onedoor comment": true, "onedoor report": true, "onedoor report collect": true, "onedoor report diff": true,
	}, called)
}

// TestPipelinesCallPulumiAsItIs: every flag is one that the engine's own command line
// has.
func TestPipelinesCallPulumiAsItIs(t *testing.T) {
	t.Parallel()
	cli, err := engine.Find(t.Context(), engine.Options{})
	require.NoError(t, err)
	calls := 0
	for path, text := range pipelines(t) {
		for _, args := range commands(t, text, "pulumi") {
			var words, flags []string
			for _, arg := range args {
				switch {
				case strings.HasPrefix(arg, "--"):
					flags = append(flags, arg)
				case len(flags) == 0:
					words = append(words, arg)
				}
			}
			help, err := exec.CommandContext(t.Context(), cli.Path, append(words, "--help")...).CombinedOutput()
			require.NoError(t, err, "%s: %q", path, args)
			for _, flag := range flags {
				assert.Regexp(t, regexp.QuoteMeta(flag)+`\b`, string(help), "%s: pulumi %q", path, words)
			}
			calls++
		}
	}
	assert.Equal(t, 6, calls)
}

// TestForksGetNoCredentials: what runs the code of a pull request has neither
// secrets, nor a token that writes or can be traded; what has one runs none of it.
func TestForksGetNoCredentials(t *testing.T) {
	t.Parallel()
	all := pipelines(t)
	for _, path := range []string{".github/workflows/pull-request.yaml", "azure-pipelines/pull-request.yaml"} {
		text := string(all[path])
		for _, never := range []string{"secrets.", "id-token", "pull_request_target", "azureSubscription", "azure/login", "persist-credentials: true", "pull-requests: write", "contents: write"} {
			assert.NotContains(t, text, never, path)
		}
	}
	var workflow struct {
		Jobs map[string]struct {
			RunsOn      string            `yaml:"runs-on"`
			Permissions map[string]string `yaml:"permissions"`
			Environment any               `yaml:"environment"`
		} `yaml:"jobs"`
	}
	require.NoError(t, yaml.Unmarshal(all[".github/workflows/pull-request.yaml"], &workflow))
	require.NotEmpty(t, workflow.Jobs)
	for name, job := range workflow.Jobs {
		assert.Equal(t, "ubuntu-24.04", job.RunsOn, "%s: never on a runner inside the network", name)
		assert.Nil(t, job.Environment, "%s: an environment has credentials", name)
		for permission, level := range job.Permissions {
			assert.Contains(t, []string{"contents: read", "security-events: write"}, permission+": "+level, name)
		}
	}
	devOps, err := expandAzure(all["azure-pipelines/pull-request.yaml"])
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"vmImage": "ubuntu-24.04"}, devOps.Pool, "never in a pool inside the network")
	tokens := 0
	for _, job := range devOps.Jobs {
		assert.Nil(t, job.Pool, job.Job)
		for _, step := range job.Steps {
			for _, value := range step.Env {
				assert.Equal(t, "$(System.AccessToken)", value)
				assert.Contains(t, step.Condition, "ne(variables['System.PullRequest.IsFork'], 'True')", "a fork's run has no token")
				tokens++
			}
		}
	}
	assert.Equal(t, len(devOps.Jobs), tokens, "one step of each job comments")
	comment := string(all[".github/workflows/pull-request-comment.yaml"])
	assert.Contains(t, comment, "ref: ${{ github.event.repository.default_branch }}")
	assert.NotContains(t, comment, "secrets.")
	for path, text := range all {
		for _, uses := range scalars(t, text, "uses") {
			assert.Regexp(t, `^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`, uses, "%s: pin actions by commit", path)
		}
	}
}

// TestPipelinesBuildWithTheGoOfTheModule: Azure's task reads no go.mod.
func TestPipelinesBuildWithTheGoOfTheModule(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(raw)
	require.NotNil(t, version)
	for path, text := range pipelines(t) {
		for _, wants := range scalars(t, text, "version") {
			assert.Equal(t, string(version[1]), wants, path)
		}
	}
}
