package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// Problem is one thing wrong with an object.
type Problem struct {
	Path string // "spec.template.spec.containers[0].image"
	Got  string // what it is; "nothing" if it is absent
	Want string // what it must be, and why
	Fix  string // how to mend it, where that does not follow from Want
}

// Error returns the problem in one line.
func (p Problem) Error() string {
	text := fmt.Sprintf("%s: got %s, want %s", p.Path, p.Got, p.Want)
	if p.Fix != "" {
		text += "; fix: " + p.Fix
	}
	return text
}

// String returns the same as Error.
func (p Problem) String() string { return p.Error() }

// sorted puts problems in a fixed order and drops repetitions.
func sorted(problems []Problem) []Problem {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Want, b.Want), cmp.Compare(a.Got, b.Got), cmp.Compare(a.Fix, b.Fix))
	})
	return slices.Compact(problems)
}

const nothing = "nothing"

// maxShown is how much of a value a problem shows, in characters.
const maxShown = 80

// show writes a value as a problem shows it.
func show(v any) string {
	if v == nil {
		return nothing
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("a Go %T", v)
	}
	if utf8.RuneCount(text) > maxShown {
		return string([]rune(string(text))[:maxShown]) + "…"
	}
	return string(text)
}

// nearest returns the candidate most like name, or "" if none is like it.
func nearest(name string, candidates []string) string {
	best, least := "", len(name)/2+1
	for _, c := range candidates {
		if d := levenshtein.Distance(name, c, nil); d < least {
			best, least = c, d
		}
	}
	return best
}

// oneOf lists what is allowed, cut if it is much.
func oneOf(values []string) string {
	const most = 12
	switch {
	case len(values) == 1:
		return values[0]
	case len(values) > most:
		return fmt.Sprintf("one of %s and %d more", strings.Join(values[:most], ", "), len(values)-most)
	}
	return "one of " + strings.Join(values, ", ")
}
