package core

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// xmlNode is an element of a policy document, or a text in one, whose name is "".
type xmlNode struct {
	name     string
	attrs    []xml.Attr
	children []*xmlNode
	text     string
}

// parsePolicy reads a policy document, which must be well-formed (A536). raw
// says that C# stands in it as it is, so that it is escaped first.
func parsePolicy(text string, raw bool) (*xmlNode, error) {
	if raw {
		text = escapeExpressions(text)
	}
	decoder := xml.NewDecoder(strings.NewReader(text))
	top := &xmlNode{}
	open := []*xmlNode{top}
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		parent := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			node := &xmlNode{name: token.Name.Local, attrs: token.Copy().Attr}
			parent.children = append(parent.children, node)
			open = append(open, node)
		case xml.EndElement:
			if parent.name != token.Name.Local {
				return nil, fmt.Errorf("</%s> closes <%s>", token.Name.Local, parent.name)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if content := strings.TrimSpace(string(token)); content != "" {
				parent.children = append(parent.children, &xmlNode{text: content})
			}
		}
	}
	switch {
	case len(open) > 1:
		return nil, fmt.Errorf("<%s> is not closed", open[len(open)-1].name)
	case len(top.children) != 1 || top.children[0].name == "":
		return nil, errors.New("a document has one root element")
	}
	return top.children[0], nil
}

// write renders a node as the service answers it: indented with tabs, lines
// ended by CR and LF, attributes in double quotes, C# escaped, comments dropped
// (A537).
func (n *xmlNode) write(out *strings.Builder, depth int) {
	indent := strings.Repeat("\t", depth)
	if n.name == "" {
		out.WriteString(indent + escaped(n.text) + "\r\n")
		return
	}
	out.WriteString(indent + "<" + n.name)
	for _, attr := range n.attrs {
		out.WriteString(" " + attr.Name.Local + `="` + escaped(attr.Value) + `"`)
	}
	switch {
	case len(n.children) == 0:
		out.WriteString(" />\r\n")
	case len(n.children) == 1 && n.children[0].name == "":
		out.WriteString(">" + escaped(n.children[0].text) + "</" + n.name + ">\r\n")
	default:
		out.WriteString(">\r\n")
		for _, child := range n.children {
			child.write(out, depth+1)
		}
		out.WriteString(indent + "</" + n.name + ">\r\n")
	}
}

func (n *xmlNode) String() string {
	var out strings.Builder
	n.write(&out, 0)
	return strings.TrimSuffix(out.String(), "\r\n")
}

// walk calls visit for a node and all below it, until it returns false.
func (n *xmlNode) walk(visit func(*xmlNode) bool) bool {
	if !visit(n) {
		return false
	}
	for _, child := range n.children {
		if !child.walk(visit) {
			return false
		}
	}
	return true
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escaped(text string) string { return xmlEscapes.Replace(text) }

// escapeExpressions escapes the C# in a raw document: attribute values and texts
// that begin with @( or @{, to the bracket that closes them.
func escapeExpressions(text string) string {
	var out strings.Builder
	inTag := false
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], "<!--") {
			if end := strings.Index(text[i:], "-->"); end >= 0 {
				i += end + len("-->")
				continue
			}
		}
		if end, ok := expressionEnd(text, i); ok {
			out.WriteString(escaped(text[i:end]))
			i = end
			continue
		}
		switch text[i] {
		case '<':
			inTag = true
		case '>':
			inTag = false
		case '"', '\'':
			// A quoted attribute that is no expression goes through as it is.
			if end := strings.IndexByte(text[i+1:], text[i]); inTag && end >= 0 && !isExpression(text[i+1:]) {
				out.WriteString(text[i : i+end+2])
				i += end + 2
				continue
			}
		}
		out.WriteByte(text[i])
		i++
	}
	return out.String()
}

func isExpression(text string) bool {
	return strings.HasPrefix(text, "@(") || strings.HasPrefix(text, "@{")
}

// expressionEnd returns where the C# expression at i ends; brackets in its
// strings do not count.
func expressionEnd(text string, i int) (end int, ok bool) {
	if !isExpression(text[i:]) {
		return 0, false
	}
	depth := 0
	for at := i + 1; at < len(text); at++ {
		switch c := text[at]; c {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			if depth--; depth == 0 {
				return at + 1, true
			}
		case '"', '\'':
			for at++; at < len(text) && text[at] != c; at++ {
				if text[at] == '\\' {
					at++
				}
			}
		}
	}
	return 0, false
}
