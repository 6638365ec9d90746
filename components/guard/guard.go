// Package guard owns the Azure Policy definitions and assignments that keep the
// doors apart for whoever writes to Azure by other means than this program. What
// they say belongs to the package of the same name below internal/az.
package guard

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	authorization "github.com/pulumi/pulumi-azure-native-sdk/authorization/v2/v20250101"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/guard"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:guard:Guard"

// Args are the inputs of New.
type Args struct {
	Scope     az.Scope
	Platform  ref.Group
	BatchDoor ref.Group
	// BatchGroups are the ids of every group in the subscription that may hold batch
	// deployments, this stack's among them; with them the whole subscription is
	// guarded, without them only the stack's own groups.
	BatchGroups []string
}

func (a Args) check() error {
	own := func(id string) bool { return strings.EqualFold(id, a.BatchDoor.Plain) }
	if len(a.BatchGroups) > 0 && !slices.ContainsFunc(a.BatchGroups, own) {
		return errors.New("the batch groups of the subscription lack this stack's own, whose deployments would be refused")
	}
	return nil
}

// Guard holds the policies. Fields below ResourceState are its outputs.
type Guard struct {
	pulumi.ResourceState
	Platform  ref.Group // the group, once its policies stand
	BatchDoor ref.Group // the group, once its policies stand
}

// New declares the policies. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Guard, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("guard %q: %w", name, err)
	}
	g := &Guard{}
	if err := ctx.RegisterComponentResource(Type, name, g, opts...); err != nil {
		return nil, err
	}
	definitions := map[string]pulumi.StringOutput{} // ids by key, ready
	for _, policy := range guard.All {
		id, err := define(ctx, name, policy, args.Scope, pulumi.Parent(g))
		if err != nil {
			return nil, fmt.Errorf("guard %q: definition %s: %w", name, policy.Key, err)
		}
		definitions[policy.Key] = id
	}
	groups := map[string]ref.Group{args.Platform.Plain: args.Platform, args.BatchDoor.Plain: args.BatchDoor}
	var made []pulumi.Resource
	for _, a := range guard.Assignments(args.Scope, guard.Groups{Platform: args.Platform.Plain, BatchDoor: args.BatchDoor.Plain}, args.BatchGroups) {
		scope := pulumi.String(a.Scope).ToStringOutput()
		if group, ours := groups[a.Scope]; ours {
			scope = group.ID
		}
		assignment, err := assign(ctx, name, a, scope, definitions[a.Policy.Key], pulumi.Parent(g))
		if err != nil {
			return nil, fmt.Errorf("guard %q: assignment %s: %w", name, a.Name, err)
		}
		made = append(made, assignment)
	}
	g.Platform, g.BatchDoor = guarded(args.Platform, made), guarded(args.BatchDoor, made)
	return g, ctx.RegisterResourceOutputs(g, pulumi.Map{})
}

// guarded is the group, ready once its policies stand.
func guarded(group ref.Group, made []pulumi.Resource) ref.Group {
	group.ID = ref.After(group.ID, made...)
	group.Name = ref.After(group.Name, made...)
	return group
}

// define declares the definition of a policy and returns its id.
func define(ctx *pulumi.Context, name string, policy guard.Policy, scope az.Scope, in pulumi.ResourceOption) (pulumi.StringOutput, error) {
	parameters := authorization.ParameterDefinitionsValueMap{}
	for key, v := range guard.Parameters() {
		declared := v.(map[string]any)
		about := declared["metadata"].(map[string]any)
		parameters[key] = authorization.ParameterDefinitionsValueArgs{
			Type:          pulumi.String(declared["type"].(string)),
			AllowedValues: anyArray(declared["allowedValues"].([]any)),
			DefaultValue:  pulumi.Any(declared["defaultValue"]),
			Metadata: authorization.ParameterDefinitionsValueMetadataArgs{
				DisplayName: pulumi.String(about["displayName"].(string)), Description: pulumi.String(about["description"].(string)),
			},
		}
	}
	made, err := authorization.NewPolicyDefinition(ctx, name+"-"+policy.Key, &authorization.PolicyDefinitionArgs{
		PolicyDefinitionName: pulumi.String(policy.DefinitionName(scope)),
		PolicyType:           pulumi.String("Custom"),
		Mode:                 pulumi.String(guard.Mode),
		DisplayName:          pulumi.String(policy.DisplayName),
		Description:          pulumi.String(policy.Description),
		Parameters:           parameters,
		PolicyRule:           pulumi.Any(policy.Rule),
	}, in)
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	return ref.After(pulumi.String(policy.DefinitionID(scope)), made), nil
}

func anyArray(values []any) pulumi.Array {
	out := pulumi.Array{}
	for _, v := range values {
		out = append(out, pulumi.Any(v))
	}
	return out
}

// assign declares one assignment.
func assign(ctx *pulumi.Context, name string, a guard.Assignment, scope, definition pulumi.StringOutput, in pulumi.ResourceOption) (pulumi.Resource, error) {
	args := &authorization.PolicyAssignmentArgs{
		PolicyAssignmentName: pulumi.String(a.Name),
		Scope:                scope,
		PolicyDefinitionId:   definition,
		DisplayName:          pulumi.String(a.Policy.DisplayName),
		EnforcementMode:      pulumi.String("Default"),
		NonComplianceMessages: authorization.NonComplianceMessageArray{
			authorization.NonComplianceMessageArgs{Message: pulumi.String(a.Policy.Message)},
		},
	}
	if len(a.NotScopes) > 0 {
		args.NotScopes = pulumi.ToStringArray(slices.Sorted(slices.Values(a.NotScopes)))
	}
	return authorization.NewPolicyAssignment(ctx, name+"-"+a.Place+"-"+a.Policy.Key, args, in)
}
