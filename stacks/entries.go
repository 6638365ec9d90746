package stacks

import (
	"encoding/json"
	"reflect"
	"strings"
)

// entries is a root key that is a map of names.
type entries interface {
	read(root, text string, report *problems)
}

// readEntries reads the JSON text of root, each entry as a root key of its own,
// so that its problems name it and its unknown keys come with the nearest one.
func readEntries[T any](root, text string, out *map[string]T, report *problems) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		report.bad(root, text, "a map of names", "")
		return
	}
	*out = make(map[string]T, len(raw))
	for _, name := range sortedKeys(raw) {
		var entry T
		var value any
		if err := json.Unmarshal(raw[name], &value); err == nil && isMap(value) {
			decode(root+"."+name, string(raw[name]), &entry, report)
		} else {
			report.bad(root+"."+name, value, "a map of keys: "+strings.Join(keysOf(reflect.TypeFor[T](), ""), ", "), "")
		}
		(*out)[name] = entry
	}
}
