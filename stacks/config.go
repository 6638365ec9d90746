// Package stacks reads a stack's configuration and composes the platform from
// components. Only this package reads configuration.
package stacks

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/components/gateway"
	"onedoor/internal/az"
	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
)

// namespace is where the configuration's root keys live: the project's name.
const namespace = "onedoor"

// Config is the whole configuration of one stack: one root key per field.
type Config struct {
	Base     Base
	Budget   Budget
	Logs     Logs
	Network  Network
	Gateway  Gateway
	Cluster  Cluster
	Storage  Storage
	Registry Registry
	Queue    Queue
	Models   Models
	External Providers
	Plans    Plans
	Tenants  Tenants
	Policy   Policy
	Workers  Workers
	Batch    Batch

	Observability Observability
	Serving       Serving

	Warnings []string // what is legal and probably not meant, in a fixed order

	stack string
	plan  netplan.Plan // follows from Network, Gateway and Cluster
}

// roots are the root keys with what each is read into: a struct, or entries.
func (c *Config) roots() map[string]any {
	return map[string]any{
		"base": &c.Base, "budget": &c.Budget, "logs": &c.Logs, "network": &c.Network, "gateway": &c.Gateway, "cluster": &c.Cluster,
		"storage": &c.Storage, "registry": &c.Registry, "queue": &c.Queue,
		"models": &c.Models, "externalProviders": &c.External, "plans": &c.Plans, "tenants": &c.Tenants,
		"policy": &c.Policy, "workers": &c.Workers, "batch": &c.Batch,
		"observability": &c.Observability, "serving": &c.Serving,
	}
}

// Load reads the configuration of the stack that ctx runs. All problems are
// reported at once, as a *ConfigError.
func Load(ctx *pulumi.Context) (*Config, error) {
	values := map[string]string{}
	for root := range new(Config).roots() {
		if text, ok := ctx.GetConfig(namespace + ":" + root); ok {
			values[root] = text
		}
	}
	// The SDK cannot list keys. The official CLI hands all of them to the
	// program in the environment, which shows those that nothing reads.
	var all map[string]string
	if text := os.Getenv(pulumi.EnvConfig); text != "" && json.Unmarshal([]byte(text), &all) == nil {
		for key, text := range all {
			if root, ours := strings.CutPrefix(key, namespace+":"); ours {
				values[root] = text
			}
		}
	}
	c, err := Parse(ctx.Stack(), values)
	if err != nil {
		return nil, err
	}
	for _, warning := range c.Warnings {
		if err := ctx.Log.Warn(warning, nil); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Parse reads the configuration of stack from the JSON text of each root key
// (without its namespace). All problems are reported at once, as a
// *ConfigError.
func Parse(stack string, values map[string]string) (*Config, error) {
	c := defaults()
	c.stack = stack
	report := &problems{stack: stack}
	if !az.IsWord(stack) {
		report.list = append(report.list, Problem{Got: show(stack), Want: "want a name of lower-case letters, digits and single hyphens: it is part of every name, and two stacks that differ elsewhere would meet"})
	}
	roots := c.roots()
	for _, root := range sortedKeys(values) {
		switch out := roots[root].(type) {
		case nil:
			report.unknown(root, sortedKeys(roots))
		case entries:
			out.read(root, values[root], report)
		default:
			decode(root, values[root], out, report)
		}
	}
	checked := &problems{stack: stack}
	c.check(checked, report)
	report.addNew(checked)
	if err := report.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// defaults is the configuration before anything is read.
func defaults() *Config {
	return &Config{
		Base: defaultBase, Logs: defaultLogs(), Network: defaultNetwork, Gateway: defaultGateway, Cluster: defaultCluster,
		Storage: defaultStorage, Registry: defaultRegistry, Queue: defaultQueue(), Policy: defaultPolicy, Batch: defaultBatch,
		Observability: defaultObservability, Serving: defaultServing,
	}
}

// check validates every key, then what keys say together where each is right
// by itself. unread are the problems of reading.
func (c *Config) check(report, unread *problems) {
	c.Base.check(report)
	c.Budget.check(report)
	c.Logs.check(report)
	c.Network.check(report)
	c.checkExisting(report)
	c.Gateway.check(report)
	c.Cluster.check(report)
	c.Storage.check(report)
	c.Registry.check(report)
	c.Queue.check(report)
	c.Models.check(report)
	c.External.check(report)
	c.Plans.check(report)
	c.Tenants.check(report)
	c.Policy.check(report)
	c.Workers.check(report)
	c.Batch.check(report)
	c.Observability.check(report)
	c.Serving.check(report, c.Base.Environment == az.Prod)
	sound := func(roots ...string) bool { return !report.about(roots...) && !unread.about(roots...) }
	if sound("network", "gateway", "cluster") {
		c.planNetwork(report)
	}
	if c.Cluster.InCluster == Skip {
		c.warn("cluster.inCluster", "this run leaves out everything in the cluster, and deletes what an earlier one has made there")
	}
	if sound("cluster") {
		c.checkPools(report)
	}
	if sound("queue", "storage") {
		c.checkRetention(report)
	}
	if sound("base", "models", "externalProviders") {
		c.checkServed(report)
		c.checkPrices()
	}
	if sound("base", "gateway", "cluster", "models", "serving") {
		c.checkServing(report)
	}
	if sound("base", "models", "externalProviders", "plans") {
		c.checkPlans(report)
	}
	if sound("base", "models", "externalProviders", "plans", "tenants") {
		c.checkTenants(report)
	}
	if sound("base", "gateway", "plans", "tenants") {
		c.checkGateway(report)
	}
	if sound("base", "policy") {
		c.checkGuard(report)
	}
	if sound("base", "models", "externalProviders", "plans", "tenants", "queue", "workers") {
		c.checkWorkers(report)
	}
	if sound("base", "models", "externalProviders", "plans", "tenants", "batch") {
		c.checkBatch(report)
	}
	c.checkProd(report)
}

// checkProd refuses what would leave prod open to the internet.
func (c *Config) checkProd(report *problems) {
	if c.Base.Environment != az.Prod {
		return
	}
	if !c.Registry.Private {
		report.bad("registry.private", c.Registry.Private, "true: prod is private", "true")
	}
	if !c.Queue.Private {
		report.bad("queue.private", c.Queue.Private, "true, with queue.tier premium: prod is private", "true")
	}
	if !c.Cluster.Access.Private {
		report.bad("cluster.access.private", c.Cluster.Access.Private, "true: prod is private", "true")
	}
	if zones := c.Cluster.Pools.Batch.Zones; len(zones) < 2 {
		report.bad("cluster.pools.batch.zones", strings.Join(zones, ", "), "at least two: prod loses a zone without losing the batch door", "")
	}
	if c.Gateway.Exposure == ExposureExternal {
		report.bad("gateway.exposure", c.Gateway.Exposure, "internal: prod is private", string(ExposureInternal))
	}
}

// Scope is what all resources of the stack have in common.
func (c *Config) Scope() az.Scope {
	return az.Scope{
		Project: namespace, Stack: c.stack, Environment: c.Base.Environment, SubscriptionID: c.Base.SubscriptionID,
		Location: c.Base.Location, Generation: c.Base.Generation, Owner: c.Base.Owner, CostCentre: c.Base.CostCentre,
	}
}

// site is what decides the network rules.
func (c *Config) site() flows.Site {
	site := flows.Site{
		Environment: c.Base.Environment, Location: c.Base.Location, Plan: c.plan,
		DNSServers: c.Network.DNS.Servers, PrivateBus: c.Queue.Private, PrivateRegistry: c.Registry.Private,
		Hostnames: c.Cluster.HostnameRule, Providers: len(c.External) > 0, HuggingFace: c.Serving.fetches(),
	}
	if !c.Gateway.network().Internal {
		site.PublicGateway = gateway.Host(c.Scope())
	}
	return site
}

// oneOf writes the legal values of an enumeration.
func oneOf[T ~string](values ...T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return fmt.Sprintf("one of %s", strings.Join(words, ", "))
}

// between writes the legal range of a number.
func between(least, most int) string { return fmt.Sprintf("%d to %d", least, most) }
