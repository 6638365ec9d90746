// Package busfake is a test kit: a Service Bus that the real client connects to,
// by TLS and AMQP 1.0, with tokens, locks that run out, delivery counts, dead
// letters with their reasons, topics that sort messages into queues, and no second
// message with the same id. It keeps time by the real clock. What no program of
// this project uses is missing: sessions, transactions, deferred and scheduled
// messages, subscriptions that are received from.
package busfake

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"
	"github.com/stretchr/testify/require"
)

// Namespace is what a bus has.
type Namespace struct {
	Queues []Queue
	Topics []Topic
}

// Queue is a queue, with dead letters.
type Queue struct {
	Name       string
	Lock       time.Duration
	Deliveries int // before a message is a dead letter, from 1
}

// Topic is a topic. A message that no subscription takes is gone.
type Topic struct {
	Name          string
	Subscriptions []Subscription
}

// Subscription forwards messages of a content type, or all, to a queue.
type Subscription struct {
	ContentType string
	ForwardTo   string
}

// Bus is a Service Bus namespace.
type Bus struct {
	Host string // where clients connect; only those with Options find it

	listener net.Listener
	trusted  *x509.CertPool

	mu        sync.Mutex
	queues    map[string]*queue // by name in lower case, as all names are compared
	topics    map[string]*Topic
	conns     map[*conn]bool
	sequence  int64
	locks     uint64
	renewals  int
	losesLock func(queue, id string, outcome Outcome) bool
}

// host is the name that the certificate is for.
const host = "example.com"

// Start starts a bus that ends with the test.
func Start(t testing.TB, namespace Namespace) *Bus {
	t.Helper()
	server := httptest.NewTLSServer(nil) // for its certificate
	server.Close()
	b := &Bus{
		Host: host, trusted: x509.NewCertPool(),
		queues: map[string]*queue{}, topics: map[string]*Topic{}, conns: map[*conn]bool{},
	}
	b.trusted.AddCert(server.Certificate())
	for _, q := range namespace.Queues {
		require.Positive(t, q.Deliveries, "deliveries of queue %s", q.Name)
		b.queues[strings.ToLower(q.Name)] = newQueue(q.Name, q.Lock, q.Deliveries)
	}
	for _, topic := range namespace.Topics {
		for _, s := range topic.Subscriptions {
			require.Contains(t, b.queues, strings.ToLower(s.ForwardTo), "target of a subscription of topic %s", topic.Name)
		}
		b.topics[strings.ToLower(topic.Name)] = &topic
	}
	var err error
	b.listener, err = tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: server.TLS.Certificates})
	require.NoError(t, err)
	done, ended := make(chan struct{}), sync.WaitGroup{}
	ended.Go(func() {
		for {
			nc, err := b.listener.Accept()
			if err != nil {
				return
			}
			ended.Go(func() { b.serve(nc) })
		}
	})
	ended.Go(func() { b.tick(done) })
	t.Cleanup(func() {
		close(done)
		b.listener.Close()
		b.DropConnections()
		ended.Wait()
	})
	return b
}

// tick takes messages back whose lock has run out, and keeps connections alive.
func (b *Bus) tick(done <-chan struct{}) {
	locks, lives := time.NewTicker(5*time.Millisecond), time.NewTicker(keepAlive)
	defer locks.Stop()
	defer lives.Stop()
	for {
		select {
		case <-done:
			return
		case <-locks.C:
			b.mu.Lock()
			b.expire(false)
			b.mu.Unlock()
		case <-lives.C:
			b.mu.Lock()
			for c := range b.conns {
				if c.open {
					c.out.send(frameAMQP, 0, nil)
				}
			}
			b.mu.Unlock()
		}
	}
}

// Options are what a client needs to find the bus.
func (b *Bus) Options() *azservicebus.ClientOptions {
	return &azservicebus.ClientOptions{
		CustomEndpoint: b.listener.Addr().String(),
		TLSConfig:      &tls.Config{RootCAs: b.trusted},
	}
}

// Client is a client of the bus that ends with the test.
func (b *Bus) Client(t testing.TB) *azservicebus.Client {
	t.Helper()
	client, err := azservicebus.NewClient(b.Host, Credential{}, b.Options())
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close(context.WithoutCancel(t.Context())) })
	return client
}

// Credential has a token for everything.
type Credential struct{}

// GetToken implements azcore.TokenCredential.
func (Credential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "token", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// find finds a queue, or the dead letters of one.
func (b *Bus) find(entity string) *queue {
	entity = strings.ToLower(entity)
	if name, ok := strings.CutSuffix(entity, strings.ToLower(deadLetters)); ok {
		if q := b.queues[name]; q != nil {
			return q.dead
		}
		return nil
	}
	return b.queues[entity]
}

// Send puts a message into an entity.
func (b *Bus) Send(t testing.TB, entity string, m *azservicebus.Message) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	raw := amqp.NewMessage(m.Body)
	raw.Properties = &amqp.MessageProperties{ContentType: m.ContentType}
	if m.MessageID != nil {
		raw.Properties.MessageID = *m.MessageID
	}
	require.NoError(t, b.send(entity, raw))
}

// Counts is how many messages of a queue wait, and how many are locked.
func (b *Bus) Counts(name string) (ready, locked int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.find(name)
	return len(q.ready), len(q.locked)
}

// Dead is a dead letter.
type Dead struct {
	ID, Reason, Description string
	Body                    []byte
}

// Dead are the dead letters of a queue, by their age.
func (b *Bus) Dead(name string) []Dead {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Dead
	for _, m := range b.find(name).dead.ready {
		reason, _ := m.ApplicationProperties[propertyReason].(string)
		description, _ := m.ApplicationProperties[propertyDescription].(string)
		out = append(out, Dead{m.id(), reason, description, slices.Concat(m.Data...)})
	}
	return out
}

// Renewals is how many locks were renewed.
func (b *Bus) Renewals() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.renewals
}

// LosesLock makes locks run out just before they are used: lost is asked about
// each message that somebody settles, and must not use the bus.
func (b *Bus) LosesLock(lost func(queue, id string, outcome Outcome) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.losesLock = lost
}

// ExpireLocks ends all locks.
func (b *Bus) ExpireLocks() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(true)
}

// DropConnections breaks all connections. Locks stay until they run out.
func (b *Bus) DropConnections() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.conns {
		c.out.close()
	}
}

// DetachLinks ends all links that deliver messages, as the service does when it
// moves a queue.
func (b *Bus) DetachLinks() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range b.queues {
		for _, l := range slices.Clone(q.sinks) {
			l.drop()
			l.session.conn.send(l.session, composite(codeDetach, l.handle, true, composite(codeError, amqp.Symbol(conditionDetachForced), "the service moves the queue")))
		}
	}
}
