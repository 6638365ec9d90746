package dts

import "strconv"

// typ reads a type expression. It never returns nil.
func (p *parser) typ() *Type {
	p.accept("|")
	alternatives := []*Type{p.postfix()}
	for p.accept("|") {
		alternatives = append(alternatives, p.postfix())
	}
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return &Type{Kind: Union, Alts: alternatives}
}

func (p *parser) postfix() *Type {
	t := p.primary()
	for p.accept("[") {
		p.expect("]")
		t = &Type{Kind: Array, Elem: t}
	}
	return t
}

func (p *parser) primary() *Type {
	switch t := p.cur; {
	case t.kind == text:
		p.advance()
		return &Type{Kind: Literal, Value: t.text}
	case t.kind == number:
		value, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			p.fail(err.Error())
		}
		p.advance()
		return &Type{Kind: Literal, Value: value}
	case p.accept("("):
		inner := p.typ()
		p.expect(")")
		return inner
	case p.accept("{"):
		return p.mapping()
	}
	name := p.name()
	for p.accept(".") {
		name += "." + p.name()
	}
	switch name {
	case "pulumi.Input", "pulumi.Output":
		p.expect("<")
		inner := p.typ()
		p.expect(">")
		return inner
	case "string", "number", "boolean", "any", "undefined":
		return &Type{Kind: Kind(name)}
	case "true", "false":
		return &Type{Kind: Literal, Value: name == "true"}
	}
	return &Type{Kind: Named, Name: name}
}

// mapping reads the rest of "{ [key: string]: T }".
func (p *parser) mapping() *Type {
	p.expect("[")
	p.name()
	p.expect(":")
	p.expect("string")
	p.expect("]")
	p.expect(":")
	t := &Type{Kind: Map, Elem: p.typ()}
	p.accept(";")
	p.expect("}")
	return t
}
