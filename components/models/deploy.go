package models

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	cognitiveservices "github.com/pulumi/pulumi-azure-native-sdk/cognitiveservices/v2/v20241001"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/openai"
	"onedoor/internal/policypack/annotations"
	"onedoor/internal/ref"
)

// deploy declares the content filters that the deployments use, then the
// deployments, in the order of their names and each after the one before. It
// returns the last one.
func (a account) deploy(ctx *pulumi.Context, scope az.Scope, after []pulumi.Resource, in pulumi.ResourceOption) (pulumi.Resource, error) {
	sorted := slices.Clone(a.deployments)
	slices.SortFunc(sorted, func(x, y Deployment) int { return cmp.Compare(x.Name, y.Name) })
	// The name of the account, once nothing else writes below it.
	free := ref.After(pulumi.String(a.plain), after...)
	for _, filter := range openai.FilterNames {
		if !slices.ContainsFunc(sorted, func(d Deployment) bool { return d.Filter == filter }) {
			continue
		}
		made, err := a.filter(ctx, scope, filter, free, in)
		if err != nil {
			return nil, err
		}
		free = ref.After(pulumi.String(a.plain), made)
	}
	var last pulumi.Resource
	for _, d := range sorted {
		tags := scope.Tags(component)
		if d.Reserve > 0 {
			tags[annotations.ReserveTag] = pulumi.String(strconv.Itoa(d.Reserve))
		}
		made, err := cognitiveservices.NewDeployment(ctx, a.name+"-"+d.Name, &cognitiveservices.DeploymentArgs{
			DeploymentName:    pulumi.String(d.Name),
			AccountName:       free,
			ResourceGroupName: a.door.Group.Name,
			Sku:               cognitiveservices.SkuArgs{Name: pulumi.String(d.SKU), Capacity: pulumi.Int(d.Capacity)},
			Properties: cognitiveservices.DeploymentPropertiesArgs{
				Model:                cognitiveservices.DeploymentModelArgs{Format: pulumi.String(openai.Kind), Name: pulumi.String(d.Model), Version: pulumi.String(d.Version)},
				RaiPolicyName:        pulumi.String(string(d.Filter)),
				VersionUpgradeOption: pulumi.String("NoAutoUpgrade"), // answers stay reproducible; a retired version stops instead of changing
			},
			Tags: tags,
		}, in, pulumi.DeleteBeforeReplace(true)) // two at once would need twice the quota
		if err != nil {
			return nil, fmt.Errorf("deployment %s: %w", d.Name, err)
		}
		last = made
		free = ref.After(pulumi.String(a.plain), made)
	}
	return last, nil
}

// filter declares one content filter of the account, once free resolves.
func (a account) filter(ctx *pulumi.Context, scope az.Scope, filter openai.Filter, free pulumi.StringInput, in pulumi.ResourceOption) (pulumi.Resource, error) {
	rules := cognitiveservices.RaiPolicyContentFilterArray{}
	for _, rule := range filter.Rules() {
		content := cognitiveservices.RaiPolicyContentFilterArgs{
			Name: pulumi.String(rule.Name), Source: pulumi.String(rule.Source), Enabled: pulumi.Bool(true), Blocking: pulumi.Bool(rule.Blocking),
		}
		if rule.Threshold != "" {
			content.SeverityThreshold = pulumi.String(rule.Threshold)
		}
		rules = append(rules, content)
	}
	made, err := cognitiveservices.NewRaiPolicy(ctx, a.name+"-filter-"+string(filter), &cognitiveservices.RaiPolicyArgs{
		RaiPolicyName:     pulumi.String(string(filter)),
		AccountName:       free,
		ResourceGroupName: a.door.Group.Name,
		Properties: cognitiveservices.RaiPolicyPropertiesArgs{
			BasePolicyName: pulumi.String(openai.BasePolicy),
			Mode:           pulumi.String("Blocking"),
			ContentFilters: rules,
		},
		Tags: scope.Tags(component),
	}, in)
	if err != nil {
		return nil, fmt.Errorf("content filter %s: %w", filter, err)
	}
	return made, nil
}
