// Package workers owns what empties the queues: for each a deployment, or jobs,
// that KEDA scales between nothing and what the models' quota has room for. What
// the program inside does is written in docs/contracts/worker.md. Namespace,
// accounts and network policies belong to others.
package workers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/capacity"
	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:workers:Workers"

// Args are the inputs of New.
type Args struct {
	Cluster      pulumi.Resource    // everything here goes with it
	Namespace    pulumi.StringInput // once its accounts and policies stand
	Scaling      pulumi.Resource    // the operator of KEDA, with an identity
	Scaler       pulumi.StringInput // client id that the operator reads the lengths of queues as, once it may act as it
	Image        pulumi.StringInput
	NodeSelector map[string]string  // of the nodes that workers run on
	Bus          string             // name of the Service Bus namespace
	BusHost      pulumi.StringInput // where receivers connect
	Blobs        pulumi.StringInput // URL of the storage account
	Gateway      pulumi.StringInput // URL that models are called at, without a slash at the end
	Audience     string             // of the tokens that the gateway takes
	ControlPlane pulumi.StringInput // URL of the control plane
	Authority    string             // certificate, as PEM, of who issued the control plane's
	Keys         ref.Keys           // that prove who a message is of
	Queues       map[string]Queue   // by modality
}

// Queue is one queue and the work on it.
type Queue struct {
	Queue      ref.Queue
	ClientID   pulumi.StringInput // of the identity that its workers act as
	Jobs       bool               // a job for each message, for work that must not be moved; else a deployment
	Payloads   string             // container that they read
	Results    string             // container that they write
	Alias      string             // of the model that they call
	Load       capacity.Load
	Share      capacity.Share // of the alias
	Hold       capacity.Hold
	P99        time.Duration // of the work on a message
	Batch      int           // messages that each item at once fetches
	Backlog    int           // messages that there may be for each replica
	PayloadMiB int           // of one item
	PriceAs    string        // model/SKU of the price table that items are counted by; "" counts nothing
}

func (a Args) check() error {
	var found []error
	fail := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	if len(a.Keys.Secrets) == 0 {
		fail("no keys: nothing would prove who a message is of")
	}
	for _, modality := range slices.Sorted(maps.Keys(a.Queues)) {
		q := a.Queues[modality]
		if err := q.Load.Check(); err != nil {
			fail("queue %s: %w", modality, err)
		}
		if q.Jobs && q.Load.Parallel != 1 {
			fail("queue %s: %d items at once, want 1: a job has one message", modality, q.Load.Parallel)
		}
		if q.Share.Replicas < 1 {
			fail("queue %s: no replica: %s", modality, q.Share.Why)
		}
		if q.Backlog < 1 {
			fail("queue %s: a backlog of %d messages, want at least 1", modality, q.Backlog)
		}
	}
	return errors.Join(found...)
}

// Workers holds the workloads.
type Workers struct {
	pulumi.ResourceState
}

// New declares the workers. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Workers, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("workers %q: %w", name, err)
	}
	w := &Workers{}
	if err := ctx.RegisterComponentResource(Type, name, w, opts...); err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, name: name, args: args, in: []pulumi.ResourceOption{pulumi.Parent(w), pulumi.DeletedWith(args.Cluster)}}
	auth, err := b.authentication()
	if err != nil {
		return nil, fmt.Errorf("workers %q: %w", name, err)
	}
	for _, modality := range slices.Sorted(maps.Keys(args.Queues)) {
		if err := b.queue(modality, auth); err != nil {
			return nil, fmt.Errorf("workers %q: queue %s: %w", name, modality, err)
		}
	}
	return w, ctx.RegisterResourceOutputs(w, pulumi.Map{})
}

// builder carries what every step needs.
type builder struct {
	ctx  *pulumi.Context
	name string
	args Args
	in   []pulumi.ResourceOption
}

// queue declares what works on one queue.
func (b *builder) queue(modality string, auth pulumi.StringInput) error {
	q := b.args.Queues[modality]
	app := kube.Worker(modality).Name
	class, err := b.keys(app, q)
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	if q.Jobs {
		return b.job(modality, app, q, class, auth)
	}
	made, err := b.deployment(modality, app, q, class)
	if err != nil {
		return err
	}
	return b.scaler(modality, app, q, made, auth)
}
