package kube

import (
	"slices"
	"strings"

	"onedoor/internal/manifest"
	"onedoor/sim/core"
)

// object is one stored object with its name.
type object struct {
	key  manifest.ObjectKey
	body map[string]any
}

// objects returns all stored objects, sorted.
func (c *Cluster) objects() []object {
	stored := c.state.ObjectsOf(c.resource)
	out := make([]object, len(stored))
	for i, o := range stored {
		out[i] = object{manifest.Key(o.Body), o.Body}
	}
	return out
}

// Objects returns the objects of a managed cluster, sorted; they must not be
// changed.
func Objects(s core.State, clusterID string) []map[string]any {
	r, ok := s.Find(clusterID)
	if !ok {
		if r, ok = s.External[core.Key(clusterID)]; !ok {
			return nil
		}
	}
	var out []map[string]any
	for _, o := range s.ObjectsOf(r) {
		out = append(out, o.Body)
	}
	return out
}

// place is where an object is kept. Versions of a kind are one object.
func place(k manifest.ObjectKey) string {
	return strings.Join([]string{k.Group(), k.Kind, k.Namespace, k.Name}, "/")
}

// ObjectID returns the id of an object for logs and faults: that of the cluster,
// and the object's name.
func (c *Cluster) ObjectID(k manifest.ObjectKey) string {
	return c.resource.ID + "/objects/" + place(k)
}

// stored returns the stored object with its counters.
func (c *Cluster) stored(k manifest.ObjectKey) (*core.Object, bool) {
	o, ok := c.state.Objects[core.ObjectKey(c.resource, place(k))]
	return o, ok
}

// systemNamespaces are those that every cluster has.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/#initial-namespaces
var systemNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// given returns an object that the cluster has by itself (A611): the first
// namespaces, the service account "default" of every namespace, and the operator
// of the KEDA add-on.
func (c *Cluster) given(k manifest.ObjectKey) (map[string]any, bool) {
	switch {
	case k.APIVersion == "v1" && k.Kind == "Namespace" && isSystem(k.Name):
	case k.APIVersion == "v1" && k.Kind == "ServiceAccount" && k.Name == "default" && c.hasNamespace(k.Namespace):
	case k.APIVersion == "v1" && k.Kind == "ServiceAccount" && k.Name == "keda-operator" && k.Namespace == "kube-system" && c.keda():
	case k == kedaOperator && c.keda():
	default:
		return nil, false
	}
	metadata := map[string]any{"name": k.Name}
	if k.Namespace != "" {
		metadata["namespace"] = k.Namespace
	}
	body := map[string]any{"apiVersion": k.APIVersion, "kind": k.Kind, "metadata": metadata}
	if k == kedaOperator {
		body["spec"] = operatorBody()
	}
	stamp(c.resource, k, body, 1, 1)
	return body, true
}

func isSystem(namespace string) bool { return slices.Contains(systemNamespaces, namespace) }

func (c *Cluster) hasNamespace(name string) bool {
	if isSystem(name) {
		return true
	}
	_, ok := c.stored(manifest.ObjectKey{APIVersion: "v1", Kind: "Namespace", Name: name})
	return ok
}

// get returns the object as the API server answers it.
func (c *Cluster) get(k manifest.ObjectKey) (map[string]any, bool) {
	if o, ok := c.stored(k); ok {
		return o.Body, true
	}
	return c.given(k)
}
