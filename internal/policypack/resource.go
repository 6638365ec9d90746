package policypack

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"onedoor/internal/propvalue"
)

// Resource is one resource of the stack.
type Resource struct {
	URN     string
	Type    string // without a version, as "azure-native:storage:StorageAccount"
	Token   string // as the program wrote it
	Name    string // logical name
	Inputs  propvalue.Value
	Outputs propvalue.Value // absent while one resource is judged alone, and in first previews

	Parent       string              // URN; known to stack rules only
	Dependencies []string            // URNs; known to stack rules only
	ByProperty   map[string][]string // URNs by input; known to stack rules only

	readings
}

// readings are what rules have read of a resource or a stack, by key.
type readings struct{ known map[string]any }

func (r *readings) own() *readings { return r }

// Read is what read makes of a resource or a stack: rules that ask under the same key
// share one reading, which none of them may change. Rules judge one after another what
// they share, so that nothing is locked.
func Read[T any](of interface{ own() *readings }, key string, read func() T) T {
	r := of.own()
	if known, ok := r.known[key].(T); ok {
		return known
	}
	if r.known == nil {
		r.known = map[string]any{}
	}
	made := read()
	r.known[key] = made
	return made
}

// Get reads a property: from the inputs, or from the outputs where the inputs do
// not say it.
func (r *Resource) Get(keys ...string) propvalue.Value {
	in := r.Inputs.At(keys...)
	if in.State() == propvalue.Known || in.State() == propvalue.Mistyped {
		return in
	}
	if out := r.Outputs.At(keys...); out.State() == propvalue.Known {
		return out
	}
	return in
}

// At is Get of a dotted path.
func (r *Resource) At(path string) propvalue.Value { return r.Get(strings.Split(path, ".")...) }

var (
	// The version of a module, which every resource type of azure-native has also
	// without, and every Kubernetes group has several of.
	tokenVersion = regexp.MustCompile(`/v[0-9][0-9a-z]*:`)
	// SDKs that are generated for one version of one module are packages of their
	// own: azure-native_storage_v20240101:storage:StorageAccount.
	// https://www.pulumi.com/registry/packages/azure-native/version-guide/
	localPackage = regexp.MustCompile(`^azure-native_[a-z0-9]+_v[0-9][0-9a-z]*:`)
)

// TypeOf is a token without versions: whoever imports another version of a
// module must meet the same rules.
func TypeOf(token string) string {
	token = localPackage.ReplaceAllString(token, "azure-native:")
	return tokenVersion.ReplaceAllString(token, ":")
}

// Stack is all resources of a stack.
type Stack struct {
	// Config is the stack's configuration, by full key, without what is secret. The
	// engine gives none when it analyses a stored state.
	Config map[string]string

	all    []*Resource // sorted by URN
	byURN  map[string]*Resource
	byType map[string][]*Resource // sorted by URN
	by     map[string]map[string][]*Resource

	readings
}

// NewStack indexes resources.
func NewStack(resources []*Resource) *Stack {
	s := &Stack{byURN: map[string]*Resource{}, byType: map[string][]*Resource{}, by: map[string]map[string][]*Resource{}}
	for _, r := range resources {
		s.byURN[r.URN] = r
	}
	s.all = slices.SortedFunc(maps.Values(s.byURN), func(a, b *Resource) int { return cmp.Compare(a.URN, b.URN) })
	for _, r := range s.all {
		s.byType[r.Type] = append(s.byType[r.Type], r)
	}
	return s
}

// All are all resources, sorted by URN.
func (s *Stack) All() []*Resource { return s.all }

// Of are the resources of the types, by type in the order given, then by URN.
func (s *Stack) Of(types ...string) []*Resource {
	if len(types) == 1 {
		return s.byType[types[0]]
	}
	var out []*Resource
	for _, t := range types {
		out = append(out, s.byType[t]...)
	}
	return out
}

// By are the resources of a type by a key, sorted by URN. It keeps the index
// under name, so that a rule which relates every resource to some others stays
// linear in the size of the stack.
func (s *Stack) By(name, typ string, key func(*Resource) string) map[string][]*Resource {
	name += " " + typ
	if index, ok := s.by[name]; ok {
		return index
	}
	index := map[string][]*Resource{}
	for _, r := range s.byType[typ] {
		index[key(r)] = append(index[key(r)], r)
	}
	s.by[name] = index
	return index
}

// Behind are the resources of the types from which the value of an input of r
// was made, directly or not. The engine knows them also where the value itself
// is not known yet. No types means all.
func (s *Stack) Behind(r *Resource, property string, types ...string) []*Resource {
	var out []*Resource
	for _, urn := range r.ByProperty[property] {
		if other, ok := s.byURN[urn]; ok && (len(types) == 0 || slices.Contains(types, other.Type)) {
			out = append(out, other)
		}
	}
	return out
}

// Follows tells whether r is made after other: it, or something that it depends
// on, depends on other.
func (s *Stack) Follows(r, other *Resource) bool {
	seen := map[string]bool{}
	var reaches func(urn string) bool
	reaches = func(urn string) bool {
		if urn == other.URN {
			return true
		}
		from, ok := s.byURN[urn]
		if !ok || seen[urn] {
			return false
		}
		seen[urn] = true
		return slices.ContainsFunc(from.Dependencies, reaches)
	}
	return slices.ContainsFunc(r.Dependencies, reaches)
}

// analysed is a resource as Analyze gives it.
func analysed(req *pulumirpc.AnalyzeRequest) *Resource {
	return &Resource{
		URN: req.GetUrn(), Token: req.GetType(), Type: TypeOf(req.GetType()), Name: req.GetName(),
		Inputs: propvalue.Of(req.GetProperties()), Parent: req.GetOptions().GetParent(),
	}
}

// listed is a resource as AnalyzeStack gives it: with outputs and relations.
func listed(res *pulumirpc.AnalyzerResource) *Resource {
	r := &Resource{
		URN: res.GetUrn(), Token: res.GetType(), Type: TypeOf(res.GetType()), Name: res.GetName(),
		Outputs: propvalue.Of(res.GetProperties()), Parent: res.GetParent(), Dependencies: res.GetDependencies(),
		ByProperty: map[string][]string{},
	}
	for key, urns := range res.GetPropertyDependencies() {
		r.ByProperty[key] = urns.GetUrns()
	}
	return r
}

// judgedBy are the resources that the rule looks at, sorted by URN within a type.
func (s *Stack) judgedBy(rule *Rule) []*Resource {
	var out []*Resource
	for _, typ := range slices.Sorted(maps.Keys(s.byType)) {
		if rule.Judges(typ) {
			out = append(out, s.byType[typ]...)
		}
	}
	return out
}
