package serving

import (
	"strings"

	helm "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/helm/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/images"
	"onedoor/internal/kube"
)

// operator declares the operator of Ray clusters. It sees the namespace of the models
// and no other, and its chart and image come from the platform's own registry. A
// release of another kind renders the chart while it previews, for which it would
// need the cluster.
func (b *builder) operator() (pulumi.Resource, error) {
	image, chart := images.Named("kuberay-operator"), images.Named("kuberay-operator-chart")
	at := strings.LastIndex(chart.Repository(), ":")
	repository, version := chart.Repository()[:at], chart.Repository()[at+1:]
	imageAt := strings.LastIndex(image.Repository(), ":")
	quantities := func(cpu string) pulumi.StringMap {
		return pulumi.ToStringMap(map[string]string{"cpu": cpu, "memory": "512Mi"})
	}
	return helm.NewRelease(b.ctx, b.name+"-operator", &helm.ReleaseArgs{
		Name:      pulumi.String("kuberay-operator"),
		Namespace: b.args.Operators.ToStringOutput().ToStringPtrOutput(),
		Chart:     pulumi.Sprintf("oci://%s/%s", b.args.Registry, repository),
		Version:   pulumi.String(version),
		Atomic:    pulumi.Bool(true), // a half-made release would stay in the way of the next
		Timeout:   pulumi.Int(600),
		Values: pulumi.Map{
			"image": pulumi.Map{
				"repository": pulumi.Sprintf("%s/%s", b.args.Registry, image.Repository()[:imageAt]),
				"tag":        pulumi.String(image.Repository()[imageAt+1:]),
			},
			"nodeSelector":           pulumi.ToStringMap(b.args.Heads),
			"resources":              pulumi.Map{"requests": quantities("100m"), "limits": quantities("500m")},
			"singleNamespaceInstall": pulumi.Bool(true), // roles in namespaces, none in the cluster
			"watchNamespace":         pulumi.ToStringArray([]string{kube.Serving}),
			"podSecurityContext":     pulumi.Map{"runAsNonRoot": pulumi.Bool(true), "seccompProfile": pulumi.Map{"type": pulumi.String("RuntimeDefault")}},
		},
	}, b.in...)
}
