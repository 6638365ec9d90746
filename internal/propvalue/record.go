package propvalue

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"google.golang.org/protobuf/types/known/structpb"
)

// OfRecord is the root of a resource's inputs as the record of a preview has them: as
// plain JSON, in which ShownUnknown stands for what could not be known and ShownSecret
// for what must not be shown. Both are unknown here.
func OfRecord(inputs map[string]any) Value {
	return unwrap(recorded(inputs), "", false)
}

// recorded is a value of a record with the engine's own mark for what is not known. A
// value that JSON does not have becomes null.
func recorded(v any) *structpb.Value {
	switch v := v.(type) {
	case bool:
		return structpb.NewBoolValue(v)
	case float64:
		return structpb.NewNumberValue(v)
	case string:
		if v == ShownSecret || strings.Contains(v, ShownUnknown) { // it may be a part of a longer text
			return structpb.NewStringValue(sig.UnknownStringValue)
		}
		return structpb.NewStringValue(v)
	case []any:
		list := &structpb.ListValue{}
		for _, item := range v {
			list.Values = append(list.Values, recorded(item))
		}
		return structpb.NewListValue(list)
	case map[string]any:
		object := &structpb.Struct{Fields: map[string]*structpb.Value{}}
		for key, member := range v {
			object.Fields[key] = recorded(member)
		}
		return structpb.NewStructValue(object)
	default:
		return structpb.NewNullValue()
	}
}
