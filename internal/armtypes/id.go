package armtypes

import (
	"slices"
	"strings"
)

// ID fills the id template from a resource's inputs. The id is "" if there are
// problems, and also, without problems, if an input it needs is Unknown.
func (r *Resource) ID(inputs map[string]any, subscriptionID string) (string, []Problem) {
	c := checker{names: pulumiNames}
	var (
		b       strings.Builder
		unknown bool
	)
	for i, segment := range r.segments {
		name, isInput := input(segment)
		value := segment
		switch {
		case !isInput:
		case name == subscriptionSegment:
			value = c.segment(r, name, subscriptionID, false)
		default:
			if _, ok := inputs[name].(Unknown); ok {
				unknown = true
				continue
			}
			value = c.segment(r, name, inputs[name], i == 0)
		}
		b.WriteString("/" + value)
	}
	switch {
	case len(c.problems) > 0:
		return "", sorted(c.problems)
	case unknown:
		return "", nil
	}
	return b.String(), nil
}

// segment checks the input that fills a segment of the id. A scope is an id and
// may hold slashes.
func (c *checker) segment(r *Resource, name string, value any, scope bool) string {
	c.push(name)
	defer c.pop()
	s, isString := value.(string)
	trimmed := strings.Trim(s, "/")
	switch {
	case value == nil:
		c.add(Problem{Code: MissingProperty, Want: "a string, part of the resource's id"})
	case !isString:
		c.add(Problem{Code: WrongType, Got: describe(value), Want: "a string"})
	case s == "":
		c.add(Problem{Code: TooShort, Got: "an empty string", Want: "at least 1 character"})
	case scope:
		return trimmed
	case strings.Contains(s, "/"):
		c.add(Problem{Code: PatternMismatch, Got: show(s), Want: "a name without slash"})
	case strings.Contains(r.ARMType, "{"+name+"}"):
		c.oneOfTypes(r, s)
	case name == r.NameInput():
		if p := r.body.props["name"]; p != nil {
			c.value(p.typ, s)
		}
	}
	return s
}

// oneOfTypes checks a segment that chooses the ARM type, as a DNS record's does.
func (c *checker) oneOfTypes(r *Resource, s string) {
	t := &typ{kind: kindEnum}
	for _, armType := range r.armTypes() {
		t.values = append(t.values, armType[strings.LastIndex(armType, "/")+1:])
	}
	c.value(t, s)
}

// ParseID takes the inputs that fill the template out of an id, in the id's
// spelling. ok is false if the id is not one of this type.
func (r *Resource) ParseID(id string) (inputs map[string]string, ok bool) {
	got, want := splitPath(id), r.segments
	inputs = map[string]string{}
	if name, isInput := input(want[0]); isInput { // a scope takes whatever is left over
		n := len(got) - (len(want) - 1)
		if n < 0 {
			return nil, false
		}
		inputs[name] = "/" + strings.Join(got[:n], "/")
		got, want = got[n:], want[1:]
	}
	if len(got) != len(want) {
		return nil, false
	}
	for i, segment := range want {
		switch name, isInput := input(segment); {
		case !isInput && !strings.EqualFold(segment, got[i]):
			return nil, false
		case isInput && name != subscriptionSegment:
			inputs[name] = got[i]
		}
	}
	return inputs, true
}

// ParentID returns the id of the nearest enclosing resource, in the spelling of
// id: the virtual network of a subnet, the resource group of a virtual network,
// the scope of a role assignment. A parent whose name the id template spells
// out (blobServices/default) comes with its own parent, and is passed over. ok
// is false if the parent is a subscription or above, or id is no id.
func (r *Resource) ParentID(id string) (parent string, ok bool) {
	parsed, ok := parseID(id)
	if !ok || parsed.provider == "" {
		return "", false
	}
	fixed := func(i int) bool { // whether the template spells out the i-th name from the end
		at := len(r.segments) - 1 - 2*i
		if at < 0 {
			return false
		}
		_, isInput := input(r.segments[at])
		return !isInput
	}
	n := len(parsed.names) - 1
	for i := 1; n > 0 && fixed(i); i++ {
		n--
	}
	if n > 0 {
		keep := parsed.names[:n]
		segments := append(slices.Clone(parsed.scope), "providers", parsed.provider)
		for i := range keep {
			segments = append(segments, parsed.types[i], keep[i])
		}
		return "/" + strings.Join(segments, "/"), true
	}
	if s := parsed.scope; len(s) > 2 && (strings.EqualFold(s[2], "resourceGroups") || slices.ContainsFunc(s, isProviders)) {
		return "/" + strings.Join(s, "/"), true
	}
	return "", false
}

// parsedID is an ARM id: scope, provider, and pairs of type and name.
type parsedID struct {
	scope    []string // segments before the last "providers"
	provider string   // "Microsoft.Network"; "" of a resource group
	types    []string
	names    []string
}

func (p parsedID) armType() string {
	if p.provider == "" {
		return "Microsoft.Resources/resourceGroups"
	}
	return p.provider + "/" + strings.Join(p.types, "/")
}

func parseID(id string) (parsedID, bool) {
	s := splitPath(id)
	if !strings.HasPrefix(id, "/") || slices.Contains(s, "") {
		return parsedID{}, false
	}
	at := -1
	for i, segment := range s {
		if isProviders(segment) {
			at = i
		}
	}
	if at < 0 {
		group := len(s) == 4 && strings.EqualFold(s[0], "subscriptions") && strings.EqualFold(s[2], "resourceGroups")
		return parsedID{scope: s, types: []string{"resourceGroups"}}, group
	}
	p := parsedID{scope: s[:at]}
	rest := s[at+1:]
	if len(rest) < 3 || len(rest)%2 == 0 {
		return parsedID{}, false
	}
	p.provider = rest[0]
	for i := 1; i < len(rest); i += 2 {
		p.types = append(p.types, rest[i])
		p.names = append(p.names, rest[i+1])
	}
	return p, true
}

func isProviders(segment string) bool { return strings.EqualFold(segment, "providers") }

// splitPath cuts a path at its slashes, without the ones at its ends.
func splitPath(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }
