// Package gateway owns API Management, the one door of synchronous model calls:
// the service and how it sits in the network, its back ends, the API with its
// policies, plans as products, and tenants as subscriptions. What the policies
// say is package apimpolicy's; the accounts behind it, and the gateway's role on
// them, belong to the models.
package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/az"
	"onedoor/internal/az/apim"
	"onedoor/internal/az/netplan"
	"onedoor/internal/ref"
	"onedoor/internal/routing"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:gateway:Gateway"

// component is the value of the component tag.
const component = "gateway"

// Args are the inputs of New.
type Args struct {
	Scope     az.Scope
	Group     ref.Group
	Network   netplan.GatewayNetwork
	Subnet    ref.Subnet // the gateway's own
	Doors     ref.Subnet // takes the private endpoint of mode endpoint
	Zones     ref.Zones  // with the gateway's own, if it is internal
	SKU       SKU
	Publisher Publisher
	Identity  ref.Identity // calls the models, and sends metrics
	Logs      ref.Logs
	// Insights is the connection string of Logs.Component. It takes no data without
	// a token, but is kept secret all the same.
	Insights pulumi.StringInput
	Vault    Vault
	Rules    apimpolicy.Gateway      // tenants, plans, and which deployments serve them
	Keys     map[string]Key          // of tenants
	Workers  map[string]ref.Identity // may name the tenant that they call for; by modality
	Accounts []ref.ModelAccount      // that the rules' Azure targets are in
	Secrets  map[string]string       // names of secrets in the vault, by back end: keys of those that are not Azure's
	// Authority is the certificate, as PEM, of an authority that back ends may have
	// theirs from besides the public ones; classic only, "" for none.
	// https://learn.microsoft.com/azure/api-management/api-management-howto-ca-certificates
	Authority string
}

// SKU is what is bought.
type SKU struct {
	Name     apim.SKU // one of the mode's
	Capacity int      // units
	Zones    []string // that the units are spread over, Premium only; none leaves them in one
}

// Publisher is whom Azure writes to about the service.
type Publisher struct{ Name, Email string } // 1 to 100 characters each

// Vault holds the tenants' keys, and those of back ends.
type Vault struct {
	ref.Resource
	URL pulumi.StringInput // with a slash at the end
}

// Key is how a tenant's key is kept in the vault.
type Key struct {
	Owner      string // e-mail address of who answers for the tenant; a tag of the key
	Generation int    // 0 to 99, part of the secret's name; raised when that of a deleted one is still taken
}

// check reports everything that is wrong with the arguments. The documents are
// checked here, too: a mistake in one shows in the preview, not in an update.
func (a Args) check() error {
	rules := a.Rules.Check()
	found := []error{rules}
	fail := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	if tier, _ := apim.Lookup(a.SKU.Name); tier.Mode != a.Network.Mode {
		fail("SKU: got %q, want one of %q: mode %s has no other", a.SKU.Name, apim.Of(a.Network.Mode), a.Network.Mode)
	} else if a.SKU.Capacity < 1 || a.SKU.Capacity > tier.Units {
		fail("capacity: got %d units, want 1 to %d of SKU %s", a.SKU.Capacity, tier.Units, a.SKU.Name)
	}
	if n := len(a.SKU.Zones); n > 0 && (a.SKU.Name != apim.Premium || a.SKU.Capacity%n != 0) {
		fail("zones: got %d for %d units of SKU %s, want SKU Premium with as many units in each zone", n, a.SKU.Capacity, a.SKU.Name)
	}
	for _, text := range []struct{ what, is string }{{"publisher name", a.Publisher.Name}, {"publisher e-mail", a.Publisher.Email}} {
		if n := utf8.RuneCountInString(text.is); n < 1 || n > 100 {
			fail("%s: got %d characters, want 1 to 100", text.what, n)
		}
	}
	if zone := a.zone(); zone != "" && a.Network.Mode != netplan.Endpoint && a.Zones[zone].Name == "" {
		fail("zones: %q is missing: nobody would find an internal gateway", zone)
	}
	for _, tenant := range byName(a.Rules.Tenants, func(t apimpolicy.Tenant) string { return t.Name }) {
		key := a.Keys[tenant.Name]
		if key.Owner == "" {
			fail("tenant %q: no owner: nobody would answer for its key", tenant.Name)
		}
		if key.Generation < 0 || key.Generation > 99 {
			fail("tenant %q: got generation %d of its key, want 0 to 99", tenant.Name, key.Generation)
		}
	}
	accounts := map[string]bool{}
	for _, account := range a.Accounts {
		accounts[account.Name] = true
	}
	targets, err := apimpolicy.Backends(a.Rules.Aliases)
	found = append(found, err)
	for _, t := range targets {
		if t.Kind == routing.Azure && !accounts[t.Account] {
			fail("back end %q: model account %q is not among those given", t.Backend, t.Account)
		}
		if t.Kind == routing.External && a.Secrets[t.Backend] == "" {
			fail("back end %q: no secret with its key: whoever serves it would refuse every call", t.Backend)
		}
	}
	if rules != nil {
		return errors.Join(found...)
	}
	for _, doc := range a.documents() {
		for _, problem := range apimpolicy.Check(doc) {
			fail("policy %q: %w", doc.Name, problem)
		}
	}
	return errors.Join(found...)
}

// zone is the private zone that the gateway's name resolves in, "" for none.
func (a Args) zone() string { return a.Network.Zone(a.name()) }

// name is the Azure name of the service, the first label of its host name.
func (a Args) name() string { return a.Scope.Name(az.APIManagement) }

// Host is the name that callers of the scope's gateway connect to.
func Host(scope az.Scope) string { return scope.Name(az.APIManagement) + ".azure-api.net" }

// Gateway holds the service. Fields below ResourceState are its outputs.
type Gateway struct {
	pulumi.ResourceState
	Name string              // of the service
	Host string              // that callers connect to, by https
	URL  pulumi.StringOutput // the same as a URL without a slash at the end; ready once calls are served
}

// New declares the gateway. Children carry name, so two can coexist. In mode
// endpoint opts name a provider of patches, too.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Gateway, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("gateway %q: %w", name, err)
	}
	g := &Gateway{Name: args.name(), Host: Host(args.Scope)}
	if err := ctx.RegisterComponentResource(Type, name, g, opts...); err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, name: name, args: args, parent: g, in: pulumi.Parent(g)}
	ready, err := b.build()
	if err != nil {
		return nil, fmt.Errorf("gateway %q: %w", name, err)
	}
	g.URL = ref.After(pulumi.String("https://"+g.Host), ready...)
	return g, ctx.RegisterResourceOutputs(g, pulumi.Map{"url": g.URL})
}

// builder carries what every step needs.
type builder struct {
	ctx    *pulumi.Context
	name   string
	args   Args
	parent pulumi.Resource
	in     pulumi.ResourceOption // the component as parent

	made    *service
	id      string              // of the service
	service pulumi.StringOutput // its name, once it exists
}

// child are the options of what lives in the service and goes with it, with what
// must exist before, although no value flows from it.
func (b *builder) child(after ...pulumi.Resource) []pulumi.ResourceOption {
	return []pulumi.ResourceOption{b.in, pulumi.DeletedWith(b.made), pulumi.DependsOn(after)}
}

// build declares everything in the order in which Azure needs it. Operations come
// after the API's policy, and products after the operations: nothing is served
// before it is limited. What it returns exists once calls are served.
func (b *builder) build() ([]pulumi.Resource, error) {
	reached, err := b.declare()
	if err != nil {
		return nil, err
	}
	backends, err := b.backends()
	if err != nil {
		return nil, err
	}
	fragments, err := b.fragments()
	if err != nil {
		return nil, err
	}
	loggers, err := b.logs()
	if err != nil {
		return nil, err
	}
	var last []pulumi.Resource
	var made []api
	for _, a := range b.apis() {
		end, err := b.api(a, loggers, append(slices.Clone(backends), fragments...))
		if err != nil {
			return nil, err
		}
		a.last = end
		made = append(made, a)
		last = append(last, end)
	}
	products, err := b.products(made, fragments)
	if err != nil {
		return nil, err
	}
	if err := b.tenants(products); err != nil {
		return nil, err
	}
	for _, plan := range slices.Sorted(maps.Keys(products)) {
		last = append(last, products[plan])
	}
	return append(reached, last...), nil
}

// byName sorts, so that the order of the configuration changes nothing.
func byName[T any](list []T, name func(T) string) []T {
	return slices.SortedFunc(slices.Values(list), func(a, b T) int { return cmp.Compare(name(a), name(b)) })
}

// named is the name of a child, once it exists.
func named(name string, made pulumi.Resource) pulumi.StringOutput {
	return ref.After(pulumi.String(name), made)
}
