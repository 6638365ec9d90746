// Package kube names what the two halves of the program must agree on inside the
// cluster: namespaces, service accounts and labels. The Azure half lets identities
// trust them, the in-cluster half makes them.
package kube

import (
	"cmp"
	"fmt"
)

// The namespaces of the platform. Each holds one kind of work, so that rules can
// tell them apart.
const (
	Batch   = "onedoor-batch"   // the batch control plane
	Workers = "onedoor-workers" // queue workers
	Serving = "onedoor-serving" // model servers
	Edge    = "onedoor-edge"    // the door that model servers stand behind
	KubeRay = "onedoor-kuberay" // the operator that makes model servers
	Devices = "onedoor-devices" // the plugin that offers GPUs
	System  = "kube-system"     // AKS's own
)

// Namespaces are the platform's, sorted.
var Namespaces = []string{Batch, Devices, Edge, KubeRay, Serving, Workers}

// ServiceAccount is an account of pods.
type ServiceAccount struct {
	Namespace, Name string
}

// String is the subject of the account's tokens.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#service-account-tokens
func (a ServiceAccount) String() string {
	return fmt.Sprintf("system:serviceaccount:%s:%s", a.Namespace, a.Name)
}

// Compare orders accounts by namespace, then name.
func (a ServiceAccount) Compare(b ServiceAccount) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// The service accounts.
var (
	ControlPlane = ServiceAccount{Batch, "control-plane"}
	ModelServer  = ServiceAccount{Serving, "model-server"}
	ServingEdge  = ServiceAccount{Edge, "serving-edge"}
	DevicePlugin = ServiceAccount{Devices, "device-plugin"}
	// Anyscale is the account of Anyscale's operator, where a stack has one.
	// https://github.com/Azure-Samples/aks-anyscale
	Anyscale = ServiceAccount{"anyscale-operator", "anyscale-operator"}
	// Nightly is the account of the jobs that start batch jobs at fixed times. They
	// are clients of the control plane like any other, so they run where workers
	// do and not on the nodes that reach the batch account.
	Nightly = ServiceAccount{Workers, "nightly"}
	// KEDA is the account of KEDA's operator. It asks for the length of every queue
	// itself, whatever identity it is told to use.
	// https://github.com/kedacore/keda/issues/4219
	KEDA = ServiceAccount{System, "keda-operator"}
)

// Worker is the account of the workers of a queue.
func Worker(modality string) ServiceAccount { return ServiceAccount{Workers, "worker-" + modality} }

// Of workload identity. The annotation names the client of an account's identity,
// the label goes on every pod that needs its token.
// https://azure.github.io/azure-workload-identity/docs/topics/service-account-labels-and-annotations.html
const (
	ClientIDAnnotation = "azure.workload.identity/client-id"
	UseLabel           = "azure.workload.identity/use"
)

// The recommended labels of the platform's objects.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
const (
	nameLabel   = "app.kubernetes.io/name"
	partOfLabel = "app.kubernetes.io/part-of"
)

// Selector finds the pods of an app.
func Selector(app string) map[string]string { return map[string]string{nameLabel: app} }

// Labels are those of the objects of an app.
func Labels(app string) map[string]string {
	return map[string]string{nameLabel: app, partOfLabel: "onedoor"}
}

// Ours finds the pods of every app.
func Ours() map[string]string { return map[string]string{partOfLabel: "onedoor"} }

// WaitFor makes a deployment wait until a condition of an object holds.
// https://www.pulumi.com/registry/packages/kubernetes/installation-configuration/#pulumi-annotations
const WaitFor = "pulumi.com/waitFor"

// Audience is that of the tokens which pods of the cluster show the control plane:
// one for another audience opens nothing here, and these open nothing else.
const Audience = "onedoor-control-plane"
