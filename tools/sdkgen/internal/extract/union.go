package extract

import (
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"

	"onedoor/tools/sdkgen/internal/dts"
)

// union converts "A | B". There are three sorts: an optional type ("| undefined"),
// an enum that takes other strings too, and objects told apart by a property.
func (x *extractor) union(where string, t *dts.Type) schema.TypeSpec {
	alternatives := slices.DeleteFunc(slices.Clone(t.Alts), func(a *dts.Type) bool { return a.Kind == dts.Undefined })
	if len(alternatives) == 1 {
		return x.typ(where, alternatives[0])
	}
	var spec schema.TypeSpec
	for _, a := range alternatives {
		spec.OneOf = append(spec.OneOf, x.typ(where, a))
		if a.Kind == dts.String || a.Kind == dts.Number || a.Kind == dts.Boolean {
			spec.Type = string(a.Kind)
		}
	}
	if spec.Type == "" {
		spec.Discriminator = x.discriminator(alternatives)
	}
	return spec
}

// discriminator finds the property that is a string literal in all alternatives.
func (x *extractor) discriminator(alternatives []*dts.Type) *schema.DiscriminatorSpec {
	var common map[string]map[string]string // property, value, reference
	for i, a := range alternatives {
		shape, ref := x.shape(a)
		if shape == nil {
			return nil
		}
		values := literals(shape)
		if i == 0 {
			common = map[string]map[string]string{}
			for property := range values {
				common[property] = map[string]string{}
			}
		}
		for property, mapping := range common {
			if value, ok := values[property]; ok {
				mapping[value] = ref
			} else {
				delete(common, property)
			}
		}
	}
	for _, property := range slices.Sorted(maps.Keys(common)) {
		if len(common[property]) == len(alternatives) {
			return &schema.DiscriminatorSpec{PropertyName: property, Mapping: common[property]}
		}
	}
	return nil
}

// shape returns the declaration that a named type leads to.
func (x *extractor) shape(t *dts.Type) (*dts.Interface, string) {
	if t.Kind != dts.Named {
		return nil, ""
	}
	k, full := reference(t.Name)
	module, name, _ := strings.Cut(full, ":")
	if k == inputs {
		name += "Args"
	}
	return x.shapes[k][module][name], "#/types/" + token(full)
}

// literals returns the properties that have one possible string value.
func literals(shape *dts.Interface) map[string]string {
	found := map[string]string{}
	for _, p := range shape.Properties {
		if value, ok := p.Type.Value.(string); ok && p.Type.Kind == dts.Literal {
			found[p.Name] = value
		}
	}
	return found
}
