// Package ref holds the handles that components pass to one another. A handle
// is a type of its own, so that the wrong id does not compile, and its values
// carry their readiness: whoever reads one waits for what it needs.
package ref

import (
	"net/netip"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// After is v, available once deps exist. The value of v stays known in
// previews: only the URNs of deps are awaited, never their ids, which a
// preview does not know.
func After(v pulumi.StringInput, deps ...pulumi.Resource) pulumi.StringOutput {
	all := make([]any, 0, len(deps)+1)
	all = append(all, v)
	for _, dep := range deps {
		all = append(all, dep.URN())
	}
	return pulumi.All(all...).ApplyT(first).(pulumi.StringOutput)
}

func first(vs []any) string { return vs[0].(string) }

// Group is a resource group.
type Group struct {
	Plain string              // its name, known before it exists
	Name  pulumi.StringOutput // the same, once it exists
}

// Logs is where diagnostics and alerts go.
type Logs struct {
	WorkspaceID   pulumi.StringOutput // ARM id of the Log Analytics workspace
	ComponentID   pulumi.StringOutput // ARM id of the Application Insights component
	ActionGroupID pulumi.StringOutput // ARM id of the action group that alerts notify
}

// Subnet is a part of the network.
type Subnet struct {
	ID     pulumi.StringOutput // ARM id, once its network security group is attached
	Prefix netip.Prefix        // plain, so that rules and policies can name it
}

// Zone is a private DNS zone, linked to the network.
type Zone struct {
	ID   pulumi.StringOutput // ARM id, once the zone resolves in the network
	Name string              // as in "privatelink.openai.azure.com"
}
