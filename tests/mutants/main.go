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
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
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

// run tries every fault, or those whose names are given.
func run(names []string) error {
	decoder := yaml.NewDecoder(bytes.NewReader(table))
	decoder.KnownFields(true)
	var mutants []mutant
	if err := decoder.Decode(&mutants); err != nil {
		return fmt.Errorf("mutants.yaml: %w", err)
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	var failed []error
	tried := 0
	for _, m := range mutants {
		if len(names) > 0 && !wanted[m.Name] {
			continue
		}
		tried++
		start := time.Now()
		if err := m.try(); err != nil {
			fmt.Printf("SURVIVED %s: %v\n", m.Name, err)
			failed = append(failed, fmt.Errorf("%s: %w", m.Name, err))
			continue
		}
		fmt.Printf("killed   %s by %s, %s\n", m.Name, m.Test, time.Since(start).Round(100*time.Millisecond))
	}
	for _, name := range names {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.Name == name }) {
			failed = append(failed, fmt.Errorf("no mutant is named %s", name))
		}
	}
	fmt.Printf("%d of %d mutants killed\n", tried-len(failed), tried)
	return errors.Join(failed...)
}

// try applies the fault and runs its test, which must fail.
func (m mutant) try() error {
	source, err := os.ReadFile(m.File)
	if err != nil {
		return err
	}
	if n := strings.Count(string(source), m.Old); n != 1 {
		return fmt.Errorf("%s: the text to break stands there %d times, want once", m.File, n)
	}
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	broken := filepath.Join(dir, filepath.Base(m.File))
	if err := os.WriteFile(broken, []byte(strings.Replace(string(source), m.Old, m.New, 1)), 0o644); err != nil {
		return err
	}
	path, err := filepath.Abs(m.File)
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {path: broken}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
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
