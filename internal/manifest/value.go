package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/armtypes"
)

// Unknown stands for a value that is not known yet; the whole project has this
// one.
type Unknown = armtypes.Unknown

// node is one place in an object: its path and what stands there. Below an
// unknown everything is unknown, below anything else that is no object or list
// everything is absent.
type node struct {
	path string
	v    any
}

// at walks keys of objects; a key may hold dots.
func (n node) at(keys ...string) node {
	for _, key := range keys {
		next := node{path: join(n.path, key)}
		switch v := n.v.(type) {
		case Unknown:
			next.v = v
		case map[string]any:
			next.v = v[key]
		}
		n = next
	}
	return n
}

// get walks a dotted path.
func (n node) get(path string) node { return n.at(strings.Split(path, ".")...) }

// list returns the elements.
func (n node) list() []node {
	items, _ := n.v.([]any)
	out := make([]node, len(items))
	for i, item := range items {
		out[i] = node{fmt.Sprintf("%s[%d]", n.path, i), item}
	}
	return out
}

// fields returns the object, or nil.
func (n node) fields() map[string]any {
	m, _ := n.v.(map[string]any)
	return m
}

func (n node) absent() bool { return n.v == nil }

func (n node) unknown() bool {
	_, ok := n.v.(Unknown)
	return ok
}

// known says that the value is there and decided.
func (n node) known() bool { return !n.absent() && !n.unknown() }

// text returns the string, or "".
func (n node) text() string {
	s, _ := n.v.(string)
	return s
}

// number returns the number, whatever its Go type.
func (n node) number() (float64, bool) {
	switch v := n.v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// decided says that nothing at or below the place is unknown.
func (n node) decided() bool { return !hasUnknown(n.v) }

func hasUnknown(v any) bool {
	switch v := v.(type) {
	case Unknown:
		return true
	case map[string]any:
		for _, item := range v {
			if hasUnknown(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasUnknown)
	}
	return false
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// join appends a key to a path, as Pulumi writes property paths.
func join(base, key string) string {
	switch {
	case !identifier.MatchString(key):
		return base + "[" + strconv.Quote(key) + "]"
	case base == "":
		return key
	}
	return base + "." + key
}
