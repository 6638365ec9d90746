// Package csharp reads the part of C# that this project's policy expressions
// are written in. It is not a compiler: it knows no types, and what it does not
// know it refuses. Lex alone is lenient enough for anybody's expressions.
// https://learn.microsoft.com/azure/api-management/api-management-policy-expressions
package csharp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind int

// The kinds.
const (
	Name Kind = iota
	Number
	String // Text is the value, without quotes and escapes
	Char
	Sign // an operator or a bracket
)

// Token is one word of an expression.
type Token struct {
	Kind Kind
	Text string
	At   int // offset in bytes
}

// signs are the operators of several characters, the longest first.
var signs = []string{"=>", "??", "?.", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "++", "--"}

// Lex cuts code into tokens. Comments are left out.
func Lex(code string) ([]Token, error) {
	var out []Token
	for i := 0; i < len(code); {
		rest := code[i:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r):
			i += size
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			i += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				return nil, fmt.Errorf("comment at offset %d does not end", i)
			}
			i += n + 2
		case r == '"' || r == '\'' || strings.HasPrefix(rest, `@"`) || strings.HasPrefix(rest, `$"`):
			text, n, err := quoted(rest)
			if err != nil {
				return nil, fmt.Errorf("literal at offset %d %w", i, err)
			}
			kind := String
			if r == '\'' {
				kind = Char
			}
			out = append(out, Token{kind, text, i})
			i += n
		case unicode.IsLetter(r) || r == '_':
			n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
			if n < 0 {
				n = len(rest)
			}
			out = append(out, Token{Name, rest[:n], i})
			i += n
		case unicode.IsDigit(r):
			n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) && !unicode.IsLetter(r) && r != '_' })
			if n < 0 {
				n = len(rest)
			}
			out = append(out, Token{Number, rest[:n], i})
			i += n
		default:
			text := string(r)
			for _, s := range signs {
				if strings.HasPrefix(rest, s) {
					text = s
					break
				}
			}
			out = append(out, Token{Sign, text, i})
			i += len(text)
		}
	}
	return out, nil
}

// quoted reads a string or character literal at the start of s: its value and
// how many bytes it takes.
func quoted(s string) (value string, size int, err error) {
	verbatim := strings.HasPrefix(s, "@")
	i := strings.IndexAny(s, `"'`) + 1
	quote := s[i-1]
	var b strings.Builder
	for i < len(s) {
		c := s[i]
		switch {
		case verbatim && c == quote && strings.HasPrefix(s[i+1:], `"`):
			b.WriteByte(quote)
			i += 2
		case c == quote:
			return b.String(), i + 1, nil
		case c == '\n' && !verbatim:
			return "", 0, fmt.Errorf("breaks over two lines")
		case c == '\\' && !verbatim:
			text, n, ok := escape(s[i:])
			if !ok {
				return "", 0, fmt.Errorf("has an unknown escape")
			}
			b.WriteString(text)
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return "", 0, fmt.Errorf("does not end")
}

// escape reads an escape sequence at the start of s.
func escape(s string) (text string, size int, ok bool) {
	if len(s) < 2 {
		return "", 0, false
	}
	switch s[1] {
	case '"', '\'', '\\':
		return s[1:2], 2, true
	case 'n':
		return "\n", 2, true
	case 'r':
		return "\r", 2, true
	case 't':
		return "\t", 2, true
	case '0':
		return "\x00", 2, true
	case 'u':
		var r rune
		if len(s) < 6 {
			return "", 0, false
		}
		if _, err := fmt.Sscanf(s[2:6], "%04x", &r); err != nil {
			return "", 0, false
		}
		return string(r), 6, true
	default:
		return "", 0, false
	}
}

// Quote writes s as a string literal of C#.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\u0085' || r == utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
