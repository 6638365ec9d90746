package dts

import (
	"fmt"
	"strings"
)

// Parse reads a declaration file, or a piece of one that stands alone. The name
// appears in errors only.
func Parse(name, src string) (*File, error) {
	p := &parser{lexer: lexer{src: src}}
	f := &File{
		Interfaces: map[string]*Interface{},
		Classes:    map[string]*Interface{},
		Enums:      map[string][]EnumValue{},
		Namespaces: map[string]map[string]*Interface{},
	}
	p.advance()
	for !p.done() {
		p.declaration(f)
	}
	if p.err != nil {
		return nil, fmt.Errorf("%s: %w", name, p.err)
	}
	return f, nil
}

// parser keeps the first error in err. After it the current token is end for
// ever, so every loop ends and callers need not look at err.
type parser struct {
	lexer
	cur     token
	comment string // of the statement that begins
	err     error
}

func (p *parser) done() bool { return p.cur.kind == end }

func (p *parser) advance() {
	if p.err != nil {
		return
	}
	t, err := p.lexer.next()
	p.cur = t
	if err != nil {
		p.fail(err.Error())
	}
}

func (p *parser) fail(problem string) {
	if p.err == nil {
		line := 1 + strings.Count(p.src[:min(p.cur.pos, len(p.src))], "\n")
		p.err = fmt.Errorf("line %d: at %q: %s", line, p.cur.text, problem)
	}
	p.cur = token{kind: end}
}

// accept takes the word or punctuation s if it comes next.
func (p *parser) accept(s string) bool {
	if !p.cur.is(s) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(s string) {
	if !p.accept(s) {
		p.fail("want " + s)
	}
}

func (p *parser) name() string {
	t := p.cur
	if t.kind == end || t.kind == punct {
		p.fail("want a name")
		return ""
	}
	p.advance()
	return t.text
}

// skipPast skips balanced text up to the punctuation s and over it.
func (p *parser) skipPast(s string) {
	for depth := 0; !p.done(); p.advance() {
		if p.cur.kind != punct {
			continue
		}
		switch p.cur.text {
		case "{", "(", "[":
			depth++
		case "}", ")", "]":
			depth--
		}
		if depth <= 0 && p.cur.is(s) {
			p.advance()
			return
		}
	}
	p.fail("want " + s)
}

func (p *parser) declaration(f *File) {
	if p.cur.comment != "" {
		p.comment = p.cur.comment
	}
	switch {
	case p.accept("export"), p.accept("declare"), p.accept(";"):
		return // the comment belongs to what follows
	case p.accept("interface"):
		i := p.named()
		i.Properties = p.properties()
		f.Interfaces[i.Name] = i
	case p.accept("class"):
		i := p.named()
		p.expect("extends")
		for !p.cur.is("{") && !p.done() {
			p.advance()
		}
		i.Properties = p.properties()
		f.Classes[i.Name] = i
	case p.accept("namespace"):
		p.namespace("", f)
	case p.accept("const"):
		name := p.name()
		p.expect(":")
		if p.cur.is("{") {
			f.Enums[name] = p.enum()
		}
		p.skipPast(";")
	case p.cur.is("import"), p.cur.is("function"), p.cur.is("type"), p.cur.is("{"), p.cur.is("*"):
		p.skipPast(";")
	default:
		p.fail("want a declaration")
	}
	p.comment = ""
}

func (p *parser) named() *Interface {
	i := &Interface{Deprecated: deprecation(p.comment)}
	i.Name = p.name()
	return i
}

func (p *parser) namespace(prefix string, f *File) {
	name := prefix + p.name()
	members := map[string]*Interface{}
	f.Namespaces[name] = members
	p.expect("{")
	for !p.cur.is("}") && !p.done() {
		p.comment = p.cur.comment
		switch {
		case p.accept("interface"):
			i := p.named()
			i.Properties = p.properties()
			members[i.Name] = i
		case p.accept("namespace"):
			p.namespace(name+"/", f)
		case p.cur.is("function"), p.cur.is("type"), p.cur.is("const"):
			p.skipPast(";")
		case p.accept("export"), p.accept("declare"), p.accept(";"):
		default:
			p.fail("want a member of a namespace")
		}
	}
	p.expect("}")
}

func (p *parser) properties() []Property {
	var list []Property
	p.expect("{")
	for !p.cur.is("}") && !p.done() {
		if p.cur.is("static") || p.cur.is("constructor") || p.cur.is("private") {
			p.skipPast(";")
			continue
		}
		property := Property{Deprecated: deprecation(p.cur.comment)}
		p.accept("readonly")
		property.Name = p.name()
		if p.cur.is("(") || p.cur.is("<") { // a method
			p.skipPast(";")
			continue
		}
		property.Optional = p.accept("?")
		p.expect(":")
		property.Type = p.typ()
		p.expect(";")
		if property.Type.Kind == Union {
			for _, alternative := range property.Type.Alts {
				property.Optional = property.Optional || alternative.Kind == Undefined
			}
		}
		list = append(list, property)
	}
	p.expect("}")
	return list
}

func (p *parser) enum() []EnumValue {
	var list []EnumValue
	p.expect("{")
	for !p.cur.is("}") && !p.done() {
		value := EnumValue{Deprecated: deprecation(p.cur.comment)}
		p.expect("readonly")
		value.Name = p.name()
		p.expect(":")
		if t := p.typ(); t.Kind == Literal {
			value.Value = t.Value
		} else {
			p.fail("want a literal value")
		}
		p.expect(";")
		list = append(list, value)
	}
	p.expect("}")
	return list
}

// deprecation returns the text of a comment's @deprecated tag.
func deprecation(comment string) string {
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "*"))
		if rest, found := strings.CutPrefix(line, "@deprecated "); found {
			return rest
		}
	}
	return ""
}
