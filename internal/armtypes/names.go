package armtypes

import (
	"maps"
	"slices"
	"strings"
)

const bagName = "properties"

// prepare computes what the checks and conversions need of an object, once.
//
// The naming rule: a Pulumi object is the ARM object with its "properties"
// object flattened into it, at every level. Where both have a name, the outer
// one wins, unless only Azure sets it and the inner one can be set (the type of
// an AKS agent pool). names.json lists the renamed properties and the objects
// that keep "properties".
func (o *object) prepare() {
	o.once.Do(func() {
		o.fields = o.own()
		if bag := o.bag(); bag != nil {
			delete(o.fields, bagName)
			for name, inner := range bag.own() {
				outer, taken := o.fields[name]
				if taken && !(outer.prop.readOnly && !inner.prop.readOnly) {
					continue
				}
				inner.path = append([]string{bagName}, inner.path...)
				o.fields[name] = inner
			}
		}
		if f := o.fields["apiVersion"]; o.root && f != nil && len(f.path) == 1 {
			delete(o.fields, "apiVersion") // a parameter of the request, except in APIM, where the bag has one too
		}
		for name, f := range o.fields {
			f.access = o.accessTo(name, f)
		}
		for name, p := range o.props {
			if p.required && !p.readOnly && !(o.root && isIdentity(name)) {
				o.required = append(o.required, name)
			}
		}
		for name, f := range o.fields {
			// A resource without a location gets its group's from the provider.
			if f.prop.required && f.access == sent && !(o.root && len(f.path) == 1 && (isIdentity(name) || name == "location")) {
				o.requiredIn = append(o.requiredIn, name)
			}
		}
		slices.Sort(o.required)
		slices.Sort(o.requiredIn)
	})
}

// accessTo decides what comes of a field among the inputs.
func (o *object) accessTo(name string, f *field) access {
	switch {
	case o.root && len(f.path) == 1 && isIdentity(name):
		if !slices.Contains(o.identity, name) {
			return refused
		}
		if f.prop.readOnly {
			return dropped
		}
		return sent
	case f.prop.readOnly, slices.Contains(o.output, name):
		return refused
	default:
		return sent
	}
}

// isIdentity reports whether a property of a resource's body is part of its id.
func isIdentity(name string) bool {
	return name == "id" || name == "name" || name == "type" || name == "apiVersion"
}

// own returns an object's properties by Pulumi name, without flattening.
func (o *object) own() map[string]*field {
	fields := map[string]*field{}
	renamed := map[string]bool{}
	for name, path := range o.rename {
		parts := strings.Split(path, "/")
		if p := o.find(parts); p != nil {
			fields[name] = &field{path: parts, prop: p, keyed: slices.Contains(o.keyed, path)}
			renamed[parts[0]] = true
		}
	}
	for name, p := range o.props {
		if !renamed[name] {
			fields[name] = &field{path: []string{name}, prop: p, keyed: slices.Contains(o.keyed, name)}
		}
	}
	return fields
}

// find returns the property at a path.
func (o *object) find(path []string) *prop {
	p := o.props[path[0]]
	for _, name := range path[1:] {
		if p == nil || p.typ.object == nil {
			return nil
		}
		p = p.typ.object.props[name]
	}
	return p
}

// bag returns the "properties" object that Pulumi flattens, nil if there is none.
func (o *object) bag() *object {
	p := o.props[bagName]
	if p == nil || o.nested || p.typ.object == nil || len(p.typ.object.props) == 0 {
		return nil
	}
	return p.typ.object
}

// variant returns the type that applies to a value of a discriminated type, by
// the value of the discriminator. It is o itself if o is not discriminated.
func (o *object) variant(discriminator any) (*object, bool) {
	if o.discriminator == "" {
		return o, true
	}
	s, ok := discriminator.(string)
	if !ok {
		return nil, false
	}
	v, ok := o.variants[s]
	return v, ok
}

// discriminatorIn returns Pulumi's name of the discriminator.
func (o *object) discriminatorIn() string {
	for name, arm := range o.rename {
		if arm == o.discriminator {
			return name
		}
	}
	return o.discriminator
}

func (o *object) variantNames() []string { return slices.Sorted(maps.Keys(o.variants)) }
