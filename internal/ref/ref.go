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

// Resource is anything with an ARM id.
type Resource struct {
	Plain string              // the id, known before the resource exists
	ID    pulumi.StringOutput // the same, once it is ready to be used
}

// Ready is the resource of that id, ready once deps exist.
func Ready(id string, deps ...pulumi.Resource) Resource {
	return Resource{Plain: id, ID: After(pulumi.String(id), deps...)}
}

// Group is a resource group.
type Group struct {
	Resource
	PlainName string              // known before it exists
	Name      pulumi.StringOutput // the same, once it exists
}

// Logs is where diagnostics and alerts go.
type Logs struct {
	Workspace   Resource // Log Analytics
	Component   Resource // Application Insights
	ActionGroup Resource // whom alerts notify
}

// Subnet is a part of the network, ready once its security group is attached.
type Subnet struct {
	Resource
	Prefix netip.Prefix // plain, so that rules and policies can name it
}

// Zone is a private DNS zone, ready once it resolves in the network.
type Zone struct {
	Resource
	Name string // as in "privatelink.openai.azure.com"
}

// Zones are the private DNS zones by name. A zone that is missing is one that
// Azure Policy fills.
type Zones map[string]Zone

// Identity is a user-assigned managed identity. Its three ids are easily
// mistaken for one another: roles are given to the principal, tokens are asked
// for by the client, and resources are configured with the ARM id.
type Identity struct {
	Resource
	PrincipalID pulumi.StringOutput // of the service principal; known after an update
	ClientID    pulumi.StringOutput // of the application; known after an update
}

// Queue is a queue of work, ready once its worker may receive from it and its scaler
// may count what waits.
type Queue struct {
	Resource
	Name string // within its namespace
}

// Ready is the queue's name, once it is ready to be used.
func (q Queue) Ready() pulumi.StringOutput {
	return q.ID.ApplyT(func(string) string { return q.Name }).(pulumi.StringOutput)
}

// Keys are secrets in a vault that are valid together: one signs, all verify.
type Keys struct {
	Vault   string                         // its name
	Tenant  string                         // GUID of the Entra tenant that guards it
	Signing string                         // id of the key that signs
	Secrets map[string]pulumi.StringOutput // names of the secrets by the id of their key, each once its readers may read it
}
