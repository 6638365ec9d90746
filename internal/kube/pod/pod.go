// Package pod holds the parts that the platform's own pods have in common: what
// they may do on a node, how they are spread, and how they are asked whether they
// are well. What a pod is for belongs to the component that declares it.
package pod

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az/aks"
	"onedoor/internal/kube"
)

// user is the user that the platform's images run as: "nonroot" of the images
// without a distribution.
// https://github.com/GoogleContainerTools/distroless
const user = 65532

// Security is what all containers of a pod share; with Hardened it is what the
// pod security level "restricted" asks for.
// https://kubernetes.io/docs/concepts/security/pod-security-standards/
func Security() corev1.PodSecurityContextArgs {
	return corev1.PodSecurityContextArgs{
		RunAsNonRoot: pulumi.Bool(true), RunAsUser: pulumi.Int(user), RunAsGroup: pulumi.Int(user), FsGroup: pulumi.Int(user),
		SeccompProfile: corev1.SeccompProfileArgs{Type: pulumi.String("RuntimeDefault")},
	}
}

// Hardened is a container that can change nothing but its volumes.
func Hardened() corev1.SecurityContextArgs {
	return corev1.SecurityContextArgs{
		AllowPrivilegeEscalation: pulumi.Bool(false), ReadOnlyRootFilesystem: pulumi.Bool(true),
		Capabilities: corev1.CapabilitiesArgs{Drop: pulumi.ToStringArray([]string{"ALL"})},
	}
}

// Size is what a container gets. Memory is asked for as it is limited, so that
// one container's growth never ends another.
type Size struct {
	CPU, CPULimit int // thousandths of a core, asked for and at most
	Memory        int // MiB
}

// Resources is the size as Kubernetes has it.
func (s Size) Resources() corev1.ResourceRequirementsArgs {
	of := func(cpu int) pulumi.StringMap {
		return pulumi.ToStringMap(map[string]string{"cpu": fmt.Sprintf("%dm", cpu), "memory": fmt.Sprintf("%dMi", s.Memory)})
	}
	return corev1.ResourceRequirementsArgs{Requests: of(s.CPU), Limits: of(s.CPULimit)}
}

// Env are environment variables in the order of their names.
func Env(values map[string]pulumi.StringInput) corev1.EnvVarArray {
	out := corev1.EnvVarArray{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, corev1.EnvVarArgs{Name: pulumi.String(name), Value: values[name].ToStringOutput().ToStringPtrOutput()})
	}
	return out
}

// The paths on which a container says how it is, and the port that has them and
// its metrics. It is plain HTTP: nobody but the node and the collector of metrics
// gets to it.
const (
	Health    = "/healthz" // the process works; failing restarts it
	Ready     = "/readyz"  // it can be given work; failing takes it out of its service
	StatusTag = "status"   // name of the port
)

// Probes asks a container how it is. A start may take two minutes: the first
// token takes as long as a new role needs to spread.
func Probes(c *corev1.ContainerArgs) {
	ask := func(path string, period, failures int) corev1.ProbeArgs {
		return corev1.ProbeArgs{
			HttpGet:       corev1.HTTPGetActionArgs{Path: pulumi.String(path), Port: pulumi.String(StatusTag)},
			PeriodSeconds: pulumi.Int(period), FailureThreshold: pulumi.Int(failures), TimeoutSeconds: pulumi.Int(2),
		}
	}
	c.StartupProbe, c.LivenessProbe, c.ReadinessProbe = ask(Health, 5, 24), ask(Health, 20, 3), ask(Ready, 5, 2)
}

// Spread keeps the replicas of an app apart: from one another's zones, and from
// one another's nodes where there is a choice. With strict a replica that would
// leave the zones uneven waits instead.
// https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
func Spread(app string, strict bool) corev1.TopologySpreadConstraintArray {
	apart := func(key, otherwise string) corev1.TopologySpreadConstraintArgs {
		return corev1.TopologySpreadConstraintArgs{
			MaxSkew: pulumi.Int(1), TopologyKey: pulumi.String(key), WhenUnsatisfiable: pulumi.String(otherwise),
			LabelSelector: metav1.LabelSelectorArgs{MatchLabels: pulumi.ToStringMap(kube.Selector(app))},
		}
	}
	zones := "ScheduleAnyway"
	if strict {
		zones = "DoNotSchedule"
	}
	return corev1.TopologySpreadConstraintArray{apart("topology.kubernetes.io/zone", zones), apart("kubernetes.io/hostname", "ScheduleAnyway")}
}

// SecretsVolume is a volume of secrets that the Key Vault provider mounts.
// https://learn.microsoft.com/azure/aks/csi-secrets-store-identity-access
func SecretsVolume(name string, class pulumi.StringInput) corev1.VolumeArgs {
	return corev1.VolumeArgs{Name: pulumi.String(name), Csi: corev1.CSIVolumeSourceArgs{
		Driver: pulumi.String("secrets-store.csi.k8s.io"), ReadOnly: pulumi.Bool(true),
		VolumeAttributes: pulumi.StringMap{"secretProviderClass": class},
	}}
}

// Tolerations let pods onto tainted nodes.
func Tolerations(of []aks.Toleration) corev1.TolerationArray {
	out := corev1.TolerationArray{}
	for _, t := range of {
		out = append(out, corev1.TolerationArgs{
			Key: pulumi.String(t.Key), Operator: pulumi.String(string(t.Operator)), Value: pulumi.String(t.Value), Effect: pulumi.String(string(t.Effect)),
		})
	}
	return out
}

// Port is a port of the table of flows, which writes them as text.
func Port(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil { // only a wrong table can do this
		panic(err)
	}
	return n
}

// Scratch is a volume that goes with the pod, of at most mib MiB.
func Scratch(name string, mib int) corev1.VolumeArgs {
	return corev1.VolumeArgs{Name: pulumi.String(name), EmptyDir: corev1.EmptyDirVolumeSourceArgs{SizeLimit: pulumi.String(fmt.Sprintf("%dMi", mib))}}
}

// Mount is where a container finds a volume that it only reads.
func Mount(name, path string) corev1.VolumeMountArgs {
	return corev1.VolumeMountArgs{Name: pulumi.String(name), MountPath: pulumi.String(path), ReadOnly: pulumi.Bool(true)}
}

// tokenSeconds is how long a token of a service account is good for; the node
// renews the file long before.
const tokenSeconds = 3600

// Token is a volume with a token of the pod's account, in the file "token", for
// whoever is named by audience; "" means the API server.
// https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken
func Token(audience string) corev1.VolumeProjectionArgs {
	token := corev1.ServiceAccountTokenProjectionArgs{Path: pulumi.String("token"), ExpirationSeconds: pulumi.Int(tokenSeconds)}
	if audience != "" {
		token.Audience = pulumi.String(audience)
	}
	return corev1.VolumeProjectionArgs{ServiceAccountToken: token}
}

// APIPath is where clients of the API server look for the files of API.
const APIPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// API is a volume with what a client of the API server needs. Every pod of an
// account that mounts its token by itself has the same; this one says so.
func API(name string) corev1.VolumeArgs {
	return corev1.VolumeArgs{Name: pulumi.String(name), Projected: corev1.ProjectedVolumeSourceArgs{Sources: corev1.VolumeProjectionArray{
		Token(""),
		corev1.VolumeProjectionArgs{ConfigMap: corev1.ConfigMapProjectionArgs{
			Name: pulumi.String("kube-root-ca.crt"), Items: corev1.KeyToPathArray{corev1.KeyToPathArgs{Key: pulumi.String("ca.crt"), Path: pulumi.String("ca.crt")}},
		}},
		corev1.VolumeProjectionArgs{DownwardAPI: corev1.DownwardAPIProjectionArgs{Items: corev1.DownwardAPIVolumeFileArray{corev1.DownwardAPIVolumeFileArgs{
			Path: pulumi.String("namespace"), FieldRef: corev1.ObjectFieldSelectorArgs{ApiVersion: pulumi.String("v1"), FieldPath: pulumi.String("metadata.namespace")},
		}}}},
	}}}
}

// TokenVolume is a volume with a token for the control plane.
func TokenVolume(name string) corev1.VolumeArgs {
	return corev1.VolumeArgs{Name: pulumi.String(name), Projected: corev1.ProjectedVolumeSourceArgs{Sources: corev1.VolumeProjectionArray{Token(kube.Audience)}}}
}
