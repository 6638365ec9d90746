// Package images lists the container images and charts that the platform runs
// and does not build itself. They are imported into the platform's own registry
// and run from there, so that a cluster without a way to the internet starts.
package images

import "strings"

// Artifact is an image or a chart at a pinned version.
type Artifact struct {
	Name   string // short, for people
	Source string // where it is published: registry, repository and tag
	Chart  bool   // a Helm chart stored as an OCI artifact
	Why    string
}

// Artifacts are all of them, sorted by name. Versions are pinned: a tag that
// moves would change what runs without a change here.
var Artifacts = []Artifact{
	{"kuberay-operator", "mcr.microsoft.com/oss/v2/kuberay/operator:v1.6.1", false, "runs Ray clusters"},
	{"kuberay-operator-chart", "mcr.microsoft.com/aks/ai-runtime/helm/kuberay-operator:1.6.1", true, "installs the operator"},
	{"nvidia-device-plugin", "nvcr.io/nvidia/k8s-device-plugin:v0.17.0", false, "advertises GPUs and MIG slices to the scheduler"},
	{"ray", "mcr.microsoft.com/aks/ai-runtime/ray:py3.12-ray2.55.1-cuda13.0", false, "serves models"},
}

// Repository is the artifact's repository and tag in the platform's registry:
// the source without its host.
func (a Artifact) Repository() string {
	_, repository, _ := strings.Cut(a.Source, "/")
	return repository
}

// In is the reference under which the platform runs the artifact from the
// registry whose login server is given.
func (a Artifact) In(loginServer string) string { return loginServer + "/" + a.Repository() }
