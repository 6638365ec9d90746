package core

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

const (
	sub       = "/subscriptions/11111111-1111-1111-1111-111111111111"
	rg        = sub + "/resourceGroups/rg"
	net       = rg + "/providers/Microsoft.Network/"
	vnet      = net + "virtualNetworks/vnet"
	mon       = rg + "/providers/Microsoft.Insights/"
	ws        = rg + "/providers/Microsoft.OperationalInsights/workspaces/logs"
	app       = mon + "components/app"
	anomalies = rg + "/providers/Microsoft.AlertsManagement/smartDetectorAlertRules/Failure Anomalies - app"
)

// j parses an ARM body; ' stands for ", and $x for the ids above.
func j(t testing.TB, text string) map[string]any {
	t.Helper()
	text = strings.NewReplacer("'", `"`, "$vnet", vnet, "$net", net, "$rg", rg, "$ws", ws, "$app", app, "$mon", mon).Replace(text)
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

// put applies a write that ends at once and must be accepted.
func must(t testing.TB, s State, id, body string) State {
	t.Helper()
	next, a := Apply(s, Op{Method: Put, ID: id, Body: j(t, body), Instant: true})
	if a.Error != nil {
		t.Fatalf("PUT %s: %v", id, a.Error)
	}
	return next
}

// platform is a small landscape; tests change one thing of it.
func platform(t testing.TB) State {
	t.Helper()
	s := must(t, New(), rg, `{'location':'Sweden Central'}`)
	for _, r := range []struct{ id, body string }{
		{net + "networkSecurityGroups/nsg", `{'location':'swedencentral','properties':{'securityRules':[` + nsgRule("web", 200) + `]}}`},
		{net + "routeTables/routes", `{'location':'swedencentral','properties':{'routes':[{'name':'r','properties':{'addressPrefix':'10.9.0.0/16','nextHopType':'VnetLocal'}}]}}`},
		{net + "publicIPAddresses/ip", `{'location':'swedencentral','sku':{'name':'Standard'},'zones':['2','1'],'properties':{'publicIPAllocationMethod':'Static'}}`},
		{net + "publicIPAddresses/spare", `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'publicIPAllocationMethod':'Static'}}`},
		{net + "natGateways/nat", `{'location':'swedencentral','sku':{'name':'Standard'},'properties':{'publicIpAddresses':[{'id':'$netpublicIPAddresses/ip'}]}}`},
		{vnet, `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.0.0/16']}}}`},
		{vnet + "/subnets/a", `{'properties':{'addressPrefix':'10.0.1.0/24','networkSecurityGroup':{'id':'$netnetworkSecurityGroups/nsg'},'natGateway':{'id':'$netnatGateways/nat'},'routeTable':{'id':'$netrouteTables/routes'}}}`},
		{vnet + "/subnets/endpoints", `{'properties':{'addressPrefix':'10.0.2.0/24'}}`},
		{net + "virtualNetworks/spoke", `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.1.0.0/16']}}}`},
		{net + "virtualNetworks/clash", `{'location':'swedencentral','properties':{'addressSpace':{'addressPrefixes':['10.0.128.0/17']}}}`},
		{net + "privateDnsZones/corp.internal", `{'location':'global'}`},
		{net + "privateDnsZones/corp.internal/virtualNetworkLinks/vnet", `{'location':'global','properties':{'registrationEnabled':true,'virtualNetwork':{'id':'$vnet'}}}`},
		{net + "privateDnsZones/lab.internal", `{'location':'global'}`},
		{ws, `{'location':'swedencentral','properties':{'retentionInDays':30}}`},
		{app, `{'location':'swedencentral','kind':'web','properties':{'Application_Type':'web','WorkspaceResourceId':'$ws'}}`},
		{mon + "actionGroups/oncall", `{'location':'Global','properties':{'groupShortName':'oncall','enabled':true,'emailReceivers':[{'name':'team','emailAddress':'team@example.org'}]}}`},
		{anomalies, detector(``)},
	} {
		s = must(t, s, r.id, r.body)
	}
	return s
}

func nsgRule(name string, priority int, edits ...string) string {
	m := map[string]any{
		"priority": priority, "direction": "Inbound", "access": "Allow", "protocol": "Tcp",
		"sourceAddressPrefix": "VirtualNetwork", "sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": "443",
	}
	for _, e := range edits {
		var patch map[string]any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(e, "'", `"`)), &patch); err != nil {
			panic(err)
		}
		merge(m, patch)
	}
	props, _ := json.Marshal(m)
	return `{'name':'` + name + `','properties':` + string(props) + `}`
}

func nsg(rules ...string) string {
	return `{'location':'swedencentral','properties':{'securityRules':[` + strings.Join(rules, ",") + `]}}`
}

func detector(edit string) string {
	base := map[string]any{
		"state": "Enabled", "severity": "Sev3", "frequency": "PT1M", "detector": map[string]any{"id": "FailureAnomaliesDetector"},
		"scope": []any{app}, "actionGroups": map[string]any{"groupIds": []any{mon + "actionGroups/oncall"}},
	}
	if edit != "" {
		var patch map[string]any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(edit, "'", `"`)), &patch); err != nil {
			panic(err)
		}
		merge(base, patch)
	}
	props, _ := json.Marshal(base)
	return `{'location':'global','properties':` + string(props) + `}`
}

// The landscape itself is what the tests believe it is.
func TestPlatformIsLegal(t *testing.T) {
	t.Parallel()
	s := platform(t)
	if n := len(s.Resources); n != 18 {
		t.Errorf("got %d resources, want 18", n)
	}
	_, a := Apply(s, Op{Method: Get, ID: vnet + "/subnets/a"})
	if a.Status != http.StatusOK {
		t.Errorf("GET of a subnet: %d %v", a.Status, a.Error)
	}
}
