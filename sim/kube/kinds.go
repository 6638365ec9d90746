package kube

import (
	"maps"
	"path"
	"slices"
	"strings"

	"onedoor/internal/manifest"
)

// charts are the Helm charts that bring kinds which are known here, by name.
var charts = map[string]manifest.Origin{
	"kuberay-operator":                 manifest.KubeRay,
	"keda":                             manifest.KEDA,
	"secrets-store-csi-driver":         manifest.SecretsStore,
	"csi-secrets-store-provider-azure": manifest.SecretsStore,
	"cilium":                           manifest.Cilium,
}

// remedies say how a cluster comes to the kinds of an origin.
var remedies = map[manifest.Origin]string{
	manifest.KEDA:         "enable workloadAutoScalerProfile.keda of the cluster first",
	manifest.KubeRay:      "install the chart kuberay-operator first",
	manifest.Cilium:       "give the cluster networkDataplane cilium",
	manifest.SecretsStore: "enable the add-on azureKeyvaultSecretsProvider of the cluster first",
	manifest.AzMonitoring: "enable azureMonitorProfile.metrics of the cluster first",
}

// installed says whether the cluster has the kinds of an origin. Kinds stay as
// long as there are objects of them (A621).
func (c *Cluster) installed(origin manifest.Origin) bool {
	switch origin {
	case manifest.Builtin:
		return true
	case manifest.KEDA:
		if c.keda() {
			return true
		}
	case manifest.Cilium:
		if c.text("networkProfile.networkDataplane") == "cilium" {
			return true
		}
	case manifest.SecretsStore:
		if c.flag("addonProfiles.azureKeyvaultSecretsProvider.enabled") {
			return true
		}
	case manifest.AzMonitoring:
		if c.flag("azureMonitorProfile.metrics.enabled") {
			return true
		}
	}
	for _, o := range c.objects() {
		if k, ok := manifest.Lookup(o.key.APIVersion, o.key.Kind); ok && k.Origin == origin {
			return true
		}
		if isRelease(o.key) && charts[chartName(o.body)] == origin {
			return true
		}
	}
	return false
}

// chartName returns the last part of a chart: "kuberay-operator" of
// "oci://mcr.microsoft.com/aks/ai-runtime/helm/kuberay-operator".
func chartName(release map[string]any) string {
	return path.Base(strings.TrimSuffix(textAt(release, "chart"), "/"))
}

// served says whether the cluster serves a kind: a built-in one, one that an
// add-on, a chart or a definition in the cluster brings (A620).
func (c *Cluster) served(k manifest.ObjectKey) *Status {
	if kind, ok := manifest.Lookup(k.APIVersion, k.Kind); ok {
		if c.installed(kind.Origin) {
			return nil
		}
		if c.definition(k) != nil {
			return nil
		}
		return noMatch(k, "ensure that its custom resource definition is installed: "+remedies[kind.Origin])
	}
	if c.definition(k) != nil {
		return nil
	}
	return noMatch(k, "ensure that its custom resource definition is installed; those that are known come with "+strings.Join(slices.Sorted(maps.Keys(charts)), ", "))
}

// definition returns the CustomResourceDefinition of a kind, if the cluster holds
// one.
func (c *Cluster) definition(k manifest.ObjectKey) map[string]any {
	_, version, _ := strings.Cut(k.APIVersion, "/")
	for _, o := range c.objects() {
		if o.key.Kind != "CustomResourceDefinition" || textAt(o.body, "spec.group") != k.Group() || textAt(o.body, "spec.names.kind") != k.Kind {
			continue
		}
		for _, v := range listAt(o.body, "spec.versions") {
			if textAt(v, "name") == version && at(v, "served") == true {
				return o.body
			}
		}
	}
	return nil
}

// Defines says whether the cluster holds a definition of a kind.
func (c *Cluster) Defines(k manifest.ObjectKey) bool { return c.definition(k) != nil }

// Namespaced says whether objects of a kind are in namespaces.
func (c *Cluster) Namespaced(k manifest.ObjectKey) bool {
	if kind, ok := manifest.Lookup(k.APIVersion, k.Kind); ok {
		return kind.Namespaced
	}
	if d := c.definition(k); d != nil {
		return textAt(d, "spec.scope") == "Namespaced"
	}
	return true
}
