package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
)

// aks tries to make or change a cluster that differs from cluster.
func aks(edit func(*armcontainerservice.ManagedClusterProperties)) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		c := cluster("one")
		edit(c.Properties)
		poller, err := a.aks.NewManagedClustersClient().BeginCreateOrUpdate(ctx, "rg", "aks", c, nil)
		return ended(ctx, poller, err)
	}
}

// pool tries to make or change a pool that differs from gpuPool.
func pool(name string, edit func(*armcontainerservice.ManagedClusterAgentPoolProfileProperties)) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		p := gpuPool(2)
		edit(p.Properties)
		poller, err := a.aks.NewAgentPoolsClient().BeginCreateOrUpdate(ctx, "rg", "aks", name, p, nil)
		return ended(ctx, poller, err)
	}
}

// maintenance tries to make a window that differs from nights.
func maintenance(name string, edit func(*armcontainerservice.MaintenanceWindow)) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		m := nights(4)
		edit(m.Properties.MaintenanceWindow)
		_, err := a.aks.NewMaintenanceConfigurationsClient().CreateOrUpdate(ctx, "rg", "aks", name, m, nil)
		return err
	}
}

type (
	clusterProperties = armcontainerservice.ManagedClusterProperties
	poolProperties    = armcontainerservice.ManagedClusterAgentPoolProfileProperties
)

var clusterMistakes = map[string]mistake{
	"aks: identities without an issuer": {
		send:   aks(func(c *clusterProperties) { c.OidcIssuerProfile.Enabled = new(false) }),
		status: 400, code: "InvalidParameter", target: "oidcIssuerProfile.enabled", says: []string{"got false", "want true"},
	},
	"aks: no local accounts, no Entra": {
		send:   aks(func(c *clusterProperties) { c.DisableLocalAccounts = new(true) }),
		status: 400, code: "InvalidParameter", target: "disableLocalAccounts", says: []string{"got true", "want false, or aadProfile.managed"},
	},
	"aks: policy of another data plane": {
		status: 400, code: "InvalidParameter", target: "networkProfile.networkPolicy", says: []string{`got "cilium"`, "want another engine, or networkDataplane cilium, which this one is part of"},
		send: aks(func(c *clusterProperties) {
			c.NetworkProfile = &armcontainerservice.NetworkProfile{NetworkPlugin: new(armcontainerservice.NetworkPluginAzure), NetworkPolicy: new(armcontainerservice.NetworkPolicyCilium)}
		})},
	"aks: DNS outside the services": {
		status: 400, code: "InvalidParameter", target: "networkProfile.dnsServiceIP", says: []string{"got 10.1.0.10", "want an address inside the service range 10.0.0.0/16"},
		send: aks(func(c *clusterProperties) {
			c.NetworkProfile = &armcontainerservice.NetworkProfile{NetworkPlugin: new(armcontainerservice.NetworkPluginAzure), ServiceCidr: new("10.0.0.0/16"), DNSServiceIP: new("10.1.0.10")}
		})},
	"aks: system pool of spots": {
		status: 400, code: "InvalidParameter", target: "scaleSetPriority", says: []string{`got "Spot"`, "want Regular"},
		send: aks(func(c *clusterProperties) {
			c.AgentPoolProfiles[0].ScaleSetPriority = new(armcontainerservice.ScaleSetPrioritySpot)
		})},
	"aks: no system pool": {
		send:   aks(func(c *clusterProperties) { c.AgentPoolProfiles[0].Mode = new(armcontainerservice.AgentPoolModeUser) }),
		status: 400, code: "InvalidParameter", target: "agentPoolProfiles", says: []string{"got nothing", "want a system pool"},
	},
	"aks: prefix moves": {
		after: []string{clusterLife}, send: aks(func(c *clusterProperties) { c.DNSPrefix = new("other") }),
		status: 400, code: "PropertyChangeNotAllowed", target: "properties.dnsPrefix", says: []string{"got other", "want aks, which was set when it was made"},
	},
	"aks: two versions at once": {
		after: []string{clusterLife}, send: aks(func(c *clusterProperties) { c.KubernetesVersion = new("1.35") }),
		status: 400, code: "OperationNotAllowed", target: "kubernetesVersion", says: []string{"got 1.35, where 1.33.5 runs", "want a version that is not older and at most 1 minor versions newer"},
	},
	"aks: older version": {
		after: []string{clusterLife}, send: aks(func(c *clusterProperties) { c.KubernetesVersion = new("1.32") }),
		status: 400, code: "OperationNotAllowed", target: "orchestratorVersion", says: []string{"got 1.32, where 1.33.5 runs", "want a version that is not older and at most 2 minor versions newer"},
	},
	"aks: pool added in the cluster": {
		status: 400, code: "BadRequest", target: "agentPoolProfiles", says: []string{`got "more", a new agent pool`, "want pools that exist"},
		after: []string{clusterLife}, send: aks(func(c *clusterProperties) {
			c.AgentPoolProfiles = append(c.AgentPoolProfiles, &armcontainerservice.ManagedClusterAgentPoolProfile{Name: new("more"), Mode: new(armcontainerservice.AgentPoolModeUser), VMSize: new("Standard_D4s_v5"), Count: new(int32(1))})
		})},
	"aks: slices of a GPU without": {
		after: []string{clusterLife}, send: pool("gpu", func(p *poolProperties) { p.VMSize = new("Standard_NV36ads_A10_v5") }),
		status: 400, code: "InvalidParameter", target: "vmSize", says: []string{`got "Standard_NV36ads_A10_v5"`, "want a size with A100, H100 or H200 cards, the ones that AKS partitions"},
	},
	"aks: least above most": {
		after: []string{clusterLife}, send: pool("gpu", func(p *poolProperties) { p.MinCount = new(int32(3)) }),
		status: 400, code: "InvalidParameter", target: "minCount", says: []string{"got 3", "want at most maxCount, 2"},
	},
	"aks: taint that is malformed": {
		after: []string{clusterLife}, send: pool("gpu", func(p *poolProperties) { p.NodeTaints = []*string{new("sku=gpu")} }),
		status: 400, code: "InvalidParameter", target: "nodeTaints[0]", says: []string{`got "sku=gpu"`, "want key=value:Effect, as in sku=gpu:NoSchedule"},
	},
	"aks: label of AKS's own": {
		after: []string{clusterLife}, send: pool("gpu", func(p *poolProperties) { p.NodeLabels = map[string]*string{"kubernetes.azure.com/mine": new("yes")} }),
		status: 400, code: "InvalidParameter", target: "nodeLabels[kubernetes.azure.com/mine]", says: []string{`got "yes"`, "want a key that AKS does not keep for itself, as it does kubernetes.azure.com/*,"},
	},
	"aks: long name of a pool": {
		after: []string{clusterLife}, send: pool("gpuslicesofmine", func(*poolProperties) {}),
		status: 400, code: "InvalidResourceName", target: "name", says: []string{`got "gpuslicesofmine"`, "want a match of ^[a-z][a-z0-9]{0,11}$"},
	},
	"aks: another size in place": {
		after: []string{clusterLife, clusterLife + "/agentPools/gpu"}, send: pool("gpu", func(p *poolProperties) { p.VMSize = new("Standard_NC48ads_A100_v4") }),
		status: 400, code: "PropertyChangeNotAllowed", target: "properties.vmSize", says: []string{"got Standard_NC48ads_A100_v4", "want Standard_NC24ads_A100_v4, which was set when it was made"},
	},
	"aks: newer pool": {
		after: []string{clusterLife}, send: pool("gpu", func(p *poolProperties) { p.OrchestratorVersion = new("1.34") }),
		status: 400, code: "NodePoolMcVersionIncompatible", target: "orchestratorVersion", says: []string{`got "1.34.5"`, "want a version that is not newer than the control plane's 1.33.5, and at most 2 minor versions"},
	},
	"aks: last system pool is deleted": {
		status: 409, code: "OperationNotAllowed", target: place + "/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/system", says: []string{"got the last system pool", "want a cluster with at least one"},
		after: []string{clusterLife}, send: func(ctx context.Context, a *azure) error {
			poller, err := a.aks.NewAgentPoolsClient().BeginDelete(ctx, "rg", "aks", "system", nil)
			return ended(ctx, poller, err)
		}},
	"aks: window of another name": {
		after: []string{clusterLife}, send: maintenance("weekends", func(*armcontainerservice.MaintenanceWindow) {}),
		status: 400, code: "InvalidParameter", target: "configName", says: []string{`got "weekends"`, "want one of default, aksManagedAutoUpgradeSchedule, aksManagedNodeOSUpgradeSchedule"},
	},
	"aks: window of three hours": {
		after: []string{clusterLife}, send: maintenance("aksManagedNodeOSUpgradeSchedule", func(w *armcontainerservice.MaintenanceWindow) { w.DurationHours = new(int32(3)) }),
		status: 400, code: "InvalidRequestContent", target: "properties.maintenanceWindow.durationHours", says: []string{"got 3", "want 4..24"},
	},
	"aks: upgrades of every day": {
		after: []string{clusterLife}, send: maintenance("aksManagedAutoUpgradeSchedule", func(*armcontainerservice.MaintenanceWindow) {}),
		status: 400, code: "InvalidParameter", target: "maintenanceWindow.schedule", says: []string{"got daily", "want weekly, absoluteMonthly or relativeMonthly, because only aksManagedNodeOSUpgradeSchedule"},
	},
}
