package serving

import (
	"fmt"
	"slices"

	storage "github.com/pulumi/pulumi-azure-native-sdk/storage/v2/v20240101"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	helm "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/helm/v3"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

// AnyscaleType is the token of the component of Anyscale; changing it needs an alias
// in NewAnyscale.
const AnyscaleType = "onedoor:serving:Anyscale"

// The operator of Anyscale, as its own installation has it.
// https://github.com/Azure-Samples/aks-anyscale
const (
	anyscaleCharts   = "https://anyscale.github.io/helm-charts"
	anyscaleChart    = "anyscale-operator"
	anyscaleVersion  = "1.8.0"
	anyscaleAudience = "api://086bc555-6989-4362-ba30-fded273e432b/.default" // of Anyscale's application in Entra
)

// AnyscaleArgs are the inputs of NewAnyscale.
type AnyscaleArgs struct {
	Scope        az.Scope
	Cluster      pulumi.Resource    // everything in the cluster goes with it
	ClientID     pulumi.StringInput // of the operator's identity, once its pods may act as it
	Identity     ref.Identity       // the same: keeps what Ray writes
	Group        ref.Group          // of the account of storage
	Storage      ref.Resource       // the account
	Heads        map[string]string  // selector of the nodes that the operator runs on
	Registration string             // id of the cloud resource; "" until it is registered, and then there is no operator
}

// Anyscale holds what a cloud of Anyscale needs of this platform. Registering the
// cloud, its clusters and its services are Anyscale's own affair.
type Anyscale struct {
	pulumi.ResourceState
}

// NewAnyscale declares what a cloud of Anyscale needs: a namespace that reaches
// nothing of the platform, a container, and once it is registered, its operator.
// https://docs.anyscale.com/clouds/azure
func NewAnyscale(ctx *pulumi.Context, name string, args AnyscaleArgs, opts ...pulumi.ResourceOption) (*Anyscale, error) {
	out := &Anyscale{}
	if err := ctx.RegisterComponentResource(AnyscaleType, name, out, opts...); err != nil {
		return nil, err
	}
	azure := pulumi.Parent(out)
	in := []pulumi.ResourceOption{azure, pulumi.DeletedWith(args.Cluster)}
	account, err := az.ParseID(args.Storage.Plain)
	if err != nil {
		return nil, fmt.Errorf("anyscale %q: storage: %w", name, err)
	}
	container, err := storage.NewBlobContainer(ctx, name+"-container", &storage.BlobContainerArgs{
		ContainerName: pulumi.String(anyscaleChart), ResourceGroupName: args.Group.Name, PublicAccess: storage.PublicAccessNone,
		AccountName: args.Storage.ID.ApplyT(func(string) string { return account.Name() }).(pulumi.StringOutput),
	}, azure, pulumi.Protect(args.Scope.Protect()))
	if err != nil {
		return nil, fmt.Errorf("anyscale %q: container: %w", name, err)
	}
	writes, err := args.Scope.Grant(ctx, name+"-writes", az.BlobContributor, args.Identity,
		ref.Ready(args.Storage.Plain+"/blobServices/default/containers/"+anyscaleChart, container), azure)
	if err != nil {
		return nil, fmt.Errorf("anyscale %q: %w", name, err)
	}
	namespace, err := corev1.NewNamespace(ctx, name+"-namespace", &corev1.NamespaceArgs{Metadata: metav1.ObjectMetaArgs{
		Name:   pulumi.String(kube.Anyscale.Namespace),
		Labels: pulumi.StringMap{"app.kubernetes.io/part-of": pulumi.String("onedoor"), "pod-security.kubernetes.io/enforce": pulumi.String("baseline")},
	}}, in...)
	if err != nil {
		return nil, fmt.Errorf("anyscale %q: namespace: %w", name, err)
	}
	walls, err := anyscaleWalls(ctx, name, ref.After(pulumi.String(kube.Anyscale.Namespace), namespace), in)
	if err != nil {
		return nil, fmt.Errorf("anyscale %q: policies: %w", name, err)
	}
	if args.Registration == "" {
		return out, ctx.RegisterResourceOutputs(out, pulumi.Map{})
	}
	if _, err := helm.NewRelease(ctx, name+"-operator", &helm.ReleaseArgs{
		Name: pulumi.String(anyscaleChart), Namespace: ref.After(pulumi.String(kube.Anyscale.Namespace), walls...).ToStringPtrOutput(),
		Chart: pulumi.String(anyscaleChart), Version: pulumi.String(anyscaleVersion), Atomic: pulumi.Bool(true),
		RepositoryOpts: helm.RepositoryOptsArgs{Repo: pulumi.String(anyscaleCharts)},
		Values: pulumi.Map{
			"global": pulumi.Map{
				"cloudDeploymentId": pulumi.String(args.Registration), "cloudProvider": pulumi.String("azure"),
				"auth": pulumi.Map{"iamIdentity": args.ClientID, "audience": pulumi.String(anyscaleAudience)},
			},
			"workloads": pulumi.Map{"serviceAccount": pulumi.Map{"name": pulumi.String(kube.Anyscale.Name)}},
			"operator":  pulumi.Map{"nodeSelector": pulumi.ToStringMap(args.Heads)},
		},
	}, append(slices.Clone(in), pulumi.DependsOn([]pulumi.Resource{writes}))...); err != nil { // what it may write is no value of its own
		return nil, fmt.Errorf("anyscale %q: operator: %w", name, err)
	}
	return out, ctx.RegisterResourceOutputs(out, pulumi.Map{})
}

// anyscaleWalls keep the pods of Anyscale to themselves and to what is on the
// internet: their control plane is there, and they poll it.
func anyscaleWalls(ctx *pulumi.Context, name string, namespace pulumi.StringOutput, in []pulumi.ResourceOption) ([]pulumi.Resource, error) {
	all := metav1.LabelSelectorArgs{}
	private := pulumi.ToStringArray([]string{"10.0.0.0/8", "100.64.0.0/10", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"})
	port := func(number int, protocol string) networkingv1.NetworkPolicyPortArgs {
		return networkingv1.NetworkPolicyPortArgs{Port: pulumi.Int(number), Protocol: pulumi.String(protocol)}
	}
	own := networkingv1.NetworkPolicyPeerArray{networkingv1.NetworkPolicyPeerArgs{PodSelector: all}}
	both := pulumi.ToStringArray([]string{"Ingress", "Egress"})
	var out []pulumi.Resource
	for _, wall := range []struct {
		name string
		spec networkingv1.NetworkPolicySpecArgs
	}{
		{"deny-all", networkingv1.NetworkPolicySpecArgs{PodSelector: all, PolicyTypes: both}},
		{"own", networkingv1.NetworkPolicySpecArgs{
			PodSelector: all, PolicyTypes: both,
			Ingress: networkingv1.NetworkPolicyIngressRuleArray{networkingv1.NetworkPolicyIngressRuleArgs{From: own}},
			Egress: networkingv1.NetworkPolicyEgressRuleArray{
				networkingv1.NetworkPolicyEgressRuleArgs{To: own},
				networkingv1.NetworkPolicyEgressRuleArgs{
					To: networkingv1.NetworkPolicyPeerArray{networkingv1.NetworkPolicyPeerArgs{
						NamespaceSelector: metav1.LabelSelectorArgs{MatchLabels: pulumi.StringMap{"kubernetes.io/metadata.name": pulumi.String(kube.System)}},
						PodSelector:       metav1.LabelSelectorArgs{MatchLabels: pulumi.StringMap{"k8s-app": pulumi.String("kube-dns")}},
					}},
					Ports: networkingv1.NetworkPolicyPortArray{port(53, "UDP"), port(53, "TCP")},
				},
				networkingv1.NetworkPolicyEgressRuleArgs{
					To:    networkingv1.NetworkPolicyPeerArray{networkingv1.NetworkPolicyPeerArgs{IpBlock: networkingv1.IPBlockArgs{Cidr: pulumi.String("0.0.0.0/0"), Except: private}}},
					Ports: networkingv1.NetworkPolicyPortArray{port(443, "TCP")},
				},
			},
		}},
	} {
		made, err := networkingv1.NewNetworkPolicy(ctx, name+"-"+wall.name, &networkingv1.NetworkPolicyArgs{
			Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(wall.name), Namespace: namespace}, Spec: wall.spec,
		}, in...)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}
