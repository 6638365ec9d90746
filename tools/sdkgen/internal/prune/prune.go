// Package prune reduces a Pulumi package schema to what a program uses. Inputs
// are kept whole, so that argument types stay equal to the official ones;
// outputs are kept only where somebody reads them, because they are about half
// of the generated code.
package prune

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"

	"onedoor/tools/sdkgen/internal/wanted"
)

const typeRef = "#/types/"

// Prune returns the part of full that list needs. It reports every listed type
// and output that full lacks. full is not changed.
func Prune(full schema.PackageSpec, list []wanted.Resource) (schema.PackageSpec, error) {
	p := pruner{full: full, slim: full}
	p.slim.Resources = map[string]schema.ResourceSpec{}
	p.slim.Types = map[string]schema.ComplexTypeSpec{}
	p.slim.Functions = nil
	for _, r := range list {
		p.resource(r.Token(), r.Outputs)
	}
	p.namesakes()
	return p.slim, errors.Join(p.problems...)
}

type pruner struct {
	full, slim schema.PackageSpec
	problems   []error
}

// resource keeps a resource with all inputs and the outputs named.
func (p *pruner) resource(token string, outputs []string) {
	r, ok := p.full.Resources[token]
	if !ok {
		p.problems = append(p.problems, fmt.Errorf("%s: not in the schema, nearest is %s", token, nearest(token, p.full.Resources)))
		return
	}
	all := r.Properties
	r.Properties = map[string]schema.PropertySpec{}
	for _, name := range outputs {
		property, ok := all[name]
		if !ok {
			p.problems = append(p.problems, fmt.Errorf("%s: no output %q, nearest is %q", token, name, nearest(name, all)))
			continue
		}
		r.Properties[name] = property
	}
	r.Required = slices.DeleteFunc(slices.Clone(r.Required), func(name string) bool {
		return !slices.Contains(outputs, name)
	})
	p.slim.Resources[token] = r
	p.properties(r.InputProperties)
	p.properties(r.Properties)
}

// namesakes adds each resource that shares its token with a kept type. The Go
// generator renames such a type from X to XType, but only if it sees both.
func (p *pruner) namesakes() {
	for again := true; again; {
		again = false
		for _, token := range slices.Sorted(maps.Keys(p.slim.Types)) {
			_, exists := p.full.Resources[token]
			if _, kept := p.slim.Resources[token]; exists && !kept {
				p.resource(token, nil)
				again = true
			}
		}
	}
}

func (p *pruner) properties(m map[string]schema.PropertySpec) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		p.types(m[name].TypeSpec)
	}
}

// types keeps every object and enum type that t refers to.
func (p *pruner) types(t schema.TypeSpec) {
	if token, ok := strings.CutPrefix(t.Ref, typeRef); ok {
		p.typ(token)
	}
	if t.Items != nil {
		p.types(*t.Items)
	}
	if t.AdditionalProperties != nil {
		p.types(*t.AdditionalProperties)
	}
	for _, alternative := range t.OneOf {
		p.types(alternative)
	}
	if t.Discriminator != nil {
		for _, ref := range t.Discriminator.Mapping {
			p.types(schema.TypeSpec{Ref: ref})
		}
	}
}

func (p *pruner) typ(token string) {
	if _, done := p.slim.Types[token]; done {
		return
	}
	t, ok := p.full.Types[token]
	if !ok {
		p.problems = append(p.problems, fmt.Errorf("%s: the schema refers to this type but lacks it", token))
		return
	}
	p.slim.Types[token] = t
	p.properties(t.Properties)
}

// nearest returns the key of m that is most like name.
func nearest[V any](name string, m map[string]V) string {
	var (
		best  string
		least = -1
	)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if d := levenshtein.Distance(name, key, nil); least < 0 || d < least {
			best, least = key, d
		}
	}
	return best
}
