package walls

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az/flows"
	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

// namespace declares the policies of a namespace: the denial of everything, then
// one for each thing that a flow allows. It returns the namespace's name, once all
// of them and the resources of after stand.
func (b *builder) namespace(namespace string, after []pulumi.Resource) (pulumi.StringOutput, error) {
	closed, err := networkingv1.NewNetworkPolicy(b.ctx, b.name+"-"+namespace+"-deny-all", &networkingv1.NetworkPolicyArgs{
		Metadata: b.metadata(namespace, "deny-all", "what no flow allows is denied"),
		Spec: networkingv1.NetworkPolicySpecArgs{
			PodSelector: metav1.LabelSelectorArgs{}, // every pod
			PolicyTypes: pulumi.ToStringArray([]string{"Ingress", "Egress"}),
		},
	}, b.in...)
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	ready := append([]pulumi.Resource{closed}, after...)
	for _, rule := range flows.PodRules(b.args.Site, namespace) {
		made, err := b.allow(namespace, rule)
		if err != nil {
			return pulumi.StringOutput{}, fmt.Errorf("policy %s: %w", rule.Name, err)
		}
		ready = append(ready, made)
	}
	return ref.After(b.args.Namespaces[namespace], ready...), nil
}

func (b *builder) metadata(namespace, name, why string) metav1.ObjectMetaArgs {
	return metav1.ObjectMetaArgs{
		Name:        pulumi.String(name),
		Namespace:   b.args.Namespaces[namespace],
		Labels:      pulumi.StringMap{partOf: pulumi.String("onedoor")},
		Annotations: pulumi.StringMap{whyAnnotation: pulumi.String(why)},
	}
}

// allow declares the policy of one rule: Kubernetes' own kind where that can say
// it, else Cilium's.
func (b *builder) allow(namespace string, rule flows.PodRule) (pulumi.Resource, error) {
	way := map[flows.Direction]string{flows.Inbound: "in-", flows.Outbound: "out-"}[rule.Direction]
	logical := b.name + "-" + namespace + "-" + way + rule.Name
	metadata := b.metadata(namespace, way+rule.Name, rule.Why)
	// A rule for names must see the questions, and only Cilium's asks for that.
	names := rule.Entity == flows.ClusterDNS && b.args.Site.Hostnames
	if len(rule.Hosts) > 0 || rule.Entity == flows.APIServer || names {
		return apiextensions.NewCustomResource(b.ctx, logical, &apiextensions.CustomResourceArgs{
			ApiVersion: pulumi.String("cilium.io/v2"), Kind: pulumi.String("CiliumNetworkPolicy"), Metadata: metadata,
			OtherFields: kubernetes.UntypedArgs{"spec": map[string]any{
				"endpointSelector": map[string]any{}, // every pod
				"egress":           []any{ciliumEgress(rule)},
			}},
		}, b.in...)
	}
	spec := networkingv1.NetworkPolicySpecArgs{PodSelector: metav1.LabelSelectorArgs{}}
	if rule.Direction == flows.Inbound {
		spec.PolicyTypes = pulumi.ToStringArray([]string{"Ingress"})
		spec.Ingress = networkingv1.NetworkPolicyIngressRuleArray{networkingv1.NetworkPolicyIngressRuleArgs{From: peers(rule), Ports: ports(rule.Ports)}}
	} else {
		spec.PolicyTypes = pulumi.ToStringArray([]string{"Egress"})
		spec.Egress = networkingv1.NetworkPolicyEgressRuleArray{networkingv1.NetworkPolicyEgressRuleArgs{To: peers(rule), Ports: ports(rule.Ports)}}
	}
	return networkingv1.NewNetworkPolicy(b.ctx, logical, &networkingv1.NetworkPolicyArgs{Metadata: metadata, Spec: spec}, b.in...)
}

// The labels by which policies find a namespace and the name servers.
// https://kubernetes.io/docs/reference/labels-annotations-taints/
const (
	namespaceLabel = "kubernetes.io/metadata.name"
	dnsLabel       = "k8s-app"
	dnsApp         = "kube-dns"
)

// peers are the far ends of a rule.
func peers(rule flows.PodRule) networkingv1.NetworkPolicyPeerArray {
	out := networkingv1.NetworkPolicyPeerArray{}
	for _, prefix := range rule.Prefixes {
		block := networkingv1.IPBlockArgs{Cidr: pulumi.String(prefix)}
		if len(rule.Except) > 0 {
			block.Except = pulumi.ToStringArray(rule.Except)
		}
		out = append(out, networkingv1.NetworkPolicyPeerArgs{IpBlock: block})
	}
	for _, namespace := range rule.Namespaces {
		out = append(out, networkingv1.NetworkPolicyPeerArgs{NamespaceSelector: named(namespace)})
	}
	if rule.Entity == flows.ClusterDNS {
		out = append(out, networkingv1.NetworkPolicyPeerArgs{
			NamespaceSelector: named(kube.System),
			PodSelector:       metav1.LabelSelectorArgs{MatchLabels: pulumi.StringMap{dnsLabel: pulumi.String(dnsApp)}},
		})
	}
	return out
}

func named(namespace string) metav1.LabelSelectorArgs {
	return metav1.LabelSelectorArgs{MatchLabels: pulumi.StringMap{namespaceLabel: pulumi.String(namespace)}}
}

// ports are the ports of a rule; none means all. Numbers were checked with the
// table.
func ports(of flows.Ports) networkingv1.NetworkPolicyPortArray {
	out := networkingv1.NetworkPolicyPortArray{}
	for _, text := range of.Numbers {
		first, last, ranged := strings.Cut(text, "-")
		number, err := strconv.Atoi(first)
		if err != nil {
			return nil // "*"
		}
		for _, protocol := range protocols(of.Protocol) {
			port := networkingv1.NetworkPolicyPortArgs{Protocol: pulumi.String(protocol), Port: pulumi.Int(number)}
			if end, err := strconv.Atoi(last); ranged && err == nil {
				port.EndPort = pulumi.Int(end)
			}
			out = append(out, port)
		}
	}
	return out
}

// protocols are those of a row, as Kubernetes spells them.
func protocols(p flows.Protocol) []string {
	if p == flows.Any {
		return []string{"TCP", "UDP"}
	}
	return []string{strings.ToUpper(string(p))}
}

// ciliumEgress is one rule out, in Cilium's terms.
// https://docs.cilium.io/en/stable/security/policy/language/
func ciliumEgress(rule flows.PodRule) map[string]any {
	var numbers []any
	for _, number := range rule.Ports.Numbers {
		for _, protocol := range protocols(rule.Ports.Protocol) {
			numbers = append(numbers, map[string]any{"port": number, "protocol": protocol})
		}
	}
	to := map[string]any{"ports": numbers}
	out := map[string]any{"toPorts": []any{to}}
	switch rule.Entity {
	case flows.APIServer:
		out["toEntities"] = []any{string(flows.APIServer)}
	case flows.ClusterDNS:
		out["toEndpoints"] = []any{map[string]any{"matchLabels": map[string]any{
			"k8s:io.kubernetes.pod.namespace": kube.System, "k8s:" + dnsLabel: dnsApp,
		}}}
		// Cilium learns the addresses of names from the answers that it sees.
		to["rules"] = map[string]any{"dns": []any{map[string]any{"matchPattern": "*"}}}
	default:
		var names []any
		for _, host := range slices.Sorted(slices.Values(rule.Hosts)) {
			how := "matchName"
			if strings.Contains(host, "*") {
				how = "matchPattern"
			}
			names = append(names, map[string]any{how: host})
		}
		out["toFQDNs"] = names
	}
	return out
}
