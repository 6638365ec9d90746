package core

import (
	"strings"

	"onedoor/internal/armtypes"
)

// value is one node of a body. A body in a preview holds armtypes.Unknown
// where the value is not known yet; a rule skips what it cannot decide.
type value struct{ v any }

func root(body map[string]any) value { return value{body} }

// get walks a dotted path of object keys. Below an unknown everything is
// unknown, below anything else that is no object everything is absent.
func (v value) get(path string) value {
	for key := range strings.SplitSeq(path, ".") {
		if v.unknown() {
			return v
		}
		m, _ := v.v.(map[string]any)
		v = value{m[key]}
	}
	return v
}

// props is get below "properties".
func (r *Resource) props(path string) value {
	return root(r.Body).get("properties").get(path)
}

func (v value) unknown() bool {
	_, ok := v.v.(armtypes.Unknown)
	return ok
}

func (v value) absent() bool { return v.v == nil }

// known says that the value is there and decided.
func (v value) known() bool { return v.v != nil && !v.unknown() }

// text returns the string, or "".
func (v value) text() string {
	s, _ := v.v.(string)
	return s
}

// flag returns the boolean, or false.
func (v value) flag() bool {
	b, _ := v.v.(bool)
	return b
}

// number returns the number, whatever its Go type.
func (v value) number() (float64, bool) {
	switch n := v.v.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	}
	return 0, false
}

// list returns the elements, or nil.
func (v value) list() []value {
	items, _ := v.v.([]any)
	out := make([]value, len(items))
	for i, item := range items {
		out[i] = value{item}
	}
	return out
}

// texts returns the known strings of a list.
func (v value) texts() []string {
	var out []string
	for _, item := range v.list() {
		if s := item.text(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// hasUnknown says whether anything at or below v is unknown.
func (v value) hasUnknown() bool {
	if v.unknown() {
		return true
	}
	switch x := v.v.(type) {
	case map[string]any:
		for _, item := range x {
			if (value{item}).hasUnknown() {
				return true
			}
		}
	case []any:
		for _, item := range x {
			if (value{item}).hasUnknown() {
				return true
			}
		}
	}
	return false
}

// copyValue returns a deep copy of JSON-like data.
func copyValue(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, item := range x {
			out[k] = copyValue(item)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			out[i] = copyValue(item)
		}
		return out
	}
	return v
}

func copyBody(body map[string]any) map[string]any {
	if body == nil {
		return map[string]any{}
	}
	return copyValue(body).(map[string]any)
}

// object returns the object under key, making it if it is absent. It returns
// nil when the value is there but no object (unknown, or wrong).
func object(m map[string]any, key string) map[string]any {
	switch v := m[key].(type) {
	case map[string]any:
		return v
	case nil:
		v2 := map[string]any{}
		m[key] = v2
		return v2
	}
	return nil
}

// setDefault sets m[key] if it is absent.
func setDefault(m map[string]any, key string, v any) {
	if m == nil {
		return
	}
	if m[key] == nil {
		m[key] = v
	}
}
