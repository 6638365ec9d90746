package base_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/base"
	"onedoor/internal/az"
	"onedoor/internal/fake"
	"onedoor/internal/policypack/annotations"
)

func args() base.Args {
	return base.Args{
		Scope:         fake.Scope(az.Dev),
		RetentionDays: 30, DailyQuotaGB: 5, Alerts: []string{"b@example.com", "a@example.com", "b@example.com"}, MonthlyFloor: 600,
	}
}

func program(a base.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		b, err := base.New(ctx, "base", a)
		if err != nil {
			return err
		}
		if err := fake.Reader(ctx, "platform-reader", b.Platform.Name); err != nil {
			return err
		}
		return fake.Reader(ctx, "door-reader", b.BatchDoor.Name)
	}
}

const group = "/subscriptions/" + fake.SubscriptionID + "/resourceGroups/rg-onedoor-test-platform"

func TestBaseDeclaresItsParts(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			plan := fake.Run(t, mode, program(args()))
			assert.Equal(t, []string{"base", "base-alerts", "base-anomalies", "base-batch-door", "base-insights", "base-logs", "base-platform", "base-workspace-logs", "door-reader", "platform-reader"}, plan.Names(""))
			for _, r := range plan.Resources {
				if r.Custom && r.Parent != "" {
					assert.Equal(t, "base", r.Parent, r.Name)
					if r.Name != "base-workspace-logs" { // takes none
						assert.Contains(t, r.Input("tags"), az.TagOwner, r.Name)
					}
					assert.False(t, r.Protect, r.Name)
				}
			}
			logs := plan.Get(t, "base-logs")
			assert.Equal(t, map[string]any{"dailyQuotaGb": 5.0}, logs.Input("workspaceCapping"))
			assert.Equal(t, map[string]any{"disableLocalAuth": true}, logs.Input("features"))
			asked := plan.Get(t, "base-workspace-logs")
			assert.Equal(t, asked.Input("workspaceId"), asked.Input("resourceUri"), "who asks the logs is in the logs")
			insights := plan.Get(t, "base-insights")
			assert.Equal(t, true, insights.Input("disableLocalAuth"))
			assert.Equal(t, group+"/providers/Microsoft.OperationalInsights/workspaces/log-onedoor-test", insights.Input("workspaceResourceId"), "known before it exists")
			assert.Contains(t, insights.DependsOn, "base-logs")
		})
	}
}

// Azure adds this rule by itself unless it is there: the names must be equal.
func TestAnomalyRuleTakesThePlaceOfAzuresOwn(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	rule := plan.Get(t, "base-anomalies")
	assert.Equal(t, "Failure Anomalies - "+plan.Get(t, "base-insights").Input("resourceName").(string), rule.Input("alertRuleName"))
	assert.Equal(t, []any{group + "/providers/Microsoft.Insights/components/appi-onedoor-test"}, rule.Input("scope"))
	assert.Subset(t, rule.DependsOn, []string{"base-insights", "base-alerts"})
}

// Azure adds the rule some minutes after the component; behind slow resources
// ours would come too late, and be refused.
func TestNothingElseStartsBeforeTheAnomalyRuleStands(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	for _, reader := range []string{"platform-reader", "door-reader"} {
		assert.Contains(t, plan.Get(t, reader).DependsOn, "base-anomalies", reader)
	}
}

func TestAlertsReachEachAddressOnce(t *testing.T) {
	t.Parallel()
	receivers := fake.Run(t, fake.Preview, program(args())).Get(t, "base-alerts").Input("emailReceivers").([]any)
	var got []any
	for _, r := range receivers {
		got = append(got, r.(map[string]any)["emailAddress"])
	}
	assert.Equal(t, []any{"a@example.com", "b@example.com"}, got)
}

func TestExistingWorkspaceIsUsed(t *testing.T) {
	t.Parallel()
	a := args()
	a.WorkspaceID = "/subscriptions/x/resourceGroups/rg-shared/providers/Microsoft.OperationalInsights/workspaces/shared"
	plan := fake.Run(t, fake.Update, program(a))
	assert.Empty(t, plan.Names("Workspace"))
	assert.Equal(t, a.WorkspaceID, plan.Get(t, "base-insights").Input("workspaceResourceId"))
}

func TestProdProtectsWhatHoldsData(t *testing.T) {
	t.Parallel()
	a := args()
	a.Scope.Environment = az.Prod
	var protected []string
	for _, r := range fake.Run(t, fake.Update, program(a)).Resources {
		if r.Protect {
			protected = append(protected, r.Name)
		}
	}
	assert.Equal(t, []string{"base-batch-door", "base-logs", "base-platform"}, protected)
}

// Rule CAP-09 reads the budget from the plan.
func TestThePlatformsGroupCarriesTheBudget(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	assert.Equal(t, "600", plan.Get(t, "base-platform").Input("tags").(map[string]any)[annotations.FloorTag])
	assert.NotContains(t, plan.Get(t, "base-batch-door").Input("tags"), annotations.FloorTag, "it is said once")
}

func TestABaseWithoutABudgetIsRefused(t *testing.T) {
	t.Parallel()
	a := args()
	a.MonthlyFloor = 0
	_, err := fake.Try(fake.Preview, program(a))
	require.ErrorContains(t, err, `base "base": monthly floor: got 0, want at least 1 US dollar a month`)
}

func TestAlertsThatNobodyHearsAreRefused(t *testing.T) {
	t.Parallel()
	a := args()
	a.Alerts = nil
	_, err := fake.Try(fake.Preview, program(a))
	require.ErrorContains(t, err, `base "base": no address for alerts`)
}
