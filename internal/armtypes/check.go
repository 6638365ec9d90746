package armtypes

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CheckInputs checks a resource's Pulumi inputs: the body's properties, and the
// inputs that fill the id. It returns all problems, sorted by path; the paths
// have Pulumi's names. An input that is absent, null or Unknown is right,
// unless it is absent and required. Two sorts of inputs may be absent although
// ARM requires them: location, which azure-native takes from the resource
// group, and the resource's own name, which it makes up.
//
// Got of a problem may show a secret, unless Microsoft marks the property as
// sensitive: whoever unwrapped a secret knows its path.
func (r *Resource) CheckInputs(inputs map[string]any) []Problem {
	c := checker{names: pulumiNames, resource: r}
	c.inputs(r, inputs)
	return sorted(c.problems)
}

// Warnings lists the values of inputs that an enum does not name although it
// accepts others too. Such a value may be a mistake, or newer than the data.
func (r *Resource) Warnings(inputs map[string]any) []Problem {
	c := checker{names: pulumiNames, resource: r, warn: true}
	c.inputs(r, inputs)
	return sorted(slices.DeleteFunc(c.problems, func(p Problem) bool { return p.Code != NotListed }))
}

// CheckBody checks the ARM body of a request to create or update a resource. It
// returns all problems, sorted by path; the paths have ARM's names. Read-only
// properties are not looked at, so that what one has read can be written back:
// Azure ignores them too. id, name, type and apiVersion may be absent.
func (r *Resource) CheckBody(body map[string]any) []Problem {
	c := checker{names: armNames, resource: r}
	c.object(r.body, body)
	return sorted(c.problems)
}

// names says in which names a value is written.
type names int

const (
	pulumiNames names = iota
	armNames
)

// step is a part of a path: a name, or an index if the name is "".
type step struct {
	name  string
	index int
}

// checker walks a value and its type together.
type checker struct {
	names    names
	resource *Resource
	warn     bool // look at open enums too
	path     []step
	problems []Problem
}

func (c *checker) push(name string) { c.path = append(c.path, step{name: name}) }
func (c *checker) pop()             { c.path = c.path[:len(c.path)-1] }

// add records a problem at the current path.
func (c *checker) add(p Problem) {
	var b strings.Builder
	for _, s := range c.path {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	p.Path = b.String()
	c.problems = append(c.problems, p)
}

// inputs checks all inputs of a resource.
func (c *checker) inputs(r *Resource, inputs map[string]any) {
	for i, segment := range r.segments {
		name, isInput := input(segment)
		if !isInput || name == subscriptionSegment || inputs[name] == nil && name == r.NameInput() {
			continue
		}
		if _, unknown := inputs[name].(Unknown); !unknown {
			c.segment(r, name, inputs[name], i == 0)
		}
	}
	c.object(r.body, inputs)
}

// object checks a value of an object type.
func (c *checker) object(o *object, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		c.add(Problem{Code: WrongType, Got: describe(v), Want: "an object"})
		return
	}
	if o.discriminator != "" {
		if o = c.variant(o, m); o == nil {
			return
		}
	}
	o.prepare()
	if c.names == pulumiNames {
		c.fields(o, m)
	} else {
		c.props(o, m)
	}
}

// variant chooses the type of a discriminated value, nil if that cannot be done.
func (c *checker) variant(o *object, m map[string]any) *object {
	name := o.discriminator
	if c.names == pulumiNames {
		name = o.discriminatorIn()
	}
	value := m[name]
	if v, ok := o.variant(value); ok {
		return v
	}
	c.push(name)
	defer c.pop()
	want := o.variantNames()
	switch s, isString := value.(string); {
	case value == (Unknown{}):
	case value == nil:
		c.add(Problem{Code: MissingProperty, Want: oneOf(want)})
	case !isString:
		c.add(Problem{Code: WrongType, Got: describe(value), Want: "a string"})
	default:
		c.add(Problem{Code: NotAllowed, Got: show(s), Want: oneOf(want), Nearest: nearest(s, want)})
	}
	return nil
}

// fields checks an object in Pulumi's names.
func (c *checker) fields(o *object, m map[string]any) {
	for name, v := range m {
		f := o.fields[name]
		if f == nil && o.root && (c.resource.path[name] || c.resource.query[name]) {
			continue
		}
		c.push(name)
		switch {
		case f == nil && o.additional != nil:
			c.value(o.additional, v)
		case f == nil:
			c.add(unknownProperty(name, c.knownInputs(o)))
		case o.root && c.resource.path[name]: // the id's part is checked already
		case f.access != sent:
			c.notSent(o, name, f)
		case f.keyed:
			c.keys(v)
		default:
			c.value(f.prop.typ, v)
		}
		c.pop()
	}
	for _, name := range o.requiredIn {
		if m[name] == nil {
			c.missing(name, o.fields[name].prop.typ)
		}
	}
}

// notSent reports an input that is an output, not one that is merely dropped.
func (c *checker) notSent(o *object, name string, f *field) {
	switch {
	case f.access == dropped:
	case o.root && name == "name" && c.resource.NameInput() != "":
		c.add(Problem{Code: UnknownProperty, Nearest: c.resource.NameInput()})
	default:
		c.add(Problem{Code: ReadOnly, Want: "it left out, because it is an output"})
	}
}

// knownInputs returns the sorted names that an input of an object can have.
func (c *checker) knownInputs(o *object) []string {
	var known []string
	for name, f := range o.fields {
		if f.access == sent {
			known = append(known, name)
		}
	}
	if o.root {
		known = slices.AppendSeq(known, maps.Keys(c.resource.path))
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// props checks an object in ARM's names.
func (c *checker) props(o *object, m map[string]any) {
	for name, v := range m {
		p := o.props[name]
		c.push(name)
		switch {
		case p == nil && o.additional != nil:
			c.value(o.additional, v)
		case p == nil:
			c.add(unknownProperty(name, slices.Sorted(maps.Keys(o.props))))
		case !p.readOnly:
			c.value(p.typ, v)
		}
		c.pop()
	}
	for _, name := range o.required {
		if m[name] == nil {
			c.missing(name, o.props[name].typ)
		}
	}
}

func (c *checker) missing(name string, t *typ) {
	c.push(name)
	c.add(Problem{Code: MissingProperty, Want: t.want()})
	c.pop()
}

// keys checks an array that ARM takes as the keys of a map.
func (c *checker) keys(v any) {
	switch v := v.(type) {
	case nil, Unknown:
	case []any:
		for i, e := range v {
			switch e.(type) {
			case string, Unknown:
			default:
				c.path = append(c.path, step{index: i})
				c.add(Problem{Code: WrongType, Got: describe(e), Want: "a string"})
				c.pop()
			}
		}
	default:
		c.add(Problem{Code: WrongType, Got: describe(v), Want: "an array of strings"})
	}
}

// value checks any value.
func (c *checker) value(t *typ, v any) {
	switch v.(type) {
	case nil, Unknown:
		return
	}
	switch t.kind {
	case kindObject:
		c.object(t.object, v)
	case kindMap:
		c.mapping(t, v)
	case kindArray:
		c.array(t, v)
	case kindString, kindEnum:
		if s, ok := v.(string); ok {
			c.text(t, s)
		} else {
			c.add(Problem{Code: WrongType, Got: describe(v), Want: t.want()})
		}
	case kindInt, kindNumber:
		c.number(t, v)
	case kindBool:
		if _, ok := v.(bool); !ok {
			c.add(Problem{Code: WrongType, Got: describe(v), Want: t.want()})
		}
	}
}

func (c *checker) mapping(t *typ, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		c.add(Problem{Code: WrongType, Got: describe(v), Want: t.want()})
		return
	}
	for key, e := range m {
		c.push(key)
		c.value(t.elem, e)
		c.pop()
	}
}

func (c *checker) array(t *typ, v any) {
	a, ok := v.([]any)
	if !ok {
		c.add(Problem{Code: WrongType, Got: describe(v), Want: t.want()})
		return
	}
	c.length(t, len(a), "element")
	for i, e := range a {
		c.path = append(c.path, step{index: i})
		c.value(t.elem, e)
		c.pop()
	}
}

func (c *checker) text(t *typ, s string) {
	if t.kind == kindEnum {
		if slices.Contains(t.values, s) || t.open && !c.warn {
			return
		}
		p := Problem{Code: NotAllowed, Got: show(s), Want: oneOf(t.values), Nearest: nearest(s, t.values)}
		if t.open {
			p.Code = NotListed
		}
		c.add(p)
		return
	}
	c.length(t, utf8.RuneCountInString(s), "character")
	if t.pattern != nil && !t.pattern.MatchString(s) {
		got := show(s)
		if t.sensitive {
			got = "[secret]"
		}
		c.add(Problem{Code: PatternMismatch, Got: got, Want: "a match of " + t.pattern.String()})
	}
}

func (c *checker) length(t *typ, n int, unit string) {
	switch {
	case t.minLength != nil && int64(n) < *t.minLength:
		c.add(Problem{Code: TooShort, Got: count(int64(n), unit), Want: "at least " + count(*t.minLength, unit)})
	case t.maxLength != nil && int64(n) > *t.maxLength:
		c.add(Problem{Code: TooLong, Got: count(int64(n), unit), Want: "at most " + count(*t.maxLength, unit)})
	}
}

func count(n int64, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

func (c *checker) number(t *typ, v any) {
	n, ok := v.(float64)
	switch {
	case !ok:
		c.add(Problem{Code: WrongType, Got: describe(v), Want: t.want()})
	case t.kind == kindInt && n != math.Trunc(n) || math.IsNaN(n) || math.IsInf(n, 0):
		c.add(Problem{Code: WrongType, Got: strconv.FormatFloat(n, 'g', -1, 64), Want: t.want()})
	case t.min != nil && n < float64(*t.min), t.max != nil && n > float64(*t.max):
		c.add(Problem{Code: OutOfRange, Got: strconv.FormatFloat(n, 'f', -1, 64), Want: t.bounds()})
	}
}

// bounds writes the range of a number.
func (t *typ) bounds() string {
	switch {
	case t.min == nil:
		return fmt.Sprintf("at most %d", *t.max)
	case t.max == nil:
		return fmt.Sprintf("at least %d", *t.min)
	default:
		return fmt.Sprintf("%d..%d", *t.min, *t.max)
	}
}

// want names a type for a message.
func (t *typ) want() string {
	switch t.kind {
	case kindObject:
		return "an object"
	case kindMap:
		return "an object of any keys"
	case kindArray:
		return "an array"
	case kindString:
		return "a string"
	case kindInt:
		return "a whole number"
	case kindNumber:
		return "a number"
	case kindBool:
		return "true or false"
	case kindEnum:
		if t.open {
			return "a string, usually " + oneOf(t.values)
		}
		return oneOf(t.values)
	default:
		return "a value"
	}
}
