package stacks

import (
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/components/base"
	"onedoor/components/cluster"
	"onedoor/components/federation"
	"onedoor/components/gateway"
	"onedoor/components/guard"
	"onedoor/components/identity"
	"onedoor/components/models"
	"onedoor/components/network"
	"onedoor/components/queue"
	"onedoor/components/registry"
	"onedoor/components/storage"
	"onedoor/components/vault"
	"onedoor/internal/az"
	"onedoor/internal/az/aks"
	"onedoor/internal/az/netplan"
	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

// platform holds the handles of the Azure half.
type platform struct {
	base     *base.Base
	network  *network.Network
	identity *identity.Identities
	storage  *storage.Storage
	vault    *vault.Vaults
	registry *registry.Registry
	queue    *queue.Queues
	cluster  *cluster.Cluster
	trust    *federation.Federation
	models   *models.Models
	gateway  *gateway.Gateway
}

// newPlatform composes the Azure half. provider is the one that every component
// inherits, patches the one of the changes to parts of what others declare.
func newPlatform(ctx *pulumi.Context, cfg *Config, provider, patches pulumi.ResourceOption) (*platform, error) {
	p := &platform{}
	var err error
	if p.base, err = base.New(ctx, "base", base.Args{
		Scope:         cfg.Scope(),
		WorkspaceID:   cfg.Logs.WorkspaceID,
		RetentionDays: cfg.Logs.RetentionDays,
		DailyQuotaGB:  cfg.Logs.DailyQuotaGB,
		Alerts:        cfg.Logs.Alerts,
		MonthlyFloor:  cfg.Budget.MonthlyFloor,
	}, provider); err != nil {
		return nil, err
	}
	if cfg.Policy.Assign {
		// Nothing is made in the groups before Azure itself would refuse a bypass there.
		guarded, err := guard.New(ctx, "guard", guard.Args{
			Scope: cfg.Scope(), Platform: p.base.Platform, BatchDoor: p.base.BatchDoor, BatchGroups: cfg.Policy.Guard.BatchGroups,
		}, provider)
		if err != nil {
			return nil, err
		}
		p.base.Platform, p.base.BatchDoor = guarded.Platform, guarded.BatchDoor
	}
	if p.network, err = network.New(ctx, "network", cfg.networkArgs(p.base), provider); err != nil {
		return nil, err
	}
	if p.identity, err = identity.New(ctx, "identity", cfg.identityArgs(p), provider); err != nil {
		return nil, err
	}
	if p.storage, err = storage.New(ctx, "storage", cfg.storageArgs(p), provider); err != nil {
		return nil, err
	}
	if p.vault, err = vault.New(ctx, "vault", vault.Args{
		Scope:        cfg.Scope(),
		TenantID:     cfg.Base.TenantID,
		Group:        p.base.Platform,
		Logs:         p.base.Logs,
		Endpoints:    p.network.Subnets[netplan.EndpointsData],
		Zones:        p.network.Zones,
		ControlPlane: p.identity.ControlPlane,
		Runner:       p.identity.Runner,
	}, provider); err != nil {
		return nil, err
	}
	if p.registry, err = registry.New(ctx, "registry", registry.Args{
		Scope:     cfg.Scope(),
		Group:     p.base.Platform,
		Logs:      p.base.Logs,
		Existing:  existing(cfg.Registry.ID),
		Private:   cfg.Registry.Private,
		Endpoints: p.network.Subnets[netplan.EndpointsData],
		Zones:     p.network.Zones,
		Kubelet:   p.identity.Kubelet,
		Runner:    p.identity.Runner,
	}, provider); err != nil {
		return nil, err
	}
	if p.queue, err = queue.New(ctx, "queue", cfg.queueArgs(p), provider); err != nil {
		return nil, err
	}
	if p.cluster, err = cluster.New(ctx, "cluster", cfg.clusterArgs(p), provider, patches); err != nil {
		return nil, err
	}
	if p.trust, err = federation.New(ctx, "federation", federation.Args{
		Scope: cfg.Scope(), Group: p.base.Platform, Issuer: p.cluster.Issuer, Trust: p.trusted(cfg.Serving.Engine),
	}, provider); err != nil {
		return nil, err
	}
	if p.models, err = models.New(ctx, "models", cfg.modelsArgs(p), provider); err != nil {
		return nil, err
	}
	if p.gateway, err = gateway.New(ctx, "gateway", cfg.gatewayArgs(p), provider, patches); err != nil {
		return nil, err
	}
	return p, nil
}

// The short names of those who act as identities; workers come on top.
const (
	controlPlane = "control-plane"
	scaler       = "scaler"
	modelServer  = "model-server"
	servingEdge  = "serving-edge"
)

// worker is the short name of the workers of a queue.
func worker(modality string) string { return "worker-" + modality }

// trusted says which service account acts as which identity. KEDA's operator asks
// for the length of every queue as the scaler; nobody else does.
func (p *platform) trusted(engine ServingEngine) map[string]federation.Trust {
	acts := func(as ref.Identity, account kube.ServiceAccount) federation.Trust {
		return federation.Trust{Identity: as, Subjects: []kube.ServiceAccount{account}}
	}
	trust := map[string]federation.Trust{
		controlPlane: acts(p.identity.ControlPlane, kube.ControlPlane),
		scaler:       acts(p.identity.Scaler, kube.KEDA),
		modelServer:  acts(p.identity.Serving, kube.ModelServer),
		servingEdge:  acts(p.identity.Edge, kube.ServingEdge),
	}
	if engine == EngineAnyscale {
		trust[modelServer] = federation.Trust{Identity: p.identity.Serving, Subjects: []kube.ServiceAccount{kube.Anyscale, kube.ModelServer}}
	}
	for modality, identity := range p.identity.Workers {
		trust[worker(modality)] = acts(identity, kube.Worker(modality))
	}
	return trust
}

// existing is the resource of that id, nil for none. Ids were checked when the
// configuration was read.
func existing(id string) *az.ID {
	if id == "" {
		return nil
	}
	parsed, err := az.ParseID(id)
	if err != nil {
		panic(err)
	}
	return &parsed
}

// identityArgs are what the configuration says about identities.
func (c *Config) identityArgs(p *platform) identity.Args {
	args := identity.Args{
		Scope: c.Scope(), Group: p.base.Platform, BatchDoor: p.base.BatchDoor,
		Queues: sortedKeys(c.Queue.Queues), VNet: p.network.VNet, Joins: map[string]ref.Subnet{},
	}
	for role, subnet := range p.network.Subnets {
		if role.IsNodes() || role == netplan.Doors {
			args.Joins[string(role)] = subnet
		}
	}
	if zone, ours := p.network.Zones[az.ZoneKubernetes(c.Base.Location)]; ours {
		args.APIZone = &zone
	}
	return args
}

// storageArgs are what the configuration says about storage.
func (c *Config) storageArgs(p *platform) storage.Args {
	args := storage.Args{
		Scope: c.Scope(), Group: p.base.Platform, Endpoints: p.network.Subnets[netplan.EndpointsData], Zones: p.network.Zones, Logs: p.base.Logs,
		ControlPlane: p.identity.ControlPlane, Runner: p.identity.Runner, Serving: p.identity.Serving, Queues: map[string]storage.Queue{},
		Days: storage.Days{
			Payloads: c.Storage.PayloadDays, Results: c.Storage.ResultDays, Batch: c.Storage.BatchDays,
			Evidence: c.Storage.EvidenceDays, SoftDelete: c.Storage.SoftDeleteDays,
		},
	}
	for modality, work := range c.Queue.Queues {
		args.Queues[modality] = storage.Queue{Payloads: work.container(modality), Worker: p.identity.Workers[modality]}
	}
	return args
}

// queueArgs are what the configuration says about queues.
func (c *Config) queueArgs(p *platform) queue.Args {
	args := queue.Args{
		Scope: c.Scope(), Group: p.base.Platform, Logs: p.base.Logs, Private: c.Queue.Private,
		Endpoints: p.network.Subnets[netplan.EndpointsData], Zones: p.network.Zones,
		ControlPlane: p.identity.ControlPlane, Scaler: p.identity.Scaler, Work: map[string]queue.Work{},
	}
	if c.Queue.Tier == QueuePremium {
		args.Units = c.Queue.Units
	}
	for modality, work := range c.Queue.Queues {
		hold, ttl, _ := work.hold()
		args.Work[modality] = queue.Work{Worker: p.identity.Workers[modality], Hold: hold, TimeToLive: ttl, Deliveries: work.Deliveries}
	}
	return args
}

// clusterArgs are what the configuration says about the cluster.
func (c *Config) clusterArgs(p *platform) cluster.Args {
	args := cluster.Args{
		Scope: c.Scope(), TenantID: c.Base.TenantID, Group: p.base.Platform, Identity: p.identity.Cluster, Kubelet: p.identity.Kubelet,
		Logs: p.base.Logs, Version: c.Cluster.Version, Admins: slices.Sorted(slices.Values(c.Cluster.Admins)),
		Access: cluster.Access{Private: c.Cluster.Access.Private, Nodes: p.network.Outbound},
		Pods:   c.Cluster.PodCIDR, Services: c.Cluster.ServiceCIDR, Hostname: c.Cluster.HostnameRule,
		Window: cluster.Maintenance(c.Cluster.Maintenance), Login: c.Cluster.Login, Deployer: p.identity.Runner,
	}
	for _, prefix := range c.Cluster.Access.Ranges {
		args.Access.Ranges = append(args.Access.Ranges, prefix.String())
	}
	slices.Sort(args.Access.Ranges)
	if zone, ours := p.network.Zones[az.ZoneKubernetes(c.Base.Location)]; ours && c.Cluster.Access.Private {
		args.Access.Zone = &zone
	}
	for i, planned := range c.Cluster.pools() {
		rule := planned.rule
		made := cluster.Pool{
			Name: rule.Name, Subnet: p.network.Subnets[planned.role], Size: rule.Size, Min: *rule.Min, Max: *rule.Max,
			Zones: slices.Sorted(slices.Values(rule.Zones)), MaxPods: rule.MaxPods, DiskGB: rule.OSDiskGB,
			Labels: rule.Labels, Taints: rule.Taints, GPU: planned.role.IsGPU(), MIG: string(rule.MIG), Spot: rule.Priority == aks.Spot,
		}
		if i == 0 {
			args.System = made
		} else {
			args.Pools = append(args.Pools, made)
		}
	}
	return args
}

// gatewayArgs are what the configuration says about the gateway.
func (c *Config) gatewayArgs(p *platform) gateway.Args {
	args := gateway.Args{
		Scope: c.Scope(), Group: p.base.Platform, Network: c.Gateway.network(),
		Subnet: p.network.Subnets[netplan.Gateway], Doors: p.network.Subnets[netplan.Doors], Zones: p.network.Zones,
		SKU:       gateway.SKU{Name: c.gatewayTier().SKU, Capacity: c.Gateway.Capacity, Zones: c.gatewayZones()},
		Publisher: gateway.Publisher{Name: c.Gateway.PublisherName, Email: c.Gateway.PublisherEmail},
		Identity:  p.identity.Gateway, Logs: p.base.Logs, Insights: p.base.Insights,
		Vault: gateway.Vault{Resource: p.vault.Gateway.Resource, URL: p.vault.Gateway.URL},
		Rules: c.gatewayRules(c.doorURL(netplan.BatchDoor)), Workers: p.identity.Workers, Secrets: c.External.secrets(), Authority: c.Serving.trusted(), Keys: c.Tenants.keys(),
	}
	for _, region := range sortedKeys(p.models.Accounts) {
		args.Accounts = append(args.Accounts, p.models.Accounts[region])
	}
	return args
}

// networkArgs are what the configuration says about the network.
func (c *Config) networkArgs(b *base.Base) network.Args {
	args := network.Args{Scope: c.Scope(), Group: b.Platform, Logs: b.Logs, Site: c.site(), Existing: existing(c.Network.Existing.VNetID), DNS: c.dns()}
	for _, name := range sortedKeys(c.Network.Peers) {
		args.Peers = append(args.Peers, network.Peer{Name: name, ID: c.Network.Peers[name].VNetID})
	}
	return args
}

// dns says which zones to make. The doors' zone and the gateway's are the stack's in every
// mode, unless it is that of private endpoints: its name follows from the stack,
// so nobody else can have made it.
func (c *Config) dns() network.DNS {
	endpoints := az.EndpointZones(c.Base.Location)
	doors := []string{c.doorsZone()}
	switch zone := c.Gateway.network().Zone(c.Scope().Name(az.APIManagement)); {
	case zone == "":
	case c.Gateway.Mode == netplan.Endpoint && c.Network.DNS.Mode == DNSExisting:
		endpoints = append(endpoints, zone)
	default:
		doors = append(doors, zone)
	}
	switch c.Network.DNS.Mode {
	case DNSExisting:
		return network.DNS{Doors: doors, Existing: endpoints, ExistingIn: c.Network.DNS.ResourceGroupID}
	case DNSPolicy:
		return network.DNS{Doors: doors}
	default:
		return network.DNS{Doors: doors, Endpoints: endpoints}
	}
}
