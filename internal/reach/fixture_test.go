package reach_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"onedoor/components/walls"
	"onedoor/internal/az"
	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
	"onedoor/internal/reach"
)

// plan is what a test looks at: planned resources by logical name and type.
type plan struct {
	stack     string
	resources []reach.Resource
}

// recorded is the golden of a stack.
func recorded(t *testing.T, stack string) plan {
	t.Helper()
	raw, err := os.ReadFile("../../tests/testdata/" + stack + ".preview.json")
	require.NoError(t, err)
	var record struct{ Resources []reach.Resource }
	require.NoError(t, json.Unmarshal(raw, &record))
	return plan{stack, record.Resources}
}

// whole is a stack with every door and wall: the golden's network, identities and
// services, with model accounts, a gateway, the doors and the policies of the
// cluster made here, so that a test knows them.
func whole(t *testing.T, stack string) plan {
	t.Helper()
	p := recorded(t, stack)
	p.resources = slices.DeleteFunc(p.resources, func(r reach.Resource) bool {
		return strings.HasPrefix(r.Type, "kubernetes:") || strings.Contains(r.Type, ":cognitiveservices/") || strings.Contains(r.Type, ":apimanagement/") ||
			strings.HasPrefix(name(r), "models-")
	})
	if stack == "dev" {
		p.get(t, "ManagedCluster", "cluster")["apiServerAccessProfile"] = map[string]any{"enablePrivateCluster": false}
	}
	p.rules(t)
	p.account("batch", "GlobalBatch", netplan.EndpointsBatch)
	p.account("swedencentral", "GlobalStandard", netplan.EndpointsModels)
	p.apim(t)
	p.doors()
	p.walls(t)
	return p
}

// site is what the plan says, with the ranges of the peers of prod.
func (p plan) site() flows.Site {
	site := reach.New(p.resources).Site()
	if p.stack == "prod" {
		site.Plan.Peers = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/16")}
	}
	return site
}

func name(r reach.Resource) string { return r.URN[strings.LastIndex(r.URN, "::")+2:] }

// get is the inputs of the resource with that logical name, which ends its type in
// kind.
func (p plan) get(t *testing.T, kind, logical string) map[string]any {
	t.Helper()
	i := slices.IndexFunc(p.resources, func(r reach.Resource) bool { return name(r) == logical && strings.HasSuffix(r.Type, ":"+kind) })
	require.GreaterOrEqual(t, i, 0, "no %s %q", kind, logical)
	return p.resources[i].Inputs
}

func (p *plan) add(typ, logical string, inputs map[string]any) {
	p.resources = append(p.resources, reach.Resource{URN: "urn:pulumi:" + p.stack + "::onedoor::" + typ + "::" + logical, Type: typ, Inputs: inputs})
}

// rules puts the rules of the table into the security groups.
func (p plan) rules(t *testing.T) {
	t.Helper()
	site := p.site()
	for _, sub := range site.Plan.Subnets {
		var list []any
		for _, r := range flows.Rules(site, sub.Role) {
			access := map[bool]string{true: "Allow", false: "Deny"}[r.Allow]
			list = append(list, map[string]any{
				"name": r.Name, "priority": float64(r.Priority), "direction": string(r.Direction), "access": access, "protocol": string(r.Protocol),
				"sourceAddressPrefixes": anys(r.Sources), "destinationAddressPrefixes": anys(r.Destinations), "destinationPortRanges": anys(r.Ports),
			})
		}
		p.get(t, "NetworkSecurityGroup", "network-"+string(sub.Role)+"-rules")["securityRules"] = list
	}
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}

func (p plan) group(door string) string { return "rg-onedoor-" + p.stack + "-" + door }

func (p plan) id(group, typ, rest string) string {
	return "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/" + p.group(group) + "/providers/" + typ + "/" + rest
}

// account adds a model account with a deployment and an endpoint.
func (p *plan) account(logical, sku string, role netplan.Role) {
	door := "platform"
	if strings.HasSuffix(sku, "Batch") {
		door = "batch-door"
	}
	group, plain := p.group(door), "aoai-"+logical
	p.add("azure-native:cognitiveservices/v20241001:Account", "models-"+logical, map[string]any{
		"accountName": plain, "resourceGroupName": group,
		"properties": map[string]any{"publicNetworkAccess": "Disabled", "networkAcls": map[string]any{"defaultAction": "Deny", "bypass": "None"}},
	})
	p.add("azure-native:cognitiveservices/v20241001:Deployment", "models-"+logical+"-one", map[string]any{
		"accountName": plain, "resourceGroupName": group, "sku": map[string]any{"name": sku},
	})
	p.endpoint("models-"+logical, door, "account", p.id(door, "Microsoft.CognitiveServices/accounts", plain), az.ZoneOpenAI, role)
}

func (p *plan) endpoint(logical, door, part, target, zone string, role netplan.Role) {
	group := p.group(door)
	p.add("azure-native:network/v20240501:PrivateEndpoint", logical+"-endpoint", map[string]any{
		"privateEndpointName": "pep-" + logical, "resourceGroupName": group,
		"subnet":                        map[string]any{"id": p.id("platform", "Microsoft.Network/virtualNetworks", "vnet-onedoor-"+p.stack+"/subnets/snet-onedoor-"+p.stack+"-"+string(role))},
		"privateLinkServiceConnections": []any{map[string]any{"groupIds": []any{part}, "privateLinkServiceId": target}},
	})
	p.add("azure-native:network/v20240501:PrivateDnsZoneGroup", logical+"-endpoint-dns", map[string]any{
		"privateEndpointName": "pep-" + logical, "resourceGroupName": group,
		"privateDnsZoneConfigs": []any{map[string]any{"privateDnsZoneId": p.id("platform", "Microsoft.Network/privateDnsZones", zone)}},
	})
}

// apim adds the gateway.
func (p *plan) apim(t *testing.T) {
	t.Helper()
	mode, plain := "External", "apim-onedoor-"+p.stack
	for _, r := range p.resources {
		zone, _ := r.Inputs["privateZoneName"].(string)
		if own, found := strings.CutSuffix(zone, ".azure-api.net"); found && strings.HasSuffix(r.Type, ":PrivateZone") {
			mode, plain = "Internal", own
		}
	}
	p.add("azure-native:apimanagement/v20240501:ApiManagementService", "gateway", map[string]any{
		"serviceName": plain, "resourceGroupName": p.group("platform"), "sku": map[string]any{"name": "Developer"}, "virtualNetworkType": mode,
		"virtualNetworkConfiguration": map[string]any{"subnetResourceId": p.id("platform", "Microsoft.Network/virtualNetworks", "vnet-onedoor-"+p.stack+"/subnets/snet-onedoor-"+p.stack+"-gateway")},
	})
}

// doors adds the namespaces with their load balancers.
func (p *plan) doors() {
	site := p.site()
	address := site.Plan.Subnet(netplan.Doors).Prefix.Addr()
	for range 4 { // the first that Azure does not keep
		address = address.Next()
	}
	for _, namespace := range kube.Namespaces {
		p.add("kubernetes:core/v1:Namespace", "namespace-"+namespace, map[string]any{"metadata": map[string]any{"name": namespace}})
	}
	for _, namespace := range []string{kube.Batch, kube.Edge} {
		zone := namespace + ".internal"
		p.add("azure-native:network/v20240601:PrivateZone", "zone-"+zone, map[string]any{"resourceGroupName": p.group("platform"), "privateZoneName": zone})
		p.add("azure-native:network/v20240601:PrivateRecordSet", "record-"+zone, map[string]any{
			"resourceGroupName": p.group("platform"), "privateZoneName": zone, "aRecords": []any{map[string]any{"ipv4Address": address.String()}},
		})
		for link, vnet := range map[string]string{"": p.id("platform", "Microsoft.Network/virtualNetworks", "vnet-onedoor-"+p.stack),
			"-hub": "/subscriptions/22222222-3333-4444-5555-666666666666/resourceGroups/rg-hub/providers/Microsoft.Network/virtualNetworks/vnet-hub"} {
			p.add("azure-native:network/v20240601:VirtualNetworkLink", "link-"+zone+link, map[string]any{
				"resourceGroupName": p.group("platform"), "privateZoneName": zone, "virtualNetwork": map[string]any{"id": vnet},
			})
		}
		p.add("kubernetes:core/v1:Service", "door-"+namespace, map[string]any{
			"metadata": map[string]any{"name": "door", "namespace": namespace, "annotations": map[string]any{
				"service.beta.kubernetes.io/azure-load-balancer-internal": "true", "service.beta.kubernetes.io/azure-load-balancer-ipv4": address.String(),
			}},
			"spec": map[string]any{"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": []any{map[string]any{"port": 443.0, "targetPort": 8443.0}}},
		})
		address = address.Next()
	}
}

// walls adds what the walls declare.
func (p *plan) walls(t *testing.T) {
	t.Helper()
	made := fake.Run(t, fake.Preview, func(ctx *pulumi.Context) error {
		var cluster struct{ pulumi.CustomResourceState }
		if err := ctx.RegisterResource("test:index:Cluster", "aks", pulumi.Map{}, &cluster); err != nil {
			return err
		}
		args := walls.Args{Cluster: &cluster, Site: p.site(), BatchTaint: "onedoor/batch=only:NoSchedule", Namespaces: map[string]pulumi.StringOutput{}}
		for _, namespace := range kube.Namespaces {
			args.Namespaces[namespace] = pulumi.String(namespace).ToStringOutput()
		}
		_, err := walls.New(ctx, "walls", args)
		return err
	})
	for _, r := range made.Resources {
		if !strings.HasPrefix(r.Type, "kubernetes:") {
			continue
		}
		inputs := map[string]any{}
		for key := range r.Inputs {
			inputs[string(key)] = r.Input(string(key))
		}
		p.add(r.Type, r.Name, inputs)
	}
}

// without is the plan without one resource.
func (p plan) without(i int) plan {
	return plan{p.stack, append(slices.Clone(p.resources[:i]), p.resources[i+1:]...)}
}

// with is the plan with other inputs for one resource.
func (p plan) with(i int, change map[string]any) plan {
	out := plan{p.stack, slices.Clone(p.resources)}
	out.resources[i].Inputs = maps.Clone(out.resources[i].Inputs)
	maps.Copy(out.resources[i].Inputs, change)
	return out
}

// findings are the texts of what is found, each with its kind.
func (p plan) findings() []string {
	out := []string{}
	for _, f := range reach.New(p.resources).Proof(flows.Table) {
		out = append(out, fmt.Sprintf("%s: %s", f.Kind, f.Text))
	}
	return out
}
