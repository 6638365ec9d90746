// Package propvalue reads the property trees that Pulumi's engine hands to a
// policy pack. A value of a preview may be unknown, absent, secret or of another
// kind than a reader expects, at any depth; every function here is total, says
// which of these it met, and never panics. The package knows nothing of any
// resource type.
package propvalue

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"google.golang.org/protobuf/types/known/structpb"
)

// State is what is known of a value.
type State int

// The states.
const (
	Absent   State = iota // not set, or null
	Unknown               // set, but this preview cannot know to what
	Known                 // set, and of the kind that was asked for
	Mistyped              // set to a value of another kind than was asked for
)

func (s State) String() string {
	switch s {
	case Absent:
		return "absent"
	case Unknown:
		return "unknown"
	case Known:
		return "known"
	default:
		return "mistyped"
	}
}

// Value is one node of a property tree. The zero Value is absent.
type Value struct {
	raw    *structpb.Value // without the wrappers of secrets and outputs; nil unless Known
	state  State
	secret bool   // it, or something that holds it, is marked secret
	path   string // from the root, as "rules[2].name"
}

// Of is the root of a resource's properties.
func Of(properties *structpb.Struct) Value {
	if properties == nil {
		return Value{}
	}
	return Value{raw: structpb.NewStructValue(properties), state: Known}
}

// unwrap takes off what the engine wraps around secrets, outputs and references.
func unwrap(raw *structpb.Value, path string, secret bool) Value {
	for {
		switch kind := raw.GetKind().(type) {
		case nil, *structpb.Value_NullValue:
			return Value{state: Absent, secret: secret, path: path}
		case *structpb.Value_StringValue:
			if holdsUnknown(kind.StringValue) {
				return Value{state: Unknown, secret: secret, path: path}
			}
		case *structpb.Value_StructValue:
			fields := kind.StructValue.GetFields()
			inner, wraps := fields["value"]
			switch fields[sig.Key].GetStringValue() {
			case sig.Secret:
				secret, raw = true, inner
				continue
			case sig.OutputValue:
				secret = secret || fields["secret"].GetBoolValue()
				if !wraps {
					return Value{state: Unknown, secret: secret, path: path}
				}
				raw = inner
				continue
			case sig.ResourceReference:
				raw = fields["urn"]
				continue
			}
		}
		return Value{raw: raw, state: Known, secret: secret, path: path}
	}
}

// unknowns are the engine's marks. One may also be a part of a longer text, as
// in a JSON document that was written around it.
var unknowns = []string{
	sig.UnknownBoolValue, sig.UnknownNumberValue, sig.UnknownStringValue, sig.UnknownArrayValue,
	sig.UnknownAssetValue, sig.UnknownArchiveValue, sig.UnknownObjectValue,
}

func holdsUnknown(s string) bool {
	return len(s) >= len(sig.UnknownStringValue) && slices.ContainsFunc(unknowns, func(mark string) bool { return strings.Contains(s, mark) })
}

// State is what is known of the value, whatever its kind.
func (v Value) State() State { return v.state }

// Secret tells whether the value must not be shown.
func (v Value) Secret() bool { return v.secret }

// Unknown is the first part of the value, itself included, that is not known;
// ok is false if all of it is.
func (v Value) Unknown() (part Value, ok bool) {
	if v.state == Unknown {
		return v, true
	}
	items, _ := v.Items()
	for _, item := range items {
		if part, ok := item.Unknown(); ok {
			return part, true
		}
	}
	for _, member := range v.Members() {
		if part, ok := member.Unknown(); ok {
			return part, true
		}
	}
	return Value{}, false
}

// HoldsSecret tells whether the value or anything in it must not be shown.
func (v Value) HoldsSecret() bool {
	if v.secret {
		return true
	}
	items, _ := v.Items()
	for _, item := range items {
		if item.HoldsSecret() {
			return true
		}
	}
	for _, member := range v.Members() {
		if member.HoldsSecret() {
			return true
		}
	}
	return false
}

// Path is where the value stands, as "rules[2].name"; "" for the root.
func (v Value) Path() string { return v.path }

// At is the member that keys lead to. What lies below an unknown value is
// unknown, below an absent one absent, and below one that has no members
// mistyped.
func (v Value) At(keys ...string) Value {
	for _, key := range keys {
		v = v.member(key)
	}
	return v
}

func (v Value) member(key string) Value {
	path := key
	if v.path != "" {
		path = v.path + "." + key
	}
	object, isObject := v.raw.GetKind().(*structpb.Value_StructValue)
	if v.state != Known || !isObject {
		return Value{state: v.below(), secret: v.secret, path: path}
	}
	return unwrap(object.StructValue.GetFields()[key], path, v.secret)
}

// below is the state of what lies below a value that has nothing of the sort.
func (v Value) below() State {
	if v.state == Known {
		return Mistyped
	}
	return v.state
}

// Items are the elements of a list.
func (v Value) Items() ([]Value, State) {
	list, isList := v.raw.GetKind().(*structpb.Value_ListValue)
	if v.state != Known || !isList {
		return nil, v.below()
	}
	items := make([]Value, 0, len(list.ListValue.GetValues()))
	for i, raw := range list.ListValue.GetValues() {
		items = append(items, unwrap(raw, v.path+"["+strconv.Itoa(i)+"]", v.secret))
	}
	return items, Known
}

// Members are the members of an object, sorted by key. It yields nothing for a
// value that is not a known object; State of At tells these apart.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		object, isObject := v.raw.GetKind().(*structpb.Value_StructValue)
		if v.state != Known || !isObject {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(object.StructValue.GetFields())) {
			if !yield(key, v.member(key)) {
				return
			}
		}
	}
}

// Object tells whether the value has members.
func (v Value) Object() State {
	if _, isObject := v.raw.GetKind().(*structpb.Value_StructValue); v.state == Known && isObject {
		return Known
	}
	return v.below()
}

// Bool is a truth value.
func (v Value) Bool() (bool, State) {
	if kind, ok := v.raw.GetKind().(*structpb.Value_BoolValue); v.state == Known && ok {
		return kind.BoolValue, Known
	}
	return false, v.below()
}

// Text is a text.
func (v Value) Text() (string, State) {
	if kind, ok := v.raw.GetKind().(*structpb.Value_StringValue); v.state == Known && ok {
		return kind.StringValue, Known
	}
	return "", v.below()
}

// Number is a number.
func (v Value) Number() (float64, State) {
	if kind, ok := v.raw.GetKind().(*structpb.Value_NumberValue); v.state == Known && ok {
		return kind.NumberValue, Known
	}
	return 0, v.below()
}

// Count is a whole number, or what holds where the value is absent. It is not sure, and
// that too, where the value is unknown or no number.
func (v Value) Count(absent int) (n int, sure bool) {
	number, state := v.Number()
	if state == Known {
		return int(number), true
	}
	return absent, state == Absent
}

// Plain is the value as encoding/json would decode it. Secrets are in the clear,
// so the result must not be shown. Unknown parts become whatever unknown is.
func (v Value) Plain(unknown any) any {
	switch v.state {
	case Absent, Mistyped:
		return nil
	case Unknown:
		return unknown
	}
	switch kind := v.raw.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return kind.BoolValue
	case *structpb.Value_NumberValue:
		return kind.NumberValue
	case *structpb.Value_StringValue:
		return kind.StringValue
	case *structpb.Value_ListValue:
		items, _ := v.Items()
		out := make([]any, len(items))
		for i, item := range items {
			out[i] = item.Plain(unknown)
		}
		return out
	default:
		out := map[string]any{}
		for key, member := range v.Members() {
			out[key] = member.Plain(unknown)
		}
		return out
	}
}
