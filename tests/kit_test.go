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
	"onedoor/tests/kit"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func TestMain(m *testing.M) {
	embedded.Dispatch()
	os.Exit(m.Run())
}

// What the tests of other folders use too.
var (
	stackFiles = kit.StackFiles()
	session    = kit.Session
	changed    = kit.Changed
)

// projectDir is the project's directory.
const projectDir = ".."

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
