package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/engine"
)

const (
	providerType = "pulumi:providers:"
	stackType    = "pulumi:pulumi:Stack"
)

// Program declares the resources of the stack: types, names, parents, providers,
// inputs and what they come from. Options that are no part of a record are left out.
func (s Stack) Program() pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		p := program{ctx: ctx, planned: map[string]engine.Resource{}, made: map[string]pulumi.Resource{}}
		for _, r := range s.Resources {
			p.planned[r.URN] = r
		}
		for _, urn := range slices.Sorted(maps.Keys(p.planned)) {
			if _, err := p.resource(urn); err != nil {
				return err
			}
		}
		return nil
	}
}

type program struct {
	ctx     *pulumi.Context
	planned map[string]engine.Resource // by URN
	made    map[string]pulumi.Resource // by URN; nil for what the engine declares itself
}

// resource declares a resource after everything that it needs.
func (p *program) resource(urn string) (pulumi.Resource, error) {
	if made, done := p.made[urn]; done {
		return made, nil
	}
	p.made[urn] = nil
	r, planned := p.planned[urn]
	if !planned || r.Type == stackType || isDefault(r) {
		return nil, nil
	}
	options, err := p.options(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	inputs, err := p.inputs(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	var made pulumi.Resource
	switch {
	case strings.HasPrefix(r.Type, providerType):
		provider := &struct{ pulumi.ProviderResourceState }{}
		made, err = provider, p.ctx.RegisterResource(r.Type, r.Name, inputs, provider, options...)
	case r.Provider == "":
		component := &struct{ pulumi.ResourceState }{}
		made, err = component, p.ctx.RegisterComponentResource(r.Type, r.Name, component, options...)
	default:
		custom := &struct{ pulumi.CustomResourceState }{}
		made, err = custom, p.ctx.RegisterResource(r.Type, r.Name, inputs, custom, options...)
	}
	p.made[urn] = made
	return made, err
}

// isDefault tells whether r is a provider that the engine declares by itself.
func isDefault(r engine.Resource) bool {
	return strings.HasPrefix(r.Type, providerType) && strings.HasPrefix(r.Name, "default_")
}

func (p *program) options(r engine.Resource) ([]pulumi.ResourceOption, error) {
	var options []pulumi.ResourceOption
	parent, err := p.resource(r.Parent)
	if err != nil {
		return nil, err
	}
	if parent != nil {
		options = append(options, pulumi.Parent(parent))
	}
	var provided []string // through inputs
	for _, urns := range r.PropertyDependencies {
		provided = append(provided, urns...)
	}
	after, err := p.all(slices.DeleteFunc(slices.Clone(r.Dependencies), func(urn string) bool { return slices.Contains(provided, urn) }))
	if err != nil {
		return nil, err
	}
	if len(after) > 0 {
		options = append(options, pulumi.DependsOn(after))
	}
	version := r.Inputs["version"]
	if r.Provider != "" {
		provider, err := p.resource(r.Provider)
		if err != nil {
			return nil, err
		}
		if provider, explicit := provider.(pulumi.ProviderResource); explicit {
			return append(options, pulumi.Provider(provider)), nil
		}
		version = p.planned[r.Provider].Inputs["version"]
	} else if !strings.HasPrefix(r.Type, providerType) {
		return options, nil
	}
	text, _ := version.(string)
	return append(options, pulumi.Version(text)), nil
}

// all are the resources with these URNs, without those that a mutation removed.
func (p *program) all(urns []string) ([]pulumi.Resource, error) {
	var out []pulumi.Resource
	for _, urn := range urns {
		if _, planned := p.planned[urn]; !planned {
			continue
		}
		made, err := p.resource(urn)
		if err != nil {
			return nil, err
		}
		if made != nil {
			out = append(out, made)
		}
	}
	return out, nil
}

// inputs are the recorded ones, each with the resources that it comes from.
func (p *program) inputs(r engine.Resource) (pulumi.Map, error) {
	out := pulumi.Map{}
	for name, v := range r.Inputs {
		if strings.HasPrefix(r.Type, providerType) && (name == "version" || name == "__internal") {
			continue // the engine's own
		}
		from, err := p.all(r.PropertyDependencies[name])
		if err != nil {
			return nil, err
		}
		unknown := false
		in := input(v, from, &unknown)
		if len(from) > 0 && !unknown {
			in = pulumi.OutputWithDependencies(p.ctx.Context(), pulumi.ToOutput(in), from...)
		}
		out[name] = in
	}
	return out, nil
}

// input is a recorded value; what is unknown in it comes from some resources.
func input(v any, from []pulumi.Resource, unknown *bool) pulumi.Input {
	switch v := v.(type) {
	case string:
		switch v {
		case engine.Unknown:
			*unknown = true
			return pulumi.UnsafeUnknownOutput(from)
		case engine.Secret:
			*unknown = true // a record does not say what shape it has
			return pulumi.ToSecret(pulumi.UnsafeUnknownOutput(from))
		}
		return pulumi.String(v)
	case bool:
		return pulumi.Bool(v)
	case float64:
		return pulumi.Float64(v)
	case []any:
		out := make(pulumi.Array, len(v))
		for i, e := range v {
			out[i] = input(e, from, unknown)
		}
		return out
	case map[string]any:
		out := pulumi.Map{}
		for k, e := range v {
			out[k] = input(e, from, unknown)
		}
		return out
	default:
		return nil // null is what is absent
	}
}
