// Command crdgen makes the schemas of internal/manifest: what Kubernetes and the
// operators that this platform installs accept, read from the modules that they
// publish and pruned to what a check needs.
//
//	crdgen [-out DIR]
//	crdgen -definitions DIR
//
// The second form writes the custom resource definitions themselves instead, whole
// and as a real API server takes them.
//
// The modules, their versions and checksums are in sources.go. They come through
// the Go module proxy, so the first run needs the network; equal modules give
// equal bytes. A plain go run from this folder writes to
// ../../internal/manifest/schemas.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	out := flag.String("out", "../../internal/manifest/schemas", "folder that gets the schemas")
	definitions := flag.String("definitions", "", "folder that gets the custom resource definitions, in place of the schemas")
	flag.Parse()
	var err error
	if *definitions != "" {
		err = writeDefinitions(*definitions)
	} else {
		err = run(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "crdgen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	var table strings.Builder
	for _, s := range sources {
		doc, err := s.document()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		data, err := pack(doc)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		name := s.name + ".json"
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
		var from []string
		for _, m := range s.modules {
			from = append(from, fmt.Sprintf("`%s` %s", m.path, m.version))
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, strings.Join(from, ", "), s.licence, s.note)
	}
	return os.WriteFile(filepath.Join(dir, "README.md"), []byte(fmt.Sprintf(readme, table.String())), 0o644)
}

const readme = `# Schemas of Kubernetes objects

Made by ` + "`tools/crdgen`" + ` (` + "`go generate ./internal/manifest`" + `); do not edit. Descriptions, defaults and status are left out,
equal parts are shared, and what Kubernetes says in its own keywords is said in those of JSON Schema 2020-12.
Rules in CEL (` + "`x-kubernetes-validations`" + `) are left out too.

| file | made from | licence | note |
|---|---|---|---|
%s`

// pack writes the document with one line for each kind and definition, so that
// a change is a small diff.
func pack(doc *document) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("{\"kinds\": {")
	if err := lines(&out, doc.Kinds); err != nil {
		return nil, err
	}
	out.WriteString("},\n\"$defs\": {")
	if err := lines(&out, doc.Defs); err != nil {
		return nil, err
	}
	out.WriteString("}}\n")
	return out.Bytes(), nil
}

func lines[V any](out *bytes.Buffer, m map[string]V) error {
	for i, key := range slices.Sorted(maps.Keys(m)) {
		value, err := json.Marshal(m[key])
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, "\n%q: %s", key, value)
	}
	return nil
}
