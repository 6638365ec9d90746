package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"onedoor/sim/core"
)

const clusterLife = "Microsoft.ContainerService/managedClusters/aks"

var clusterLives = []life{
	{
		of: clusterLife, busy: core.OperationNotAllowed, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.aks.NewManagedClustersClient().BeginCreateOrUpdate(ctx, "rg", "aks", cluster(*pick(again, "one", "two")), nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armcontainerservice.ManagedCluster) *string { return m.Tags["version"] }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.aks.NewManagedClustersClient().BeginDelete(ctx, "rg", "aks", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: clusterLife + "/agentPools/gpu", needs: []string{clusterLife}, busy: core.OperationNotAllowed, made: int32(2), changed: int32(4),
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.aks.NewAgentPoolsClient().BeginCreateOrUpdate(ctx, "rg", "aks", "gpu", gpuPool(*pick[int32](again, 2, 4)), nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armcontainerservice.AgentPool) *int32 { return m.Properties.MaxCount }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.aks.NewAgentPoolsClient().BeginDelete(ctx, "rg", "aks", "gpu", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: clusterLife + "/maintenanceConfigurations/aksManagedNodeOSUpgradeSchedule", needs: []string{clusterLife}, busy: core.AnotherOperationInProgress, made: int32(4), changed: int32(8),
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.aks.NewMaintenanceConfigurationsClient().CreateOrUpdate(ctx, "rg", "aks", "aksManagedNodeOSUpgradeSchedule", nights(*pick[int32](again, 4, 8)), nil)
			return err
		},
		shows: shown(func(m armcontainerservice.MaintenanceConfiguration) *int32 {
			return m.Properties.MaintenanceWindow.DurationHours
		}),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.aks.NewMaintenanceConfigurationsClient().Delete(ctx, "rg", "aks", "aksManagedNodeOSUpgradeSchedule", nil)
			return err
		},
	},
}

// cluster is a small one that needs nothing but a group.
func cluster(version string) armcontainerservice.ManagedCluster {
	return armcontainerservice.ManagedCluster{
		Location: new("swedencentral"), Tags: map[string]*string{"version": &version},
		Identity: &armcontainerservice.ManagedClusterIdentity{Type: new(armcontainerservice.ResourceIdentityTypeSystemAssigned)},
		Properties: &armcontainerservice.ManagedClusterProperties{
			DNSPrefix: new("aks"), KubernetesVersion: new("1.33"),
			OidcIssuerProfile: &armcontainerservice.ManagedClusterOIDCIssuerProfile{Enabled: new(true)},
			SecurityProfile:   &armcontainerservice.ManagedClusterSecurityProfile{WorkloadIdentity: &armcontainerservice.ManagedClusterSecurityProfileWorkloadIdentity{Enabled: new(true)}},
			AgentPoolProfiles: []*armcontainerservice.ManagedClusterAgentPoolProfile{{
				Name: new("system"), Mode: new(armcontainerservice.AgentPoolModeSystem), VMSize: new("Standard_D4s_v5"), Count: new(int32(1)),
			}},
		},
	}
}

// gpuPool is a pool of MIG slices that scales from zero.
func gpuPool(most int32) armcontainerservice.AgentPool {
	return armcontainerservice.AgentPool{Properties: &armcontainerservice.ManagedClusterAgentPoolProfileProperties{
		Mode: new(armcontainerservice.AgentPoolModeUser), VMSize: new("Standard_NC24ads_A100_v4"), GpuInstanceProfile: new(armcontainerservice.GPUInstanceProfileMIG1G),
		OSDiskType: new(armcontainerservice.OSDiskTypeManaged), EnableAutoScaling: new(true), MinCount: new(int32(0)), MaxCount: &most,
	}}
}

// nights is a window of some hours each night.
func nights(hours int32) armcontainerservice.MaintenanceConfiguration {
	return armcontainerservice.MaintenanceConfiguration{Properties: &armcontainerservice.MaintenanceConfigurationProperties{MaintenanceWindow: &armcontainerservice.MaintenanceWindow{
		DurationHours: &hours, StartTime: new("01:00"), UTCOffset: new("+00:00"), Schedule: &armcontainerservice.Schedule{Daily: &armcontainerservice.DailySchedule{IntervalDays: new(int32(1))}},
	}}}
}
