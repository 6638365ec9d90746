package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// groups are the API groups of Kubernetes that are read, as its files of OpenAPI
// are called.
var groups = []string{
	"api__v1", "apis__apps__v1", "apis__batch__v1", "apis__autoscaling__v2", "apis__policy__v1",
	"apis__networking.k8s.io__v1", "apis__rbac.authorization.k8s.io__v1", "apis__scheduling.k8s.io__v1",
	"apis__storage.k8s.io__v1", "apis__node.k8s.io__v1", "apis__admissionregistration.k8s.io__v1",
	"apis__apiextensions.k8s.io__v1",
}

// openAPI is one of those files.
type openAPI struct {
	Components struct {
		Schemas map[string]map[string]any `json:"schemas"`
	} `json:"components"`
	Paths map[string]map[string]json.RawMessage `json:"paths"`
}

type groupVersionKind struct{ Group, Version, Kind string }

// objectMeta is the schema of metadata.
const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// creation is the path to which objects are posted.
var creation = regexp.MustCompile(`^/apis?(?:/[^/{]+){1,2}/(namespaces/\{namespace\}/)?([a-z]+)$`)

// builtin reads the kinds that can be created. Status is left out, and with it
// what only a status refers to.
func builtin(kubernetes, api string) (*document, error) {
	enums, err := enumerations(api)
	if err != nil {
		return nil, err
	}
	r := reader{doc: &document{Kinds: map[string]kind{}, Defs: map[string]any{}}, schemas: map[string]map[string]any{}, enums: enums}
	var files []openAPI
	for _, group := range groups {
		text, err := os.ReadFile(filepath.Join(kubernetes, "api/openapi-spec/v3", group+"_openapi.json"))
		if err != nil {
			return nil, err
		}
		var file openAPI
		if err := json.Unmarshal(text, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", group, err)
		}
		maps.Copy(r.schemas, file.Components.Schemas)
		files = append(files, file)
	}
	for _, file := range files {
		for path, operations := range file.Paths {
			if err := r.path(path, operations); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	r.definition(objectMeta)
	return r.doc, nil
}

type reader struct {
	doc     *document
	schemas map[string]map[string]any
	enums   map[string]map[string][]any // values, by schema and property
}

// path reads the kind that is created at a path, if one is.
func (r *reader) path(path string, operations map[string]json.RawMessage) error {
	match := creation.FindStringSubmatch(path)
	if match == nil || operations["post"] == nil {
		return nil
	}
	var post struct {
		GVK groupVersionKind `json:"x-kubernetes-group-version-kind"`
	}
	if err := json.Unmarshal(operations["post"], &post); err != nil {
		return err
	}
	name := r.schemaOf(post.GVK)
	if name == "" {
		return fmt.Errorf("no schema of %v", post.GVK)
	}
	if _, hasMetadata := r.schemas[name]["properties"].(map[string]any)["metadata"]; !hasMetadata {
		return nil
	}
	apiVersion := strings.TrimPrefix(post.GVK.Group+"/"+post.GVK.Version, "/")
	r.doc.Kinds[apiVersion+"/"+post.GVK.Kind] = kind{
		Namespaced: match[1] != "", Plural: match[2], Schema: root(r.convert(name)),
	}
	return nil
}

func (r *reader) schemaOf(want groupVersionKind) string {
	for name, schema := range r.schemas {
		list, _ := schema["x-kubernetes-group-version-kind"].([]any)
		for _, item := range list {
			m := item.(map[string]any)
			if m["group"] == want.Group && m["version"] == want.Version && m["kind"] == want.Kind {
				return name
			}
		}
	}
	return ""
}

// convert converts the schema with this name; a status is left out.
func (r *reader) convert(name string) map[string]any {
	schema := r.schemas[name]
	if lastPart(name) == "Quantity" {
		return map[string]any{"type": []any{"string", "number"}, "format": "quantity"}
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		if _, isKind := properties["kind"]; isKind {
			delete(properties, "status")
		}
		for property, values := range r.enums[name] {
			if p, ok := properties[property].(map[string]any); ok {
				if items, isList := p["items"].(map[string]any); isList {
					p = items
				}
				p["enum"] = values
			}
		}
	}
	return converter{ref: func(ref string) string {
		target := ref[strings.LastIndexByte(ref, '/')+1:]
		r.definition(target)
		return target
	}}.schema(schema, false)
}

// definition adds the schema with this name, and what it refers to, once.
func (r *reader) definition(name string) {
	if _, ok := r.doc.Defs[name]; ok {
		return
	}
	r.doc.Defs[name] = nil // under way
	r.doc.Defs[name] = r.convert(name)
}
