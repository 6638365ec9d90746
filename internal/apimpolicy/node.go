package apimpolicy

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Node is an element of a policy document.
type Node struct {
	Name     string
	Attrs    []Attr
	Children []*Node
	Text     string // between the children, with no blanks around it
}

// Attr is an attribute.
type Attr struct{ Name, Value string }

// Attr is the value of an attribute, and whether it is there.
func (n *Node) Attr(name string) (string, bool) {
	for _, a := range n.Attrs {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// Child is the first child of that name, nil for none.
func (n *Node) Child(name string) *Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// el is an element with attributes, given as name, value, name, value, and with
// no children yet.
func el(name string, attrs ...string) *Node {
	n := &Node{Name: name}
	for i := 0; i+1 < len(attrs); i += 2 {
		n.Attrs = append(n.Attrs, Attr{attrs[i], attrs[i+1]})
	}
	return n
}

// with adds children.
func (n *Node) with(children ...*Node) *Node {
	n.Children = append(n.Children, children...)
	return n
}

// text sets the text.
func (n *Node) text(s string) *Node {
	n.Text = s
	return n
}

// String writes the element as well-formed XML, indented by two blanks.
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

func (n *Node) write(b *strings.Builder, depth int) {
	indent := strings.Repeat("  ", depth)
	b.WriteString(indent + "<" + n.Name)
	for _, a := range n.Attrs {
		b.WriteString(" " + a.Name + "=" + quoteAttr(a.Value))
	}
	switch {
	case len(n.Children) > 0:
		b.WriteString(">\n")
		for _, c := range n.Children {
			c.write(b, depth+1)
		}
		b.WriteString(indent + "</" + n.Name + ">\n")
	case n.Text != "":
		b.WriteString(">" + escapeText.Replace(n.Text) + "</" + n.Name + ">\n")
	default:
		b.WriteString(" />\n")
	}
}

var escapeText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#xD;")

// escapeAttr keeps blanks as they are: a parser would turn them into spaces.
var escapeAttr = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\t", "&#x9;", "\n", "&#xA;", "\r", "&#xD;")

// quoteAttr takes single quotes around a value that has double ones, so that C#
// stays readable.
func quoteAttr(s string) string {
	escaped := escapeAttr.Replace(s)
	if strings.Contains(s, `"`) {
		return "'" + strings.ReplaceAll(escaped, "'", "&#39;") + "'"
	}
	return `"` + escaped + `"`
}

// Parse reads a document. In format rawxml the C# of attributes and elements
// that begin with @( or @{ stands as it is; in format xml it is escaped like any
// other text, so that the document is well-formed XML.
func Parse(text string, raw bool) (*Node, error) {
	if raw {
		text = escapeExpressions(text)
	}
	decoder := xml.NewDecoder(strings.NewReader(text))
	var root *Node
	var open []*Node
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			n := &Node{Name: t.Name.Local}
			if t.Name.Space != "" {
				n.Name = t.Name.Space + ":" + n.Name
			}
			for _, a := range t.Attr {
				n.Attrs = append(n.Attrs, Attr{a.Name.Local, a.Value})
			}
			switch {
			case len(open) > 0:
				open[len(open)-1].with(n)
			case root == nil:
				root = n
			default:
				return nil, fmt.Errorf("a second root <%s>", n.Name)
			}
			open = append(open, n)
		case xml.EndElement:
			last := open[len(open)-1]
			last.Text = strings.TrimSpace(last.Text)
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].Text += string(t)
			} else if strings.TrimSpace(string(t)) != "" {
				return nil, fmt.Errorf("text %q outside the root", strings.TrimSpace(string(t)))
			}
		}
	}
	if root == nil {
		return nil, errors.New("no element")
	}
	return root, nil
}

// escapeExpressions turns format rawxml into format xml.
func escapeExpressions(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if c := text[i]; (c == '"' || c == '\'' || c == '>') && isExpression(text[i+1:]) {
			b.WriteByte(c)
			i++
			skipped := len(text[i:]) - len(strings.TrimLeft(text[i:], " \t\r\n"))
			b.WriteString(text[i : i+skipped])
			i += skipped
			n := expressionLength(text[i:])
			b.WriteString(escapeAll.Replace(text[i : i+n]))
			i += n
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

var escapeAll = strings.NewReplacer("&quot;", "&quot;", "&amp;", "&amp;", "&lt;", "&lt;", "&gt;", "&gt;", "&apos;", "&apos;",
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

func isExpression(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return strings.HasPrefix(s, "@(") || strings.HasPrefix(s, "@{")
}

// expressionLength is how far the expression at the start of s goes: to the
// bracket that closes it. Brackets in strings do not count. An expression that
// does not end goes to the end of s.
func expressionLength(s string) int {
	depth := 0
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		case '"':
			verbatim := s[i-1] == '@'
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' && !verbatim {
					i++
				}
			}
		case '\'':
			for i++; i < len(s) && s[i] != '\''; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
	}
	return len(s)
}
