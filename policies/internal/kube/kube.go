// Package kube is what the policy packs of this project know of Kubernetes: the
// tokens of objects, the namespace that one is in, the pods that it makes and who
// a network policy lets in. It judges nothing.
package kube

import (
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

// Tokens of Kubernetes, without versions.
const (
	Namespace  = "kubernetes:core:Namespace"
	Service    = "kubernetes:core:Service"
	Deployment = "kubernetes:apps:Deployment"
	Ingress    = "kubernetes:networking.k8s.io:Ingress"

	NetworkPolicy     = "kubernetes:networking.k8s.io:NetworkPolicy"
	CiliumPolicy      = "kubernetes:cilium.io:CiliumNetworkPolicy"
	CiliumClusterwide = "kubernetes:cilium.io:CiliumClusterwideNetworkPolicy"

	ScaledObject = "kubernetes:keda.sh:ScaledObject"
	ScaledJob    = "kubernetes:keda.sh:ScaledJob"

	RayService = "kubernetes:ray.io:RayService"
	RayCluster = "kubernetes:ray.io:RayCluster"
	RayJob     = "kubernetes:ray.io:RayJob"
)

// NamespaceOf is the namespace that the object is in.
func NamespaceOf(r *policypack.Resource) (string, propvalue.State) {
	space, state := r.Get("metadata", "namespace").Text()
	if state == propvalue.Absent {
		return "default", propvalue.Known
	}
	return space, state
}

// NameOf is the object's own name.
func NameOf(r *policypack.Resource) (string, propvalue.State) {
	return r.Get("metadata", "name").Text()
}
