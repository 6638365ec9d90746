package intake

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"onedoor/services/controlplane/apierror"
)

// ServiceBus is the namespace that queues are in.
type ServiceBus struct {
	client *azservicebus.Client
	sender *azservicebus.Sender
}

// NewServiceBus is a bus whose messages go onto that topic.
func NewServiceBus(client *azservicebus.Client, topic string) (*ServiceBus, error) {
	sender, err := client.NewSender(topic, nil)
	if err != nil {
		return nil, fmt.Errorf("intake: topic %s: %w", topic, err)
	}
	return &ServiceBus{client, sender}, nil
}

// Send implements Bus.
func (s *ServiceBus) Send(ctx context.Context, m Message) error {
	err := s.sender.SendMessage(ctx, &azservicebus.Message{MessageID: &m.ID, CorrelationID: &m.Correlation, ContentType: &m.ContentType, Body: m.Body, TimeToLive: &m.TimeToLive}, nil)
	if err != nil {
		return fmt.Errorf("intake: send: %w", err)
	}
	return nil
}

// dead opens the dead letters of a queue.
func (s *ServiceBus) dead(queue string) (*azservicebus.Receiver, error) {
	r, err := s.client.NewReceiverForQueue(queue, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
	if err != nil {
		return nil, fmt.Errorf("intake: dead letters of %s: %w", queue, err)
	}
	return r, nil
}

// Dead implements Bus.
func (s *ServiceBus) Dead(ctx context.Context, queue string, from int64) iter.Seq2[Dead, error] {
	return func(yield func(Dead, error) bool) {
		r, err := s.dead(queue)
		if err != nil {
			yield(Dead{}, err)
			return
		}
		defer func() { _ = r.Close(ctx) }() // it holds nothing
		for d, err := range peek(ctx, r, from) {
			if !yield(d, err) {
				return
			}
		}
	}
}

// page is how many dead letters are asked for at a time. Nothing says that so many
// come.
const page = 100

// peek looks at dead letters in their order, from the sequence number on: at those that
// somebody holds, too.
// https://learn.microsoft.com/azure/service-bus-messaging/message-browsing
func peek(ctx context.Context, r *azservicebus.Receiver, from int64) iter.Seq2[Dead, error] {
	return func(yield func(Dead, error) bool) {
		for {
			found, err := r.PeekMessages(ctx, page, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(from)})
			if err != nil {
				yield(Dead{}, fmt.Errorf("intake: dead letters: %w", err))
				return
			}
			if len(found) == 0 {
				return
			}
			for _, m := range found {
				d := letter(m)
				if !yield(d, nil) {
					return
				}
				from = d.Sequence + 1
			}
		}
	}
}

func letter(m *azservicebus.ReceivedMessage) Dead {
	d := Dead{Body: m.Body, Delivered: int(m.DeliveryCount)}
	if m.SequenceNumber != nil {
		d.Sequence = *m.SequenceNumber
	}
	if m.DeadLetterReason != nil {
		d.Reason = *m.DeadLetterReason
	}
	if m.DeadLetterErrorDescription != nil {
		d.Detail = *m.DeadLetterErrorDescription
	}
	if m.EnqueuedTime != nil {
		d.Died = *m.EnqueuedTime
	}
	return d
}

// patience is how long the bus is waited for when there may be nothing left.
const patience = 5 * time.Second

// most is how many dead letters are held for one: a claim has less than 4 KB.
const most = 10_000

// Take implements Bus. Dead letters can only be taken in their order, so those
// before the wanted one are held meanwhile and let go again. No more are asked for:
// what is let go would come back at once, and stay locked.
func (s *ServiceBus) Take(ctx context.Context, queue string, sequence int64, f func(Dead) error) (err error) {
	r, err := s.dead(queue)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	left, err := before(ctx, r, sequence)
	if err != nil {
		return err
	}
	left++ // and itself
	var held []*azservicebus.ReceivedMessage
	defer func() {
		for _, m := range held {
			// One that cannot be let go is free when its lock has run out.
			_ = r.AbandonMessage(context.WithoutCancel(ctx), m, nil)
		}
	}()
	var wanted *azservicebus.ReceivedMessage
	for wanted == nil && left > 0 {
		found, err := receive(ctx, r, min(left, page))
		if err != nil {
			return fmt.Errorf("intake: dead letters of %s: %w", queue, err)
		}
		if len(found) == 0 {
			break
		}
		left -= len(found)
		for _, m := range found {
			if m.SequenceNumber != nil && *m.SequenceNumber == sequence {
				wanted = m
			} else {
				held = append(held, m)
			}
		}
	}
	if wanted == nil {
		return ErrHeld
	}
	if err := f(letter(wanted)); err != nil {
		held = append(held, wanted)
		return err
	}
	return r.CompleteMessage(ctx, wanted, nil)
}

// before is how many dead letters lie before the one of that number.
func before(ctx context.Context, r *azservicebus.Receiver, sequence int64) (int, error) {
	count := 0
	for d, err := range peek(ctx, r, 0) {
		switch {
		case err != nil:
			return 0, err
		case d.Sequence > sequence:
			return 0, ErrNoLetter
		case d.Sequence == sequence && count <= most:
			return count, nil
		case d.Sequence == sequence:
			return 0, apierror.New(apierror.Conflict, "sequence", "more than %d dead letters of the queue lie before this one, and they come in their order; send older ones again, or delete them", most)
		}
		count++
	}
	return 0, ErrNoLetter
}

// receive takes the next dead letters; none if there are none.
func receive(ctx context.Context, r *azservicebus.Receiver, limit int) ([]*azservicebus.ReceivedMessage, error) {
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := r.ReceiveMessages(wait, limit, nil)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, nil
	}
	return found, err
}
