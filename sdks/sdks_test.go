package sdks

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// The committed modules must be what the generator makes of its committed
// inputs, so that nobody edits them by hand and no input changes alone.
func TestCommittedModulesAreGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the generator")
	}
	t.Parallel()
	files(t, "../tools/sdkgen") // read here, so that go test runs again after a change of what go run reads
	dir := t.TempDir()
	generate := exec.CommandContext(t.Context(), "go", "run", "-C", "../tools/sdkgen", ".", "generate", "-out", dir)
	generate.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", generate, err, out)
	}
	want, got := files(t, dir), files(t, ".")
	if len(want) == 0 {
		t.Fatal("the generator wrote nothing")
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch committed, ok := got[name]; {
		case !ok:
			t.Errorf("%s: missing", name)
		case !bytes.Equal(committed, want[name]):
			t.Errorf("%s: differs", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: the generator does not write it", name)
		}
	}
	if t.Failed() {
		t.Log("fix: go generate ./sdks")
	}
}

// files reads all files in the sub-folders of dir, by slash-separated path.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Dir(path) == filepath.Clean(dir) {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
