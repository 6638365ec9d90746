package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// definition is the part of a CustomResourceDefinition that a check needs.
type definition struct {
	Spec struct {
		Group string
		Scope string
		Names struct {
			Kind   string
			Plural string
		}
		Versions []struct {
			Name    string
			Served  bool
			Storage bool
			Schema  struct {
				OpenAPIV3Schema map[string]any `yaml:"openAPIV3Schema"`
			}
		}
	}
}

// custom reads custom resource definitions: of each the version that is stored.
func custom(dir string, files []string, group string) (*document, error) {
	doc := &document{Kinds: map[string]kind{}}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		var d definition
		if err := yaml.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if group != "" {
			d.Spec.Group = group
		}
		for _, v := range d.Spec.Versions {
			if !v.Served || !v.Storage {
				continue
			}
			doc.Kinds[d.Spec.Group+"/"+v.Name+"/"+d.Spec.Names.Kind] = kind{
				Namespaced: d.Spec.Scope == "Namespaced", Plural: d.Spec.Names.Plural,
				Schema: root(converter{defaulted: true}.schema(v.Schema.OpenAPIV3Schema, false)),
			}
		}
	}
	share(doc)
	return doc, nil
}
