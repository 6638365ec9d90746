package observability

import (
	"fmt"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
)

// MonitorsType is the token of the half in the cluster.
const MonitorsType = "onedoor:observability:Monitors"

// MonitorsArgs are the inputs of NewMonitors.
type MonitorsArgs struct {
	Cluster    pulumi.Resource                // whose addon for metrics brings the kind along
	Namespaces map[string]pulumi.StringOutput // whose pods have metrics, by name; each once it exists
}

// Monitors holds what tells the cluster's addon which pods have metrics.
type Monitors struct{ pulumi.ResourceState }

// NewMonitors declares them. Model servers have a monitor of their own, since their
// metrics are on other ports.
func NewMonitors(ctx *pulumi.Context, name string, args MonitorsArgs, opts ...pulumi.ResourceOption) (*Monitors, error) {
	m := &Monitors{}
	if err := ctx.RegisterComponentResource(MonitorsType, name, m, opts...); err != nil {
		return nil, err
	}
	for _, namespace := range sortedKeys(args.Namespaces) {
		if _, err := apiextensions.NewCustomResource(ctx, name+"-"+namespace, &apiextensions.CustomResourceArgs{
			ApiVersion: pulumi.String("azmonitoring.coreos.com/v1"), Kind: pulumi.String("PodMonitor"),
			Metadata: metav1.ObjectMetaArgs{Name: pulumi.String("platform"), Namespace: args.Namespaces[namespace], Labels: pulumi.ToStringMap(kube.Labels("platform"))},
			OtherFields: kubernetes.UntypedArgs{"spec": pulumi.Map{
				"selector":            pulumi.Map{"matchLabels": pulumi.ToStringMap(kube.Ours())},
				"podMetricsEndpoints": pulumi.Array{pulumi.Map{"port": pulumi.String(pod.StatusTag), "path": pulumi.String("/metrics"), "interval": pulumi.String("30s")}},
			}},
		}, pulumi.Parent(m), pulumi.DeletedWith(args.Cluster)); err != nil {
			return nil, fmt.Errorf("monitors %q: %s: %w", name, namespace, err)
		}
	}
	return m, ctx.RegisterResourceOutputs(m, pulumi.Map{})
}
