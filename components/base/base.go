// Package base owns what everything else stands in: the resource groups, the
// logs and the action group that alerts notify.
package base

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	alertsmanagement "github.com/pulumi/pulumi-azure-native-sdk/alertsmanagement/v2/v20210401"
	components "github.com/pulumi/pulumi-azure-native-sdk/insights/v2/v20200202"
	actions "github.com/pulumi/pulumi-azure-native-sdk/insights/v2/v20230101"
	operationalinsights "github.com/pulumi/pulumi-azure-native-sdk/operationalinsights/v2/v20230901"
	resources "github.com/pulumi/pulumi-azure-native-sdk/resources/v2/v20240301"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/diagnostics"
	"onedoor/internal/live"
	"onedoor/internal/policypack/annotations"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:base:Base"

// component is the value of the component tag.
const component = "base"

// Args are the inputs of New.
type Args struct {
	Scope         az.Scope
	WorkspaceID   string   // ARM id of an existing Log Analytics workspace; "" makes one
	RetentionDays int      // of the workspace made here, 30 to 730
	DailyQuotaGB  float64  // of the workspace made here; -1 for no cap
	Alerts        []string // e-mail addresses that every alert reaches, at least one
	MonthlyFloor  int      // what the stack may cost while nobody uses it, US dollars a month, at least 1
}

func (a Args) check() error {
	var found []error
	if len(a.Alerts) == 0 {
		found = append(found, errors.New("no address for alerts"))
	}
	if a.MonthlyFloor < 1 {
		found = append(found, fmt.Errorf("monthly floor: got %d, want at least 1 US dollar a month", a.MonthlyFloor))
	}
	return errors.Join(found...)
}

// Base holds the foundation. Fields below ResourceState are its outputs.
type Base struct {
	pulumi.ResourceState
	Platform  ref.Group // everything but the batch door
	BatchDoor ref.Group // the batch account and its endpoint, alone, so that policies can be assigned to it
	Logs      ref.Logs
	Insights  pulumi.StringOutput // connection string of the application's logs, a secret; unknown before it exists
}

// New declares the foundation. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Base, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("base %q: %w", name, err)
	}
	b := &Base{}
	if err := ctx.RegisterComponentResource(Type, name, b, opts...); err != nil {
		return nil, err
	}
	var err error
	budget := pulumi.StringMap{annotations.FloorTag: pulumi.String(strconv.Itoa(args.MonthlyFloor))}
	if b.Platform, err = b.group(ctx, name, "platform", args.Scope, budget); err != nil {
		return nil, err
	}
	if b.BatchDoor, err = b.group(ctx, name, "batch-door", args.Scope, nil); err != nil {
		return nil, err
	}
	rule, err := b.logs(ctx, name, args)
	if err != nil {
		return nil, err
	}
	// Nothing else starts before the rule stands. Azure adds one of that name by
	// itself some minutes after the component, and the provider refuses to create
	// what exists already; behind everything else the rule would come too late.
	b.Platform.Name = ref.After(b.Platform.Name, rule)
	b.BatchDoor.Name = ref.After(b.BatchDoor.Name, rule)
	return b, ctx.RegisterResourceOutputs(b, pulumi.Map{
		"platformGroup":  b.Platform.Name,
		"batchDoorGroup": b.BatchDoor.Name,
		"workspaceId":    b.Logs.Workspace.ID,
	})
}

// group declares one resource group, with more tags than every resource has. Deleting
// a group deletes all it holds, so it is protected as the stateful resources in it are.
func (b *Base) group(ctx *pulumi.Context, name, role string, scope az.Scope, more pulumi.StringMap) (ref.Group, error) {
	plain := scope.Name(az.ResourceGroup, role)
	tags := scope.Tags(component)
	maps.Copy(tags, more)
	group, err := resources.NewResourceGroup(ctx, name+"-"+role, &resources.ResourceGroupArgs{
		ResourceGroupName: pulumi.String(plain),
		Location:          pulumi.String(scope.Location),
		Tags:              tags,
	}, pulumi.Parent(b), pulumi.Protect(scope.Protect()))
	if err != nil {
		return ref.Group{}, fmt.Errorf("base %q: group %s: %w", name, role, err)
	}
	return ref.Group{Resource: ref.Ready(scope.GroupID(plain), group), PlainName: plain, Name: ref.After(pulumi.String(plain), group)}, nil
}

// logs declares the workspace, Application Insights over it and the action
// group, and last the rule that Azure would otherwise add.
func (b *Base) logs(ctx *pulumi.Context, name string, args Args) (pulumi.Resource, error) {
	scope, in := args.Scope, pulumi.Parent(b)
	workspace, err := b.workspace(ctx, name, args)
	if err != nil {
		return nil, err
	}

	actionGroupName := scope.Name(az.ActionGroup)
	addresses := slices.Sorted(slices.Values(args.Alerts))
	receivers := actions.EmailReceiverArray{}
	for _, address := range slices.Compact(addresses) {
		receivers = append(receivers, actions.EmailReceiverArgs{
			Name: pulumi.String(address), EmailAddress: pulumi.String(address), UseCommonAlertSchema: pulumi.Bool(true),
		})
	}
	actionGroup, err := actions.NewActionGroup(ctx, name+"-alerts", &actions.ActionGroupArgs{
		ActionGroupName:   pulumi.String(actionGroupName),
		ResourceGroupName: b.Platform.Name,
		Location:          pulumi.String("Global"),
		GroupShortName:    pulumi.String(scope.Project), // at most 12 characters; heads each message
		Enabled:           pulumi.Bool(true),
		EmailReceivers:    receivers,
		Tags:              scope.Tags(component),
	}, in)
	if err != nil {
		return nil, fmt.Errorf("base %q: action group: %w", name, err)
	}

	insightsName := scope.Name(az.ApplicationInsights)
	insights, err := components.NewComponent(ctx, name+"-insights", &components.ComponentArgs{
		ResourceName:        pulumi.String(insightsName),
		ResourceGroupName:   b.Platform.Name,
		Location:            pulumi.String(scope.Location),
		Kind:                pulumi.String("web"),
		ApplicationType:     pulumi.String("web"),
		DisableLocalAuth:    pulumi.Bool(true), // Entra tokens only
		WorkspaceResourceId: workspace.ID,
		Tags:                scope.Tags(component),
	}, in, pulumi.AdditionalSecretOutputs([]string{"connectionString", "instrumentationKey"}))
	if err != nil {
		return nil, fmt.Errorf("base %q: application insights: %w", name, err)
	}
	answer := live.Ask(ctx, "azure-native:insights/v20200202:getComponent", map[string]any{
		"resourceGroupName": b.Platform.PlainName, "resourceName": insightsName,
	}, insights, b)
	b.Insights = pulumi.ToSecret(answer.Text("connectionString")).(pulumi.StringOutput)
	b.Logs = ref.Logs{
		Workspace:   workspace,
		Component:   ref.Ready(scope.ResourceID(b.Platform.PlainName, "Microsoft.Insights/components", insightsName), insights),
		ActionGroup: ref.Ready(scope.ResourceID(b.Platform.PlainName, "Microsoft.Insights/actionGroups", actionGroupName), actionGroup),
	}
	return b.anomalies(ctx, name, scope, insightsName)
}

// workspace is the Log Analytics workspace, made here unless one exists.
func (b *Base) workspace(ctx *pulumi.Context, name string, args Args) (ref.Resource, error) {
	if args.WorkspaceID != "" {
		return ref.Ready(args.WorkspaceID), nil
	}
	scope := args.Scope
	plain := scope.Name(az.LogAnalytics)
	workspace, err := operationalinsights.NewWorkspace(ctx, name+"-logs", &operationalinsights.WorkspaceArgs{
		WorkspaceName:     pulumi.String(plain),
		ResourceGroupName: b.Platform.Name,
		Location:          pulumi.String(scope.Location),
		Sku:               operationalinsights.WorkspaceSkuArgs{Name: pulumi.String("PerGB2018")},
		RetentionInDays:   pulumi.Int(args.RetentionDays),
		WorkspaceCapping:  operationalinsights.WorkspaceCappingArgs{DailyQuotaGb: pulumi.Float64(args.DailyQuotaGB)},
		Features:          operationalinsights.WorkspaceFeaturesArgs{DisableLocalAuth: pulumi.Bool(true)}, // Entra tokens only
		Tags:              scope.Tags(component),
	}, pulumi.Parent(b), pulumi.Protect(scope.Protect()))
	if err != nil {
		return ref.Resource{}, fmt.Errorf("base %q: workspace: %w", name, err)
	}
	made := ref.Ready(scope.ResourceID(b.Platform.PlainName, "Microsoft.OperationalInsights/workspaces", plain), workspace)
	// Who asks the logs is logged, too.
	asked := diagnostics.Setting{Categories: []string{"Audit"}}
	return made, diagnostics.Send(ctx, name+"-workspace", made.ID, ref.Logs{Workspace: made}, asked, pulumi.Parent(b))
}

// anomalies owns the rule that Azure would otherwise add to Application
// Insights by itself, under this very name, together with an action group of
// its own: a resource that no program knows keeps its group from being deleted.
// https://github.com/hashicorp/terraform-provider-azurerm/issues/18026
func (b *Base) anomalies(ctx *pulumi.Context, name string, scope az.Scope, insightsName string) (pulumi.Resource, error) {
	rule, err := alertsmanagement.NewSmartDetectorAlertRule(ctx, name+"-anomalies", &alertsmanagement.SmartDetectorAlertRuleArgs{
		AlertRuleName:     pulumi.String("Failure Anomalies - " + insightsName),
		ResourceGroupName: b.Platform.Name,
		Location:          pulumi.String("global"),
		Description:       pulumi.String("an unusual rise in the rate of failed requests or dependency calls"),
		State:             pulumi.String("Enabled"),
		Severity:          pulumi.String("Sev3"),
		Frequency:         pulumi.String("PT1M"),
		Detector:          alertsmanagement.DetectorArgs{Id: pulumi.String("FailureAnomaliesDetector")},
		Scope:             pulumi.StringArray{b.Logs.Component.ID},
		ActionGroups:      alertsmanagement.ActionGroupsInformationArgs{GroupIds: pulumi.StringArray{b.Logs.ActionGroup.ID}},
		Tags:              scope.Tags(component),
	}, pulumi.Parent(b))
	if err != nil {
		return nil, fmt.Errorf("base %q: anomalies: %w", name, err)
	}
	return rule, nil
}
