package replay

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"go.yaml.in/yaml/v3"

	"onedoor/internal/engine"
)

// Mutation is one change of a recorded stack.
type Mutation struct {
	// Configure replaces what the configuration of a pack says of rules, by rule:
	// rules about the configuration cannot be broken otherwise.
	Configure map[string]map[string]any `yaml:"configure"`

	Add    []Addition `yaml:"add"`
	Change []Change   `yaml:"change"`
	Remove []Selector `yaml:"remove"`
}

// Edit changes inputs. Paths are property paths of Pulumi: a.b[0]["c.d"]. A value
// may be [unknown] or [secret].
type Edit struct {
	Set  map[string]any `yaml:"set"`
	Drop []string       `yaml:"drop"`
	// Replace replaces pieces of a text, in order; each must be in it.
	Replace map[string][]Piece `yaml:"replace"`
	// From says which resources the value of an input comes from, as the engine
	// tracks it; an empty list says from none.
	From map[string][]Selector `yaml:"from"`
}

// Piece is a piece of a text, with what takes its place.
type Piece struct{ Old, New string }

// Change edits every resource that it selects.
type Change struct {
	Selector `yaml:",inline"`
	Edit     `yaml:",inline"`
}

// Addition adds a resource: one that looks like a recorded one, or one of its own.
type Addition struct {
	Name string `yaml:"name"`
	// Like is the resource that is copied before the edit; it must be one.
	Like Selector `yaml:"like"`
	// Type is the token with its version; "" is that of Like.
	Type string `yaml:"type"`
	Edit `yaml:",inline"`
}

// ReadMutation reads a file of one mutation.
func ReadMutation(file string) (Mutation, error) {
	var m Mutation
	raw, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(&m); err != nil {
		return m, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// Mutate returns the stack after the mutation; s stays as it is. Additions come
// first, so that they can be like what is removed.
func (s Stack) Mutate(m Mutation) (Stack, error) {
	out := Stack{s.Name, slices.Clone(s.Resources)}
	for _, a := range m.Add {
		if err := out.add(a); err != nil {
			return out, fmt.Errorf("add %s: %w", a.Name, err)
		}
	}
	for _, c := range m.Change {
		selected, err := out.Select(c.Selector)
		if err != nil {
			return out, fmt.Errorf("change: %w", err)
		}
		for _, i := range selected {
			if out.Resources[i], err = out.edited(out.Resources[i], c.Edit); err != nil {
				return out, fmt.Errorf("change %s: %w", out.Resources[i].Name, err)
			}
		}
	}
	for _, by := range m.Remove {
		selected, err := out.Select(by)
		if err != nil {
			return out, fmt.Errorf("remove: %w", err)
		}
		for _, i := range slices.Backward(selected) {
			out.Resources = slices.Delete(out.Resources, i, i+1)
		}
	}
	return out, nil
}

// add adds a resource, below the stack where it is like no other.
func (s *Stack) add(a Addition) error {
	var made engine.Resource
	if a.Like != (Selector{}) {
		selected, err := s.Select(a.Like)
		if err != nil {
			return err
		}
		if len(selected) > 1 {
			return fmt.Errorf("like %s: %d resources, want one", a.Like, len(selected))
		}
		made = s.Resources[selected[0]]
	}
	made.Name = a.Name
	if a.Type != "" {
		made.Type = a.Type
	}
	if made.Provider == "" {
		pkg, _, _ := strings.Cut(made.Type, ":")
		i := slices.IndexFunc(s.Resources, func(r engine.Resource) bool { return r.Type == providerType+pkg })
		if i < 0 {
			return fmt.Errorf("type %s: the recorded stack has no provider of %s", made.Type, pkg)
		}
		made.Provider = s.Resources[i].URN
	}
	made.URN = urn(s.Name, made)
	if slices.ContainsFunc(s.Resources, func(r engine.Resource) bool { return r.URN == made.URN }) {
		return fmt.Errorf("%s is in the recorded stack already", made.URN)
	}
	made, err := s.edited(made, a.Edit)
	if err != nil {
		return err
	}
	s.Resources = append(s.Resources, made)
	return nil
}

// urn is the URN that the engine will give: the types of the parents before the
// resource's own.
func urn(stack string, r engine.Resource) string {
	types := r.Type
	if parent := resource.URN(r.Parent); r.Parent != "" && parent.QualifiedType() != "pulumi:pulumi:Stack" {
		types = string(parent.QualifiedType()) + "$" + r.Type
	}
	return fmt.Sprintf("urn:pulumi:%s::onedoor::%s::%s", stack, types, r.Name)
}

// edited is a copy of r with other inputs.
func (s *Stack) edited(r engine.Resource, e Edit) (engine.Resource, error) {
	inputs := resource.NewProperty(resource.NewPropertyMapFromMap(r.Inputs)) // a deep copy
	for _, text := range slices.Sorted(maps.Keys(e.Set)) {
		at, err := resource.ParsePropertyPath(text)
		if err != nil {
			return r, fmt.Errorf("path %s: %w", text, err)
		}
		var ok bool
		if inputs, ok = at.Add(inputs, resource.NewPropertyValue(e.Set[text])); !ok {
			return r, fmt.Errorf("path %s: leads through a value that is no object or list", text)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(e.Replace)) {
		at, err := resource.ParsePropertyPath(text)
		if err != nil {
			return r, fmt.Errorf("path %s: %w", text, err)
		}
		was, ok := at.Get(inputs)
		if !ok || !was.IsString() {
			return r, fmt.Errorf("path %s: no text is there", text)
		}
		value := was.StringValue()
		for _, piece := range e.Replace[text] {
			if !strings.Contains(value, piece.Old) {
				return r, fmt.Errorf("path %s: %q is no part of it", text, piece.Old)
			}
			value = strings.ReplaceAll(value, piece.Old, piece.New)
		}
		at.Set(inputs, resource.NewProperty(value))
	}
	for _, text := range e.Drop {
		at, err := resource.ParsePropertyPath(text)
		if err != nil {
			return r, fmt.Errorf("path %s: %w", text, err)
		}
		if _, there := at.Get(inputs); !there || !at.Delete(inputs) {
			return r, fmt.Errorf("path %s: nothing is there", text)
		}
	}
	r.Inputs = inputs.ObjectValue().Mappable()
	r.PropertyDependencies = maps.Clone(r.PropertyDependencies)
	for _, input := range slices.Sorted(maps.Keys(e.From)) {
		delete(r.PropertyDependencies, input)
		for _, by := range e.From[input] {
			selected, err := s.Select(by)
			if err != nil {
				return r, fmt.Errorf("from %s: %w", input, err)
			}
			for _, i := range selected {
				if r.PropertyDependencies == nil {
					r.PropertyDependencies = map[string][]string{}
				}
				r.PropertyDependencies[input] = append(r.PropertyDependencies[input], s.Resources[i].URN)
			}
		}
		r.Dependencies = nil // what remains is what inputs come from
	}
	return r, nil
}
