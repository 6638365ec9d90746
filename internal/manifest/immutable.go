package manifest

import "reflect"

// immutables are the fields that the API server does not let change.
// https://kubernetes.io/docs/reference/kubernetes-api/
var immutables = map[string][]string{
	"apps/v1/Deployment":       {"spec.selector"},
	"apps/v1/ReplicaSet":       {"spec.selector"},
	"apps/v1/DaemonSet":        {"spec.selector"},
	"apps/v1/StatefulSet":      {"spec.podManagementPolicy", "spec.selector", "spec.serviceName", "spec.volumeClaimTemplates"},
	"batch/v1/Job":             {"spec.completionMode", "spec.selector", "spec.template"},
	"v1/PersistentVolumeClaim": {"spec.accessModes", "spec.selector", "spec.storageClassName", "spec.volumeMode", "spec.volumeName"},
	"v1/Secret":                {"type"},
	"v1/Service":               {"spec.clusterIP"},

	"node.k8s.io/v1/RuntimeClass":                     {"handler"},
	"rbac.authorization.k8s.io/v1/ClusterRoleBinding": {"roleRef"},
	"rbac.authorization.k8s.io/v1/RoleBinding":        {"roleRef"},
	"scheduling.k8s.io/v1/PriorityClass":              {"preemptionPolicy", "value"},
	"storage.k8s.io/v1/StorageClass":                  {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"},

	"ray.io/v1/RayCluster": {"spec.managedBy"},
	"ray.io/v1/RayJob":     {"spec.managedBy"},
	"ray.io/v1/RayService": {"spec.managedBy"},
}

// CheckUpdate returns what of a change the API server refuses.
func CheckUpdate(old, object map[string]any) []Problem {
	key := Key(object)
	c := &checker{catalog: load(), object: node{v: object}}
	if k, ok := Lookup(key.APIVersion, key.Kind); ok {
		c.kind = k
	}
	fields := immutables[key.APIVersion+"/"+key.Kind]
	before := node{v: old}
	if before.at("immutable").v == true { // of a ConfigMap or Secret
		fields = append([]string{"binaryData", "data", "immutable", "stringData"}, fields...)
	}
	for _, field := range fields {
		was, now := before.get(field), c.object.get(field)
		if was.absent() || now.absent() || !was.decided() || !now.decided() {
			continue
		}
		if !reflect.DeepEqual(was.v, now.v) {
			what := show(was.v)
			if c.secret(was.path) {
				what = "[secret]"
			}
			c.add(now, "", "what it was ("+what+"), because it cannot be changed", "replace the object")
		}
	}
	return sorted(c.problems)
}
