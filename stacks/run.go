package stacks

import (
	slash "path"

	azurenative "github.com/pulumi/pulumi-azure-native-sdk/v2"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az/guard"
	"onedoor/internal/az/netplan"
	"onedoor/internal/images"
	"onedoor/internal/pause"
	"onedoor/internal/retry"
	armpatch "onedoor/plugins/armpatch/sdk"
)

// Run composes one stack: each component needs only what stands above it.
func Run(ctx *pulumi.Context) error { return Program(pause.For)(ctx) }

// Program is Run with another way to wait for what Azure refuses for a while.
func Program(sleep retry.Sleep) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error { return compose(ctx, sleep) }
}

func compose(ctx *pulumi.Context, sleep retry.Sleep) error {
	cfg, err := Load(ctx)
	if err != nil {
		return err
	}
	if err := retry.Everywhere(ctx, sleep); err != nil {
		return err
	}
	// One provider with one pinned version, inherited by every child. The stack
	// files disable default providers, so a resource that lost its parent fails
	// by name instead of going to whatever subscription the login has.
	azure, err := azurenative.NewProvider(ctx, "azure", &azurenative.ProviderArgs{
		SubscriptionId: pulumi.String(cfg.Base.SubscriptionID),
	})
	if err != nil {
		return err
	}
	patcher, err := armpatch.NewProvider(ctx, "patches", &armpatch.ProviderArgs{})
	if err != nil {
		return err
	}
	p, err := newPlatform(ctx, cfg, pulumi.Provider(azure), pulumi.Provider(patcher))
	if err != nil {
		return err
	}
	if cfg.Cluster.InCluster == Apply {
		inCluster, err := kubernetes.NewProvider(ctx, "kubernetes", &kubernetes.ProviderArgs{
			Kubeconfig: p.cluster.Kubeconfig,
			// A plain name. An output would be unknown whenever the cluster changes, and
			// every object in it would be planned anew.
			ClusterIdentifier: pulumi.String(p.cluster.Name),
		})
		if err != nil {
			return err
		}
		if err := newWorkloads(ctx, cfg, p, pulumi.Provider(azure), pulumi.Provider(inCluster)); err != nil {
			return err
		}
	}
	seen, err := newObservability(ctx, cfg, p, pulumi.Provider(azure))
	if err != nil {
		return err
	}
	if len(seen.Functions) > 0 { // the workspace is somebody else's
		ctx.Export("functions", pulumi.ToStringMapOutput(seen.Functions))
	}
	if !cfg.Policy.Assign { // somebody else assigns them
		policies, err := guard.JSON(cfg.Scope(), guard.Groups{Platform: p.base.Platform.Plain, BatchDoor: p.base.BatchDoor.Plain}, cfg.Policy.Guard.BatchGroups)
		if err != nil {
			return err
		}
		ctx.Export("policies", pulumi.String(policies))
	}
	ctx.Export("gatewayUrl", p.gateway.URL)
	ctx.Export("batchUrl", pulumi.String(cfg.doorURL(netplan.BatchDoor)))
	ctx.Export("vaults", pulumi.Map{
		"gateway": pulumi.String(slash.Base(p.vault.Gateway.Plain)), "controlPlane": pulumi.String(slash.Base(p.vault.ControlPlane.Plain)),
	})
	ctx.Export("platformGroup", p.base.Platform.Name)
	ctx.Export("batchDoorGroup", p.base.BatchDoor.Name)
	ctx.Export("workspaceId", p.base.Logs.Workspace.ID)
	ctx.Export("vnetId", p.network.VNet.ID)
	ctx.Export("clusterId", p.cluster.Ready.ID)
	ctx.Export("imports", imports(p.registry.LoginServer))
	return nil
}

// imports lists what a deployment has to import into the registry before the
// cluster can run it.
func imports(loginServer pulumi.StringOutput) pulumi.Array {
	list := pulumi.Array{}
	for _, artifact := range images.Artifacts {
		list = append(list, pulumi.Map{
			"source": pulumi.String(artifact.Source),
			"target": loginServer.ApplyT(artifact.In).(pulumi.StringOutput),
			"chart":  pulumi.Bool(artifact.Chart),
		})
	}
	return list
}
