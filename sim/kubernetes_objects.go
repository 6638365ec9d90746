package sim

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/manifest"
	"onedoor/sim/core"
	"onedoor/sim/kube"
)

// object reads one object.
func (c *Cloud) object(host string, key manifest.ObjectKey) kube.Answer {
	_, answer := kube.Do(c.State(), kube.Op{Verb: kube.Get, Host: host, Key: key})
	return answer
}

// writeObject applies one write and stores the result. err is set when it was
// refused, failure when it was accepted and fails later.
func (c *Cloud) writeObject(q *kubeRequest, op kube.Op) (answer kube.Answer, failure, err error) {
	method, token := core.Put, string(resource.URN(q.urn).Type())
	if op.Verb == kube.Delete {
		method = core.Delete
	}
	_, planned := kube.Do(c.State(), op) // for the id alone
	fault := core.Op{Method: method, ID: planned.ID}
	if refused := c.strike(fault, token, q.urn, BeforeStart); refused != nil {
		return answer, nil, refused
	}
	if late := c.strike(fault, token, q.urn, AfterApply); late != nil {
		failure = late
		if method == core.Delete {
			return answer, failure, nil
		}
	}
	c.mu.Lock()
	op.TypesOnly = op.TypesOnly || c.typesOnly
	before := c.state.Seq
	next, answer := kube.Do(c.state, op)
	changed := next.Seq != before
	if changed {
		c.set(next)
		c.log = append(c.log, LogEntry{Seq: next.Seq, Method: method, ID: answer.ID, Start: next.Now, End: next.Now})
	}
	gen := c.gen
	c.mu.Unlock()
	if answer.Error != nil {
		return answer, nil, answer.Error
	}
	if changed {
		if err := c.save(gen); err != nil {
			return answer, nil, err
		}
	}
	return answer, failure, c.lose(fault, token, q.urn)
}

// tryObject plays a write through in the rehearsal. As with the real provider's
// dry run, what the program has not made yet is no reason to refuse: a namespace
// that is not there, a kind that is not installed (A605). Nor is an object that
// exists: its replacement looks the same. Two resources for one object are.
func (c *Cloud) tryObject(q *kubeRequest, verb kube.Verb) (map[string]any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.rehearse()
	op := q.op(verb)
	op.TypesOnly = c.typesOnly
	if op.Verb == kube.Create {
		op.Verb = kube.Apply
	}
	next, answer := kube.Do(d.state, op)
	if verb == kube.Create && answer.ID != "" {
		if other, ok := d.made[answer.ID]; ok && other != q.urn {
			return nil, fmt.Errorf("two resources of this program are the same object: %s and %s; fix: rename one", other, q.urn)
		}
	}
	switch {
	case answer.Error == nil:
		d.state = next
		d.made[answer.ID] = q.urn
		return answer.Object, nil
	case answer.Error.Reason == kube.NotFound, answer.Error.Reason == kube.NoMatch, answer.Error.Reason == kube.Unreachable:
		return q.object, nil
	}
	return nil, answer.Error
}

// clusterOf returns the cluster of a request, real or rehearsed.
func (c *Cloud) clusterOf(q *kubeRequest) (*kube.Cluster, bool) {
	if q.config.state != configured {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, state := range []core.State{c.rehearse().state, c.state} {
		if cluster, refusal := kube.Find(state, q.config.host); refusal == nil {
			return cluster, true
		}
	}
	return nil, false
}

// namespaced says whether the object of a request belongs into a namespace.
func (c *Cloud) namespaced(q *kubeRequest) bool {
	if kind, known := manifest.Lookup(q.key.APIVersion, q.key.Kind); known {
		return kind.Namespaced
	}
	cluster, ok := c.clusterOf(q)
	return !ok || cluster.Namespaced(q.key)
}

// defines says whether the cluster of a request holds a definition of its kind.
func (c *Cloud) defines(q *kubeRequest) bool {
	cluster, ok := c.clusterOf(q)
	return ok && cluster.Defines(q.key)
}

// toObject returns inputs as Kubernetes has them: property names cannot hold
// hyphens, so "x_kubernetes_" stands for "x-kubernetes-".
func toObject(inputs resource.PropertyMap) map[string]any {
	return rename(plain(inputs), func(key string) string {
		if strings.HasPrefix(key, "x_kubernetes_") {
			return strings.ReplaceAll(key, "_", "-")
		}
		return key
	}).(map[string]any)
}

// toProperties is the way back.
func toProperties(object map[string]any) resource.PropertyMap {
	return properties(rename(object, func(key string) string {
		if strings.HasPrefix(key, "x-kubernetes-") {
			return strings.ReplaceAll(key, "-", "_")
		}
		return key
	}).(map[string]any))
}

func rename(v any, name func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[name(key)] = rename(item, name)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = rename(item, name)
		}
		return out
	}
	return v
}

// outputs turns an object into the outputs of its resource. A preview leaves out
// what only the server will say (A608).
func (q *kubeRequest) outputs(body map[string]any, preview bool) (*structpb.Struct, error) {
	if q.release() {
		body = releaseOutputs(body)
	}
	out := toProperties(body)
	if preview {
		delete(out, "status")
		if metadata := out["metadata"]; metadata.IsObject() {
			for _, key := range []resource.PropertyKey{"uid", "resourceVersion", "creationTimestamp", "generation"} {
				delete(metadata.ObjectValue(), key)
			}
		}
	}
	keepSecret(q.inputs, out)
	if texts, ok := q.inputs["stringData"]; ok && q.key.Kind == "Secret" && texts.ContainsSecrets() && !out["data"].IsSecret() {
		out["data"] = resource.MakeSecret(out["data"])
	}
	return marshal(out, "kubernetes.outputs")
}

// refreshed returns the inputs of a resource after the cluster was asked: as the
// program wrote them if nothing of them changed, otherwise as they are now in the
// cluster, without what was never an input.
func (q *kubeRequest) refreshed(body map[string]any) (*structpb.Struct, error) {
	if q.release() && len(q.inputs) == 0 {
		return marshal(toProperties(releaseOutputs(imported(body))), "kubernetes.read")
	}
	if q.release() {
		return marshal(q.inputs, "kubernetes.read")
	}
	if len(q.inputs) == 0 {
		return marshal(toProperties(imported(body)), "kubernetes.read")
	}
	was := secretData(q.object)
	now, _ := prune(body, was).(map[string]any)
	if reflect.DeepEqual(was, now) {
		return marshal(q.inputs, "kubernetes.read")
	}
	inputs := toProperties(now)
	keepSecret(q.inputs, inputs)
	return marshal(inputs, "kubernetes.read")
}

// imported returns what of an object can be an input.
func imported(body map[string]any) map[string]any {
	out := copyOf(body).(map[string]any)
	delete(out, "status")
	if metadata, ok := out["metadata"].(map[string]any); ok {
		for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "generation"} {
			delete(metadata, key)
		}
	}
	return out
}

// prune keeps of live what shape has too.
func prune(live, shape any) any {
	switch s := shape.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return live
		}
		out := map[string]any{}
		for key, part := range s {
			if v, has := l[key]; has {
				out[key] = prune(v, part)
			}
		}
		return out
	case []any:
		l, ok := live.([]any)
		if !ok {
			return live
		}
		out := make([]any, len(l))
		for i, v := range l {
			out[i] = v
			if i < len(s) {
				out[i] = prune(v, s[i])
			}
		}
		return out
	}
	return live
}

// reachable says whether the provider has a cluster to speak to.
func (k kubeConfig) reachable() error {
	switch k.state {
	case configured:
		return nil
	case broken:
		return fmt.Errorf("configured Kubernetes cluster is unreachable: %s", k.reason)
	default:
		return errors.New("configured Kubernetes cluster is unreachable: the kubeconfig is not known; fix: let the provider depend on the cluster")
	}
}
