package batch

import (
	"fmt"
	"maps"
	"slices"

	batchv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/batch/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
)

// How a nightly job starts. Starting takes a call; the job itself is the control
// plane's and runs on when the pod is gone.
const (
	startSeconds = 1800 // for the call with all its tries
	lateSeconds  = 3600 // that a start may be late, when the cluster was busy
	tries        = 3
	tokenPath    = "/var/run/onedoor/token"
)

// NightlySize is what the pod of a nightly job asks for.
var NightlySize = pod.Size{CPU: 50, CPULimit: 500, Memory: 64}

// nightly declares a CronJob for each nightly job. It runs among the workers and
// not beside the control plane: it is a client of the door, with an account that
// may start declared jobs and acts as no identity of Azure.
func (b *builder) nightly(url pulumi.StringInput) error {
	for _, name := range slices.Sorted(maps.Keys(b.args.Settings.NightlyJobs)) {
		object := "nightly-" + name
		start := corev1.ContainerArgs{
			Name: pulumi.String("start"), Image: b.args.Image.ToStringOutput().ToStringPtrOutput(), Args: pulumi.ToStringArray([]string{"nightly", name}),
			Env: pod.Env(map[string]pulumi.StringInput{
				"ONEDOOR_CONTROL_PLANE_AUTHORITY": pulumi.String(b.args.Authority),
				"ONEDOOR_CONTROL_PLANE_URL":       url,
				"ONEDOOR_TOKEN_FILE":              pulumi.String(tokenPath + "/token"),
			}),
			Resources: NightlySize.Resources(), SecurityContext: pod.Hardened(), VolumeMounts: corev1.VolumeMountArray{pod.Mount("token", tokenPath)},
		}
		if _, err := batchv1.NewCronJob(b.ctx, b.name+"-"+object, &batchv1.CronJobArgs{
			Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(object), Namespace: b.args.Workers, Labels: pulumi.ToStringMap(kube.Labels(object))},
			Spec: batchv1.CronJobSpecArgs{
				Schedule: pulumi.String(b.args.Settings.NightlyJobs[name].Schedule), TimeZone: pulumi.String("Etc/UTC"),
				ConcurrencyPolicy: pulumi.String("Forbid"), StartingDeadlineSeconds: pulumi.Int(lateSeconds),
				SuccessfulJobsHistoryLimit: pulumi.Int(3), FailedJobsHistoryLimit: pulumi.Int(7),
				JobTemplate: batchv1.JobTemplateSpecArgs{
					Metadata: metav1.ObjectMetaArgs{Labels: pulumi.ToStringMap(kube.Labels(object))},
					Spec: batchv1.JobSpecArgs{
						BackoffLimit: pulumi.Int(tries - 1), ActiveDeadlineSeconds: pulumi.Int(startSeconds),
						Template: corev1.PodTemplateSpecArgs{
							Metadata: metav1.ObjectMetaArgs{Labels: pulumi.ToStringMap(kube.Labels(object))},
							Spec: corev1.PodSpecArgs{
								ServiceAccountName: pulumi.String(kube.Nightly.Name), AutomountServiceAccountToken: pulumi.Bool(false),
								NodeSelector: pulumi.ToStringMap(b.args.Nodes.Clients), SecurityContext: pod.Security(), RestartPolicy: pulumi.String("Never"),
								Containers: corev1.ContainerArray{start}, Volumes: corev1.VolumeArray{pod.TokenVolume("token")},
							},
						},
					},
				},
			},
		}, b.in...); err != nil {
			return fmt.Errorf("nightly job %s: %w", name, err)
		}
	}
	return nil
}
