package manifest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// structure compares a place with a schema.
func (c *checker) structure(schema *jsonschema.Schema, n node) {
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(known(n.v))); ok {
		c.explain(n, invalid)
	}
}

// known returns a copy without nulls, which mean nothing to Kubernetes, and with
// null for what is not known.
func known(v any) any {
	switch v := v.(type) {
	case Unknown:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if item != nil {
				out[key] = known(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = known(item)
		}
		return out
	}
	return v
}

// walk goes to where an error is.
func (n node) walk(location []string) node {
	for _, step := range location {
		if items := n.list(); len(items) > 0 {
			if i, err := strconv.Atoi(step); err == nil && i < len(items) {
				n = items[i]
				continue
			}
		}
		n = n.at(step)
	}
	return n
}

// explain turns a tree of errors into problems.
func (c *checker) explain(root node, e *jsonschema.ValidationError) {
	n := root.walk(e.InstanceLocation)
	if n.unknown() {
		return
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Not:
		if n.decided() {
			c.add(n, "", alternatives(e), "")
		}
	case *kind.AdditionalProperties:
		names := c.catalog.properties(e.SchemaURL)
		for _, name := range k.Properties {
			c.unknownField(n.at(name), name, names)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			c.add(n.at(name), "", "a value: it is required", "")
		}
	case *kind.Type:
		c.add(n, "", typeName(k.Want), "")
	case *kind.Enum:
		values := make([]string, len(k.Want))
		for i, v := range k.Want {
			values[i] = fmt.Sprint(v)
		}
		fix := ""
		if near := nearest(n.text(), values); near != "" {
			fix = "write " + near
		}
		c.add(n, "", oneOf(values), fix)
	case *kind.Format:
		c.add(n, "", formatWant(k), "")
	case *kind.Pattern:
		c.add(n, "", "text that fits "+k.Want, "")
	case *kind.Minimum:
		c.add(n, "", "at least "+number(k.Want), "")
	case *kind.Maximum:
		c.add(n, "", "at most "+number(k.Want), "")
	case *kind.ExclusiveMinimum:
		c.add(n, "", "more than "+number(k.Want), "")
	case *kind.ExclusiveMaximum:
		c.add(n, "", "less than "+number(k.Want), "")
	case *kind.MinLength:
		c.add(n, "", fmt.Sprintf("at least %d characters", k.Want), "")
	case *kind.MaxLength:
		c.add(n, fmt.Sprintf("%d characters", k.Got), fmt.Sprintf("at most %d", k.Want), "")
	case *kind.MinItems:
		c.add(n, fmt.Sprintf("%d elements", k.Got), fmt.Sprintf("at least %d", k.Want), "")
	case *kind.MaxItems:
		c.add(n, fmt.Sprintf("%d elements", k.Got), fmt.Sprintf("at most %d", k.Want), "")
	case *kind.MinProperties:
		c.add(n, fmt.Sprintf("%d fields", k.Got), fmt.Sprintf("at least %d", k.Want), "")
	case *kind.MaxProperties:
		c.add(n, fmt.Sprintf("%d fields", k.Got), fmt.Sprintf("at most %d", k.Want), "")
	case *kind.UniqueItems:
		c.add(n.list()[k.Duplicates[1]], "", "a value that the list does not hold already", "")
	case *duplicate:
		second := n.list()[k.index]
		c.add(second, show(k.value), "an element whose "+strings.Join(k.keys, " and ")+" no other element of the list has", "")
	default: // a group of others
		for _, cause := range e.Causes {
			c.explain(root, cause)
		}
		if len(e.Causes) == 0 {
			c.add(n, "", e.Error(), "")
		}
	}
}

// unknownField refuses a field that the kind does not have.
func (c *checker) unknownField(n node, name string, names []string) {
	if n.path == "status" {
		c.add(n, "a value", "nothing: the cluster writes the status", "leave it out")
		return
	}
	c.add(n, "an unknown field", oneOf(names), meant(name, names, "leave it out"))
}

// alternatives says what would fit instead.
func alternatives(e *jsonschema.ValidationError) string {
	if _, not := e.ErrorKind.(*kind.Not); not {
		return "another combination of fields: the schema excludes this one"
	}
	var missing []string
	for _, cause := range e.Causes {
		if r, ok := cause.ErrorKind.(*kind.Required); ok {
			missing = append(missing, strings.Join(r.Missing, " and "))
		}
	}
	slices.Sort(missing)
	if missing = slices.Compact(missing); len(missing) > 0 {
		return "an object with " + strings.Join(missing, ", or with ")
	}
	if one, ok := e.ErrorKind.(*kind.OneOf); ok && len(one.Subschemas) > 0 {
		return "exactly one of the alternatives; it fits several"
	}
	return "a value that fits one of the alternatives of the schema"
}

// properties returns the names of the fields that a schema has, sorted.
func (c *catalog) properties(url string) []string {
	schema, _ := c.at(url).(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// at returns what stands at a URL, "keda.json#/$defs/s1", in the schemas.
func (c *catalog) at(url string) any {
	file, pointer, _ := strings.Cut(url, "#")
	v := c.docs[file[strings.LastIndexByte(file, '/')+1:]]
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(step)
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(at) {
				return nil
			}
			v = at[i]
		}
	}
	return v
}

var typeNames = map[string]string{
	"string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false",
	"object": "an object", "array": "a list",
}

func typeName(types []string) string {
	var names []string
	for _, t := range types {
		if name, ok := typeNames[t]; ok { // null is left out: it means nothing
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

func formatWant(k *kind.Format) string {
	switch k.Want {
	case "date-time":
		return `a time such as "2026-01-31T12:00:00Z"`
	default:
		return k.Err.Error()
	}
}

func encoded(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	if _, err := base64.StdEncoding.DecodeString(text); err != nil {
		return errors.New("base64, or the plain text under stringData")
	}
	return nil
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
