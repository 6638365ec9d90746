// Command mutants breaks the code on purpose, one named fault at a time, and
// fails unless the test that guards against the fault turns red. The faults are
// in mutants.yaml. The working tree is not touched: each fault is compiled in
// through an overlay.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"
)

//go:embed mutants.yaml
var table []byte

// mutant is one fault.
type mutant struct {
	Name string `yaml:"name"`
	File string `yaml:"file"` // below the project directory
	Old  string `yaml:"old"`  // stands exactly once in the file
	New  string `yaml:"new"`
	Test string `yaml:"test"` // name of the test that must fail
	In   string `yaml:"in"`   // its package
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run tries every fault, or those whose names are given, a few at a time: much of the
// work is the linker's, which uses one core.
func run(names []string) error {
	mutants, err := chosen(names)
	if err != nil {
		return err
	}
	failed := make([]error, len(mutants))
	var tries errgroup.Group
	tries.SetLimit(runtime.GOMAXPROCS(0))
	for i, m := range mutants {
		tries.Go(func() error {
			start := time.Now()
			if err := m.try(); err != nil {
				fmt.Printf("SURVIVED %s: %v\n", m.Name, err)
				failed[i] = fmt.Errorf("%s: %w", m.Name, err)
				return nil
			}
			fmt.Printf("killed   %s by %s, %s\n", m.Name, m.Test, time.Since(start).Round(100*time.Millisecond))
			return nil
		})
	}
	_ = tries.Wait() // all are tried; failed has what survived
	failed = slices.DeleteFunc(failed, func(err error) bool { return err == nil })
	fmt.Printf("%d of %d mutants killed\n", len(mutants)-len(failed), len(mutants))
	return errors.Join(failed...)
}

// chosen reads the faults that have one of the names, all if there are none.
func chosen(names []string) ([]mutant, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(table))
	decoder.KnownFields(true)
	var mutants []mutant
	if err := decoder.Decode(&mutants); err != nil {
		return nil, fmt.Errorf("mutants.yaml: %w", err)
	}
	var unknown []error
	for _, name := range names {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.Name == name }) {
			unknown = append(unknown, fmt.Errorf("no mutant is named %s", name))
		}
	}
	return slices.DeleteFunc(mutants, func(m mutant) bool { return len(names) > 0 && !slices.Contains(names, m.Name) }), errors.Join(unknown...)
}

// breaks applies the fault to the source of its file.
func (m mutant) breaks(source string) (string, error) {
	if n := strings.Count(source, m.Old); n != 1 {
		return "", fmt.Errorf("%s: the text to break stands there %d times, want once", m.File, n)
	}
	return strings.Replace(source, m.Old, m.New, 1), nil
}

// try applies the fault and runs its test, which must fail.
func (m mutant) try() error {
	source, err := os.ReadFile(m.File)
	if err != nil {
		return err
	}
	text, err := m.breaks(string(source))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	broken := filepath.Join(dir, filepath.Base(m.File))
	if err := os.WriteFile(broken, []byte(text), 0o644); err != nil {
		return err
	}
	path, err := filepath.Abs(m.File)
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {path: broken}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, replaced, 0o644); err != nil {
		return err
	}
	out, err := exec.Command("go", "test", "-overlay", overlay, "-count=1", "-run", "^"+m.Test+"$", m.In).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return fmt.Errorf("%s passed all the same:\n%s", m.Test, out)
	case !errors.As(err, &exit):
		return err
	case !strings.Contains(string(out), "--- FAIL: "+m.Test):
		return fmt.Errorf("%s did not fail, something else did:\n%s", m.Test, out)
	default:
		return nil
	}
}
