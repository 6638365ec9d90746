package observability

import (
	"cmp"
	"strings"

	operationalinsights "github.com/pulumi/pulumi-azure-native-sdk/operationalinsights/v2/v20200801"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/alerts"
	"onedoor/internal/az"
)

func compare(a, b string) int { return cmp.Compare(a, b) }

// functions declares what queries call by name. One of them names identities,
// which no preview knows before they exist; that is why alerts call it instead of
// naming them: their queries stay plain. A workspace of another subscription is
// not this program's to write to.
func (b *builder) functions() ([]pulumi.Resource, error) {
	workspace, err := az.ParseID(b.args.Logs.Workspace.Plain)
	if err != nil {
		return nil, err
	}
	var made []pulumi.Resource
	for i, plain := range alerts.Functions(b.facts(nil)) {
		kql := pulumi.String(plain.KQL).ToStringOutput()
		if i == 0 {
			kql = b.callers()
		}
		if !strings.EqualFold(workspace.SubscriptionID, b.args.Scope.SubscriptionID) {
			b.Functions[plain.Name] = kql
			continue
		}
		search, err := operationalinsights.NewSavedSearch(b.ctx, b.name+"-"+strings.ToLower(plain.Name), &operationalinsights.SavedSearchArgs{
			SavedSearchId:     pulumi.String(strings.ToLower(plain.Name)),
			ResourceGroupName: pulumi.String(workspace.ResourceGroup),
			WorkspaceName:     b.args.Logs.Workspace.ID.ApplyT(func(string) string { return workspace.Name() }).(pulumi.StringOutput),
			Category:          pulumi.String("OneDoor"),
			DisplayName:       pulumi.String(plain.Title + ", of stack " + b.args.Scope.Stack),
			FunctionAlias:     pulumi.String(plain.Name),
			Query:             kql,
		}, b.in)
		if err != nil {
			return nil, err
		}
		made = append(made, search)
	}
	return made, nil
}

// facts are what the functions hold; principals are in the order of the accounts,
// nil while they are not known.
func (b *builder) facts(principals []string) alerts.Facts {
	f := alerts.Facts{
		Stack: b.args.Scope.Stack, Gateway: b.args.Gateway, Insights: b.args.Logs.Component.Plain,
		Tenants: b.args.Tenants, Models: b.args.Models,
	}
	for i, principal := range principals {
		account := b.args.Accounts[i]
		f.Callers = append(f.Callers, alerts.Caller{Account: account.Plain, Door: account.Door, Principal: principal})
	}
	return f
}

// callers is the function that names who may call which account.
func (b *builder) callers() pulumi.StringOutput {
	principals := pulumi.StringArray{}
	for _, account := range b.args.Accounts {
		principals = append(principals, account.Caller.PrincipalID)
	}
	return principals.ToStringArrayOutput().ApplyT(func(known []string) string {
		return alerts.Functions(b.facts(known))[0].KQL
	}).(pulumi.StringOutput)
}
