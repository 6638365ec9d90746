package busfake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long is a lock that no test waits for.
const long = time.Minute

// start starts a bus with a queue "text".
func start(t *testing.T, lock time.Duration, deliveries int) *Bus {
	t.Helper()
	return Start(t, Namespace{Queues: []Queue{{Name: "text", Lock: lock, Deliveries: deliveries}}})
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func put(t *testing.T, b *Bus, ids ...string) {
	t.Helper()
	for _, id := range ids {
		b.Send(t, "text", &azservicebus.Message{MessageID: &id, Body: []byte("body of " + id)})
	}
}

func receiver(t *testing.T, b *Bus, options *azservicebus.ReceiverOptions) *azservicebus.Receiver {
	t.Helper()
	r, err := b.Client(t).NewReceiverForQueue("text", options)
	require.NoError(t, err)
	return r
}

func receive(t *testing.T, r *azservicebus.Receiver, most int) []*azservicebus.ReceivedMessage {
	t.Helper()
	got, err := r.ReceiveMessages(bounded(t), most, nil)
	require.NoError(t, err)
	return got
}

func ids(messages []*azservicebus.ReceivedMessage) string {
	var out []string
	for _, m := range messages {
		out = append(out, fmt.Sprintf("%s/%d", m.MessageID, m.DeliveryCount))
	}
	return strings.Join(out, " ")
}

// counts waits for a queue to have so many messages: settling is told to the client
// after the fact, releasing is not told at all.
func counts(t *testing.T, b *Bus, ready, locked int) {
	t.Helper()
	require.Eventually(t, func() bool {
		r, l := b.Counts("text")
		return r == ready && l == locked
	}, 5*time.Second, 2*time.Millisecond, "want %d ready and %d locked", ready, locked)
}

func TestMessagesAreCompletedAbandonedAndDeadLettered(t *testing.T) {
	t.Parallel()
	b := start(t, long, 3)
	put(t, b, "a", "b", "c")
	ctx, r := bounded(t), receiver(t, b, nil)
	got := receive(t, r, 5)
	require.Equal(t, "a/1 b/1 c/1", ids(got))
	assert.Equal(t, "body of a", string(got[0].Body))
	assert.WithinDuration(t, time.Now().Add(long), *got[0].LockedUntil, 5*time.Second)
	counts(t, b, 0, 3)
	require.NoError(t, r.CompleteMessage(ctx, got[0], nil))
	require.NoError(t, r.AbandonMessage(ctx, got[1], &azservicebus.AbandonMessageOptions{PropertiesToModify: map[string]any{"tries": int64(2)}}))
	reason, description := "bad", "it is"
	require.NoError(t, r.DeadLetterMessage(ctx, got[2], &azservicebus.DeadLetterOptions{Reason: &reason, ErrorDescription: &description}))
	counts(t, b, 1, 0)
	assert.Equal(t, []Dead{{"c", "bad", "it is", []byte("body of c")}}, b.Dead("text"))
	again := receive(t, r, 5)
	require.Equal(t, "b/2", ids(again))
	assert.Equal(t, map[string]any{"tries": int64(2)}, again[0].ApplicationProperties)

	dead := receive(t, receiver(t, b, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter}), 5)
	require.Equal(t, "c/1", ids(dead))
	assert.Equal(t, "bad", *dead[0].DeadLetterReason)
	assert.Equal(t, "it is", *dead[0].DeadLetterErrorDescription)
}

func TestAMessageIsDeliveredSoOften(t *testing.T) {
	t.Parallel()
	b := start(t, long, 2)
	put(t, b, "a")
	ctx, r := bounded(t), receiver(t, b, nil)
	for range 2 {
		assert.Empty(t, b.Dead("text"))
		require.NoError(t, r.AbandonMessage(ctx, receive(t, r, 1)[0], nil))
	}
	assert.Equal(t, []Dead{{"a", "MaxDeliveryCountExceeded", "delivered 2 times", []byte("body of a")}}, b.Dead("text"))
	counts(t, b, 0, 0)
}

func TestLocksRunOutUnlessTheyAreRenewed(t *testing.T) {
	t.Parallel()
	const lock = 300 * time.Millisecond
	b := start(t, lock, 9)
	put(t, b, "a")
	ctx, r := bounded(t), receiver(t, b, nil)
	m := receive(t, r, 1)[0]
	for range 4 {
		time.Sleep(lock / 2)
		require.NoError(t, r.RenewMessageLock(ctx, m, nil))
	}
	assert.Equal(t, 4, b.Renewals())
	counts(t, b, 0, 1)
	counts(t, b, 1, 0) // nobody renews any more
	lost(t, r.RenewMessageLock(ctx, m, nil))
	lost(t, r.CompleteMessage(ctx, m, nil))
	assert.Equal(t, "a/2", ids(receive(t, r, 1)))
}

// lost asserts that the client says what it says of the service.
func lost(t *testing.T, err error) {
	t.Helper()
	var e *azservicebus.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, azservicebus.CodeLockLost, e.Code)
}

func TestALockCanBeLostBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	b := start(t, long, 9)
	put(t, b, "a", "b")
	ctx, r := bounded(t), receiver(t, b, nil)
	got := receive(t, r, 2)
	b.LosesLock(func(queue, id string, outcome Outcome) bool {
		return queue == "text" && id == "a" && outcome == Completed
	})
	lost(t, r.CompleteMessage(ctx, got[0], nil))
	require.NoError(t, r.CompleteMessage(ctx, got[1], nil))
	b.LosesLock(nil)
	again := receive(t, r, 2)
	require.Equal(t, "a/2", ids(again))
	b.ExpireLocks()
	lost(t, r.CompleteMessage(ctx, again[0], nil))
	assert.Equal(t, "a/3", ids(receive(t, r, 2)))
}

// A receiver whose connection or link broke gets a new one, and the locks of the
// old one are still its own.
func TestReceiversSurviveBrokenConnectionsAndLinks(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(*Bus){"Connection": (*Bus).DropConnections, "Link": (*Bus).DetachLinks} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, long, 9)
			put(t, b, "a")
			ctx, r := bounded(t), receiver(t, b, nil)
			m := receive(t, r, 1)[0]
			breaks(b)
			put(t, b, "b")
			var got []*azservicebus.ReceivedMessage
			for len(got) == 0 {
				var err error
				got, err = r.ReceiveMessages(ctx, 1, nil)
				require.NoError(t, err)
			}
			require.Equal(t, "b/1", ids(got))
			require.NoError(t, r.RenewMessageLock(ctx, m, nil))
			assert.Equal(t, 1, b.Renewals())
			counts(t, b, 0, 2)
		})
	}
}

func TestMessagesOfAReceiverThatIsGoneComeBackWithTheirLocks(t *testing.T) {
	t.Parallel()
	b := start(t, 200*time.Millisecond, 9)
	put(t, b, "a")
	client := b.Client(t)
	r, err := client.NewReceiverForQueue("text", nil)
	require.NoError(t, err)
	receive(t, r, 1)
	require.NoError(t, client.Close(bounded(t)))
	counts(t, b, 0, 1)
	assert.Equal(t, "a/2", ids(receive(t, receiver(t, b, nil), 1)))
}

// What arrives after a receiver stopped waiting goes back, and counts as nothing.
func TestAMessageThatNobodyWaitsForGoesBack(t *testing.T) {
	t.Parallel()
	b := start(t, long, 2)
	r := receiver(t, b, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := r.ReceiveMessages(ctx, 1, nil)
	require.True(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
	put(t, b, "a")
	counts(t, b, 1, 0)
	require.NoError(t, r.Close(bounded(t)))
	assert.Equal(t, "a/1", ids(receive(t, receiver(t, b, nil), 1)))
}

func TestTopicsSortByContentTypeAndDropDuplicates(t *testing.T) {
	t.Parallel()
	b := Start(t, Namespace{
		Queues: []Queue{{"text", long, 9}, {"image", long, 9}},
		Topics: []Topic{{"ingest", []Subscription{{"application/text", "text"}, {"application/image", "image"}}}},
	})
	sender, err := b.Client(t).NewSender("ingest", nil)
	require.NoError(t, err)
	message := func(id, contentType string) *azservicebus.Message {
		return &azservicebus.Message{MessageID: &id, ContentType: &contentType, Body: []byte(strings.Repeat("x", 200_000))} // several frames
	}
	ctx := bounded(t)
	require.NoError(t, sender.SendMessage(ctx, message("1", "application/text"), nil))
	require.NoError(t, sender.SendMessage(ctx, message("1", "application/text"), nil))
	require.NoError(t, sender.SendMessage(ctx, message("2", "application/image"), nil))
	require.NoError(t, sender.SendMessage(ctx, message("3", "application/other"), nil))
	batch, err := sender.NewMessageBatch(ctx, nil)
	require.NoError(t, err)
	for _, id := range []string{"4", "5"} {
		contentType := "application/text"
		require.NoError(t, batch.AddMessage(&azservicebus.Message{MessageID: &id, ContentType: &contentType}, nil))
	}
	require.NoError(t, sender.SendMessageBatch(ctx, batch, nil))
	counts(t, b, 3, 0)
	ready, _ := b.Counts("image")
	assert.Equal(t, 1, ready)
	got := receive(t, receiver(t, b, nil), 5)
	require.Equal(t, "1/1 4/1 5/1", ids(got))
	assert.Len(t, got[0].Body, 200_000)
}

func TestMessagesArePeekedWithoutALock(t *testing.T) {
	t.Parallel()
	b := start(t, long, 9)
	put(t, b, "a", "b", "c")
	r := receiver(t, b, nil)
	ctx := bounded(t)
	got, err := r.PeekMessages(ctx, 2, nil)
	require.NoError(t, err)
	require.Equal(t, "a/1 b/1", ids(got))
	held := receive(t, receiver(t, b, nil), 3)
	got, err = r.PeekMessages(ctx, 2, nil)
	require.NoError(t, err)
	require.Equal(t, "c/1", ids(got), "those that are locked are shown, too")
	for _, m := range held {
		require.NoError(t, r.AbandonMessage(ctx, m, nil))
	}
	got, err = r.PeekMessages(ctx, 2, nil)
	require.NoError(t, err)
	assert.Empty(t, got)
	counts(t, b, 3, 0)
}

func TestEntitiesThatAreNotThereAreRefused(t *testing.T) {
	t.Parallel()
	b := start(t, long, 9)
	r, err := b.Client(t).NewReceiverForQueue("txt", nil)
	require.NoError(t, err)
	_, err = r.ReceiveMessages(bounded(t), 1, nil)
	require.ErrorContains(t, err, "amqp:not-found")
}

// Frames of another program than the client must not end the test.
func FuzzParse(f *testing.F) {
	f.Add([]byte(composite(codeAttach, "name", uint32(1), true, nil, uint8(1), composite(codeSource, "text"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, rest, err := parse(data)
		if err != nil {
			return
		}
		assert.LessOrEqual(t, len(rest), len(data))
		for i := range p.fields {
			p.text(i)
			p.part(i)
		}
	})
}
