package extract

import (
	"slices"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"

	"onedoor/tools/sdkgen/internal/dts"
)

// resource converts a resource type.
func (x *extractor) resource(t string) {
	if _, done := x.resources[token(t)]; done {
		return
	}
	_, name, _ := strings.Cut(t, ":")
	file := resourceFile(t)
	source, exists := x.files[file+declared]
	if !exists {
		x.problem("%s: the SDK has no %s%s", t, file, declared)
		return
	}
	parsed, err := dts.Parse(file+declared, source)
	if err != nil {
		x.problem("%s: %w", t, err)
		return
	}
	class, args := parsed.Classes[name], parsed.Interfaces[name+"Args"]
	if class == nil || args == nil {
		x.problem("%s: %s%s declares no class %s or no %sArgs", t, file, declared, name, name)
		return
	}
	js := x.files[file+compiled]
	if m := typeToken.FindStringSubmatch(js); m == nil || m[1] != token(t) {
		x.problem("%s: %s%s has another type token: %q", t, file, compiled, m)
		return
	}
	defaults, err := resourceDefaults(js)
	if err != nil {
		x.problem("%s: %w", t, err)
		return
	}
	var r schema.ResourceSpec
	x.resources[token(t)] = r // before its types, which may lead back to it
	r.DeprecationMessage = class.Deprecated
	r.Properties, r.Required = x.properties(t, class.Properties, nil)
	r.InputProperties, r.RequiredInputs = x.properties(t, args.Properties, defaults)
	for _, alias := range aliases(js) {
		r.Aliases = append(r.Aliases, schema.AliasSpec{Type: alias})
	}
	x.resources[token(t)] = r
}

// properties converts the members of an owner, "network/v20240501:Subnet".
func (x *extractor) properties(owner string, list []dts.Property, defaults map[string]any) (map[string]schema.PropertySpec, []string) {
	properties := map[string]schema.PropertySpec{}
	var required []string
	for _, p := range list {
		property := schema.PropertySpec{
			TypeSpec:           x.typ(owner+"."+p.Name, p.Type),
			Default:            defaults[p.Name],
			DeprecationMessage: p.Deprecated,
		}
		if p.Type.Kind == dts.Literal {
			property.Const = p.Type.Value
		}
		properties[p.Name] = property
		if !p.Optional {
			required = append(required, p.Name)
		}
	}
	slices.Sort(required)
	return properties, required
}
