// Package models owns the model accounts: one for synchronous calls in each
// region, which the gateway alone may call, and one for batch jobs, which the
// control plane alone may reach. No account has both kinds of deployment, since
// one host name serves both and no network rule could tell them apart. Which
// deployment serves which name belongs to the gateway.
package models

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/openai"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:models:Models"

// component is the value of the component tag.
const component = "models"

// Args are the inputs of New.
type Args struct {
	Scope az.Scope
	Logs  ref.Logs
	Zones ref.Zones
	Sync  Door
	Batch Door
	// Accounts are the synchronous ones with their deployments, by region. A region
	// may be another one than the stack's: the endpoint stays in the stack's.
	Accounts map[string][]Deployment
	// BatchJobs are the deployments of the batch account, in the stack's region;
	// none leaves the account out.
	BatchJobs []Deployment
}

// Door is where a kind of account stands and who may call it.
type Door struct {
	Group     ref.Group
	Endpoints ref.Subnet
	Caller    ref.Identity // the only one
	Role      az.Role      // what it may do
}

// Deployment is one deployment of a model.
type Deployment struct {
	Name     string // in its account
	Model    string // in Azure's catalogue
	Version  string // pinned
	SKU      string
	Capacity int // units, as the SKU counts them
	Reserve  int // tokens a minute that queues leave to people; a tag says so to whoever judges the plan
	Filter   openai.Filter
}

// AccountName is the Azure name, and the custom subdomain, of the synchronous
// account in region.
func AccountName(scope az.Scope, region string) string { return scope.Name(az.ModelAccount, region) }

// check reports everything that is wrong with the arguments.
func (a Args) check() error {
	var found []error
	for _, region := range slices.Sorted(maps.Keys(a.Accounts)) {
		if len(a.Accounts[region]) == 0 {
			found = append(found, fmt.Errorf("account of %s: no deployments, so nobody would call it", region))
		}
		found = append(found, checkDeployments("account of "+region, a.Accounts[region], false)...)
	}
	return errors.Join(append(found, checkDeployments("batch account", a.BatchJobs, true)...)...)
}

// checkDeployments reports what is wrong with the deployments of one account.
func checkDeployments(account string, deployments []Deployment, batch bool) []error {
	var found []error
	if n := len(deployments); n > openai.MaxDeployments {
		found = append(found, fmt.Errorf("%s: %d deployments, want at most %d, Azure's limit", account, n, openai.MaxDeployments))
	}
	names := map[string]bool{}
	for _, d := range deployments {
		fail := func(format string, args ...any) {
			found = append(found, fmt.Errorf("%s: deployment %q: "+format, append([]any{account, d.Name}, args...)...))
		}
		if names[d.Name] {
			fail("a second one of that name")
		}
		names[d.Name] = true
		if sku, known := openai.Lookup(d.SKU); !known || sku.Batch != batch {
			fail("SKU %q, want one of %q: an account has batch jobs or synchronous calls, never both", d.SKU, openai.Names(batch))
		}
		if d.Capacity < 1 {
			fail("capacity %d, want at least 1: Azure gives a forgotten one the least there is, and every call fails", d.Capacity)
		}
		if d.Version == "" {
			fail("no version: Azure would move it to another one by itself")
		}
		if !slices.Contains(openai.FilterNames, d.Filter) {
			fail("content filter %q, want one of %q", d.Filter, openai.FilterNames)
		}
	}
	return found
}

// Models holds the accounts. Fields below ResourceState are its outputs.
type Models struct {
	pulumi.ResourceState
	Accounts map[string]ref.ModelAccount // the synchronous ones by region, each ready for the gateway
	Batch    *ref.ModelAccount           // ready for the control plane; nil without batch deployments
}

// New declares the accounts. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Models, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("models %q: %w", name, err)
	}
	m := &Models{Accounts: map[string]ref.ModelAccount{}}
	if err := ctx.RegisterComponentResource(Type, name, m, opts...); err != nil {
		return nil, err
	}
	in := pulumi.Parent(m)
	endpoints := pulumi.Map{}
	for _, region := range slices.Sorted(maps.Keys(args.Accounts)) {
		made, err := newAccount(ctx, account{
			name: name + "-" + region, plain: AccountName(args.Scope, region), region: region,
			door: args.Sync, deployments: args.Accounts[region],
		}, args, in)
		if err != nil {
			return nil, fmt.Errorf("models %q: account of %s: %w", name, region, err)
		}
		m.Accounts[region] = made
		endpoints[region] = made.Endpoint
	}
	outputs := pulumi.Map{"endpoints": endpoints}
	if len(args.BatchJobs) > 0 {
		made, err := newAccount(ctx, account{
			name: name + "-batch", plain: args.Scope.Name(az.ModelAccount, "batch"), region: args.Scope.Location,
			door: args.Batch, deployments: args.BatchJobs,
		}, args, in)
		if err != nil {
			return nil, fmt.Errorf("models %q: batch account: %w", name, err)
		}
		m.Batch = &made
		outputs["batchEndpoint"] = made.Endpoint
	}
	return m, ctx.RegisterResourceOutputs(m, outputs)
}
