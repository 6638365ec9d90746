package stacks

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/components/observability"
	"onedoor/internal/alerts"
	"onedoor/internal/az"
	"onedoor/internal/az/aks"
	"onedoor/internal/az/openai"
	"onedoor/internal/kube"
	"onedoor/internal/prices"
	"onedoor/internal/ref"
)

// newObservability composes what somebody sees of the platform, last: it looks at
// everything else.
func newObservability(ctx *pulumi.Context, cfg *Config, p *platform, provider pulumi.ResourceOption) (*observability.Observability, error) {
	models, err := cfg.pricedModels()
	if err != nil {
		return nil, err
	}
	args := observability.Args{
		Scope: cfg.Scope(), Group: p.base.Platform, Logs: p.base.Logs, Runbooks: cfg.Observability.Runbooks,
		Cluster: p.cluster.Ready, Bus: p.queue.Bus, Groups: []ref.Group{p.base.Platform, p.base.BatchDoor},
		Gateway: cfg.Scope().ResourceID(p.base.Platform.PlainName, "Microsoft.ApiManagement/service", cfg.Scope().Name(az.APIManagement)),
		Models:  models,
	}
	for _, region := range sortedKeys(p.models.Accounts) {
		args.Accounts = append(args.Accounts, observability.Account{
			Name: region, Door: alerts.DoorGateway, Caller: p.identity.Gateway, Resource: p.models.Accounts[region].Resource,
		})
	}
	if batch := p.models.Batch; batch != nil {
		args.Accounts = append(args.Accounts, observability.Account{Name: "batch", Door: alerts.DoorBatch, Caller: p.identity.ControlPlane, Resource: batch.Resource})
	}
	for _, name := range sortedKeys(cfg.Tenants) {
		tenant := cfg.Tenants[name]
		args.Tenants = append(args.Tenants, alerts.Tenant{Name: name, Owner: tenant.Owner, Budget: tenant.MonthlyBudget})
	}
	if args.Served, err = cfg.served(); err != nil {
		return nil, err
	}
	return observability.New(ctx, "observability", args, provider)
}

// served are the models that the cluster serves, with what a replica of each holds: a
// part of every node that it stands on.
func (c *Config) served() ([]alerts.Served, error) {
	table, err := prices.Load()
	if err != nil {
		return nil, err
	}
	var list []alerts.Served
	for _, name := range sortedKeys(c.Serving.Models) {
		model := c.Serving.Models[name].filled()
		pool, _ := c.servingPool(model.Pool)
		plan, err := model.plan(pool)
		if err != nil {
			return nil, err
		}
		size, _ := aks.Lookup(pool.Size)
		_, perNode := pool.Offers()
		devices := plan.TensorParallel * plan.PipelineParallel
		price, _ := table.VM(size.Name)
		list = append(list, alerts.Served{
			Model: name, GPUs: float64(devices*size.GPU.Count) / float64(perNode*max(1, size.GPU.Share)),
			Hour: price.USD.Times(int64(devices)) / prices.USD(perNode),
		})
	}
	return list, nil
}

// newMonitors composes what tells the cluster which pods have metrics.
func newMonitors(ctx *pulumi.Context, p *platform, made ground, opts ...pulumi.ResourceOption) error {
	_, err := observability.NewMonitors(ctx, "monitors", observability.MonitorsArgs{
		Cluster:    p.cluster.Made,
		Namespaces: map[string]pulumi.StringOutput{kube.Batch: made.namespaces[kube.Batch], kube.Workers: made.namespaces[kube.Workers]},
	}, opts...)
	return err
}

// pricedModels are the names of models that logs show, with what each costs: a
// deployment, and its alias, which is counted as its dearest deployment. What is
// paid by the hour costs nothing by the token.
func (c *Config) pricedModels() ([]alerts.Model, error) {
	table, err := prices.Load()
	if err != nil {
		return nil, err
	}
	var list []alerts.Model
	for _, alias := range sortedKeys(c.Models) {
		model := c.Models[alias]
		for _, name := range sortedKeys(model.Deployments) {
			list = append(list, alerts.Model{Name: deploymentName(alias, name), Door: alerts.DoorGateway, Alias: alias, Price: priceOf(table, model.Model, model.Deployments[name].SKU)})
		}
		if len(model.Deployments) > 0 {
			list = append(list, alerts.Model{Name: alias, Door: alerts.DoorGateway, Alias: alias, Price: model.dearest(table)})
		}
		if model.Batch != nil {
			list = append(list, alerts.Model{Name: alias, Door: alerts.DoorBatch, Alias: alias, Price: priceOf(table, model.Model, model.Batch.SKU)})
		}
	}
	return list, nil
}

// dearest is what the model costs by the token in its dearest deployment: nobody
// knows which of them a call goes to.
func (m Model) dearest(table *prices.Table) prices.Tokens {
	dearest := prices.Tokens{Model: m.Model}
	for _, name := range sortedKeys(m.Deployments) {
		price := priceOf(table, m.Model, m.Deployments[name].SKU)
		if price.Output > dearest.Output || price.Input > dearest.Input || dearest.SKU == "" {
			dearest = price
		}
	}
	return dearest
}

// priceOf is what a model costs by the token in a SKU, nothing where the table
// does not know it.
func priceOf(table *prices.Table, model, sku string) prices.Tokens {
	price, known := table.Tokens(model, sku)
	if !known {
		return prices.Tokens{Model: model, SKU: sku}
	}
	return price
}

// checkPrices warns of models whose cost will be counted as nothing. A table that
// cannot be read fails the run by itself.
func (c *Config) checkPrices() {
	table, err := prices.Load()
	if err != nil {
		return
	}
	warn := func(key, model, sku string) {
		if known, _ := openai.Lookup(sku); known.Provisioned {
			return
		}
		if _, priced := table.Tokens(model, sku); !priced {
			c.warn(key, "the price table of %s has no %s in %s: its tokens are counted, and cost nothing in usage and budgets", table.AsOf(), model, sku)
		}
	}
	for _, alias := range sortedKeys(c.Models) {
		model, key := c.Models[alias], "models."+alias
		for _, name := range sortedKeys(model.Deployments) {
			warn(key+".deployments."+name, model.Model, model.Deployments[name].SKU)
		}
		if model.Batch != nil {
			warn(key+".batch", model.Model, model.Batch.SKU)
		}
	}
}
