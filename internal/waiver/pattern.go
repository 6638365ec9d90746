package waiver

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// pattern matches URNs part by part: stack, project, type with its parents, name.
// Stack and project are exact: who excused dev has not excused prod.
// https://www.pulumi.com/docs/iac/concepts/resources/names/#urns
type pattern struct {
	stack, project string
	typ, name      *regexp.Regexp
}

// parsePattern reads a URN in which a * stands for any text within type or name.
func parsePattern(s string) (pattern, error) {
	parts, ok := split(s)
	switch {
	case !ok || slices.Contains(parts, ""):
		return pattern{}, errors.New("urn:pulumi:STACK::PROJECT::TYPE::NAME, no part of it empty")
	case strings.Contains(parts[0]+parts[1], "*"):
		return pattern{}, errors.New("one stack and one project: who excused dev has not excused prod")
	case strings.Trim(parts[2]+parts[3], "*") == "":
		return pattern{}, errors.New("a type or a name: a waiver for every resource is a rule without effect")
	}
	return pattern{parts[0], parts[1], wildcard(parts[2]), wildcard(parts[3])}, nil
}

func wildcard(s string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(s), `\*`, ".*") + "$")
}

// match tells whether a URN of the pattern's stack and project is meant.
func (p pattern) match(urn string) bool {
	parts, ok := split(urn)
	return ok && p.typ.MatchString(parts[2]) && p.name.MatchString(parts[3])
}

// split are the four parts of a URN.
func split(urn string) ([]string, bool) {
	rest, found := strings.CutPrefix(urn, "urn:pulumi:")
	parts := strings.SplitN(rest, "::", 4)
	return parts, found && len(parts) == 4
}
