package sim_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	pulumicli "onedoor/internal/engine"
	"onedoor/sim"
)

const subscription = "11111111-1111-1111-1111-111111111111"

// res is any resource; the engine does not care about Go types.
type res struct {
	pulumi.CustomResourceState
	Name pulumi.StringOutput `pulumi:"name"`
}

type providerRes struct{ pulumi.ProviderResourceState }

// program declares the network, DNS and logs of a small platform.
func program(addressOf func(string) string) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		var azure providerRes
		if err := ctx.RegisterResource("pulumi:providers:azure-native", "azure", pulumi.Map{"subscriptionId": pulumi.String(subscription)}, &azure, pulumi.Version(sim.AzureNativeVersion)); err != nil {
			return err
		}
		var failed error
		add := func(token, name string, in pulumi.Map, opts ...pulumi.ResourceOption) *res {
			r := &res{}
			if failed == nil {
				failed = ctx.RegisterResource("azure-native:"+token, name, in, r, append(opts, pulumi.Provider(&azure))...)
			}
			return r
		}
		group := add("resources/v20240301:ResourceGroup", "group", pulumi.Map{"resourceGroupName": pulumi.String("rg-net"), "location": pulumi.String("Sweden Central"), "tags": pulumi.StringMap{"owner": pulumi.String("me")}})
		if failed != nil {
			return failed
		}
		in := func(m pulumi.Map) pulumi.Map {
			m["resourceGroupName"] = group.Name
			return m
		}
		ids := func(r *res) pulumi.Map { return pulumi.Map{"id": r.ID()} }
		nsg := add("network/v20240501:NetworkSecurityGroup", "nsg", in(pulumi.Map{"networkSecurityGroupName": pulumi.String("nsg"), "securityRules": pulumi.Array{
			pulumi.Map{"name": pulumi.String("web"), "priority": pulumi.Int(200), "direction": pulumi.String("Inbound"), "access": pulumi.String("Allow"), "protocol": pulumi.String("Tcp"), "sourceAddressPrefix": pulumi.String("VirtualNetwork"), "sourcePortRange": pulumi.String("*"), "destinationAddressPrefix": pulumi.String("10.0.1.0/24"), "destinationPortRanges": pulumi.StringArray{pulumi.String("443"), pulumi.String("80")}},
			pulumi.Map{"name": pulumi.String("deny"), "priority": pulumi.Int(4096), "direction": pulumi.String("Inbound"), "access": pulumi.String("Deny"), "protocol": pulumi.String("*"), "sourceAddressPrefix": pulumi.String("*"), "sourcePortRange": pulumi.String("*"), "destinationAddressPrefix": pulumi.String("*"), "destinationPortRange": pulumi.String("*")},
		}}))
		ip := add("network/v20240501:PublicIPAddress", "ip", in(pulumi.Map{"publicIpAddressName": pulumi.String("ip"), "sku": pulumi.Map{"name": pulumi.String("Standard")}, "publicIPAllocationMethod": pulumi.String("Static"), "zones": pulumi.StringArray{pulumi.String("3"), pulumi.String("1"), pulumi.String("2")}}))
		nat := add("network/v20240501:NatGateway", "nat", in(pulumi.Map{"natGatewayName": pulumi.String("nat"), "sku": pulumi.Map{"name": pulumi.String("Standard")}, "publicIpAddresses": pulumi.Array{ids(ip)}}))
		vnet := add("network/v20240501:VirtualNetwork", "vnet", in(pulumi.Map{"virtualNetworkName": pulumi.String("vnet"), "addressSpace": pulumi.Map{"addressPrefixes": pulumi.StringArray{pulumi.String("10.0.0.0/16")}}}))
		other := add("network/v20240501:VirtualNetwork", "other", in(pulumi.Map{"virtualNetworkName": pulumi.String("other"), "addressSpace": pulumi.Map{"addressPrefixes": pulumi.StringArray{pulumi.String("10.1.0.0/16")}}}))
		for _, name := range []string{"a", "b", "c"} {
			add("network/v20240501:Subnet", "subnet-"+name, in(pulumi.Map{"virtualNetworkName": vnet.Name, "subnetName": pulumi.String(name), "addressPrefix": pulumi.String(addressOf(name)), "networkSecurityGroup": ids(nsg), "natGateway": ids(nat)}))
		}
		for _, pair := range [][2]*res{{vnet, other}, {other, vnet}} {
			add("network/v20240501:VirtualNetworkPeering", fmt.Sprintf("peer-%v", pair[0] == vnet), in(pulumi.Map{"virtualNetworkName": pair[0].Name, "virtualNetworkPeeringName": pulumi.String("to-other"), "remoteVirtualNetwork": ids(pair[1])}),
				pulumi.IgnoreChanges([]string{"peeringState"}))
		}
		zone := add("network/v20240601:PrivateZone", "zone", in(pulumi.Map{"privateZoneName": pulumi.String("privatelink.openai.azure.com"), "location": pulumi.String("Global")}))
		add("network/v20240601:VirtualNetworkLink", "link", in(pulumi.Map{"privateZoneName": zone.Name, "virtualNetworkLinkName": pulumi.String("vnet"), "location": pulumi.String("global"), "registrationEnabled": pulumi.Bool(false), "virtualNetwork": ids(vnet)}))
		logs := add("operationalinsights/v20230901:Workspace", "logs", in(pulumi.Map{"workspaceName": pulumi.String("logs"), "retentionInDays": pulumi.Int(30), "sku": pulumi.Map{"name": pulumi.String("PerGB2018")}}))
		app := add("insights/v20200202:Component", "app", in(pulumi.Map{"resourceName": pulumi.String("app"), "kind": pulumi.String("web"), "applicationType": pulumi.String("web"), "workspaceResourceId": logs.ID()}))
		action := add("insights/v20230101:ActionGroup", "action", in(pulumi.Map{"actionGroupName": pulumi.String("action"), "groupShortName": pulumi.String("oncall"), "enabled": pulumi.Bool(true), "location": pulumi.String("Global"), "emailReceivers": pulumi.Array{pulumi.Map{"name": pulumi.String("team"), "emailAddress": pulumi.String("team@example.org"), "useCommonAlertSchema": pulumi.Bool(true)}}}))
		add("alertsmanagement/v20210401:SmartDetectorAlertRule", "detector", in(pulumi.Map{"alertRuleName": pulumi.String("Failure Anomalies - app"), "location": pulumi.String("global"), "state": pulumi.String("Enabled"), "severity": pulumi.String("Sev3"), "frequency": pulumi.String("PT1M"),
			"detector": pulumi.Map{"id": pulumi.String("FailureAnomaliesDetector")}, "scope": pulumi.Array{app.ID()}, "actionGroups": pulumi.Map{"groupIds": pulumi.Array{action.ID()}}}))
		var password res
		if failed == nil {
			failed = ctx.RegisterResource("random:index/randomPassword:RandomPassword", "password", pulumi.Map{"length": pulumi.Int(20)}, &password, pulumi.Version(sim.RandomVersion))
		}
		return failed
	}
}

// stack makes a stack of the real engine over a Cloud, as any caller of the
// Automation API would.
func stack(t *testing.T, cloud *sim.Cloud, body pulumi.RunFunc) auto.Stack {
	t.Helper()
	cli, err := pulumicli.Find(t.Context(), pulumicli.Options{Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(cli.Path, filepath.Join(bin, "pulumi")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := auto.UpsertStackInlineSource(t.Context(), "dev", "simtest", body,
		auto.WorkDir(work), auto.PulumiHome(filepath.Join(dir, "home")),
		auto.Project(workspace.Project{Name: tokens.PackageName("simtest"), Runtime: workspace.NewProjectRuntimeInfo("go", nil), Backend: &workspace.ProjectBackend{URL: "file://" + dir}}),
		auto.EnvVars(map[string]string{
			"PULUMI_CONFIG_PASSPHRASE": "x", "PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
			"PULUMI_DEBUG_PROVIDERS": strings.Join(serve(t, cloud), ","),
		}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func serve(t *testing.T, cloud *sim.Cloud) []string {
	t.Helper()
	var out []string
	for name, provider := range cloud.Providers() {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer(grpc.MaxRecvMsgSize(400 << 20))
		pulumirpc.RegisterResourceProviderServer(server, provider)
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(server.Stop)
		out = append(out, fmt.Sprintf("%s:%d", name, listener.Addr().(*net.TCPAddr).Port))
	}
	return out
}

func plan(name string) string {
	return map[string]string{"a": "10.0.1.0/24", "b": "10.0.2.0/24", "c": "10.0.3.0/24"}[name]
}

// The real engine previews, deploys, refreshes, finds nothing to do, and destroys.
func TestEngineRunsAPlatform(t *testing.T) { //nolint:paralleltest // sets the environment
	path := filepath.Join(t.TempDir(), "azure.json")
	cloud, err := sim.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := stack(t, cloud, program(plan))
	ctx := context.Background()
	const made = 20 // with stack, provider and password
	if p, err := s.Preview(ctx); err != nil || p.ChangeSummary["create"] != made {
		t.Fatalf("preview: %v, creates %d, want %d", err, p.ChangeSummary["create"], made)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a preview wrote the state")
	}
	if _, err := s.Up(ctx); err != nil {
		t.Fatal(err)
	}
	for _, e := range cloud.Log() {
		t.Logf("%3d %-6s %8s..%-8s %s", e.Seq, e.Method, e.Start, e.End, e.ID)
	}
	if r, err := s.Refresh(ctx); err != nil {
		t.Fatal(err)
	} else if u := (*r.Summary.ResourceChanges)["update"]; u > 2 { // the networks see their subnets
		t.Logf("refresh updated %d\n%s", u, r.StdOut)
	}
	p, err := s.Preview(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.ChangeSummary) != 1 {
		t.Errorf("preview after up and refresh: %v, want only sames\n%s", p.ChangeSummary, p.StdOut)
	}
	if _, err := s.Destroy(ctx); err != nil {
		t.Fatal(err)
	}
	if n := len(cloud.State().Resources); n != 0 {
		t.Errorf("%d resources left after destroy", n)
	}
}

// A preview refuses what up would refuse, by ARM's name.
func TestEnginePreviewRefusesOverlap(t *testing.T) { //nolint:paralleltest // sets the environment
	cloud, err := sim.Open("")
	if err != nil {
		t.Fatal(err)
	}
	s := stack(t, cloud, program(func(string) string { return "10.0.1.0/24" }))
	_, err = s.Preview(t.Context())
	if err == nil || !strings.Contains(err.Error(), "NetcfgSubnetRangesOverlap") {
		t.Errorf("preview of overlapping subnets: %v, want NetcfgSubnetRangesOverlap", err)
	}
}
