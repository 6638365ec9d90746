package armtypes

import (
	"slices"
	"strings"
	"testing"
)

const (
	subnetInputs = `{
		"resourceGroupName": "g", "virtualNetworkName": "v", "subnetName": "apim", "name": "apim", "addressPrefix": "10.0.1.0/24",
		"id": "dropped", "type": "dropped", "privateEndpointNetworkPolicies": "Enabled", "defaultOutboundAccess": false,
		"networkSecurityGroup": {"id": "?"}, "natGateway": {"id": "/x"},
		"serviceEndpoints": [{"service": "Microsoft.Storage", "locations": ["*"]}],
		"delegations": [{"name": "web", "serviceName": "Microsoft.Web/serverFarms"}, {"name": "aci", "serviceName": "?"}]
	}`
	oneRule = `{"resourceGroupName": "g", "networkSecurityGroupName": "n", "location": "westeurope", "securityRules": [
		{"name": "r", "priority": 100, "direction": "Inbound", "access": "Allow", "protocol": "Tcp",
		 "sourceAddressPrefix": "*", "sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": "443"}]}`
	smartDetector = `{"resourceGroupName": "g", "alertRuleName": "r", "location": "global", "state": "Disabled", "severity": "Sev3", "frequency": "PT1M", "detector": {"id": "FailureAnomaliesDetector"}, "scope": ["?"], "actionGroups": {"groupIds": ["?"]}}`
)

func TestRightInputsHaveNoProblems(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ typ, inputs string }{
		"subnet":           {"network/v20240501:Subnet", subnetInputs},
		"security group":   {"network/v20240501:NetworkSecurityGroup", oneRule},
		"no name":          {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g"}`},
		"nulls":            {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "virtualNetworkName": null, "addressSpace": null}`},
		"unknown values":   {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "?", "virtualNetworkName": "?", "addressSpace": "?", "subnets": "?", "tags": "?"}`},
		"query parameter":  {"network/v20240501:VirtualNetworkPeering", `{"resourceGroupName": "g", "virtualNetworkName": "v", "virtualNetworkPeeringName": "p", "syncRemoteAddressSpace": "true"}`},
		"group":            {"resources/v20240301:ResourceGroup", `{"resourceGroupName": "g"}`},
		"open enum":        {"network/v20240501:PublicIPAddress", `{"resourceGroupName": "g", "sku": {"name": "Brandnew"}}`},
		"fraction":         {"operationalinsights/v20230901:Workspace", `{"resourceGroupName": "g", "workspaceCapping": {"dailyQuotaGb": 0.5}}`},
		"keyed":            {"cognitiveservices/v20241001:Account", `{"resourceGroupName": "g", "identity": {"type": "UserAssigned", "userAssignedIdentities": ["/a", "?"]}}`},
		"any keys":         {"operationalinsights/v20230901:Workspace", `{"resourceGroupName": "g", "features": {"brandNew": 1}}`},
		"unknown variant":  {"insights/v20180301:MetricAlert", metricAlert(`{"odataType": "?", "allOf": 1}`)},
		"deepest variant":  {"insights/v20180301:MetricAlert", metricAlert(`{"odataType": "Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria", "allOf": [{"criterionType": "StaticThresholdCriterion", "name": "n", "metricName": "m", "operator": "GreaterThan", "threshold": 0.5, "timeAggregation": "Average"}]}`)},
		"smart detector":   {"alertsmanagement/v20210401:SmartDetectorAlertRule", smartDetector},
		"scope with slash": {"authorization/v20220401:RoleAssignment", `{"scope": "/subscriptions/s/resourceGroups/g", "roleAssignmentName": "r", "principalId": "p", "roleDefinitionId": "d"}`},
	} {
		if problems := resource(t, test.typ).CheckInputs(jsonObject(t, test.inputs)); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func metricAlert(criteria string) string {
	return `{"resourceGroupName": "g", "location": "global", "enabled": true, "evaluationFrequency": "PT1M", "windowSize": "PT5M", "scopes": ["/x"], "severity": 1, "criteria": ` + criteria + `}`
}

func TestCheckInputsNamesEachProblem(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		typ, inputs string
		code        Code
		want        string // the whole sentence
	}{
		"unknown property": {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "adressSpace": {}}`, UnknownProperty,
			`adressSpace: unknown property, nearest is addressSpace`},
		"unknown nested property": {"network/v20240501:Subnet", `{"resourceGroupName": "g", "virtualNetworkName": "v", "delegations": [{"name": "a"}, {"serviceNames": "x"}]}`, UnknownProperty,
			`delegations[1].serviceNames: unknown property, nearest is serviceName`},
		"ARM's nesting": {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "properties": {}}`, UnknownProperty,
			`properties: unknown property, want one of addressSpace, bgpCommunities, ddosProtectionPlan, dhcpOptions, enableDdosProtection, enableVmProtection, encryption, extendedLocation, flowTimeoutInMinutes, ipAllocations, location, privateEndpointVNetPolicies and 5 more`},
		"ARM's name": {"insights/v20200202:Component", `{"resourceGroupName": "g", "kind": "web", "applicationType": "web", "RetentionInDays": 30}`, UnknownProperty,
			`RetentionInDays: unknown property, nearest is retentionInDays`},
		"request parameter": {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "apiVersion": "2024-05-01"}`, UnknownProperty,
			`apiVersion: unknown property, want one of addressSpace, bgpCommunities, ddosProtectionPlan, dhcpOptions, enableDdosProtection, enableVmProtection, encryption, extendedLocation, flowTimeoutInMinutes, ipAllocations, location, privateEndpointVNetPolicies and 5 more`},
		"missing": {"network/v20240501:NetworkSecurityGroup", `{"resourceGroupName": "g", "securityRules": [{"priority": 100, "direction": "Inbound", "access": "Allow"}]}`, MissingProperty,
			`securityRules[0].protocol: missing, want a string, usually one of *, Ah, Esp, Icmp, Tcp, Udp`},
		"missing part of the id": {"network/v20240501:Subnet", `{"resourceGroupName": "g"}`, MissingProperty,
			`virtualNetworkName: missing, want a string, part of the resource's id`},
		"missing variant": {"insights/v20180301:MetricAlert", metricAlert(`{}`), MissingProperty,
			`criteria.odataType: missing, want one of Microsoft.Azure.Monitor.MultipleResourceMultipleMetricCriteria, Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria, Microsoft.Azure.Monitor.WebtestLocationAvailabilityCriteria`},
		"string for object": {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "addressSpace": "10.0.0.0/8"}`, WrongType,
			`addressSpace: got a string, want an object`},
		"string for array": {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "addressSpace": {"addressPrefixes": "10.0.0.0/8"}}`, WrongType,
			`addressSpace.addressPrefixes: got a string, want an array`},
		"string for boolean": {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "enableDdosProtection": "false"}`, WrongType,
			`enableDdosProtection: got a string, want true or false`},
		"string for number": {"network/v20240501:NatGateway", `{"resourceGroupName": "g", "idleTimeoutInMinutes": "4"}`, WrongType,
			`idleTimeoutInMinutes: got a string, want a whole number`},
		"number for string": {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "tags": {"cost": 7}}`, WrongType,
			`tags.cost: got a number, want a string`},
		"fraction": {"network/v20240501:NatGateway", `{"resourceGroupName": "g", "idleTimeoutInMinutes": 4.5}`, WrongType,
			`idleTimeoutInMinutes: got 4.5, want a whole number`},
		"keys": {"cognitiveservices/v20241001:Account", `{"resourceGroupName": "g", "identity": {"type": "UserAssigned", "userAssignedIdentities": {}}}`, WrongType,
			`identity.userAssignedIdentities: got an object, want an array of strings`},
		"key": {"cognitiveservices/v20241001:Account", `{"resourceGroupName": "g", "identity": {"type": "UserAssigned", "userAssignedIdentities": ["a", 1]}}`, WrongType,
			`identity.userAssignedIdentities[1]: got a number, want a string`},
		"closed enum": {"servicebus/v20240101:Namespace", `{"resourceGroupName": "g", "sku": {"name": "premium"}}`, NotAllowed,
			`sku.name: got "premium", want one of Basic, Premium, Standard, nearest is Premium`},
		"variant": {"insights/v20180301:MetricAlert", metricAlert(`{"odataType": "Microsoft.Azure.Monitor.WebtestLocationAvailability"}`), NotAllowed,
			`criteria.odataType: got "Microsoft.Azure.Monitor.WebtestLocationAvailability", want one of Microsoft.Azure.Monitor.MultipleResourceMultipleMetricCriteria, Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria, Microsoft.Azure.Monitor.WebtestLocationAvailabilityCriteria, nearest is Microsoft.Azure.Monitor.WebtestLocationAvailabilityCriteria`},
		"record type": {"network/v20240601:PrivateRecordSet", `{"resourceGroupName": "g", "privateZoneName": "z", "recordType": "NS", "relativeRecordSetName": "r"}`, NotAllowed,
			`recordType: got "NS", want one of A, AAAA, CNAME, MX, PTR, SOA, SRV, TXT`},
		"too long": {"insights/v20230101:ActionGroup", `{"resourceGroupName": "g", "groupShortName": "longer than twelve", "enabled": true}`, TooLong,
			`groupShortName: got 18 characters, want at most 12 characters`},
		"long name": {"storage/v20240101:StorageAccount", `{"resourceGroupName": "g", "accountName": "abcdefghijklmnopqrstuvwxy", "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}}`, TooLong,
			`accountName: got 25 characters, want at most 24 characters`},
		"too short": {"resources/v20240301:ResourceGroup", `{"resourceGroupName": ""}`, TooShort,
			`resourceGroupName: got an empty string, want at least 1 character`},
		"pattern": {"operationalinsights/v20230901:Workspace", `{"resourceGroupName": "g", "workspaceName": "log_1"}`, PatternMismatch,
			`workspaceName: got "log_1", want a match of ^[A-Za-z0-9][A-Za-z0-9-]+[A-Za-z0-9]$`},
		"duration": {"alertsmanagement/v20210401:SmartDetectorAlertRule", strings.Replace(smartDetector, "PT1M", "1 minute", 1), PatternMismatch,
			`frequency: got "1 minute", want a match of ^P([0-9]+[YMWD])*(T([0-9]+(\.[0-9]+)?[HMS])+)?$`},
		"slash": {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g/h"}`, PatternMismatch,
			`resourceGroupName: got "g/h", want a name without slash`},
		"out of range": {"network/v20240501:NetworkSecurityGroup", strings.Replace(oneRule, "100", "4097", 1), OutOfRange,
			`securityRules[0].priority: got 4097, want 100..4096`},
		"read-only": {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "provisioningState": "Succeeded"}`, ReadOnly,
			`provisioningState: cannot be set, want it left out, because it is an output`},
		"output of a vault": {"keyvault/v20230701:Vault", `{"resourceGroupName": "g", "properties": {"tenantId": "00000000-0000-0000-0000-000000000000", "sku": {"family": "A", "name": "standard"}, "vaultUri": "x"}}`, ReadOnly,
			`properties.vaultUri: cannot be set, want it left out, because it is an output`},
		"name": {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "name": "v"}`, UnknownProperty,
			`name: unknown property, nearest is virtualNetworkName`},
	} {
		problems := resource(t, test.typ).CheckInputs(jsonObject(t, test.inputs))
		if len(problems) != 1 || problems[0].Code != test.code || problems[0].Error() != test.want {
			t.Errorf("%s:\ngot  %q\nwant %q (%s)", name, problems, test.want, test.code)
		}
	}
}

func TestAllProblemsComeAtOnceAndInOrder(t *testing.T) {
	t.Parallel()
	r := resource(t, "network/v20240501:NetworkSecurityGroup")
	inputs := jsonObject(t, `{"securityRules": [{"priority": 1, "direction": 2, "access": "Allow", "protocol": "Tcp", "zz": 1}], "tags": [], "flushConection": true}`)
	want := []string{
		"UnknownProperty flushConection", "MissingProperty resourceGroupName", "WrongType securityRules[0].direction",
		"OutOfRange securityRules[0].priority", "UnknownProperty securityRules[0].zz", "WrongType tags",
	}
	for range 20 { // maps have no order, the answer has
		var got []string
		for _, p := range r.CheckInputs(inputs) {
			got = append(got, string(p.Code)+" "+p.Path)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	}
}

func TestCheckBodyUsesARMNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ typ, body, want string }{
		"right":          {"network/v20240501:VirtualNetwork", `{"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/8"]}}}`, ""},
		"read back":      {"network/v20240501:VirtualNetwork", `{"id": "/x", "name": "vnet", "type": "anything", "etag": "e", "properties": {"provisioningState": 7, "resourceGuid": "g"}}`, ""},
		"location":       {"insights/v20230101:ActionGroup", `{"properties": {"groupShortName": "x", "enabled": true}}`, "location: missing, want a string"},
		"Pulumi's names": {"network/v20240501:VirtualNetwork", `{"addressSpace": {}}`, "addressSpace: unknown property, want one of apiVersion, etag, extendedLocation, id, location, name, properties, tags, type"},
		"nested": {"network/v20240501:NetworkSecurityGroup", `{"properties": {"securityRules": [{"name": "r", "properties": {"priority": 99, "access": "Allow", "direction": "Inbound", "protocol": "*"}}]}}`,
			"properties.securityRules[0].properties.priority: got 99, want 100..4096"},
		"renamed": {"insights/v20200202:Component", `{"location": "x", "kind": "web", "properties": {"Application_Type": "web", "SamplingPercentage": 101}}`,
			"properties.SamplingPercentage: got 101, want 0..100"},
		"map": {"cognitiveservices/v20241001:Account", `{"identity": {"type": "UserAssigned", "userAssignedIdentities": ["/a"]}}`,
			"identity.userAssignedIdentities: got an array, want an object of any keys"},
	} {
		problems := resource(t, test.typ).CheckBody(jsonObject(t, test.body))
		got := ""
		if len(problems) > 0 {
			got = problems[0].Error()
		}
		if len(problems) > 1 || got != test.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, problems, test.want)
		}
	}
}

func TestWarningsListUnlistedValuesOnly(t *testing.T) {
	t.Parallel()
	r := resource(t, "network/v20240501:PublicIPAddress")
	got := r.Warnings(jsonObject(t, `{"resourceGroupName": "g", "wrong": 1, "sku": {"name": "Standart"}, "publicIPAllocationMethod": "Static"}`))
	if len(got) != 1 || got[0].Code != NotListed || got[0].Path != "sku.name" || got[0].Nearest != "Standard" {
		t.Errorf("got %q, want one NotListed at sku.name, nearest Standard", got)
	}
}

// A pattern's message shows the value, but never a sensitive one.
func TestSensitiveValuesAreNotShown(t *testing.T) {
	t.Parallel()
	c := checker{}
	pattern := resource(t, "resources/v20240301:ResourceGroup").body.props["name"].typ.pattern
	c.value(&typ{kind: kindString, sensitive: true, pattern: pattern}, "pass word")
	if len(c.problems) != 1 || strings.Contains(c.problems[0].Error(), "pass") {
		t.Errorf("got %q, want one problem without the value", c.problems)
	}
}

func BenchmarkCheckInputs(b *testing.B) {
	group := jsonObject(b, oneRule)
	rule := group["securityRules"].([]any)[0]
	group["securityRules"] = slices.Repeat([]any{rule}, 30)
	for name, test := range map[string]struct {
		typ    string
		inputs map[string]any
	}{
		"Subnet":                 {"network/v20240501:Subnet", jsonObject(b, subnetInputs)},
		"SecurityGroup30Rules":   {"network/v20240501:NetworkSecurityGroup", group},
		"ManagedClusterProblems": {"containerservice/v20250101:ManagedCluster", map[string]any{"nope": 1.0}},
	} {
		r := resource(b, test.typ)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.CheckInputs(test.inputs)
			}
		})
	}
}
