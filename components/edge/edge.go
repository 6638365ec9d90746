// Package edge owns the door that models served in the cluster stand behind: a
// proxy that lets the gateway in by its token, and hands each call to the model
// that its path names. The models, the namespaces and who may open a connection
// belong to others.
package edge

import (
	"errors"
	"fmt"
	"slices"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/flows"
	"onedoor/internal/door"
	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:edge:Edge"

// component is the value of the component tag.
const component = "edge"

// Replicas is how many pods answer.
const Replicas = 2

// Size is what a pod asks for: it holds no call longer than it takes to pass on.
var Size = pod.Size{CPU: 100, CPULimit: 1000, Memory: 256}

// app is the name of everything that is the edge's.
var app = kube.ServingEdge.Name

// Args are the inputs of New.
type Args struct {
	Scope       az.Scope
	TenantID    string          // GUID of the Entra tenant that issues the gateway's tokens
	Cluster     pulumi.Resource // everything in the cluster goes with it
	Namespace   pulumi.StringInput
	Image       pulumi.StringInput // of Envoy
	ClientID    pulumi.StringInput // of the edge's identity, once its pods may act as it
	Identity    ref.Identity       // the same: reads the certificate
	Certificate Certificate
	Door        door.Door
	Audience    string       // of the tokens
	Caller      ref.Identity // whose tokens they must be: the gateway's
	Nodes       map[string]string
	Models      []string // names of the RayServices
}

// Certificate is what the door shows.
type Certificate struct {
	Vault  ref.Resource
	Secret string // name of the certificate with its chain and its key, as PEM
}

func (a Args) check() error {
	found := []error{a.Door.Check()}
	if a.Certificate.Secret == "" {
		found = append(found, errors.New("no certificate: the door would have nothing to show"))
	}
	if a.Audience == "" {
		found = append(found, errors.New("no audience: any token of the directory would do"))
	}
	if len(a.Models) == 0 {
		found = append(found, errors.New("no models: nothing stands behind the door"))
	}
	if len(a.Nodes) == 0 {
		found = append(found, errors.New("no node selector: only some nodes' rules let the gateway in"))
	}
	return errors.Join(found...)
}

// Edge holds the door. Fields below ResourceState are its outputs.
type Edge struct {
	pulumi.ResourceState
	URL pulumi.StringOutput // without a slash at the end, once it answers and its name resolves
}

// New declares the door. Children carry name, so two can coexist. opts name a
// provider of Azure and one of the cluster.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Edge, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("edge %q: %w", name, err)
	}
	out := &Edge{}
	if err := ctx.RegisterComponentResource(Type, name, out, opts...); err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, name: name, args: args, azure: pulumi.Parent(out), in: []pulumi.ResourceOption{pulumi.Parent(out), pulumi.DeletedWith(args.Cluster)}}
	certificate, err := b.certificate()
	if err != nil {
		return nil, fmt.Errorf("edge %q: certificate: %w", name, err)
	}
	config, err := b.config()
	if err != nil {
		return nil, fmt.Errorf("edge %q: configuration: %w", name, err)
	}
	made, err := b.deployment(config, certificate)
	if err != nil {
		return nil, fmt.Errorf("edge %q: deployment: %w", name, err)
	}
	behind, err := args.Door.Declare(ctx, name, app, args.Namespace, b.azure, b.in)
	if err != nil {
		return nil, fmt.Errorf("edge %q: door: %w", name, err)
	}
	out.URL = ref.After(pulumi.String(args.Door.URL()), append(behind, made)...)
	return out, ctx.RegisterResourceOutputs(out, pulumi.Map{"url": out.URL})
}

// builder carries what every step needs.
type builder struct {
	ctx   *pulumi.Context
	name  string
	args  Args
	azure pulumi.ResourceOption   // of Azure's resources
	in    []pulumi.ResourceOption // of the cluster's
}

// deployment declares the pods.
func (b *builder) deployment(config, certificate pulumi.StringInput) (pulumi.Resource, error) {
	proxy := corev1.ContainerArgs{
		Name: pulumi.String(app), Image: b.args.Image.ToStringOutput().ToStringPtrOutput(),
		Args: pulumi.ToStringArray([]string{"--config-path", configPath + "/" + bootstrapFile, "--log-format-escaped", "--disable-hot-restart"}),
		Ports: corev1.ContainerPortArray{
			corev1.ContainerPortArgs{Name: pulumi.String(door.PortName), ContainerPort: pulumi.Int(door.Port)},
			corev1.ContainerPortArgs{Name: pulumi.String(pod.StatusTag), ContainerPort: pulumi.Int(pod.Port(flows.MetricsPort))},
		},
		Resources: Size.Resources(), SecurityContext: pod.Hardened(),
		VolumeMounts: corev1.VolumeMountArray{pod.Mount("config", configPath), pod.Mount("tls", tlsPath)},
	}
	pod.Probes(&proxy)
	return appsv1.NewDeployment(b.ctx, b.name, &appsv1.DeploymentArgs{
		Metadata: b.metadata(app),
		Spec: appsv1.DeploymentSpecArgs{
			Replicas: pulumi.Int(Replicas),
			Selector: metav1.LabelSelectorArgs{MatchLabels: pulumi.ToStringMap(kube.Selector(app))},
			Strategy: pod.OneByOne(), ProgressDeadlineSeconds: pulumi.Int(pod.StartSeconds), RevisionHistoryLimit: pulumi.Int(pod.Revisions),
			Template: corev1.PodTemplateSpecArgs{
				Metadata: metav1.ObjectMetaArgs{Labels: pulumi.ToStringMap(kube.Labels(app))},
				Spec: corev1.PodSpecArgs{
					ServiceAccountName:           pulumi.String(kube.ServingEdge.Name),
					AutomountServiceAccountToken: pulumi.Bool(false), // it asks the API server nothing
					NodeSelector:                 pulumi.ToStringMap(b.args.Nodes),
					// The door stays shut on nodes without a pod, so two share none for long.
					TopologySpreadConstraints:     pod.Spread(app, false),
					SecurityContext:               pod.Security(),
					TerminationGracePeriodSeconds: pulumi.Int(callSeconds),
					Containers:                    corev1.ContainerArray{proxy},
					Volumes: corev1.VolumeArray{
						corev1.VolumeArgs{Name: pulumi.String("config"), ConfigMap: corev1.ConfigMapVolumeSourceArgs{Name: config.ToStringOutput().ToStringPtrOutput()}},
						pod.SecretsVolume("tls", certificate),
					},
				},
			},
		},
	}, slices.Clone(b.in)...)
}

// metadata is that of an object of the edge.
func (b *builder) metadata(name string) metav1.ObjectMetaArgs {
	return metav1.ObjectMetaArgs{Name: pulumi.String(name), Namespace: b.args.Namespace, Labels: pulumi.ToStringMap(kube.Labels(app))}
}
