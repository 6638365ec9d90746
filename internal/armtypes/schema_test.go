package armtypes

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// The part of Pulumi's schema that the tests read.
type (
	pulumiSchema struct {
		Resources map[string]struct {
			Inputs  map[string]schemaType `json:"inputProperties"`
			Outputs map[string]schemaType `json:"properties"`
		} `json:"resources"`
		Types map[string]struct {
			Properties map[string]schemaType `json:"properties"`
		} `json:"types"`
	}
	schemaType struct {
		Ref    string       `json:"$ref"`
		Items  *schemaType  `json:"items"`
		Values *schemaType  `json:"additionalProperties"`
		OneOf  []schemaType `json:"oneOf"`
	}
)

// Pulumi's schema and Microsoft's type data come from different places. Every
// input of the one must be an input here, at every depth, or a right program is
// refused; and no other name may be, or a wrong one passes.
func TestInputsAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	w := schemaWalk{T: t, inputs: map[*object]map[string]bool{}, seen: map[visit]bool{}}
	readJSON(t, "../../tools/sdkgen/data/schema.json", &w.schema)
	checked := 0
	for _, token := range slices.Sorted(maps.Keys(w.schema.Resources)) {
		s := w.schema.Resources[token]
		r, ok := catalog(t).ByToken(token)
		if !ok {
			continue // there for its name alone, see tools/sdkgen
		}
		for name := range s.Inputs {
			if r.path[name] || r.query[name] {
				delete(s.Inputs, name)
			}
		}
		w.object(token, r.body, s.Inputs)
	}
	for o, inputs := range w.inputs {
		for name, f := range o.fields {
			checked++
			if f.access != refused && !inputs[name] {
				t.Errorf("%s: %s counts as an input, but is none", o.key, name)
			}
		}
	}
	if checked < 2000 {
		t.Errorf("checked only %d names", checked)
	}
}

func TestOutputsAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	var schema pulumiSchema
	readJSON(t, "../../tools/sdkgen/data/schema.json", &schema)
	for token, s := range schema.Resources {
		r, ok := catalog(t).ByToken(token)
		if !ok || token == "azure-native:apimanagement/v20240501:ProductApi" { // whose ARM type has no properties
			continue
		}
		r.body.prepare()
		for name := range s.Outputs {
			if r.body.fields[name] == nil {
				t.Errorf("%s: output %s is unknown", token, name)
			}
		}
	}
}

func TestPathInputsAreInputs(t *testing.T) {
	t.Parallel()
	var schema pulumiSchema
	readJSON(t, "../../tools/sdkgen/data/schema.json", &schema)
	for _, token := range catalog(t).Tokens() {
		r, _ := catalog(t).ByToken(token)
		for _, name := range r.PathInputs() {
			if _, isInput := schema.Resources[token].Inputs[name]; !isInput {
				t.Errorf("%s: %s is part of the id but no input", token, name)
			}
		}
	}
}

type visit struct {
	o     *object
	token string
}

// schemaWalk walks the schema and the type data together.
type schemaWalk struct {
	*testing.T
	schema pulumiSchema
	inputs map[*object]map[string]bool // the schema's inputs of each object, by Pulumi name
	seen   map[visit]bool
}

func (w schemaWalk) object(where string, o *object, properties map[string]schemaType) {
	o.prepare()
	if w.inputs[o] == nil {
		w.inputs[o] = map[string]bool{}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		w.inputs[o][name] = true
		switch f := o.fields[name]; {
		case f == nil && o.additional == nil:
			w.Errorf("%s.%s: unknown", where, name)
		case f == nil:
		case f.access == refused:
			w.Errorf("%s.%s: refused as an output", where, name)
		case !f.keyed:
			w.value(where+"."+name, f.prop.typ, properties[name])
		}
	}
}

func (w schemaWalk) value(where string, typ *typ, s schemaType) {
	for typ.elem != nil && (s.Items != nil || s.Values != nil) {
		if s.Items != nil {
			s = *s.Items
		} else {
			s = *s.Values
		}
		typ = typ.elem
	}
	for _, alternative := range append([]schemaType{s}, s.OneOf...) {
		token, isType := strings.CutPrefix(alternative.Ref, "#/types/")
		if !isType || len(w.schema.Types[token].Properties) == 0 {
			continue
		}
		if typ.object == nil {
			w.Errorf("%s: the schema has an object, ARM %s", where, typ.kind)
			continue
		}
		if v := (visit{typ.object, token}); !w.seen[v] {
			w.seen[v] = true
			w.object(where, typ.object, w.schema.Types[token].Properties)
		}
	}
}
