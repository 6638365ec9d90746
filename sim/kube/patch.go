package kube

import (
	"onedoor/internal/manifest"
	"onedoor/sim/core"
)

// merge returns object with the fields of part, as server-side apply does for an
// owner of those fields alone (A660). Lists are replaced.
func merge(object, part map[string]any) map[string]any {
	for key, v := range part {
		if sub, ok := v.(map[string]any); ok {
			old, _ := object[key].(map[string]any)
			if old == nil {
				old = map[string]any{}
			}
			object[key] = merge(old, sub)
			continue
		}
		object[key] = v
	}
	return object
}

// withdraw takes the fields of part out of object, but for what names it.
func withdraw(object, part map[string]any) map[string]any {
	for key, v := range part {
		switch sub, ok := v.(map[string]any); {
		case key == "apiVersion" || key == "kind" || key == "name" || key == "namespace":
		case ok:
			if old, ok := object[key].(map[string]any); ok {
				if object[key] = withdraw(old, sub); len(old) == 0 {
					delete(object, key)
				}
			}
		default:
			delete(object, key)
		}
	}
	return object
}

// kedaOperator is the operator of the add-on.
var kedaOperator = manifest.ObjectKey{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "kube-system", Name: "keda-operator"}

// operatorBody is the operator as the add-on makes it.
func operatorBody() map[string]any {
	labels := map[string]any{"app": "keda-operator", "azure.workload.identity/use": "true"}
	return map[string]any{
		"replicas": 2.0,
		"selector": map[string]any{"matchLabels": map[string]any{"app": "keda-operator"}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{
				"serviceAccountName": "keda-operator",
				"containers":         []any{map[string]any{"name": "keda-operator", "image": "mcr.microsoft.com/oss/kubernetes/kedacore/keda"}},
			},
		},
	}
}

// OperatorHasIdentity tells whether KEDA's operator can ask for tokens: the
// webhook of workload identity was there when its pods were made. One that came
// before it gets its tokens when a change of its template makes new pods (A661).
func OperatorHasIdentity(s core.State, clusterID string) bool {
	for _, c := range clusters(s) {
		if core.Key(c.ID()) == core.Key(clusterID) {
			return c.operatorHasIdentity()
		}
	}
	return false
}

func (c *Cluster) operatorHasIdentity() bool {
	if !c.keda() || !c.flag("securityProfile.workloadIdentity.enabled") {
		return false
	}
	_, changed := c.stored(kedaOperator)
	return changed || !c.state.LateIdentityWebhook
}
