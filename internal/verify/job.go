package verify

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	container = "try"
	// tryFor is how long a connection may take, in seconds: a wall drops packets and
	// never answers.
	tryFor = 15
	// giveUpAfter ends a Job whose pod finds no node or no image, in seconds.
	giveUpAfter = 300
	// keepFor lets Kubernetes delete the Job if this process cannot, in seconds.
	keepFor = 600
)

// jobOf is a Job that opens one connection from the place, and tells in its exit code
// and its termination message how that went. It runs as a restricted pod, and asks for
// no token.
func jobOf(place Place, image, host string) *batchv1.Job {
	no, retries, gone, deadline := false, int32(0), int32(keepFor), int64(giveUpAfter)
	user := int64(65532) // anybody but root
	yes := true
	labels := map[string]string{}
	maps.Copy(labels, place.Labels)
	delete(labels, "azure.workload.identity/use") // no token is needed, and none is given
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "onedoor-verify-", Namespace: place.Namespace, Labels: map[string]string{"app.kubernetes.io/part-of": "onedoor"}},
		Spec: batchv1.JobSpec{
			BackoffLimit: &retries, TTLSecondsAfterFinished: &gone, ActiveDeadlineSeconds: &deadline,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					ServiceAccountName: place.Account, AutomountServiceAccountToken: &no, RestartPolicy: corev1.RestartPolicyNever,
					NodeSelector: place.Selector, Tolerations: place.Tolerates,
					SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &user, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
					Containers: []corev1.Container{{
						Name: container, Image: image,
						// -f ends with 22 for a refusal over HTTP, so that its status is the message.
						Command:                  []string{"curl", "--silent", "--fail", "--insecure", "--output", "/dev/null", "--write-out", "%{http_code}", "--max-time", strconv.Itoa(tryFor), "https://" + host + "/"},
						TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
						SecurityContext:          &corev1.SecurityContext{AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
						Resources: corev1.ResourceRequirements{
							Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
							Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
						},
					}},
				},
			},
		},
	}
}

// Exit codes of curl.
// https://everything.curl.dev/cmdline/exitcode.html
const (
	curlNoAddress = 6
	curlRefused   = 7
	curlHTTP      = 22 // with --fail: status 400 or above
	curlTimeout   = 28
	curlReset     = 35 // the connection ended in the handshake of TLS
	curlReceive   = 56 // the connection ended before the answer
)

// outcomeOf reads how a container ended. A connection that was cut off later had been
// open: that is no wall.
func outcomeOf(code int32, message string) (Outcome, string) {
	message = strings.TrimSpace(message)
	switch code {
	case 0:
		return GotThrough, "an answer below 400"
	case curlHTTP:
		return RefusedByService, "HTTP " + message
	case curlNoAddress:
		return RefusedByNetwork, "no address"
	case curlRefused:
		return RefusedByNetwork, "connection refused"
	case curlTimeout:
		return RefusedByNetwork, fmt.Sprintf("no connection within %d s", tryFor)
	case curlReset, curlReceive:
		return RefusedByService, "connected, then cut off"
	default:
		return Unclear, strings.TrimSpace(fmt.Sprintf("the container ended with %d %s", code, message))
	}
}
