package kube

import (
	"fmt"
	"slices"

	"onedoor/internal/manifest"
)

// target is what an autoscaler scales.
type target struct{ apiVersion, kind, name string }

// targetOf reads a scaleTargetRef; KEDA takes a Deployment where none is named.
func targetOf(ref any) target {
	t := target{textAt(ref, "apiVersion"), textAt(ref, "kind"), textAt(ref, "name")}
	if t.apiVersion == "" {
		t.apiVersion = "apps/v1"
	}
	if t.kind == "" {
		t.kind = "Deployment"
	}
	return t
}

// admitKEDA is KEDA's webhook: a workload has one scaler (A630), an autoscaler
// one owner, and shares of a CPU need a request (A631).
// https://github.com/kedacore/keda/blob/v2.21.0/apis/keda/v1alpha1/scaledobject_webhook.go
func (c *Cluster) admitKEDA(key manifest.ObjectKey, body map[string]any) *Status {
	if key.Kind != "ScaledObject" || !c.keda() {
		return nil
	}
	scaled, autoscaler := targetOf(at(body, "spec.scaleTargetRef")), manifest.AutoscalerOf(body)
	for _, o := range c.objects() {
		if o.key.Namespace != key.Namespace || o.key == key {
			continue
		}
		same := targetOf(at(o.body, "spec.scaleTargetRef")) == scaled && scaled.name != ""
		switch o.key.Kind {
		case "ScaledObject":
			if same {
				return webhook("the workload '%s' of type '%s.%s' is already managed by the ScaledObject '%s'", scaled.name, scaled.apiVersion, scaled.kind, o.key.Name)
			}
			if autoscaler != "" && manifest.AutoscalerOf(o.body) == autoscaler {
				return webhook("the HPA '%s' is already managed by the ScaledObject '%s'", autoscaler, o.key.Name)
			}
		case "HorizontalPodAutoscaler":
			annotations, _ := at(o.body, "metadata.annotations").(map[string]any)
			if same && annotations["validations.keda.sh/hpa-ownership"] != "false" && !c.transfers(body, o.key.Name) {
				return webhook("the workload '%s' of type '%s.%s' is already managed by the hpa '%s'", scaled.name, scaled.apiVersion, scaled.kind, o.key.Name)
			}
		}
	}
	return c.resourceTriggers(key, body, scaled)
}

// transfers says whether a ScaledObject takes an autoscaler over.
func (c *Cluster) transfers(body map[string]any, hpa string) bool {
	annotations, _ := at(body, "metadata.annotations").(map[string]any)
	return annotations["scaledobject.keda.sh/transfer-hpa-ownership"] == "true" && manifest.AutoscalerOf(body) == hpa
}

func (c *Cluster) resourceTriggers(key manifest.ObjectKey, body map[string]any, scaled target) *Status {
	for _, trigger := range listAt(body, "spec.triggers") {
		resource := textAt(trigger, "type")
		if resource != "cpu" && resource != "memory" {
			continue
		}
		workload, ok := c.stored(manifest.ObjectKey{APIVersion: scaled.apiVersion, Kind: scaled.kind, Namespace: key.Namespace, Name: scaled.name})
		if !ok {
			return webhook("%s %q not found", scaled.kind, scaled.name)
		}
		for _, container := range listAt(workload.Body, "spec.template.spec.containers") {
			if at(container, "resources.requests."+resource) == nil && at(container, "resources.limits."+resource) == nil {
				return webhook("the scaledobject has a %s trigger but the container %s doesn't have the %s request defined", resource, textAt(container, "name"), resource)
			}
		}
	}
	return nil
}

// scaledObjectStatus is what KEDA's controller finds: a target and credentials
// that are missing are no refusal, but nothing scales (A632).
func (c *Cluster) scaledObjectStatus(key manifest.ObjectKey, body map[string]any) map[string]any {
	scaled := targetOf(at(body, "spec.scaleTargetRef"))
	why := ""
	if _, ok := c.stored(manifest.ObjectKey{APIVersion: scaled.apiVersion, Kind: scaled.kind, Namespace: key.Namespace, Name: scaled.name}); !ok {
		why = fmt.Sprintf("%s %q not found", scaled.kind, scaled.name)
	}
	if missing := c.missingAuthentication(key, body); missing != "" && why == "" {
		why = missing
	}
	ready := map[string]any{"type": "Ready", "status": "True", "reason": "ScaledObjectReady", "message": "ScaledObject is defined correctly and is ready for scaling"}
	if why != "" {
		ready = map[string]any{"type": "Ready", "status": "False", "reason": "ScaledObjectCheckFailed", "message": why}
	}
	return map[string]any{
		"conditions": []any{ready}, "hpaName": manifest.AutoscalerOf(body),
		"originalReplicaCount": 1.0, "scaleTargetKind": scaled.apiVersion + "." + scaled.kind,
	}
}

// missingAuthentication names the first TriggerAuthentication that is not there.
func (c *Cluster) missingAuthentication(key manifest.ObjectKey, body map[string]any) string {
	for _, trigger := range listAt(body, "spec.triggers") {
		name := textAt(trigger, "authenticationRef.name")
		if name == "" {
			continue
		}
		wanted := manifest.ObjectKey{APIVersion: key.APIVersion, Kind: "TriggerAuthentication", Namespace: key.Namespace, Name: name}
		if textAt(trigger, "authenticationRef.kind") == "ClusterTriggerAuthentication" {
			wanted.Kind, wanted.Namespace = "ClusterTriggerAuthentication", ""
		}
		if _, ok := c.stored(wanted); !ok {
			return fmt.Sprintf("%s %q not found", wanted.Kind, name)
		}
	}
	return ""
}

// scalers are KEDA's objects that carry its finalizer.
var scalers = []string{"ScaledObject", "ScaledJob", "TriggerAuthentication", "ClusterTriggerAuthentication"}

// addFinalizer is what KEDA's operator does with its objects.
func (c *Cluster) addFinalizer(key manifest.ObjectKey, metadata map[string]any) {
	if !slices.Contains(scalers, key.Kind) || key.Group() != "keda.sh" || !c.keda() {
		return
	}
	finalizers, _ := metadata["finalizers"].([]any)
	if !slices.Contains(finalizers, any(kedaFinalizer)) {
		metadata["finalizers"] = append(slices.Clone(finalizers), kedaFinalizer)
	}
}
