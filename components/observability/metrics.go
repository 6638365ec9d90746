package observability

import (
	"fmt"
	"maps"
	"slices"

	insights "github.com/pulumi/pulumi-azure-native-sdk/insights/v2/v20230311"
	monitor "github.com/pulumi/pulumi-azure-native-sdk/monitor/v2/v20230403"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/ref"
)

// prometheusStream is the one stream of Prometheus metrics.
// https://learn.microsoft.com/azure/azure-monitor/essentials/data-collection-rule-structure
const prometheusStream = "Microsoft-PrometheusMetrics"

// collect declares the way of the cluster's metrics: the cluster is told to send
// them by a rule, through an endpoint, into a workspace.
// https://learn.microsoft.com/azure/azure-monitor/containers/kubernetes-monitoring-enable
func (b *builder) collect() error {
	scope, group := b.args.Scope, b.args.Group
	plain := scope.Name(az.MetricsWorkspace)
	workspace, err := monitor.NewAzureMonitorWorkspace(b.ctx, b.name+"-metrics", &monitor.AzureMonitorWorkspaceArgs{
		AzureMonitorWorkspaceName: pulumi.String(plain),
		ResourceGroupName:         group.Name,
		Location:                  pulumi.String(scope.Location),
		Tags:                      scope.Tags(component),
	}, b.in)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	b.Metrics = ref.Ready(scope.ResourceID(group.PlainName, "Microsoft.Monitor/accounts", plain), workspace)

	plain = scope.Name(az.DataCollection)
	endpoint, err := insights.NewDataCollectionEndpoint(b.ctx, b.name+"-endpoint", &insights.DataCollectionEndpointArgs{
		DataCollectionEndpointName: pulumi.String(plain),
		ResourceGroupName:          group.Name,
		Location:                   pulumi.String(scope.Location),
		Kind:                       pulumi.String("Linux"),
		Tags:                       scope.Tags(component),
	}, b.in)
	if err != nil {
		return fmt.Errorf("endpoint: %w", err)
	}
	const destination = "metrics"
	rule, err := insights.NewDataCollectionRule(b.ctx, b.name+"-collection", &insights.DataCollectionRuleArgs{
		DataCollectionRuleName:   pulumi.String(plain),
		ResourceGroupName:        group.Name,
		Location:                 pulumi.String(scope.Location),
		Kind:                     pulumi.String("Linux"),
		DataCollectionEndpointId: ref.Ready(scope.ResourceID(group.PlainName, "Microsoft.Insights/dataCollectionEndpoints", plain), endpoint).ID,
		DataSources: insights.DataCollectionRuleDataSourcesArgs{PrometheusForwarder: insights.PrometheusForwarderDataSourceArray{
			insights.PrometheusForwarderDataSourceArgs{Name: pulumi.String("prometheus"), Streams: pulumi.ToStringArray([]string{prometheusStream})},
		}},
		Destinations: insights.DataCollectionRuleDestinationsArgs{MonitoringAccounts: insights.MonitoringAccountDestinationArray{
			insights.MonitoringAccountDestinationArgs{Name: pulumi.String(destination), AccountResourceId: b.Metrics.ID},
		}},
		DataFlows: insights.DataFlowArray{insights.DataFlowArgs{
			Streams: pulumi.ToStringArray([]string{prometheusStream}), Destinations: pulumi.ToStringArray([]string{destination}),
		}},
		Tags: scope.Tags(component),
	}, b.in)
	if err != nil {
		return fmt.Errorf("rule: %w", err)
	}
	if _, err := insights.NewDataCollectionRuleAssociation(b.ctx, b.name+"-association", &insights.DataCollectionRuleAssociationArgs{
		AssociationName:      pulumi.String("prometheus"),
		ResourceUri:          b.args.Cluster.ID,
		DataCollectionRuleId: ref.Ready(scope.ResourceID(group.PlainName, "Microsoft.Insights/dataCollectionRules", plain), rule).ID,
		Description:          pulumi.String("Metrics of the cluster are collected as long as this is there."),
	}, b.in); err != nil {
		return fmt.Errorf("association: %w", err)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
