// Package queue owns the Service Bus namespace: one topic that takes all work,
// and one queue per modality that its messages are forwarded to.
package queue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	servicebus "github.com/pulumi/pulumi-azure-native-sdk/servicebus/v2/v20240101"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/capacity"
	"onedoor/internal/diagnostics"
	"onedoor/internal/privatelink"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:queue:Queues"

// component is the value of the component tag.
const component = "queue"

// Ingest is the topic that takes all work. Only the control plane may send.
const Ingest = "ingest"

// ContentType is what a message of the modality is marked with; the topic sorts
// messages by it.
func ContentType(modality string) string {
	return fmt.Sprintf("application/vnd.onedoor.%s+json", modality)
}

// duplicateWindow is how long a message id is remembered, 20 s to 7 days: a
// sender that is unsure sends again within it.
// https://learn.microsoft.com/azure/service-bus-messaging/duplicate-detection
const duplicateWindow = 24 * time.Hour

// maxSizeMB is the size of a queue, one that both tiers take.
// https://learn.microsoft.com/azure/service-bus-messaging/service-bus-quotas
const maxSizeMB = 5120

// Args are the inputs of New.
type Args struct {
	Scope        az.Scope
	Group        ref.Group
	Logs         ref.Logs
	Units        int  // messaging units of the Premium tier; 0 takes the Standard tier
	Private      bool // reachable through the network alone; takes units
	Endpoints    ref.Subnet
	Zones        ref.Zones
	ControlPlane ref.Identity    // sends, and settles dead letters
	Scaler       ref.Identity    // reads the lengths of queues
	Work         map[string]Work // by modality
}

// Work is the work of one modality.
type Work struct {
	Worker     ref.Identity // receives
	Hold       capacity.Hold
	TimeToLive time.Duration
	Deliveries int // attempts before a message is a dead letter
}

func (a Args) check() error {
	if a.Private && a.Units == 0 {
		return errors.New("a private namespace takes messaging units: the Standard tier has no endpoints")
	}
	if len(a.Work) == 0 {
		return errors.New("no queues")
	}
	return nil
}

// Queues holds the namespace. Fields below ResourceState are its outputs.
type Queues struct {
	pulumi.ResourceState
	Namespace string               // its name
	Host      pulumi.StringOutput  // where senders and receivers connect; ready once the control plane may send and receive, and every message finds its queue
	Queues    map[string]ref.Queue // by modality
	Bus       ref.Resource         // the namespace itself
}

// New declares the namespace. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Queues, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("queue %q: %w", name, err)
	}
	q := &Queues{Queues: map[string]ref.Queue{}}
	if err := ctx.RegisterComponentResource(Type, name, q, opts...); err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, name: name, args: args, in: pulumi.Parent(q)}
	ready, err := b.namespace()
	if err != nil {
		return nil, err
	}
	q.Namespace, q.Bus = b.plain, b.self
	topic, err := b.topic()
	if err != nil {
		return nil, err
	}
	for _, modality := range slices.Sorted(maps.Keys(args.Work)) {
		made, complete, err := b.queue(modality, topic)
		if err != nil {
			return nil, err
		}
		q.Queues[modality] = made
		ready = append(ready, complete...)
	}
	// Last: a message sent before every filter exists would reach every queue.
	sends, err := args.Scope.Grant(ctx, name+"-control-plane-sends", az.BusSender, args.ControlPlane,
		ref.Ready(b.id+"/topics/"+Ingest, append(ready, topic)...), b.in)
	if err != nil {
		return nil, err
	}
	q.Host = ref.After(pulumi.String(b.plain+".servicebus.windows.net"), append(ready, sends)...)
	return q, ctx.RegisterResourceOutputs(q, pulumi.Map{"host": q.Host})
}

// builder carries what every step needs.
type builder struct {
	ctx  *pulumi.Context
	name string
	args Args
	in   pulumi.ResourceOption // the component as parent

	plain string              // name of the namespace
	id    string              // of the namespace
	bus   pulumi.StringOutput // its name, once it exists
	self  ref.Resource        // the namespace, once it exists
}

// namespace declares the namespace without keys and, private, its endpoint. It
// has no rule set: a private namespace needs none, and one that allows trusted
// services would open it again.
// https://github.com/pulumi/pulumi-azure-native/issues/4825
func (b *builder) namespace() ([]pulumi.Resource, error) {
	scope := b.args.Scope
	b.plain = scope.Name(az.ServiceBusNamespace)
	b.id = scope.ResourceID(b.args.Group.PlainName, "Microsoft.ServiceBus/namespaces", b.plain)
	args := &servicebus.NamespaceArgs{
		NamespaceName:       pulumi.String(b.plain),
		ResourceGroupName:   b.args.Group.Name,
		Location:            pulumi.String(scope.Location),
		Sku:                 servicebus.SBSkuArgs{Name: servicebus.SkuNameStandard, Tier: servicebus.SkuTierStandard},
		DisableLocalAuth:    pulumi.Bool(true),
		MinimumTlsVersion:   pulumi.String("1.2"),
		PublicNetworkAccess: pulumi.String("Enabled"),
		Tags:                scope.Tags(component),
	}
	if b.args.Units > 0 {
		args.Sku = servicebus.SBSkuArgs{Name: servicebus.SkuNamePremium, Tier: servicebus.SkuTierPremium, Capacity: pulumi.Int(b.args.Units)}
		args.PremiumMessagingPartitions = pulumi.Int(1) // cannot be changed later; more would partition every queue
	}
	if b.args.Private {
		args.PublicNetworkAccess = pulumi.String("Disabled")
	}
	made, err := servicebus.NewNamespace(b.ctx, b.name, args, b.in, pulumi.Protect(scope.Protect()),
		pulumi.IgnoreChanges([]string{"zoneRedundant"})) // Azure turns it on by itself
	if err != nil {
		return nil, fmt.Errorf("queue %q: namespace: %w", b.name, err)
	}
	b.self = ref.Ready(b.id, made)
	if err := diagnostics.Send(b.ctx, b.name, b.self.ID, b.args.Logs, diagnostics.Setting{}, b.in); err != nil {
		return nil, err
	}
	b.bus = ref.After(pulumi.String(b.plain), made)
	if !b.args.Private {
		return []pulumi.Resource{made}, nil
	}
	return privatelink.New(b.ctx, b.name, privatelink.Args{
		Scope: scope, Component: component, Group: b.args.Group, Subnet: b.args.Endpoints,
		Target: ref.Ready(b.id, made), GroupID: "namespace", Zone: az.ZoneServiceBus, Zones: b.args.Zones,
	}, b.in)
}

// topic declares the topic. A message passes through it in no time, so it lives
// there as long as the longest-lived queue lets it.
func (b *builder) topic() (*servicebus.Topic, error) {
	var longest time.Duration
	for _, work := range b.args.Work {
		longest = max(longest, work.TimeToLive)
	}
	topic, err := servicebus.NewTopic(b.ctx, b.name+"-"+Ingest, &servicebus.TopicArgs{
		TopicName:                           pulumi.String(Ingest),
		NamespaceName:                       b.bus,
		ResourceGroupName:                   b.args.Group.Name,
		DefaultMessageTimeToLive:            pulumi.String(az.Duration(longest)),
		RequiresDuplicateDetection:          pulumi.Bool(true),
		DuplicateDetectionHistoryTimeWindow: pulumi.String(az.Duration(duplicateWindow)),
		MaxSizeInMegabytes:                  pulumi.Int(maxSizeMB),
		EnablePartitioning:                  pulumi.Bool(false),
		SupportOrdering:                     pulumi.Bool(false),
	}, b.in, pulumi.Protect(b.args.Scope.Protect()))
	if err != nil {
		return nil, fmt.Errorf("queue %q: topic: %w", b.name, err)
	}
	return topic, nil
}

// queue declares the queue of a modality, and the subscription that sorts its
// messages out of the topic. The second result exists once only its own
// messages reach the queue and the control plane may receive from it: Azure starts
// a subscription with a rule that takes everything, and drops that rule when it
// gets another.
func (b *builder) queue(modality string, topic *servicebus.Topic) (ref.Queue, []pulumi.Resource, error) {
	work, group := b.args.Work[modality], b.args.Group.Name
	fail := func(what string, err error) (ref.Queue, []pulumi.Resource, error) {
		return ref.Queue{}, nil, fmt.Errorf("queue %q: %s: %s: %w", b.name, modality, what, err)
	}
	queue, err := servicebus.NewQueue(b.ctx, b.name+"-"+modality, &servicebus.QueueArgs{
		QueueName:                           pulumi.String(modality),
		NamespaceName:                       b.bus,
		ResourceGroupName:                   group,
		LockDuration:                        pulumi.String(az.Duration(work.Hold.Lock)),
		MaxDeliveryCount:                    pulumi.Int(work.Deliveries),
		DefaultMessageTimeToLive:            pulumi.String(az.Duration(work.TimeToLive)),
		DeadLetteringOnMessageExpiration:    pulumi.Bool(true),
		RequiresDuplicateDetection:          pulumi.Bool(true),
		DuplicateDetectionHistoryTimeWindow: pulumi.String(az.Duration(duplicateWindow)),
		MaxSizeInMegabytes:                  pulumi.Int(maxSizeMB),
		EnablePartitioning:                  pulumi.Bool(false),
		RequiresSession:                     pulumi.Bool(false), // a session queue cannot be forwarded to
	}, b.in, pulumi.Protect(b.args.Scope.Protect()))
	if err != nil {
		return fail("queue", err)
	}
	subscription, err := servicebus.NewSubscription(b.ctx, b.name+"-"+Ingest+"-"+modality, &servicebus.SubscriptionArgs{
		SubscriptionName:  pulumi.String(modality),
		TopicName:         ref.After(pulumi.String(Ingest), topic),
		NamespaceName:     b.bus,
		ResourceGroupName: group,
		ForwardTo:         ref.After(pulumi.String(modality), queue),
		DeadLetteringOnFilterEvaluationExceptions: pulumi.Bool(true),
		DeadLetteringOnMessageExpiration:          pulumi.Bool(true),
		MaxDeliveryCount:                          pulumi.Int(work.Deliveries),
	}, b.in, pulumi.ReplaceWith([]pulumi.Resource{queue})) // Azure keeps the target by an inner id, not by name
	if err != nil {
		return fail("subscription", err)
	}
	rule, err := servicebus.NewRule(b.ctx, b.name+"-"+Ingest+"-"+modality+"-rule", &servicebus.RuleArgs{
		RuleName:          pulumi.String("content-type"),
		SubscriptionName:  ref.After(pulumi.String(modality), subscription),
		TopicName:         pulumi.String(Ingest),
		NamespaceName:     b.bus,
		ResourceGroupName: group,
		FilterType:        servicebus.FilterTypeCorrelationFilter,
		CorrelationFilter: servicebus.CorrelationFilterArgs{ContentType: pulumi.String(ContentType(modality))},
	}, b.in, pulumi.ReplaceWith([]pulumi.Resource{subscription}))
	if err != nil {
		return fail("rule", err)
	}
	id := b.id + "/queues/" + modality
	at := ref.Ready(id, queue)
	receives, err := b.args.Scope.Grant(b.ctx, b.name+"-"+modality+"-worker-receives", az.BusReceiver, work.Worker, at, b.in)
	if err != nil {
		return ref.Queue{}, nil, err
	}
	// KEDA reads the length of a queue over the management endpoint, which takes
	// more than a receiver's role.
	// https://keda.sh/docs/latest/scalers/azure-service-bus/
	counts, err := b.args.Scope.Grant(b.ctx, b.name+"-"+modality+"-scaler-counts", az.BusOwner, b.args.Scaler, at, b.in)
	if err != nil {
		return ref.Queue{}, nil, err
	}
	// A dead-letter queue is no scope of its own, so whoever settles dead letters may
	// receive from the queue.
	// https://learn.microsoft.com/azure/service-bus-messaging/service-bus-managed-service-identity#resource-scope
	settles, err := b.args.Scope.Grant(b.ctx, b.name+"-"+modality+"-control-plane-settles", az.BusReceiver, b.args.ControlPlane, at, b.in)
	if err != nil {
		return ref.Queue{}, nil, err
	}
	return ref.Queue{Resource: ref.Ready(id, receives, counts), Name: modality}, []pulumi.Resource{rule, settles}, nil
}
