package rules

import (
	"strings"

	"onedoor/internal/armtypes"
	"onedoor/internal/manifest"
	"onedoor/internal/policypack"
)

// manifests are the rules of the form of Kubernetes objects.
func manifests() []policypack.Rule {
	return []policypack.Rule{{
		ID: "K8S-01", Severity: policypack.High,
		Title:     "Kubernetes objects are of the form that their kind demands",
		Rationale: "The API server drops what it does not know: a setting that is misspelt is a setting that is not there.",
		Remedy:    "Correct the property.",
		Controls:  []string{"MCSB PV-2"},
		Sources:   []string{"https://kubernetes.io/docs/reference/using-api/api-concepts/#setting-the-field-validation-level"},
		Types:     []string{"kubernetes:*"},
		Resource: func(c *policypack.Case) {
			if c.Type == helmRelease || strings.HasPrefix(c.Type, "kubernetes:kustomize:") || strings.HasPrefix(c.Type, "kubernetes:yaml:") || strings.HasSuffix(c.Type, "Patch") {
				c.NotApplicable("it is not one whole object")
				return
			}
			if part, unknown := c.Get().Unknown(); unknown {
				c.Undecided(part, "known; what is known of the object is checked")
			}
			object, isObject := c.Get().Plain(armtypes.Unknown{}).(map[string]any)
			if !isObject {
				c.Undecided(c.Get(), "an object")
				return
			}
			for _, p := range manifest.Check(object) {
				got := p.Got
				if c.Get().Secret() || hidden(c, p.Path) {
					got = "[secret]"
				}
				c.Failf(p.Path, got, p.Want)
			}
		},
	}}
}

// hidden tells whether a problem lies in a part that must not be shown.
func hidden(c *policypack.Case, path string) bool {
	v := c.Get()
	for key := range strings.SplitSeq(path, ".") {
		name, _, _ := strings.Cut(key, "[")
		v = v.At(name)
		if v.Secret() {
			return true
		}
		if items, _ := v.Items(); len(items) > 0 { // any item that is secret hides all
			for _, item := range items {
				if item.Secret() {
					return true
				}
			}
			v = items[0]
		}
	}
	return false
}
