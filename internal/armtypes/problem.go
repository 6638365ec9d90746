package armtypes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Code says what is wrong with a property.
type Code string

// The codes of problems.
const (
	UnknownProperty Code = "UnknownProperty" // the type has no property of this name
	MissingProperty Code = "MissingProperty" // a required property is absent
	WrongType       Code = "WrongType"       // a string where an object belongs, and so on
	NotAllowed      Code = "NotAllowed"      // not one of the values of a closed enum
	TooLong         Code = "TooLong"         // more characters or elements than allowed
	TooShort        Code = "TooShort"        // fewer characters or elements than allowed
	PatternMismatch Code = "PatternMismatch" // a string of the wrong form
	OutOfRange      Code = "OutOfRange"      // a number too small or too large
	ReadOnly        Code = "ReadOnly"        // an input that only Azure sets
	NotListed       Code = "NotListed"       // not one of the values of an open enum; a warning
)

// Problem is one thing wrong with one property.
type Problem struct {
	Path    string // "securityRules[2].priority"; ARM names begin at the body: "properties.securityRules[2]..."
	Code    Code
	Got     string // what it is, if that says something; "[secret]" for a property that Microsoft marks as sensitive
	Want    string // what it must be
	Nearest string // the most similar name or value that is allowed, if there is one of some likeness
}

// Error returns one sentence: which property, what it is, what it must be.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Path)
	switch p.Code {
	case UnknownProperty:
		b.WriteString(": unknown property")
	case MissingProperty:
		b.WriteString(": missing")
	case ReadOnly:
		b.WriteString(": cannot be set")
	default:
		b.WriteString(": got " + p.Got)
	}
	if p.Want != "" {
		b.WriteString(", want " + p.Want)
	}
	if p.Nearest != "" {
		b.WriteString(", nearest is " + p.Nearest)
	}
	return b.String()
}

// String returns the same as Error.
func (p Problem) String() string { return p.Error() }

// sorted puts problems in a fixed order: by path, then code, then text.
func sorted(problems []Problem) []Problem {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Error(), b.Error()))
	})
	return problems
}

const maxShown = 80 // characters of a value in a message

// show writes a value for a message, cut if it is long.
func show(v any) string {
	var s string
	switch v := v.(type) {
	case string:
		s = fmt.Sprintf("%q", v)
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return describe(v)
		}
		s = string(b)
	}
	if utf8.RuneCountInString(s) > maxShown {
		s = string([]rune(s)[:maxShown]) + "…"
	}
	return s
}

// describe names the JSON type of a value.
func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		return "a string"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	default:
		return fmt.Sprintf("a Go %T", v)
	}
}

// oneOf lists allowed values.
func oneOf(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	const most = 12
	if len(values) > most {
		return fmt.Sprintf("one of %s and %d more", strings.Join(values[:most], ", "), len(values)-most)
	}
	return "one of " + strings.Join(values, ", ")
}
