package workers

import (
	"strconv"
	"time"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az/flows"
	"onedoor/internal/capacity"
	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
)

const (
	// attempts is how often an item is tried in all, and backoff what is waited
	// before the second one and so on: three to five tries outlast a hiccup and no
	// more.
	attempts = 4
	backoff  = "1s,2s,4s"
	// checkpoint is after how many items a long message notes how far it is, 10 to
	// 50: what a killed worker does twice.
	checkpoint = 25
	// keysPath is where the keys are, a file for each.
	keysPath = "/var/run/onedoor/keys"
	// tokenPath is where the token for the control plane is.
	tokenPath = "/var/run/onedoor/token"
	// scratchMiB is for what does not fit into memory.
	scratchMiB = 256
	// cpu is what a worker asks for, in thousandths of a core: it waits for models
	// most of the time.
	cpu, cpuLimit = 100, 1000
)

// Size is what a replica asks for when it works on so many payloads at once.
func Size(parallel, payloadMiB int) pod.Size {
	mib, _ := capacity.Memory(parallel, payloadMiB)
	return pod.Size{CPU: cpu, CPULimit: cpuLimit, Memory: mib}
}

// template is the pods of a queue. class names the keys' SecretProviderClass,
// restart is Always or Never.
func (b *builder) template(modality, app string, q Queue, class pulumi.StringInput, restart string) corev1.PodTemplateSpecArgs {
	worker := corev1.ContainerArgs{
		Name:            pulumi.String("worker"),
		Image:           b.args.Image.ToStringOutput().ToStringPtrOutput(),
		Env:             pod.Env(b.environment(modality, q)),
		Ports:           corev1.ContainerPortArray{corev1.ContainerPortArgs{Name: pulumi.String(pod.StatusTag), ContainerPort: pulumi.Int(pod.Port(flows.MetricsPort))}},
		Resources:       Size(q.Load.Parallel, q.PayloadMiB).Resources(),
		SecurityContext: pod.Hardened(),
		VolumeMounts: corev1.VolumeMountArray{
			pod.Mount("keys", keysPath),
			pod.Mount("token", tokenPath),
			corev1.VolumeMountArgs{Name: pulumi.String("scratch"), MountPath: pulumi.String("/tmp")},
		},
	}
	pod.Probes(&worker)
	return corev1.PodTemplateSpecArgs{
		Metadata: metav1.ObjectMetaArgs{Labels: labels(app)},
		Spec: corev1.PodSpecArgs{
			ServiceAccountName:            pulumi.String(app),
			AutomountServiceAccountToken:  pulumi.Bool(false), // the webhook brings the token that it needs
			NodeSelector:                  pulumi.ToStringMap(b.args.NodeSelector),
			SecurityContext:               pod.Security(),
			TopologySpreadConstraints:     pod.Spread(app, false),
			TerminationGracePeriodSeconds: pulumi.Int(seconds(q.Hold.Grace)),
			RestartPolicy:                 pulumi.String(restart),
			Containers:                    corev1.ContainerArray{worker},
			Volumes:                       corev1.VolumeArray{pod.SecretsVolume("keys", class), pod.TokenVolume("token"), pod.Scratch("scratch", scratchMiB)},
		},
	}
}

// labels are those of pods that act as an identity.
func labels(app string) pulumi.StringMap {
	out := pulumi.ToStringMap(kube.Labels(app))
	out[kube.UseLabel] = pulumi.String("true")
	return out
}

// environment is what a worker is told, as docs/contracts/worker.md has it.
func (b *builder) environment(modality string, q Queue) map[string]pulumi.StringInput {
	number := func(n int) pulumi.String { return pulumi.String(strconv.Itoa(n)) }
	duration := func(d time.Duration) pulumi.String { return pulumi.String(d.String()) }
	return map[string]pulumi.StringInput{
		"ONEDOOR_ALIAS":                   pulumi.String(q.Alias),
		"ONEDOOR_ATTEMPTS":                number(attempts),
		"ONEDOOR_BACKOFF":                 pulumi.String(backoff),
		"ONEDOOR_BLOB_URL":                b.args.Blobs,
		"ONEDOOR_BUS_HOST":                b.args.BusHost,
		"ONEDOOR_CHECKPOINT_ITEMS":        number(checkpoint),
		"ONEDOOR_CONTROL_PLANE_AUTHORITY": pulumi.String(b.args.Authority),
		"ONEDOOR_CONTROL_PLANE_URL":       b.args.ControlPlane,
		"ONEDOOR_FETCH":                   number(q.Batch),
		"ONEDOOR_GATEWAY_AUDIENCE":        pulumi.String(b.args.Audience),
		"ONEDOOR_GATEWAY_URL":             b.args.Gateway,
		"ONEDOOR_GIVE_UP":                 duration(q.Hold.GiveUp),
		"ONEDOOR_GRACE":                   duration(q.Hold.Grace),
		"ONEDOOR_KEYS_DIR":                pulumi.String(keysPath),
		"ONEDOOR_LOCK_RENEW":              duration(q.Hold.Renew),
		"ONEDOOR_MESSAGES":                pulumi.String(map[bool]string{false: "many", true: "one"}[q.Jobs]),
		"ONEDOOR_MODALITY":                pulumi.String(modality),
		"ONEDOOR_PARALLEL":                number(q.Load.Parallel),
		"ONEDOOR_PAYLOADS_CONTAINER":      pulumi.String(q.Payloads),
		"ONEDOOR_PAYLOAD_MIB":             number(q.PayloadMiB),
		"ONEDOOR_PRICE_AS":                pulumi.String(q.PriceAs),
		"ONEDOOR_QUEUE":                   q.Queue.Ready(),
		"ONEDOOR_REQUESTS_PER_MINUTE":     number(q.Share.Rate.Requests),
		"ONEDOOR_RESULTS_CONTAINER":       pulumi.String(q.Results),
		"ONEDOOR_STATUS_PORT":             pulumi.String(flows.MetricsPort),
		"ONEDOOR_TOKEN_FILE":              pulumi.String(tokenPath + "/token"),
		"ONEDOOR_TOKENS_PER_MINUTE":       number(q.Share.Rate.Tokens),
	}
}

// seconds is d in whole seconds, rounded up.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
