package kqltest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Nodes of a query. A tabular is a source with the steps that follow it.
type (
	tabular struct {
		source any // *call of a table or function, *tabular, *datatable or *union
		steps  []step
	}
	datatable struct {
		columns []string
		values  []any // expressions
	}
	union struct{ parts []*tabular }
	step  struct {
		op     string
		kind   string // of a join
		exprs  []named
		by     []named
		on     string
		right  *tabular
		number int
	}
	named struct {
		name string
		expr any
	}
	literal struct{ value any }
	column  struct{ name string }
	call    struct {
		name string
		args []any
	}
	index struct{ of, key any }
	least struct{ of string } // arg_min(of, *)
	list  struct{ items []any }
)

type parser struct {
	tokens []token
	at     int
}

// fault is a part of the language that is not understood.
type fault struct{ error }

func (p *parser) fail(format string, args ...any) {
	panic(fault{fmt.Errorf(format+", before %q", append(args, p.peek().text)...)})
}

func (p *parser) peek() token {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return token{}
}

func (p *parser) next() token { t := p.peek(); p.at++; return t }

func (p *parser) take(text string) bool {
	if p.peek().text == text && p.peek().kind != 's' {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(text string) {
	if !p.take(text) {
		p.fail("want %q", text)
	}
}

func (p *parser) name() string {
	t := p.next()
	if t.kind != 'n' {
		p.at--
		p.fail("want a name")
	}
	return t.text
}

// query is a tabular with the names that come before it.
type query struct {
	lets []named // whose expr is a *tabular
	body *tabular
}

func parse(text string) (q query, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = f.error
		}
	}()
	tokens, err := lex(text)
	if err != nil {
		return q, err
	}
	p := &parser{tokens: tokens}
	for p.take("let") {
		n := p.name()
		p.want("=")
		q.lets = append(q.lets, named{n, p.tabular()})
		p.want(";")
	}
	q.body = p.tabular()
	if p.at < len(p.tokens) {
		p.fail("want the end")
	}
	return q, nil
}

func (p *parser) tabular() *tabular {
	t := &tabular{}
	switch {
	case p.take("("):
		t.source = p.tabular()
		p.want(")")
	case p.take("datatable"):
		t.source = p.datatable()
	case p.take("union"):
		t.source = p.union()
	default:
		c := &call{name: p.name()}
		if p.take("(") {
			p.want(")")
		}
		t.source = c
	}
	for p.take("|") {
		t.steps = append(t.steps, p.step())
	}
	return t
}

func (p *parser) union() *union {
	u := &union{}
	for {
		u.parts = append(u.parts, p.part())
		if !p.take(",") {
			return u
		}
	}
}

// part is one member of a union: a name, or a query in brackets.
func (p *parser) part() *tabular {
	if p.take("(") {
		t := p.tabular()
		p.want(")")
		return t
	}
	c := &call{name: p.name()}
	if p.take("(") {
		p.want(")")
	}
	return &tabular{source: c}
}

func (p *parser) datatable() *datatable {
	d := &datatable{}
	p.want("(")
	for !p.take(")") {
		d.columns = append(d.columns, p.name())
		p.want(":")
		p.name()
		p.take(",")
	}
	p.want("[")
	for !p.take("]") {
		d.values = append(d.values, p.expr())
		p.take(",")
	}
	return d
}

func (p *parser) step() step {
	s := step{op: p.name()}
	switch s.op {
	case "where":
		s.exprs = []named{{expr: p.expr()}}
	case "extend", "project", "distinct":
		s.exprs = p.names()
	case "summarize":
		if p.peek().text != "by" {
			s.exprs = p.names()
		}
		if p.take("by") {
			s.by = p.names()
		}
	case "join":
		s.kind = "innerunique"
		if p.take("kind") {
			p.want("=")
			s.kind = p.name()
		}
		s.right = p.part()
		p.want("on")
		s.on = p.name()
	case "union":
		s.right = p.part()
	case "order":
		p.want("by")
		s.on = p.name()
		s.kind = "desc"
		if p.take("asc") {
			s.kind = "asc"
		} else {
			p.take("desc")
		}
	case "take":
		n, err := strconv.Atoi(p.next().text)
		if err != nil {
			p.fail("take: %v", err)
		}
		s.number = n
	default:
		p.fail("operator %q is not understood", s.op)
	}
	return s
}

// names are expressions, each with the name of its column.
func (p *parser) names() []named {
	var out []named
	for {
		n := named{}
		if p.at+1 < len(p.tokens) && p.peek().kind == 'n' && p.tokens[p.at+1].text == "=" {
			n.name = p.name()
			p.want("=")
		}
		n.expr = p.expr()
		if n.name == "" {
			n.name = nameOf(n.expr)
		}
		out = append(out, n)
		if !p.take(",") {
			return out
		}
	}
}

// nameOf is the name that Kusto gives to a column without one.
func nameOf(e any) string {
	switch e := e.(type) {
	case *column:
		return e.name
	case *call:
		if e.name == "bin" {
			return nameOf(e.args[0])
		}
		return e.name + "_"
	}
	return "Column1"
}

func (p *parser) expr() any { return p.either() }

func (p *parser) either() any {
	left := p.both()
	for p.take("or") {
		left = &call{"or", []any{left, p.both()}}
	}
	return left
}

func (p *parser) both() any {
	left := p.compare()
	for p.take("and") {
		left = &call{"and", []any{left, p.compare()}}
	}
	return left
}

var comparisons = []string{"==", "!=", "<", ">", "<=", ">=", "=~", "has", "startswith", "in"}

func (p *parser) compare() any {
	left := p.sum()
	if t := p.peek(); t.kind != 's' && slices.Contains(comparisons, t.text) {
		p.at++
		if t.text != "in" {
			return &call{t.text, []any{left, p.sum()}}
		}
		p.want("(")
		return &call{"in", []any{left, &list{p.items(")")}}}
	}
	return left
}

func (p *parser) sum() any {
	left := p.product()
	for {
		t := p.peek().text
		if t != "+" && t != "-" || p.peek().kind == 's' {
			return left
		}
		p.at++
		left = &call{t, []any{left, p.product()}}
	}
}

func (p *parser) product() any {
	left := p.unary()
	for {
		t := p.peek().text
		if t != "*" && t != "/" || p.peek().kind == 's' {
			return left
		}
		p.at++
		left = &call{t, []any{left, p.unary()}}
	}
}

func (p *parser) unary() any {
	if p.take("-") {
		return &call{"-", []any{&literal{int64(0)}, p.unary()}}
	}
	e := p.primary()
	for p.take("[") {
		e = &index{e, p.expr()}
		p.want("]")
	}
	return e
}

func (p *parser) primary() any {
	switch t := p.next(); t.kind {
	case 's':
		return &literal{unquote(t.text)}
	case '#':
		return &literal{number(t.text)}
	case 'n':
		switch {
		case t.text == "true" || t.text == "false":
			return &literal{t.text == "true"}
		case !p.take("("):
			return &column{t.text}
		case t.text == "arg_min":
			of := p.name()
			for _, word := range []string{",", "*", ")"} {
				p.want(word)
			}
			return &least{of}
		case t.text == "real" && p.take("null"):
			p.want(")")
			return &literal{nil}
		default:
			return &call{t.text, p.items(")")}
		}
	case 'p':
		if t.text == "(" {
			e := p.expr()
			p.want(")")
			return e
		}
	}
	p.at--
	p.fail("want an expression")
	return nil
}

func (p *parser) items(end string) []any {
	var out []any
	for !p.take(end) {
		out = append(out, p.expr())
		if !p.take(",") {
			p.want(end)
			break
		}
	}
	return out
}

var units = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// number is the value of a number or a timespan.
func number(text string) any {
	digits := strings.TrimRight(text, "msdh")
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		panic(fault{err})
	}
	if unit := text[len(digits):]; unit != "" {
		return time.Duration(f * float64(units[unit]))
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	return f
}
