package reach_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
	"onedoor/internal/reach"
)

var wholeStacks = []string{"dev", "prod"}

func TestWholeStacksAreProven(t *testing.T) {
	t.Parallel()
	for _, stack := range wholeStacks {
		assert.Empty(t, whole(t, stack).findings(), stack)
	}
}

func TestRecordedStacksShutTheirAccounts(t *testing.T) {
	t.Parallel()
	for _, stack := range []string{"dev", "prod", "existing"} {
		for _, f := range reach.New(recorded(t, stack).resources).Bypasses() {
			assert.NotContains(t, f.Text, " account", stack)
		}
	}
}

// The matrix, where it matters.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stack, from, to string
		want            reach.State
		by              string
	}{
		"ControlPlane":   {"prod", "batch control plane", "batch account", reach.Open, "in-f06-batch-nodes"},
		"WorkerOfBatch":  {"prod", "workers", "batch account", reach.Closed, "onedoor-workers/"},
		"KEDAOfBatch":    {"prod", "system pods and KEDA", "batch account", reach.Closed, "deny-all-outbound"},
		"GatewayOfBatch": {"prod", "gateway", "batch account", reach.Closed, "deny-all-outbound"},
		"PeersOfBatch":   {"prod", "peers", "batch account", reach.Closed, "nsg-onedoor-prod-endpoints-batch/deny-all-inbound"},
		"Gateway":        {"prod", "gateway", "swedencentral account", reach.Open, "in-f30-gateway"},
		"PlaneOfSync":    {"prod", "batch control plane", "swedencentral account", reach.Closed, "onedoor-batch/"},
		"WorldOfSync":    {"dev", "internet", "swedencentral account", reach.Closed, "publicNetworkAccess Disabled"},
		"WorkerAMQP":     {"prod", "workers", "bus, AMQP", reach.Open, "onedoor-workers/out-f02-bus"},
		"PublicBus":      {"dev", "workers", "bus, AMQP", reach.Open, "out-f24-servicebus-region"},
		"ModelsOfBus":    {"prod", "model servers (a100)", "bus, AMQP", reach.Closed, "onedoor-serving/"},
		"KEDA":           {"prod", "system pods and KEDA", "bus", reach.Open, "out-f01-bus"},
		"Edge":           {"prod", "gateway", "serving edge", reach.Open, "onedoor-edge/in-f31-gateway"},
		"PeersOfEdge":    {"prod", "peers", "serving edge", reach.Closed, "deny-all-inbound"},
		"WorkerOfEdge":   {"prod", "workers", "serving edge", reach.Closed, "onedoor-workers/"},
		"PeersOfDoor":    {"prod", "peers", "control plane door", reach.Partly, "deny-all-inbound"},
		"WorkerOfDoor":   {"prod", "workers", "control plane door", reach.Open, "onedoor-batch/in-f51-worker-nodes"},
		"WorkerOfModels": {"prod", "workers", "model servers", reach.Closed, "onedoor-workers/"},
		"KEDAOfModels":   {"prod", "system pods and KEDA", "model servers", reach.Closed, "onedoor-serving/"},
		"SystemOfRay":    {"prod", "gateway", "model servers", reach.Closed, "only nodes route"},
		"EdgeOfModels":   {"prod", "serving edge", "model servers", reach.Open, "onedoor-serving/in-f77-serving-edge"},
		"EdgeOfHeads":    {"prod", "serving edge", "heads of Ray clusters", reach.Closed, "onedoor-edge/deny-all"},
		"OperatorOfHead": {"prod", "ray operator", "heads of Ray clusters", reach.Open, "onedoor-serving/in-f82-ray-operator"},
		"ClientsOfRay":   {"prod", "ray operator", "client servers of Ray clusters", reach.Closed, "onedoor-kuberay/deny-all"},
		"StoresOfRay":    {"prod", "serving edge", "control stores of Ray clusters", reach.Closed, "onedoor-edge/deny-all"},
		"PrivateAPI":     {"prod", "workers", "kubernetes api", reach.Closed, "onedoor-workers/"},
		"PlaneOfAPI":     {"prod", "batch control plane", "kubernetes api", reach.Open, "out-f74-kubernetes-api"},
		"PeersOfAPI":     {"prod", "peers", "kubernetes api", reach.Unnamed, "its name does not lead to its endpoint"},
		"PublicAPI":      {"dev", "internet", "kubernetes api", reach.Open, "nothing holds it back"},
		"NamesOnly":      {"prod", "workers", "internet", reach.Partly, "onedoor-workers/"},
		"AnyName":        {"dev", "workers", "internet", reach.Open, "onedoor-workers/out-f73-internet"},
		"GatewayOut":     {"prod", "gateway", "internet", reach.Closed, "deny-all-outbound"},
		"PublicGateway":  {"dev", "internet", "gateway", reach.Open, "in-f33-internet"},
		"InnerGateway":   {"prod", "internet", "gateway", reach.Closed, "private addresses"},
		"NoPeers":        {"dev", "peers", "blob", reach.Closed, "no peering"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cell, found := reach.New(whole(t, c.stack).resources).Matrix().Cell(c.from, c.to)
			require.True(t, found)
			assert.Equal(t, c.want, cell.State, cell.By)
			assert.Contains(t, cell.By, c.by)
		})
	}
}

// What a wider rule covers is not missed alone: the internet covers service tags,
// and what reaches one service behind the data endpoints on 443 reaches all, since
// rules know the subnet and not the service. Who narrows a wider rule sees these
// lists shrink.
var (
	coveredRows = map[string][]int{
		"dev":  {8, 9, 16, 17, 18, 19, 20, 62, 64, 65, 67},
		"prod": {1, 3, 8, 9, 10, 11, 16, 17, 18, 19, 20, 61, 62, 64, 65, 67},
	}
	coveredRules = map[string][]string{
		"dev": {"in-f03-worker-nodes", "in-f08-batch-nodes", "in-f12-gpu-nodes", "in-f60-runner",
			"out-f16-microsoftcontainerregistry", "out-f17-azurefrontdoor-firstparty", "out-f18-azureactivedirectory", "out-f19-azureresourcemanager", "out-f20-azuremonitor",
			"out-f64-azureresourcemanager", "out-f65-azureactivedirectory"},
		"prod": {"in-f01-system-nodes", "in-f10-nodes", "in-f12-gpu-nodes", "in-f60-runner",
			"out-f16-microsoftcontainerregistry", "out-f17-azurefrontdoor-firstparty", "out-f18-azureactivedirectory", "out-f19-azureresourcemanager", "out-f20-azuremonitor",
			"out-f64-azureresourcemanager", "out-f65-azureactivedirectory"},
	}
	coveredPolicies = map[string][]string{
		"dev":  {"walls-onedoor-batch-out-f08-blob", "walls-onedoor-batch-out-f09-table"},
		"prod": {"walls-onedoor-batch-out-f08-blob", "walls-onedoor-batch-out-f09-table", "walls-onedoor-workers-out-f03-blob"},
	}
)

// unmissed are the rules or policies of which one, taken out alone, leaves nothing
// to find; n is how many were taken out.
func unmissed(each func(func(what string, without plan))) (names []string, n int) {
	set := map[string]bool{}
	each(func(what string, without plan) {
		n++
		if len(without.findings()) == 0 {
			set[what] = true
		}
	})
	return slices.Sorted(maps.Keys(set)), n
}

// Without any one of the rules of security groups something does not connect, or
// something is open that must not be.
func TestEveryRuleOfASecurityGroupCounts(t *testing.T) {
	t.Parallel()
	for _, stack := range wholeStacks {
		p := whole(t, stack)
		names, n := unmissed(func(try func(string, plan)) {
			for i, r := range p.resources {
				rules, _ := r.Inputs["securityRules"].([]any)
				for at := range rules {
					without := append(slices.Clone(rules[:at]), rules[at+1:]...)
					what, _ := rules[at].(map[string]any)["name"].(string)
					try(what, p.with(i, map[string]any{"securityRules": without}))
				}
			}
		})
		assert.Equal(t, coveredRules[stack], names, stack)
		assert.Greater(t, n, 100)
	}
}

func TestEveryPolicyOfTheClusterCounts(t *testing.T) {
	t.Parallel()
	for _, stack := range wholeStacks {
		p := whole(t, stack)
		names, n := unmissed(func(try func(string, plan)) {
			for i, r := range p.resources {
				if strings.HasSuffix(r.Type, "NetworkPolicy") {
					try(name(r), p.without(i))
				}
			}
		})
		assert.Equal(t, coveredPolicies[stack], names, stack)
		assert.Greater(t, n, 20)
	}
}

//nolint:paralleltest // takes rows out of the one table
func TestEveryRowOfTheTableCounts(t *testing.T) {
	table := flows.Table
	defer func() { flows.Table = table }()
	for _, stack := range wholeStacks {
		flows.Table = table
		site := whole(t, stack).site()
		var rows []int
		for i, row := range table {
			if row.When != nil && !row.When(site) || row.To.String() == "dns" || row.From.String() == "peers" && len(site.Plan.Peers) == 0 {
				continue // it does not hold, or has no servers or no peers
			}
			flows.Table = append(slices.Clone(table[:i]), table[i+1:]...)
			if len(reach.New(whole(t, stack).resources).Required(table)) == 0 {
				rows = append(rows, row.Number)
			}
		}
		assert.Equal(t, coveredRows[stack], rows, stack)
	}
}

// change is what a test does to a plan.
type change func(t *testing.T, p *plan)

// adds puts a rule first into the group of a role.
func adds(role netplan.Role, direction flows.Direction, from, to, port string) change {
	return func(t *testing.T, p *plan) {
		t.Helper()
		group := p.get(t, "NetworkSecurityGroup", "network-"+string(role)+"-rules")
		group["securityRules"] = append(slices.Clone(group["securityRules"].([]any)), map[string]any{
			"name": "extra", "priority": 100.0, "direction": string(direction), "access": "Allow", "protocol": "*",
			"sourceAddressPrefix": from, "destinationAddressPrefix": to, "destinationPortRange": port,
		})
	}
}

// sets writes inputs of one resource.
func sets(kind, logical string, inputs map[string]any) change {
	return func(t *testing.T, p *plan) {
		t.Helper()
		maps.Copy(p.get(t, kind, logical), inputs)
	}
}

// drops takes resources out.
func drops(kind, logical string) change {
	return func(t *testing.T, p *plan) {
		t.Helper()
		p.get(t, kind, logical)
		p.resources = slices.DeleteFunc(p.resources, func(r reach.Resource) bool { return name(r) == logical && strings.HasSuffix(r.Type, ":"+kind) })
	}
}

// permits adds a NetworkPolicy.
func permits(namespace, direction, peer string, block map[string]any) change {
	return func(_ *testing.T, p *plan) {
		p.add("kubernetes:networking.k8s.io/v1:NetworkPolicy", "extra", map[string]any{
			"metadata": map[string]any{"name": "extra", "namespace": namespace},
			"spec":     map[string]any{"podSelector": map[string]any{}, "policyTypes": []any{direction}, strings.ToLower(direction): []any{map[string]any{peer: []any{block}}}},
		})
	}
}

func all(changes ...change) change {
	return func(t *testing.T, p *plan) {
		t.Helper()
		for _, c := range changes {
			c(t, p)
		}
	}
}

func account(access string, acls map[string]any) map[string]any {
	return map[string]any{"properties": map[string]any{"publicNetworkAccess": access, "networkAcls": acls}}
}

// Each opens a way to a model that is no door; its neighbour looks much the same
// and opens none.
func TestWaysToModelsAreFound(t *testing.T) {
	t.Parallel()
	const batch, models, system = netplan.EndpointsBatch, netplan.EndpointsModels, netplan.SystemNodes
	shut := map[string]any{"defaultAction": "Deny", "bypass": "None"}
	for title, c := range map[string]struct {
		change    change
		who, to   string
		neighbour change
	}{
		"PeersToBatch": {adds(batch, flows.Inbound, "10.0.0.0/16", "*", "443"), "peers", "batch account",
			adds(batch, flows.Inbound, "10.0.0.0/16", "*", "22")},
		"OnePeerToBatch": {adds(batch, flows.Inbound, "10.0.7.7", "*", "443"), "peers", "batch account",
			adds(batch, flows.Inbound, "AzureLoadBalancer", "*", "443")},
		"NetworkToModels": {adds(models, flows.Inbound, "VirtualNetwork", "*", "*"), "peers", "swedencentral account",
			adds(models, flows.Inbound, "Internet", "*", "*")},
		"OneWorkerToBatch": {all(adds(batch, flows.Inbound, "10.48.0.4/32", "*", "443"), adds(netplan.WorkerNodes, flows.Outbound, "*", "10.48.11.0/27", "443")), "any machine in worker-nodes", "batch account",
			adds(batch, flows.Inbound, "10.48.0.4/32", "*", "443")},
		"DataIntoModels": {all(adds(models, flows.Inbound, "*", "*", "443"), adds(netplan.EndpointsData, flows.Outbound, "*", "*", "443")), "any machine in endpoints-data", "swedencentral account",
			adds(netplan.EndpointsData, flows.Outbound, "*", "Internet", "443")},
		"EndpointsUnheld": {all(sets("Subnet", "network-endpoints-batch", map[string]any{"privateEndpointNetworkPolicies": "Disabled"})), "peers", "batch account",
			sets("Subnet", "network-endpoints-batch", map[string]any{"privateEndpointNetworkPolicies": "NetworkSecurityGroupEnabled"})},
		"NoGroup": {sets("Subnet", "network-endpoints-models", map[string]any{"networkSecurityGroup": nil}), "peers", "swedencentral account",
			sets("Subnet", "network-endpoints-models", map[string]any{"serviceEndpoints": []any{}})},
		"SecondEndpoint": {func(_ *testing.T, p *plan) {
			p.endpoint("extra", "platform", "account", p.id("batch-door", "Microsoft.CognitiveServices/accounts", "aoai-batch"), "privatelink.openai.azure.com", netplan.EndpointsData)
		}, "runner", "batch account", func(_ *testing.T, p *plan) {
			p.endpoint("extra", "platform", "blob", p.id("platform", "Microsoft.Storage/storageAccounts", "elsewhere"), "privatelink.blob.core.windows.net", netplan.EndpointsData)
		}},
		"Public": {sets("Account", "models-swedencentral", account("Enabled", map[string]any{"bypass": "None"})), "internet", "swedencentral account",
			sets("Account", "models-swedencentral", account("Enabled", shut))},
		"PublicForSome": {sets("Account", "models-batch", account("Enabled", map[string]any{"defaultAction": "Deny", "bypass": "None", "ipRules": []any{map[string]any{"value": "198.51.100.7"}}})), "internet", "batch account",
			sets("Account", "models-batch", account("Disabled", map[string]any{"defaultAction": "Deny", "bypass": "None", "ipRules": []any{map[string]any{"value": "198.51.100.7"}}}))},
		"TrustedServices": {sets("Account", "models-batch", account("Disabled", map[string]any{"defaultAction": "Deny"})), "services of Azure", "batch account",
			sets("Account", "models-batch", account("Disabled", map[string]any{"defaultAction": "Allow", "bypass": "None"}))},
		"UnknownAccess": {sets("Account", "models-batch", account("[unknown]", shut)), "internet", "batch account",
			sets("Account", "models-batch", map[string]any{"tags": "[unknown]"})},
		"UnknownRules": {sets("NetworkSecurityGroup", "network-endpoints-batch-rules", map[string]any{"securityRules": "[unknown]"}), "peers", "batch account",
			sets("NetworkSecurityGroup", "network-endpoints-batch-rules", map[string]any{"location": "[unknown]"})},
		"BatchPoolMoves": {sets("AgentPool", "cluster-worker", map[string]any{"vnetSubnetID": "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg-onedoor-prod-platform/providers/Microsoft.Network/virtualNetworks/vnet-onedoor-prod/subnets/snet-onedoor-prod-batch-nodes"}), "any machine in batch-nodes", "batch account",
			sets("AgentPool", "cluster-worker", map[string]any{"maxCount": 500.0})},
		"PeersToEdge": {all(adds(system, flows.Inbound, "10.0.0.0/16", "*", "443"), permits("onedoor-edge", "Ingress", "from", map[string]any{"ipBlock": map[string]any{"cidr": "10.0.0.0/16"}})), "peers", "serving edge",
			adds(system, flows.Inbound, "10.0.0.0/16", "*", "443")},
		"PublicEdge": {all(sets("Service", "door-onedoor-edge", map[string]any{"metadata": map[string]any{"name": "door", "namespace": "onedoor-edge"}}),
			adds(system, flows.Inbound, "Internet", "*", "443"), permits("onedoor-edge", "Ingress", "from", map[string]any{"ipBlock": map[string]any{"cidr": "0.0.0.0/0"}})), "internet", "serving edge",
			adds(system, flows.Inbound, "Internet", "*", "443")},
		"WorkersToModels": {all(permits("onedoor-serving", "Ingress", "from", map[string]any{"namespaceSelector": map[string]any{}}), permitsOut("onedoor-workers", "onedoor-serving")), "workers", "model servers",
			permitsOut("onedoor-workers", "onedoor-serving")},
		"EverybodyToModels": {permits("onedoor-serving", "Ingress", "from", map[string]any{"namespaceSelector": map[string]any{}}), "system pods and KEDA", "model servers",
			permits("onedoor-workers", "Ingress", "from", map[string]any{"namespaceSelector": map[string]any{}})},
		"NothingEnforces": {func(t *testing.T, p *plan) {
			t.Helper()
			profile := p.get(t, "ManagedCluster", "cluster")["networkProfile"].(map[string]any)
			profile["networkPolicy"] = "none"
		}, "workers", "model servers", func(t *testing.T, p *plan) {
			t.Helper()
			p.get(t, "ManagedCluster", "cluster")["networkProfile"].(map[string]any)["networkPolicy"] = "azure"
		}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			p := whole(t, "prod")
			c.change(t, &p)
			var texts []string
			for _, f := range reach.New(p.resources).Bypasses() {
				texts = append(texts, f.Text)
			}
			assert.True(t, slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, c.who+" to "+c.to) }), "%q", texts)
			p = whole(t, "prod")
			c.neighbour(t, &p)
			assert.Empty(t, reach.New(p.resources).Bypasses())
		})
	}
}

// permitsOut lets the pods of one namespace call those of another.
func permitsOut(from, to string) change {
	return func(_ *testing.T, p *plan) {
		p.add("kubernetes:networking.k8s.io/v1:NetworkPolicy", "extra-out", map[string]any{
			"metadata": map[string]any{"name": "extra-out", "namespace": from},
			"spec": map[string]any{"podSelector": map[string]any{}, "policyTypes": []any{"Egress"}, "egress": []any{map[string]any{
				"to": []any{map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": to}}}},
			}}},
		})
	}
}

// What else a flow needs: an endpoint, a name, a way out.
func TestFlowsNeedMoreThanRules(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		stack  string
		change change
		want   string
		kind   reach.Kind
	}{
		"NoEndpoint":     {"prod", drops("PrivateEndpoint", "storage-blob-endpoint"), "workers to blob, port 443: held back by", reach.Missing},
		"NoRegistration": {"prod", drops("PrivateDnsZoneGroup", "storage-blob-endpoint-dns"), "workers to blob, port 443: held back by its name does not lead to its endpoint", reach.Missing},
		"NoLink":         {"prod", drops("VirtualNetworkLink", "network-zone-privatelink.servicebus.windows.net-link"), "workers to bus, AMQP, port 5671: held back by its name", reach.Missing},
		"ZonesOfOthers":  {"prod", all(drops("PrivateZone", "network-zone-privatelink.servicebus.windows.net"), drops("VirtualNetworkLink", "network-zone-privatelink.servicebus.windows.net-link")), "names are resolved outside the plan", reach.Unproven},
		"OwnServers":     {"prod", sets("VirtualNetwork", "network", map[string]any{"dhcpOptions": map[string]any{"dnsServers": []any{"10.0.0.4"}}}), "names are resolved outside the plan", reach.Unproven},
		"NoRecord":       {"prod", drops("PrivateRecordSet", "record-onedoor-batch.internal"), "workers to control plane door, port 443: held back by no name leads to its address", reach.Missing},
		"NoLinkToPeers":  {"prod", drops("VirtualNetworkLink", "link-onedoor-batch.internal-hub"), "peers to control plane door, port 443: held back by no name leads to its address", reach.Missing},
		"SourceRanges":   {"prod", ranges("10.48.0.0/20"), "peers to control plane door, port 443: held back by door: loadBalancerSourceRanges", reach.Missing},
		"NoWayOut":       {"dev", sets("Subnet", "network-worker-nodes", map[string]any{"natGateway": nil}), "out of worker-nodes, port 5671: held back by no way out", reach.Missing},
		"Dropped":        {"dev", routed("None"), "held back by route out", reach.Missing},
		"Firewall":       {"dev", routed("VirtualAppliance"), "held back by route out through something outside the plan", reach.Unproven},
		"UnknownRule":    {"prod", unknownFirst(netplan.EndpointsData, "Deny"), "workers to blob, port 443: held back by nsg-onedoor-prod-endpoints-data/first", reach.Unproven},
		"UnknownClosed":  {"prod", unknownFirst(netplan.EndpointsBatch, "Allow"), "peers to batch account on 443 is unknown (nsg-onedoor-prod-endpoints-batch/first), want it closed", reach.Bypass},
		"OpenByDefault":  {"prod", sets("NetworkSecurityGroup", "network-doors-rules", map[string]any{"securityRules": []any{}}), "AllowVnetInBound opens it to the whole network", reach.Exposed},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			p := whole(t, c.stack)
			c.change(t, &p)
			found := p.findings()
			assert.True(t, slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, string(c.kind)+":") && strings.Contains(s, c.want) }), "%q", found)
		})
	}
}

// ranges narrows who may call the control plane's door.
func ranges(prefixes ...any) change {
	return func(t *testing.T, p *plan) {
		t.Helper()
		p.get(t, "Service", "door-onedoor-batch")["spec"].(map[string]any)["loadBalancerSourceRanges"] = prefixes
	}
}

// unknownFirst puts a rule first whose source the plan does not know.
func unknownFirst(role netplan.Role, access string) change {
	return func(t *testing.T, p *plan) {
		t.Helper()
		group := p.get(t, "NetworkSecurityGroup", "network-"+string(role)+"-rules")
		group["securityRules"] = append(slices.Clone(group["securityRules"].([]any)), map[string]any{
			"name": "first", "priority": 100.0, "direction": "Inbound", "access": access, "protocol": "*",
			"sourceAddressPrefix": "[unknown]", "destinationAddressPrefix": "*", "destinationPortRange": "443",
		})
	}
}

// routed sends what worker nodes have for the internet elsewhere.
func routed(hop string) change {
	return func(t *testing.T, p *plan) {
		t.Helper()
		p.add("azure-native:network/v20240501:RouteTable", "routes", map[string]any{
			"resourceGroupName": p.group("platform"), "routeTableName": "rt",
			"routes": []any{map[string]any{"name": "out", "addressPrefix": "0.0.0.0/0", "nextHopType": hop}},
		})
		p.get(t, "Subnet", "network-worker-nodes")["routeTable"] = map[string]any{"id": p.id("platform", "Microsoft.Network/routeTables", "rt")}
	}
}

// A plan may hold anything in any place.
func TestOddPlansAreNoReasonToPanic(t *testing.T) {
	t.Parallel()
	p := whole(t, "prod")
	tried := map[string]bool{} // one of each type will do
	for i, r := range p.resources {
		for key := range r.Inputs {
			if tried[r.Type+key] || strings.Contains(r.Type, ":authorization/") || key == "tags" {
				continue
			}
			tried[r.Type+key] = true
			for _, odd := range []any{"[unknown]", []any{"[unknown]", 7.0, map[string]any{"id": "[unknown]"}}} {
				assert.NotPanics(t, func() { reach.New(p.with(i, map[string]any{key: odd}).resources).Matrix() }, "%s %s %v", name(r), key, odd)
			}
		}
	}
	assert.Empty(t, reach.New(nil).Bypasses())
}

func TestReportsAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	p := whole(t, "prod")
	first := fmt.Sprint(reach.Judge("prod", p.resources))
	slices.Reverse(p.resources)
	assert.Equal(t, first, fmt.Sprint(reach.Judge("prod", p.resources)), "whatever order resources come in")
}
