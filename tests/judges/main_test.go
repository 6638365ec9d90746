//go:build judges

package judges

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
)

// projectDir is the project's directory.
const projectDir = "../.."

func TestMain(m *testing.M) {
	embedded.Dispatch()
	os.Exit(m.Run())
}

// slow skips a test in short mode: its judges take a quarter of an hour to build.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("asks judges that take long to build")
	}
}

// building keeps two tests from building the same judge.
var building sync.Mutex

// program is the path of a judge, which is built if it was not built before.
func program(t *testing.T, name string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	command := exec.Command("go", "-C", filepath.Join(projectDir, "tools/judges"), "run", ".", name)
	command.Stderr = os.Stderr
	said, err := command.Output()
	require.NoError(t, err, "tools/judges: %s", name)
	_, path, _ := strings.Cut(strings.TrimSpace(string(said)), "=")
	return path
}

// definitions are the files of the custom resource definitions of all operators.
func definitions(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	said, err := exec.Command("go", "-C", filepath.Join(projectDir, "tools/crdgen"), "run", ".", "-definitions", dir).CombinedOutput()
	require.NoError(t, err, string(said))
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}
