package dts

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

type tokenKind int

const (
	end tokenKind = iota
	ident
	text // a string literal, unquoted
	number
	punct
)

type token struct {
	kind    tokenKind
	text    string
	comment string // the doc comment right before the token
	pos     int
}

// is reports whether t is the word or the punctuation s.
func (t token) is(s string) bool {
	return t.text == s && (t.kind == ident || t.kind == punct)
}

type lexer struct {
	src string
	pos int
}

// next returns the token at the position and moves behind it.
func (l *lexer) next() (token, error) {
	comment, err := l.space()
	if err != nil {
		return token{pos: l.pos}, err
	}
	t := token{kind: end, comment: comment, pos: l.pos}
	if l.pos >= len(l.src) {
		return t, nil
	}
	switch c := l.src[l.pos]; {
	case c == '"' || c == '\'':
		t.kind = text
		t.text, err = l.quoted(c)
		return t, err
	case isDigit(c) || c == '-' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
		t.kind = number
		l.pos++
		l.skip(func(c byte) bool { return isDigit(c) || c == '.' })
	case isIdent(c):
		t.kind = ident
		l.skip(isIdent)
	default:
		t.kind = punct
		l.pos++
	}
	t.text = l.src[t.pos:l.pos]
	return t, nil
}

// space skips blanks and comments. It returns the last block comment.
func (l *lexer) space() (comment string, err error) {
	for {
		l.skip(func(c byte) bool { return strings.IndexByte(" \t\r\n", c) >= 0 })
		rest := l.src[l.pos:]
		switch {
		case strings.HasPrefix(rest, "//"):
			l.skip(func(c byte) bool { return c != '\n' })
		case strings.HasPrefix(rest, "/*"):
			body, _, found := strings.Cut(rest[2:], "*/")
			if !found {
				return "", errors.New("comment without end")
			}
			comment = body
			l.pos += len("/*") + len(body) + len("*/")
		default:
			return comment, nil
		}
	}
}

func (l *lexer) skip(wanted func(byte) bool) {
	for l.pos < len(l.src) && wanted(l.src[l.pos]) {
		l.pos++
	}
}

func (l *lexer) quoted(quote byte) (string, error) {
	start := l.pos
	for l.pos++; l.pos < len(l.src) && l.src[l.pos] != quote; l.pos++ {
		if l.src[l.pos] == '\\' {
			l.pos++
		}
	}
	if l.pos >= len(l.src) {
		l.pos = len(l.src)
		return "", errors.New("string without end")
	}
	l.pos++
	raw := l.src[start+1 : l.pos-1]
	if quote == '\'' {
		return raw, nil
	}
	s, err := strconv.Unquote(`"` + raw + `"`)
	if err != nil {
		return "", fmt.Errorf("string %q: %w", raw, err)
	}
	return s, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isIdent(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
