// Package kqltest judges queries in the Kusto Query Language. [Check] asks
// Microsoft's own language service, which knows every function and operator, whether
// they mean anything over given tables. It needs Node.js, and the network once.
// [Run] answers queries over given rows, for the part of the language that this
// project writes. It is a test kit: no program imports it.
package kqltest

import (
	"bytes"
	"embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Schema is what queries are judged over.
type Schema struct {
	Tables    map[string]string // columns by table, as in "(TimeGenerated: datetime, Name: string)"
	Functions []Named
}

// Named is a query with its name.
type Named struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Finding is one thing that the language service says about a query.
type Finding struct {
	Name     string `json:"name"` // of the query or the function
	Line     int    `json:"line"`
	Severity string `json:"severity"` // Error, Warning or Suggestion
	Message  string `json:"message"`
}

//go:embed check.js package.json package-lock.json
var program embed.FS

// Check returns what the language service finds in the functions and the queries. It
// skips the test where Node.js is missing, or where the service can neither be found
// in the user's cache nor be installed there.
func Check(t *testing.T, schema Schema, queries ...Named) []Finding {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: queries are not judged by Microsoft's language service", tool)
		}
	}
	dir := install(t)
	type function struct {
		Name string `json:"name"`
		Body string `json:"body"`
	}
	input := struct {
		Tables    map[string]string `json:"tables"`
		Functions []function        `json:"functions"`
		Queries   []Named           `json:"queries"`
	}{schema.Tables, []function{}, queries}
	for _, f := range schema.Functions {
		input.Functions = append(input.Functions, function{f.Name, f.Text})
	}
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "check.js")
	node.Dir, node.Stdin = dir, bytes.NewReader(text)
	var stderr bytes.Buffer
	node.Stderr = &stderr
	out, err := node.Output()
	if err != nil {
		t.Fatalf("node check.js: %v\n%s", err, stderr.Bytes())
	}
	var found []Finding
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return found
}

// install puts the pinned language service into the user's cache, once. Two tests
// that do so at the same time install twice, and the first one to finish wins.
func install(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("no cache to install the language service in: %v", err)
	}
	parent := filepath.Join(cache, "onedoor")
	lock, err := program.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "kqltest-"+short(lock))
	if _, err := os.Stat(dir); err != nil {
		if err := os.MkdirAll(parent, 0o755); err != nil {
			t.Fatal(err)
		}
		// Beside its place, so that it can be moved there.
		temporary, err := os.MkdirTemp(parent, "kqltest-") //nolint:usetesting // t.TempDir is elsewhere
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(temporary)
		write(t, temporary)
		npm := exec.CommandContext(t.Context(), "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
		npm.Dir = temporary
		if out, err := npm.CombinedOutput(); err != nil {
			t.Skipf("the language service cannot be installed: npm ci: %v\n%s", err, out)
		}
		if err := os.Rename(temporary, dir); err != nil && !os.IsExist(err) {
			if _, other := os.Stat(dir); other != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, dir)
	return dir
}

// write puts the program's files into dir: the program may be newer than the
// service that is installed there.
func write(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"check.js", "package.json", "package-lock.json"} {
		text, err := program.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
			continue
		}
		next := path + "." + short([]byte(t.Name()))
		if err := os.WriteFile(next, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, path); err != nil {
			t.Fatal(err)
		}
	}
}
