package network

import (
	"fmt"

	network "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20240501"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
	"onedoor/internal/diagnostics"
	"onedoor/internal/ref"
)

// securityGroup declares the security group of a role's subnet and returns its
// id, ready once the group exists.
func (b *builder) securityGroup(role netplan.Role) (pulumi.StringOutput, error) {
	plain := b.args.Scope.Name(az.NetworkSecurityGroup, string(role))
	rules := network.SecurityRuleTypeArray{}
	for _, rule := range flows.Rules(b.args.Site, role) {
		rules = append(rules, securityRule(rule))
	}
	group, err := network.NewNetworkSecurityGroup(b.ctx, b.name+"-"+string(role)+"-rules", &network.NetworkSecurityGroupArgs{
		NetworkSecurityGroupName: pulumi.String(plain),
		ResourceGroupName:        b.args.Group.Name,
		Location:                 pulumi.String(b.args.Scope.Location),
		SecurityRules:            rules,
		Tags:                     b.args.Scope.Tags(component),
	}, b.in)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("network %q: rules of %s: %w", b.name, role, err)
	}
	id := ref.After(pulumi.String(b.args.Scope.ResourceID(b.args.Group.PlainName, "Microsoft.Network/networkSecurityGroups", plain)), group)
	// Counters of every rule would be a row a minute for each.
	events := diagnostics.Setting{Categories: []string{"NetworkSecurityGroupEvent"}}
	if err := diagnostics.Send(b.ctx, b.name+"-"+string(role)+"-rules", id, b.args.Logs, events, b.in); err != nil {
		return pulumi.StringOutput{}, err
	}
	return id, nil
}

// securityRule is a rule in Azure's shape: one address goes into the singular
// property, several into the plural one, as Azure itself answers.
func securityRule(rule flows.Rule) network.SecurityRuleTypeArgs {
	access := "Deny"
	if rule.Allow {
		access = "Allow"
	}
	args := network.SecurityRuleTypeArgs{
		Name:            pulumi.String(rule.Name),
		Priority:        pulumi.Int(rule.Priority),
		Direction:       pulumi.String(string(rule.Direction)),
		Access:          pulumi.String(access),
		Protocol:        pulumi.String(string(rule.Protocol)),
		SourcePortRange: pulumi.String("*"),
		Description:     pulumi.String(rule.Description),
	}
	args.SourceAddressPrefix, args.SourceAddressPrefixes = oneOrMany(rule.Sources)
	args.DestinationAddressPrefix, args.DestinationAddressPrefixes = oneOrMany(rule.Destinations)
	args.DestinationPortRange, args.DestinationPortRanges = oneOrMany(rule.Ports)
	return args
}

func oneOrMany(values []string) (pulumi.StringPtrInput, pulumi.StringArrayInput) {
	if len(values) == 1 {
		return pulumi.String(values[0]), nil
	}
	return nil, pulumi.ToStringArray(values)
}
