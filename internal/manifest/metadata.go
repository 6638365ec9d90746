package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation"
)

// maxAnnotations is how much all annotations of an object may hold, keys and
// values together.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/
const maxAnnotations = 256 << 10 // bytes

// nameRule is how the names of a kind are formed; the result is what is wrong.
type nameRule func(string) []string

// names are the kinds whose names are not DNS subdomains.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
var names = map[string]nameRule{
	"v1/Namespace": validation.IsDNS1123Label,
	"v1/Service":   validation.IsDNS1035Label,
	"batch/v1/Job": validation.IsDNS1123Label, // it becomes a label of its pods

	"rbac.authorization.k8s.io/v1/Role":               pathSegment,
	"rbac.authorization.k8s.io/v1/RoleBinding":        pathSegment,
	"rbac.authorization.k8s.io/v1/ClusterRole":        pathSegment,
	"rbac.authorization.k8s.io/v1/ClusterRoleBinding": pathSegment,

	// The controllers append to these: 11 characters of a Job, 10 of a RayCluster's hash.
	"batch/v1/CronJob":     atMost(52, validation.IsDNS1123Subdomain),
	"ray.io/v1/RayService": atMost(47, validation.IsDNS1035Label),
	"ray.io/v1/RayCluster": atMost(63, validation.IsDNS1035Label),
	"ray.io/v1/RayJob":     atMost(47, validation.IsDNS1035Label),
}

func pathSegment(name string) []string { return path.IsValidPathSegmentName(name) }

func atMost(length int, rule nameRule) nameRule {
	return func(name string) []string {
		problems := rule(name)
		if len(name) > length {
			problems = append(problems, fmt.Sprintf("must be no more than %d characters", length))
		}
		return problems
	}
}

// metadata checks what all kinds have in common.
func (c *checker) metadata() {
	meta := c.object.at("metadata")
	if meta.unknown() {
		return
	}
	c.structure(c.catalog.meta, meta)
	rule, special := names[c.kind.APIVersion+"/"+c.kind.Name]
	if !special {
		rule = validation.IsDNS1123Subdomain
	}
	switch name := meta.at("name"); {
	case name.unknown():
	case name.text() == "" && meta.at("generateName").absent():
		c.add(name, "", "a name, because names are explicit here", "set it")
	case name.text() != "":
		c.form(name, rule(name.text()))
	}
	namespace := meta.at("namespace")
	switch {
	case namespace.text() == "":
	case !c.kind.Namespaced:
		c.add(namespace, "", "nothing: "+c.kind.Name+" belongs to the whole cluster", "leave it out")
	default:
		c.form(namespace, validation.IsDNS1123Label(namespace.text()))
	}
	c.labels(meta.at("labels"))
	c.annotations(meta.at("annotations"))
}

// form reports what apimachinery says about the form of a text.
func (c *checker) form(n node, messages []string) {
	if len(messages) > 0 {
		c.add(n, "", "another value: "+strings.Join(messages, "; "), "")
	}
}

func (c *checker) labels(labels node) {
	for _, key := range slices.Sorted(maps.Keys(labels.fields())) {
		value := labels.at(key)
		c.form(node{value.path, key}, validation.IsQualifiedName(key))
		c.form(value, validation.IsValidLabelValue(value.text()))
	}
}

func (c *checker) annotations(annotations node) {
	size := 0
	for _, key := range slices.Sorted(maps.Keys(annotations.fields())) {
		value := annotations.at(key)
		c.form(node{value.path, key}, validation.IsQualifiedName(strings.ToLower(key)))
		size += len(key) + len(value.text())
	}
	if size > maxAnnotations {
		c.add(annotations, fmt.Sprintf("%d bytes", size), fmt.Sprintf("at most %d bytes, keys and values together", maxAnnotations), "keep large texts in a ConfigMap")
	}
}
