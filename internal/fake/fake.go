// Package fake runs a Pulumi program against recorded registrations instead of
// an engine, in preview or in update mode, so that a component can be tested
// for what it declares.
package fake

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/urn"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"
)

// Mode is how a program is run.
type Mode string

// The modes. In a preview no id is known.
const (
	Preview Mode = "preview"
	Update  Mode = "update"
)

// Modes are all modes, for tests that hold in each.
var Modes = []Mode{Preview, Update}

// Plan is what a program registered.
type Plan struct {
	Resources []Resource // sorted by name, then type
	Calls     []Call     // functions that were called
}

// Call is one call of a provider's function.
type Call struct {
	Token string
	Args  resource.PropertyMap
}

// Resource is one registration.
type Resource struct {
	Type      string
	Name      string // logical name
	Parent    string // logical name, "" for the stack
	Custom    bool   // false for components
	Protect   bool
	DependsOn []string // logical names, sorted
	Options   Options
	Inputs    resource.PropertyMap // unknown and secret values are kept as such
}

// Options are resource options that no input shows.
type Options struct {
	ReplaceOn   []string // inputs whose change replaces the resource
	ReplaceWith []string // logical names whose replacement replaces it too
	Ignore      []string // inputs that others own
	DeletedWith string   // logical name whose deletion takes it along
}

// Run runs program and returns what it registered. It fails the test when the
// program fails.
func Run(t *testing.T, mode Mode, program pulumi.RunFunc) *Plan {
	t.Helper()
	plan, err := Try(mode, program)
	require.NoError(t, err)
	return plan
}

// Try is Run for programs that are expected to fail.
func Try(mode Mode, program pulumi.RunFunc) (*Plan, error) {
	m := &monitor{mode: mode}
	err := pulumi.RunErr(program, pulumi.WithMocks("onedoor", "test", m), func(info *pulumi.RunInfo) { info.DryRun = mode == Preview })
	slices.SortFunc(m.plan.Resources, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type))
	})
	return &m.plan, err
}

// Get is the resource with that logical name; the main child of a component,
// which shares its name, comes before the component. It fails the test when
// there is none.
func (p *Plan) Get(t *testing.T, name string) Resource {
	t.Helper()
	i := slices.IndexFunc(p.Resources, func(r Resource) bool { return r.Name == name })
	require.NotEqual(t, -1, i, "no resource %q among %q", name, p.Names(""))
	return p.Resources[i]
}

// Names are the logical names of the resources whose type ends in suffix.
func (p *Plan) Names(suffix string) []string {
	names := []string{}
	for _, r := range p.Resources {
		if strings.HasSuffix(r.Type, suffix) {
			names = append(names, r.Name)
		}
	}
	return names
}

// Input is a plain view of one input: maps, lists and scalars. A part that is
// not known shows as the text "[unknown]", a secret one as "[secret]".
func (r Resource) Input(name string) any { return plain(r.Inputs[resource.PropertyKey(name)]) }

func plain(v resource.PropertyValue) any {
	switch {
	case v.IsComputed() || v.IsOutput():
		return "[unknown]"
	case v.IsSecret():
		return "[secret]"
	case v.IsArray():
		out := make([]any, len(v.ArrayValue()))
		for i, e := range v.ArrayValue() {
			out[i] = plain(e)
		}
		return out
	case v.IsObject():
		out := map[string]any{}
		for k, e := range v.ObjectValue() {
			out[string(k)] = plain(e)
		}
		return out
	default:
		return v.V
	}
}

// monitor records registrations.
type monitor struct {
	mode Mode
	mu   sync.Mutex
	plan Plan
}

// Call answers a function that has an answer; there are no others.
func (m *monitor) Call(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	answer, known := answers[args.Token]
	if !known {
		return nil, fmt.Errorf("function %q has no answer in internal/fake", args.Token)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plan.Calls = append(m.plan.Calls, Call{Token: args.Token, Args: args.Args})
	return resource.NewPropertyMapFromMap(answer(args.Args)), nil
}

func (m *monitor) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	rpc := args.RegisterRPC
	inputs, err := plugin.UnmarshalProperties(rpc.GetObject(), plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true})
	if err != nil {
		return "", nil, err
	}
	r := Resource{Type: args.TypeToken, Name: args.Name, Parent: nameOf(rpc.GetParent()), Custom: args.Custom, Protect: rpc.GetProtect(), Inputs: inputs}
	r.Options = Options{ReplaceOn: rpc.GetReplaceOnChanges(), Ignore: rpc.GetIgnoreChanges(), DeletedWith: nameOf(rpc.GetDeletedWith())}
	for _, with := range rpc.GetReplaceWith() {
		r.Options.ReplaceWith = append(r.Options.ReplaceWith, nameOf(with))
	}
	for _, dep := range rpc.GetDependencies() {
		r.DependsOn = append(r.DependsOn, nameOf(dep))
	}
	slices.Sort(r.DependsOn)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plan.Resources = append(m.plan.Resources, r)
	if m.mode == Preview {
		return "", args.Inputs, nil
	}
	return args.Name + "-id", args.Inputs, nil
}

// nameOf is the logical name of a URN, "" for the stack.
func nameOf(s string) string {
	u := urn.URN(s)
	if !u.IsValid() || u.Type() == resource.RootStackType {
		return ""
	}
	return u.Name()
}
