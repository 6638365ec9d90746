package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"

	"onedoor/tools/sdkgen/internal/wanted"
)

// folder is a folder of committed inputs. The package comment describes them.
type folder string

func (f folder) file(name string) string { return filepath.Join(string(f), name) }

// resources reads the list of types in use.
func (f folder) resources() ([]wanted.Resource, error) {
	path := f.file("resources.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := wanted.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:\n%w", path, err)
	}
	return list, nil
}

// schema reads the pinned schema.
func (f folder) schema() (schema.PackageSpec, error) {
	var spec schema.PackageSpec
	path := f.file("schema.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return spec, err
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		return spec, fmt.Errorf("%s: %w", path, err)
	}
	return spec, nil
}

// setSchema replaces the pinned schema.
func (f folder) setSchema(spec *schema.PackageSpec) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(spec); err != nil {
		return fmt.Errorf("encode the schema: %w", err)
	}
	return os.WriteFile(f.file("schema.json"), text.Bytes(), 0o644)
}

// floats reads the numbers that are not integers, "module/version:Type.property" each.
func (f folder) floats() ([]string, error) {
	text, err := os.ReadFile(f.file("floats.txt"))
	if err != nil {
		return nil, err
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list, nil
}
