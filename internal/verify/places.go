package verify

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"onedoor/internal/engine"
)

// controlPlane is the service account of the one program that may reach a model
// account: nothing is tried as it.
const controlPlane = "control-plane"

// Place is where a program of the plan runs, as its pods do: walls look at all of it.
type Place struct {
	Namespace string
	Name      string
	Account   string // service account
	Labels    map[string]string
	Selector  map[string]string // of nodes
	Tolerates []corev1.Toleration
}

// String names the place.
func (p Place) String() string { return p.Namespace + "/" + p.Name }

// template is a pod as a plan writes it. Values that are not known yet are texts, so
// only what is needed here is read.
type template struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		ServiceAccountName string              `json:"serviceAccountName"`
		NodeSelector       map[string]string   `json:"nodeSelector"`
		Tolerations        []corev1.Toleration `json:"tolerations"`
	} `json:"spec"`
}

// placesOf are the workloads that may call no model: those with a workload identity
// that are no control plane. Model servers are left out, because a Job there would wake
// a node with GPUs.
func placesOf(plan []engine.Resource) []Place {
	var out []Place
	for _, r := range plan {
		var spec map[string]any
		switch r.Type {
		case "kubernetes:apps/v1:Deployment":
			spec = object(object(r.Inputs, "spec"), "template")
		case "kubernetes:keda.sh/v1alpha1:ScaledJob":
			spec = object(object(object(r.Inputs, "spec"), "jobTargetRef"), "template")
		}
		if spec == nil {
			continue
		}
		var t template
		raw, err := json.Marshal(spec)
		if err != nil || json.Unmarshal(raw, &t) != nil {
			continue
		}
		if t.Metadata.Labels["azure.workload.identity/use"] != "true" || t.Spec.ServiceAccountName == controlPlane {
			continue
		}
		metadata := object(r.Inputs, "metadata")
		out = append(out, Place{text(metadata, "namespace"), text(metadata, "name"), t.Spec.ServiceAccountName, t.Metadata.Labels, t.Spec.NodeSelector, t.Spec.Tolerations})
	}
	slices.SortFunc(out, func(a, b Place) int { return strings.Compare(a.String(), b.String()) })
	return out
}
