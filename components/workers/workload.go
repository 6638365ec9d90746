package workers

import (
	"fmt"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
	"onedoor/internal/kube/secrets"
	"onedoor/internal/ref"
)

// keys declares how the queue's workers mount the keys, as themselves. It returns
// the name of the class.
func (b *builder) keys(app string, q Queue) (pulumi.StringInput, error) {
	mounts := secrets.OfKeys(b.args.Keys)
	made, err := secrets.Class(b.ctx, b.name+"-"+app+"-keys", secrets.ClassArgs{
		Name: app, Namespace: b.args.Namespace, Vault: b.args.Keys.Vault, Tenant: b.args.Keys.Tenant, ClientID: q.ClientID, Mounts: mounts,
	}, b.in...)
	if err != nil {
		return nil, err
	}
	return ref.After(pulumi.String(app), made), nil
}

// deployment declares the pods of a queue. It says nothing of how many: that is
// the scaler's, and a number here would undo it at every update. What disturbs
// nodes on purpose takes one of them at a time.
func (b *builder) deployment(modality, app string, q Queue, class pulumi.StringInput) (pulumi.Resource, error) {
	made, err := appsv1.NewDeployment(b.ctx, b.name+"-"+modality, &appsv1.DeploymentArgs{
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(app), Namespace: b.args.Namespace, Labels: pulumi.ToStringMap(kube.Labels(app))},
		Spec: appsv1.DeploymentSpecArgs{
			Selector:                metav1.LabelSelectorArgs{MatchLabels: pulumi.ToStringMap(kube.Selector(app))},
			Template:                b.template(modality, app, q, class, "Always"),
			ProgressDeadlineSeconds: pulumi.Int(pod.StartSeconds),
			RevisionHistoryLimit:    pulumi.Int(pod.Revisions),
		},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("deployment: %w", err)
	}
	if _, err := policyv1.NewPodDisruptionBudget(b.ctx, b.name+"-"+modality+"-disruptions", &policyv1.PodDisruptionBudgetArgs{
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(app), Namespace: b.args.Namespace, Labels: pulumi.ToStringMap(kube.Labels(app))},
		Spec: policyv1.PodDisruptionBudgetSpecArgs{
			MaxUnavailable: pulumi.Int(1), // a least number would hold up nodes when there is no pod
			Selector:       metav1.LabelSelectorArgs{MatchLabels: pulumi.ToStringMap(kube.Selector(app))},
		},
	}, b.in...); err != nil {
		return nil, fmt.Errorf("disruption budget: %w", err)
	}
	return made, nil
}
