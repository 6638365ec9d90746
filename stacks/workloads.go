package stacks

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/components/batch"
	"onedoor/components/clusterbase"
	"onedoor/components/deviceplugin"
	"onedoor/components/walls"
	"onedoor/components/workers"
	"onedoor/internal/az/aks"
	"onedoor/internal/images"
	"onedoor/internal/kube"
)

// ground is what the workloads in the cluster stand on.
type ground struct {
	namespaces map[string]pulumi.StringOutput // names by themselves, once pods may start there
	scaling    pulumi.Resource                // the operator of KEDA, with an identity
}

// newWorkloads composes the in-cluster half from the configuration and the handles
// of the Azure half. opts are the providers that every component inherits.
func newWorkloads(ctx *pulumi.Context, cfg *Config, p *platform, opts ...pulumi.ResourceOption) error {
	base, err := clusterbase.New(ctx, "cluster-base", clusterbase.Args{Cluster: p.cluster.Made, Accounts: cfg.accounts(p), Quotas: cfg.quotas()}, opts...)
	if err != nil {
		return err
	}
	held, err := walls.New(ctx, "walls", walls.Args{
		Cluster: p.cluster.Made, Site: cfg.site(), Namespaces: base.Namespaces, BatchTaint: batchTaint,
	}, opts...)
	if err != nil {
		return err
	}
	made := ground{namespaces: held.Namespaces, scaling: base.Scaling}
	if _, err := deviceplugin.New(ctx, "device-plugin", deviceplugin.Args{
		Cluster: p.cluster.Made, Namespace: made.namespaces[kube.Devices], Pools: cfg.poolRules(),
		Image: p.registry.LoginServer.ApplyT(images.Named("nvidia-device-plugin").In).(pulumi.StringOutput),
	}, opts...); err != nil {
		return err
	}
	if err := newServing(ctx, cfg, p, made, opts...); err != nil {
		return err
	}
	if err := newMonitors(ctx, p, made, opts...); err != nil {
		return err
	}
	door, err := batch.New(ctx, "batch", cfg.batchArgs(p, made), opts...)
	if err != nil {
		return err
	}
	if len(cfg.Workers.Queues) == 0 {
		return nil
	}
	args, err := cfg.workersArgs(p, made, door.URL, door.Keys)
	if err != nil {
		return err
	}
	_, err = workers.New(ctx, "workers", args, opts...)
	return err
}

// accounts are the service accounts with the identities that they act as.
func (c *Config) accounts(p *platform) map[kube.ServiceAccount]clusterbase.Account {
	accounts := map[kube.ServiceAccount]clusterbase.Account{
		kube.ControlPlane: {ClientID: p.trust.Clients[controlPlane]},
		kube.ModelServer:  {ClientID: p.trust.Clients[modelServer]},
		kube.ServingEdge:  {ClientID: p.trust.Clients[servingEdge]},
		kube.DevicePlugin: {},
		kube.Nightly:      {},
	}
	for modality := range c.Queue.Queues {
		accounts[kube.Worker(modality)] = clusterbase.Account{ClientID: p.trust.Clients[worker(modality)]}
	}
	return accounts
}

// quotas are what the planned workloads ask for together, by namespace, with what
// their updates add for a while.
func (c *Config) quotas() map[string]clusterbase.Quota {
	var queues clusterbase.Quota
	add := func(q *clusterbase.Quota, pods, cpu, memory int) {
		q.Pods, q.CPUMilli, q.MemoryMiB = q.Pods+pods, q.CPUMilli+pods*cpu, q.MemoryMiB+pods*memory
	}
	for name, share := range c.shares() {
		work := c.Workers.Queues[name].filled()
		size := workers.Size(work.Parallel, work.PayloadMiB)
		add(&queues, share.Replicas+(share.Replicas+3)/4, size.CPU, size.Memory) // a quarter more while pods are replaced
	}
	add(&queues, len(c.Batch.Nightly), batch.NightlySize.CPU, batch.NightlySize.Memory)
	var door clusterbase.Quota
	add(&door, batch.Replicas+1, batch.Size.CPU, batch.Size.Memory)
	out := map[string]clusterbase.Quota{kube.Batch: door}
	if queues.Pods > 0 {
		out[kube.Workers] = queues
	}
	devices := map[string]int{}
	for _, pool := range c.poolRules() {
		if name, perNode := pool.Offers(); name != "" {
			devices[name] += perNode * *pool.Max
		}
	}
	if len(devices) > 0 {
		out[kube.Serving] = clusterbase.Quota{Devices: devices}
	}
	return out
}

// poolRules are the pools of the cluster in the terms of Azure's rules.
func (c *Config) poolRules() []aks.Pool {
	var out []aks.Pool
	for _, planned := range c.Cluster.pools() {
		out = append(out, planned.rule)
	}
	return out
}

// nodesOf selects the nodes of a pool by the label that every pool has.
func nodesOf(pool string) map[string]string { return map[string]string{"pool": pool} }

// image is where the cluster finds an image of the platform.
func (p *platform) image(image Image) pulumi.StringOutput {
	return p.registry.LoginServer.ApplyT(image.reference().In).(pulumi.StringOutput)
}
