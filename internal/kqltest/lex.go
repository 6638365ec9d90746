package kqltest

import (
	"fmt"
	"regexp"
	"strings"
)

// token is a word of a query.
type token struct {
	kind byte // 'n' name, 's' string, '#' number or timespan, 'p' punctuation, 0 the end
	text string
}

var words = regexp.MustCompile(`^(?:(//[^\n]*|\s+)|("(?:[^"\\]|\\.)*")|(\d+(?:\.\d+)?(?:ms|[smhd]\b)?)|([A-Za-z_]\w*)|(\.\.|==|!=|<=|>=|=~|[-+*/=<>()\[\],;|.:]))`)

// lex splits a query into words.
func lex(text string) ([]token, error) {
	var out []token
	for rest := text; rest != ""; {
		m := words.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("cannot read %.20q", rest)
		}
		rest = rest[len(m[0]):]
		for i, kind := range []byte{0, 0, 's', '#', 'n', 'p'} {
			if kind != 0 && m[i] != "" {
				out = append(out, token{kind, m[i]})
			}
		}
	}
	return out, nil
}

// unquote is the text of a string literal.
func unquote(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(s[1 : len(s)-1])
}
