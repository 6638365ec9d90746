package batch

import (
	"fmt"

	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	rbacv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/rbac/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

// rbac is the API group of roles.
const rbac = "rbac.authorization.k8s.io"

// access lets the control plane send events, and do two things at the API server:
// agree on a leader by the lease of its name, and ask whose a token is.
func (b *builder) access() ([]pulumi.Resource, error) {
	subjects := rbacv1.SubjectArray{rbacv1.SubjectArgs{Kind: pulumi.String("ServiceAccount"), Name: pulumi.String(kube.ControlPlane.Name), Namespace: pulumi.String(kube.ControlPlane.Namespace)}}
	leases, err := rbacv1.NewRole(b.ctx, b.name+"-leases", &rbacv1.RoleArgs{
		Metadata: b.metadata(nil),
		Rules: rbacv1.PolicyRuleArray{
			// Kubernetes cannot hold the making of an object to its name.
			rule("coordination.k8s.io", "leases", "", "create"),
			rule("coordination.k8s.io", "leases", app, "get", "update", "patch"),
		},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("role: %w", err)
	}
	leads, err := rbacv1.NewRoleBinding(b.ctx, b.name+"-leads", &rbacv1.RoleBindingArgs{
		Metadata: b.metadata(nil), Subjects: subjects,
		RoleRef: rbacv1.RoleRefArgs{ApiGroup: pulumi.String(rbac), Kind: pulumi.String("Role"), Name: ref.After(pulumi.String(app), leases)},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("binding: %w", err)
	}
	const reviewer = "onedoor-control-plane"
	wide := metav1.ObjectMetaArgs{Name: pulumi.String(reviewer), Labels: pulumi.ToStringMap(kube.Labels(app))}
	reviews, err := rbacv1.NewClusterRole(b.ctx, b.name+"-reviews", &rbacv1.ClusterRoleArgs{
		Metadata: wide, Rules: rbacv1.PolicyRuleArray{rule("authentication.k8s.io", "tokenreviews", "", "create")},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("cluster role: %w", err)
	}
	asks, err := rbacv1.NewClusterRoleBinding(b.ctx, b.name+"-asks", &rbacv1.ClusterRoleBindingArgs{
		Metadata: wide, Subjects: subjects,
		RoleRef: rbacv1.RoleRefArgs{ApiGroup: pulumi.String(rbac), Kind: pulumi.String("ClusterRole"), Name: ref.After(pulumi.String(reviewer), reviews)},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("cluster binding: %w", err)
	}
	// The role is named after metrics, and is for all telemetry.
	// https://learn.microsoft.com/azure/azure-monitor/app/azure-ad-authentication
	events := b.args.Events
	sends, err := b.args.Scope.Grant(b.ctx, b.name+"-sends-events", az.MetricsPublisher, events.Sender, events.Insights, b.azure)
	if err != nil {
		return nil, err
	}
	return []pulumi.Resource{leads, asks, sends}, nil
}

// rule allows verbs on a resource, or on the one object of it that is named.
func rule(group, resource, name string, verbs ...string) rbacv1.PolicyRuleArgs {
	r := rbacv1.PolicyRuleArgs{ApiGroups: pulumi.ToStringArray([]string{group}), Resources: pulumi.ToStringArray([]string{resource}), Verbs: pulumi.ToStringArray(verbs)}
	if name != "" {
		r.ResourceNames = pulumi.ToStringArray([]string{name})
	}
	return r
}
