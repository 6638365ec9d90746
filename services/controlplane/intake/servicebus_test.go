package intake_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/intake"
	"onedoor/services/internal/busfake"
	"onedoor/services/internal/claim"
	"onedoor/services/internal/ring"
)

const contentType = "application/vnd.onedoor.text+json"

func open(t *testing.T) (*busfake.Bus, *intake.ServiceBus, *azservicebus.Client) {
	t.Helper()
	fake := busfake.Start(t, busfake.Namespace{
		Queues: []busfake.Queue{{Name: "text", Lock: time.Minute, Deliveries: 1}},
		Topics: []busfake.Topic{{Name: "ingest", Subscriptions: []busfake.Subscription{{ContentType: contentType, ForwardTo: "text"}}}},
	})
	client := fake.Client(t)
	bus, err := intake.NewServiceBus(client, "ingest")
	require.NoError(t, err)
	return fake, bus, client
}

// The real client puts a message where the queue's workers find it.
func TestMessagesReachTheirQueue(t *testing.T) {
	t.Parallel()
	fake, bus, client := open(t)
	require.NoError(t, bus.Send(t.Context(), intake.Message{ID: "1", Correlation: "trace", ContentType: contentType, Body: []byte("claim"), TimeToLive: time.Hour}))
	require.NoError(t, bus.Send(t.Context(), intake.Message{ID: "2", ContentType: "text/plain", Body: []byte("other"), TimeToLive: time.Hour}))
	ready, _ := fake.Counts("text")
	require.Equal(t, 1, ready)
	receiver, err := client.NewReceiverForQueue("text", nil)
	require.NoError(t, err)
	got, err := receiver.ReceiveMessages(t.Context(), 1, nil)
	require.NoError(t, err)
	require.NotNil(t, got[0].CorrelationID)
	assert.Equal(t, []string{"1", "trace", "claim"}, []string{got[0].MessageID, *got[0].CorrelationID, string(got[0].Body)})
}

// dead are the dead letters of queue text.
func dead(t *testing.T, bus intake.Bus, from int64) []intake.Dead {
	t.Helper()
	var out []intake.Dead
	for d, err := range bus.Dead(t.Context(), "text", from) {
		require.NoError(t, err)
		out = append(out, d)
	}
	return out
}

// A dead letter is taken from among others, which stay as they were.
func TestDeadLettersAreTakenOneByOne(t *testing.T) {
	t.Parallel()
	fake, bus, client := open(t)
	receiver, err := client.NewReceiverForQueue("text", nil)
	require.NoError(t, err)
	for n := range 3 {
		fake.Send(t, "text", &azservicebus.Message{MessageID: new(strconv.Itoa(n)), Body: fmt.Append(nil, "claim ", n)})
		got, err := receiver.ReceiveMessages(t.Context(), 1, nil)
		require.NoError(t, err)
		require.NoError(t, receiver.DeadLetterMessage(t.Context(), got[0], &azservicebus.DeadLetterOptions{Reason: new("retries_exhausted"), ErrorDescription: new("429")}))
	}
	letters := dead(t, bus, 0)
	require.Len(t, letters, 3)
	assert.Equal(t, []string{"claim 1", "retries_exhausted", "429"}, []string{string(letters[1].Body), letters[1].Reason, letters[1].Detail})
	assert.Len(t, dead(t, bus, letters[1].Sequence), 2)

	broken := fmt.Errorf("broken")
	require.ErrorIs(t, bus.Take(t.Context(), "text", letters[1].Sequence, func(intake.Dead) error { return broken }), broken)
	assert.Len(t, fake.Dead("text"), 3, "it stays if it could not be dealt with")
	var taken intake.Dead
	require.NoError(t, bus.Take(t.Context(), "text", letters[1].Sequence, func(d intake.Dead) error { taken = d; return nil }))
	assert.Equal(t, "claim 1", string(taken.Body))
	var left []string
	for _, d := range fake.Dead("text") {
		left = append(left, string(d.Body))
	}
	assert.ElementsMatch(t, []string{"claim 0", "claim 2"}, left)
	require.ErrorIs(t, bus.Take(t.Context(), "text", letters[1].Sequence, func(intake.Dead) error { return nil }), intake.ErrNoLetter)
}

// tenants is an intake with dead letters of queue text: as many of each tenant as said,
// in that order.
func tenants(t *testing.T, counts ...any) (*busfake.Bus, intake.Intake, *azservicebus.Client) {
	t.Helper()
	fake, bus, client := open(t)
	keys := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(keys, "1"), []byte(strings.Repeat("k", 64)), 0o600))
	in := intake.Intake{Bus: bus, Keys: ring.Ring(keys), Signing: "1"}
	receiver, err := client.NewReceiverForQueue("text", nil)
	require.NoError(t, err)
	for i := 0; i < len(counts); i += 2 {
		tenant, count := counts[i].(string), counts[i+1].(int)
		for n := range count {
			body, err := claim.Sign(claim.Message{Tenant: tenant, Modality: "text", Alias: "small", Job: "j", Item: strconv.Itoa(n), Blob: "b", ETag: "e", Correlation: "trace-of-" + tenant}, in.Keys, in.Signing)
			require.NoError(t, err)
			fake.Send(t, "text", &azservicebus.Message{MessageID: new(fmt.Sprintf("%s/%d", tenant, n)), Body: body})
		}
		for got := 0; got < count; {
			found, err := receiver.ReceiveMessages(t.Context(), min(count-got, 5000), nil)
			require.NoError(t, err)
			got += len(found)
		}
		fake.ExpireLocks() // which was the last delivery of each
	}
	return fake, in, client
}

// However many dead letters another tenant has, one's own are found, and taken.
func TestDeadLettersOfOthersHideNone(t *testing.T) {
	t.Parallel()
	const others = 1001
	fake, in, client := tenants(t, "labs", others, "desk", 1)
	letters, err := in.Letters(t.Context(), "text", "desk", 0, 10)
	require.NoError(t, err)
	require.Len(t, letters, 1)
	require.NoError(t, in.Redrive(t.Context(), "text", "desk", letters[0].Sequence, intake.Item{ContentType: contentType, TimeToLive: time.Hour}))
	assert.Len(t, fake.Dead("text"), others, "they are let go")
	receiver, err := client.NewReceiverForQueue("text", nil)
	require.NoError(t, err)
	again, err := receiver.ReceiveMessages(t.Context(), 1, nil)
	require.NoError(t, err)
	require.NotNil(t, again[0].CorrelationID)
	assert.Equal(t, "trace-of-desk", *again[0].CorrelationID)
}

// What is held for one dead letter must fit into memory.
func TestADeadLetterFarBehindOthersIsRefused(t *testing.T) {
	t.Parallel()
	fake, in, _ := tenants(t, "labs", 10_001, "desk", 1)
	letters, err := in.Letters(t.Context(), "text", "desk", 0, 10)
	require.NoError(t, err)
	require.Len(t, letters, 1)
	refusal, ok := errors.AsType[*apierror.Error](in.Discard(t.Context(), "text", "desk", letters[0].Sequence))
	require.True(t, ok)
	assert.Equal(t, apierror.Conflict, refusal.Code)
	assert.Contains(t, refusal.Message, "more than 10000 dead letters of the queue lie before this one")
	assert.Len(t, fake.Dead("text"), 10_002)
}

// A dead letter that another call has at the moment is not gone. Who asks for another
// tenant's does not learn that there is one.
func TestADeadLetterThatIsHeldIsNotGone(t *testing.T) {
	t.Parallel()
	_, in, client := tenants(t, "labs", 2, "desk", 1)
	letters, err := in.Letters(t.Context(), "text", "desk", 0, 10)
	require.NoError(t, err)
	require.Len(t, letters, 1)
	other, err := client.NewReceiverForQueue("text", &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
	require.NoError(t, err)
	held, err := other.ReceiveMessages(t.Context(), 3, nil)
	require.NoError(t, err)
	require.Len(t, held, 3)
	discard := func(tenant string) error { return in.Discard(t.Context(), "text", tenant, letters[0].Sequence) }
	require.ErrorIs(t, discard("desk"), intake.ErrHeld)
	assert.Equal(t, 503, intake.ErrHeld.Status())
	assert.Positive(t, intake.ErrHeld.Retry)
	require.ErrorIs(t, discard("labs"), intake.ErrNoLetter)
	for _, m := range held {
		require.NoError(t, other.AbandonMessage(t.Context(), m, nil))
	}
	require.NoError(t, discard("desk"))
	require.ErrorIs(t, discard("desk"), intake.ErrNoLetter)
}
