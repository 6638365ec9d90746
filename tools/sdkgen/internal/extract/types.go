package extract

import (
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"

	"onedoor/tools/sdkgen/internal/dts"
)

// object converts an input or output type.
func (x *extractor) object(k kind, t string) schema.ComplexTypeSpec {
	var spec schema.ComplexTypeSpec
	module, name, _ := strings.Cut(t, ":")
	if k == inputs {
		name += "Args"
	}
	shape := x.shapes[k][module][name]
	if shape == nil {
		x.problem("%s: the SDK's %s have no %s", t, k, name)
		return spec
	}
	spec.Type = "object"
	spec.Properties, spec.Required = x.properties(t, shape.Properties, x.defaults(k, module, name))
	return spec
}

// defaults returns the default values of one type.
func (x *extractor) defaults(k kind, module, name string) map[string]any {
	found := map[string]any{}
	prefix := module + ":" + strings.ToLower(name) + "."
	for key, value := range x.preset[k] {
		if property, ok := strings.CutPrefix(key, prefix); ok {
			found[property] = value
		}
	}
	return found
}

// typ converts a type expression found at where, "network/v20240501:Subnet.delegations".
func (x *extractor) typ(where string, t *dts.Type) schema.TypeSpec {
	switch t.Kind {
	case dts.String, dts.Boolean:
		return schema.TypeSpec{Type: string(t.Kind)}
	case dts.Number:
		if x.floats[where] {
			return schema.TypeSpec{Type: "number"}
		}
		return schema.TypeSpec{Type: "integer"}
	case dts.Any:
		return schema.TypeSpec{Ref: "pulumi.json#/Any"}
	case dts.Array:
		items := x.typ(where, t.Elem)
		return schema.TypeSpec{Type: "array", Items: &items}
	case dts.Map:
		values := x.typ(where, t.Elem)
		return schema.TypeSpec{Type: "object", AdditionalProperties: &values}
	case dts.Named:
		return x.named(where, t.Name)
	case dts.Union:
		return x.union(where, t)
	case dts.Literal: // the property carries the value
		switch t.Value.(type) {
		case string:
			return schema.TypeSpec{Type: "string"}
		case bool:
			return schema.TypeSpec{Type: "boolean"}
		case float64:
			return schema.TypeSpec{Type: "integer"}
		}
	}
	x.problem("%s: a %s type has no place in a schema", where, t.Kind)
	return schema.TypeSpec{}
}

// named converts a reference and queues the type that it leads to.
func (x *extractor) named(where, name string) schema.TypeSpec {
	if asset, ok := strings.CutPrefix(name, "pulumi.asset."); ok {
		return schema.TypeSpec{Ref: "pulumi.json#/" + asset}
	}
	k, t := reference(name)
	if k != inputs && k != outputs && k != enums {
		x.problem("%s: the name %s leads nowhere", where, name)
		return schema.TypeSpec{}
	}
	switch before, known := x.queued[t]; {
	case !known:
		x.queued[t] = k
		x.queue = append(x.queue, t)
	case before != k:
		x.problem("%s: %s is one of the %s and one of the %s", where, t, before, k)
	}
	return schema.TypeSpec{Ref: "#/types/" + token(t)}
}

// reference takes "inputs.network.v20240501.DelegationArgs" apart.
func reference(name string) (kind, string) {
	parts := strings.Split(name, ".")
	last := len(parts) - 1
	if last < 2 {
		return "", name
	}
	if parts[0] == string(inputs) {
		parts[last] = strings.TrimSuffix(parts[last], "Args")
	}
	return kind(parts[0]), strings.Join(parts[1:last], "/") + ":" + parts[last]
}
