package embedded

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"onedoor/internal/engine"
	"onedoor/internal/policypack/results"
)

// plan is what is written of one operation. Other tools read it: fields are
// only ever added.
type plan struct {
	Stack     string            `json:"stack"`
	Simulated bool              `json:"simulated"` // always true: a file of the embedded mode says so
	Resources []engine.Resource `json:"resources"` // sorted by urn
}

// Write writes the resources of result to <operation>.json in dir, and the objects
// of the cluster to manifests beside it. It returns the path of the former. Equal
// results give equal bytes.
func Write(result *engine.Result, dir string) (string, error) {
	var b bytes.Buffer
	if err := Encode(&b, plan{result.Stack, true, result.Resources}); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := writeManifests(result, dir); err != nil {
		return "", err
	}
	path := filepath.Join(dir, string(result.Operation)+".json")
	return path, os.WriteFile(path, b.Bytes(), 0o644)
}

// WritePolicy writes what the policy packs judged to policy.json in dir and returns
// the file's path.
func WritePolicy(judged *results.Document, dir string) (string, error) {
	var b bytes.Buffer
	if err := Encode(&b, judged); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "policy.json")
	return path, os.WriteFile(path, b.Bytes(), 0o644)
}

// Encode writes v as indented JSON, its keys in order, in plain characters.
func Encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
