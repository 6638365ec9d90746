package serving

import (
	"fmt"
	"strconv"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az/aks"
	"onedoor/internal/az/flows"
	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
	"onedoor/internal/rayserve"
)

// The groups of a Ray cluster's workers.
const (
	gpuGroup     = "models"
	ingressGroup = "ingress"
	groupLabel   = "ray.io/group" // on every pod, by the operator
)

// metricsPort is the name of the port with metrics, which the operator gives to
// every pod of Ray.
const metricsPort = "metrics"

// What the parts of a cluster without GPUs ask for. A head keeps the state of the
// cluster and answers its dashboard.
// https://docs.ray.io/en/latest/cluster/vms/user-guides/large-cluster-best-practices.html
var (
	HeadSize       = pod.Size{CPU: 500, CPULimit: 2000, Memory: 4096}
	AutoscalerSize = pod.Size{CPU: 100, CPULimit: 500, Memory: 512} // beside the head
	IngressSize    = pod.Size{CPU: 500, CPULimit: 1000, Memory: 2048}
)

// idleSeconds is how long a pod stays that runs no replica.
const idleSeconds = 300

// cluster is the Ray cluster of a model. Its head has no cores to give, so that no
// replica runs there, and takes no calls: without its state the whole cluster
// starts again.
func (b *builder) cluster(m Model, shared shared) pulumi.Map {
	image := b.args.Image
	head := container("ray-head", image, HeadSize.Resources())
	head.Ports = headPorts
	ingress := container("ray-worker", image, IngressSize.Resources())
	return pulumi.Map{
		"rayVersion":              pulumi.String(rayserve.RayVersion),
		"enableInTreeAutoscaling": pulumi.Bool(true),
		"autoscalerOptions": pulumi.Map{
			"version": pulumi.String("v2"), "idleTimeoutSeconds": pulumi.Int(idleSeconds), "upscalingMode": pulumi.String("Default"),
			"resources": AutoscalerSize.Resources(), "securityContext": security(),
			"volumeMounts": corev1.VolumeMountArray{pod.Mount(apiVolume, pod.APIPath)},
		},
		"headGroupSpec": pulumi.Map{
			"rayStartParams": pulumi.StringMap{"num-cpus": pulumi.String("0"), "dashboard-host": pulumi.String("0.0.0.0")},
			"template": m.template(head, nil, corev1.PodSpecArgs{
				NodeSelector: pulumi.ToStringMap(b.args.Heads),
				Volumes:      corev1.VolumeArray{pod.API(apiVolume)}, // which the autoscaler alone mounts
			}),
		},
		"workerGroupSpecs": pulumi.Array{
			group(ingressGroup, Replicas{b.args.Ingresses, b.args.Ingresses}, map[string]string{
				"num-cpus": "1", "resources": fmt.Sprintf("%q", fmt.Sprintf(`{"%s": 1}`, ingressResource)),
			}, m.template(ingress, nil, corev1.PodSpecArgs{
				NodeSelector: pulumi.ToStringMap(b.args.Heads), TopologySpreadConstraints: m.spread(ingressGroup),
			})),
			group(gpuGroup, m.pods(), map[string]string{"num-gpus": strconv.Itoa(m.Fleet.GPUs)}, b.gpuPod(m, shared, image)),
		},
	}
}

// apiVolume is the volume with what a client of the API server needs.
const apiVolume = "api"

// group is a group of equal workers.
func group(name string, pods Replicas, parameters map[string]string, template corev1.PodTemplateSpecArgs) pulumi.Map {
	return pulumi.Map{
		"groupName": pulumi.String(name), "replicas": pulumi.Int(pods.Min), "minReplicas": pulumi.Int(pods.Min), "maxReplicas": pulumi.Int(pods.Max),
		"rayStartParams": pulumi.ToStringMap(parameters), "template": template,
	}
}

// headPorts are those that the operator asks for by name once a head names any.
// https://docs.ray.io/en/latest/ray-core/configure.html#ports-configurations
var headPorts = corev1.ContainerPortArray{
	port("gcs-server", 6379), port("dashboard", pod.Port(flows.RayPort)), port("client", 10001),
	port("serve", pod.Port(flows.ServingPort)), port(metricsPort, pod.Port(flows.MetricsPort)),
}

func port(name string, number int) corev1.ContainerPortArgs {
	return corev1.ContainerPortArgs{Name: pulumi.String(name), ContainerPort: pulumi.Int(number)}
}

// rayUser is the user of Ray's images.
// https://github.com/ray-project/ray/blob/master/docker/base-deps/Dockerfile
const rayUser = 1000

// security is a container of Ray, which writes to its own files: logs and sockets in
// its temporary folder.
func security() corev1.SecurityContextArgs {
	return corev1.SecurityContextArgs{
		AllowPrivilegeEscalation: pulumi.Bool(false), RunAsNonRoot: pulumi.Bool(true), RunAsUser: pulumi.Int(rayUser),
		Capabilities: corev1.CapabilitiesArgs{Drop: pulumi.ToStringArray([]string{"ALL"})},
	}
}

// container is a container of Ray.
func container(name string, image pulumi.StringOutput, resources corev1.ResourceRequirementsArgs) corev1.ContainerArgs {
	return corev1.ContainerArgs{Name: pulumi.String(name), Image: image.ToStringPtrOutput(), Resources: resources, SecurityContext: security()}
}

// template is a pod of the model's Ray cluster: spec with what all of them have in
// common. The variables come on top of those that keep Ray from calling home.
func (m Model) template(ray corev1.ContainerArgs, env corev1.EnvVarArray, spec corev1.PodSpecArgs) corev1.PodTemplateSpecArgs {
	ray.Env = append(pod.Env(map[string]pulumi.StringInput{
		"DO_NOT_TRACK": pulumi.String("1"), "RAY_USAGE_STATS_ENABLED": pulumi.String("0"),
	}), env...)
	spec.ServiceAccountName = pulumi.String(kube.ModelServer.Name)
	spec.AutomountServiceAccountToken = pulumi.Bool(false)
	spec.SecurityContext = corev1.PodSecurityContextArgs{FsGroup: pulumi.Int(rayUser), SeccompProfile: corev1.SeccompProfileArgs{Type: pulumi.String("RuntimeDefault")}}
	spec.Containers = corev1.ContainerArray{ray}
	return corev1.PodTemplateSpecArgs{Metadata: metav1.ObjectMetaArgs{Labels: pulumi.StringMap{Label: pulumi.String(m.Name)}}, Spec: spec}
}

// spread keeps the pods of a group apart where there is a choice of nodes.
func (m Model) spread(group string) corev1.TopologySpreadConstraintArray {
	return corev1.TopologySpreadConstraintArray{corev1.TopologySpreadConstraintArgs{
		MaxSkew: pulumi.Int(1), TopologyKey: pulumi.String("kubernetes.io/hostname"), WhenUnsatisfiable: pulumi.String("ScheduleAnyway"),
		LabelSelector: metav1.LabelSelectorArgs{MatchLabels: pulumi.StringMap{Label: pulumi.String(m.Name), groupLabel: pulumi.String(group)}},
	}}
}

// gpuPod is a pod with GPUs: as many as the ranks on one node take, by the name that
// the pool's nodes offer them under, and with them its share of the node.
func (b *builder) gpuPod(m Model, shared shared, image pulumi.StringOutput) corev1.PodTemplateSpecArgs {
	device, _ := m.Pool.Offers()
	vcpus, memory := m.Fleet.Share(m.Pool)
	quantities := pulumi.ToStringMap(map[string]string{"cpu": strconv.Itoa(vcpus), "memory": fmt.Sprintf("%dGi", memory), device: strconv.Itoa(m.Fleet.GPUs)})
	ray := container("ray-worker", image, corev1.ResourceRequirementsArgs{Requests: quantities, Limits: quantities})
	spec := corev1.PodSpecArgs{NodeSelector: pulumi.ToStringMap(m.Pool.Labels), Tolerations: pod.Tolerations(aks.Tolerations(m.Pool))}
	var env corev1.EnvVarArray
	set := func(name, value string) {
		env = append(env, corev1.EnvVarArgs{Name: pulumi.String(name), Value: pulumi.String(value)})
	}
	switch m.Source {
	case Volume:
		set("HF_HUB_OFFLINE", "1")
		spec.Volumes = corev1.VolumeArray{corev1.VolumeArgs{Name: pulumi.String("weights"), PersistentVolumeClaim: corev1.PersistentVolumeClaimVolumeSourceArgs{
			ClaimName: shared.claim, ReadOnly: pulumi.Bool(true),
		}}}
		ray.VolumeMounts = corev1.VolumeMountArray{pod.Mount("weights", weightsPath)}
	case HuggingFace:
		set("HF_TOKEN_PATH", tokenPath+"/"+tokenFile)
		spec.Volumes = corev1.VolumeArray{pod.SecretsVolume("token", shared.token)}
		ray.VolumeMounts = corev1.VolumeMountArray{pod.Mount("token", tokenPath)}
	}
	if m.disaggregated() { // the other side connects to this address
		env = append(env, corev1.EnvVarArgs{Name: pulumi.String("VLLM_NIXL_SIDE_CHANNEL_HOST"), ValueFrom: corev1.EnvVarSourceArgs{
			FieldRef: corev1.ObjectFieldSelectorArgs{FieldPath: pulumi.String("status.podIP")},
		}})
	}
	return m.template(ray, env, spec)
}
