package verify_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"onedoor/internal/verify"
)

var place = verify.Place{
	Namespace: "onedoor-workers", Name: "text", Account: "worker-text",
	Labels:    map[string]string{"app.kubernetes.io/name": "worker", "azure.workload.identity/use": "true"},
	Selector:  map[string]string{"pool": "worker"},
	Tolerates: []corev1.Toleration{{Key: "onedoor/worker", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
}

const image = "registry.example.com/curl@sha256:00"

// cluster ends every Job at once, with a pod whose container ended so.
func cluster(t *testing.T, status corev1.ContainerStatus) (*fake.Clientset, *batchv1.Job) {
	t.Helper()
	var made batchv1.Job
	client := fake.NewClientset()
	client.PrependReactor("create", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
		job := action.(clienttesting.CreateAction).GetObject().(*batchv1.Job).DeepCopy()
		made = *job.DeepCopy()
		job.Name = job.GenerateName + "x"
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
		if err := client.Tracker().Add(job); err != nil {
			return true, nil, err
		}
		status.Name = job.Spec.Template.Spec.Containers[0].Name
		return true, job, client.Tracker().Add(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: job.Name + "-1", Namespace: job.Namespace, Labels: map[string]string{batchv1.JobNameLabel: job.Name}},
			Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status}},
		})
	})
	return client, &made
}

func terminated(code int32, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status corev1.ContainerStatus
		want   verify.Outcome
		detail string
	}{
		"AnAnswer":       {terminated(0, ""), verify.GotThrough, "below 400"},
		"Forbidden":      {terminated(22, "403\n"), verify.RefusedByService, "HTTP 403"},
		"NoAddress":      {terminated(6, ""), verify.RefusedByNetwork, "no address"},
		"Refused":        {terminated(7, ""), verify.RefusedByNetwork, "refused"},
		"Dropped":        {terminated(28, ""), verify.RefusedByNetwork, "within 15 s"},
		"CutInHandshake": {terminated(35, ""), verify.RefusedByService, "cut off"},
		"CutLater":       {terminated(56, ""), verify.RefusedByService, "cut off"},
		"NoCurl":         {terminated(127, "not found"), verify.Unclear, "127 not found"},
		"KilledForLack":  {terminated(137, ""), verify.Unclear, "137"},
		"NoImage":        {corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}, verify.Unclear, "ImagePullBackOff"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _ := cluster(t, c.status)
			outcome, detail := verify.Jobs{Client: client, Image: image}.Try(t.Context(), place, "account.openai.azure.com")
			assert.Equal(t, c.want, outcome)
			assert.Contains(t, detail, c.detail)
			left, err := client.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			assert.Empty(t, left.Items, "the Job is deleted")
		})
	}
}

// Walls look at namespace, labels, service account and node: the Job has them all, and
// no more rights than the workload.
func TestJobsRunAsTheWorkloadDoes(t *testing.T) {
	t.Parallel()
	client, made := cluster(t, terminated(28, ""))
	verify.Jobs{Client: client, Image: image}.Try(t.Context(), place, "account.openai.azure.com")
	pod := made.Spec.Template
	assert.Equal(t, "onedoor-workers", made.Namespace)
	assert.Equal(t, map[string]string{"app.kubernetes.io/name": "worker"}, pod.Labels, "all labels but that which asks for a token")
	assert.Equal(t, "true", place.Labels["azure.workload.identity/use"], "the place stays as it is")
	assert.Equal(t, "worker-text", pod.Spec.ServiceAccountName)
	assert.Equal(t, place.Selector, pod.Spec.NodeSelector)
	assert.Equal(t, place.Tolerates, pod.Spec.Tolerations)
	assert.False(t, *pod.Spec.AutomountServiceAccountToken)
	assert.Equal(t, image, pod.Spec.Containers[0].Image)
	assert.Contains(t, pod.Spec.Containers[0].Command, "https://account.openai.azure.com/")
	assert.Zero(t, *made.Spec.BackoffLimit, "one try: a second one would hide how the first ended")
	assert.Positive(t, *made.Spec.TTLSecondsAfterFinished)
	// What the restricted standard of pod security demands.
	security := pod.Spec.Containers[0].SecurityContext
	assert.True(t, *pod.Spec.SecurityContext.RunAsNonRoot)
	assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.Spec.SecurityContext.SeccompProfile.Type)
	assert.False(t, *security.AllowPrivilegeEscalation)
	assert.Equal(t, []corev1.Capability{"ALL"}, security.Capabilities.Drop)
	assert.NotEmpty(t, pod.Spec.Containers[0].Resources.Limits)
}

func TestWhatTheClusterRefusesIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"create jobs", "get jobs", "list pods"} {
		client, _ := cluster(t, terminated(28, ""))
		var resource string
		if verb == "list pods" {
			resource = "pods"
		} else {
			resource = "jobs"
		}
		client.PrependReactor(verb[:len(verb)-len(resource)-1], resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("forbidden by admission")
		})
		outcome, detail := verify.Jobs{Client: client, Image: image}.Try(t.Context(), place, "x")
		assert.Equal(t, verify.Unclear, outcome, verb)
		assert.Contains(t, detail, "forbidden by admission", verb)
	}
}

func TestAJobThatNeverEndsIsNotKnown(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset() // no controller: nothing happens
	ctx, cancel := context.WithCancel(t.Context())
	client.PrependReactor("get", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		cancel()
		return false, nil, nil
	})
	outcome, detail := verify.Jobs{Client: client, Image: image}.Try(ctx, place, "x")
	assert.Equal(t, verify.Unclear, outcome)
	assert.Contains(t, detail, "had not ended")
	left, err := client.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, left.Items, "deleted all the same")
}
