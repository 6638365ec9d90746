package armtypes

import "maps"

// Body converts Pulumi inputs to the body of an ARM request. Inputs that fill
// the id, that are parameters of the request or that azure-native drops are left
// out. So are those without a place in the body: they are the problems, which
// CheckInputs finds too. The body shares no memory with the inputs.
func (r *Resource) Body(inputs map[string]any) (map[string]any, []Problem) {
	c := checker{names: pulumiNames, resource: r}
	rest := maps.Clone(inputs)
	for name := range inputs {
		if r.path[name] || r.query[name] {
			delete(rest, name)
		}
	}
	body := c.toARM(r.body, rest)
	return body, sorted(c.problems)
}

// toARM converts an object to ARM's names.
func (c *checker) toARM(o *object, m map[string]any) map[string]any {
	o.prepare()
	out := map[string]any{}
	for name, v := range m {
		f := o.fields[name]
		if v == nil {
			continue
		}
		c.push(name)
		switch {
		case f == nil && o.additional != nil:
			out[name] = c.valueToARM(o.additional, v)
		case f == nil:
			c.add(unknownProperty(name, c.knownInputs(o)))
		case f.access != sent:
			c.notSent(o, name, f)
		case f.keyed:
			put(out, f.path, keysToMap(v))
		default:
			put(out, f.path, c.valueToARM(f.prop.typ, v))
		}
		c.pop()
	}
	return out
}

func (c *checker) valueToARM(t *typ, v any) any {
	switch v := v.(type) {
	case map[string]any:
		switch t.kind {
		case kindObject:
			return c.toARM(t.object, v)
		case kindMap:
			return each(v, func(key string, e any) any {
				c.push(key)
				defer c.pop()
				return c.valueToARM(t.elem, e)
			})
		}
	case []any:
		if t.kind == kindArray {
			out := make([]any, len(v))
			for i, e := range v {
				c.path = append(c.path, step{index: i})
				out[i] = c.valueToARM(t.elem, e)
				c.pop()
			}
			return out
		}
	}
	return clone(v)
}

// keysToMap converts an array of ids to the map that ARM wants. An array with
// an Unknown element is Unknown as a whole, because a key cannot be.
func keysToMap(v any) any {
	ids, ok := v.([]any)
	if !ok {
		return clone(v)
	}
	out := map[string]any{}
	for _, e := range ids {
		switch e := e.(type) {
		case string:
			out[e] = map[string]any{}
		case Unknown:
			return Unknown{}
		}
	}
	return out
}

// Outputs converts an ARM body, as Azure answers it, to Pulumi outputs.
// Properties that the type does not have are left out, as azure-native does it.
// A map that is an array of its keys among the inputs is a map here. The outputs
// share no memory with the body.
func (r *Resource) Outputs(body map[string]any) map[string]any {
	return toPulumi(r.body, body)
}

func toPulumi(o *object, m map[string]any) map[string]any {
	o.prepare()
	out := map[string]any{}
	for name, f := range o.fields {
		if v, ok := get(m, f.path); ok {
			out[name] = valueToPulumi(f.prop.typ, v)
		}
	}
	if o.additional != nil {
		for name, v := range m {
			if o.props[name] == nil {
				out[name] = valueToPulumi(o.additional, v)
			}
		}
	}
	return out
}

func valueToPulumi(t *typ, v any) any {
	switch v := v.(type) {
	case map[string]any:
		switch t.kind {
		case kindObject:
			return toPulumi(t.object, v)
		case kindMap:
			return each(v, func(_ string, e any) any { return valueToPulumi(t.elem, e) })
		}
	case []any:
		if t.kind == kindArray {
			out := make([]any, len(v))
			for i, e := range v {
				out[i] = valueToPulumi(t.elem, e)
			}
			return out
		}
	}
	return clone(v)
}

// get returns the value at a path. Below an Unknown everything is Unknown.
func get(m map[string]any, path []string) (any, bool) {
	var v any = m
	for _, name := range path {
		if _, unknown := v.(Unknown); unknown {
			return v, true
		}
		inner, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = inner[name]; !ok {
			return nil, false
		}
	}
	return v, true
}

// put sets the value at a path, and makes the objects on the way.
func put(m map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		inner, ok := m[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			m[name] = inner
		}
		m = inner
	}
	m[path[len(path)-1]] = v
}

func each(m map[string]any, convert func(key string, v any) any) map[string]any {
	out := make(map[string]any, len(m))
	for key, v := range m {
		out[key] = convert(key, v)
	}
	return out
}

// clone copies a JSON value.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return each(v, func(_ string, e any) any { return clone(e) })
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	default:
		return v
	}
}
