package apimpolicy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/apimpolicy/csharp"
)

// maxFragment is the size of a fragment, in bytes.
// https://learn.microsoft.com/azure/api-management/policy-fragments
const maxFragment = 512 << 10

// sections are the parts of a document, in their order.
var sections = []string{"inbound", "backend", "outbound", "on-error"}

// Check returns what is wrong with a document, in the order of the document. It
// knows what Azure refuses and what goes wrong silently with streamed model
// calls. It does not compile expressions, and passes over policies that it does
// not know.
func Check(doc Document) []Problem {
	c := &checker{doc: doc, limits: map[string]string{}}
	root, err := Parse(doc.Text, doc.Raw)
	if err != nil {
		c.problem(doc.Name, "", "well-formed XML: "+err.Error())
		return c.problems
	}
	if doc.Scope == FragmentScope {
		c.fragment(root)
	} else {
		c.policies(root)
	}
	return c.problems
}

// checker walks through one document.
type checker struct {
	doc      Document
	section  string            // that the walk is in; "" in a fragment
	retries  int               // how many <retry> are open
	requests int               // how many <send-request> are open
	limits   map[string]string // tokens per minute by counter key
	problems []Problem
}

func (c *checker) problem(path, got, want string) {
	c.problems = append(c.problems, Problem{Path: path, Got: got, Want: want})
}

func (c *checker) silent(path, got, want string) {
	c.problems = append(c.problems, Problem{Path: path, Got: got, Want: want, Silent: true})
}

// fragment checks a document that others include.
func (c *checker) fragment(root *Node) {
	if root.Name != "fragment" {
		c.problem(root.Name, "", "the root <fragment>")
		return
	}
	if len(c.doc.Text) > maxFragment {
		c.problem(root.Name, strconv.Itoa(len(c.doc.Text))+" bytes", fmt.Sprintf("at most %d: Azure takes no more in a fragment", maxFragment))
	}
	c.children(root, root.Name)
}

// policies checks a document with sections.
func (c *checker) policies(root *Node) {
	if root.Name != "policies" {
		c.problem(root.Name, "", "the root <policies>")
		return
	}
	last := -1
	for _, s := range root.Children {
		i := slices.Index(sections, s.Name)
		switch {
		case i < 0:
			c.problem(s.Name, "", "one of the sections "+strings.Join(sections, ", "))
			continue
		case i <= last:
			c.problem(s.Name, "", "each section once, in the order "+strings.Join(sections, ", "))
		}
		last = max(last, i)
		c.section = s.Name
		c.base(s)
		switch {
		case s.Name == "backend" && len(s.Children) == 0:
			c.silent(s.Name, "no policy", "exactly one: without it nothing is forwarded")
		case s.Name == "backend" && len(s.Children) > 1:
			c.problem(s.Name, strconv.Itoa(len(s.Children))+" policies", "exactly one")
		}
		c.children(s, s.Name)
	}
	if backend := root.Child("backend"); c.doc.Scope == GlobalScope && backend != nil && !has(backend, "forward-request") {
		c.silent("backend", "", "<forward-request>: without it no API forwards anything, and callers get an empty 200")
	}
}

// base checks that outer scopes are neither lost nor asked for where there are
// none. A backend section has room for one policy only, so it may replace them.
func (c *checker) base(section *Node) {
	n := 0
	for _, child := range section.Children {
		if child.Name == "base" {
			n++
		}
	}
	switch {
	case c.doc.Scope == GlobalScope && n > 0:
		c.problem(section.Name+"/base", "", "no <base />: nothing is outside the global scope")
	case c.doc.Scope != GlobalScope && n > 1:
		c.problem(section.Name+"/base", strconv.Itoa(n), "<base /> once: outer policies would run twice")
	case c.doc.Scope != GlobalScope && n == 0 && section.Name != "backend":
		c.silent(section.Name, "", "<base />: without it the policies of outer scopes do not run")
	}
}

func has(n *Node, name string) bool {
	return slices.ContainsFunc(n.Children, func(c *Node) bool { return c.Name == name || has(c, name) })
}

// children checks what is inside an element, one after another.
func (c *checker) children(n *Node, path string) {
	seen := map[string]int{}
	for i, child := range n.Children {
		seen[child.Name]++
		at := path + "/" + child.Name
		if seen[child.Name] > 1 {
			at += "[" + strconv.Itoa(seen[child.Name]) + "]"
		}
		c.element(child, at)
		if child.Name == "return-response" && i+1 < len(n.Children) {
			c.silent(path+"/"+n.Children[i+1].Name, "", "nothing after <return-response>: it is never reached")
		}
	}
}

// element checks one policy, its expressions and what is inside.
func (c *checker) element(n *Node, at string) {
	for _, a := range n.Attrs {
		c.text(a.Value, at+"@"+a.Name)
	}
	c.text(n.Text, at)
	if allowed, known := allowedIn[n.Name]; known && c.section != "" && !slices.Contains(allowed, c.section) &&
		(n.Name != "authentication-managed-identity" || c.requests == 0) {
		c.problem(at, "section "+c.section, "section "+strings.Join(allowed, " or "))
	}
	if rule := rules[n.Name]; rule != nil {
		rule(c, n, at)
	}
	switch n.Name {
	case "retry":
		c.retries++
		defer func() { c.retries-- }()
	case "send-request":
		c.requests++
		defer func() { c.requests-- }()
	case "when", "otherwise": // of the branches of a choice only one runs
		outside := c.limits
		c.limits = maps.Clone(outside)
		defer func() { c.limits = outside }()
	}
	c.children(n, at)
}

// namedValue is a reference to a named value.
// https://learn.microsoft.com/azure/api-management/api-management-howto-properties
var namedValue = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// text checks the text of an attribute or element.
func (c *checker) text(s, at string) {
	for _, m := range namedValue.FindAllStringSubmatch(s, -1) {
		if c.doc.Declared != nil && !slices.Contains(c.doc.Declared.NamedValues, m[1]) {
			c.problem(at, m[0], "a named value that is declared")
		}
	}
	if !csharp.Is(s) {
		return
	}
	code, _, err := csharp.Code(s)
	if err != nil {
		c.problem(at, s, "an expression that ends where the text does")
		return
	}
	tokens, err := csharp.Lex(code)
	if err != nil {
		c.problem(at, "", "C#: "+err.Error())
		return
	}
	if open := unbalanced(tokens); open != "" {
		c.problem(at, open, "brackets that match")
	}
	for i, t := range tokens {
		if t.Kind != csharp.Name {
			continue
		}
		switch {
		case t.Text == "StatusReason":
			// https://github.com/Azure-Samples/AI-Gateway/issues/262
			c.silent(at, "StatusReason", "StatusCode: Azure changes the texts of reasons")
		case c.doc.Streams && t.Text == "Body" && i >= 2 && tokens[i-2].Text == "Response":
			c.silent(at, "context.Response.Body", "nothing that reads it: the whole answer would be held back until a stream ends")
		}
	}
}

// unbalanced is the first bracket without its other half, "" for none.
func unbalanced(tokens []csharp.Token) string {
	closes := map[string]string{")": "(", "]": "[", "}": "{"}
	var open []string
	for _, t := range tokens {
		if t.Kind != csharp.Sign {
			continue
		}
		switch t.Text {
		case "(", "[", "{":
			open = append(open, t.Text)
		case ")", "]", "}":
			if len(open) == 0 || open[len(open)-1] != closes[t.Text] {
				return t.Text
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return open[len(open)-1]
	}
	return ""
}
