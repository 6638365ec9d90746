package kube

import (
	"fmt"
	"net/http"

	"onedoor/internal/manifest"
	"onedoor/sim/core"
)

// ReleaseVersion and ReleaseKind are how a Helm release is kept: it is no object
// of Kubernetes, but it brings kinds. Its chart is not rendered (A650).
const (
	ReleaseVersion = "helm.sh/v3"
	ReleaseKind    = "Release"
)

func isRelease(k manifest.ObjectKey) bool {
	return k.Kind == ReleaseKind && k.APIVersion == ReleaseVersion
}

// admitRelease: KEDA's chart does not fit beside the add-on, because a cluster
// has one server of external metrics (A651).
func (c *Cluster) admitRelease(key manifest.ObjectKey, body map[string]any) *Status {
	if charts[chartName(body)] == manifest.KEDA && c.keda() {
		return &Status{http.StatusConflict, AlreadyExists, fmt.Sprintf("release %s: unable to continue with install: APIService \"v1beta1.external.metrics.k8s.io\" exists and cannot be imported into the current release; fix: use the add-on or the chart, not both", key.Name)}
	}
	if key.Namespace != "" && !c.hasNamespace(key.Namespace) && body["createNamespace"] != true {
		refusal := noNamespace(key.Namespace)
		refusal.Message = fmt.Sprintf("release %s: create: failed to create: %s; fix: declare the namespace, or set createNamespace", key.Name, refusal.Message)
		return refusal
	}
	return nil
}

// withNamespace makes the namespace of a release that asks for it; it stays when
// the release goes (A652).
func (c *Cluster) withNamespace(key manifest.ObjectKey, body map[string]any) {
	if body["createNamespace"] != true || c.hasNamespace(key.Namespace) {
		return
	}
	namespace := manifest.ObjectKey{APIVersion: "v1", Kind: "Namespace", Name: key.Namespace}
	object := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": key.Namespace}}
	complete(c, namespace, object)
	stamp(c.resource, namespace, object, 1, c.state.Births[core.ObjectKey(c.resource, place(namespace))]+1)
	c.state = c.state.PutObject(c.resource, place(namespace), object)
}

func completeRelease(key manifest.ObjectKey, body map[string]any, revision int) {
	body["resourceNames"] = map[string]any{}
	body["status"] = map[string]any{
		"status": "deployed", "name": key.Name, "namespace": key.Namespace, "revision": float64(revision),
		"chart": chartName(body), "version": textAt(body, "version"), "appVersion": textAt(body, "version"),
	}
}
