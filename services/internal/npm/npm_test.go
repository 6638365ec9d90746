package npm

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder is a test that notes how it ends.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(args ...any) { r.stop("skipped: ", args) }

func (r *recorder) Fatal(args ...any) { r.stop("failed: ", args) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.stop("failed: ", []any{fmt.Sprintf(format, args...)})
}

func (r *recorder) stop(how string, args []any) {
	r.end = how + fmt.Sprint(args...)
	runtime.Goexit()
}

// project calls Project as a test would, and tells how that test ended.
func project(t *testing.T, name string) (dir, end string) {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		dir = Project(r, name, lock)
	}()
	<-done
	return dir, r.end
}

var lock fs.FS = fstest.MapFS{"package.json": {Data: []byte(`{}`)}, "package-lock.json": {Data: []byte(`{"lockfileVersion":3}`)}}

// programs puts a node and an npm on PATH; the second is this script.
func programs(t *testing.T, npm string) {
	t.Helper()
	bin := t.TempDir()
	for name, script := range map[string]string{"node": "exit 0", "npm": npm} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Without Node a test is skipped, or fails where Node is required.
func TestNodeIsMissing(t *testing.T) { //nolint:paralleltest // sets the environment
	t.Setenv("PATH", t.TempDir())
	t.Setenv(EnvRequire, "")
	_, end := project(t, "judge")
	assert.True(t, strings.HasPrefix(end, "skipped: judge is not judged here: node is not on PATH"), end)
	t.Setenv(EnvRequire, "1")
	_, end = project(t, "judge")
	assert.True(t, strings.HasPrefix(end, "failed: judge is not judged here"), end)
}

// What was installed once is used again.
func TestInstallsOnce(t *testing.T) { //nolint:paralleltest // sets the environment
	count := filepath.Join(t.TempDir(), "count")
	t.Setenv(envCache, t.TempDir())
	programs(t, "echo x >> "+count+"; mkdir node_modules")
	first, end := project(t, "judge")
	require.Empty(t, end)
	assert.DirExists(t, filepath.Join(first, "node_modules"))
	second, end := project(t, "judge")
	require.Empty(t, end)
	assert.Equal(t, first, second)
	runs, err := os.ReadFile(count)
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(runs))
}

// A failed installation fails the test with what npm said, and leaves nothing that the next
// one would take for whole.
func TestInstallationFails(t *testing.T) { //nolint:paralleltest // sets the environment
	t.Setenv(envCache, t.TempDir())
	programs(t, "mkdir node_modules; echo no registry; exit 1")
	_, end := project(t, "judge")
	assert.Contains(t, end, "no registry")
	programs(t, "mkdir node_modules")
	dir, end := project(t, "judge")
	require.Empty(t, end)
	assert.DirExists(t, filepath.Join(dir, "node_modules"))
	left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "judge-*"))
	require.NoError(t, err)
	assert.Len(t, left, 2, "the project and its lock: %v", left)
}
