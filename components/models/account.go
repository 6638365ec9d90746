package models

import (
	"fmt"

	cognitiveservices "github.com/pulumi/pulumi-azure-native-sdk/cognitiveservices/v2/v20241001"

	network "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240501"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/openai"
	"onedoor/internal/diagnostics"
	"onedoor/internal/privatelink"
	"onedoor/internal/ref"
)

// accountType is the ARM type of an account.
const accountType = "Microsoft.CognitiveServices/accounts"

// account is what one account is made from.
type account struct {
	name        string // logical, of the account; its children's start with it
	plain       string // in Azure
	region      string
	door        Door
	deployments []Deployment
}

// newAccount declares an account, closed from the first request on, with all
// that belongs to it. Azure takes one write at a time for an account and what is
// below it, so these come one after another:
// https://github.com/Azure/bicep-types-az/issues/1736
func newAccount(ctx *pulumi.Context, a account, args Args, in pulumi.ResourceOption) (ref.ModelAccount, error) {
	scope := args.Scope
	made, err := cognitiveservices.NewAccount(ctx, a.name, &cognitiveservices.AccountArgs{
		AccountName:       pulumi.String(a.plain),
		ResourceGroupName: a.door.Group.Name,
		Location:          pulumi.String(a.region),
		Kind:              pulumi.String(openai.Kind),
		Sku:               cognitiveservices.SkuArgs{Name: pulumi.String(openai.Tier)},
		// It holds no role. Azure Policy asks for it, and it is what could read job
		// files from storage.
		Identity: cognitiveservices.IdentityArgs{Type: cognitiveservices.ResourceIdentityTypeSystemAssigned},
		Properties: cognitiveservices.AccountPropertiesArgs{
			CustomSubDomainName: pulumi.String(a.plain),
			DisableLocalAuth:    pulumi.Bool(true), // Entra tokens only
			PublicNetworkAccess: pulumi.String("Disabled"),
			NetworkAcls: cognitiveservices.NetworkRuleSetArgs{
				DefaultAction: pulumi.String("Deny"),
				Bypass:        pulumi.String("None"), // other services of Azure, with a role, could enter otherwise
			},
			// The service fetches nothing from addresses that prompts name.
			// https://learn.microsoft.com/azure/ai-services/cognitive-services-data-loss-prevention
			RestrictOutboundNetworkAccess: pulumi.Bool(true),
			AllowedFqdnList:               pulumi.StringArray{},
		},
		Tags: scope.Tags(component),
	}, in, pulumi.Protect(scope.Protect()))
	if err != nil {
		return ref.ModelAccount{}, err
	}
	id := scope.ResourceID(a.door.Group.PlainName, accountType, a.plain)
	target := ref.Ready(id, made)
	ready, err := a.endpoint(ctx, args, target, in)
	if err != nil {
		return ref.ModelAccount{}, err
	}
	chained, err := a.deploy(ctx, scope, ready, in)
	if err != nil {
		return ref.ModelAccount{}, err
	}
	grant, err := scope.Grant(ctx, a.name+"-caller", a.door.Role, a.door.Caller, target, in)
	if err != nil {
		return ref.ModelAccount{}, err
	}
	if err := diagnostics.Send(ctx, a.name, target.ID, args.Logs, diagnostics.Setting{Categories: openai.LogCategories, Metrics: true}, in); err != nil {
		return ref.ModelAccount{}, err
	}
	ready = append(ready, grant, chained)
	return ref.ModelAccount{
		Resource: ref.Ready(id, ready...), Name: a.plain,
		Endpoint: ref.After(pulumi.String(openai.Endpoint(a.plain)), ready...),
	}, nil
}

// zones are those in which an account's endpoint is registered. An account of
// this kind answers in the first; in the others it would if its kind changed, and
// the built-in policy checks for all.
var zones = []string{az.ZoneOpenAI, az.ZoneCognitiveServices, az.ZoneAIServices}

// endpoint puts the account into the network. Whoever waits for the resources
// that it returns can reach it by name.
func (a account) endpoint(ctx *pulumi.Context, args Args, target ref.Resource, in pulumi.ResourceOption) ([]pulumi.Resource, error) {
	ready, err := privatelink.New(ctx, a.name, privatelink.Args{
		Scope: args.Scope, Component: component, Group: a.door.Group, Subnet: a.door.Endpoints,
		Target: target, GroupID: openai.EndpointGroup, // without a zone: the group below has several
	}, in)
	if err != nil {
		return nil, err
	}
	configs := network.PrivateDnsZoneConfigArray{}
	for _, name := range zones {
		if zone, ours := args.Zones[name]; ours {
			configs = append(configs, network.PrivateDnsZoneConfigArgs{Name: pulumi.String(name), PrivateDnsZoneId: zone.ID})
		}
	}
	if len(configs) == 0 { // Azure Policy registers the endpoint
		return ready, nil
	}
	registration, err := network.NewPrivateDnsZoneGroup(ctx, a.name+"-endpoint-dns", &network.PrivateDnsZoneGroupArgs{
		PrivateDnsZoneGroupName: pulumi.String("default"),
		PrivateEndpointName:     ref.After(pulumi.String(args.Scope.Name(az.PrivateEndpoint, a.name)), ready...),
		ResourceGroupName:       a.door.Group.Name,
		PrivateDnsZoneConfigs:   configs,
	}, in)
	if err != nil {
		return nil, fmt.Errorf("endpoint: dns: %w", err)
	}
	return append(ready, registration), nil
}
