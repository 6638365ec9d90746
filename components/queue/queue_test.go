package queue_test

import (
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/queue"
	"onedoor/internal/az"
	"onedoor/internal/capacity"
	"onedoor/internal/fake"
)

func args() queue.Args {
	return queue.Args{
		Scope: fake.Scope(az.Prod), Group: fake.Group(), Logs: fake.Logs(), Units: 2, Private: true, Endpoints: fake.Subnet("endpoints"), Zones: fake.Zones(az.ZoneServiceBus),
		ControlPlane: fake.Identity("control-plane"), Scaler: fake.Identity("scaler"),
		Work: map[string]queue.Work{
			"text":  {Worker: fake.Identity("worker-text"), Hold: capacity.Hold{Lock: time.Minute}, TimeToLive: 26 * time.Hour, Deliveries: 10},
			"video": {Worker: fake.Identity("worker-video"), Hold: capacity.Hold{Lock: 5 * time.Minute}, TimeToLive: 30 * time.Hour, Deliveries: 3},
		},
	}
}

func program(a queue.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		q, err := queue.New(ctx, "queue", a)
		if err != nil {
			return err
		}
		if err := fake.Reader(ctx, "worker", q.Queues["text"].ID); err != nil {
			return err
		}
		return fake.Reader(ctx, "sender", q.Host)
	}
}

func TestNamespaceTakesNoKeys(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		namespace := fake.Run(t, mode, program(args())).Get(t, "queue")
		assert.Equal(t, true, namespace.Input("disableLocalAuth"))
		assert.Equal(t, "1.2", namespace.Input("minimumTlsVersion"))
		assert.Equal(t, "Disabled", namespace.Input("publicNetworkAccess"))
		assert.Equal(t, map[string]any{"name": "Premium", "tier": "Premium", "capacity": 2.0}, namespace.Input("sku"))
		assert.True(t, namespace.Protect)
	}
}

func TestQueuesAreToldWhatTheArithmeticSays(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	for name, want := range map[string]map[string]any{
		"queue-text":  {"lockDuration": "PT1M", "defaultMessageTimeToLive": "P1DT2H", "maxDeliveryCount": 10.0},
		"queue-video": {"lockDuration": "PT5M", "defaultMessageTimeToLive": "P1DT6H", "maxDeliveryCount": 3.0},
	} {
		q := plan.Get(t, name)
		for input, value := range want {
			assert.Equal(t, value, q.Input(input), "%s %s", name, input)
		}
		assert.Equal(t, true, q.Input("deadLetteringOnMessageExpiration"), "expired messages must not vanish")
		assert.Equal(t, true, q.Input("requiresDuplicateDetection"))
	}
	assert.Equal(t, "P1DT6H", plan.Get(t, "queue-ingest").Input("defaultMessageTimeToLive"), "as long as the longest-lived queue")
}

func TestEachSubscriptionForwardsItsOwnMessagesOnly(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	for _, modality := range []string{"text", "video"} {
		subscription := plan.Get(t, "queue-ingest-"+modality)
		assert.Equal(t, modality, subscription.Input("forwardTo"))
		assert.Contains(t, subscription.DependsOn, "queue-"+modality)
		assert.Equal(t, []string{"queue-" + modality}, subscription.Options.ReplaceWith, "Azure keeps the target by an inner id")
		rule := plan.Get(t, "queue-ingest-"+modality+"-rule")
		assert.Equal(t, queue.ContentType(modality), rule.Input("correlationFilter").(map[string]any)["contentType"])
		assert.Equal(t, "CorrelationFilter", rule.Input("filterType"))
	}
}

// A message sent before every filter exists would reach every queue.
func TestNobodySendsBeforeEveryFilterExists(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	filters := []string{"queue-ingest-text-rule", "queue-ingest-video-rule"}
	assert.Subset(t, plan.Get(t, "queue-control-plane-sends").DependsOn, append(filters, "queue-endpoint-dns"))
	assert.Subset(t, plan.Get(t, "sender").DependsOn, append(filters, "queue-control-plane-sends", "queue-text-control-plane-settles", "queue-video-control-plane-settles"))
	assert.Contains(t, plan.Get(t, "worker").DependsOn, "queue-text-worker-receives")
}

func TestOnlyTheControlPlaneSends(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{
		"control-plane-principal " + az.BusReceiver.GUID + " at queues/text",
		"control-plane-principal " + az.BusReceiver.GUID + " at queues/video",
		"control-plane-principal " + az.BusSender.GUID + " at topics/ingest",
		"scaler-principal " + az.BusOwner.GUID + " at queues/text",
		"scaler-principal " + az.BusOwner.GUID + " at queues/video",
		"worker-text-principal " + az.BusReceiver.GUID + " at queues/text",
		"worker-video-principal " + az.BusReceiver.GUID + " at queues/video",
	}, fake.Run(t, fake.Update, program(args())).Grants())
}

func TestStandardNamespaceHasNoEndpoint(t *testing.T) {
	t.Parallel()
	a := args()
	a.Units, a.Private = 0, false
	plan := fake.Run(t, fake.Preview, program(a))
	assert.Empty(t, plan.Names("PrivateEndpoint"))
	assert.Equal(t, map[string]any{"name": "Standard", "tier": "Standard"}, plan.Get(t, "queue").Input("sku"))
	assert.Nil(t, plan.Get(t, "queue").Input("premiumMessagingPartitions"))
	a.Private = true
	_, err := fake.Try(fake.Preview, program(a))
	require.ErrorContains(t, err, "the Standard tier has no endpoints")
}
