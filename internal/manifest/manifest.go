package manifest

import (
	"fmt"
	"slices"
	"strings"
)

// ObjectKey names an object in a cluster.
type ObjectKey struct {
	APIVersion, Kind string
	Namespace        string // "" for kinds without; "default" where none is given
	Name             string
}

// String returns "apps/v1/Deployment batch/worker".
func (k ObjectKey) String() string {
	name := k.Name
	if k.Namespace != "" {
		name = k.Namespace + "/" + name
	}
	return k.APIVersion + "/" + k.Kind + " " + name
}

// Group returns the API group, "" for the core group.
func (k ObjectKey) Group() string {
	group, _, ok := strings.Cut(k.APIVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// DefaultNamespace is where an object goes that names none.
const DefaultNamespace = "default"

// Key returns the name of an object; what is unknown is "". Kinds that are not
// known count as namespaced.
func Key(object map[string]any) ObjectKey {
	n := node{v: object}
	key := ObjectKey{
		APIVersion: n.at("apiVersion").text(), Kind: n.at("kind").text(),
		Name: n.get("metadata.name").text(), Namespace: n.get("metadata.namespace").text(),
	}
	if k, ok := Lookup(key.APIVersion, key.Kind); ok && !k.Namespaced {
		key.Namespace = ""
	} else if key.Namespace == "" && !n.get("metadata.namespace").unknown() {
		key.Namespace = DefaultNamespace
	}
	return key
}

// checker gathers the problems of one object.
type checker struct {
	catalog  *catalog
	kind     Kind
	object   node
	problems []Problem
}

// add reports a problem; got may be left out where it is the value itself.
func (c *checker) add(n node, got, want, fix string) {
	if got == "" {
		got = show(n.v)
	}
	if c.secret(n.path) && !n.absent() {
		got = "[secret]"
	}
	c.problems = append(c.problems, Problem{n.path, got, want, fix})
}

// secret says whether a value must not be shown.
func (c *checker) secret(path string) bool {
	return c.kind.Name == "Secret" && c.kind.Origin == Builtin && (strings.HasPrefix(path, "data") || strings.HasPrefix(path, "stringData"))
}

// Check returns what is wrong with an object, in a fixed order. An object whose
// kind is not known yet is not judged.
func Check(object map[string]any) []Problem {
	c := &checker{catalog: load(), object: node{v: object}}
	apiVersion, kind := c.object.at("apiVersion"), c.object.at("kind")
	if apiVersion.unknown() || kind.unknown() {
		return nil
	}
	found, ok := Lookup(apiVersion.text(), kind.text())
	if !ok {
		c.unknownKind(apiVersion, kind)
		return sorted(c.problems)
	}
	c.kind = found
	schema, err := c.catalog.compile(found.schema)
	if err != nil {
		panic(fmt.Sprintf("schema of %s/%s: %v", found.APIVersion, found.Name, err))
	}
	c.structure(schema, c.object)
	c.metadata()
	for _, rule := range rules[found.APIVersion+"/"+found.Name] {
		rule(c)
	}
	for _, pod := range Pods(object) {
		c.pod(pod)
	}
	return sorted(c.problems)
}

// CheckCustom returns what is wrong with an object whose kind is not known here,
// because a chart or the program itself defines it: its metadata alone.
func CheckCustom(object map[string]any) []Problem {
	c := &checker{catalog: load(), object: node{v: object}, kind: Kind{Namespaced: true}}
	c.metadata()
	return sorted(c.problems)
}

func (c *checker) unknownKind(apiVersion, kind node) {
	if apiVersion.text() == "" {
		c.add(apiVersion, "", `a group and a version, such as "apps/v1"`, "")
	}
	if kind.text() == "" {
		c.add(kind, "", `a kind, such as "Deployment"`, "")
	}
	if len(c.problems) > 0 {
		return
	}
	var versions, kinds, elsewhere []string
	for _, k := range Kinds() {
		versions = append(versions, k.APIVersion)
		if k.APIVersion == apiVersion.text() {
			kinds = append(kinds, k.Name)
		}
		if k.Name == kind.text() {
			elsewhere = append(elsewhere, k.APIVersion)
		}
	}
	versions = slices.Compact(versions)
	switch {
	case len(elsewhere) > 0:
		c.add(apiVersion, "", "the version of "+kind.text()+": "+oneOf(elsewhere), "")
	case len(kinds) > 0:
		c.add(kind, "", oneOf(kinds), meant(kind.text(), kinds, "use a kind of this version"))
	default:
		c.add(apiVersion, "", "a version whose kinds are known: "+oneOf(versions), meant(apiVersion.text(), versions, "use one of these versions"))
	}
}

// meant asks whether the nearest candidate was meant, or else says what to do.
func meant(name string, candidates []string, otherwise string) string {
	if near := nearest(name, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}
