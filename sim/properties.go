package sim

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/armtypes"
)

// keep is how properties travel: unknowns and secrets stay what they are.
func keep(label string) plugin.MarshalOptions {
	return plugin.MarshalOptions{Label: label, KeepUnknowns: true, KeepSecrets: true, SkipNulls: true}
}

func unmarshal(s *structpb.Struct, label string) (resource.PropertyMap, error) {
	if s == nil {
		return resource.PropertyMap{}, nil
	}
	return plugin.UnmarshalProperties(s, keep(label))
}

func marshal(m resource.PropertyMap, label string) (*structpb.Struct, error) {
	return plugin.MarshalProperties(m, keep(label))
}

// plain returns properties as JSON values: secrets uncovered, unknowns as
// armtypes.Unknown, internal keys (those that begin with "__") left out.
func plain(m resource.PropertyMap) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if strings.HasPrefix(string(k), "__") {
			continue
		}
		out[string(k)] = plainValue(v)
	}
	return out
}

func plainValue(v resource.PropertyValue) any {
	switch {
	case v.IsSecret():
		return plainValue(v.SecretValue().Element)
	case v.IsComputed():
		return armtypes.Unknown{}
	case v.IsOutput():
		if !v.OutputValue().Known {
			return armtypes.Unknown{}
		}
		return plainValue(v.OutputValue().Element)
	case v.IsObject():
		return plain(v.ObjectValue())
	case v.IsArray():
		out := make([]any, len(v.ArrayValue()))
		for i, e := range v.ArrayValue() {
			out[i] = plainValue(e)
		}
		return out
	case v.IsResourceReference():
		if id := v.ResourceReferenceValue().ID; id.IsString() {
			return id.StringValue()
		}
		return armtypes.Unknown{}
	}
	return v.V
}

// properties is the way back; nulls are left out.
func properties(m map[string]any) resource.PropertyMap {
	out := make(resource.PropertyMap, len(m))
	for k, v := range m {
		if v != nil {
			out[resource.PropertyKey(k)] = propertyValue(v)
		}
	}
	return out
}

func propertyValue(v any) resource.PropertyValue {
	switch v := v.(type) {
	case armtypes.Unknown:
		return resource.MakeComputed(resource.NewProperty(""))
	case map[string]any:
		return resource.NewProperty(properties(v))
	case []any:
		out := make([]resource.PropertyValue, len(v))
		for i, e := range v {
			out[i] = propertyValue(e)
		}
		return resource.NewProperty(out)
	}
	return resource.NewPropertyValue(v)
}

// keepSecret makes secret in outputs what is secret in inputs.
func keepSecret(inputs, outputs resource.PropertyMap) {
	for k, in := range inputs {
		if out, ok := outputs[k]; ok {
			outputs[k] = secretLike(in, out)
		}
	}
}

func secretLike(in, out resource.PropertyValue) resource.PropertyValue {
	switch {
	case in.IsSecret() || in.IsOutput() && in.OutputValue().Secret:
		if out.IsSecret() {
			return out
		}
		return resource.MakeSecret(out)
	case in.IsObject() && out.IsObject():
		keepSecret(in.ObjectValue(), out.ObjectValue())
	case in.IsArray() && in.ContainsSecrets():
		// Azure may have reordered the elements, so none is told from another.
		return resource.MakeSecret(out)
	}
	return out
}

// secretAt says whether the value at a path, or one on the way, is secret.
func secretAt(v resource.PropertyValue, path []string) bool {
	if v.IsSecret() || v.IsOutput() && v.OutputValue().Secret {
		return true
	}
	if len(path) == 0 {
		return v.ContainsSecrets()
	}
	switch {
	case v.IsObject():
		return secretAt(v.ObjectValue()[resource.PropertyKey(path[0])], path[1:])
	case v.IsArray():
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(v.ArrayValue()) {
			return secretAt(v.ArrayValue()[i], path[1:])
		}
	}
	return false
}

// asInputs keeps of outputs what can be an input, in the form of inputs. It
// shares nothing with outputs.
func asInputs(r *armtypes.Resource, outputs map[string]any) map[string]any {
	out := make(map[string]any, len(outputs))
	for name, v := range outputs {
		if r.HasInput(name) && v != nil {
			out[name] = copyOf(v)
		}
	}
	for _, p := range r.CheckInputs(out) {
		switch {
		case p.Code == armtypes.ReadOnly:
			edit(out, steps(p.Path), func(m map[string]any, key string) { delete(m, key) })
		case p.Code == armtypes.WrongType && p.Want == "an array of strings":
			edit(out, steps(p.Path), func(m map[string]any, key string) {
				if byID, ok := m[key].(map[string]any); ok {
					ids := make([]any, 0, len(byID))
					for id := range byID {
						ids = append(ids, id)
					}
					slices.SortFunc(ids, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
					m[key] = ids
				}
			})
		}
	}
	return out
}

func copyOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = copyOf(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copyOf(e)
		}
		return out
	}
	return v
}

// steps splits the path of a problem, "securityRules[2].etag".
func steps(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
}

// edit applies f to the object that holds the last step.
func edit(v any, path []string, f func(m map[string]any, key string)) {
	for ; len(path) > 1; path = path[1:] {
		switch x := v.(type) {
		case map[string]any:
			v = x[path[0]]
		case []any:
			i, err := strconv.Atoi(path[0])
			if err != nil || i < 0 || i >= len(x) {
				return
			}
			v = x[i]
		default:
			return
		}
	}
	if m, ok := v.(map[string]any); ok && len(path) == 1 {
		f(m, path[0])
	}
}
