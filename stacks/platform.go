package stacks

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/components/base"
	"onedoor/components/network"
	"onedoor/internal/az"
)

// platform holds the handles of the Azure half.
type platform struct {
	base    *base.Base
	network *network.Network
}

// newPlatform composes the Azure half. provider is the one that every
// component inherits.
func newPlatform(ctx *pulumi.Context, cfg *Config, provider pulumi.ResourceOption) (*platform, error) {
	p := &platform{}
	var err error
	if p.base, err = base.New(ctx, "base", base.Args{
		Scope:         cfg.Scope(),
		WorkspaceID:   cfg.Logs.WorkspaceID,
		RetentionDays: cfg.Logs.RetentionDays,
		DailyQuotaGB:  cfg.Logs.DailyQuotaGB,
		Alerts:        cfg.Logs.Alerts,
	}, provider); err != nil {
		return nil, err
	}
	if p.network, err = network.New(ctx, "network", cfg.networkArgs(p.base), provider); err != nil {
		return nil, err
	}
	return p, nil
}

// networkArgs are what the configuration says about the network.
func (c *Config) networkArgs(b *base.Base) network.Args {
	args := network.Args{Scope: c.Scope(), Group: b.Platform, Site: c.site(), DNS: c.dns()}
	if c.Network.Existing.VNetID != "" {
		id, _ := az.ParseID(c.Network.Existing.VNetID) // checked when the configuration was read
		args.Existing = &id
	}
	for _, name := range sortedKeys(c.Network.Peers) {
		args.Peers = append(args.Peers, network.Peer{Name: name, ID: c.Network.Peers[name].VNetID})
	}
	return args
}

// dns says which zones to make. The gateway's own zone is the stack's in mode
// policy too: a policy registers private endpoints, and it is none.
func (c *Config) dns() network.DNS {
	zones := az.EndpointZones(c.Base.Location)
	var own []string
	if zone := c.Gateway.network().Zone(c.Scope().Name(az.APIManagement)); zone != "" {
		own = append(own, zone)
	}
	switch c.Network.DNS.Mode {
	case DNSExisting:
		return network.DNS{Existing: append(zones, own...), ExistingIn: c.Network.DNS.ResourceGroupID}
	case DNSPolicy:
		return network.DNS{Create: own}
	default:
		return network.DNS{Create: append(zones, own...)}
	}
}
