package stacks

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"time"
)

// Key is one key of the configuration, as documentation needs it. What it means
// stands beside its field, in the source.
type Key struct {
	Path    string       // below the project's namespace, as in "queue.queues.<name>.p99"
	Type    reflect.Type // that its value is read into
	In      reflect.Type // the struct whose field it is; nil for a root key
	Field   string       // the field's name
	Default string       // as it is written in a stack file; "" where there is none
}

// EntryName stands in paths for a name that the configuration chooses.
const EntryName = "<name>"

// Keys are all keys that a stack file may have, each before those below it, in the
// order of the code.
func Keys() []Key {
	var out []Key
	c := defaults()
	roots := c.roots()
	all := reflect.TypeFor[Config]()
	for field := range all.Fields() { // Config has the order that a reader wants
		for root, value := range roots {
			at := reflect.ValueOf(value).Elem()
			if field.Type == at.Type() {
				out = append(out, Key{Path: root, Type: at.Type()})
				out = append(out, keysBelow(root, at)...)
			}
		}
	}
	return out
}

// keysBelow are the keys below a value that holds defaults.
func keysBelow(path string, at reflect.Value) []Key {
	t := at.Type()
	switch {
	case t.Kind() == reflect.Pointer:
		return keysBelow(path, reflect.New(t.Elem()).Elem())
	case t.Kind() == reflect.Map:
		return keysBelow(path+"."+EntryName, reflect.New(t.Elem()).Elem())
	case t.Kind() != reflect.Struct || isText(t):
		return nil
	}
	var out []Key
	for field, value := range at.Fields() {
		key := Key{Path: path + "." + jsonName(field), Type: field.Type, In: t, Field: field.Name, Default: written(value)}
		out = append(out, key)
		out = append(out, keysBelow(key.Path, value)...)
	}
	return out
}

// isText tells whether values of a type are written as text, though it is a struct.
func isText(t reflect.Type) bool {
	return t == reflect.TypeFor[netip.Prefix]() || t == reflect.TypeFor[netip.Addr]()
}

// written is a default as a stack file has it, "" for none.
func written(v reflect.Value) string {
	switch {
	case v.IsZero() && v.Kind() != reflect.Bool || v.Kind() == reflect.Struct && !isText(v.Type()):
		return ""
	case v.Type() == reflect.TypeFor[time.Duration]():
		return shortDuration(v.Interface().(time.Duration))
	case v.Kind() == reflect.Map:
		var names []string
		for _, key := range v.MapKeys() {
			names = append(names, key.String())
		}
		return strings.Join(sorted(names), ", ")
	case v.Kind() == reflect.Slice:
		return strings.Trim(fmt.Sprint(v.Interface()), "[]")
	default:
		return fmt.Sprint(v.Interface())
	}
}

// shortDuration writes a duration without units that are zero.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
