package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/tests/docs/shown"
)

// built holds the command line as a reader builds it.
var built string

func TestMain(m *testing.M) {
	embedded.Dispatch()
	dir, err := os.MkdirTemp("", "onedoor-docs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built = filepath.Join(dir, "onedoor")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// build builds the command line once.
var build = sync.OnceValues(func() ([]byte, error) {
	c := exec.Command("go", "build", "-o", built, "./cmd/onedoor")
	c.Dir = root
	return c.CombinedOutput()
})

// onedoor calls the command line in dir, with more in its environment.
func onedoor(t *testing.T, dir string, env []string, words ...string) (out []byte, err error) {
	t.Helper()
	said, err := build()
	require.NoError(t, err, "%s", said)
	c := exec.CommandContext(t.Context(), built, words...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	return c.CombinedOutput()
}

// of are the commands of a kind that documents show.
func of(t *testing.T, kind shown.Kind) []shown.Command {
	t.Helper()
	out, err := shown.Of(root, kind)
	require.NoError(t, err)
	require.NotEmpty(t, out, kind)
	return out
}
