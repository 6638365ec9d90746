package stacks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
)

// decode reads the JSON text of root key into the struct that out points to,
// which holds the defaults. Every unknown key and every value of a wrong type
// becomes a problem; what can be read is read.
func decode(root, text string, out any, report *problems) {
	var value any
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil || !isMap(value) {
		report.bad(root, text, "a map of keys: "+strings.Join(keysOf(reflect.TypeOf(out), ""), ", "), "")
		return
	}
	var meta mapstructure.Metadata
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: out, TagName: "json", Metadata: &meta, DecodeHook: mapstructure.DecodeHookFuncType(decodeText),
		MatchName:  func(key, field string) bool { return key == field },
		ZeroFields: true, // a map that is given replaces the default one
	})
	if err != nil { // only a wrong out can do this
		panic(err)
	}
	for _, e := range leaves(d.Decode(value)) {
		at := path(e.Name())
		report.bad(root+"."+at, find(value, at), wanted(reflect.TypeOf(out), at), "")
	}
	known := keysOf(reflect.TypeOf(out), root)
	for _, unused := range meta.Unused {
		report.unknown(root+"."+path(unused), known)
	}
}

func isMap(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// decodeText reads the types that are written as text: address ranges, addresses
// and durations. Anything but text is refused; a number has no unit.
func decodeText(_, to reflect.Type, v any) (any, error) {
	var parse func(string) (any, error)
	switch to {
	case reflect.TypeFor[netip.Prefix]():
		parse = func(s string) (any, error) { return netip.ParsePrefix(s) }
	case reflect.TypeFor[netip.Addr]():
		parse = func(s string) (any, error) { return netip.ParseAddr(s) }
	case reflect.TypeFor[time.Duration]():
		parse = func(s string) (any, error) { return time.ParseDuration(s) }
	default:
		return v, nil
	}
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("%v is not a text", v)
	}
	return parse(text)
}

// leaves are the errors of single fields inside err.
func leaves(err error) []*mapstructure.DecodeError {
	switch e := err.(type) {
	case nil:
		return nil
	case *mapstructure.DecodeError:
		if inner := leaves(e.Unwrap()); len(inner) > 0 {
			return inner
		}
		return []*mapstructure.DecodeError{e}
	case interface{ Unwrap() []error }:
		var out []*mapstructure.DecodeError
		for _, one := range e.Unwrap() {
			out = append(out, leaves(one)...)
		}
		return out
	case interface{ Unwrap() error }:
		return leaves(e.Unwrap())
	default:
		return nil
	}
}

// wanted says what the field at path below t must be.
func wanted(t reflect.Type, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		t = elem(t, key)
	}
	switch {
	case t == reflect.TypeFor[netip.Prefix]():
		return "an IPv4 range such as 10.40.0.0/20"
	case t == reflect.TypeFor[netip.Addr]():
		return "an address such as 10.0.0.4"
	case t == reflect.TypeFor[time.Duration]():
		return "a duration such as 90s, 20m or 24h"
	case t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String:
		return "a text"
	case t.Kind() == reflect.Slice:
		return "a list"
	default:
		return "a map of keys"
	}
}

// elem is the type of what key holds in a value of type t.
func elem(t reflect.Type, key string) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Map, reflect.Slice:
		return t.Elem()
	case reflect.Struct:
		for field := range t.Fields() {
			if jsonName(field) == key {
				return field.Type
			}
		}
	}
	return t
}

// jsonName is the key that a field is read from.
func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// brackets are how the decoder writes the key of a map or the index of a list.
var brackets = regexp.MustCompile(`\[([^\]]*)\]`)

// path turns the decoder's name of a field into a key's path.
func path(name string) string { return brackets.ReplaceAllString(name, ".$1") }

// find is the value at path in v, nil when there is none.
func find(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// keysOf are the paths of the keys that a struct type reads, below prefix.
func keysOf(t reflect.Type, prefix string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[netip.Prefix]() {
		return nil
	}
	var out []string
	for field := range t.Fields() {
		key := jsonName(field)
		if prefix != "" {
			key = prefix + "." + key
		}
		out = append(out, key)
		out = append(out, keysOf(field.Type, key)...)
	}
	return out
}

// sortedKeys are the keys of m in order, so that nothing depends on the order
// of a map.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
