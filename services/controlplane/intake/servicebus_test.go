package intake_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/intake"
	"onedoor/services/internal/busfake"
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
	require.NoError(t, bus.Send(t.Context(), intake.Message{ID: "1", ContentType: contentType, Body: []byte("claim"), TimeToLive: time.Hour}))
	require.NoError(t, bus.Send(t.Context(), intake.Message{ID: "2", ContentType: "text/plain", Body: []byte("other"), TimeToLive: time.Hour}))
	ready, _ := fake.Counts("text")
	require.Equal(t, 1, ready)
	receiver, err := client.NewReceiverForQueue("text", nil)
	require.NoError(t, err)
	got, err := receiver.ReceiveMessages(t.Context(), 1, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"1", "claim"}, []string{got[0].MessageID, string(got[0].Body)})
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
	letters, err := bus.Dead(t.Context(), "text", 0, 10)
	require.NoError(t, err)
	require.Len(t, letters, 3)
	assert.Equal(t, []string{"claim 1", "retries_exhausted", "429"}, []string{string(letters[1].Body), letters[1].Reason, letters[1].Detail})
	later, err := bus.Dead(t.Context(), "text", letters[1].Sequence, 10)
	require.NoError(t, err)
	assert.Len(t, later, 2)

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
