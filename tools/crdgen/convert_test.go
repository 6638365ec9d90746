package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type m = map[string]any

// Each keyword of Kubernetes has its meaning in JSON Schema.
func TestSchemaConversion(t *testing.T) {
	t.Parallel()
	c := converter{defaulted: true, ref: lastPart}
	for name, test := range map[string]struct{ in, want m }{
		"text":                 {m{"type": "string", "description": "x", "pattern": "a", "maxLength": 3.0}, m{"type": "string", "pattern": "a", "maxLength": 3.0}},
		"a number or text":     {m{"x-kubernetes-int-or-string": true, "anyOf": []any{m{"type": "integer"}, m{"type": "string"}}}, m{"type": []any{"integer", "string"}}},
		"a reference":          {m{"allOf": []any{m{"$ref": "#/components/schemas/io.k8s.Pod"}}, "default": m{}}, m{"$ref": "#/$defs/Pod"}},
		"null":                 {m{"type": "object", "nullable": true}, m{"type": []any{"object", "null"}}},
		"an exclusive bound":   {m{"type": "integer", "minimum": 1.0, "exclusiveMinimum": true}, m{"type": "integer", "exclusiveMinimum": 1.0}},
		"an inclusive bound":   {m{"type": "integer", "minimum": 1.0, "exclusiveMinimum": false}, m{"type": "integer", "minimum": 1.0}},
		"a closed object":      {m{"type": "object", "properties": m{"a": m{"type": "string"}}}, m{"type": "object", "properties": m{"a": m{"type": "string"}}, "additionalProperties": false}},
		"an open object":       {m{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": m{"a": m{}}}, m{"type": "object", "properties": m{"a": m{}}}},
		"a map":                {m{"type": "object", "additionalProperties": m{"type": "string", "description": "x"}}, m{"type": "object", "additionalProperties": m{"type": "string"}}},
		"a condition":          {m{"anyOf": []any{m{"properties": m{"a": m{}}, "required": []any{"a"}}}}, m{"anyOf": []any{m{"properties": m{"a": m{}}, "required": []any{"a"}}}}},
		"an embedded resource": {m{"x-kubernetes-embedded-resource": true, "properties": m{}}, m{"properties": m{"apiVersion": m{}, "kind": m{}, "metadata": m{}}, "additionalProperties": false}},
		"a list with keys":     {m{"type": "array", "items": m{}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"}}, m{"type": "array", "items": m{}, "x-kubernetes-list-map-keys": []any{"name"}}},
		"a set":                {m{"type": "array", "x-kubernetes-list-type": "set"}, m{"type": "array", "uniqueItems": true}},
		"required, defaulted": {
			m{"properties": m{"a": m{"default": 1.0}, "b": m{}}, "required": []any{"a", "b"}},
			m{"properties": m{"a": m{}, "b": m{}}, "required": []any{"b"}, "additionalProperties": false},
		},
	} {
		if got := c.schema(test.in, false); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
	native := converter{}.schema(m{"properties": m{"a": m{"default": 1.0}}, "required": []any{"a"}}, false)
	if !reflect.DeepEqual(native["required"], []any{"a"}) {
		t.Errorf("a built-in kind requires %v in spite of its default, want a", native["required"])
	}
}

// What stands in several places is said once, and means the same.
func TestShareKeepsMeaning(t *testing.T) {
	t.Parallel()
	long := func() m {
		return m{"type": "object", "properties": m{"text": m{"type": "string", "pattern": strings.Repeat("x", worthSharing)}}}
	}
	doc := &document{Kinds: map[string]kind{"a": {Schema: m{"properties": m{"x": long(), "y": m{"items": long()}}}}, "b": {Schema: m{"properties": m{"z": long()}}}}}
	before, err := json.Marshal(doc.Kinds)
	if err != nil {
		t.Fatal(err)
	}
	share(doc)
	if len(doc.Defs) != 1 {
		t.Errorf("%d definitions, want 1", len(doc.Defs))
	}
	after, err := json.Marshal(doc.Kinds)
	if err != nil {
		t.Fatal(err)
	}
	definition, err := json.Marshal(doc.Defs["s1"])
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(string(after), `{"$ref":"#/$defs/s1"}`, string(definition)); got != string(before) {
		t.Errorf("got %s, want %s", got, before)
	}
	if strings.Count(string(after), "$ref") != 3 {
		t.Errorf("not shared everywhere: %s", after)
	}
}
