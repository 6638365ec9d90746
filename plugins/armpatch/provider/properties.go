package provider

import (
	"encoding/json"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"google.golang.org/protobuf/types/known/structpb"
)

// unmarshal reads properties off the wire; nulls stay, because a merge patch needs them.
func unmarshal(s *structpb.Struct, label string) (resource.PropertyMap, error) {
	return plugin.UnmarshalProperties(s, plugin.MarshalOptions{Label: label, KeepUnknowns: true, KeepSecrets: true})
}

func marshal(m resource.PropertyMap, label string) (*structpb.Struct, error) {
	return plugin.MarshalProperties(m, plugin.MarshalOptions{Label: label, KeepUnknowns: true, KeepSecrets: true})
}

// plain makes a property JSON. Secrets lose their mark: whoever prints the result asks the
// property whether it has one.
func plain(v resource.PropertyValue) any {
	switch {
	case v.IsNull():
		return nil
	case v.IsSecret():
		return plain(v.SecretValue().Element)
	case v.IsComputed():
		return unknown{}
	case v.IsOutput():
		if !v.OutputValue().Known {
			return unknown{}
		}
		return plain(v.OutputValue().Element)
	case v.IsObject():
		out := map[string]any{}
		for k, e := range v.ObjectValue() {
			out[string(k)] = plain(e)
		}
		return out
	case v.IsArray():
		out := make([]any, len(v.ArrayValue()))
		for i, e := range v.ArrayValue() {
			out[i] = plain(e)
		}
		return out
	case v.IsString(), v.IsBool(), v.IsNumber():
		return v.V
	}
	return foreign{what: "a " + v.TypeString()}
}

// property is the way back.
func property(v any) resource.PropertyValue {
	switch v := v.(type) {
	case nil:
		return resource.NewNullProperty()
	case unknown:
		return resource.MakeComputed(resource.NewProperty(""))
	case map[string]any:
		out := make(resource.PropertyMap, len(v))
		for k, e := range v {
			out[resource.PropertyKey(k)] = property(e)
		}
		return resource.NewProperty(out)
	case []any:
		out := make([]resource.PropertyValue, len(v))
		for i, e := range v {
			out[i] = property(e)
		}
		return resource.NewProperty(out)
	case json.Number:
		f, _ := v.Float64() // encoding/json has checked it; Pulumi has no other numbers
		return resource.NewProperty(f)
	}
	return resource.NewPropertyValue(v)
}

// printable makes what plain returns fit for JSON.
func printable(v any) any {
	switch v := v.(type) {
	case unknown:
		return "[unknown]"
	case foreign:
		return v.what
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = printable(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = printable(e)
		}
		return out
	}
	return v
}

// reveal takes the marks of secrets off, at every depth, so that a value which only became
// secret is no difference.
func reveal(m resource.PropertyMap) resource.PropertyMap {
	out := make(resource.PropertyMap, len(m))
	for k, v := range m {
		out[k] = property(plain(v))
	}
	return out
}

// secretIf marks a value as secret.
func secretIf(secret bool, v resource.PropertyValue) resource.PropertyValue {
	if !secret {
		return v
	}
	return resource.MakeSecret(v)
}
