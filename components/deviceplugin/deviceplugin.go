// Package deviceplugin owns NVIDIA's device plugin, which offers the GPUs of nodes,
// whole or in slices, to pods. AKS installs the driver and no more. Pools, and the
// namespace with its account, belong to other components.
// https://learn.microsoft.com/azure/aks/use-nvidia-gpu
package deviceplugin

import (
	"fmt"
	"slices"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az/aks"
	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:deviceplugin:DevicePlugin"

// poolLabel is the label by which nodes are told apart: the one that a pool without
// nodes has too, which the autoscaler looks at.
const poolLabel = "pool"

// socketPath is where plugins meet the kubelet.
// https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/
const socketPath = "/var/lib/kubelet/device-plugins"

// size is what a plugin asks for.
var size = pod.Size{CPU: 25, CPULimit: 200, Memory: 128}

// Args are the inputs of New.
type Args struct {
	Cluster   pulumi.Resource // everything here goes with it
	Namespace pulumi.StringInput
	Image     pulumi.StringInput
	Pools     []aks.Pool // all of the cluster; those without GPUs are passed over
}

// DevicePlugin holds the plugins. Whoever asks for GPUs waits for it.
type DevicePlugin struct {
	pulumi.ResourceState
}

// New declares a plugin for the pools with whole GPUs and one for those with
// slices: only the latter looks into the driver's settings, which takes a
// privilege. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*DevicePlugin, error) {
	d := &DevicePlugin{}
	if err := ctx.RegisterComponentResource(Type, name, d, opts...); err != nil {
		return nil, err
	}
	in := []pulumi.ResourceOption{pulumi.Parent(d), pulumi.DeletedWith(args.Cluster)}
	for _, group := range []struct {
		suffix string
		slices bool
	}{{"", false}, {"-mig", true}} {
		var pools []aks.Pool
		for _, p := range args.Pools {
			if p.HasGPU() && (p.MIG != "") == group.slices {
				pools = append(pools, p)
			}
		}
		if len(pools) == 0 {
			continue
		}
		if _, err := appsv1.NewDaemonSet(ctx, name+group.suffix, args.plugin(kube.DevicePlugin.Name+group.suffix, pools, group.slices), in...); err != nil {
			return nil, fmt.Errorf("device plugin %q: %w", name+group.suffix, err)
		}
	}
	return d, ctx.RegisterResourceOutputs(d, pulumi.Map{})
}

// plugin is the DaemonSet on the nodes of pools, with what NVIDIA's own chart gives
// it. Slices count as whole GPUs do (strategy single), so a pool scales from zero.
// https://github.com/NVIDIA/k8s-device-plugin/tree/v0.17.0/deployments/helm/nvidia-device-plugin
func (a Args) plugin(app string, pools []aks.Pool, sliced bool) *appsv1.DaemonSetArgs {
	security := corev1.SecurityContextArgs{
		AllowPrivilegeEscalation: pulumi.Bool(false),
		Capabilities:             corev1.CapabilitiesArgs{Drop: pulumi.ToStringArray([]string{"ALL"})},
	}
	env := map[string]pulumi.StringInput{
		"FAIL_ON_INIT_ERROR": pulumi.String("false"), // a node whose driver comes later is tried again
		"MIG_STRATEGY":       pulumi.String(string(aks.StrategySingle)),
	}
	if sliced {
		security.Capabilities = corev1.CapabilitiesArgs{Add: pulumi.ToStringArray([]string{"SYS_ADMIN"}), Drop: pulumi.ToStringArray([]string{"ALL"})}
		env["NVIDIA_MIG_MONITOR_DEVICES"] = pulumi.String("all")
	}
	names := make([]string, len(pools))
	for i, p := range pools {
		names[i] = p.Labels[poolLabel]
	}
	slices.Sort(names)
	return &appsv1.DaemonSetArgs{
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(app), Namespace: a.Namespace, Labels: pulumi.ToStringMap(kube.Labels(app))},
		Spec: appsv1.DaemonSetSpecArgs{
			Selector:       metav1.LabelSelectorArgs{MatchLabels: pulumi.ToStringMap(kube.Selector(app))},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategyArgs{Type: pulumi.String("RollingUpdate")},
			Template: corev1.PodTemplateSpecArgs{
				Metadata: metav1.ObjectMetaArgs{Labels: pulumi.ToStringMap(kube.Labels(app))},
				Spec: corev1.PodSpecArgs{
					ServiceAccountName:           pulumi.String(kube.DevicePlugin.Name),
					AutomountServiceAccountToken: pulumi.Bool(false),
					PriorityClassName:            pulumi.String("system-node-critical"),
					Tolerations:                  pod.Tolerations(aks.Tolerations(pools...)),
					Affinity: corev1.AffinityArgs{NodeAffinity: corev1.NodeAffinityArgs{RequiredDuringSchedulingIgnoredDuringExecution: corev1.NodeSelectorArgs{
						NodeSelectorTerms: corev1.NodeSelectorTermArray{corev1.NodeSelectorTermArgs{MatchExpressions: corev1.NodeSelectorRequirementArray{
							corev1.NodeSelectorRequirementArgs{Key: pulumi.String(poolLabel), Operator: pulumi.String("In"), Values: pulumi.ToStringArray(names)},
						}}},
					}}},
					Containers: corev1.ContainerArray{corev1.ContainerArgs{
						Name: pulumi.String("plugin"), Image: a.Image.ToStringOutput().ToStringPtrOutput(), Env: pod.Env(env),
						Resources: size.Resources(), SecurityContext: security,
						VolumeMounts: corev1.VolumeMountArray{corev1.VolumeMountArgs{Name: pulumi.String("sockets"), MountPath: pulumi.String(socketPath)}},
					}},
					Volumes: corev1.VolumeArray{corev1.VolumeArgs{Name: pulumi.String("sockets"), HostPath: corev1.HostPathVolumeSourceArgs{
						Path: pulumi.String(socketPath), Type: pulumi.String("Directory"),
					}}},
				},
			},
		},
	}
}
