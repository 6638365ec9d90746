package sim

import (
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"onedoor/internal/manifest"
)

// kubeReplaces are the fields whose change the real provider answers with a
// replacement, besides name and namespace (A609).
// https://github.com/pulumi/pulumi-kubernetes/blob/v4.32.0/provider/pkg/provider/diff.go
var kubeReplaces = map[string][]string{
	"apps/v1/DaemonSet":   {"spec.selector"},
	"apps/v1/Deployment":  {"spec.selector"},
	"apps/v1/StatefulSet": {"spec.podManagementPolicy", "spec.revisionHistoryLimit", "spec.selector", "spec.serviceName", "spec.volumeClaimTemplates"},
	"batch/v1/Job":        {"spec.completions", "spec.parallelism", "spec.selector", "spec.template"},
	"v1/PersistentVolume": {
		"spec.azureDisk", "spec.azureFile", "spec.csi", "spec.fc", "spec.flexVolume", "spec.hostPath", "spec.iscsi", "spec.local", "spec.nfs", "spec.rbd",
	},
	"v1/PersistentVolumeClaim": {"spec.accessModes", "spec.selector", "spec.storageClassName", "spec.volumeName"},
	"v1/Pod": {
		"spec.affinity", "spec.automountServiceAccountToken", "spec.containers", "spec.dnsConfig", "spec.dnsPolicy", "spec.enableServiceLinks",
		"spec.hostAliases", "spec.hostIPC", "spec.hostNetwork", "spec.hostPID", "spec.hostname", "spec.imagePullSecrets", "spec.initContainers",
		"spec.nodeName", "spec.nodeSelector", "spec.overhead", "spec.preemptionPolicy", "spec.priority", "spec.priorityClassName",
		"spec.readinessGates", "spec.restartPolicy", "spec.runtimeClassName", "spec.schedulerName", "spec.securityContext", "spec.serviceAccount",
		"spec.serviceAccountName", "spec.shareProcessNamespace", "spec.subdomain", "spec.terminationGracePeriodSeconds", "spec.volumes",
	},
	"v1/ResourceQuota": {"spec.scopes"},
	"v1/Secret":        {"type"},
	"v1/Service":       {"spec.clusterIP"},

	"rbac.authorization.k8s.io/v1/ClusterRoleBinding": {"roleRef"},
	"rbac.authorization.k8s.io/v1/RoleBinding":        {"roleRef"},
	"storage.k8s.io/v1/StorageClass":                  {"parameters", "provisioner"},
	"helm.sh/v3/Release":                              {"name", "namespace"},
}

// replacing returns the fields whose change replaces an object. Data of a
// ConfigMap or Secret does, unless the provider is told otherwise or the object
// is immutable.
func replacing(q *kubeRequest) []string {
	kind := q.key.APIVersion + "/" + q.key.Kind
	fields := append([]string{"metadata.name", "metadata.namespace"}, kubeReplaces[kind]...)
	fixed := q.object["immutable"] == true
	switch {
	case kind == "v1/ConfigMap" && (fixed || !q.config.configMapMutable):
		fields = append(fields, "binaryData", "data")
	case kind == "v1/Secret" && (fixed || !q.config.secretMutable):
		fields = append(fields, "data", "stringData")
	}
	return fields
}

var indices = regexp.MustCompile(`\[\d+\]`)

// kubeDiff compares old inputs with new ones.
func kubeDiff(old, now *kubeRequest, ignore []string) *pulumirpc.DiffResponse {
	before, after := old.comparable(), now.comparable()
	d := differ{out: map[string]*pulumirpc.PropertyDiff{}}
	d.object(before, after, "", false)
	fields := replacing(now)
	var replaces []string
	for path, change := range d.out {
		if slices.ContainsFunc(ignore, func(p string) bool { return within(path, p) }) {
			delete(d.out, path)
			continue
		}
		plainPath := indices.ReplaceAllString(path, "")
		if slices.ContainsFunc(fields, func(field string) bool { return within(plainPath, field) || within(field, plainPath) }) {
			change.Kind++ // the kind that replaces is the next in the enum
			replaces = append(replaces, path)
		}
	}
	if len(d.out) == 0 {
		return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE, HasDetailedDiff: true}
	}
	slices.Sort(replaces)
	return &pulumirpc.DiffResponse{
		Changes: pulumirpc.DiffResponse_DIFF_SOME, DetailedDiff: d.out, HasDetailedDiff: true,
		Diffs: slices.Sorted(maps.Keys(d.out)), Replaces: replaces,
		// An object of the same name cannot stand beside the one it replaces. The
		// real provider leaves a release where it is.
		DeleteBeforeReplace: len(replaces) > 0 && !now.release() && nameOf(before) == nameOf(after),
	}
}

// comparable brings inputs into a form in which equal means equal to the server.
func (q *kubeRequest) comparable() map[string]any {
	if q.release() {
		return plain(q.inputs)
	}
	object := secretData(q.object)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		kind, known := manifest.Lookup(q.key.APIVersion, q.key.Kind)
		switch {
		case known && !kind.Namespaced:
			delete(metadata, "namespace")
		case metadata["namespace"] == nil:
			metadata["namespace"] = q.config.defaultNamespace()
		}
		object = maps.Clone(object)
		object["metadata"] = metadata
	}
	return object
}

// secretData turns the texts of a Secret into data, as the server does. Where
// something is not known, they stay apart.
func secretData(object map[string]any) map[string]any {
	texts, ok := object["stringData"].(map[string]any)
	if !ok || object["kind"] != "Secret" {
		return object
	}
	data := map[string]any{}
	if have, ok := object["data"].(map[string]any); ok {
		maps.Copy(data, have)
	}
	for key, v := range texts {
		text, known := v.(string)
		if !known {
			data[key] = v
			continue
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	object = maps.Clone(object)
	object["data"] = data
	delete(object, "stringData")
	return object
}

// nameOf returns namespace and name.
func nameOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	return strings.Join([]string{namespace, name}, "/")
}
