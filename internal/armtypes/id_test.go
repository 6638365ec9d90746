package armtypes

import (
	"reflect"
	"strings"
	"testing"
)

func TestIDFromInputsAndBack(t *testing.T) {
	t.Parallel()
	const group = "/subscriptions/" + subscription + "/resourceGroups/g"
	for name, test := range map[string]struct{ typ, inputs, id, parent string }{
		"group":          {"resources/v20240301:ResourceGroup", `{"resourceGroupName": "g"}`, group, ""},
		"network":        {"network/v20240501:VirtualNetwork", `{"resourceGroupName": "g", "virtualNetworkName": "vnet"}`, group + "/providers/Microsoft.Network/virtualNetworks/vnet", group},
		"subnet":         {"network/v20240501:Subnet", `{"resourceGroupName": "g", "virtualNetworkName": "v", "subnetName": "s"}`, group + "/providers/Microsoft.Network/virtualNetworks/v/subnets/s", group + "/providers/Microsoft.Network/virtualNetworks/v"},
		"record":         {"network/v20240601:PrivateRecordSet", `{"resourceGroupName": "g", "privateZoneName": "a.b", "recordType": "A", "relativeRecordSetName": "@"}`, group + "/providers/Microsoft.Network/privateDnsZones/a.b/A/@", group + "/providers/Microsoft.Network/privateDnsZones/a.b"},
		"fixed name":     {"servicebus/v20240101:NamespaceNetworkRuleSet", `{"resourceGroupName": "g", "namespaceName": "n"}`, group + "/providers/Microsoft.ServiceBus/namespaces/n/networkRuleSets/default", group + "/providers/Microsoft.ServiceBus/namespaces/n"},
		"fixed parent":   {"storage/v20240101:BlobContainer", `{"resourceGroupName": "g", "accountName": "a", "containerName": "ccc"}`, group + "/providers/Microsoft.Storage/storageAccounts/a/blobServices/default/containers/ccc", group + "/providers/Microsoft.Storage/storageAccounts/a"},
		"scope group":    {"authorization/v20220401:RoleAssignment", `{"scope": "` + group + `", "roleAssignmentName": "r"}`, group + "/providers/Microsoft.Authorization/roleAssignments/r", group},
		"scope slash":    {"consumption/v20231101:Budget", `{"scope": "subscriptions/s/", "budgetName": "b"}`, "/subscriptions/s/providers/Microsoft.Consumption/budgets/b", ""},
		"scope resource": {"insights/v20210501preview:DiagnosticSetting", `{"resourceUri": "` + group + `/providers/Microsoft.Network/virtualNetworks/v", "name": "d"}`, group + "/providers/Microsoft.Network/virtualNetworks/v/providers/Microsoft.Insights/diagnosticSettings/d", group + "/providers/Microsoft.Network/virtualNetworks/v"},
		"subscription":   {"authorization/v20250101:PolicyDefinition", `{"policyDefinitionName": "p"}`, "/subscriptions/" + subscription + "/providers/Microsoft.Authorization/policyDefinitions/p", ""},
	} {
		r := resource(t, test.typ)
		inputs := jsonObject(t, test.inputs)
		id, problems := r.ID(inputs, subscription)
		if id != test.id || len(problems) > 0 {
			t.Errorf("%s: got %q %v, want %q", name, id, problems, test.id)
			continue
		}
		if parent, ok := r.ParentID(id); parent != test.parent || ok != (test.parent != "") {
			t.Errorf("%s: parent %q %v, want %q", name, parent, ok, test.parent)
		}
		if found, ok := catalog(t).ByID(strings.ToLower(id), r.APIVersion); !ok || found != r {
			t.Errorf("%s: ByID found %v", name, found)
		}
		want := map[string]string{}
		for input, v := range inputs {
			want[input] = v.(string)
			if input == "scope" {
				want[input] = "/" + strings.Trim(v.(string), "/")
			}
		}
		if got, ok := r.ParseID(id); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: parsed %v, want %v", name, got, want)
		}
	}
}

func TestIDWithoutAllParts(t *testing.T) {
	t.Parallel()
	r := resource(t, "network/v20240501:Subnet")
	if id, problems := r.ID(jsonObject(t, `{"resourceGroupName": "?", "virtualNetworkName": "v", "subnetName": "s"}`), subscription); id != "" || len(problems) > 0 {
		t.Errorf("unknown part: got %q %v, want neither id nor problems", id, problems)
	}
	id, problems := r.ID(jsonObject(t, `{"resourceGroupName": "?", "subnetName": 1}`), "")
	var got []string
	for _, p := range problems {
		got = append(got, string(p.Code)+" "+p.Path)
	}
	want := []string{"WrongType subnetName", "TooShort subscriptionId", "MissingProperty virtualNetworkName"}
	if id != "" || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q %q, want %q", id, got, want)
	}
}

func TestParseIDRefusesOtherTypes(t *testing.T) {
	t.Parallel()
	r := resource(t, "network/v20240501:Subnet")
	for _, id := range []string{"", "/", "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v", "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/peerings/s"} {
		if inputs, ok := r.ParseID(id); ok {
			t.Errorf("%q: got %v", id, inputs)
		}
	}
}

func TestInputsOfAResource(t *testing.T) {
	t.Parallel()
	r := resource(t, "network/v20240501:VirtualNetwork")
	for name, want := range map[string]bool{"location": true, "tags": true, "virtualNetworkName": true, "addressSpace": true, "provisioningState": false, "nope": false} {
		if got := r.HasInput(name); got != want {
			t.Errorf("HasInput(%s) = %v", name, got)
		}
	}
	if got := r.NameInput(); got != "virtualNetworkName" {
		t.Errorf("NameInput = %q", got)
	}
	if got := resource(t, "servicebus/v20240101:NamespaceNetworkRuleSet").NameInput(); got != "" {
		t.Errorf("NameInput of a fixed name = %q", got)
	}
	if resource(t, "network/v20240501:Subnet").HasInput("location") {
		t.Error("a subnet has no location")
	}
}
