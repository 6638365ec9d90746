package batch

import (
	"fmt"

	dns "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240601"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

const (
	doorName = "door" // of the port that is called
	ttl      = 300    // seconds that resolvers keep the door's address
)

// loadBalancer starts the annotations of Azure's load balancers.
// https://learn.microsoft.com/azure/aks/internal-lb
const loadBalancer = "service.beta.kubernetes.io/azure-load-balancer-"

// door declares the internal load balancer at its planned address, and gives it a
// name. Traffic stays on the node it reaches, because only the batch nodes' rules
// let callers in.
func (b *builder) door() ([]pulumi.Resource, error) {
	at, err := az.ParseID(b.args.Door.Subnet.Plain)
	if err != nil {
		return nil, fmt.Errorf("subnet: %w", err)
	}
	zone, err := az.ParseID(b.args.Door.Zone.Plain)
	if err != nil {
		return nil, fmt.Errorf("zone: %w", err)
	}
	sources := make([]string, len(b.args.Door.Sources))
	for i, source := range b.args.Door.Sources {
		sources[i] = source.String()
	}
	service, err := corev1.NewService(b.ctx, b.name+"-door", &corev1.ServiceArgs{
		Metadata: b.metadata(map[string]string{
			loadBalancer + "internal":        "true",
			loadBalancer + "internal-subnet": at.Name(),
			loadBalancer + "ipv4":            b.args.Door.Address.String(),
		}),
		Spec: corev1.ServiceSpecArgs{
			Type: pulumi.String("LoadBalancer"), ExternalTrafficPolicy: pulumi.String("Local"),
			LoadBalancerSourceRanges: pulumi.ToStringArray(sources),
			Selector:                 pulumi.ToStringMap(kube.Selector(app)),
			Ports: corev1.ServicePortArray{corev1.ServicePortArgs{
				Name: pulumi.String(doorName), Port: pulumi.Int(443), TargetPort: pulumi.Int(doorPort), Protocol: pulumi.String("TCP"),
			}},
		},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	record, err := dns.NewPrivateRecordSet(b.ctx, b.name+"-record", &dns.PrivateRecordSetArgs{
		PrivateZoneName:       b.args.Door.Zone.ID.ApplyT(func(string) string { return zone.Name() }).(pulumi.StringOutput),
		ResourceGroupName:     pulumi.String(zone.ResourceGroup),
		RelativeRecordSetName: pulumi.String(b.args.Door.Name),
		RecordType:            pulumi.String("A"),
		Ttl:                   pulumi.Float64(ttl),
		ARecords:              dns.ARecordArray{dns.ARecordArgs{Ipv4Address: ref.After(pulumi.String(b.args.Door.Address.String()), service).ToStringPtrOutput()}},
	}, b.azure)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	budget, err := policyv1.NewPodDisruptionBudget(b.ctx, b.name+"-disruptions", &policyv1.PodDisruptionBudgetArgs{
		Metadata: b.metadata(nil),
		Spec: policyv1.PodDisruptionBudgetSpecArgs{
			MinAvailable: pulumi.Int(1), Selector: metav1.LabelSelectorArgs{MatchLabels: pulumi.ToStringMap(kube.Selector(app))},
		},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("disruption budget: %w", err)
	}
	return []pulumi.Resource{service, record, budget}, nil
}
