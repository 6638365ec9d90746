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
	{"envoy", "docker.io/envoyproxy/envoy:distroless-v1.34.1", false, "the door that served models stand behind"},
	{"kuberay-operator", "mcr.microsoft.com/oss/v2/kuberay/operator:v1.6.1", false, "runs Ray clusters"},
	{"kuberay-operator-chart", "mcr.microsoft.com/aks/ai-runtime/helm/kuberay-operator:1.6.1", true, "installs the operator"},
	{"nvidia-device-plugin", "nvcr.io/nvidia/k8s-device-plugin:v0.17.0", false, "advertises GPUs and MIG slices to the scheduler"},
	{"ray-llm", "docker.io/rayproject/ray-llm:2.56.0-py312-cu130", false, "serves models"},
}

// Repository is the artifact's repository and tag in the platform's registry:
// the source without its host.
func (a Artifact) Repository() string {
	_, repository, _ := strings.Cut(a.Source, "/")
	return repository
}

// At is the artifact in the platform's registry at a digest: what a tag is moved to
// later does not run.
func (a Artifact) At(digest string) Reference {
	repository, tag, _ := strings.Cut(a.Repository(), ":")
	return Reference{Repository: repository, Tag: tag, Digest: digest}
}

// In is the reference under which the platform runs the artifact from the
// registry whose login server is given.
func (a Artifact) In(loginServer string) string { return loginServer + "/" + a.Repository() }
