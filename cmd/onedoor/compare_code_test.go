package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/change"
	"onedoor/internal/forge"
)

// buildEnv, set to "go", makes the tests below build the base as users do. That costs
// minutes in a directory that the compiler has never seen; see overlaid.
const buildEnv = "ONEDOOR_BUILD_BASE"

// baseBuild builds the base of a change of code.
func baseBuild() embedded.Build {
	if os.Getenv(buildEnv) == "go" {
		return embedded.GoBuild
	}
	return overlaid
}

// overlaid builds the code of another state of the project as if it stood in the
// directory of this one: the compiler's cache goes by directories, so that only
// packages that differ are compiled.
// https://pkg.go.dev/cmd/go#hdr-Compile_packages_and_dependencies
func overlaid(ctx context.Context, project, file string, progress io.Writer) error {
	here, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	replace := map[string]string{}
	for _, name := range sources(here) { // those that the project does not have must be gone
		replace[filepath.Join(here, name)] = ""
	}
	for _, name := range sources(project) {
		was, err := os.ReadFile(filepath.Join(project, name))
		if err != nil {
			return err
		}
		at := filepath.Join(here, name)
		if is, err := os.ReadFile(at); err == nil && bytes.Equal(is, was) {
			delete(replace, at)
			continue
		}
		replace[at] = filepath.Join(project, name)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	list := filepath.Join(filepath.Dir(file), "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-overlay", list, "-o", file, "./cmd/onedoor")
	c.Dir, c.Stdout, c.Stderr = here, progress, progress
	return c.Run()
}

// sources are the files of a project that programs are built from, and more.
func sources(project string) []string {
	var out []string
	_ = fs.WalkDir(os.DirFS(project), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "out" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.Type().IsRegular():
			out = append(out, name)
		}
		return nil
	})
	return out
}

// copied is a copy of the whole project.
func copied(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range sources("../..") {
		raw, err := os.ReadFile(filepath.Join("../..", name))
		if errors.Is(err, fs.ErrNotExist) { // an editor's, gone meanwhile
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), raw, 0o644))
	}
	return dir
}

// commit makes a directory a repository with one commit, on the branch main.
func commit(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "base"}} {
		said, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
}

// TestAChangeOfCodeThatMattersIsRefusedOnTheFirstScreen: it replaces the cluster, lets a
// role do more, which only the code says, and adds a tenant.
func TestAChangeOfCodeThatMattersIsRefusedOnTheFirstScreen(t *testing.T) {
	t.Parallel()
	const actions = "pulumi.ToStringArray(definition.custom.DataActions)"
	const fewer = "pulumi.ToStringArray(definition.custom.DataActions[:3])"
	dir := copied(t)
	roles := filepath.Join(dir, "components/identity/identity.go")
	edit(t, roles, actions, fewer)
	commit(t, dir)
	edit(t, roles, fewer, actions)
	stack := filepath.Join(dir, "Pulumi.dev.yaml")
	edit(t, stack, "    podCidr: 10.244.0.0/16", "    podCidr: 10.248.0.0/16")
	edit(t, stack, "  onedoor:tenants:\n", "  onedoor:tenants:\n    newcomer:\n      owner: newcomer@example.com\n      applications: [a9999999-1111-4111-8111-111111111111]\n      plan: starter\n      residency: regional\n")

	code, stdout, stderr := compared(t, baseBuild(), dir, "--base", "HEAD")
	require.Equal(t, exitUser, code, stderr)
	first, _, _ := strings.Cut(stdout, "\nreplaced\n")
	for _, want := range []string{
		"REPLACED", "ManagedCluster cluster, because of networkProfile.podCidr", "+ gateway-tenant-newcomer",
		"~ RoleDefinition identity-sync-only: permissions[0].dataActions[3]: + Microsoft.CognitiveServices/accounts/OpenAI/responses/write",
		"in Azure: ",
	} {
		assert.Contains(t, first, want)
	}
	assert.Contains(t, stdout, "lost for good")

	comment, err := os.ReadFile(filepath.Join(dir, "out", "dev", "change.md"))
	require.NoError(t, err)
	_, err = forge.Read(string(comment))
	require.NoError(t, err, "it is a comment")
	top, _, _ := strings.Cut(string(comment), "<details>")
	for _, want := range []string{"ManagedCluster cluster", "+ gateway-tenant-newcomer", "responses/write"} {
		assert.Contains(t, top, want)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "out", "dev", "change.json"))
	require.NoError(t, err)
	var written struct {
		Base     change.Revision
		Changes  []change.Resource
		Bill     struct{ Before, After struct{ Idle, Most float64 } }
		Duration struct{ TookSeconds float64 }
	}
	require.NoError(t, json.Unmarshal(raw, &written))
	assert.NotEmpty(t, written.Changes)
	assert.Len(t, written.Base.Commit, 40)
	assert.Equal(t, written.Bill.Before, written.Bill.After, "replacing costs nothing more")
	assert.Greater(t, written.Duration.TookSeconds, 300.0, "a cluster takes minutes")
	assert.FileExists(t, filepath.Join(dir, "out", "dev", "policy.json"))
}

// TestAHarmlessChangePasses: a comment in the code, and a tag in the configuration. The
// base is a directory.
func TestAHarmlessChangePasses(t *testing.T) {
	t.Parallel()
	const line = "// Type is the component's token; changing it needs an alias in New.\n"
	base := copied(t)
	edit(t, filepath.Join(base, "components/identity/identity.go"), line, "// Type is a token.\n")
	dir := project(t)
	edit(t, filepath.Join(dir, "Pulumi.dev.yaml"), "costCentre: cc-1234", "costCentre: cc-5678")

	code, stdout, stderr := compared(t, baseBuild(), dir, "--base", base, "--json")
	var got struct {
		OK       bool
		Refusals []string
		Changes  []change.Resource
		Policy   struct{ Changes []any }
		OnlyBase []any
		Reach    []any
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &got), stderr)
	assert.Empty(t, got.Refusals, "%v %v", change.Lost(got.Changes), got.Policy.Changes)
	assert.True(t, got.OK)
	assert.Equal(t, exitOK, code)
	assert.Empty(t, got.Policy.Changes)
	assert.Empty(t, got.OnlyBase)
	assert.Empty(t, got.Reach)
	assert.NotEmpty(t, got.Changes)
	for _, c := range got.Changes {
		assert.Equal(t, change.Updated, c.Op, c.URN)
	}
	assert.NoDirExists(t, filepath.Join(base, ".onedoor"), "the base is left as it was")
}

// TestABaseIsBuiltFromItsOwnFiles: what a change adds is no part of its base.
func TestABaseIsBuiltFromItsOwnFiles(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("go.mod", "module small\n\ngo 1.26\n")
	write("Pulumi.yaml", "name: small\n")
	write("cmd/onedoor/main.go", "package main\n\nfunc main() { println(said) }\n")
	write("cmd/onedoor/said.go", "package main\n\nconst said = \"base\"\n")
	commit(t, dir)
	write("cmd/onedoor/said.go", "package main\n\nvar said = \"head\"\n")
	write("cmd/onedoor/more.go", "package main\n\nfunc init() { said = \"more\" }\n")

	base, err := embedded.OpenBase(t.Context(), dir, "HEAD", home, embedded.GoBuild, io.Discard)
	require.NoError(t, err)
	defer base.Close()
	var said bytes.Buffer
	require.NoError(t, base.Run(t.Context(), &said))
	assert.Equal(t, "base\n", said.String())
	assert.True(t, strings.HasPrefix(base.Dir, home), "%s: nothing is written into the project", base.Dir)
}
