package cluster

import (
	"fmt"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20250101"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Maintenance is when Azure may upgrade the cluster and its nodes by itself, once
// a week.
// https://learn.microsoft.com/azure/aks/planned-maintenance
type Maintenance struct {
	Day       string // as in "Sunday"
	Start     string // as in "02:00"
	UTCOffset string // of Start, as in "+00:00"
	Hours     int    // 4 to 24: how long it may go on
}

// The names that AKS knows: one window for Kubernetes' patches, one for the images
// of the nodes.
var maintenanceWindows = []string{"aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule"}

// declare declares the windows one after another, and returns the last; they wait
// for after.
func (m Maintenance) declare(ctx *pulumi.Context, name string, a Args, cluster string, parent, after pulumi.Resource, in pulumi.ResourceOption) (pulumi.Resource, error) {
	for _, window := range maintenanceWindows {
		made, err := containerservice.NewMaintenanceConfiguration(ctx, name+"-"+window, &containerservice.MaintenanceConfigurationArgs{
			ConfigName:        pulumi.String(window),
			ResourceName:      pulumi.String(cluster),
			ResourceGroupName: a.Group.Name,
			MaintenanceWindow: containerservice.MaintenanceWindowArgs{
				DurationHours: pulumi.Int(m.Hours),
				StartTime:     pulumi.String(m.Start),
				UtcOffset:     pulumi.String(m.UTCOffset),
				Schedule: containerservice.ScheduleArgs{
					Weekly: containerservice.WeeklyScheduleArgs{DayOfWeek: pulumi.String(m.Day), IntervalWeeks: pulumi.Int(1)},
				},
			},
		}, in, pulumi.DependsOn([]pulumi.Resource{after}), pulumi.DeletedWith(parent))
		if err != nil {
			return nil, fmt.Errorf("maintenance window %s: %w", window, err)
		}
		after = made
	}
	return after, nil
}
