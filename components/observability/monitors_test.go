package observability_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"

	"onedoor/components/observability"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
)

// The addon scrapes a pod only where a monitor says so.
func TestPodsHaveAMonitor(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, func(ctx *pulumi.Context) error {
		var cluster struct{ pulumi.CustomResourceState }
		if err := ctx.RegisterResource("test:index:Cluster", "aks", pulumi.Map{}, &cluster); err != nil {
			return err
		}
		_, err := observability.NewMonitors(ctx, "monitors", observability.MonitorsArgs{
			Cluster:    &cluster,
			Namespaces: map[string]pulumi.StringOutput{kube.Batch: pulumi.String(kube.Batch).ToStringOutput(), kube.Workers: pulumi.String(kube.Workers).ToStringOutput()},
		})
		return err
	})
	for _, namespace := range []string{kube.Batch, kube.Workers} {
		monitor := plan.Get(t, "monitors-"+namespace)
		assert.Equal(t, namespace, monitor.Input("metadata").(map[string]any)["namespace"])
		spec := monitor.Input("spec").(map[string]any)
		assert.Equal(t, []any{map[string]any{"port": pod.StatusTag, "path": "/metrics", "interval": "30s"}}, spec["podMetricsEndpoints"])
		labels := spec["selector"].(map[string]any)["matchLabels"].(map[string]any)
		assert.Len(t, labels, 1)
		for key, value := range labels {
			assert.Equal(t, kube.Labels("any")[key], value, "every app's pods have it")
		}
		assert.Equal(t, "aks", monitor.Options.DeletedWith)
	}
}
