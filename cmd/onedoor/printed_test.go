package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/tests/docs/shown"
)

// printed are the words of the calls of a kind that documents show.
func printed(t *testing.T, kind shown.Kind) [][]string {
	t.Helper()
	commands, err := shown.Of("../..", kind)
	require.NoError(t, err)
	require.NotEmpty(t, commands)
	var out [][]string
	for _, c := range commands {
		out = append(out, shown.Onedoor(c.Words))
	}
	return out
}

// The calls over a base work as documents print them: over the branch main, from which a
// tag differs, and over a directory with a tenant who is gone. Bases of other
// code are for TestAHarmlessChangePasses and its neighbour.
func TestComparisonsWorkAsPrinted(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "project")
	require.NoError(t, os.CopyFS(dir, os.DirFS(project(t))))
	commit(t, dir)
	require.NoError(t, os.CopyFS(filepath.Join(dir, "..", "as-it-was"), os.DirFS(dir)))
	edit(t, filepath.Join(dir, "..", "as-it-was", "Pulumi.prod.yaml"), "  onedoor:tenants:\n", "  onedoor:tenants:\n    gone: {owner: gone@example.com, plan: starter, residency: regional}\n")
	for _, stack := range []string{"dev", "prod"} {
		edit(t, filepath.Join(dir, "Pulumi."+stack+".yaml"), "costCentre: cc-1234", "costCentre: cc-5678")
	}
	for _, words := range printed(t, shown.Compare) {
		c, flags, err := screen{}.root().Find(words)
		require.NoError(t, err, words)
		require.NoError(t, c.ParseFlags(flags), words)
		require.NoError(t, c.ValidateArgs(c.Flags().Args()), words)
		assert.NotEmpty(t, c.Flag("base").Value.String(), words)
		if !shown.All() {
			continue
		}
		code, stdout, stderr := compared(t, selfBuild, dir, words[1:]...)
		assert.Equal(t, exitOK, code, "%v\n%s", words, stderr)
		assert.Contains(t, stdout, "cc-5678", words)
		assert.Equal(t, slices.Contains(words, "--accept-loss"), strings.Contains(stdout, "the tenant's keys"), words)
	}
}

// The calls that ask Azure work as documents print them, but that a simulated
// subscription answers, in which nothing is yet: they end with the documented code, and
// with that for no login where nobody is logged in. What asks the cluster is left to the
// tests of its Jobs.
func TestQuestionsToAzureWorkAsPrinted(t *testing.T) {
	t.Parallel()
	dir := project(t)
	code, _, stderr := call(dir, "preview", "--stack", "prod") // some calls read its record
	require.Equal(t, exitOK, code, stderr)
	ask := func(l login, words ...string) (int, string) {
		out, said := &bytes.Buffer{}, &bytes.Buffer{}
		at := screen{dir: dir, stdout: out, stderr: said}
		command := map[string]func(asked) *cobra.Command{"preflight": at.preflightAsking, "verify": at.verifyAsking}[words[0]](emptyAzure(t, l))
		command.SilenceErrors, command.SilenceUsage = true, true
		command.SetArgs(words[1:])
		code := report(said, command.ExecuteContext(t.Context()))
		if slices.Contains(words, "--json") {
			assert.True(t, json.Valid(out.Bytes()), out.String())
		}
		return code, out.String() + said.String()
	}
	for _, words := range printed(t, shown.Azure) {
		if at := slices.Index(words, "--probe-image"); at >= 0 {
			words = slices.Delete(slices.Clone(words), at, at+2)
		}
		code, said := ask(login{}, words...)
		assert.Equal(t, 1, code, "%v\n%s", words, said)
		assert.Contains(t, said, "Problems: ", words)
		if slices.Contains(words, "--plan") {
			code, said = ask(login{errors.New("nobody is logged in")}, words...)
			assert.Equal(t, 2, code, "%v\n%s", words, said)
			assert.Contains(t, said, "nobody is logged in", words)
		}
	}
}

// The calls that write the generated pages work as documents print them, in a copy of
// the project with a stale page; --check says so before, and nothing after.
func TestDocsWorksAsPrinted(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	page := filepath.Join(dir, "docs", "reference", "flows.md")
	fresh, err := os.ReadFile(page)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(page, append(slices.Clone(fresh), "old\n"...), 0o644))
	code, stdout, stderr := call(dir, "docs", "--check")
	assert.Equal(t, exitUser, code, stderr)
	assert.Equal(t, "stale: docs/reference/flows.md\n", stdout)
	for _, words := range printed(t, shown.Source) {
		code, _, stderr := call(dir, words...)
		assert.Equal(t, exitOK, code, "%v\n%s", words, stderr)
	}
	mended, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, string(fresh), string(mended))
}

// The calls that comment work as documents print them, but that the forge is a fake.
func TestCommentsWorkAsPrinted(t *testing.T) { //nolint:paralleltest // sets the environment
	dir := t.TempDir()
	for _, file := range []string{"out/dev/change.md", "out/prod/change.md", "change-dev/change.md"} {
		stack := filepath.Base(strings.TrimPrefix(filepath.Dir(file), "change-"))
		require.NoError(t, writeFiles(map[string][]byte{filepath.Join(dir, file): []byte(large(stack, 1))}))
	}
	for _, words := range printed(t, shown.Forge) {
		forge := &fakeForges{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/pulls") {
				assert.Equal(t, "stranger:patch-1", r.URL.Query().Get("head"))
				_, _ = w.Write([]byte(`[{"number": 7, "head": {"sha": "3f2c1d0"}}]`))
				return
			}
			assert.Contains(t, r.URL.Path, "/repos/example/onedoor/issues/")
			forge.ServeHTTP(w, r)
		}))
		defer server.Close()
		for name, value := range map[string]string{
			"GITHUB_TOKEN": "secret", "GITHUB_REPOSITORY": "example/onedoor", "GITHUB_API_URL": server.URL, "SYSTEM_ACCESSTOKEN": "", "TF_BUILD": "",
		} {
			t.Setenv(name, value)
		}
		code, _, stderr := call(dir, words...)
		assert.Equal(t, exitOK, code, "%v\n%s", words, stderr)
		files := 0
		for _, word := range words {
			if filepath.Ext(word) == ".md" {
				files++
			}
		}
		assert.Len(t, forge.comments, files, words)
	}
}
