// Package kit holds what the tests of whole stacks share.
package kit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"onedoor/cmd/embedded"
)

// project is the project's directory: where go.mod is, above the test's own.
func project() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, gone := os.Stat(filepath.Join(dir, "go.mod")); gone == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return "."
}

// StackFiles are the configurations that the tests of all stacks run over, by the
// stack's name.
func StackFiles() map[string]string {
	return map[string]string{
		"dev":      filepath.Join(project(), "Pulumi.dev.yaml"),
		"prod":     filepath.Join(project(), "Pulumi.prod.yaml"),
		"existing": filepath.Join(project(), "tests", "testdata", "existing.yaml"),
	}
}

// Session is a stack with a state of its own, gone after the test.
func Session(t testing.TB, stack, file string) *embedded.Session {
	t.Helper()
	return &embedded.Session{
		Dir: project(), StackFile: file, Stack: stack, Home: t.TempDir(), Progress: &Log{T: t}, WithoutPolicies: true, SkipCheckpoints: true,
	}
}

// Log shows progress in the test's log, a line at a time.
type Log struct {
	T    testing.TB
	line strings.Builder
}

func (l *Log) Write(p []byte) (int, error) {
	for _, b := range p {
		if b != '\n' {
			l.line.WriteByte(b)
			continue
		}
		l.T.Log(l.line.String())
		l.line.Reset()
	}
	return len(p), nil
}

// Changed is a stack's file with other values at some paths, as in "cluster.version";
// nil takes a root key away.
func Changed(t testing.TB, file string, values map[string]any) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var doc struct {
		Config map[string]any `yaml:"config"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &doc))
	for path, value := range values {
		steps := strings.Split("onedoor:"+path, ".")
		at := doc.Config
		for _, step := range steps[:len(steps)-1] {
			next, ok := at[step].(map[string]any)
			require.True(t, ok, path)
			at = next
		}
		if at[steps[len(steps)-1]] = value; value == nil {
			delete(at, steps[len(steps)-1])
		}
	}
	out, err := yaml.Marshal(doc)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	require.NoError(t, os.WriteFile(path, out, 0o644))
	return path
}

// Small is the configuration of dev with one queue, no workers and no models in
// the cluster, so that its tests make little else.
func Small(t testing.TB) string {
	t.Helper()
	return Changed(t, StackFiles()["dev"], map[string]any{
		"queue.queues": map[string]any{"text": map[string]any{"p99": "20s", "wait": "24h", "deliveries": 10, "batch": 1}}, "workers": nil,
		"serving": nil, "models.open": nil, "plans.full.aliases": []string{"chat", "small", "reason", "embed"},
	})
}
