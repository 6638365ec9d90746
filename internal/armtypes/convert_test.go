package armtypes

import (
	"encoding/json"
	"testing"
)

func TestBodyAndBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ typ, inputs, body string }{
		"subnet": {
			"network/v20240501:Subnet",
			subnetInputs,
			`{"name": "apim", "properties": {"addressPrefix": "10.0.1.0/24", "privateEndpointNetworkPolicies": "Enabled", "defaultOutboundAccess": false,
			  "networkSecurityGroup": {"id": "?"}, "natGateway": {"id": "/x"}, "serviceEndpoints": [{"service": "Microsoft.Storage", "locations": ["*"]}],
			  "delegations": [{"name": "web", "properties": {"serviceName": "Microsoft.Web/serverFarms"}}, {"name": "aci", "properties": {"serviceName": "?"}}]}}`,
		},
		"nested renaming": {
			"network/v20240501:VirtualNetwork",
			`{"resourceGroupName": "g", "virtualNetworkName": "v", "location": "l", "tags": {"properties": "kept"}, "addressSpace": {"ipamPoolPrefixAllocations": [{"id": "/pool", "numberOfIpAddresses": "8"}]}}`,
			`{"location": "l", "tags": {"properties": "kept"}, "properties": {"addressSpace": {"ipamPoolPrefixAllocations": [{"pool": {"id": "/pool"}, "numberOfIpAddresses": "8"}]}}}`,
		},
		"unknown object": {
			"network/v20240501:VirtualNetwork",
			`{"resourceGroupName": "?", "virtualNetworkName": "v", "addressSpace": "?", "subnets": ["?"]}`,
			`{"properties": {"addressSpace": "?", "subnets": ["?"]}}`,
		},
		"component": {
			"insights/v20200202:Component",
			`{"resourceGroupName": "g", "resourceName": "c", "kind": "web", "applicationType": "web", "workspaceResourceId": "/w", "disableLocalAuth": true}`,
			`{"kind": "web", "properties": {"Application_Type": "web", "WorkspaceResourceId": "/w", "DisableLocalAuth": true}}`,
		},
		"storage account": {
			"storage/v20240101:StorageAccount",
			`{"resourceGroupName": "g", "accountName": "a", "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}, "enableHttpsTrafficOnly": true,
			  "networkRuleSet": {"defaultAction": "Deny", "ipRules": [{"iPAddressOrRange": "1.2.3.4"}], "virtualNetworkRules": [{"virtualNetworkResourceId": "/s"}]},
			  "encryption": {"keyVaultProperties": {"keyName": "k"}, "encryptionIdentity": {"encryptionUserAssignedIdentity": "/i"}}}`,
			`{"kind": "StorageV2", "sku": {"name": "Standard_ZRS"}, "properties": {"supportsHttpsTrafficOnly": true,
			  "networkAcls": {"defaultAction": "Deny", "ipRules": [{"value": "1.2.3.4"}], "virtualNetworkRules": [{"id": "/s"}]},
			  "encryption": {"keyvaultproperties": {"keyname": "k"}, "identity": {"userAssignedIdentity": "/i"}}}}`,
		},
		"swapped names": {
			"apimanagement/v20240501:Api",
			`{"resourceGroupName": "g", "serviceName": "s", "apiId": "a", "path": "p", "apiType": "http", "soapApiType": "soap", "apiVersion": "v1"}`,
			`{"properties": {"path": "p", "type": "http", "apiType": "soap", "apiVersion": "v1"}}`,
		},
		"inner type": {
			"containerservice/v20250101:AgentPool",
			`{"resourceGroupName": "g", "resourceName": "c", "agentPoolName": "p", "type": "VirtualMachineScaleSets", "count": 1}`,
			`{"properties": {"type": "VirtualMachineScaleSets", "count": 1}}`,
		},
		"properties in properties": {
			"apimanagement/v20240501:Backend",
			`{"resourceGroupName": "g", "serviceName": "s", "backendId": "b", "type": "Pool", "properties": {"serviceFabricCluster": {"managementEndpoints": ["e"]}}, "pool": {"services": [{"id": "/b"}]}}`,
			`{"properties": {"type": "Pool", "properties": {"serviceFabricCluster": {"managementEndpoints": ["e"]}}, "pool": {"services": [{"id": "/b"}]}}}`,
		},
		"kept properties": {
			"keyvault/v20230701:Secret",
			`{"resourceGroupName": "g", "vaultName": "v", "secretName": "s", "properties": {"value": "x", "attributes": {"expires": 1, "notBefore": 2}}}`,
			`{"properties": {"value": "x", "attributes": {"exp": 1, "nbf": 2}}}`,
		},
		"dashes": {
			"containerservice/v20250101:ManagedCluster",
			`{"resourceGroupName": "g", "resourceName": "c", "autoScalerProfile": {"scanInterval": "10s"}, "agentPoolProfiles": [{"name": "sys"}]}`,
			`{"properties": {"autoScalerProfile": {"scan-interval": "10s"}, "agentPoolProfiles": [{"name": "sys"}]}}`,
		},
		"variants": {
			"insights/v20180301:MetricAlert",
			`{"resourceGroupName": "g", "ruleName": "r", "criteria": {"odataType": "Microsoft.Azure.Monitor.MultipleResourceMultipleMetricCriteria", "allOf": [{"criterionType": "DynamicThresholdCriterion", "alertSensitivity": "High"}]}}`,
			`{"properties": {"criteria": {"odata.type": "Microsoft.Azure.Monitor.MultipleResourceMultipleMetricCriteria", "allOf": [{"criterionType": "DynamicThresholdCriterion", "alertSensitivity": "High"}]}}}`,
		},
		"smart detector": {
			"alertsmanagement/v20210401:SmartDetectorAlertRule",
			`{"resourceGroupName": "g", "alertRuleName": "r", "location": "global", "state": "Disabled", "detector": {"id": "d", "parameters": {"a": [1]}}, "actionGroups": {"groupIds": ["/a"]}}`,
			`{"location": "global", "properties": {"state": "Disabled", "detector": {"id": "d", "parameters": {"a": [1]}}, "actionGroups": {"groupIds": ["/a"]}}}`,
		},
	} {
		r := resource(t, test.typ)
		inputs := jsonObject(t, test.inputs)
		body, problems := r.Body(inputs)
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
		equal(t, name+": body", body, jsonObject(t, test.body))
		want := jsonObject(t, test.inputs)
		for _, input := range r.PathInputs() {
			delete(want, input)
		}
		if name == "subnet" { // azure-native drops these two
			delete(want, "id")
			delete(want, "type")
		}
		equal(t, name+": outputs", r.Outputs(body), want)
		equal(t, name+": inputs afterwards", inputs, jsonObject(t, test.inputs))
	}
}

func TestIdentitiesAreKeysInARM(t *testing.T) {
	t.Parallel()
	r := resource(t, "cognitiveservices/v20241001:Account")
	for name, test := range map[string]struct{ ids, want string }{
		"known":          {`["/a", "/b"]`, `{"/a": {}, "/b": {}}`},
		"empty":          {`[]`, `{}`},
		"unknown":        {`"?"`, `"?"`},
		"unknown member": {`["/a", "?"]`, `"?"`},
	} {
		body, problems := r.Body(jsonObject(t, `{"identity": {"type": "UserAssigned", "userAssignedIdentities": `+test.ids+`}}`))
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
		equal(t, name, body, jsonObject(t, `{"identity": {"type": "UserAssigned", "userAssignedIdentities": `+test.want+`}}`))
	}
	outputs := r.Outputs(jsonObject(t, `{"identity": {"userAssignedIdentities": {"/a": {"clientId": "c", "principalId": "p"}}}}`))
	equal(t, "outputs", outputs, jsonObject(t, `{"identity": {"userAssignedIdentities": {"/a": {"clientId": "c", "principalId": "p"}}}}`))
}

func TestOutputsFlattenWhatAzureAdds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ typ, body, want string }{
		"component": {
			"insights/v20200202:Component",
			`{"id": "/c", "name": "c", "type": "microsoft.insights/components", "properties": {"ConnectionString": "s", "AppId": "a", "InstrumentationKey": "k", "brandNew": 1}}`,
			`{"id": "/c", "name": "c", "type": "microsoft.insights/components", "connectionString": "s", "appId": "a", "instrumentationKey": "k"}`,
		},
		"workspace": {
			"operationalinsights/v20230901:Workspace",
			`{"properties": {"customerId": "c", "features": {"brandNew": {"properties": {"a": 1}}}}}`,
			`{"customerId": "c", "features": {"brandNew": {"properties": {"a": 1}}}}`,
		},
		"group keeps properties": {
			"resources/v20240301:ResourceGroup",
			`{"location": "l", "properties": {"provisioningState": "Succeeded"}}`,
			`{"location": "l", "properties": {"provisioningState": "Succeeded"}}`,
		},
		"nested subnets": {
			"network/v20240501:VirtualNetwork",
			`{"properties": {"subnets": [{"id": "/s", "name": "s", "properties": {"addressPrefix": "10.0.0.0/24", "provisioningState": "Succeeded"}}]}}`,
			`{"subnets": [{"id": "/s", "name": "s", "addressPrefix": "10.0.0.0/24", "provisioningState": "Succeeded"}]}`,
		},
		"unknown bag": {
			"keyvault/v20230701:Vault",
			`{"properties": "?"}`,
			`{"properties": "?"}`,
		},
	} {
		equal(t, name, resource(t, test.typ).Outputs(jsonObject(t, test.body)), jsonObject(t, test.want))
	}
}

func TestBodyReportsWhatHasNoPlace(t *testing.T) {
	t.Parallel()
	body, problems := resource(t, "network/v20240501:Subnet").Body(jsonObject(t,
		`{"subnetName": "s", "adressPrefix": "x", "provisioningState": "x", "delegations": [{"servicename": "x", "name": "n"}]}`))
	equal(t, "body", body, jsonObject(t, `{"properties": {"delegations": [{"name": "n"}]}}`))
	want := []Problem{
		{Path: "adressPrefix", Code: UnknownProperty, Nearest: "addressPrefix"},
		{Path: "delegations[0].servicename", Code: UnknownProperty, Nearest: "serviceName"},
		{Path: "provisioningState", Code: ReadOnly, Want: "it left out, because it is an output"},
	}
	equal(t, "problems", problems, want)
}

// Whatever somebody sends, the library answers and does not panic; and a body
// made from inputs shares no memory with them.
func FuzzAnyJSON(f *testing.F) {
	for _, seed := range []string{subnetInputs, oneRule, `{"properties": []}`, `{"properties": {"properties": {"properties": 1}}}`, `{"delegations": [[[]]], "tags": "?"}`,
		`{"criteria": {"odata.type": 1}}`, `{"identity": {"userAssignedIdentities": [[]]}}`, `{"name": null, "scope": [], "id": {}}`, metricAlert(`[]`)} {
		f.Add(seed)
	}
	c := catalog(f)
	tokens := c.Tokens()
	f.Fuzz(func(t *testing.T, text string) {
		var m map[string]any
		if json.Unmarshal([]byte(text), &m) != nil {
			t.Skip()
		}
		unknowns(m)
		for _, token := range tokens {
			r, _ := c.ByToken(token)
			r.CheckInputs(m)
			r.CheckBody(m)
			r.Warnings(m)
			r.Outputs(m)
			body, _ := r.Body(m)
			r.Outputs(body)
			id, problems := r.ID(m, subscription)
			for _, p := range problems {
				_ = p.Error()
			}
			r.ParentID(id)
			r.ParentID(text)
			r.ParseID(text)
			c.ByID(text, r.APIVersion)
		}
	})
}
