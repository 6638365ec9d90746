package stacks

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/components/edge"
	"onedoor/components/serving"
	"onedoor/components/storage"
	"onedoor/internal/az"
	"onedoor/internal/az/netplan"
	"onedoor/internal/door"
	"onedoor/internal/images"
	"onedoor/internal/kube"
)

// newServing composes the models that the cluster serves, and then the door that
// they stand behind.
func newServing(ctx *pulumi.Context, cfg *Config, p *platform, made ground, opts ...pulumi.ResourceOption) error {
	if cfg.Serving.Engine == EngineAnyscale {
		_, err := serving.NewAnyscale(ctx, "anyscale", serving.AnyscaleArgs{
			Scope: cfg.Scope(), Cluster: p.cluster.Made, ClientID: p.trust.Clients[modelServer], Identity: p.identity.Serving,
			Group: p.base.Platform, Storage: p.storage.Account, Heads: nodesOf(headsPool), Registration: cfg.Serving.Anyscale.Registration,
		}, opts...)
		return err
	}
	if len(cfg.Serving.Models) == 0 {
		return nil
	}
	ctx.Export("weights", cfg.weights())
	if _, err := serving.New(ctx, "serving", cfg.servingArgs(p, made), opts...); err != nil {
		return err
	}
	_, err := edge.New(ctx, "edge", cfg.edgeArgs(p, made), opts...)
	return err
}

// weights lists what a deployment has to copy into the container of weights before
// a model serves: names on Hugging Face, each with its folder.
func (c *Config) weights() pulumi.StringMap {
	out := pulumi.StringMap{}
	for _, model := range c.Serving.Models {
		if model.filled().Source != serving.Volume {
			continue
		}
		for _, name := range []string{model.Model, model.Draft.Model} {
			if name != "" {
				out[name] = pulumi.String(storage.Weights + "/" + name)
			}
		}
	}
	return out
}

// fetches tells whether a model is fetched from Hugging Face.
func (s Serving) fetches() bool {
	for _, model := range s.Models {
		if model.filled().Source == serving.HuggingFace {
			return true
		}
	}
	return false
}

// image is that of the pods of Ray.
func (s Serving) image() images.Reference { return images.Named("ray-llm").At(s.Digest) }

// trusted is the authority that the gateway trusts for the models' door, "" where
// there is none.
func (s Serving) trusted() string {
	if len(s.Models) == 0 {
		return ""
	}
	return s.Authority
}

// headsPool is the pool that heads of Ray clusters and the models' door run on: the
// one whose nodes are always there.
const headsPool = "system"

// servingArgs are what the configuration says about served models.
func (c *Config) servingArgs(p *platform, made ground) serving.Args {
	args := serving.Args{
		Scope: c.Scope(), TenantID: c.Base.TenantID, Cluster: p.cluster.Made,
		Namespace: made.namespaces[kube.Serving], Operators: made.namespaces[kube.KubeRay], Registry: p.registry.LoginServer,
		Image:    p.registry.LoginServer.ApplyT(c.Serving.image().In).(pulumi.StringOutput),
		ClientID: p.trust.Clients[modelServer], Identity: p.identity.Serving, Heads: nodesOf(headsPool), Ingresses: 1,
		Weights: serving.Weights{Group: p.base.Platform.PlainName, Account: p.storage.Name, Container: storage.Weights},
		Token:   serving.Token{Vault: p.vault.Gateway.Resource, Secret: c.Serving.Token},
	}
	if c.Base.Environment == az.Prod {
		args.Ingresses = 2 // one node less and calls are still taken
	}
	for _, name := range sortedKeys(c.Serving.Models) {
		model := c.Serving.Models[name].filled()
		pool, _ := c.servingPool(model.Pool)
		plan, err := model.plan(pool)
		if err != nil { // which was checked
			panic(err)
		}
		args.Models = append(args.Models, serving.Model{
			Name: name, Model: model.facts(), Plan: plan, Pool: pool, Fleet: model.fleet(plan), Source: model.Source,
			Min: model.Replicas.Min, Max: model.Replicas.Max, Target: model.TargetRequests, Prefill: serving.Replicas(model.Prefill),
		})
	}
	return args
}

// edgeArgs are what the configuration says about the models' door.
func (c *Config) edgeArgs(p *platform, made ground) edge.Args {
	return edge.Args{
		Scope: c.Scope(), TenantID: c.Base.TenantID, Cluster: p.cluster.Made, Namespace: made.namespaces[kube.Edge],
		Image:    p.registry.LoginServer.ApplyT(images.Named("envoy").In).(pulumi.StringOutput),
		ClientID: p.trust.Clients[servingEdge], Identity: p.identity.Edge,
		Certificate: edge.Certificate{Vault: p.vault.Gateway.Resource, Secret: c.Serving.Certificate},
		Door: door.Door{
			Name: string(netplan.ServingEdge), Zone: p.network.Zones[c.doorsZone()], Address: c.plan.Door(netplan.ServingEdge),
			Subnet: p.network.Subnets[netplan.Doors], Sources: c.callers(kube.Edge),
		},
		Audience: c.Serving.Audience, Caller: p.identity.Gateway, Nodes: nodesOf(headsPool), Models: sortedKeys(c.Serving.Models),
	}
}
