package stacks

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Problem is one thing wrong with the configuration.
type Problem struct {
	Key  string // path of the key, as in "network.addressSpace"; "" for the stack's name
	Got  string // the value found, "" when there is none
	Want string // what it must be, and why
	Fix  string // the command that mends it
}

// ConfigError is everything that is wrong with a stack's configuration.
type ConfigError struct {
	Stack    string
	File     string    // that the configuration was read from; "" when the engine handed it over
	Problems []Problem // sorted by key
}

// Error lists every problem with its remedy.
func (e *ConfigError) Error() string {
	places := "1 place"
	if n := len(e.Problems); n != 1 {
		places = fmt.Sprintf("%d places", n)
	}
	var b strings.Builder
	where := ""
	if e.File != "" {
		where = ", " + e.File + ","
	}
	fmt.Fprintf(&b, "stack config of %q%s is wrong in %s:", e.Stack, where, places)
	for _, p := range e.Problems {
		if p.Key == "" {
			b.WriteString("\n  the stack's name: ")
		} else {
			fmt.Fprintf(&b, "\n  %s:%s: ", namespace, p.Key)
		}
		if p.Got != "" {
			fmt.Fprintf(&b, "got %s, ", p.Got)
		}
		b.WriteString(p.Want)
		if p.Fix != "" {
			fmt.Fprintf(&b, "\n    fix: %s", p.Fix)
		}
	}
	return b.String()
}

// problems gathers what is wrong with one stack's configuration.
type problems struct {
	stack string
	list  []Problem
}

// bad reports that key holds got where it must hold want; example is a value
// that would do, "" when none can be named.
func (p *problems) bad(key string, got any, want, example string) {
	fix := ""
	if example != "" {
		fix = fmt.Sprintf("pulumi config set --stack %s --path '%s:%s' %s", p.stack, namespace, key, quote(example))
	}
	p.list = append(p.list, Problem{Key: key, Got: show(got), Want: "want " + want, Fix: fix})
}

// unknown reports a key that nothing reads.
func (p *problems) unknown(key string, known []string) {
	want := "unknown key"
	if near := nearest(key, known); near != "" {
		want += fmt.Sprintf(", nearest is %s:%s", namespace, near)
	}
	p.list = append(p.list, Problem{Key: key, Want: want, Fix: fmt.Sprintf("pulumi config rm --stack %s --path '%s:%s'", p.stack, namespace, key)})
}

// addNew adds the problems of other, but for those about a key that is in
// trouble already, or about one below it: a value that could not be read is not
// also too small.
func (p *problems) addNew(other *problems) {
	before := p.list
	for _, found := range other.list {
		known := slices.ContainsFunc(before, func(have Problem) bool {
			return found.Key == have.Key || strings.HasPrefix(found.Key, have.Key+".")
		})
		if !known {
			p.list = append(p.list, found)
		}
	}
}

// about tells whether any problem is about one of the root keys.
func (p *problems) about(roots ...string) bool {
	return slices.ContainsFunc(p.list, func(have Problem) bool {
		root, _, _ := strings.Cut(have.Key, ".")
		return slices.Contains(roots, root)
	})
}

// err is nil, or a ConfigError with every problem in the order of the keys.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Want, b.Want)) })
	return &ConfigError{Stack: p.stack, Problems: slices.Compact(p.list)}
}

// show writes a value so that a text and a number look different, and nothing
// for one that is absent.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case fmt.Stringer:
		return v.String()
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.String {
		return fmt.Sprintf("%q", r.String())
	}
	return fmt.Sprint(v)
}

// quote protects a value from the shell where it needs to be.
func quote(s string) string {
	if strings.ContainsAny(s, " '\"<>|&*?$`\\()[]{};#~") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// nearest is the known key that is most like key, "" when none is.
func nearest(key string, known []string) string {
	best, least := "", max(3, len(key)/3)+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := levenshtein.Distance(key, k, nil); d < least {
			best, least = k, d
		}
	}
	return best
}
