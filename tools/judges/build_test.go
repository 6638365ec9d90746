package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// What was built is used again until something that it comes from changes.
func TestKeysChangeWithWhatIsBuilt(t *testing.T) {
	t.Parallel()
	module := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := func(p program) string {
		got, err := p.key()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	p := program{name: "x", module: module, pkg: "."}
	write("module a")
	first := key(p)
	if again := key(p); again != first {
		t.Errorf("the same module has the keys %s and %s", first, again)
	}
	other := p
	other.pkg = "./other"
	if key(other) == first {
		t.Error("another package has the same key")
	}
	write("module b")
	if key(p) == first {
		t.Error("a changed module has the same key")
	}
}

func TestAMissingModuleSaysWhereToRun(t *testing.T) {
	t.Parallel()
	_, err := program{name: "x", module: filepath.Join(t.TempDir(), "none")}.key()
	if err == nil || !strings.Contains(err.Error(), "go -C tools/judges run .") {
		t.Errorf("got %v, want the command that works", err)
	}
}

func TestAnUnknownProgramIsRefused(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), []string{"keda"})
	if err == nil || !strings.Contains(err.Error(), `"keda"`) || !strings.Contains(err.Error(), "keda-operator") {
		t.Errorf("got %v, want the name and those that there are", err)
	}
}

// Thousands of packages are progress; what is wrong is shown.
func TestWatchKeepsWhatIsWrong(t *testing.T) {
	t.Parallel()
	said := "go: downloading example.com/x v1.0.0\nexample.com/x\nexample.com/x/y\n# example.com/x/y\n./y.go:3:1: syntax error\n"
	got := program{name: "x"}.watch(strings.NewReader(said), time.Now())
	if want := []string{"# example.com/x/y", "./y.go:3:1: syntax error"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
