package csharp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Is tells whether the text of an attribute or element is an expression.
func Is(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "@(") || strings.HasPrefix(text, "@{")
}

// Code is what stands between the brackets of an expression, and whether it is
// a block of statements.
func Code(text string) (code string, block bool, err error) {
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "@(") && strings.HasSuffix(text, ")"):
		return text[2 : len(text)-1], false, nil
	case strings.HasPrefix(text, "@{") && strings.HasSuffix(text, "}"):
		return text[2 : len(text)-1], true, nil
	default:
		return "", false, fmt.Errorf("%q is not @(...) or @{...}", text)
	}
}

// Parse reads @(...) or @{...}. A single expression becomes a block that
// returns it. Every way through a block must end in a return.
func Parse(text string) ([]Stmt, error) {
	code, block, err := Code(text)
	if err != nil {
		return nil, err
	}
	tokens, err := Lex(code)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	var out []Stmt
	if block {
		out = p.stmts()
	} else {
		out = []Stmt{Return{p.expr()}}
	}
	if p.err == nil && p.at < len(p.tokens) {
		p.fail("the end")
	}
	if p.err == nil && !returns(out) {
		p.err = fmt.Errorf("a way through the block does not return")
	}
	return out, p.err
}

// returns tells whether every way through the statements returns.
func returns(list []Stmt) bool {
	for _, s := range list {
		switch s := s.(type) {
		case Return:
			return true
		case If:
			if s.Else != nil && returns(s.Then) && returns(s.Else) {
				return true
			}
		case Try:
			if returns(s.Body) && returns(s.Catch) {
				return true
			}
		}
	}
	return false
}

// parser goes through the tokens once; the first mistake sticks.
type parser struct {
	tokens []Token
	at     int
	err    error
}

func (p *parser) fail(want string) {
	if p.err != nil {
		return
	}
	if p.at < len(p.tokens) {
		p.err = fmt.Errorf("%q at offset %d where %s belongs", p.tokens[p.at].Text, p.tokens[p.at].At, want)
	} else {
		p.err = fmt.Errorf("the end where %s belongs", want)
	}
	p.at = len(p.tokens) // nothing that follows matters
}

// is tells whether the token n places on has that text; strings never do.
func (p *parser) is(n int, text string) bool {
	if p.at+n >= len(p.tokens) {
		return false
	}
	t := p.tokens[p.at+n]
	return t.Text == text && (t.Kind == Sign || t.Kind == Name)
}

func (p *parser) take(text string) bool {
	if p.is(0, text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(text string) {
	if !p.take(text) {
		p.fail(strconv.Quote(text))
	}
}

func (p *parser) name() string {
	if p.at < len(p.tokens) && p.tokens[p.at].Kind == Name {
		p.at++
		return p.tokens[p.at-1].Text
	}
	p.fail("a name")
	return ""
}

func (p *parser) block() []Stmt {
	p.want("{")
	out := p.stmts()
	p.want("}")
	return out
}

func (p *parser) stmts() []Stmt {
	out := []Stmt{}
	for p.err == nil && p.at < len(p.tokens) && !p.is(0, "}") {
		out = append(out, p.stmt())
	}
	return out
}

func (p *parser) stmt() Stmt {
	switch {
	case p.take("var"):
		name := p.name()
		p.want("=")
		s := Var{name, p.expr()}
		p.want(";")
		return s
	case p.take("return"):
		s := Return{p.expr()}
		p.want(";")
		return s
	case p.take("if"):
		p.want("(")
		s := If{If: p.expr()}
		p.want(")")
		s.Then = p.block()
		if p.take("else") {
			s.Else = p.block()
		}
		return s
	case p.take("foreach"):
		p.want("(")
		p.want("var")
		s := ForEach{Name: p.name()}
		p.want("in")
		s.In = p.expr()
		p.want(")")
		s.Body = p.block()
		return s
	case p.take("try"):
		s := Try{Body: p.block()}
		p.want("catch")
		s.Catch = p.block()
		return s
	default:
		x := p.expr()
		if p.take("=") {
			s := Set{x, p.expr()}
			p.want(";")
			return s
		}
		p.want(";")
		return Do{x}
	}
}

// expr reads a whole expression: the choice binds least.
func (p *parser) expr() Expr {
	x := p.binary(0)
	if !p.take("?") {
		return x
	}
	then := p.expr()
	p.want(":")
	return Choice{x, then, p.expr()}
}

// levels are the operators of two sides, those that bind least first. "??"
// groups to the right, the others to the left.
var levels = [][]string{{"??"}, {"||"}, {"&&"}, {"==", "!="}, {"<", "<=", ">", ">=", "as"}, {"+", "-"}}

func (p *parser) binary(level int) Expr {
	if level == len(levels) {
		return p.unary()
	}
	x := p.binary(level + 1)
	for p.err == nil {
		op := ""
		for _, candidate := range levels[level] {
			if p.is(0, candidate) {
				op = candidate
			}
		}
		if op == "" {
			return x
		}
		p.at++
		switch op {
		case "as":
			x = As{x, p.typ()}
		case "??":
			return Binary{op, x, p.binary(level)}
		default:
			x = Binary{op, x, p.binary(level + 1)}
		}
	}
	return x
}

func (p *parser) unary() Expr {
	if p.take("!") {
		return Not{p.unary()}
	}
	if p.is(0, "(") && p.isCast() {
		p.at++
		typ := p.typ()
		p.want(")")
		return Cast{typ, p.unary()}
	}
	return p.postfix(p.primary())
}

// castTo are the types that an expression may be cast to; another name in
// brackets is a value.
var castTo = []string{"string", "int", "long", "bool", "Jwt", "JObject", "JToken", "JArray"}

func (p *parser) isCast() bool {
	if p.at+1 >= len(p.tokens) || p.tokens[p.at+1].Kind != Name || !slices.Contains(castTo, p.tokens[p.at+1].Text) {
		return false
	}
	return p.is(2, ")") || p.is(2, "?") && p.is(3, ")")
}

// typ reads a type, dots and a final question mark included.
func (p *parser) typ() string {
	parts := []string{p.name()}
	for p.take(".") {
		parts = append(parts, p.name())
	}
	t := strings.Join(parts, ".")
	if p.is(0, "?") && (p.is(1, ")") || p.is(1, ">")) {
		p.at++
		t += "?"
	}
	return t
}

func (p *parser) primary() Expr {
	if p.at >= len(p.tokens) {
		p.fail("a value")
		return Literal{}
	}
	t := p.tokens[p.at]
	switch {
	case t.Kind == String || t.Kind == Char:
		p.at++
		return Literal{t.Text}
	case t.Kind == Number:
		n, err := strconv.Atoi(t.Text)
		if err != nil {
			p.fail("a whole number")
			return Literal{}
		}
		p.at++
		return Literal{n}
	case p.take("("):
		x := p.expr()
		p.want(")")
		return x
	case p.take("true"):
		return Literal{true}
	case p.take("false"):
		return Literal{false}
	case p.take("null"):
		return Literal{nil}
	case p.take("new"):
		typ := p.typ()
		return New{typ, p.args()}
	case t.Kind == Name:
		p.at++
		return Ident{t.Text}
	default:
		p.fail("a value")
		return Literal{}
	}
}

// postfix reads what follows a value: members, elements and calls.
func (p *parser) postfix(x Expr) Expr {
	for p.err == nil {
		switch {
		case p.take("."):
			x = Member{X: x, Name: p.name()}
		case p.take("?."):
			x = Member{X: x, Name: p.name(), Optional: true}
		case p.take("["):
			x = Index{x, p.expr()}
			p.want("]")
		case p.is(0, "("):
			x = Call{Func: x, Args: p.args()}
		case p.is(0, "<") && p.isGeneric():
			p.at++
			typ := p.typ()
			p.want(">")
			x = Call{Func: x, Types: []string{typ}, Args: p.args()}
		default:
			return x
		}
	}
	return x
}

// isGeneric tells a type argument from a comparison: a bracket follows it.
func (p *parser) isGeneric() bool {
	for n := 1; p.at+n < len(p.tokens); n++ {
		switch {
		case p.is(n, ">"):
			return p.is(n+1, "(")
		case p.tokens[p.at+n].Kind == Name, p.is(n, "."), p.is(n, "?"):
		default:
			return false
		}
	}
	return false
}

func (p *parser) args() []Arg {
	p.want("(")
	var out []Arg
	for p.err == nil && !p.is(0, ")") {
		if len(out) > 0 {
			p.want(",")
		}
		var a Arg
		if p.is(1, ":") {
			a.Name = p.name()
			p.want(":")
		}
		a.X = p.expr()
		out = append(out, a)
	}
	p.want(")")
	return out
}
