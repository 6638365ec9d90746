// Package tests runs whole stacks through the real engine on the simulator.
package tests

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func TestMain(m *testing.M) {
	embedded.Dispatch()
	if home := os.Getenv(upEnv); home != "" {
		upMain(home)
	}
	os.Exit(m.Run())
}

// projectDir is the project's directory.
const projectDir = ".."

// stackFiles are the configurations that the tests of all stacks run over, by
// the stack's name.
var stackFiles = map[string]string{
	"dev":      projectDir + "/Pulumi.dev.yaml",
	"prod":     projectDir + "/Pulumi.prod.yaml",
	"existing": "testdata/existing.yaml",
}

// session is a stack with a state of its own, gone after the test.
func session(t testing.TB, stack, file string) *embedded.Session {
	t.Helper()
	dir, err := filepath.Abs(projectDir)
	require.NoError(t, err)
	return &embedded.Session{
		Dir: dir, StackFile: file, Stack: stack, Home: t.TempDir(), Progress: &log{t: t}, WithoutPolicies: true, SkipCheckpoints: true,
	}
}

// log shows progress in the test's log, a line at a time.
type log struct {
	t    testing.TB
	line strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	for _, b := range p {
		if b != '\n' {
			l.line.WriteByte(b)
			continue
		}
		l.t.Log(l.line.String())
		l.line.Reset()
	}
	return len(p), nil
}

// golden compares got with a file in testdata, or rewrites it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run: go test ./tests -update")
	if string(want) == string(got) {
		return
	}
	wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(wantLines), len(gotLines)) {
		a, b := "", ""
		if i < len(wantLines) {
			a = wantLines[i]
		}
		if i < len(gotLines) {
			b = gotLines[i]
		}
		if a != b {
			t.Fatalf("%s differs first in line %d:\n- %s\n+ %s\nif that is intended, run: go test ./tests -update", path, i+1, a, b)
		}
	}
}
