package kube

import (
	"fmt"
	"net/http"
	"slices"

	"onedoor/internal/manifest"
	"onedoor/sim/core"
)

// Verb is what an operation does.
type Verb string

// The verbs. Apply makes an object or changes it, as server-side apply does. Merge
// changes some fields of an object that others own, Withdraw gives them back.
const (
	Get    Verb = "get"
	Create Verb = "create"
	Update Verb = "update"
	Apply  Verb = "apply"
	Delete Verb = "delete"

	Merge    Verb = "merge"
	Withdraw Verb = "withdraw"
)

// Op is one request to an API server.
type Op struct {
	Verb Verb
	// Host is the host name of the API server.
	Host string
	// Key names the object of Get and Delete; Object is that of the others.
	Key    manifest.ObjectKey
	Object map[string]any
	// TypesOnly leaves out what depends on other objects: kinds, namespaces,
	// admission and scheduling.
	TypesOnly bool
}

// Answer is what the API server says.
type Answer struct {
	// ID is the object's id for logs; empty if no cluster answered.
	ID string
	// Object is the object as it is now.
	Object map[string]any
	// Error is the refusal; then the state is unchanged.
	Error *Status
}

// Do answers one operation. It does not change s, and returns s itself when the
// operation was refused or only read.
func Do(s core.State, op Op) (core.State, Answer) {
	c, refusal := Find(s, op.Host)
	if refusal != nil {
		return s, Answer{Error: refusal}
	}
	key := op.Key
	if op.Object != nil {
		op.Object = copyOf(op.Object).(map[string]any)
		key = c.normalise(op.Object)
	}
	answer := Answer{ID: c.ObjectID(key)}
	switch op.Verb {
	case Get:
		body, ok := c.get(key)
		if !ok {
			answer.Error = notFound(key)
			return s, answer
		}
		answer.Object = body
		return s, answer
	case Delete:
		s, answer.Error = c.delete(key, op)
		return s, answer
	default:
		s, answer.Object, answer.Error = c.write(key, op)
		return s, answer
	}
}

// normalise brings an object into the form in which it is kept, and returns its
// name.
func (c *Cluster) normalise(body map[string]any) manifest.ObjectKey {
	key := manifest.Key(body)
	if !c.Namespaced(key) {
		key.Namespace = ""
	}
	metadata, ok := body["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		body["metadata"] = metadata
	}
	delete(metadata, "namespace")
	if key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	return key
}

func (c *Cluster) write(key manifest.ObjectKey, op Op) (core.State, map[string]any, *Status) {
	s := c.state
	if isRelease(key) && !op.TypesOnly {
		if refusal := c.admitRelease(key, op.Object); refusal != nil {
			return s, nil, refusal
		}
		c.withNamespace(key, op.Object)
	}
	old, exists := c.get(key)
	switch {
	case op.Verb == Create && exists: // A615
		return s, nil, alreadyExists(key)
	case (op.Verb == Update || op.Verb == Merge || op.Verb == Withdraw) && !exists:
		return s, nil, notFound(key)
	case op.Verb == Merge:
		op.Object = merge(written(old), op.Object)
	case op.Verb == Withdraw:
		op.Object = withdraw(written(old), op.Object)
	}
	if refusal := c.valid(key, op.Object, old); refusal != nil {
		return s, nil, refusal
	}
	if !op.TypesOnly {
		if refusal := c.admit(key, op.Object); refusal != nil {
			return s, nil, refusal
		}
	}
	body := op.Object
	generation, life := 1, c.state.Births[core.ObjectKey(c.resource, place(key))]+1
	if o, ok := c.stored(key); ok {
		generation, life = o.Generation+1, o.Life
	}
	stamp(c.resource, key, body, generation, life)
	if isRelease(key) {
		completeRelease(key, body, generation)
	} else {
		complete(c, key, body)
	}
	return c.state.PutObject(c.resource, place(key), body), body, nil
}

// valid judges the object by itself, and what of it changes (A619).
func (c *Cluster) valid(key manifest.ObjectKey, body, old map[string]any) *Status {
	if isRelease(key) {
		return nil // the provider has judged it
	}
	problems := manifest.CheckCustom(body)
	if _, known := manifest.Lookup(key.APIVersion, key.Kind); known {
		problems = manifest.Check(body)
	}
	if len(problems) == 0 && old != nil {
		problems = manifest.CheckUpdate(old, body)
	}
	if len(problems) > 0 {
		return invalid(key, problems)
	}
	return nil
}

// admit asks what depends on other objects and on the cluster.
func (c *Cluster) admit(key manifest.ObjectKey, body map[string]any) *Status {
	if isRelease(key) {
		return nil // see admitRelease
	}
	if refusal := c.served(key); refusal != nil {
		return refusal
	}
	if key.Namespace != "" && !c.hasNamespace(key.Namespace) { // A616
		return noNamespace(key.Namespace)
	}
	if refusal := c.admitKEDA(key, body); refusal != nil {
		return refusal
	}
	return c.schedule(key, body)
}

// kedaFinalizer keeps KEDA's objects until its operator has seen the deletion.
// https://github.com/kedacore/keda/blob/v2.21.0/controllers/keda/scaledobject_finalizer.go
const kedaFinalizer = "finalizer.keda.sh"

// delete removes an object, and with a namespace all that is in it (A617). What
// KEDA holds by its finalizer stays while KEDA is off (A618).
func (c *Cluster) delete(key manifest.ObjectKey, op Op) (core.State, *Status) {
	s := c.state
	if _, ok := c.stored(key); !ok {
		if _, given := c.given(key); given {
			return s, forbidden(key, "this object is the cluster's own and may not be deleted")
		}
		return s, notFound(key)
	}
	gone := []manifest.ObjectKey{key}
	if key.APIVersion == "v1" && key.Kind == "Namespace" {
		for _, o := range c.objects() {
			if o.key.Namespace == key.Name {
				gone = append(gone, o.key)
			}
		}
	}
	if !op.TypesOnly {
		for _, k := range gone {
			o, _ := c.stored(k)
			if slices.Contains(listAt(o.Body, "metadata.finalizers"), any(kedaFinalizer)) && !c.keda() {
				return s, &Status{http.StatusGatewayTimeout, Timeout, fmt.Sprintf("timed out waiting for the deletion of %s: %s holds the finalizer %s, and KEDA is off; fix: delete KEDA's objects while the add-on is on", key, k, kedaFinalizer)}
			}
		}
	}
	for _, k := range gone {
		s = s.DropObject(c.resource, place(k))
	}
	return s, nil
}

// written is a copy of an object without what the cluster writes.
func written(object map[string]any) map[string]any {
	out := copyOf(object).(map[string]any)
	delete(out, "status")
	return out
}

func copyOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if e != nil {
				out[k] = copyOf(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copyOf(e)
		}
		return out
	}
	return v
}
