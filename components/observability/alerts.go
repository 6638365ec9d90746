package observability

import (
	"errors"
	"fmt"
	"strconv"

	alertsmanagement "github.com/pulumi/pulumi-azure-native-sdk/alertsmanagement/v2/v20230301"
	metrics "github.com/pulumi/pulumi-azure-native-sdk/insights/v2/v20180301"
	activity "github.com/pulumi/pulumi-azure-native-sdk/insights/v2/v20201001"
	logs "github.com/pulumi/pulumi-azure-native-sdk/insights/v2/v20231201"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/alerts"
	"onedoor/internal/az"
	"onedoor/internal/az/monitor"
)

// alert declares an alert, after the functions that its query may call. Those on
// the cluster's metrics are declared by group.
func (b *builder) alert(a alerts.Alert, functions []pulumi.Resource) error {
	switch signal := a.Signal.(type) {
	case alerts.Metric:
		return b.metric(a, signal)
	case alerts.Query:
		return b.query(a, signal, functions)
	case alerts.Operation:
		return b.operation(a, signal)
	case alerts.Rule:
		return nil
	default:
		return errors.New("a signal that nothing declares")
	}
}

// description is what a message shows, with the way to the page.
func (b *builder) description(a alerts.Alert) pulumi.String {
	return pulumi.String(fmt.Sprintf("%s: %s. %s", a.Title, a.Why, a.Runbook(b.args.Runbooks)))
}

// properties go with every message, for whoever sorts them by machine.
func (b *builder) properties(a alerts.Alert) pulumi.StringMap {
	return pulumi.StringMap{"alert": pulumi.String(a.ID), "owner": pulumi.String(string(a.Owner)), "runbook": pulumi.String(a.Runbook(b.args.Runbooks))}
}

// tags show in lists of alerts who acts.
func (b *builder) tags(a alerts.Alert) pulumi.StringMap {
	tags := b.args.Scope.Tags(component)
	tags["alert-owner"] = pulumi.String(string(a.Owner))
	return tags
}

// metric declares the alert once for each resource of its kind: one alert over
// several resources takes those of one region alone.
// https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-metric-multiple-time-series-single-rule
func (b *builder) metric(a alerts.Alert, m alerts.Metric) error {
	of := map[string]pulumi.StringInput{"": b.args.Bus.ID}
	if m.Of == alerts.Accounts {
		of = map[string]pulumi.StringInput{}
		for _, account := range b.args.gatewayAccounts() {
			of[account.Name] = account.ID
		}
	}
	for _, name := range sortedKeys(of) {
		criterion := metrics.MetricCriteriaArgs{
			CriterionType:   pulumi.String("StaticThresholdCriterion"),
			Name:            pulumi.String(a.ID),
			MetricNamespace: pulumi.String(string(m.Of)),
			MetricName:      pulumi.String(m.Name),
			TimeAggregation: pulumi.String(string(m.Total)),
			Operator:        pulumi.String("GreaterThan"),
			Threshold:       pulumi.Float64(m.Above),
			Dimensions:      dimensions(m),
		}
		_, err := metrics.NewMetricAlert(b.ctx, b.logical(a, name), &metrics.MetricAlertArgs{
			RuleName:            pulumi.String(b.plain(a, name)),
			ResourceGroupName:   b.args.Group.Name,
			Location:            pulumi.String("global"),
			Description:         b.description(a),
			Severity:            pulumi.Int(int(a.Severity)),
			Enabled:             pulumi.Bool(true),
			AutoMitigate:        pulumi.Bool(true),
			Scopes:              pulumi.StringArray{of[name]},
			EvaluationFrequency: pulumi.String(alerts.Duration(m.Every)),
			WindowSize:          pulumi.String(alerts.Duration(m.Window)),
			Criteria: metrics.MetricAlertMultipleResourceMultipleMetricCriteriaArgs{
				OdataType: pulumi.String("Microsoft.Azure.Monitor.MultipleResourceMultipleMetricCriteria"),
				AllOf:     pulumi.Array{criterion},
			},
			Actions: metrics.MetricAlertActionArray{metrics.MetricAlertActionArgs{ActionGroupId: b.args.Logs.ActionGroup.ID, WebHookProperties: b.properties(a)}},
			Tags:    b.tags(a),
		}, b.in)
		if err != nil {
			return err
		}
	}
	return nil
}

// dimensions are the dimensions of a criterion: one that chooses, one that splits.
func dimensions(m alerts.Metric) metrics.MetricDimensionArray {
	list := metrics.MetricDimensionArray{}
	add := func(name, value string) {
		if name != "" {
			list = append(list, metrics.MetricDimensionArgs{Name: pulumi.String(name), Operator: pulumi.String("Include"), Values: pulumi.ToStringArray([]string{value})})
		}
	}
	add(m.Dimension, m.Is)
	add(m.Split, "*")
	return list
}

// query declares an alert on logs. It lives where the stack does; the workspace
// must be in the same region. Azure checks a query against tables that come into
// being with their first row, so that check is left to this project's tests.
func (b *builder) query(a alerts.Alert, q alerts.Query, functions []pulumi.Resource) error {
	split := logs.DimensionArray{}
	for _, column := range q.Split {
		split = append(split, logs.DimensionArgs{Name: pulumi.String(column), Operator: pulumi.String("Include"), Values: pulumi.ToStringArray([]string{"*"})})
	}
	_, err := logs.NewScheduledQueryRule(b.ctx, b.logical(a, ""), &logs.ScheduledQueryRuleArgs{
		RuleName:            pulumi.String(b.plain(a, "")),
		ResourceGroupName:   b.args.Group.Name,
		Location:            pulumi.String(b.args.Scope.Location),
		Kind:                pulumi.String("LogAlert"),
		DisplayName:         pulumi.String(a.Title),
		Description:         b.description(a),
		Severity:            pulumi.Float64(float64(a.Severity)),
		Enabled:             pulumi.Bool(true),
		AutoMitigate:        pulumi.Bool(true),
		SkipQueryValidation: pulumi.Bool(true),
		Scopes:              pulumi.StringArray{b.args.Logs.Workspace.ID},
		EvaluationFrequency: pulumi.String(alerts.Duration(q.Every)),
		WindowSize:          pulumi.String(alerts.Duration(q.Window)),
		Criteria: logs.ScheduledQueryRuleCriteriaArgs{AllOf: logs.ConditionArray{logs.ConditionArgs{
			Query:           pulumi.String(alerts.Named(q.KQL, b.args.Scope.Stack)),
			TimeAggregation: pulumi.String("Count"),
			Operator:        pulumi.String("GreaterThan"),
			Threshold:       pulumi.Float64(0),
			Dimensions:      split,
			FailingPeriods:  logs.ConditionFailingPeriodsArgs{MinFailingPeriodsToAlert: pulumi.Float64(1), NumberOfEvaluationPeriods: pulumi.Float64(1)},
		}}},
		Actions: logs.ActionsArgs{ActionGroups: pulumi.StringArray{b.args.Logs.ActionGroup.ID}, CustomProperties: b.properties(a)},
		Tags:    b.tags(a),
	}, b.in, pulumi.DependsOn(functions)) // no value flows from a function to who calls it by name
	return err
}

// operation declares an alert on changes.
func (b *builder) operation(a alerts.Alert, o alerts.Operation) error {
	scopes := pulumi.StringArray{}
	if o.In == alerts.Subscription {
		scopes = append(scopes, pulumi.String("/subscriptions/"+b.args.Scope.SubscriptionID))
	} else {
		for _, group := range b.args.Groups {
			scopes = append(scopes, group.ID)
		}
	}
	leaves := activity.AlertRuleLeafConditionArray{}
	for _, operation := range o.Operations {
		leaves = append(leaves, activity.AlertRuleLeafConditionArgs{Field: pulumi.String("operationName"), Equals: pulumi.String(operation)})
	}
	_, err := activity.NewActivityLogAlert(b.ctx, b.logical(a, ""), &activity.ActivityLogAlertArgs{
		ActivityLogAlertName: pulumi.String(b.plain(a, "")),
		ResourceGroupName:    b.args.Group.Name,
		Location:             pulumi.String("global"),
		Description:          b.description(a),
		Enabled:              pulumi.Bool(true),
		Scopes:               scopes,
		Condition: activity.AlertRuleAllOfConditionArgs{AllOf: activity.AlertRuleAnyOfOrLeafConditionArray{
			activity.AlertRuleAnyOfOrLeafConditionArgs{Field: pulumi.String("category"), Equals: pulumi.String(o.Category)},
			activity.AlertRuleAnyOfOrLeafConditionArgs{AnyOf: leaves},
		}},
		Actions: activity.ActionListArgs{ActionGroups: activity.ActionGroupArray{activity.ActionGroupArgs{ActionGroupId: b.args.Logs.ActionGroup.ID, WebhookProperties: b.properties(a)}}},
		Tags:    b.tags(a),
	}, b.in)
	return err
}

// rules declares the alerts on the cluster's metrics, in the table's order, and what
// is computed from these metrics.
func (b *builder) rules() error {
	for _, group := range []alerts.Group{alerts.Work, alerts.Serving} {
		rules := alertsmanagement.PrometheusRuleArray{}
		for _, a := range alerts.All() {
			if rule, ok := a.Signal.(alerts.Rule); ok && rule.Group == group {
				rules = append(rules, b.rule(a, rule))
			}
		}
		if err := b.group(string(group), "alerts on "+string(group), rules); err != nil {
			return err
		}
	}
	records, part := alertsmanagement.PrometheusRuleArray{}, 1
	list := alerts.Records(b.args.Served)
	for i, record := range list {
		records = append(records, alertsmanagement.PrometheusRuleArgs{Record: pulumi.String(record.Name), Expression: pulumi.String(record.Expr), Enabled: pulumi.Bool(true)})
		if len(records) == monitor.MaxRules || i == len(list)-1 {
			if err := b.group("usage-"+strconv.Itoa(part), "what served models give for their price", records); err != nil {
				return err
			}
			records, part = nil, part+1
		}
	}
	return nil
}

// rule is an alert as a rule of Prometheus.
func (b *builder) rule(a alerts.Alert, rule alerts.Rule) alertsmanagement.PrometheusRuleArgs {
	return alertsmanagement.PrometheusRuleArgs{
		Alert:      pulumi.String(a.ID),
		Expression: pulumi.String(rule.Expr),
		For:        pulumi.String(alerts.Duration(rule.For)),
		Severity:   pulumi.Int(int(a.Severity)),
		Enabled:    pulumi.Bool(true),
		Labels:     pulumi.StringMap{"owner": pulumi.String(string(a.Owner))},
		Annotations: pulumi.StringMap{
			"title": pulumi.String(a.Title), "description": b.description(a), "runbook_url": pulumi.String(a.Runbook(b.args.Runbooks)),
		},
		ResolveConfiguration: alertsmanagement.PrometheusRuleResolveConfigurationArgs{AutoResolved: pulumi.Bool(true), TimeToResolve: pulumi.String("PT10M")},
		Actions:              alertsmanagement.PrometheusRuleGroupActionArray{alertsmanagement.PrometheusRuleGroupActionArgs{ActionGroupId: b.args.Logs.ActionGroup.ID, ActionProperties: b.properties(a)}},
	}
}

// group declares rules that are evaluated together, once a minute.
func (b *builder) group(name, why string, rules alertsmanagement.PrometheusRuleArray) error {
	_, err := alertsmanagement.NewPrometheusRuleGroup(b.ctx, b.name+"-"+name, &alertsmanagement.PrometheusRuleGroupArgs{
		RuleGroupName:     pulumi.String(b.args.Scope.Name(az.RuleGroup, name)),
		ResourceGroupName: b.args.Group.Name,
		Location:          pulumi.String(b.args.Scope.Location),
		ClusterName:       b.args.Cluster.ID.ApplyT(clusterName).(pulumi.StringOutput),
		Description:       pulumi.String(why),
		Enabled:           pulumi.Bool(true),
		Interval:          pulumi.String("PT1M"),
		Scopes:            pulumi.StringArray{b.Metrics.ID, b.args.Cluster.ID},
		Rules:             rules,
		Tags:              b.args.Scope.Tags(component),
	}, b.in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func clusterName(id string) (string, error) {
	parsed, err := az.ParseID(id)
	if err != nil {
		return "", err
	}
	return parsed.Name(), nil
}

// logical is the logical name of an alert's resource; of is the short name of the
// one it is about, where there are several.
func (b *builder) logical(a alerts.Alert, of string) string {
	if of == "" {
		return b.name + "-" + a.ID
	}
	return b.name + "-" + a.ID + "-" + of
}

// plain is the Azure name of an alert's resource.
func (b *builder) plain(a alerts.Alert, of string) string {
	if of == "" {
		return b.args.Scope.Name(az.Alert, a.ID)
	}
	return b.args.Scope.Name(az.Alert, a.ID, of)
}
