package stacks

import (
	azurenative "github.com/pulumi/pulumi-azure-native-sdk/v2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/images"
	armpatch "onedoor/plugins/armpatch/sdk"
)

// Run composes one stack: each component needs only what stands above it.
func Run(ctx *pulumi.Context) error {
	cfg, err := Load(ctx)
	if err != nil {
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
