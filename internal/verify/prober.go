package verify

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"onedoor/internal/pause"
)

// Jobs tries connections with Jobs. It deletes each when it has ended.
type Jobs struct {
	Client kubernetes.Interface
	Image  string // has curl, and is from a registry that the cluster admits
}

const (
	// askEvery is how often a Job is asked whether it has ended.
	askEvery = 2 * time.Second
	// cleanFor is how long deleting may take after the caller has given up.
	cleanFor = 10 * time.Second
)

// Try implements Prober.
func (j Jobs) Try(ctx context.Context, place Place, host string) (Outcome, string) {
	jobs := j.Client.BatchV1().Jobs(place.Namespace)
	made, err := jobs.Create(ctx, jobOf(place, j.Image, host), metav1.CreateOptions{})
	if err != nil {
		return Unclear, fmt.Sprintf("the Job could not be made: %v", err)
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanFor)
		defer cancel()
		below := metav1.DeletePropagationBackground
		_ = jobs.Delete(clean, made.Name, metav1.DeleteOptions{PropagationPolicy: &below}) // Kubernetes deletes it by itself in the end
	}()
	for {
		now, err := jobs.Get(ctx, made.Name, metav1.GetOptions{})
		if err != nil {
			return Unclear, fmt.Sprintf("the Job could not be read: %v", err)
		}
		if ended(now) {
			return j.read(ctx, now)
		}
		if err := pause.For(ctx, askEvery); err != nil {
			return Unclear, fmt.Sprintf("the Job had not ended: %v", err)
		}
	}
}

func ended(job *batchv1.Job) bool {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// read says how the Job's one pod ended.
func (j Jobs) read(ctx context.Context, job *batchv1.Job) (Outcome, string) {
	pods, err := j.Client.CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name})
	if err != nil {
		return Unclear, fmt.Sprintf("the pod of the Job could not be read: %v", err)
	}
	for _, pod := range pods.Items {
		for _, status := range pod.Status.ContainerStatuses {
			if end := status.State.Terminated; status.Name == container && end != nil {
				return outcomeOf(end.ExitCode, end.Message)
			}
			if waits := status.State.Waiting; status.Name == container && waits != nil {
				return Unclear, fmt.Sprintf("the pod did not start: %s %s", waits.Reason, waits.Message)
			}
		}
	}
	return Unclear, "the Job ended without a pod: admission may refuse it, or no node has room; see the events of its namespace"
}
