package azure

import (
	"errors"
	"slices"
	"strings"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

// Element is an element of an API Management policy; a nil one has nothing in
// it. C# expressions are opaque texts in attributes and contents.
type Element struct{ node *apimpolicy.Node }

// PolicyOf parses the document of a policy resource. state is Known when it was
// read; err then says why the text is no policy.
func PolicyOf(r *policypack.Resource) (doc Element, state propvalue.State, err error) {
	p := policypack.Read(r, "policy", func() (p policy) {
		p.doc, p.state, p.err = parsed(r)
		return p
	})
	return p.doc, p.state, p.err
}

// policy is what PolicyOf answers.
type policy struct {
	doc   Element
	state propvalue.State
	err   error
}

func parsed(r *policypack.Resource) (doc Element, state propvalue.State, err error) {
	text, state := r.Get("value").Text()
	if state != propvalue.Known {
		return doc, state, nil
	}
	format, formatState := r.Get("format").Text()
	switch {
	case formatState == propvalue.Unknown:
		return doc, propvalue.Unknown, nil
	case strings.HasSuffix(format, "-link"):
		return doc, propvalue.Known, errors.New("the document lies behind a link, where nobody reviews it")
	}
	node, err := apimpolicy.Parse(text, strings.EqualFold(format, "rawxml"))
	if err != nil && r.Get("value").Secret() {
		err = errors.New("the secret document is not well-formed XML")
	}
	return Element{node}, propvalue.Known, err
}

// Exists tells whether there is an element.
func (e Element) Exists() bool { return e.node != nil }

// Name of the element.
func (e Element) Name() string {
	if e.node == nil {
		return ""
	}
	return e.node.Name
}

// Attr is an attribute, "" if it is not there.
func (e Element) Attr(name string) string {
	if e.node == nil {
		return ""
	}
	value, _ := e.node.Attr(name)
	return value
}

// Text stands between the element's children.
func (e Element) Text() string {
	if e.node == nil {
		return ""
	}
	return e.node.Text
}

// Child is the first child of the name.
func (e Element) Child(name string) Element {
	if e.node == nil {
		return Element{}
	}
	return Element{e.node.Child(name)}
}

// Children in document order.
func (e Element) Children() []Element {
	if e.node == nil {
		return nil
	}
	out := make([]Element, len(e.node.Children))
	for i, c := range e.node.Children {
		out[i] = Element{c}
	}
	return out
}

// All are the elements below of any of the names, in document order.
func (e Element) All(names ...string) []Element {
	var out []Element
	for _, c := range e.Children() {
		if slices.Contains(names, c.Name()) {
			out = append(out, c)
		}
		out = append(out, c.All(names...)...)
	}
	return out
}

// Refuses tells whether the section answers every request with an error, and so
// never reaches a back end: an unconditional return-response with a 4xx status.
func (e Element) Refuses() bool {
	return strings.HasPrefix(e.Child("return-response").Child("set-status").Attr("code"), "4")
}
