// Package bus owns how a worker receives from its queue: one receiver, messages under
// a lock, and what can be done with them.
package bus

import (
	"context"
	"errors"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"onedoor/services/worker/work"
)

// triesProperty is the message's property that counts tries which failed before.
const triesProperty = "onedoor-tries"

// settleTimeout is how long settling may take: a broken connection is opened again
// in it.
const settleTimeout = 20 * time.Second

// Queue receives messages.
type Queue struct{ receiver *azservicebus.Receiver }

// Open opens a queue.
func Open(client *azservicebus.Client, queue string) (*Queue, error) {
	receiver, err := client.NewReceiverForQueue(queue, nil)
	if err != nil {
		return nil, err
	}
	return &Queue{receiver}, nil
}

// Close ends receiving. Messages that are held can no longer be settled.
func (q *Queue) Close(ctx context.Context) error { return q.receiver.Close(ctx) }

// Receive implements work.Queue.
func (q *Queue) Receive(ctx context.Context, most int) ([]work.Delivery, error) {
	got, err := q.receiver.ReceiveMessages(ctx, most, nil)
	if err != nil {
		return nil, err
	}
	out := make([]work.Delivery, len(got))
	for i, m := range got {
		out[i] = &delivery{q.receiver, m}
	}
	return out, nil
}

// delivery is a message that is held.
type delivery struct {
	receiver *azservicebus.Receiver
	message  *azservicebus.ReceivedMessage
}

func (d *delivery) Body() []byte { return d.message.Body }

// Tries implements work.Delivery. Numbers come back in the type that the service
// chooses.
func (d *delivery) Tries() int {
	switch n := d.message.ApplicationProperties[triesProperty].(type) {
	case int64:
		return int(n)
	case int32:
		return int(n)
	}
	return 0
}

func (d *delivery) Renew(ctx context.Context) error {
	return lost(d.receiver.RenewMessageLock(ctx, d.message, nil))
}

func (d *delivery) Complete(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	return lost(d.receiver.CompleteMessage(ctx, d.message, nil))
}

func (d *delivery) Abandon(ctx context.Context, tries int) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	return lost(d.receiver.AbandonMessage(ctx, d.message, &azservicebus.AbandonMessageOptions{
		PropertiesToModify: map[string]any{triesProperty: int64(tries)},
	}))
}

func (d *delivery) DeadLetter(ctx context.Context, reason, description string) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	return lost(d.receiver.DeadLetterMessage(ctx, d.message, &azservicebus.DeadLetterOptions{
		Reason: new(reason), ErrorDescription: new(description),
	}))
}

// lost names the error of a lock that is lost.
func lost(err error) error {
	var e *azservicebus.Error
	if errors.As(err, &e) && e.Code == azservicebus.CodeLockLost {
		return errors.Join(work.ErrLockLost, err)
	}
	return err
}
