package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Operation names what a Run did.
type Operation string

// The four operations of a Run.
const (
	OpPreview Operation = "preview"
	OpUp      Operation = "up"
	OpRefresh Operation = "refresh"
	OpDestroy Operation = "destroy"
)

// Resource is one resource as the engine planned, made or removed it. Its JSON fields are a
// contract: goldens, reports and rules read them. Arrays are sorted and never null.
type Resource struct {
	URN  string `json:"urn"`
	Type string `json:"type"`
	Name string `json:"name"`
	// Op is create, same, update, replace, delete, read, import or refresh. The several
	// steps of one replacement are one replace.
	Op string `json:"op"`
	// Parent is a URN; empty for the stack itself.
	Parent string `json:"parent"`
	// Provider is the URN of the provider resource, without its id; empty for components.
	Provider string `json:"provider"`
	// Dependencies are URNs, explicit and implied; see Result.Complete.
	Dependencies []string `json:"dependencies"`
	// PropertyDependencies maps an input to the URNs its value came from.
	PropertyDependencies map[string][]string `json:"propertyDependencies"`
	// Inputs are what the program declared and the provider's Check left. See Secret, Unknown.
	Inputs map[string]any `json:"inputs"`
	// Before are the inputs that an update or a replacement takes the place of.
	Before map[string]any `json:"before,omitzero"`
	// Because are the properties that force a replacement, as the provider names them;
	// none if it is replaced because something that it depends on is.
	Because []string `json:"because,omitempty"`
	// Outputs are set by up and refresh, not by preview.
	Outputs map[string]any `json:"outputs,omitzero"`
}

// Kind is the type without its provider and API version, as in
// "containerservice:AgentPool" or "apps:Deployment".
func (r Resource) Kind() string {
	_, rest, _ := strings.Cut(r.Type, ":")
	module, typ, _ := strings.Cut(rest, ":")
	module, _, _ = strings.Cut(module, "/")
	return module + ":" + typ
}

// Diagnostic is an error or a warning of the engine, of a provider or of the program.
type Diagnostic struct {
	// URN is the resource it speaks of; empty when it speaks of the whole run.
	URN string `json:"urn"`
	// Severity is error or warning.
	Severity string `json:"severity"`
	// Message is plain text without colour codes or trailing newline.
	Message string `json:"message"`
}

// PolicyViolation is one finding of a policy pack.
type PolicyViolation struct {
	Pack    string `json:"pack"`
	Version string `json:"version"`
	Policy  string `json:"policy"`
	// URN is empty when a stack rule blames no single resource.
	URN string `json:"urn"`
	// Enforcement is mandatory or advisory; only mandatory ones stop an operation.
	Enforcement string `json:"enforcement"`
	Severity    string `json:"severity"`
	Message     string `json:"message"`
}

// PolicySummary says which policies of a pack looked at a resource, and how they judged.
type PolicySummary struct {
	Pack    string `json:"pack"`
	Version string `json:"version"`
	// URN is empty for the stack rules of the pack.
	URN    string   `json:"urn"`
	Passed []string `json:"passed"`
	Failed []string `json:"failed"`
}

// Result is what an operation did, or, for a preview, would do.
type Result struct {
	Operation Operation `json:"operation"`
	Project   string    `json:"project"`
	Stack     string    `json:"stack"`
	// Complete says that every resource of the program was seen and that Dependencies and
	// PropertyDependencies are filled. A preview without a recorder is not complete, nor is a
	// failed operation, except a preview that failed by nothing but policies.
	Complete  bool       `json:"complete"`
	Resources []Resource `json:"resources"`
	// Changes counts Resources by op.
	Changes map[string]int `json:"changes"`
	// Failed are the URNs whose operation a provider refused.
	Failed           []string          `json:"failed"`
	Diagnostics      []Diagnostic      `json:"diagnostics"`
	PolicyViolations []PolicyViolation `json:"policyViolations"`
	// PolicySummaries are in no Result of an operation without packs.
	PolicySummaries []PolicySummary `json:"policySummaries"`
	// Outputs are the stack's outputs after up and refresh; see Secret.
	Outputs map[string]any `json:"outputs"`
}

// JSON renders the result so that equal results are equal bytes: indented, keys and arrays
// sorted, no HTML escapes, one newline at the end.
func (r *Result) JSON() ([]byte, error) {
	return stableJSON(r)
}

// Find returns the resource with this URN.
func (r *Result) Find(urn string) (Resource, bool) {
	for _, res := range r.Resources {
		if res.URN == urn {
			return res, true
		}
	}
	return Resource{}, false
}

// HasChanges reports whether anything but same (and a plain read) was done or planned.
func (r *Result) HasChanges() bool {
	for op, n := range r.Changes {
		if n > 0 && op != "same" && op != "read" && op != "refresh" {
			return true
		}
	}
	return false
}

func stableJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// finish sorts everything, counts and fills empty fields.
func (r *Result) finish() {
	for i := range r.Resources {
		res := &r.Resources[i]
		if res.Because != nil {
			res.Because = sorted(res.Because)
		}
		res.Dependencies = sorted(res.Dependencies)
		deps := make(map[string][]string, len(res.PropertyDependencies))
		for k, urns := range res.PropertyDependencies {
			if len(urns) > 0 { // the state lists also inputs that depend on nothing
				deps[k] = sorted(urns)
			}
		}
		res.PropertyDependencies = deps
		if res.Inputs == nil {
			res.Inputs = map[string]any{}
		}
	}
	slices.SortFunc(r.Resources, func(a, b Resource) int { return strings.Compare(a.URN, b.URN) })
	r.Changes = map[string]int{}
	for _, res := range r.Resources {
		r.Changes[res.Op]++
	}
	r.Failed = sorted(r.Failed)
	// Diagnostics keep the order of the engine per resource, which is meaningful, and are
	// sorted between resources, whose order is not.
	slices.SortStableFunc(r.Diagnostics, func(a, b Diagnostic) int { return strings.Compare(a.URN, b.URN) })
	slices.SortStableFunc(r.PolicyViolations, func(a, b PolicyViolation) int {
		return slices.Compare(a.key(), b.key())
	})
	for i := range r.PolicySummaries {
		s := &r.PolicySummaries[i]
		s.Passed, s.Failed = sorted(s.Passed), sorted(s.Failed)
	}
	slices.SortStableFunc(r.PolicySummaries, func(a, b PolicySummary) int {
		return slices.Compare([]string{a.Pack, a.URN}, []string{b.Pack, b.URN})
	})
	r.Diagnostics = orEmpty(r.Diagnostics)
	r.PolicyViolations = orEmpty(r.PolicyViolations)
	r.PolicySummaries = orEmpty(r.PolicySummaries)
	r.Resources = orEmpty(r.Resources)
	if r.Outputs == nil {
		r.Outputs = map[string]any{}
	}
}

func (v PolicyViolation) key() []string { return []string{v.Pack, v.Policy, v.URN, v.Message} }

// sorted returns s sorted and without duplicates, never nil; s stays as it is.
func sorted(s []string) []string {
	set := make(map[string]struct{}, len(s))
	for _, e := range s {
		set[e] = struct{}{}
	}
	return orEmpty(slices.Sorted(maps.Keys(set)))
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// urnName is the last part of a URN, the resource's logical name.
func urnName(urn string) string {
	parts := strings.SplitN(urn, "::", 4)
	return parts[len(parts)-1]
}

// urnType is the resource's own type, without those of its parents.
func urnType(urn string) string {
	parts := strings.SplitN(urn, "::", 4)
	if len(parts) < 4 {
		return ""
	}
	return parts[2][strings.LastIndex(parts[2], "$")+1:]
}

// providerURN cuts the id off a provider reference (urn::id).
func providerURN(ref string) string {
	if ref == "" {
		return ""
	}
	if i := strings.LastIndex(ref, "::"); i >= 0 && strings.Count(ref, "::") > 3 {
		return ref[:i]
	}
	return ref
}
