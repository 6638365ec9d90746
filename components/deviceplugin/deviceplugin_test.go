package deviceplugin_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"

	"onedoor/components/deviceplugin"
	"onedoor/internal/az/aks"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
	"onedoor/internal/manifest"
)

const gpuTaint = "sku=gpu:NoSchedule"

func program(pools ...aks.Pool) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		var cluster struct{ pulumi.CustomResourceState }
		if err := ctx.RegisterResource("test:index:Cluster", "aks", pulumi.Map{}, &cluster); err != nil {
			return err
		}
		_, err := deviceplugin.New(ctx, "plugin", deviceplugin.Args{
			Cluster: &cluster, Namespace: pulumi.String(kube.Devices), Image: pulumi.String("cr.azurecr.io/nvidia/k8s-device-plugin:v0.17.0"), Pools: pools,
		})
		return err
	}
}

// pool is a pool of that name, whose GPUs are cut by profile.
func pool(name, size string, profile aks.Profile, priority aks.Priority, taints ...string) aks.Pool {
	return aks.Pool{Name: name, Size: size, MIG: profile, Priority: priority, Taints: taints, Labels: map[string]string{"pool": name}}
}

func all() []aks.Pool {
	return []aks.Pool{
		pool("worker", "Standard_D4s_v5", "", ""),
		pool("h100", "Standard_NC40ads_H100_v5", "", aks.Spot, gpuTaint),
		pool("big", "Standard_ND96isr_H100_v5", "", "", gpuTaint),
		pool("a100", "Standard_NC24ads_A100_v4", aks.MIG1g, "", gpuTaint),
	}
}

func at(v any, path ...any) any {
	for _, key := range path {
		switch key := key.(type) {
		case string:
			v = v.(map[string]any)[key]
		case int:
			v = v.([]any)[key]
		}
	}
	return v
}

func TestPluginsRunOnTheNodesWithGPUs(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program(all()...))
		assert.Equal(t, []string{"plugin", "plugin-mig"}, plan.Names(":DaemonSet"))
		toleration := func(key, value string) map[string]any {
			return map[string]any{"key": key, "operator": "Equal", "value": value, "effect": "NoSchedule"}
		}
		for name, want := range map[string]struct{ pools, tolerations []any }{
			"plugin":     {[]any{"big", "h100"}, []any{toleration("kubernetes.azure.com/scalesetpriority", "spot"), toleration("sku", "gpu")}},
			"plugin-mig": {[]any{"a100"}, []any{toleration("sku", "gpu")}},
		} {
			made := plan.Get(t, name)
			assert.Equal(t, "aks", made.Options.DeletedWith)
			pod := at(made.Input("spec"), "template", "spec")
			terms := at(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", 0, "matchExpressions")
			assert.Equal(t, []any{map[string]any{"key": "pool", "operator": "In", "values": want.pools}}, terms, name)
			assert.Equal(t, want.tolerations, at(pod, "tolerations"), "%s: a taint that is not tolerated leaves its nodes without GPUs", name)
			object := map[string]any{}
			for key := range made.Inputs {
				object[string(key)] = made.Input(string(key))
			}
			assert.Empty(t, manifest.Check(object), name)
		}
	}
}

func TestOnlySlicesTakeAPrivilege(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(all()...))
	capabilities := func(name string) any {
		return at(plan.Get(t, name).Input("spec"), "template", "spec", "containers", 0, "securityContext", "capabilities")
	}
	assert.Equal(t, map[string]any{"drop": []any{"ALL"}}, capabilities("plugin"))
	assert.Equal(t, map[string]any{"add": []any{"SYS_ADMIN"}, "drop": []any{"ALL"}}, capabilities("plugin-mig"))
}

func TestWithoutGPUsThereIsNoPlugin(t *testing.T) {
	t.Parallel()
	assert.Empty(t, fake.Run(t, fake.Preview, program(all()[0])).Names(":DaemonSet"))
}
