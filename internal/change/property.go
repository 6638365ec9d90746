package change

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Compare tells which properties differ between two trees of plain values, by
// path. Lists are compared place by place; of lists of texts, such as the actions of a
// role, it tells which came and which went, wherever they stand.
func Compare(before, after map[string]any) []Property {
	return compare("", before, after)
}

func compare(path string, before, after any) []Property {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	switch b := before.(type) {
	case map[string]any:
		if a, both := after.(map[string]any); both {
			return compareObjects(path, b, a)
		}
	case []any:
		if a, both := after.([]any); both && len(a) > 0 && len(b) > 0 {
			return compareLists(path, b, a)
		}
	}
	return []Property{{path, before, after}}
}

func compareObjects(path string, before, after map[string]any) []Property {
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	var out []Property
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if path == "" && strings.HasPrefix(key, "__") { // the engine's and the providers' own notes
			continue
		}
		out = append(out, compare(join(path, key), before[key], after[key])...)
	}
	return out
}

func compareLists(path string, before, after []any) []Property {
	if went, came := without(before, after), without(after, before); texts(before) && texts(after) && len(went)+len(came) > 0 {
		var out []Property
		for _, i := range went {
			out = append(out, Property{fmt.Sprintf("%s[%d]", path, i), before[i], nil})
		}
		for _, i := range came {
			out = append(out, Property{fmt.Sprintf("%s[%d]", path, i), nil, after[i]})
		}
		return out
	}
	at := func(list []any, i int) any {
		if i < len(list) {
			return list[i]
		}
		return nil
	}
	var out []Property
	for i := range max(len(before), len(after)) {
		out = append(out, compare(fmt.Sprintf("%s[%d]", path, i), at(before, i), at(after, i))...)
	}
	return out
}

// texts tells whether a list holds nothing but texts.
func texts(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool { _, is := v.(string); return !is })
}

// without are the places of a list whose texts another lacks.
func without(list, other []any) []int {
	has := map[string]bool{}
	for _, v := range other {
		text, _ := v.(string)
		has[text] = true
	}
	var out []int
	for i, v := range list {
		if text, _ := v.(string); !has[text] {
			out = append(out, i)
		}
	}
	return out
}

// join leads from an object to its member. A key that is no plain word is quoted,
// as the engine does in its own paths.
func join(path, key string) string {
	switch {
	case strings.ContainsAny(key, ".[]\""):
		return fmt.Sprintf("%s[%q]", path, key)
	case path == "":
		return key
	default:
		return path + "." + key
	}
}

// String is the difference in one line, as in "maxCount: 2 to 4". Of long texts it
// shows where they part.
func (p Property) String() string {
	before, after := value(p.Before), value(p.After)
	switch {
	case p.Before == nil:
		return fmt.Sprintf("%s: + %s", p.Path, excerpt(after, 0))
	case p.After == nil:
		return fmt.Sprintf("%s: - %s", p.Path, excerpt(before, 0))
	}
	from := 0
	if max(len(before), len(after)) > longest {
		from = max(0, parting(before, after)-lead)
	}
	return fmt.Sprintf("%s: %s to %s", p.Path, excerpt(before, from), excerpt(after, from))
}

// How much of a value one line shows, and how much of it stands before the place
// where two differ.
const (
	longest = 120
	lead    = 20
)

// value is a value in one line.
func value(v any) string {
	if text, ok := v.(string); ok {
		return strings.ReplaceAll(text, "\n", `\n`)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(raw)
}

// parting is the index of the first byte in which two texts differ.
func parting(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// excerpt is the part of a text that starts at a byte, in whole characters.
func excerpt(text string, from int) string {
	runes := []rune(strings.ToValidUTF8(text[min(from, len(text)):], ""))
	out := string(runes[:min(len(runes), longest)])
	if from > 0 {
		out = "..." + out
	}
	if len(runes) > longest {
		out += "..."
	}
	return out
}
