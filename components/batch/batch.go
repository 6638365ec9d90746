// Package batch owns the batch control plane as it runs in the cluster: its pods
// with their configuration, the door they stand behind, the keys that prove whose
// a piece of work is, and the jobs that start batch jobs at night. What the program
// inside does is written in docs/contracts/control-plane.md. The batch account, its
// roles, namespaces, accounts and network policies belong to others.
package batch

import (
	"errors"
	"fmt"

	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/aks"
	"onedoor/internal/door"
	"onedoor/internal/kube"
	"onedoor/internal/ref"
	"onedoor/internal/settings"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:batch:Batch"

// Args are the inputs of New.
type Args struct {
	Scope     az.Scope
	TenantID  string          // GUID of the Entra tenant
	Group     ref.Group       // of the vault
	Cluster   pulumi.Resource // everything in the cluster goes with it
	Namespace pulumi.StringInput
	Workers   pulumi.StringInput // namespace in which nightly jobs start, as every client of the door
	Image     pulumi.StringInput
	ClientID  pulumi.StringInput // of the control plane's identity, once its pods may act as it
	Vault     Vault
	Verifiers map[string]ref.Identity // who reads the keys to verify with them, by a short name
	Key       int                     // id of the key that signs, from 1; the one before it is valid too
	Door      door.Door               // where the control plane is called
	Authority string                  // certificate, as PEM, of who issued the door's
	Account   pulumi.StringInput      // URL of the batch account
	Blobs     pulumi.StringInput      // URL of the storage account's blobs
	Tables    pulumi.StringInput      // and tables
	BusHost   pulumi.StringInput      // where senders connect
	Events    Events
	Nodes     Nodes
	Settings  settings.Settings
}

// Vault is the control plane's own.
type Vault struct {
	ref.Resource
	URL         pulumi.StringInput // once the control plane may read it
	Certificate string             // name of the certificate that the door shows, with its key as PEM
}

// Events is where the control plane tells what has happened.
type Events struct {
	Insights   ref.Resource       // Application Insights
	Connection pulumi.StringInput // its connection string, which names it; who sends shows a token
	Sender     ref.Identity       // that the pods act as
}

// Nodes are those that the pods run on.
type Nodes struct {
	Selector    map[string]string
	Tolerations []aks.Toleration
	Zones       int               // over which the replicas are kept apart, from 2; else the choice is Azure's
	Clients     map[string]string // selector of the nodes of nightly jobs
}

func (a Args) check() error {
	var found []error
	fail := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	if a.Key < 1 {
		fail("signing key %d, want 1 or more", a.Key)
	}
	if a.Vault.Certificate == "" {
		fail("no certificate: the door would have nothing to show")
	}
	found = append(found, a.Door.Check())
	if len(a.Nodes.Selector) == 0 {
		fail("no node selector: only the batch nodes reach the batch account")
	}
	return errors.Join(append(found, a.Settings.Check()...)...)
}

// Batch holds the control plane. Fields below ResourceState are its outputs.
type Batch struct {
	pulumi.ResourceState
	URL  pulumi.StringOutput // of the door without a slash at the end, once it answers and its name resolves
	Keys ref.Keys            // that verify, by those who were named
}

// New declares the control plane. Children carry name, so two can coexist. opts
// name a provider of Azure and one of the cluster.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Batch, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("batch %q: %w", name, err)
	}
	out := &Batch{}
	if err := ctx.RegisterComponentResource(Type, name, out, opts...); err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, name: name, args: args, azure: pulumi.Parent(out), in: []pulumi.ResourceOption{pulumi.Parent(out), pulumi.DeletedWith(args.Cluster)}}
	var err error
	if out.Keys, err = b.keys(); err != nil {
		return nil, fmt.Errorf("batch %q: keys: %w", name, err)
	}
	access, err := b.access()
	if err != nil {
		return nil, fmt.Errorf("batch %q: access: %w", name, err)
	}
	made, err := b.deployment(out.Keys, access)
	if err != nil {
		return nil, fmt.Errorf("batch %q: %w", name, err)
	}
	behind, err := args.Door.Declare(ctx, name, app, args.Namespace, b.azure, b.in)
	if err != nil {
		return nil, fmt.Errorf("batch %q: door: %w", name, err)
	}
	out.URL = ref.After(pulumi.String(args.Door.URL()), append(behind, made)...)
	if err := b.nightly(out.URL); err != nil {
		return nil, fmt.Errorf("batch %q: %w", name, err)
	}
	return out, ctx.RegisterResourceOutputs(out, pulumi.Map{"url": out.URL})
}

// builder carries what every step needs.
type builder struct {
	ctx   *pulumi.Context
	name  string
	args  Args
	azure pulumi.ResourceOption   // of Azure's resources
	in    []pulumi.ResourceOption // of the cluster's
}

// app is the name of everything that is the control plane's.
var app = kube.ControlPlane.Name

// metadata is that of an object of the control plane.
func (b *builder) metadata(annotations map[string]string) metav1.ObjectMetaArgs {
	return metav1.ObjectMetaArgs{
		Name: pulumi.String(app), Namespace: b.args.Namespace,
		Labels: pulumi.ToStringMap(kube.Labels(app)), Annotations: pulumi.ToStringMap(annotations),
	}
}
