package engine

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
)

const (
	// Secret stands for every secret value in a Result.
	Secret = "[secret]"
	// Unknown stands for every value that the preview cannot know yet.
	Unknown = "[unknown]"
)

// unknowns replaces the engine's sentinels, also where one is part of a longer string.
var unknowns = strings.NewReplacer(
	sig.UnknownBoolValue, Unknown,
	sig.UnknownNumberValue, Unknown,
	sig.UnknownStringValue, Unknown,
	sig.UnknownArrayValue, Unknown,
	sig.UnknownAssetValue, Unknown,
	sig.UnknownArchiveValue, Unknown,
	sig.UnknownObjectValue, Unknown,
)

// plain turns a property value as events and state carry it into plain JSON: secrets and
// unknowns become their placeholders at any depth, output values become what they hold, a
// resource reference becomes the URN it points to. Assets and archives stay objects, without
// the signature. It never changes v.
func plain(v any) any {
	switch v := v.(type) {
	case string:
		return unknowns.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	case map[string]any:
		switch v[sig.Key] {
		case sig.Secret:
			return Secret
		case sig.OutputValue:
			if secret, _ := v["secret"].(bool); secret {
				return Secret
			}
			inner, known := v["value"]
			if !known {
				return Unknown
			}
			return plain(inner)
		case sig.ResourceReference:
			return plain(v["urn"])
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			if k != sig.Key {
				out[k] = plain(e)
			}
		}
		return out
	default:
		return v
	}
}

// plainMap is plain for a whole property map; it never returns nil.
func plainMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = plain(v)
	}
	return out
}
