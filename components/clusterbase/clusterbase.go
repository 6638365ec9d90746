// Package clusterbase owns what every workload in the cluster stands on: a KEDA
// operator that has its identity, the namespaces with what they may hold, and the
// service accounts that identities trust. The workloads themselves are other
// components.
package clusterbase

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:clusterbase:ClusterBase"

const (
	// partOf is the recommended label for what an object belongs to.
	// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
	partOf = "app.kubernetes.io/part-of"
	// restartAnnotation changes a template of pods, so that they are made again.
	restartAnnotation = "onedoor/started-after"
)

// Args are the inputs of New.
type Args struct {
	Cluster  pulumi.Resource // everything here goes with it
	Accounts map[kube.ServiceAccount]Account
	Quotas   map[string]Quota // by namespace; one without may hold whatever fits
}

// Account is a service account.
type Account struct {
	ClientID pulumi.StringInput // of the identity it acts as, once that trusts it; nil for none
}

// ClusterBase is the ground of the cluster. Fields below ResourceState are its
// outputs.
type ClusterBase struct {
	pulumi.ResourceState
	Namespaces map[string]pulumi.StringOutput // names by themselves, each once its accounts exist
	Scaling    pulumi.Resource                // the operator of KEDA, with an identity
}

// podSecurity is what the API server lets the pods of each namespace do.
// https://kubernetes.io/docs/concepts/security/pod-security-standards/
var podSecurity = map[string]string{
	kube.Batch:   "restricted",
	kube.Edge:    "restricted",
	kube.KubeRay: "restricted",
	kube.Workers: "restricted",
	kube.Serving: "baseline",   // images of model servers run as root
	kube.Devices: "privileged", // the plugin mounts a directory of the node
}

// New declares the ground. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*ClusterBase, error) {
	b := &ClusterBase{Namespaces: map[string]pulumi.StringOutput{}}
	if err := ctx.RegisterComponentResource(Type, name, b, opts...); err != nil {
		return nil, err
	}
	in := []pulumi.ResourceOption{pulumi.Parent(b), pulumi.DeletedWith(args.Cluster)}
	var err error
	if b.Scaling, err = restartKEDA(ctx, name, in); err != nil {
		return nil, fmt.Errorf("cluster base %q: restart of KEDA: %w", name, err)
	}
	for _, namespace := range slices.Sorted(maps.Keys(podSecurity)) {
		if b.Namespaces[namespace], err = args.namespace(ctx, name, namespace, in); err != nil {
			return nil, fmt.Errorf("cluster base %q: namespace %s: %w", name, namespace, err)
		}
	}
	return b, ctx.RegisterResourceOutputs(b, pulumi.Map{})
}

// watched is the level that pods are warned about: the strictest, but where it is
// known that none can keep it.
func watched(namespace string) string {
	if podSecurity[namespace] == "privileged" {
		return "privileged"
	}
	return "restricted"
}

// restartKEDA makes the operator of KEDA start once more, now that both KEDA and
// the webhook of workload identity exist. A pod gets its token only when it is
// made after the webhook, and Azure promises no order: an operator that came first
// would never reach a queue. For one that came in time it costs one restart in the
// life of the cluster.
// https://learn.microsoft.com/azure/aks/keda-about
func restartKEDA(ctx *pulumi.Context, name string, in []pulumi.ResourceOption) (pulumi.Resource, error) {
	return appsv1.NewDeploymentPatch(ctx, name+"-restart-keda", &appsv1.DeploymentPatchArgs{
		Metadata: metav1.ObjectMetaPatchArgs{Name: pulumi.String("keda-operator"), Namespace: pulumi.String(kube.System)},
		Spec: appsv1.DeploymentSpecPatchArgs{Template: corev1.PodTemplateSpecPatchArgs{
			Metadata: metav1.ObjectMetaPatchArgs{Annotations: pulumi.StringMap{restartAnnotation: pulumi.String("workload-identity")}},
		}},
	}, in...)
}

// namespace declares a namespace and its accounts.
func (a Args) namespace(ctx *pulumi.Context, name, namespace string, in []pulumi.ResourceOption) (pulumi.StringOutput, error) {
	made, err := corev1.NewNamespace(ctx, name+"-"+namespace, &corev1.NamespaceArgs{
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(namespace), Labels: pulumi.StringMap{
			partOf:                               pulumi.String("onedoor"),
			"pod-security.kubernetes.io/enforce": pulumi.String(podSecurity[namespace]),
			"pod-security.kubernetes.io/audit":   pulumi.String(watched(namespace)),
			"pod-security.kubernetes.io/warn":    pulumi.String(watched(namespace)),
		}},
	}, in...)
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	ready := []pulumi.Resource{made}
	if quota, limited := a.Quotas[namespace]; limited {
		one, err := quota.declare(ctx, name+"-"+namespace+"-quota", ref.After(pulumi.String(namespace), made), in)
		if err != nil {
			return pulumi.StringOutput{}, fmt.Errorf("quota: %w", err)
		}
		ready = append(ready, one)
	}
	for _, account := range slices.SortedFunc(maps.Keys(a.Accounts), kube.ServiceAccount.Compare) {
		if account.Namespace != namespace {
			continue
		}
		acts := a.Accounts[account]
		var annotations pulumi.StringMapInput
		if acts.ClientID != nil {
			annotations = pulumi.StringMap{kube.ClientIDAnnotation: acts.ClientID}
		}
		one, err := corev1.NewServiceAccount(ctx, name+"-"+account.Name, &corev1.ServiceAccountArgs{
			Metadata: metav1.ObjectMetaArgs{
				Name:        pulumi.String(account.Name),
				Namespace:   ref.After(pulumi.String(namespace), made),
				Labels:      pulumi.StringMap{partOf: pulumi.String("onedoor")},
				Annotations: annotations,
			},
			AutomountServiceAccountToken: pulumi.Bool(false), // a pod that needs a token mounts it by name
		}, in...)
		if err != nil {
			return pulumi.StringOutput{}, fmt.Errorf("account %s: %w", account.Name, err)
		}
		ready = append(ready, one)
	}
	return ref.After(pulumi.String(namespace), ready...), nil
}
