package bus

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/busfake"
	"onedoor/services/worker/work"
)

// open opens a queue with messages.
func open(t *testing.T, ids ...string) (*busfake.Bus, *Queue) {
	t.Helper()
	b := busfake.Start(t, busfake.Namespace{Queues: []busfake.Queue{{Name: "text", Lock: time.Minute, Deliveries: 9}}})
	for _, id := range ids {
		b.Send(t, "text", &azservicebus.Message{MessageID: new(id), Body: []byte(id)})
	}
	q, err := Open(b.Client(t), "text")
	require.NoError(t, err)
	return b, q
}

func receive(t *testing.T, q *Queue, n int) []work.Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	got, err := q.Receive(ctx, n)
	require.NoError(t, err)
	require.Len(t, got, n)
	return got
}

func TestDeliveriesEndAsTheWorkerSays(t *testing.T) {
	t.Parallel()
	b, q := open(t, "1", "2", "3")
	got := receive(t, q, 3)
	assert.Equal(t, "1", string(got[0].Body()))
	assert.Zero(t, got[1].Tries())
	require.NoError(t, got[0].Renew(t.Context()))
	assert.Equal(t, 1, b.Renewals())
	require.NoError(t, got[0].Complete(t.Context()))
	require.NoError(t, got[1].Abandon(t.Context(), 2))
	require.NoError(t, got[2].DeadLetter(t.Context(), "payload_missing", "the blob is x"))
	assert.Equal(t, []busfake.Dead{{ID: "3", Reason: "payload_missing", Description: "the blob is x", Body: []byte("3")}}, b.Dead("text"))
	again := receive(t, q, 1)
	assert.Equal(t, "2", string(again[0].Body()))
	assert.Equal(t, 2, again[0].Tries(), "tries travel with the message")
}

func TestALostLockIsNamed(t *testing.T) {
	t.Parallel()
	b, q := open(t, "1", "2", "3", "4")
	got := receive(t, q, 4)
	b.ExpireLocks()
	for name, err := range map[string]error{
		"renew": got[0].Renew(t.Context()), "complete": got[1].Complete(t.Context()), "abandon": got[2].Abandon(t.Context(), 0), "dead letter": got[3].DeadLetter(t.Context(), "a", "b"),
	} {
		require.ErrorIs(t, err, work.ErrLockLost, name)
	}
}

func TestReceivingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b, q := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := q.Receive(ctx, 1)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	b.Send(t, "text", &azservicebus.Message{Body: []byte("later")})
	receive(t, q, 1)
	require.NoError(t, q.Close(t.Context()))
}
