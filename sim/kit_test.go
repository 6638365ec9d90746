package sim_test

import (
	"context"
	"maps"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/sim"
)

const (
	groupToken  = "azure-native:resources/v20240301:ResourceGroup"
	vnetToken   = "azure-native:network/v20240501:VirtualNetwork"
	subnetToken = "azure-native:network/v20240501:Subnet"
	nsgToken    = "azure-native:network/v20240501:NetworkSecurityGroup"
	ipToken     = "azure-native:network/v20240501:PublicIPAddress"
	natToken    = "azure-native:network/v20240501:NatGateway"
	zoneToken   = "azure-native:network/v20240601:PrivateZone"
	linkToken   = "azure-native:network/v20240601:VirtualNetworkLink"
	peerToken   = "azure-native:network/v20240501:VirtualNetworkPeering"
	logsToken   = "azure-native:operationalinsights/v20230901:Workspace"
	appToken    = "azure-native:insights/v20200202:Component"
	actionToken = "azure-native:insights/v20230101:ActionGroup"
	ruleToken   = "azure-native:alertsmanagement/v20210401:SmartDetectorAlertRule"

	groupID = "/subscriptions/" + subscription + "/resourceGroups/rg"
	netID   = groupID + "/providers/Microsoft.Network/"
	vnetID  = netID + "virtualNetworks/vnet"
)

type m = map[string]any

// engine drives a provider as the engine does, one call at a time.
type engine struct {
	t     testing.TB
	cloud *sim.Cloud
	p     pulumirpc.ResourceProviderServer
}

// open returns an engine over a new Cloud in memory whose clock does not wait.
func open(t testing.TB, opts ...sim.Option) *engine {
	t.Helper()
	cloud, err := sim.Open("", append([]sim.Option{sim.WithQuiet(0)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return over(t, cloud)
}

func over(t testing.TB, cloud *sim.Cloud) *engine {
	t.Helper()
	e := &engine{t: t, cloud: cloud, p: cloud.Providers()[sim.AzureNative]}
	e.configure()
	return e
}

// configure begins a run.
func (e *engine) configure() {
	e.t.Helper()
	urn := "urn:pulumi:dev::p::pulumi:providers:azure-native::azure"
	if _, err := e.p.Configure(context.Background(), &pulumirpc.ConfigureRequest{Urn: &urn, Args: e.pack(resource.NewPropertyMapFromMap(m{"subscriptionId": subscription}))}); err != nil {
		e.t.Fatal(err)
	}
}

func urn(token, name string) string { return "urn:pulumi:dev::p::" + token + "::" + name }

func options() plugin.MarshalOptions {
	return plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, SkipNulls: true}
}

func (e *engine) pack(in resource.PropertyMap) *structpb.Struct {
	e.t.Helper()
	out, err := plugin.MarshalProperties(in, options())
	if err != nil {
		e.t.Fatal(err)
	}
	return out
}

func (e *engine) unpack(in *structpb.Struct) resource.PropertyMap {
	e.t.Helper()
	out, err := plugin.UnmarshalProperties(in, options())
	if err != nil {
		e.t.Fatal(err)
	}
	return out
}

// made is a resource as the engine would keep it.
type made struct {
	id, urn     string
	in, outputs resource.PropertyMap
}

func props(in m) resource.PropertyMap {
	return resource.NewPropertyMapFromMap(in)
}

func (e *engine) check(token, name string, in resource.PropertyMap) (resource.PropertyMap, []*pulumirpc.CheckFailure) {
	e.t.Helper()
	r, err := e.p.Check(context.Background(), &pulumirpc.CheckRequest{Urn: urn(token, name), News: e.pack(in)})
	if err != nil {
		e.t.Fatal(err)
	}
	return e.unpack(r.GetInputs()), r.GetFailures()
}

// create checks and creates; the error is that of Create.
func (e *engine) create(token, name string, in resource.PropertyMap, preview bool) (*made, error) {
	e.t.Helper()
	in, failures := e.check(token, name, in)
	if len(failures) > 0 {
		e.t.Fatalf("check of %s: %v", name, failures)
	}
	r, err := e.p.Create(context.Background(), &pulumirpc.CreateRequest{Urn: urn(token, name), Properties: e.pack(in), Preview: preview})
	if err != nil {
		return nil, err
	}
	return &made{id: r.GetId(), urn: urn(token, name), in: in, outputs: e.unpack(r.GetProperties())}, nil
}

func (e *engine) mustCreate(token, name string, in m) *made {
	e.t.Helper()
	r, err := e.create(token, name, props(in), false)
	if err != nil {
		e.t.Fatalf("create of %s: %v", name, err)
	}
	return r
}

func (e *engine) mustPreview(token, name string, in m) *made {
	e.t.Helper()
	r, err := e.create(token, name, props(in), true)
	if err != nil {
		e.t.Fatalf("preview of %s: %v", name, err)
	}
	return r
}

func (e *engine) diff(r *made, in resource.PropertyMap, ignore ...string) *pulumirpc.DiffResponse {
	e.t.Helper()
	d, err := e.p.Diff(context.Background(), &pulumirpc.DiffRequest{Id: r.id, Urn: r.urn, OldInputs: e.pack(r.in), Olds: e.pack(r.outputs), News: e.pack(in), IgnoreChanges: ignore})
	if err != nil {
		e.t.Fatal(err)
	}
	return d
}

func (e *engine) update(r *made, in resource.PropertyMap, preview bool) (*made, error) {
	e.t.Helper()
	u, err := e.p.Update(context.Background(), &pulumirpc.UpdateRequest{Id: r.id, Urn: r.urn, OldInputs: e.pack(r.in), Olds: e.pack(r.outputs), News: e.pack(in), Preview: preview})
	if err != nil {
		return nil, err
	}
	return &made{id: r.id, urn: r.urn, in: in, outputs: e.unpack(u.GetProperties())}, nil
}

func (e *engine) read(r *made) *made {
	e.t.Helper()
	a, err := e.p.Read(context.Background(), &pulumirpc.ReadRequest{Id: r.id, Urn: r.urn, Inputs: e.pack(r.in), Properties: e.pack(r.outputs)})
	if err != nil {
		e.t.Fatal(err)
	}
	return &made{id: a.GetId(), urn: r.urn, in: e.unpack(a.GetInputs()), outputs: e.unpack(a.GetProperties())}
}

func (e *engine) delete(r *made) error {
	_, err := e.p.Delete(context.Background(), &pulumirpc.DeleteRequest{Id: r.id, Urn: r.urn, OldInputs: e.pack(r.in), Properties: e.pack(r.outputs)})
	return err
}

// with returns in with some values changed; nil takes one out.
func with(in m, changes m) m {
	out := maps.Clone(in)
	for k, v := range changes {
		out[k] = v
		if v == nil {
			delete(out, k)
		}
	}
	return out
}

func id(s string) m { return m{"id": s} }

func list(items ...any) []any { return items }

var unknown = resource.MakeComputed(resource.NewProperty(""))

// The inputs of a small platform, in an order in which they can be made.
var (
	groupIn  = m{"resourceGroupName": "rg", "location": "Sweden Central"}
	vnetIn   = m{"resourceGroupName": "rg", "virtualNetworkName": "vnet", "addressSpace": m{"addressPrefixes": list("10.0.0.0/16")}}
	spokeIn  = m{"resourceGroupName": "rg", "virtualNetworkName": "spoke", "addressSpace": m{"addressPrefixes": list("10.1.0.0/16")}}
	nsgIn    = m{"resourceGroupName": "rg", "networkSecurityGroupName": "nsg", "securityRules": list(securityRule("web", 200), securityRule("api", 100))}
	ipIn     = m{"resourceGroupName": "rg", "publicIpAddressName": "ip", "sku": m{"name": "Standard"}, "publicIPAllocationMethod": "Static", "zones": list("2", "1")}
	natIn    = m{"resourceGroupName": "rg", "natGatewayName": "nat", "sku": m{"name": "Standard"}, "publicIpAddresses": list(id(netID + "publicIPAddresses/ip"))}
	subnetIn = m{"resourceGroupName": "rg", "virtualNetworkName": "vnet", "subnetName": "a", "addressPrefix": "10.0.1.0/24", "networkSecurityGroup": id(netID + "networkSecurityGroups/nsg"), "natGateway": id(netID + "natGateways/nat")}
	peerIn   = m{"resourceGroupName": "rg", "virtualNetworkName": "vnet", "virtualNetworkPeeringName": "spoke", "remoteVirtualNetwork": id(netID + "virtualNetworks/spoke")}
	zoneIn   = m{"resourceGroupName": "rg", "privateZoneName": "corp.internal", "location": "Global"}
	linkIn   = m{"resourceGroupName": "rg", "privateZoneName": "corp.internal", "virtualNetworkLinkName": "vnet", "location": "global", "registrationEnabled": false, "virtualNetwork": id(vnetID)}
	logsIn   = m{"resourceGroupName": "rg", "workspaceName": "logs", "retentionInDays": 30.0}
	appIn    = m{"resourceGroupName": "rg", "resourceName": "app", "kind": "web", "applicationType": "web", "workspaceResourceId": groupID + "/providers/Microsoft.OperationalInsights/workspaces/logs"}
	actionIn = m{"resourceGroupName": "rg", "actionGroupName": "oncall", "groupShortName": "oncall", "enabled": true, "location": "global", "emailReceivers": list(m{"name": "team", "emailAddress": "team@example.org"})}
	ruleIn   = m{
		"resourceGroupName": "rg", "alertRuleName": "Failure Anomalies - app", "location": "global", "state": "Enabled", "severity": "Sev3", "frequency": "PT1M",
		"detector": id("FailureAnomaliesDetector"), "scope": list(groupID + "/providers/Microsoft.Insights/components/app"),
		"actionGroups": m{"groupIds": list(groupID + "/providers/Microsoft.Insights/actionGroups/oncall")},
	}
)

func securityRule(name string, priority float64) m {
	return m{
		"name": name, "priority": priority, "direction": "Inbound", "access": "Allow", "protocol": "Tcp", "sourceAddressPrefix": "VirtualNetwork",
		"sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": "443",
	}
}

type declared struct {
	token, name string
	in          m
	change      m // a change in place
}

func platform() []declared {
	tagged := m{"tags": m{"owner": "me"}}
	return []declared{
		{groupToken, "group", groupIn, tagged},
		{vnetToken, "vnet", vnetIn, m{"addressSpace": m{"addressPrefixes": list("10.0.0.0/16", "10.2.0.0/16")}}},
		{vnetToken, "spoke", spokeIn, tagged},
		{nsgToken, "nsg", nsgIn, m{"securityRules": list(securityRule("web", 201))}},
		{ipToken, "ip", ipIn, m{"idleTimeoutInMinutes": 10.0}},
		{natToken, "nat", natIn, m{"idleTimeoutInMinutes": 10.0}},
		{subnetToken, "subnet", subnetIn, m{"natGateway": nil}},
		{peerToken, "peer", peerIn, m{"allowForwardedTraffic": true}},
		{zoneToken, "zone", zoneIn, tagged},
		{linkToken, "link", linkIn, m{"registrationEnabled": true}},
		{logsToken, "logs", logsIn, m{"retentionInDays": 60.0}},
		{appToken, "app", appIn, m{"retentionInDays": 60.0}},
		{actionToken, "action", actionIn, m{"enabled": false}},
		{ruleToken, "rule", ruleIn, m{"frequency": "PT5M"}},
	}
}

func (e *engine) up() map[string]*made {
	e.t.Helper()
	out := map[string]*made{}
	for _, d := range platform() {
		out[d.name] = e.mustCreate(d.token, d.name, d.in)
	}
	return out
}
