package extract

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// enum converts an enum type.
func (x *extractor) enum(t string) schema.ComplexTypeSpec {
	var spec schema.ComplexTypeSpec
	values, found := x.enumValues(t)
	if !found {
		x.problem("%s: the SDK has no such enum", t)
		return spec
	}
	_, name, _ := strings.Cut(t, ":")
	spec.Type = "string"
	for _, v := range values {
		if n, ok := v.Value.(float64); ok {
			spec.Type = "integer"
			if n != math.Trunc(n) {
				spec.Type = "number"
			}
		}
		member := schema.EnumValueSpec{Value: v.Value, DeprecationMessage: v.Deprecated}
		if v.Name != memberName(fmt.Sprint(v.Value), name) { // the schema named it
			member.Name = strings.TrimPrefix(v.Name, name+"_")
		}
		spec.Enum = append(spec.Enum, member)
	}
	return spec
}

var (
	wordBreak   = regexp.MustCompile(`[^A-Za-z0-9_$]`)
	underscores = regexp.MustCompile(`_+`)
)

// memberName is the name that the Node.js generator gives to an enum value for
// which the schema has no name.
func memberName(value, enum string) string {
	if value == "" {
		return ""
	}
	name := strings.ToUpper(value[:1]) + value[1:]
	if isDigit := name[0] >= '0' && name[0] <= '9'; isDigit {
		name = "_" + name
	}
	name = underscores.ReplaceAllString(wordBreak.ReplaceAllString(name, "_"), "_")
	if strings.HasPrefix(name, "_") {
		return enum + name
	}
	return name
}
