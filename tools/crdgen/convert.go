package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// kept are the keywords that mean the same in JSON Schema.
var kept = []string{
	"type", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum", "multipleOf",
	"minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems", "required",
}

// formats are those that a check looks at.
var formats = []string{"int32", "int64", "byte", "date-time"}

// converter turns schemas of Kubernetes into JSON Schema.
type converter struct {
	// ref returns the name of a definition that is referred to; nil where
	// schemas refer to nothing.
	ref func(string) string
	// defaulted says that the server fills in defaults before it looks for what
	// is required, as it does for custom resources.
	defaulted bool
}

// schema converts one schema. Objects with properties take no others, except
// inside of a condition (anyOf and so on), which only adds to what stands
// outside.
func (c converter) schema(in map[string]any, condition bool) map[string]any {
	out := map[string]any{}
	for _, key := range kept {
		if v, ok := in[key]; ok {
			out[key] = v
		}
	}
	if format, _ := in["format"].(string); slices.Contains(formats, format) {
		out["format"] = format
	}
	switch {
	case in["format"] == "int-or-string" || in["x-kubernetes-int-or-string"] == true:
		out["type"] = []any{"integer", "string"}
		delete(out, "format")
		return out
	case in["$ref"] != nil:
		return map[string]any{"$ref": "#/$defs/" + c.ref(in["$ref"].(string))}
	}
	if all, ok := in["allOf"].([]any); ok && len(all) == 1 && all[0].(map[string]any)["$ref"] != nil {
		return c.schema(all[0].(map[string]any), condition)
	}
	// The bounds of OpenAPI 3.0 are inclusive unless a flag says otherwise.
	for bound, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		if in[exclusive] == true {
			out[exclusive] = out[bound]
			delete(out, bound)
		}
	}
	if in["nullable"] == true && out["type"] != nil {
		out["type"] = []any{out["type"], "null"}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := in[key].([]any); ok {
			items := make([]any, len(list))
			for i, item := range list {
				items[i] = c.schema(item.(map[string]any), true)
			}
			out[key] = items
		}
	}
	if not, ok := in["not"].(map[string]any); ok {
		out["not"] = c.schema(not, true)
	}
	if items, ok := in["items"].(map[string]any); ok {
		out["items"] = c.schema(items, condition)
	}
	switch in["x-kubernetes-list-type"] {
	case "set":
		out["uniqueItems"] = true
	case "map":
		out["x-kubernetes-list-map-keys"] = in["x-kubernetes-list-map-keys"]
	}
	open := in["x-kubernetes-preserve-unknown-fields"] == true
	if properties, ok := in["properties"].(map[string]any); ok {
		converted := make(map[string]any, len(properties))
		for name, property := range properties {
			converted[name] = c.schema(property.(map[string]any), condition)
		}
		if in["x-kubernetes-embedded-resource"] == true {
			for _, name := range []string{"apiVersion", "kind", "metadata"} {
				converted[name] = map[string]any{}
			}
		}
		out["properties"] = converted
		if c.defaulted {
			withoutDefaults(out, properties)
		}
		if !open && !condition {
			out["additionalProperties"] = false
		}
	}
	if additional, ok := in["additionalProperties"].(map[string]any); ok {
		out["additionalProperties"] = c.schema(additional, condition)
	}
	return out
}

// withoutDefaults takes out of the required properties those with a default.
func withoutDefaults(schema, properties map[string]any) {
	list, ok := schema["required"].([]any)
	if !ok {
		return
	}
	required := []any{}
	for _, name := range list {
		property, _ := properties[name.(string)].(map[string]any)
		if _, has := property["default"]; !has {
			required = append(required, name)
		}
	}
	schema["required"] = required
	if len(required) == 0 {
		delete(schema, "required")
	}
}

// root fits the schema of a whole object: the cluster writes the status, and
// metadata is Kubernetes' own in all kinds.
func root(schema map[string]any) map[string]any {
	properties := schema["properties"].(map[string]any)
	delete(properties, "status")
	properties["metadata"] = map[string]any{"type": "object"}
	schema["required"] = required(schema["required"])
	return schema
}

// required adds what every object has.
func required(list any) []any {
	names := map[string]bool{"apiVersion": true, "kind": true, "metadata": true}
	items, _ := list.([]any)
	for _, item := range items {
		names[item.(string)] = true
	}
	out := []any{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, name)
	}
	return out
}

// worthSharing is how long a schema must be, in bytes, to become a definition
// when it stands in several places.
const worthSharing = 200

// share moves schemas that stand in several places to definitions. KubeRay's
// resources hold the template of a pod three times over.
func share(doc *document) {
	s := sharer{count: map[string]int{}, names: map[string]string{}, defs: map[string]any{}}
	order := slices.Sorted(maps.Keys(doc.Kinds))
	for _, name := range order {
		s.measure(doc.Kinds[name].Schema)
	}
	for _, name := range order {
		k := doc.Kinds[name]
		k.Schema = s.replace(k.Schema)
		doc.Kinds[name] = k
	}
	doc.Defs = s.defs
}

type sharer struct {
	count map[string]int    // how often a schema stands there, by its JSON
	names map[string]string // of definitions, by the JSON of what they define
	defs  map[string]any
}

func (s *sharer) measure(schema any) {
	if text, ok := long(schema); ok {
		if s.count[text]++; s.count[text] > 1 {
			return // what is inside of it goes with it
		}
	}
	each(schema, func(part any) any { s.measure(part); return part })
}

func (s *sharer) replace(schema any) any {
	text, ok := long(schema)
	if !ok || s.count[text] < 2 {
		return each(schema, s.replace)
	}
	name, ok := s.names[text]
	if !ok {
		name = fmt.Sprintf("s%d", len(s.names)+1)
		s.names[text] = name
		s.defs[name] = each(schema, s.replace)
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}

func long(schema any) (string, bool) {
	text, err := json.Marshal(schema)
	return string(text), err == nil && len(text) > worthSharing
}

// each returns the schema with its parts, which are schemas too, replaced by f.
func each(schema any, f func(any) any) any {
	in, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	out := maps.Clone(in)
	for _, key := range []string{"items", "not", "additionalProperties"} {
		if part, ok := in[key].(map[string]any); ok {
			out[key] = f(part)
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := in[key].([]any); ok {
			parts := make([]any, len(list))
			for i, part := range list {
				parts[i] = f(part)
			}
			out[key] = parts
		}
	}
	if properties, ok := in["properties"].(map[string]any); ok {
		parts := make(map[string]any, len(properties))
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			parts[name] = f(properties[name])
		}
		out["properties"] = parts
	}
	return out
}

// lastPart returns "Deployment" of "io.k8s.api.apps.v1.Deployment".
func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
