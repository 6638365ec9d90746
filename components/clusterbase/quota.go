package clusterbase

import (
	"fmt"
	"maps"
	"slices"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Quota is the most that the pods of a namespace may ask for together: what the
// workloads that are planned need, so that a workload that nobody planned does not
// take their place. Pods that do not say what they ask for are refused.
// https://kubernetes.io/docs/concepts/policy/resource-quotas/
type Quota struct {
	Pods      int            // 0 for any number
	CPUMilli  int            // thousandths of a core; 0 for any
	MemoryMiB int            // 0 for any
	Devices   map[string]int // by resource, as in "nvidia.com/gpu"
}

// declare declares the quota in a namespace.
func (q Quota) declare(ctx *pulumi.Context, name string, namespace pulumi.StringInput, in []pulumi.ResourceOption) (pulumi.Resource, error) {
	hard := map[string]string{}
	set := func(resource string, n int, unit string) {
		if n > 0 {
			hard[resource] = fmt.Sprintf("%d%s", n, unit)
		}
	}
	set("pods", q.Pods, "")
	set("requests.cpu", q.CPUMilli, "m")
	set("requests.memory", q.MemoryMiB, "Mi")
	for _, device := range slices.Sorted(maps.Keys(q.Devices)) {
		set("requests."+device, q.Devices[device], "")
	}
	return corev1.NewResourceQuota(ctx, name, &corev1.ResourceQuotaArgs{
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String("planned"), Namespace: namespace, Labels: pulumi.StringMap{partOf: pulumi.String("onedoor")}},
		Spec:     corev1.ResourceQuotaSpecArgs{Hard: pulumi.ToStringMap(hard)},
	}, in...)
}
