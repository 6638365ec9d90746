// Package diagnostics sends what a resource logs about itself to the workspace.
// Without it nobody can prove who called.
package diagnostics

import (
	"fmt"

	insights "github.com/pulumi/pulumi-azure-native-sdk/insights/v2/v20210501preview"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/ref"
)

// Setting says what to send.
type Setting struct {
	// Categories are Azure's names of logs; none sends all that the type has.
	// https://learn.microsoft.com/azure/azure-monitor/reference/logs-index
	Categories []string
	Metrics    bool // send the metrics too, which cost as logs do
	Dedicated  bool // into tables of the type's own, for a type that has the choice
}

// setting is the Azure name of every setting here: a resource has one.
const setting = "workspace"

// Send declares the setting of a resource. name is the logical name of what it
// belongs to.
func Send(ctx *pulumi.Context, name string, of pulumi.StringInput, to ref.Logs, s Setting, in ...pulumi.ResourceOption) error {
	logs := insights.LogSettingsArray{}
	for _, category := range s.Categories {
		logs = append(logs, insights.LogSettingsArgs{Category: pulumi.String(category), Enabled: pulumi.Bool(true)})
	}
	if len(s.Categories) == 0 {
		logs = append(logs, insights.LogSettingsArgs{CategoryGroup: pulumi.String("allLogs"), Enabled: pulumi.Bool(true)})
	}
	args := &insights.DiagnosticSettingArgs{
		Name:        pulumi.String(setting),
		ResourceUri: of,
		WorkspaceId: to.Workspace.ID,
		Logs:        logs,
	}
	if s.Metrics {
		args.Metrics = insights.MetricSettingsArray{insights.MetricSettingsArgs{Category: pulumi.String("AllMetrics"), Enabled: pulumi.Bool(true)}}
	}
	if s.Dedicated {
		args.LogAnalyticsDestinationType = pulumi.String("Dedicated")
	}
	if _, err := insights.NewDiagnosticSetting(ctx, name+"-logs", args, in...); err != nil {
		return fmt.Errorf("%s: diagnostic setting: %w", name, err)
	}
	return nil
}
