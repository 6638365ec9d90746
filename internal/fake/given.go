package fake

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/ref"
)

// What a component is given in tests: valid handles of things that others made.

// SubscriptionID is that of every given thing.
const SubscriptionID = "11111111-2222-3333-4444-555555555555"

// GroupID is the id of the given group.
const GroupID = "/subscriptions/" + SubscriptionID + "/resourceGroups/rg"

// Scope is a valid scope of a stack called test.
func Scope(environment az.Environment) az.Scope {
	return az.Scope{
		Project: "onedoor", Stack: "test", Environment: environment, SubscriptionID: SubscriptionID,
		Location: "swedencentral", Generation: 1, Owner: "owner@example.com", CostCentre: "cc-1",
	}
}

// Group is a resource group called rg.
func Group() ref.Group {
	return ref.Group{Resource: ref.Ready(GroupID), PlainName: "rg", Name: pulumi.String("rg").ToStringOutput()}
}

// Logs are where diagnostics go.
func Logs() ref.Logs {
	return ref.Logs{
		Workspace: ref.Ready(GroupID + "/providers/Microsoft.OperationalInsights/workspaces/logs"),
		Component: ref.Ready(GroupID + "/providers/Microsoft.Insights/components/logs"),
	}
}

// Identity is an identity called name, with a principal and a client to match.
func Identity(name string) ref.Identity {
	return ref.Identity{
		Resource:    ref.Ready(GroupID + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + name),
		PrincipalID: pulumi.String(name + "-principal").ToStringOutput(),
		ClientID:    pulumi.String(name + "-client").ToStringOutput(),
	}
}

// Subnet is a subnet called name.
func Subnet(name string) ref.Subnet {
	return ref.Subnet{Resource: ref.Ready(GroupID + "/providers/Microsoft.Network/virtualNetworks/vnet/subnets/" + name)}
}

// Zones are private DNS zones of those names.
func Zones(names ...string) ref.Zones {
	zones := ref.Zones{}
	for _, name := range names {
		zones[name] = ref.Zone{Name: name, Resource: ref.Ready(GroupID + "/providers/Microsoft.Network/privateDnsZones/" + name)}
	}
	return zones
}

// answers are what provider functions answer, by token.
var answers = map[string]func(args resource.PropertyMap) map[string]any{
	"azure-native:apimanagement/v20240501:getApiManagementService": func(args resource.PropertyMap) map[string]any {
		return map[string]any{"identity": map[string]any{"principalId": args["serviceName"].StringValue() + "-principal"}}
	},
	"azure-native:apimanagement/v20240501:listSubscriptionSecrets": func(resource.PropertyMap) map[string]any {
		return map[string]any{"primaryKey": "primary", "secondaryKey": "secondary"}
	},
	"azure-native:containerservice/v20250101:listManagedClusterUserCredentials": func(resource.PropertyMap) map[string]any {
		return map[string]any{"kubeconfigs": []any{map[string]any{"name": "clusterUser", "value": base64.StdEncoding.EncodeToString([]byte(UserKubeconfig))}}}
	},
	"azure-native:network/v20240501:getPublicIPAddress": func(resource.PropertyMap) map[string]any {
		return map[string]any{"ipAddress": "198.51.100.7"}
	},
	"azure-native:managedidentity/v20230131:getUserAssignedIdentity": func(args resource.PropertyMap) map[string]any {
		name := args["resourceName"].StringValue()
		return map[string]any{"principalId": name + "-principal", "clientId": name + "-client"}
	},
}

// UserKubeconfig is what Azure answers for a cluster: its user would be asked to
// log in at a browser.
const UserKubeconfig = `apiVersion: v1
kind: Config
current-context: aks
clusters:
- name: aks
  cluster: {server: "https://aks.example.com:443", certificate-authority-data: Y2E=}
contexts:
- name: aks
  context: {cluster: aks, user: clusterUser}
users:
- name: clusterUser
  user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: kubelogin, args: [get-token, --login, devicecode]}, token: stale}
`

// Reader registers a resource called name that reads value, so that a test can
// see what value waits for.
func Reader(ctx *pulumi.Context, name string, value pulumi.StringInput) error {
	var reader struct{ pulumi.CustomResourceState }
	return ctx.RegisterResource("test:index:Reader", name, pulumi.Map{"value": value}, &reader)
}

// Grants are the role assignments of the plan, each as "identity role at what":
// the principal, the GUID of the role and the last two segments of the scope.
func (p *Plan) Grants() []string {
	out := []string{}
	for _, r := range p.Resources {
		if r.Type != "azure-native:authorization/v20220401:RoleAssignment" {
			continue
		}
		at, _ := r.Input("scope").(string)
		role, _ := r.Input("roleDefinitionId").(string)
		principal, _ := r.Input("principalId").(string)
		out = append(out, principal+" "+lastOf(role, 1)+" at "+lastOf(at, 2))
	}
	slices.Sort(out)
	return out
}

// lastOf are the last n segments of an id.
func lastOf(id string, n int) string {
	parts := strings.Split(id, "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}
