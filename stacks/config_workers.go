package stacks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/components/models"
	"onedoor/components/workers"
	"onedoor/internal/apimpolicy"
	"onedoor/internal/az"
	"onedoor/internal/az/openai"
	"onedoor/internal/capacity"
	"onedoor/internal/kube"
	"onedoor/internal/prices"
	"onedoor/internal/ref"
)

// Workers is the root key "workers": the programs that empty the queues, and how
// much of a model each may use.
type Workers struct {
	Image  Image           `json:"image"`
	Queues map[string]Work `json:"queues"` // by modality; a queue without an entry has no workers, and a stack without any takes work that waits
}

// Work is how one queue is emptied. What a message takes is said of the queue.
type Work struct {
	Alias         string        `json:"alias"`         // of the model that its workers call
	Shape         Shape         `json:"shape"`         // what there is more of while messages wait; "" is a deployment
	Parallel      int           `json:"parallel"`      // items that a replica works on at once: 5 to 10, 1 for jobs
	ItemTime      time.Duration `json:"itemTime"`      // what an item typically takes, at most the queue's p99
	TokensPerItem int           `json:"tokensPerItem"` // its prompt and the most that it may answer: what the gateway's limit counts
	CallsPerItem  int           `json:"callsPerItem"`  // of the model for one item; 0 is 1
	Weight        int           `json:"weight"`        // its part of what queues may use of the alias, 1 to 100; 0 is 1
	MaxReplicas   int           `json:"maxReplicas"`   // 0 takes as many as the quota has room for
	Wait          time.Duration `json:"wait"`          // that a message should wait at most before there are more replicas; 0s is 2m
	PayloadMiB    int           `json:"payloadMiB"`    // of an item, 1 to 100; 0 is 1
}

// Shape is what KEDA makes more of.
type Shape string

// The shapes.
const (
	ShapeDeployment Shape = "deployment" // pods that stay while there is work
	ShapeJob        Shape = "job"        // a job for each message, which scaling in never ends
)

// Limits of the work on a queue.
const (
	minParallel   = 5 // below, a replica waits for models most of its time
	maxWeight     = 100
	maxPayloadMiB = 100
	defaultWait   = 2 * time.Minute
)

// filled is the work with its defaults.
func (w Work) filled() Work {
	w.CallsPerItem, w.Weight, w.PayloadMiB = max(1, w.CallsPerItem), max(1, w.Weight), max(1, w.PayloadMiB)
	if w.Shape == "" {
		w.Shape = ShapeDeployment
	}
	if w.Wait == 0 {
		w.Wait = defaultWait
	}
	return w
}

// load is the work of one replica.
func (w Work) load() capacity.Load {
	return capacity.Load{Parallel: w.Parallel, Item: w.ItemTime, Tokens: w.TokensPerItem, Calls: w.filled().CallsPerItem}
}

func (w *Workers) check(report *problems) {
	for _, name := range sortedKeys(w.Queues) {
		work, key := w.Queues[name], "workers.queues."+name
		switch work.Shape {
		case "", ShapeDeployment:
			if work.Parallel < minParallel || work.Parallel > capacity.MaxParallel {
				report.bad(key+".parallel", work.Parallel, between(minParallel, capacity.MaxParallel)+" items at once", strconv.Itoa(minParallel))
			}
		case ShapeJob:
			if work.Parallel != 1 {
				report.bad(key+".parallel", work.Parallel, "1: a job has one message", "1")
			}
		default:
			report.bad(key+".shape", work.Shape, oneOf(ShapeDeployment, ShapeJob), string(ShapeDeployment))
		}
		number := func(field string, n, least, most int, what, example string) {
			if n < least || n > most {
				report.bad(key+"."+field, n, between(least, most)+" "+what, example)
			}
		}
		number("tokensPerItem", work.TokensPerItem, 1, capacity.MaxTokens, "tokens", "2000")
		number("callsPerItem", work.CallsPerItem, 0, capacity.MaxCalls, "calls, 0 for one", "1")
		number("weight", work.Weight, 0, maxWeight, "parts, 0 for one", "1")
		number("payloadMiB", work.PayloadMiB, 0, maxPayloadMiB, "MiB, 0 for one", "1")
		if work.MaxReplicas < 0 {
			report.bad(key+".maxReplicas", work.MaxReplicas, "a number of replicas, or 0 for as many as the quota has room for", "0")
		}
		if work.ItemTime < capacity.MinItem || work.ItemTime > capacity.MaxHold {
			report.bad(key+".itemTime", work.ItemTime, fmt.Sprintf("%s to %s: what an item typically takes", capacity.MinItem, capacity.MaxHold), "10s")
		}
		if work.Wait < 0 || work.Wait > maxWait {
			report.bad(key+".wait", work.Wait, "a time of at most 336h, or 0s for 2m", "2m")
		}
	}
}

// checkWorkers refuses workers that the queues, the models or their quotas have no
// place for, each with the arithmetic. Roots that it reads are sound.
func (c *Config) checkWorkers(report *problems) {
	if len(c.Workers.Queues) == 0 {
		return
	}
	c.Workers.Image.check(report, "workers.image", c.Base.Environment == az.Prod)
	for _, name := range sortedKeys(c.Workers.Queues) {
		work, key := c.Workers.Queues[name], "workers.queues."+name
		queue, known := c.Queue.Queues[name]
		if !known {
			want := "the name of a queue below " + namespace + ":queue.queues"
			if near := nearest(name, sortedKeys(c.Queue.Queues)); near != "" {
				want += fmt.Sprintf(", nearest is %q", near)
			}
			report.bad(key, nil, want, "")
			continue
		}
		if work.ItemTime > queue.P99 {
			report.bad(key+".itemTime", work.ItemTime, fmt.Sprintf("at most %s, the 99th percentile of the queue: a typical item does not take longer", queue.P99), queue.P99.String())
		}
		if work.Shape == ShapeJob && queue.Batch != 1 {
			report.bad(key+".shape", work.Shape, fmt.Sprintf("deployment, or queue.queues.%s.batch 1: a job has one message", name), string(ShapeDeployment))
		}
		if c.checkAlias(report, key+".alias", work.Alias) && len(c.limits(work.Alias)) == 0 {
			report.bad(key+".alias", work.Alias, "an alias with a deployment that is paid by the token: only such a one has a quota that replicas can follow from", "")
		}
	}
	if report.about("workers") {
		return
	}
	for _, name := range sortedKeys(c.Queue.Queues) {
		if _, worked := c.Workers.Queues[name]; !worked {
			c.warn("queue.queues."+name, "nothing empties this queue: there is no workers.queues.%s", name)
		}
	}
	c.checkShares(report)
}

// checkShares compares what the queues may use with what the models have.
func (c *Config) checkShares(report *problems) {
	shares, receivers, replicas := c.shares(), map[string]int{}, map[string]int{}
	for _, name := range sortedKeys(shares) {
		work, share, key := c.Workers.Queues[name], shares[name], "workers.queues."+name
		receivers[name] = capacity.Receivers(work.Parallel, c.Queue.Queues[name].Batch)
		replicas[name] = share.Replicas
		switch {
		case share.Fits < 1:
			report.bad(key+".tokensPerItem", work.TokensPerItem, "work of which the quota takes at least one replica: "+share.Why+
				"; work on less at once, keep less for people, give the queue more weight, or raise the capacity", "")
		case work.MaxReplicas > share.Fits:
			report.bad(key+".maxReplicas", work.MaxReplicas, fmt.Sprintf("at most %d, or the queues and what is kept for people exceed the deployment: %s", share.Fits, share.Why), strconv.Itoa(share.Fits))
		}
	}
	if total, fits := capacity.Connections(replicas, receivers); !fits {
		var parts []string
		for _, name := range sortedKeys(replicas) {
			parts = append(parts, fmt.Sprintf("%s %d x %d", name, replicas[name], receivers[name]))
		}
		report.bad("workers.queues", total, fmt.Sprintf("fewer than %d receivers on the namespace: %s; set maxReplicas", capacity.MaxReceivers, strings.Join(parts, " + ")), "")
	}
	for _, alias := range sortedKeys(c.Models) {
		c.warnOfDemand(alias, shares)
	}
}

// warnOfDemand warns of an alias that queues and tenants together may ask for more
// of than it has. Plans may sell more than there is: not everybody calls at once.
func (c *Config) warnOfDemand(alias string, shares map[string]capacity.Share) {
	var claims []capacity.Share
	for _, name := range sortedKeys(shares) {
		if c.Workers.Queues[name].Alias == alias {
			claims = append(claims, shares[name])
		}
	}
	var deployments []capacity.Limits
	for _, target := range c.routes()[alias].Targets {
		if target.TokensPerMinute == 0 {
			return // nobody says what it takes
		}
		deployments = append(deployments, capacity.Limits{Name: target.Backend, Tokens: target.TokensPerMinute})
	}
	if len(claims) == 0 {
		return
	}
	tenants := c.buyers(alias)
	if demand, supply, why := capacity.Demand(deployments, claims, tenants); demand > supply {
		c.warn("models."+alias, "queues and tenants together may use more than there is, and will see 429: %s", why)
	}
}

// buyers are the plans that sell the alias, with all that their tenants may use:
// thousands of tenants make no longer a text than one.
func (c *Config) buyers(alias string) []capacity.Buyers {
	tokens, count := map[string]int{}, map[string]int{}
	for _, tenant := range c.Tenants {
		if plan := c.Plans[tenant.Plan]; slices.Contains(plan.Aliases, alias) {
			tokens[tenant.Plan] += plan.TokensPerMinute
			count[tenant.Plan]++
		}
	}
	var out []capacity.Buyers
	for _, plan := range sortedKeys(tokens) {
		out = append(out, capacity.Buyers{Who: fmt.Sprintf("%d tenants of plan %s", count[plan], plan), Tokens: tokens[plan]})
	}
	return out
}

// limits are the deployments of the alias that have a quota of tokens a minute.
// Throughput that is bought ahead hands on what it cannot take at once, so it
// bounds nothing.
func (c *Config) limits(alias string) []capacity.Limits {
	var out []capacity.Limits
	deployments := c.Models[alias].Deployments
	for _, name := range sortedKeys(deployments) {
		d := deployments[name]
		if sku, _ := openai.Lookup(d.SKU); sku.Provisioned {
			continue
		}
		out = append(out, capacity.Limits{
			Name:   models.AccountName(c.Scope(), d.Region) + "/" + deploymentName(alias, name),
			Tokens: d.tokens(), Requests: d.Capacity * capacity.RequestsPerUnit, Reserve: d.ReserveInteractive,
		})
	}
	return out
}

// shares are what the queues get of their models, by queue.
func (c *Config) shares() map[string]capacity.Share {
	claims := map[string][]capacity.Claim{} // by alias
	for _, name := range sortedKeys(c.Workers.Queues) {
		work := c.Workers.Queues[name]
		claims[work.Alias] = append(claims[work.Alias], capacity.Claim{Queue: name, Load: work.load(), Weight: work.filled().Weight, Most: work.MaxReplicas})
	}
	out := map[string]capacity.Share{}
	for _, alias := range sortedKeys(claims) {
		for _, share := range capacity.Shares(c.limits(alias), claims[alias]) {
			out[share.Queue] = share
		}
	}
	return out
}

// resultsOf is the container of a queue's results, as storage names it.
func resultsOf(queue string) string { return "results-" + queue }

// workersArgs are what the configuration says about the workers.
func (c *Config) workersArgs(p *platform, made ground, door pulumi.StringInput, keys ref.Keys) (workers.Args, error) {
	table, err := prices.Load()
	if err != nil {
		return workers.Args{}, err
	}
	args := workers.Args{
		Cluster: p.cluster.Made, Namespace: made.namespaces[kube.Workers], Scaling: made.scaling, Scaler: p.trust.Clients[scaler],
		Image: p.image(c.Workers.Image), NodeSelector: nodesOf("worker"),
		Bus: p.queue.Namespace, BusHost: p.queue.Host, Blobs: p.storage.BlobURL,
		Gateway: pulumi.Sprintf("%s/%s/v1", p.gateway.URL, apimpolicy.APIPath), Audience: c.Gateway.Audience,
		ControlPlane: door, Authority: c.Batch.Authority, Keys: keys, Queues: map[string]workers.Queue{},
	}
	shares := c.shares()
	for name, rule := range c.Workers.Queues {
		work, queue := rule.filled(), c.Queue.Queues[name]
		hold, _, _ := queue.hold()
		backlog, _ := work.load().Backlog(work.Wait)
		args.Queues[name] = workers.Queue{
			Queue: p.queue.Queues[name], ClientID: p.trust.Clients[worker(name)], Jobs: work.Shape == ShapeJob,
			Payloads: queue.container(name), Results: resultsOf(name), Alias: work.Alias, Load: work.load(), Share: shares[name],
			Hold: hold, P99: queue.P99, Batch: queue.Batch, Backlog: backlog, PayloadMiB: work.PayloadMiB, PriceAs: priceAs(table, c.Models[rule.Alias]),
		}
	}
	return args, nil
}

// priceAs is the row of the price table that calls of the model are counted by, as
// workers read it; "" where the table has none.
func priceAs(table *prices.Table, model Model) string {
	price := model.dearest(table)
	if _, known := table.Tokens(price.Model, price.SKU); !known {
		return ""
	}
	return price.Model + "/" + price.SKU
}
