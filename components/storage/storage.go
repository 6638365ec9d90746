// Package storage owns the one storage account: containers for what passes
// through the platform, the ledger table, and how long each is kept.
package storage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	storage "github.com/pulumi/pulumi-azure-native-sdk/storage/v2/v20240101"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/diagnostics"
	"onedoor/internal/privatelink"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:storage:Storage"

// component is the value of the component tag.
const component = "storage"

// The containers that do not belong to one queue.
const (
	BatchInput  = "batch-input"  // of batch jobs, written by the control plane
	BatchOutput = "batch-output" // of batch jobs, kept by the platform
	Evidence    = "evidence"     // what compliance reviewers read, written by deployments
	Weights     = "weights"      // of models that the cluster serves, written by deployments; kept for good
)

// Reserved are the containers that no queue may use for its payloads: the
// platform's own and those of the modalities' results.
func Reserved(modalities ...string) []string {
	reserved := []string{BatchInput, BatchOutput, Evidence, Weights}
	for _, modality := range modalities {
		reserved = append(reserved, resultsOf(modality))
	}
	return reserved
}

// Ledger is the table in which the control plane keeps what it has accepted.
const Ledger = "ledger"

// Args are the inputs of New.
type Args struct {
	Scope        az.Scope
	Group        ref.Group
	Endpoints    ref.Subnet // of data endpoints
	Zones        ref.Zones
	Logs         ref.Logs         // who reads and writes what
	ControlPlane ref.Identity     // writes payloads, batch files and the ledger; reads results
	Runner       ref.Identity     // writes evidence and weights
	Serving      ref.Identity     // reads weights
	Queues       map[string]Queue // by modality
	Days         Days
}

// Queue is what a queue's worker needs of storage.
type Queue struct {
	Payloads string       // container of its payloads
	Worker   ref.Identity // reads them, and writes results
}

// Days is how long things are kept.
type Days struct {
	Payloads, Results, Batch, Evidence int
	SoftDelete                         int // in which a deleted blob can be restored
}

// Storage holds the account. Fields below ResourceState are its outputs.
type Storage struct {
	pulumi.ResourceState
	Account ref.Resource // ready once its endpoints resolve
	// Name of the account, BlobURL and TableURL resolve only after every role of the
	// account exists, so that nothing starts without access.
	Name, BlobURL, TableURL pulumi.StringOutput
}

// New declares the account. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Storage, error) {
	s := &Storage{}
	if err := ctx.RegisterComponentResource(Type, name, s, opts...); err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, name: name, args: args, in: pulumi.Parent(s)}
	if err := b.account(); err != nil {
		return nil, err
	}
	endpoints, err := b.endpoints()
	if err != nil {
		return nil, err
	}
	containers, err := b.containers()
	if err != nil {
		return nil, err
	}
	if err := b.lifecycle(containers); err != nil {
		return nil, err
	}
	grants, err := b.grants(containers)
	if err != nil {
		return nil, err
	}
	ready := append(endpoints, grants...)
	s.Account = ref.Ready(b.id, endpoints...)
	s.Name = ref.After(pulumi.String(b.plain), ready...)
	s.BlobURL = ref.After(pulumi.String(fmt.Sprintf("https://%s.blob.core.windows.net/", b.plain)), ready...)
	s.TableURL = ref.After(pulumi.String(fmt.Sprintf("https://%s.table.core.windows.net/", b.plain)), ready...)
	return s, ctx.RegisterResourceOutputs(s, pulumi.Map{"blobUrl": s.BlobURL, "tableUrl": s.TableURL})
}

// builder carries what every step needs.
type builder struct {
	ctx  *pulumi.Context
	name string
	args Args
	in   pulumi.ResourceOption // the component as parent

	plain       string // name of the account
	id          string // of the account
	made        *storage.StorageAccount
	accountName pulumi.StringOutput // its name, once it exists
}

// account declares the account, closed from the first request on: no keys, no
// anonymous reads, no public network.
// https://learn.microsoft.com/azure/storage/common/shared-key-authorization-prevent
func (b *builder) account() error {
	scope := b.args.Scope
	b.plain = scope.Name(az.StorageAccount)
	b.id = scope.ResourceID(b.args.Group.PlainName, "Microsoft.Storage/storageAccounts", b.plain)
	made, err := storage.NewStorageAccount(b.ctx, b.name, &storage.StorageAccountArgs{
		AccountName:                  pulumi.String(b.plain),
		ResourceGroupName:            b.args.Group.Name,
		Location:                     pulumi.String(scope.Location),
		Kind:                         pulumi.String("StorageV2"),
		Sku:                          storage.SkuArgs{Name: pulumi.String("Standard_ZRS")},
		AccessTier:                   storage.AccessTierHot,
		AllowSharedKeyAccess:         pulumi.Bool(false),
		AllowBlobPublicAccess:        pulumi.Bool(false),
		AllowCrossTenantReplication:  pulumi.Bool(false),
		AllowedCopyScope:             pulumi.String("AAD"),
		DefaultToOAuthAuthentication: pulumi.Bool(true),
		EnableHttpsTrafficOnly:       pulumi.Bool(true),
		IsHnsEnabled:                 pulumi.Bool(false), // versioning and it exclude one another
		IsLocalUserEnabled:           pulumi.Bool(false),
		IsSftpEnabled:                pulumi.Bool(false),
		MinimumTlsVersion:            pulumi.String("TLS1_2"),
		PublicNetworkAccess:          pulumi.String("Disabled"),
		NetworkRuleSet:               storage.NetworkRuleSetArgs{DefaultAction: storage.DefaultActionDeny, Bypass: pulumi.String("AzureServices")}, // see lifecycle
		Tags:                         scope.Tags(component),
	}, b.in, pulumi.Protect(scope.Protect()))
	if err != nil {
		return fmt.Errorf("storage %q: account: %w", b.name, err)
	}
	b.made = made
	b.accountName = ref.After(pulumi.String(b.plain), made)

	// Both singletons must be called default.
	blobs, err := storage.NewBlobServiceProperties(b.ctx, b.name+"-blobs", &storage.BlobServicePropertiesArgs{
		BlobServicesName:               pulumi.String("default"),
		AccountName:                    b.accountName,
		ResourceGroupName:              b.args.Group.Name,
		IsVersioningEnabled:            pulumi.Bool(true),
		DeleteRetentionPolicy:          storage.DeleteRetentionPolicyArgs{Enabled: pulumi.Bool(true), Days: pulumi.Int(b.args.Days.SoftDelete)},
		ContainerDeleteRetentionPolicy: storage.DeleteRetentionPolicyArgs{Enabled: pulumi.Bool(true), Days: pulumi.Int(b.args.Days.SoftDelete)},
	}, b.in)
	if err != nil {
		return fmt.Errorf("storage %q: blob service: %w", b.name, err)
	}
	// The account has metrics alone; its services have the logs. That of tables is
	// there without being declared.
	for _, service := range []struct {
		name  string
		after pulumi.Resource
	}{{"blob", blobs}, {"table", made}} {
		of := ref.After(pulumi.String(b.id+"/"+service.name+"Services/default"), service.after)
		if err := diagnostics.Send(b.ctx, b.name+"-"+service.name, of, b.args.Logs, diagnostics.Setting{}, b.in); err != nil {
			return err
		}
	}
	if _, err := storage.NewTable(b.ctx, b.name+"-ledger", &storage.TableArgs{
		TableName:         pulumi.String(Ledger),
		AccountName:       b.accountName,
		ResourceGroupName: b.args.Group.Name,
	}, b.in, pulumi.Protect(scope.Protect())); err != nil {
		return fmt.Errorf("storage %q: ledger: %w", b.name, err)
	}
	return nil
}

// endpoints puts blobs and tables into the network, each by an endpoint and a
// zone of its own.
func (b *builder) endpoints() ([]pulumi.Resource, error) {
	var ready []pulumi.Resource
	for _, part := range []struct{ id, zone string }{{"blob", az.ZoneBlob}, {"table", az.ZoneTable}} {
		made, err := privatelink.New(b.ctx, b.name+"-"+part.id, privatelink.Args{
			Scope: b.args.Scope, Component: component, Group: b.args.Group, Subnet: b.args.Endpoints,
			Target: ref.Ready(b.id, b.made), GroupID: part.id, Zone: part.zone, Zones: b.args.Zones,
		}, b.in)
		if err != nil {
			return nil, err
		}
		ready = append(ready, made...)
	}
	return ready, nil
}

// container is one container with how long it keeps what is in it.
type container struct {
	name string
	days int // 0 for good
	at   ref.Resource

	versionDays int // how long an overwritten or deleted version stays
}

// resultsOf is the container of a modality's results.
func resultsOf(modality string) string { return "results-" + modality }

// containers declares every container. None is shared between writers that must
// not see one another: each worker has its own two.
func (b *builder) containers() (map[string]container, error) {
	wanted := []container{
		{name: BatchInput, days: b.args.Days.Batch, versionDays: 1},
		{name: BatchOutput, days: b.args.Days.Batch, versionDays: 1},
		{name: Evidence, days: b.args.Days.Evidence, versionDays: b.args.Days.Evidence}, // what was overwritten is evidence too
		{name: Weights, versionDays: 1},
	}
	for modality, queue := range b.args.Queues {
		wanted = append(wanted,
			container{name: queue.Payloads, days: b.args.Days.Payloads, versionDays: 1},
			container{name: resultsOf(modality), days: b.args.Days.Results, versionDays: 1})
	}
	slices.SortFunc(wanted, func(x, y container) int { return cmp.Compare(x.name, y.name) })
	out := map[string]container{}
	for _, c := range wanted {
		if _, twice := out[c.name]; twice {
			return nil, fmt.Errorf("storage %q: two uses of container %s", b.name, c.name)
		}
		made, err := storage.NewBlobContainer(b.ctx, b.name+"-"+c.name, &storage.BlobContainerArgs{
			ContainerName:     pulumi.String(c.name),
			AccountName:       b.accountName,
			ResourceGroupName: b.args.Group.Name,
			PublicAccess:      storage.PublicAccessNone,
		}, b.in, pulumi.Protect(b.args.Scope.Protect()))
		if err != nil {
			return nil, fmt.Errorf("storage %q: container %s: %w", b.name, c.name, err)
		}
		c.at = ref.Ready(b.id+"/blobServices/default/containers/"+c.name, made)
		out[c.name] = c
	}
	return out, nil
}

// lifecycle deletes what has been kept long enough, one rule per container, and
// the versions that deleting or overwriting a blob leaves behind. A version's age
// counts from when it was written, not from when it was superseded. Azure does it by
// requests of its own, which the account's firewall must let in as trusted ones; they
// read nothing.
// https://learn.microsoft.com/azure/storage/blobs/lifecycle-management-overview
func (b *builder) lifecycle(containers map[string]container) error {
	rules := storage.ManagementPolicyRuleArray{}
	for _, name := range slices.Sorted(maps.Keys(containers)) {
		actions := storage.ManagementPolicyActionArgs{
			Version: storage.ManagementPolicyVersionArgs{Delete: storage.DateAfterCreationArgs{DaysAfterCreationGreaterThan: pulumi.Float64(containers[name].versionDays)}},
		}
		if days := containers[name].days; days > 0 {
			actions.BaseBlob = storage.ManagementPolicyBaseBlobArgs{Delete: storage.DateAfterModificationArgs{DaysAfterModificationGreaterThan: pulumi.Float64(days)}}
		}
		rules = append(rules, storage.ManagementPolicyRuleArgs{
			Name:    pulumi.String("expire-" + name),
			Type:    pulumi.String("Lifecycle"),
			Enabled: pulumi.Bool(true),
			Definition: storage.ManagementPolicyDefinitionArgs{
				Filters: storage.ManagementPolicyFilterArgs{
					BlobTypes:   pulumi.StringArray{pulumi.String("blockBlob")},
					PrefixMatch: pulumi.StringArray{pulumi.String(name + "/")},
				},
				Actions: actions,
			},
		})
	}
	if _, err := storage.NewManagementPolicy(b.ctx, b.name+"-lifecycle", &storage.ManagementPolicyArgs{
		ManagementPolicyName: pulumi.String("default"), // the only name that Azure takes
		AccountName:          b.accountName,
		ResourceGroupName:    b.args.Group.Name,
		Policy:               storage.ManagementPolicySchemaArgs{Rules: rules},
	}, b.in); err != nil {
		return fmt.Errorf("storage %q: lifecycle: %w", b.name, err)
	}
	return nil
}

// grants gives each principal its containers and nothing else.
func (b *builder) grants(containers map[string]container) ([]pulumi.Resource, error) {
	type grant struct {
		name string
		role az.Role
		to   ref.Identity
		at   ref.Resource
	}
	account := ref.Ready(b.id, b.made)
	grants := []grant{
		{"control-plane-" + BatchInput, az.BlobContributor, b.args.ControlPlane, containers[BatchInput].at},
		{"control-plane-" + BatchOutput, az.BlobContributor, b.args.ControlPlane, containers[BatchOutput].at},
		{"control-plane-ledger", az.TableContributor, b.args.ControlPlane, account},
		{"control-plane-delegates", az.BlobDelegator, b.args.ControlPlane, account}, // signs uploads of large payloads
		{"runner-" + Evidence, az.BlobContributor, b.args.Runner, containers[Evidence].at},
		{"runner-" + Weights, az.BlobContributor, b.args.Runner, containers[Weights].at},
		{"serving-" + Weights, az.BlobReader, b.args.Serving, containers[Weights].at},
	}
	for _, modality := range slices.Sorted(maps.Keys(b.args.Queues)) {
		queue := b.args.Queues[modality]
		payloads, results := containers[queue.Payloads].at, containers[resultsOf(modality)].at
		grants = append(grants,
			grant{"control-plane-" + queue.Payloads, az.BlobContributor, b.args.ControlPlane, payloads},
			grant{"control-plane-" + resultsOf(modality), az.BlobReader, b.args.ControlPlane, results},
			grant{"worker-" + modality + "-payloads", az.BlobReader, queue.Worker, payloads},
			grant{"worker-" + modality + "-results", az.BlobContributor, queue.Worker, results})
	}
	var ready []pulumi.Resource
	for _, g := range grants {
		made, err := b.args.Scope.Grant(b.ctx, b.name+"-"+g.name, g.role, g.to, g.at, b.in)
		if err != nil {
			return nil, err
		}
		ready = append(ready, made)
	}
	return ready, nil
}
