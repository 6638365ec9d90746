package kube

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/google/uuid"

	"onedoor/internal/manifest"
	"onedoor/sim/core"
)

// namespace makes the ids that a server would draw at random.
var namespace = uuid.MustParse("6b756265-6f6e-4564-8f6f-720000000000")

// made is the time of every creation (A613).
const made = "2026-01-01T00:00:00Z"

func id(r *core.Resource, k manifest.ObjectKey, purpose string, life int) uuid.UUID {
	return uuid.NewSHA1(namespace, fmt.Appendf(nil, "%s|%s|%d", purpose, core.ObjectKey(r, place(k)), life))
}

// stamp writes what the server writes into the metadata of every object (A613).
func stamp(r *core.Resource, k manifest.ObjectKey, body map[string]any, generation, life int) {
	metadata, _ := body["metadata"].(map[string]any)
	metadata["uid"] = id(r, k, "uid", life).String()
	metadata["creationTimestamp"] = made
	metadata["resourceVersion"] = strconv.Itoa(generation)
	metadata["generation"] = float64(generation)
}

// complete adds defaults and the status. Only those are here that a program may
// read, and enough others to show that they make no difference (A614).
func complete(c *Cluster, key manifest.ObjectKey, body map[string]any) {
	metadata, _ := body["metadata"].(map[string]any)
	for _, pod := range manifest.Pods(body) {
		if key.Group() != "ray.io" && key.Group() != "keda.sh" { // custom resources keep what they were given
			completePod(pod.Spec())
		}
	}
	spec, _ := body["spec"].(map[string]any)
	c.addFinalizer(key, metadata)
	switch key.Kind {
	case "Namespace":
		labels, _ := metadata["labels"].(map[string]any)
		if labels == nil {
			labels = map[string]any{}
			metadata["labels"] = labels
		}
		labels["kubernetes.io/metadata.name"] = key.Name
		body["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
		body["status"] = map[string]any{"phase": "Active"}
	case "Secret":
		completeSecret(body)
	case "Service":
		completeService(c, key, spec, body)
	case "Deployment":
		set(spec, "replicas", 1.0)
		set(spec, "revisionHistoryLimit", 10.0)
		set(spec, "progressDeadlineSeconds", 600.0)
		set(spec, "strategy", map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"}})
		body["status"] = ready(spec["replicas"], metadata["generation"], condition("Available", "MinimumReplicasAvailable"), condition("Progressing", "NewReplicaSetAvailable"))
	case "StatefulSet", "ReplicaSet":
		set(spec, "replicas", 1.0)
		body["status"] = ready(spec["replicas"], metadata["generation"])
	case "DaemonSet":
		set(spec, "revisionHistoryLimit", 10.0)
		set(spec, "updateStrategy", map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": 0.0, "maxUnavailable": 1.0}})
		n := float64(len(c.pools()))
		body["status"] = map[string]any{"currentNumberScheduled": n, "desiredNumberScheduled": n, "numberAvailable": n, "numberMisscheduled": 0.0, "numberReady": n, "updatedNumberScheduled": n}
	case "Job":
		body["status"] = map[string]any{"conditions": []any{condition("Complete", "CompletionsReached")}, "succeeded": 1.0}
	case "Pod":
		body["status"] = map[string]any{"phase": "Running", "conditions": []any{condition("Ready", "")}}
	case "PersistentVolumeClaim":
		body["status"] = map[string]any{"phase": "Bound"}
	case "CustomResourceDefinition":
		body["status"] = map[string]any{"conditions": []any{condition("NamesAccepted", "NoConflicts"), condition("Established", "InitialNamesAccepted")}}
	case "ScaledObject":
		body["status"] = c.scaledObjectStatus(key, body)
	case "RayService":
		body["status"] = map[string]any{"conditions": []any{condition("Ready", "NonZeroServeEndpoints")}, "numServeEndpoints": 1.0}
	case "RayCluster":
		body["status"] = map[string]any{"state": "ready"}
	}
}

func set(m map[string]any, key string, v any) {
	if m != nil && m[key] == nil {
		m[key] = v
	}
}

func condition(kind, reason string) map[string]any {
	out := map[string]any{"type": kind, "status": "True", "lastTransitionTime": made}
	if reason != "" {
		out["reason"] = reason
	}
	return out
}

func ready(replicas, generation any, conditions ...map[string]any) map[string]any {
	status := map[string]any{"observedGeneration": generation, "replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas, "updatedReplicas": replicas}
	if generation == nil {
		delete(status, "observedGeneration")
	}
	if len(conditions) > 0 {
		list := make([]any, len(conditions))
		for i, c := range conditions {
			list[i] = c
		}
		status["conditions"] = list
	}
	return status
}

func completePod(spec map[string]any) {
	if spec == nil {
		return
	}
	set(spec, "restartPolicy", "Always")
	set(spec, "dnsPolicy", "ClusterFirst")
	set(spec, "schedulerName", "default-scheduler")
	set(spec, "terminationGracePeriodSeconds", 30.0)
	set(spec, "securityContext", map[string]any{})
	for _, list := range []string{"containers", "initContainers"} {
		for _, item := range listAt(spec, list) {
			container, _ := item.(map[string]any)
			set(container, "terminationMessagePath", "/dev/termination-log")
			set(container, "terminationMessagePolicy", "File")
			set(container, "imagePullPolicy", "IfNotPresent")
			set(container, "resources", map[string]any{})
			for _, port := range listAt(container, "ports") {
				p, _ := port.(map[string]any)
				set(p, "protocol", "TCP")
			}
		}
	}
}

// completeSecret keeps texts as data alone, as the server does.
func completeSecret(body map[string]any) {
	set(body, "type", "Opaque")
	texts, _ := body["stringData"].(map[string]any)
	if len(texts) == 0 {
		return
	}
	data, _ := body["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
		body["data"] = data
	}
	for key, v := range texts {
		if text, ok := v.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	delete(body, "stringData")
}

// The annotations by which a Service asks Azure for its load balancer.
// https://learn.microsoft.com/azure/aks/load-balancer-standard#customizations-via-kubernetes-annotations
const (
	balancerAddress  = "service.beta.kubernetes.io/azure-load-balancer-ipv4"
	balancerInternal = "service.beta.kubernetes.io/azure-load-balancer-internal"
)

func completeService(c *Cluster, key manifest.ObjectKey, spec, body map[string]any) {
	set(spec, "type", "ClusterIP")
	set(spec, "sessionAffinity", "None")
	for _, port := range listAt(spec, "ports") {
		p, _ := port.(map[string]any)
		set(p, "protocol", "TCP")
		set(p, "targetPort", p["port"])
	}
	if spec == nil || spec["type"] == "ExternalName" {
		return
	}
	sum := id(c.resource, key, "address", 1)
	if address := inside(c.text("networkProfile.serviceCidr"), sum); address != "" {
		set(spec, "clusterIP", address)
		set(spec, "clusterIPs", []any{spec["clusterIP"]})
	}
	body["status"] = map[string]any{"loadBalancer": map[string]any{}}
	if spec["type"] != "LoadBalancer" {
		return
	}
	annotations, _ := at(body, "metadata.annotations").(map[string]any)
	address, _ := annotations[balancerAddress].(string)
	if address == "" {
		address, _ = spec["loadBalancerIP"].(string)
	}
	if address == "" {
		address = inside("203.0.113.0/24", sum) // for documentation, RFC 5737
		if annotations[balancerInternal] == "true" {
			address = inside("10.224.0.0/16", sum) // AKS's default network
		}
	}
	body["status"] = map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": address}}}}
}

// inside returns an address of a block, chosen by an id; "" if there is none.
func inside(block string, by uuid.UUID) string {
	prefix, err := netip.ParsePrefix(block)
	if err != nil || !prefix.Addr().Is4() {
		return ""
	}
	room := 1<<(32-prefix.Bits()) - 12 // the first addresses are the cluster's own
	if room < 1 {
		return ""
	}
	n := (int(by[0])<<16 | int(by[1])<<8 | int(by[2])) % room
	four := prefix.Masked().Addr().As4()
	value := int(four[0])<<24 | int(four[1])<<16 | int(four[2])<<8 | int(four[3])
	value += n + 11
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}).String()
}
