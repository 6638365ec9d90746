// Package observability owns what somebody sees of the platform: alerts on
// metrics, logs and changes, the functions that logs are asked by, the workspace
// of the cluster's metrics with its rules, and the workbook of usage and cost. What an
// alert is about stands in package alerts. The resources' diagnostic settings belong
// to whoever declares the resource, the action group to the foundation.
package observability

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/alerts"
	"onedoor/internal/az"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:observability:Observability"

// RunbooksHere is the place of the pages in the repository, for who has no address
// for them.
const RunbooksHere = "docs/runbooks"

// component is the value of the component tag.
const component = "observability"

// Args are the inputs of New.
type Args struct {
	Scope    az.Scope
	Group    ref.Group // alerts live here
	Logs     ref.Logs
	Runbooks string       // address that the pages of alerts stand below
	Cluster  ref.Resource // whose metrics are collected
	Gateway  string       // ARM id of API Management, whose calls are counted

	Bus      ref.Resource
	Accounts []Account // model accounts, with who may call each
	Groups   []ref.Group
	Tenants  []alerts.Tenant
	Models   []alerts.Model
	Served   []alerts.Served // models that the cluster serves
}

// Account is a model account with the one identity that may call it.
type Account struct {
	Name   string // short, for names: a region, or "batch"
	Door   string // "gateway" or "batch"
	Caller ref.Identity
	ref.Resource
}

func (a Args) check() error {
	var found []error
	if at, err := url.Parse(a.Runbooks); a.Runbooks != RunbooksHere && (err != nil || at.Scheme != "https" || at.Host == "") {
		found = append(found, fmt.Errorf("runbooks: got %q, want an https address: an alert without a way to its page helps nobody", a.Runbooks))
	}
	if len(a.Groups) == 0 {
		found = append(found, errors.New("groups: none, so no change would be seen"))
	}
	names := map[string]bool{}
	for _, account := range a.Accounts {
		if names[account.Name] {
			found = append(found, fmt.Errorf("accounts: there are two called %q", account.Name))
		}
		names[account.Name] = true
	}
	return errors.Join(found...)
}

// Observability holds the alerts and what they read.
type Observability struct {
	pulumi.ResourceState
	Metrics ref.Resource // the workspace of the cluster's metrics
	// Functions are what whoever owns the workspace has to add to it, by name. It is
	// empty where the workspace is in the stack's subscription: then they are declared.
	Functions map[string]pulumi.StringOutput
}

// builder is what the parts of the component share.
type builder struct {
	*Observability
	ctx  *pulumi.Context
	name string
	args Args
	in   pulumi.ResourceOption
}

// New declares alerts, functions, rules and workbook. Children carry name, so two
// can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Observability, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("observability %q: %w", name, err)
	}
	o := &Observability{Functions: map[string]pulumi.StringOutput{}}
	if err := ctx.RegisterComponentResource(Type, name, o, opts...); err != nil {
		return nil, err
	}
	b := &builder{o, ctx, name, args, pulumi.Parent(o)}
	functions, err := b.functions()
	if err != nil {
		return nil, fmt.Errorf("observability %q: functions: %w", name, err)
	}
	if err := b.collect(); err != nil {
		return nil, fmt.Errorf("observability %q: metrics: %w", name, err)
	}
	for _, alert := range alerts.All() {
		if err := b.alert(alert, functions); err != nil {
			return nil, fmt.Errorf("observability %q: alert %s: %w", name, alert.ID, err)
		}
	}
	if err := b.rules(); err != nil {
		return nil, fmt.Errorf("observability %q: rules: %w", name, err)
	}
	if err := b.workbook(functions); err != nil {
		return nil, fmt.Errorf("observability %q: workbook: %w", name, err)
	}
	return o, ctx.RegisterResourceOutputs(o, pulumi.Map{"metricsWorkspaceId": o.Metrics.ID})
}

// gatewayAccounts are the accounts of synchronous calls, in the order of their names.
func (a Args) gatewayAccounts() []Account {
	var list []Account
	for _, account := range a.Accounts {
		if account.Door == alerts.DoorGateway {
			list = append(list, account)
		}
	}
	slices.SortFunc(list, func(x, y Account) int { return compare(x.Name, y.Name) })
	return list
}
