package guard_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/guard"
	"onedoor/internal/az"
	rules "onedoor/internal/az/guard"
	"onedoor/internal/fake"
	"onedoor/internal/ref"
)

const batchID = "/subscriptions/" + fake.SubscriptionID + "/resourceGroups/batch"

func program(batchGroups ...string) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		var made struct{ pulumi.CustomResourceState }
		if err := ctx.RegisterResource("test:index:Group", "batch-group", pulumi.Map{}, &made); err != nil {
			return err
		}
		batch := ref.Group{Resource: ref.Ready(batchID, &made), PlainName: "batch", Name: ref.After(pulumi.String("batch"), &made)}
		g, err := guard.New(ctx, "guard", guard.Args{Scope: fake.Scope(az.Prod), Platform: fake.Group(), BatchDoor: batch, BatchGroups: batchGroups})
		if err != nil {
			return err
		}
		if err := fake.Reader(ctx, "reader", g.BatchDoor.Name); err != nil {
			return err
		}
		return fake.Reader(ctx, "platform-reader", g.Platform.Name)
	}
}

func TestDefinitionsAreThoseOfTheRules(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program())
		assert.Len(t, plan.Names("PolicyDefinition"), len(rules.All))
		for _, p := range rules.All {
			made := plan.Get(t, "guard-"+p.Key)
			assert.Equal(t, p.DefinitionName(fake.Scope(az.Prod)), made.Input("policyDefinitionName"))
			assert.Equal(t, p.Rule, made.Input("policyRule"))
			assert.Equal(t, rules.Parameters(), made.Input("parameters"))
			assert.Equal(t, "All", made.Input("mode"))
			assert.Equal(t, "Custom", made.Input("policyType"))
		}
	}
}

func TestAssignmentsAreAtTheStacksOwnGroups(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program())
		for name, scope := range map[string]string{
			"guard-platform-no-batch": fake.GroupID, "guard-platform-closed-accounts": fake.GroupID,
			"guard-batch-door-only-batch": batchID, "guard-batch-door-closed-accounts": batchID,
		} {
			made := plan.Get(t, name)
			assert.Equal(t, scope, made.Input("scope"), name)
			assert.Equal(t, "Default", made.Input("enforcementMode"), name)
			assert.Nil(t, made.Input("notScopes"), name)
		}
		assert.Len(t, plan.Names("PolicyAssignment"), 4)
		only := plan.Get(t, "guard-batch-door-only-batch")
		assert.Equal(t, rules.OnlyBatch.DefinitionID(fake.Scope(az.Prod)), only.Input("policyDefinitionId"))
		assert.Equal(t, []string{"batch-group", "guard-only-batch"}, only.DependsOn)
	}
}

// What goes into a group too early is not judged.
func TestGroupsWaitForTheirPolicies(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program())
		for _, name := range plan.Names("PolicyAssignment") {
			assert.Contains(t, plan.Get(t, "reader").DependsOn, name)
			assert.Contains(t, plan.Get(t, "platform-reader").DependsOn, name)
		}
	}
}

func TestTheSubscriptionIsGuardedWhereAskedFor(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(batchID, "/subscriptions/"+fake.SubscriptionID+"/resourceGroups/another"))
	made := plan.Get(t, "guard-subscription-no-batch")
	assert.Equal(t, "/subscriptions/"+fake.SubscriptionID, made.Input("scope"))
	assert.Equal(t, []any{"/subscriptions/" + fake.SubscriptionID + "/resourceGroups/another", batchID}, made.Input("notScopes"))

	_, err := fake.Try(fake.Preview, program("/subscriptions/"+fake.SubscriptionID+"/resourceGroups/another"))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "lack this stack's own")
}
