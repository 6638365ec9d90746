// Package door declares what a door inside the network consists of besides its
// pods: an internal load balancer at a planned address, a name, and a budget that
// keeps one pod answering. Who stands behind it is its component's affair.
package door

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	dns "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240601"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/flows"
	"onedoor/internal/kube"
	"onedoor/internal/kube/pod"
	"onedoor/internal/ref"
)

const (
	// PortName is the name of the port that is called.
	PortName = "door"
	ttl      = 300 // seconds that resolvers keep the door's address
)

// Port is the port that the pods behind a door answer on, by TLS.
var Port = pod.Port(flows.DoorPort)

// loadBalancer starts the annotations of Azure's load balancers.
// https://learn.microsoft.com/azure/aks/internal-lb
const loadBalancer = "service.beta.kubernetes.io/azure-load-balancer-"

// Door is where something is called.
type Door struct {
	Name    string // within its zone; both together are what the certificate is for
	Zone    ref.Zone
	Address netip.Addr     // of the internal load balancer
	Subnet  ref.Subnet     // that the address is in
	Sources []netip.Prefix // who may open a connection
}

// Host is the door's name.
func (d Door) Host() string { return fmt.Sprintf("%s.%s", d.Name, d.Zone.Name) }

// URL is the door's, without a slash at the end.
func (d Door) URL() string { return "https://" + d.Host() }

// Check says what is wrong with the door.
func (d Door) Check() error {
	var found []error
	if !d.Subnet.Prefix.Contains(d.Address) {
		found = append(found, fmt.Errorf("address %s, want one of the door's subnet %s", d.Address, d.Subnet.Prefix))
	}
	if len(d.Sources) == 0 {
		found = append(found, errors.New("no sources: Azure would let everybody in who finds a way"))
	}
	return errors.Join(found...)
}

// Declare declares the load balancer, the record and the budget of the pods of app
// in namespace. Traffic stays on the node it reaches, because only the rules of
// those nodes let callers in. azure is the parent of the record, cluster are the
// options of what is in the cluster.
func (d Door) Declare(ctx *pulumi.Context, name, app string, namespace pulumi.StringInput, azure pulumi.ResourceOption, cluster []pulumi.ResourceOption) ([]pulumi.Resource, error) {
	at, err := az.ParseID(d.Subnet.Plain)
	if err != nil {
		return nil, fmt.Errorf("subnet: %w", err)
	}
	zone, err := az.ParseID(d.Zone.Plain)
	if err != nil {
		return nil, fmt.Errorf("zone: %w", err)
	}
	metadata := func(annotations map[string]string) metav1.ObjectMetaArgs {
		return metav1.ObjectMetaArgs{
			Name: pulumi.String(app), Namespace: namespace, Labels: pulumi.ToStringMap(kube.Labels(app)), Annotations: pulumi.ToStringMap(annotations),
		}
	}
	sources := make([]string, len(d.Sources))
	for i, source := range d.Sources {
		sources[i] = source.String()
	}
	service, err := corev1.NewService(ctx, name+"-door", &corev1.ServiceArgs{
		Metadata: metadata(map[string]string{
			loadBalancer + "internal":        "true",
			loadBalancer + "internal-subnet": at.Name(),
			loadBalancer + "ipv4":            d.Address.String(),
		}),
		Spec: corev1.ServiceSpecArgs{
			Type: pulumi.String("LoadBalancer"), ExternalTrafficPolicy: pulumi.String("Local"),
			LoadBalancerSourceRanges: pulumi.ToStringArray(sources),
			Selector:                 pulumi.ToStringMap(kube.Selector(app)),
			Ports: corev1.ServicePortArray{corev1.ServicePortArgs{
				Name: pulumi.String(PortName), Port: pulumi.Int(443), TargetPort: pulumi.Int(Port), Protocol: pulumi.String("TCP"),
			}},
		},
		// The cluster gives it. One that was imported has it among its inputs, where leaving
		// it out would replace the service.
	}, append(slices.Clone(cluster), pulumi.IgnoreChanges([]string{"spec.clusterIP", "spec.clusterIPs"}))...)
	if err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	record, err := dns.NewPrivateRecordSet(ctx, name+"-record", &dns.PrivateRecordSetArgs{
		PrivateZoneName:       d.Zone.ID.ApplyT(func(string) string { return zone.Name() }).(pulumi.StringOutput),
		ResourceGroupName:     pulumi.String(zone.ResourceGroup),
		RelativeRecordSetName: pulumi.String(d.Name),
		RecordType:            pulumi.String("A"),
		Ttl:                   pulumi.Float64(ttl),
		ARecords:              dns.ARecordArray{dns.ARecordArgs{Ipv4Address: ref.After(pulumi.String(d.Address.String()), service).ToStringPtrOutput()}},
	}, azure)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	budget, err := policyv1.NewPodDisruptionBudget(ctx, name+"-disruptions", &policyv1.PodDisruptionBudgetArgs{
		Metadata: metadata(nil),
		Spec: policyv1.PodDisruptionBudgetSpecArgs{
			MinAvailable: pulumi.Int(1), Selector: metav1.LabelSelectorArgs{MatchLabels: pulumi.ToStringMap(kube.Selector(app))},
		},
	}, slices.Clone(cluster)...)
	if err != nil {
		return nil, fmt.Errorf("disruption budget: %w", err)
	}
	return []pulumi.Resource{service, record, budget}, nil
}
