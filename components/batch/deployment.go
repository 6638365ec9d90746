package batch

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az/flows"
	"onedoor/internal/door"
	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
	"onedoor/internal/kube/secrets"
	"onedoor/internal/policypack/annotations"
	"onedoor/internal/ref"
	"onedoor/internal/settings"
)

// Replicas is how many pods answer. One of them leads: it submits, polls and
// cancels; all of them take uploads.
const Replicas = 2

// graceSeconds is what a pod gets to finish uploads and to give the lead away.
const graceSeconds = 120

// scratchMiB is for rows that are put in order: up to 128 MiB for each of the four
// jobs that the leader puts together at once. Uploads are passed on in blocks.
const scratchMiB = 1024

// Size is what a pod asks for.
var Size = pod.Size{CPU: 250, CPULimit: 2000, Memory: 512}

// Where the pods find what is mounted.
const (
	configPath = "/etc/onedoor"
	keysPath   = "/var/run/onedoor/keys"
	tlsPath    = "/var/run/onedoor/tls"
	tlsFile    = "tls.pem" // certificate, chain and key
)

// deployment declares the pods. They start once they may do what access says.
func (b *builder) deployment(keys ref.Keys, access []pulumi.Resource) (pulumi.Resource, error) {
	config, err := b.config()
	if err != nil {
		return nil, err
	}
	keysClass, err := b.class("keys", keys.Vault, secrets.OfKeys(keys))
	if err != nil {
		return nil, err
	}
	certificate := b.args.Vault.Certificate
	tlsClass, err := b.class("tls", keys.Vault, []secrets.Mount{{
		Secret: b.args.Vault.URL.ToStringOutput().ApplyT(func(string) string { return certificate }).(pulumi.StringOutput), File: tlsFile,
	}})
	if err != nil {
		return nil, err
	}
	main := corev1.ContainerArgs{
		Name:  pulumi.String(app),
		Image: b.args.Image.ToStringOutput().ToStringPtrOutput(),
		Args:  pulumi.ToStringArray([]string{"serve"}),
		Env:   pod.Env(b.environment(keys)),
		Ports: corev1.ContainerPortArray{
			corev1.ContainerPortArgs{Name: pulumi.String(door.PortName), ContainerPort: pulumi.Int(door.Port)},
			corev1.ContainerPortArgs{Name: pulumi.String(pod.StatusTag), ContainerPort: pulumi.Int(pod.Port(flows.MetricsPort))},
		},
		Resources: Size.Resources(), SecurityContext: pod.Hardened(),
		VolumeMounts: corev1.VolumeMountArray{
			pod.Mount("config", configPath), pod.Mount("keys", keysPath), pod.Mount("tls", tlsPath), pod.Mount("api", pod.APIPath),
			corev1.VolumeMountArgs{Name: pulumi.String("scratch"), MountPath: pulumi.String("/tmp")},
		},
	}
	pod.Probes(&main)
	labels := pulumi.ToStringMap(kube.Labels(app))
	labels[kube.UseLabel] = pulumi.String("true")
	made, err := appsv1.NewDeployment(b.ctx, b.name, &appsv1.DeploymentArgs{
		Metadata: b.metadata(map[string]string{
			annotations.BatchOutputDays:      strconv.Itoa(b.args.Settings.OutputExpirySeconds / settings.SecondsOfADay),
			annotations.BatchOutputContainer: b.args.Settings.OutputContainer,
		}),
		Spec: appsv1.DeploymentSpecArgs{
			Replicas: pulumi.Int(Replicas),
			Selector: metav1.LabelSelectorArgs{MatchLabels: pulumi.ToStringMap(kube.Selector(app))},
			Strategy: pod.OneByOne(), ProgressDeadlineSeconds: pulumi.Int(pod.StartSeconds), RevisionHistoryLimit: pulumi.Int(pod.Revisions),
			Template: corev1.PodTemplateSpecArgs{
				Metadata: metav1.ObjectMetaArgs{Labels: labels},
				Spec: corev1.PodSpecArgs{
					ServiceAccountName:            pulumi.String(kube.ControlPlane.Name),
					AutomountServiceAccountToken:  pulumi.Bool(false), // the volume "api" has it
					NodeSelector:                  pulumi.ToStringMap(b.args.Nodes.Selector),
					Tolerations:                   pod.Tolerations(b.args.Nodes.Tolerations),
					TopologySpreadConstraints:     pod.Spread(app, b.args.Nodes.Zones > 1),
					SecurityContext:               pod.Security(),
					TerminationGracePeriodSeconds: pulumi.Int(graceSeconds),
					Containers:                    corev1.ContainerArray{main},
					Volumes: corev1.VolumeArray{
						corev1.VolumeArgs{Name: pulumi.String("config"), ConfigMap: corev1.ConfigMapVolumeSourceArgs{Name: config}},
						pod.SecretsVolume("keys", keysClass), pod.SecretsVolume("tls", tlsClass), pod.API("api"), pod.Scratch("scratch", scratchMiB),
					},
				},
			},
		},
	}, append(slices.Clip(b.in), pulumi.DependsOn(access))...) // what they may do is no value of theirs
	if err != nil {
		return nil, fmt.Errorf("deployment: %w", err)
	}
	return made, nil
}

// class declares how the pods mount secrets, as themselves, and returns its name.
func (b *builder) class(what, vault string, mounts []secrets.Mount) (pulumi.StringInput, error) {
	name := app + "-" + what
	made, err := secrets.Class(b.ctx, b.name+"-"+what, secrets.ClassArgs{
		Name: name, Namespace: b.args.Namespace, Vault: vault, Tenant: b.args.TenantID, ClientID: b.args.ClientID, Mounts: mounts,
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("mount of %s: %w", what, err)
	}
	return ref.After(pulumi.String(name), made), nil
}

// environment is what the pods are told beside their settings, as
// docs/contracts/control-plane.md has it.
func (b *builder) environment(keys ref.Keys) map[string]pulumi.StringInput {
	return map[string]pulumi.StringInput{
		"APPLICATIONINSIGHTS_CONNECTION_STRING": b.args.Events.Connection,

		"ONEDOOR_BATCH_URL":   b.args.Account,
		"ONEDOOR_BLOB_URL":    b.args.Blobs,
		"ONEDOOR_BUS_HOST":    b.args.BusHost,
		"ONEDOOR_CONFIG_FILE": pulumi.String(configPath + "/" + configFile),
		"ONEDOOR_DOOR_PORT":   pulumi.String(flows.DoorPort),
		"ONEDOOR_KEYS_DIR":    pulumi.String(keysPath),
		"ONEDOOR_LEASE":       pulumi.String(app),
		"ONEDOOR_SIGNING_KEY": pulumi.String(keys.Signing),
		"ONEDOOR_STATUS_PORT": pulumi.String(flows.MetricsPort),
		"ONEDOOR_TABLE_URL":   b.args.Tables,
		"ONEDOOR_TLS_FILE":    pulumi.String(tlsPath + "/" + tlsFile),
		"ONEDOOR_TOKEN_AUD":   pulumi.String(kube.Audience),
	}
}
