package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// The committed schemas are what the pinned modules make, byte for byte.
func TestSchemasAreGenerated(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads modules, which the first time come over the network")
	}
	const committed = "../../internal/manifest/schemas"
	made := t.TempDir()
	if err := run(made); err != nil {
		t.Fatal(err)
	}
	var names [2][]string
	for i, dir := range []string{committed, made} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			names[i] = append(names[i], entry.Name())
		}
	}
	if !reflect.DeepEqual(names[0], names[1]) {
		t.Fatalf("files are %q, want %q; fix: go generate ./internal/manifest", names[0], names[1])
	}
	for _, name := range names[0] {
		got, err := os.ReadFile(filepath.Join(committed, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(made, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is not what its modules make; fix: go generate ./internal/manifest", name)
		}
	}
}

// A module whose contents changed under its version is refused.
func TestFetchComparesChecksums(t *testing.T) {
	t.Parallel()
	m := sources[1].modules[0]
	m.sum = "h1:x="
	if _, err := m.fetch(); err == nil {
		t.Error("a wrong checksum was accepted")
	}
}
