package sim_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"

	"onedoor/sim"
	"onedoor/sim/core"
)

// Every modelled type goes through its life: check, preview, create, read,
// no difference, update, delete, and delete again.
func TestLifeCycle(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, d := range platform() { //nolint:paralleltest // one after another, as each needs those before
		t.Run(d.name, func(t *testing.T) {
			e.t = t
			e.configure()
			preview := e.mustPreview(d.token, d.name, d.in)
			if preview.id != "" {
				t.Errorf("preview: id %q, want none", preview.id)
			}
			for key, v := range props(d.in) {
				if out, ok := preview.outputs[key]; ok && out.ContainsUnknowns() && !v.IsObject() {
					t.Errorf("preview: %s is unknown, although it is an input", key)
				}
			}
			r := e.mustCreate(d.token, d.name, d.in)
			for key, v := range preview.outputs {
				if v.IsComputed() && r.outputs[key].IsNull() && key != "systemData" && key != "etag" && key != "managedBy" && !optional[string(key)] {
					t.Errorf("preview promises %s, create does not give it", key)
				}
				if !v.ContainsUnknowns() && !reflect.DeepEqual(norm(v), norm(r.outputs[key])) && key != "location" && key != "securityRules" && key != "zones" && key != "emailReceivers" {
					t.Errorf("preview says %s = %v, create %v", key, v, r.outputs[key])
				}
			}
			if !strings.HasPrefix(r.id, groupID) || r.outputs["id"].StringValue() != r.id {
				t.Errorf("id %q, output %v", r.id, r.outputs["id"])
			}
			read := e.read(r)
			if diff := r.in.Diff(read.in); diff != nil {
				t.Errorf("read after create changes the inputs: %v", diff.ChangedKeys())
			}
			if diff := r.outputs.Diff(read.outputs); diff != nil {
				t.Errorf("read after create changes the outputs: %v", diff.ChangedKeys())
			}
			if got := e.diff(r, r.in); got.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
				t.Errorf("no change: %v", got)
			}
			next := props(with(d.in, d.change))
			if _, has := next["location"]; !has && !r.in["location"].IsNull() {
				next["location"] = r.in["location"]
			}
			change := e.diff(r, next)
			if change.GetChanges() != pulumirpc.DiffResponse_DIFF_SOME || len(change.GetReplaces()) > 0 || len(change.GetDetailedDiff()) == 0 {
				t.Errorf("change %v: %v", d.change, change)
			}
			if _, err := e.update(r, next, true); err != nil {
				t.Errorf("preview of update: %v", err)
			}
			updated, err := e.update(r, next, false)
			if err != nil {
				t.Fatalf("update: %v", err)
			}
			if got := e.diff(updated, next); got.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
				t.Errorf("after the update: %v", got)
			}
			back, err := e.update(updated, r.in, false)
			if err != nil {
				t.Fatalf("update back: %v", err)
			}
			// A resource that nothing uses can go and come again.
			if d.token == ruleToken || d.token == linkToken || d.token == peerToken {
				for range 2 {
					if err := e.delete(back); err != nil {
						t.Errorf("delete: %v", err)
					}
				}
				if gone := e.read(back); gone.id != "" {
					t.Errorf("read after delete: id %q, want none", gone.id)
				}
				e.mustCreate(d.token, d.name, d.in)
			}
		})
	}
}

// optional are outputs that Azure gives only to some resources of a type.
var optional = map[string]bool{
	"ipConfiguration": true, "ipConfigurations": true, "serviceAssociationLinks": true, "resourceNavigationLinks": true, "privateEndpoints": true,
	"ipConfigurationProfiles": true, "interfaceEndpoints": true, "purpose": true, "networkInterfaces": true, "flushConnection": true, "subnets": true,
	"flowLogs": true, "defaultPublicNatGateway": true, "internalId": true, "privateLinkScopedResources": true, "hockeyAppToken": true,
	"laMigrationDate": true, "flowType": true, "hockeyAppId": true, "azureApiVersion": true, "identity": true, "remoteVirtualNetworkEncryption": true,
}

func norm(v resource.PropertyValue) string {
	text, _ := json.Marshal(v.Mappable())
	return string(text)
}

// Names are explicit (A070), all problems come at once, by name, with the nearest known, and secrets stay secret.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	e := open(t)
	_, failures := e.check(subnetToken, "x", props(m{"resourceGroupName": "rg", "virtualNetworkName": "vnet", "adressPrefix": "10.0.0.0/24", "natGateway": "x"}))
	var lines []string
	for _, f := range failures {
		lines = append(lines, f.GetProperty()+" | "+f.GetReason())
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{"subnetName | subnetName: got nothing, want a name", "adressPrefix: unknown property, nearest is addressPrefix", "natGateway | "} {
		if !strings.Contains(text, want) {
			t.Errorf("failures lack %q:\n%s", want, text)
		}
	}
	secret := props(with(actionIn, m{"location": "global"}))
	secret["groupShortName"] = resource.MakeSecret(resource.NewProperty("hunter2-hunter2"))
	secret["enabled"] = resource.MakeSecret(resource.NewProperty("hunter2"))
	if _, failures := e.check(actionToken, "x", secret); len(failures) == 0 || strings.Contains(failures[0].String(), "hunter2") {
		t.Errorf("a secret is shown, or its problem is not found: %v", failures)
	}
	secret = props(nsgIn)
	secret["networkSecurityGroupName"] = resource.MakeSecret(resource.NewProperty("hunter2!"))
	if _, failures := e.check(nsgToken, "x", secret); len(failures) == 0 || strings.Contains(failures[0].String(), "hunter2") || !strings.Contains(failures[0].String(), "[secret]") {
		t.Errorf("a secret name is shown, or its problem is not found: %v", failures)
	}
	_, err := e.p.Check(context.Background(), &pulumirpc.CheckRequest{Urn: urn("azure-native:network:Subnet", "x")})
	if err == nil || !strings.Contains(err.Error(), subnetToken) {
		t.Errorf("unknown token: %v, want the nearest %s", err, subnetToken)
	}
	_, err = e.p.Invoke(context.Background(), &pulumirpc.InvokeRequest{Tok: "azure-native:network:getSubnet"})
	if err == nil || !strings.Contains(err.Error(), "azure-native:network:getSubnet") {
		t.Errorf("unknown function: %v, want its name", err)
	}
}

// A missing location comes from the old inputs, the provider, or the group, as in azure-native.
func TestLocationHasADefault(t *testing.T) {
	t.Parallel()
	e := open(t)
	if in, _ := e.check(vnetToken, "x", props(with(vnetIn, m{"resourceGroupName": nil})).Copy()); in["location"].HasValue() {
		t.Errorf("without a group: %v", in["location"])
	}
	in := props(vnetIn)
	in["resourceGroupName"] = unknown
	if in, _ := e.check(vnetToken, "x", in); !in["location"].IsComputed() {
		t.Errorf("with an unknown group: %v, want unknown", in["location"])
	}
	e.mustPreview(groupToken, "group", groupIn)
	if in, _ := e.check(vnetToken, "x", props(vnetIn)); in["location"].StringValue() != "swedencentral" {
		t.Errorf("in a preview that makes the group: %v", in["location"])
	}
	e.mustCreate(groupToken, "group", groupIn)
	if in, _ := e.check(vnetToken, "x", props(vnetIn)); in["location"].StringValue() != "swedencentral" {
		t.Errorf("in a group: %v", in["location"])
	}
}

// Differences have paths and kinds; what means the same to Azure is none (A041, A071).
func TestDiff(t *testing.T) {
	t.Parallel()
	e := open(t)
	all := e.up()
	update, add, del, replace := pulumirpc.PropertyDiff_UPDATE, pulumirpc.PropertyDiff_ADD, pulumirpc.PropertyDiff_DELETE, pulumirpc.PropertyDiff_UPDATE_REPLACE
	for name, c := range map[string]struct { //nolint:paralleltest // all on one engine
		of     string
		change m
		ignore []string
		want   map[string]pulumirpc.PropertyDiff_Kind
	}{
		"location spelt otherwise": {of: "group", change: m{"location": "swedencentral"}},
		"moved":                    {of: "group", change: m{"location": "westeurope"}, want: map[string]pulumirpc.PropertyDiff_Kind{"location": replace}},
		"renamed":                  {of: "subnet", change: m{"subnetName": "b"}, want: map[string]pulumirpc.PropertyDiff_Kind{"subnetName": replace}},
		"tag added":                {of: "group", change: m{"tags": m{"cost-center": "1", "a": "b"}}, want: map[string]pulumirpc.PropertyDiff_Kind{"tags": add}},
		"property removed":         {of: "subnet", change: m{"natGateway": nil}, want: map[string]pulumirpc.PropertyDiff_Kind{"natGateway": del}},
		"nested":                   {of: "subnet", change: m{"natGateway": id(netID + "natGateways/other")}, want: map[string]pulumirpc.PropertyDiff_Kind{"natGateway.id": update}},
		"array grows":              {of: "vnet", change: m{"addressSpace": m{"addressPrefixes": list("10.0.0.0/16", "10.2.0.0/16")}}, want: map[string]pulumirpc.PropertyDiff_Kind{"addressSpace.addressPrefixes[1]": add}},
		"set reordered":            {of: "nsg", change: m{"securityRules": list(securityRule("api", 100), securityRule("web", 200))}},
		"zones reordered":          {of: "ip", change: m{"zones": list("1", "2")}},
		"set changed":              {of: "nsg", change: m{"securityRules": list(securityRule("api", 100), securityRule("web", 201))}, want: map[string]pulumirpc.PropertyDiff_Kind{"securityRules[1].priority": update}},
		"sku of an address":        {of: "ip", change: m{"sku": m{"name": "StandardV2"}}, want: map[string]pulumirpc.PropertyDiff_Kind{"sku.name": replace}},
		"zones of a gateway":       {of: "nat", change: m{"zones": list("1")}, want: map[string]pulumirpc.PropertyDiff_Kind{"zones": add}},
		"ignored":                  {of: "subnet", change: m{"addressPrefix": "10.0.5.0/24"}, ignore: []string{"addressPrefix"}},
		"ignored by prefix":        {of: "subnet", change: m{"natGateway": id("x")}, ignore: []string{"natGateway"}},
		"ignored something else":   {of: "subnet", change: m{"addressPrefix": "10.0.5.0/24"}, ignore: []string{"address"}, want: map[string]pulumirpc.PropertyDiff_Kind{"addressPrefix": update}},
	} {
		t.Run(name, func(t *testing.T) {
			e.t = t
			r := all[c.of]
			next := r.in.Copy()
			for k, v := range c.change {
				next[resource.PropertyKey(k)] = resource.NewPropertyValue(v)
				if v == nil {
					delete(next, resource.PropertyKey(k))
				}
			}
			d := e.diff(r, next, c.ignore...)
			got := map[string]pulumirpc.PropertyDiff_Kind{}
			replaces := false
			for path, p := range d.GetDetailedDiff() {
				got[path] = p.GetKind()
				replaces = replaces || p.GetKind() == replace
			}
			if len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if (d.GetChanges() == pulumirpc.DiffResponse_DIFF_SOME) != (len(c.want) > 0) || d.GetDeleteBeforeReplace() != replaces || (len(d.GetReplaces()) > 0) != replaces {
				t.Errorf("summary %v does not fit", d)
			}
		})
	}
}

// An unknown value in a preview is a difference.
func TestDiffSeesUnknowns(t *testing.T) {
	t.Parallel()
	e := open(t)
	all := e.up()
	next := all["subnet"].in.Copy()
	next["addressPrefix"] = unknown
	if d := e.diff(all["subnet"], next); d.GetChanges() != pulumirpc.DiffResponse_DIFF_SOME {
		t.Errorf("known to unknown: %v", d)
	}
}

// A tag key with a dot or a hyphen is quoted, so that its path can be read.
func TestDiffQuotesKeys(t *testing.T) {
	t.Parallel()
	e := open(t)
	r := e.mustCreate(groupToken, "group", with(groupIn, m{"tags": m{"cost-center": "1", "a.b": "2"}}))
	d := e.diff(r, props(with(groupIn, m{"tags": m{"cost-center": "2", "a.b": "3"}})))
	for _, want := range []string{`tags["cost-center"]`, `tags["a.b"]`} {
		if d.GetDetailedDiff()[want] == nil {
			t.Errorf("no %s in %v", want, d.GetDetailedDiff())
		}
	}
	if !slices.Equal(d.GetDiffs(), []string{"tags"}) {
		t.Errorf("diffs %v, want tags", d.GetDiffs())
	}
}

// Creating over an existing resource fails as in azure-native (A005).
func TestCreateOverExistingFails(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.mustCreate(groupToken, "group", groupIn)
	if _, err := e.create(groupToken, "again", props(groupIn), false); err == nil || !strings.Contains(err.Error(), "cannot create already existing resource '"+groupID+"'") {
		t.Errorf("got %v", err)
	}
}

// A refusal carries ARM's code and leaves nothing behind.
func TestRefusedCreateLeavesNothing(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.up()
	before := e.cloud.State()
	_, err := e.create(subnetToken, "b", props(with(subnetIn, m{"subnetName": "b"})), false)
	if err == nil || !strings.Contains(err.Error(), `Code="NetcfgSubnetRangesOverlap"`) {
		t.Errorf("got %v", err)
	}
	if !reflect.DeepEqual(before, e.cloud.State()) {
		t.Error("a refused create changed the state")
	}
}

// What is secret among the inputs is secret among the outputs, and after a refresh.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.mustCreate(groupToken, "group", groupIn)
	in := props(actionIn)
	in["emailReceivers"].ArrayValue()[0].ObjectValue()["emailAddress"] = resource.MakeSecret(resource.NewProperty("team@example.org"))
	in["groupShortName"] = resource.MakeSecret(resource.NewProperty("oncall"))
	for _, preview := range []bool{true, false} {
		r, err := e.create(actionToken, "action", in, preview)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for _, m := range []resource.PropertyMap{r.in, r.outputs} {
				if !m["groupShortName"].IsSecret() || !m["emailReceivers"].ContainsSecrets() || m["enabled"].ContainsSecrets() {
					t.Errorf("preview %v: %v", preview, m)
				}
			}
			if preview {
				break
			}
			r = e.read(r)
		}
	}
}

// A preview leaves state and log alone, promises no ids, and refuses what up would refuse.
func TestPreview(t *testing.T) {
	t.Parallel()
	e := open(t)
	before := e.cloud.State()
	for _, d := range platform() {
		r := e.mustPreview(d.token, d.name, d.in)
		if r.id != "" || r.outputs["id"].HasValue() && !r.outputs["id"].IsComputed() {
			t.Errorf("%s: id %q %v in a preview", d.name, r.id, r.outputs["id"])
		}
		if name := r.outputs["name"]; !name.IsString() {
			t.Errorf("%s: name %v in a preview, want it known", d.name, name)
		}
	}
	for _, key := range []string{"customerId", "provisioningState", "etag"} {
		if r := e.mustPreview(logsToken, "logs", logsIn); !r.outputs[resource.PropertyKey(key)].IsComputed() {
			t.Errorf("%s of a workspace: %v in a preview, want unknown", key, r.outputs[resource.PropertyKey(key)])
		}
	}
	if !reflect.DeepEqual(before, e.cloud.State()) || len(e.cloud.Log()) != 0 {
		t.Error("a preview changed the state")
	}
	for name, c := range map[string]struct {
		token string
		in    m
		want  string
	}{
		"overlap":        {subnetToken, with(subnetIn, m{"subnetName": "b"}), "NetcfgSubnetRangesOverlap"},
		"no such group":  {vnetToken, with(vnetIn, m{"resourceGroupName": "nope", "location": "swedencentral"}), "ResourceGroupNotFound"},
		"no such parent": {subnetToken, with(subnetIn, m{"virtualNetworkName": "nope"}), "ParentResourceNotFound"},
		"same id twice":  {subnetToken, subnetIn, "two resources of this program have the id"},
	} {
		if _, err := e.create(c.token, "other", props(c.in), true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	// Where the parent is not known yet, nothing can be refused.
	in := props(subnetIn)
	in["virtualNetworkName"] = unknown
	if r, err := e.create(subnetToken, "unknown", in, true); err != nil || !r.outputs["addressPrefix"].IsString() {
		t.Errorf("subnet of an unknown network: %v", err)
	}
}

// The next run begins from the real state again.
func TestPreviewsDoNotAddUp(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.mustPreview(groupToken, "group", groupIn)
	e.mustPreview(vnetToken, "vnet", vnetIn)
	e.configure()
	if _, err := e.create(vnetToken, "vnet", props(with(vnetIn, m{"location": "swedencentral"})), true); err == nil || !strings.Contains(err.Error(), "ResourceGroupNotFound") {
		t.Errorf("a network without its group in the second run: %v, want ResourceGroupNotFound", err)
	}
	// A second provider in the same run does not begin another one.
	e.mustPreview(groupToken, "group", groupIn)
	other := "urn:pulumi:dev::p::pulumi:providers:azure-native::second"
	if _, err := e.p.Configure(context.Background(), &pulumirpc.ConfigureRequest{Urn: &other}); err != nil {
		t.Fatal(err)
	}
	e.mustPreview(vnetToken, "vnet", vnetIn)
}

// The preview of a replacement does not stumble over what it replaces.
func TestPreviewOfReplacement(t *testing.T) {
	t.Parallel()
	e := open(t)
	all := e.up()
	e.configure()
	next := with(subnetIn, m{"subnetName": "renamed"})
	if d := e.diff(all["subnet"], props(next)); !d.GetDeleteBeforeReplace() {
		t.Fatalf("renaming: %v, want a replacement that deletes first", d)
	}
	if _, err := e.create(subnetToken, "subnet", props(next), true); err != nil {
		t.Errorf("same addresses under a new name: %v", err)
	}
}

// After up, a refresh changes no input, although Azure shows defaults, views and another order (A072).
func TestRefreshFindsNoDrift(t *testing.T) {
	t.Parallel()
	e := open(t)
	for name, r := range e.up() {
		read := e.read(r)
		if diff := r.in.Diff(read.in); diff != nil {
			t.Errorf("%s: refresh changes inputs %v", name, diff.ChangedKeys())
		}
		if d := e.diff(read, r.in); d.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
			t.Errorf("%s: %v", name, d)
		}
	}
}

// What was changed in Azure, and only that, reaches the inputs (A072).
func TestRefreshFindsDrift(t *testing.T) {
	t.Parallel()
	e := open(t)
	r := e.up()["ip"]
	other := over(t, e.cloud)
	if _, err := other.update(r, props(with(ipIn, m{"location": "swedencentral", "idleTimeoutInMinutes": 30.0, "tags": m{"by": "hand"}})), false); err != nil {
		t.Fatal(err)
	}
	diff := r.in.Diff(e.read(r).in)
	if diff == nil || !slices.Equal(diff.ChangedKeys(), []resource.PropertyKey{"idleTimeoutInMinutes", "tags"}) {
		t.Errorf("got %v, want idleTimeoutInMinutes and tags", diff)
	}
}

// An import knows the inputs from the id and the answer.
func TestImport(t *testing.T) {
	t.Parallel()
	e := open(t)
	all := e.up()
	for _, name := range []string{"group", "vnet", "subnet", "nat", "link", "logs", "action"} {
		r := all[name]
		a, err := e.p.Read(context.Background(), &pulumirpc.ReadRequest{Id: r.id, Urn: r.urn})
		if err != nil {
			t.Fatal(err)
		}
		in := e.unpack(a.GetInputs())
		for key, v := range r.in {
			if key != "location" && key != "emailReceivers" && norm(v) != norm(in[key]) {
				t.Errorf("%s: imported %s = %v, want %v", name, key, in[key], v)
			}
		}
		if _, failures := e.check(string(resource.URN(r.urn).Type()), name, in); len(failures) > 0 {
			t.Errorf("%s: imported inputs are not legal: %v", name, failures)
		}
	}
	if a, err := e.p.Read(context.Background(), &pulumirpc.ReadRequest{Id: vnetID + "2", Urn: urn(vnetToken, "x")}); err != nil || a.GetId() != "" {
		t.Errorf("import of nothing: %v %v", a, err)
	}
}

// A fault before the start leaves nothing; one after it leaves a resource that the engine keeps.
func TestFaults(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.mustCreate(groupToken, "group", groupIn)
	e.cloud.Inject(sim.Fault{Type: zoneToken, Method: core.Put, Code: core.TooManyRequests})
	if _, err := e.create(zoneToken, "zone", props(zoneIn), false); err == nil || !strings.Contains(err.Error(), `Status=429 Code="TooManyRequests"`) {
		t.Errorf("before the start: %v", err)
	}
	if _, ok := e.cloud.State().Find(netID + "privateDnsZones/corp.internal"); ok {
		t.Error("before the start: the zone is there")
	}
	e.cloud.Inject(sim.Fault{URN: urn(zoneToken, "zone"), When: sim.AfterApply, Code: core.OperationNotAllowed})
	_, err := e.create(zoneToken, "zone", props(zoneIn), false)
	if err == nil {
		t.Fatal("after the start: no error")
	}
	var detail *pulumirpc.ErrorResourceInitFailed
	if rpc, ok := rpcerror.FromError(err); ok {
		for _, d := range rpc.Details() {
			detail, _ = d.(*pulumirpc.ErrorResourceInitFailed)
		}
	}
	if detail == nil || !strings.EqualFold(detail.GetId(), netID+"privateDnsZones/corp.internal") || len(detail.GetProperties().GetFields()) == 0 || len(detail.GetInputs().GetFields()) == 0 || !strings.Contains(strings.Join(detail.GetReasons(), ""), "OperationNotAllowed") {
		t.Errorf("after the start: detail %v", detail)
	}
	r := &made{id: detail.GetId(), urn: urn(zoneToken, "zone"), in: e.unpack(detail.GetInputs()), outputs: e.unpack(detail.GetProperties())}
	if got := e.read(r).outputs["provisioningState"].StringValue(); got != "Failed" {
		t.Errorf("provisioningState %q, want Failed", got)
	}
	r, err = e.update(r, r.in, false)
	if err != nil || r.outputs["provisioningState"].StringValue() != "Succeeded" {
		t.Errorf("repair: %v", err)
	}
	e.cloud.Inject(sim.Fault{ID: strings.ToUpper(r.id), Method: core.Delete, When: sim.AfterApply, Code: core.Conflict, Times: 2})
	for range 2 {
		if err := e.delete(r); err == nil || !strings.Contains(err.Error(), "Conflict") {
			t.Errorf("delete: %v, want Conflict", err)
		}
	}
	if err := e.delete(r); err != nil {
		t.Errorf("third delete: %v", err)
	}
}

// With types only, no rule refuses, but a wrong type still does.
func TestTypesOnly(t *testing.T) {
	t.Parallel()
	e := open(t, sim.WithTypesOnly())
	e.mustPreview(subnetToken, "a", subnetIn)
	e.mustPreview(subnetToken, "b", with(subnetIn, m{"subnetName": "b"}))
	if _, failures := e.check(subnetToken, "c", props(with(subnetIn, m{"addressPrefix": 1.0}))); len(failures) == 0 {
		t.Error("a number for an address is accepted")
	}
}

// The protocol's small answers.
func TestProtocol(t *testing.T) {
	t.Parallel()
	cloud, err := sim.Open("")
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range map[string]string{sim.AzureNative: "2.92.3", sim.Random: "4.18.4"} {
		p := cloud.Providers()[name]
		ctx := context.Background()
		info, err := p.GetPluginInfo(ctx, &emptypb.Empty{})
		if err != nil || info.GetVersion() != version {
			t.Errorf("%s: version %q, want %q", name, info.GetVersion(), version)
		}
		if h, err := p.Handshake(ctx, &pulumirpc.ProviderHandshakeRequest{}); err != nil || !h.GetAcceptSecrets() {
			t.Errorf("%s: handshake %v %v", name, h, err)
		}
		if c, err := p.Configure(ctx, &pulumirpc.ConfigureRequest{}); err != nil || !c.GetSupportsPreview() || !c.GetAcceptSecrets() || !c.GetAcceptResources() || !c.GetAcceptOutputs() {
			t.Errorf("%s: configure %v %v", name, c, err)
		}
		if _, err := p.Attach(ctx, &pulumirpc.PluginAttach{}); err != nil {
			t.Errorf("%s: attach %v", name, err)
		}
		if _, err := p.Cancel(ctx, &emptypb.Empty{}); err != nil {
			t.Errorf("%s: cancel %v", name, err)
		}
		if d, err := p.DiffConfig(ctx, &pulumirpc.DiffRequest{}); err != nil || d.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
			t.Errorf("%s: DiffConfig %v %v", name, d, err)
		}
	}
}

// BenchmarkCheck measures one Check as the engine sends it, without the network.
func BenchmarkCheck(b *testing.B) {
	e := open(b)
	e.mustCreate(groupToken, "group", groupIn)
	for _, d := range []declared{{nsgToken, "nsg", nsgIn, nil}, {subnetToken, "subnet", subnetIn, nil}} {
		b.Run(d.name, func(b *testing.B) {
			req := &pulumirpc.CheckRequest{Urn: urn(d.token, d.name), News: e.pack(props(d.in))}
			for b.Loop() {
				if _, err := e.p.Check(context.Background(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
