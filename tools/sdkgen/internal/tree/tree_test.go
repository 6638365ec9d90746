package tree

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSyncMakesFoldersEqual(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("generate.go", "kept")
	write("same/a.go", "a")
	write("same/b.go", "old")
	write("stale/deep/c.go", "c")
	result, err := Sync(dir, map[string][]byte{"same/a.go": []byte("a"), "same/b.go": []byte("new"), "fresh/d.go": []byte("d")})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Result{Written: 2, Unchanged: 1, Removed: 1}); result != want {
		t.Errorf("got %+v, want %+v", result, want)
	}
	for name, want := range map[string]string{"generate.go": "kept", "same/a.go": "a", "same/b.go": "new", "fresh/d.go": "d"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "stale")); !os.IsNotExist(err) {
		t.Errorf("stale folder: %v", err)
	}
}

func TestSyncStaysInItsFolders(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../a/b.go", "top.go", "/a/b.go", "a/../../b.go"} {
		if _, err := Sync(t.TempDir(), map[string][]byte{name: nil}); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}
