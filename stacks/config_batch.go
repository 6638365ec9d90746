package stacks

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/robfig/cron/v3"

	"onedoor/components/batch"
	"onedoor/components/queue"
	"onedoor/components/storage"
	"onedoor/internal/az"
	"onedoor/internal/az/aks"
	"onedoor/internal/az/netplan"
	"onedoor/internal/az/openai"
	"onedoor/internal/capacity"
	"onedoor/internal/door"
	"onedoor/internal/kube"
	"onedoor/internal/prices"
	"onedoor/internal/ref"
	"onedoor/internal/routing"
	"onedoor/internal/settings"
)

// Batch is the root key "batch": the control plane, the one door of asynchronous
// work.
type Batch struct {
	Image       Image                 `json:"image"`
	Audience    string                `json:"audience"`    // of the Entra tokens that it accepts
	Certificate string                `json:"certificate"` // name, in the control plane's vault, of the certificate that the door shows
	Authority   string                `json:"authority"`   // certificate, as PEM, of the authority that issued the door's: workers and nightly jobs trust it
	Key         int                   `json:"key"`         // id of the key that signs messages; raise it by one to change keys
	OutputDays  int                   `json:"outputDays"`  // after which Azure deletes the files of jobs, 14 to 30; copies are kept for storage.batchDays
	Poll        time.Duration         `json:"poll"`        // between two looks at the jobs, 1m to 1h
	Deadline    time.Duration         `json:"deadline"`    // of a job whose caller names none, from 24h; then it is cancelled
	Nightly     map[string]NightlyJob `json:"nightly"`     // by name: jobs that start by themselves
}

// NightlyJob is a batch job that starts at a fixed time. Its figures are what it is
// planned for; the job itself may have more or less.
type NightlyJob struct {
	Schedule      string        `json:"schedule"`      // five fields of cron, in UTC
	Tenant        string        `json:"tenant"`        // that it is billed to
	Alias         string        `json:"alias"`         // of a model with a batch deployment
	Source        string        `json:"source"`        // prefix of the input's files in the container batch-input
	Deadline      time.Duration `json:"deadline"`      // after the start
	Items         int           `json:"items"`         // lines
	TokensPerItem int           `json:"tokensPerItem"` // of an item's input
	BytesPerItem  int           `json:"bytesPerItem"`  // of an item's line
}

var defaultBatch = Batch{Certificate: "batch-door", Key: 1, OutputDays: 14, Poll: time.Minute, Deadline: 24 * time.Hour}

// Limits of the control plane.
const (
	minPoll        = time.Minute // Azure lets an account's jobs be listed so often
	maxPoll        = time.Hour
	maxDeadline    = 14 * 24 * time.Hour // input files are gone then
	maxNightlyName = 40                  // a CronJob's name has 52 characters, "nightly-" comes before
	maxKey         = 1_000_000
)

var (
	// schedule is the form of five fields of cron.
	schedule = regexp.MustCompile(`^[0-9*/,-]+( [0-9*/,-]+){2}( [0-9A-Za-z*/,-]+){2}$`)
	// prefix is a part of a blob's name that ends in a slash.
	prefix = regexp.MustCompile(`^([A-Za-z0-9._-]+/)+$`)
)

func (b *Batch) check(report *problems) {
	if b.Audience == "" {
		report.bad("batch.audience", b.Audience, "the audience of the tokens that callers show, a URI such as api://onedoor-batch", "api://onedoor-batch")
	}
	if !secretName.MatchString(b.Certificate) {
		report.bad("batch.certificate", b.Certificate, "the name of a certificate in a vault: 1 to 127 letters, digits and hyphens", defaultBatch.Certificate)
	}
	if why := authority(b.Authority); why != "" {
		report.bad("batch.authority", nil, "the certificate of the authority that issues the door's, as PEM: pods trust public ones by themselves, and none issues for a private name; "+why, "")
	}
	if b.Key < 1 || b.Key > maxKey {
		report.bad("batch.key", b.Key, between(1, maxKey)+": the key before it stays valid, so it rises by one at a time", "1")
	}
	if _, err := capacity.OutputExpiry(b.OutputDays); err != nil {
		report.bad("batch.outputDays", b.OutputDays, "an expiry that Azure takes: "+err.Error(), "14")
	}
	if b.Poll < minPoll || b.Poll > maxPoll {
		report.bad("batch.poll", b.Poll, "1m to 1h: Azure refuses who asks more often", "1m")
	}
	if b.Deadline < capacity.BatchWindow || b.Deadline > maxDeadline {
		report.bad("batch.deadline", b.Deadline, fmt.Sprintf("%s to %s: Azure takes up to the one for a job, and its files are gone after the other", capacity.BatchWindow, maxDeadline), "24h")
	}
	for _, name := range sortedKeys(b.Nightly) {
		job, key := b.Nightly[name], "batch.nightly."+name
		checkName(report, key, name, maxNightlyName)
		if _, err := cron.ParseStandard(job.Schedule); err != nil || !schedule.MatchString(job.Schedule) { // the API server's own reading
			report.bad(key+".schedule", job.Schedule, "five fields of cron, in UTC", "0 1 * * *")
		}
		if !prefix.MatchString(job.Source) {
			report.bad(key+".source", job.Source, "the beginning of blob names, with a slash at the end", "nightly/"+name+"/")
		}
		if job.Deadline < time.Hour || job.Deadline > maxDeadline {
			report.bad(key+".deadline", job.Deadline, fmt.Sprintf("1h to %s", maxDeadline), "26h")
		}
	}
}

// checkBatch refuses nightly jobs that no model, tenant or quota takes, and warns
// of those that Azure may not finish in time. Roots that it reads are sound.
func (c *Config) checkBatch(report *problems) {
	c.Batch.Image.check(report, "batch.image", c.Base.Environment == az.Prod)
	onAlias := map[string]int{}
	for _, job := range c.Batch.Nightly {
		onAlias[job.Alias]++
	}
	for _, name := range sortedKeys(c.Batch.Nightly) {
		job, key := c.Batch.Nightly[name], "batch.nightly."+name
		if !c.checkAlias(report, key+".alias", job.Alias) {
			continue
		}
		deployment := c.Models[job.Alias].Batch
		if deployment == nil {
			report.bad(key+".alias", job.Alias, "an alias with a batch deployment: add models."+job.Alias+".batch, or name another", "")
			continue
		}
		c.checkNightlyTenant(report, key, job, *deployment)
		// Jobs of one deployment may run at the same time, each with its part.
		quota := deployment.Capacity * openai.TokensPerUnit / onAlias[job.Alias]
		jobs, err := capacity.JobsFor(capacity.Nightly{Items: job.Items, Tokens: job.TokensPerItem, Bytes: job.BytesPerItem, Deadline: job.Deadline}, quota)
		switch {
		case err != nil:
			report.bad(key+".items", job.Items, fmt.Sprintf("a job that the deployment takes, whose quota is %d enqueued tokens for each of %d nightly jobs: %s", quota, onAlias[job.Alias], err), "")
		case jobs.Late:
			c.warn(key+".deadline", "%s is shorter than what Azure may take: %s", job.Deadline, jobs.Why)
		}
	}
}

// checkNightlyTenant refuses a tenant that may not have the job.
func (c *Config) checkNightlyTenant(report *problems, key string, job NightlyJob, deployment BatchDeployment) {
	tenant, known := c.Tenants[job.Tenant]
	if !known {
		want := "the name of a tenant below " + namespace + ":tenants, which pays for it"
		if near := nearest(job.Tenant, sortedKeys(c.Tenants)); near != "" {
			want += fmt.Sprintf("; nearest is %q", near)
		}
		report.bad(key+".tenant", job.Tenant, want, "")
		return
	}
	if !slices.Contains(c.Plans[tenant.Plan].Aliases, job.Alias) {
		report.bad(key+".tenant", job.Tenant, fmt.Sprintf("a tenant whose plan sells alias %q; plan %q does not", job.Alias, tenant.Plan), "")
	}
	sku, _ := openai.Lookup(deployment.SKU)
	target := routing.Target{Kind: routing.Azure, SKU: deployment.SKU, Region: c.Base.Location, Residency: sku.Residency}
	if len(routing.New(job.Alias, c.Base.Location, target).For(tenant.Residency, c.Base.Location)) == 0 {
		report.bad(key+".tenant", job.Tenant, fmt.Sprintf("a tenant whose residency SKU %s keeps; %q is %s", deployment.SKU, job.Tenant, tenant.Residency), "")
	}
}

// batchSettings are what the control plane reads of the configuration.
func (c *Config) batchSettings() settings.Settings {
	expiry, err := capacity.OutputExpiry(c.Batch.OutputDays)
	if err != nil { // which was checked
		panic(err)
	}
	s := settings.Settings{
		Directory: c.Base.TenantID, Audience: c.Batch.Audience, Region: c.Base.Location,
		Aliases: map[string]settings.Alias{}, Plans: map[string]settings.Plan{}, Tenants: map[string]settings.Tenant{},
		Queues: map[string]settings.Intake{}, NightlyJobs: map[string]settings.Nightly{},
		OutputExpirySeconds: expiry, PollSeconds: seconds(c.Batch.Poll), DeadlineSeconds: seconds(c.Batch.Deadline),
		MaxLines: capacity.MaxLines, MaxFileBytes: capacity.MaxFileBytes, MaxFilesInTheAccount: capacity.MaxFiles,
		BatchWindowSeconds: seconds(capacity.BatchWindow), ForgetSeconds: settings.Forget(c.Storage.BatchDays),
		Topic: queue.Ingest, Ledger: storage.Ledger, InputContainer: storage.BatchInput, OutputContainer: storage.BatchOutput,
	}
	table, err := prices.Load()
	if err != nil { // it is a part of the program
		panic(err)
	}
	for name, work := range c.Queue.Queues {
		_, ttl, _ := work.hold()
		alias := c.Workers.Queues[name].Alias
		s.Queues[name] = settings.Intake{
			ContentType: queue.ContentType(name), Payloads: work.container(name), Results: resultsOf(name),
			Alias: alias, PriceAs: priceAs(table, c.Models[alias]), TimeToLiveSeconds: seconds(ttl),
		}
	}
	for alias, model := range c.Models {
		if model.Batch != nil {
			sku, _ := openai.Lookup(model.Batch.SKU)
			s.Aliases[alias] = settings.Alias{Deployment: alias, Model: model.Model, SKU: model.Batch.SKU, Residency: string(sku.Residency), EnqueuedTokens: model.Batch.Capacity * openai.TokensPerUnit}
		}
	}
	for name, plan := range c.Plans {
		s.Plans[name] = settings.Plan{TokensPerMinute: plan.TokensPerMinute, Quota: plan.Quota, Period: string(plan.Period), Aliases: sorted(plan.Aliases)}
	}
	for name, tenant := range c.Tenants {
		s.Tenants[name] = settings.Tenant{Applications: sorted(tenant.Applications), Plan: tenant.Plan, Residency: string(tenant.Residency)}
	}
	for name, job := range c.Batch.Nightly {
		s.NightlyJobs[name] = settings.Nightly{Schedule: job.Schedule, Tenant: job.Tenant, Alias: job.Alias, Source: job.Source, DeadlineSeconds: seconds(job.Deadline)}
	}
	return s
}

// seconds is d in whole seconds.
func seconds(d time.Duration) int { return int(d / time.Second) }

// sorted is a sorted copy of list, never nil.
func sorted(list []string) []string {
	return slices.Sorted(slices.Values(list))
}

// batchArgs are what the configuration says about the control plane.
func (c *Config) batchArgs(p *platform, made ground) batch.Args {
	args := batch.Args{
		Scope: c.Scope(), TenantID: c.Base.TenantID, Group: p.base.Platform, Cluster: p.cluster.Made,
		Namespace: made.namespaces[kube.Batch], Workers: made.namespaces[kube.Workers],
		Image: p.image(c.Batch.Image), ClientID: p.trust.Clients[controlPlane],
		Vault:     batch.Vault{Resource: p.vault.ControlPlane.Resource, URL: p.vault.ControlPlane.URL, Certificate: c.Batch.Certificate},
		Verifiers: map[string]ref.Identity{}, Key: c.Batch.Key,
		Door: door.Door{
			Name: string(netplan.BatchDoor), Zone: p.network.Zones[c.doorsZone()], Address: c.plan.Door(netplan.BatchDoor),
			Subnet: p.network.Subnets[netplan.Doors], Sources: c.callers(kube.Batch),
		},
		Authority: c.Batch.Authority,
		Events:    batch.Events{Insights: p.base.Logs.Component, Connection: p.base.Insights, Sender: p.identity.ControlPlane},
		Account:   pulumi.String(""), Blobs: p.storage.BlobURL, Tables: p.storage.TableURL, BusHost: p.queue.Host,
		Nodes: batch.Nodes{
			Selector: nodesOf("batch"), Tolerations: aks.Tolerations(aks.Pool{Taints: []string{batchTaint}}),
			Zones: len(c.Cluster.Pools.Batch.Zones), Clients: nodesOf("worker"),
		},
		Settings: c.batchSettings(),
	}
	if p.models.Batch != nil {
		args.Account = p.models.Batch.Endpoint
	}
	for modality := range c.Workers.Queues {
		args.Verifiers[worker(modality)] = p.identity.Workers[modality]
	}
	return args
}
