package stacks

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"onedoor/components/queue"
	"onedoor/components/storage"
	"onedoor/internal/capacity"
)

// Queue is the root key "queue": the asynchronous path for work that somebody
// waits minutes for.
type Queue struct {
	Tier    QueueTier         `json:"tier"`
	Units   int               `json:"units"`   // messaging units of the premium tier: 1, 2, 4, 8 or 16
	Private bool              `json:"private"` // reachable through the network alone; takes the premium tier
	Queues  map[string]Worker `json:"queues"`  // by modality
}

// QueueTier is the tier of the Service Bus namespace.
type QueueTier string

// The tiers.
const (
	QueueStandard QueueTier = "standard" // 256 KB a message, shared capacity, no private endpoint
	QueuePremium  QueueTier = "premium"  // capacity of its own, private endpoints, logs of who sent and received
)

// Worker is the work on one queue. A queue that is given is given whole.
type Worker struct {
	P99        time.Duration `json:"p99"`        // 99th percentile of the whole work on one message
	Wait       time.Duration `json:"wait"`       // how long a message may wait before nobody wants the answer, up to 336h
	Deliveries int           `json:"deliveries"` // attempts before a message is a dead letter, 1 to 100
	Batch      int           `json:"batch"`      // messages that a worker fetches at once and works on one after another, 1 to 32
	Payloads   string        `json:"payloads"`   // container of its payloads; default payloads-<modality>
}

func defaultQueue() Queue {
	worker := func(p99 time.Duration) Worker {
		return Worker{P99: p99, Wait: 24 * time.Hour, Deliveries: 10, Batch: 1}
	}
	return Queue{Tier: QueueStandard, Units: 1, Queues: map[string]Worker{
		"text": worker(20 * time.Second), "document": worker(60 * time.Second), "image": worker(60 * time.Second),
		"audio": worker(2 * time.Minute), "video": worker(10 * time.Minute),
	}}
}

// Limits of what a queue may be told.
const (
	maxWait       = 14 * 24 * time.Hour // beyond two weeks the answer is for nobody
	maxDeliveries = 100
	maxBatch      = 32
	maxQueues     = 16 // each has an identity, a queue and two containers of its own
)

var (
	// modality is the form of a queue's name; it becomes part of container names.
	modality = regexp.MustCompile(`^[a-z][a-z0-9]{1,19}$`)
	// containerName is Azure's rule for containers.
	// https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
	containerName = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9]){2,62}$`)
)

// units are the sizes of the premium tier.
// https://learn.microsoft.com/azure/service-bus-messaging/service-bus-premium-messaging
var units = map[int]bool{1: true, 2: true, 4: true, 8: true, 16: true}

func (q *Queue) check(report *problems) {
	switch q.Tier {
	case QueueStandard:
		if q.Private {
			report.bad("queue.private", q.Private, "false, or queue.tier premium: a standard namespace has no private endpoint", "false")
		}
		if q.Units != 1 {
			report.bad("queue.units", q.Units, "1: only the premium tier has units", "1")
		}
	case QueuePremium:
		if !units[q.Units] {
			report.bad("queue.units", q.Units, "1, 2, 4, 8 or 16 units", "1")
		}
	default:
		report.bad("queue.tier", q.Tier, oneOf(QueueStandard, QueuePremium), string(QueueStandard))
	}
	if n := len(q.Queues); n < 1 || n > maxQueues {
		report.bad("queue.queues", n, between(1, maxQueues)+" queues, one per modality", "")
	}
	owner := map[string]string{} // of a container
	for _, container := range storage.Reserved(sortedKeys(q.Queues)...) {
		owner[container] = "the platform"
	}
	for _, name := range sortedKeys(q.Queues) {
		key, w := "queue.queues."+name, q.Queues[name]
		if name == queue.Ingest {
			report.bad(key, nil, "another name: the topic that takes all work has this one", "")
		}
		named := modality.MatchString(name)
		if !named {
			report.bad(key, nil, "a name of 2 to 20 lower-case letters and digits that starts with a letter", "")
		}
		if w.Wait < time.Minute || w.Wait > maxWait {
			report.bad(key+".wait", w.Wait, "1m to 336h: how long a message may wait for a worker", "24h")
		}
		if w.Deliveries < 1 || w.Deliveries > maxDeliveries {
			report.bad(key+".deliveries", w.Deliveries, between(1, maxDeliveries)+" attempts", "10")
		}
		if w.Batch < 1 || w.Batch > maxBatch {
			report.bad(key+".batch", w.Batch, between(1, maxBatch)+" messages", "1")
		} else if _, err := capacity.HoldFor(w.P99, w.Batch); err != nil {
			report.bad(key+".p99", w.P99, "work that a lock can cover: "+err.Error(), "")
		}
		container := w.container(name)
		if (named || w.Payloads != "") && !containerName.MatchString(container) {
			report.bad(key+".payloads", container, "3 to 63 lower-case letters, digits and single hyphens, the rule of containers", "payloads-"+name)
		}
		if other, taken := owner[container]; taken {
			report.bad(key+".payloads", container, "a container of its own: this one is that of "+other+", and a worker must not read what is not for it", "payloads-"+name)
		}
		owner[container] = fmt.Sprintf("queue %q", name)
	}
}

// hold is how long a worker may hold a message of the queue, and how long one
// lives. The configuration was checked: there is an answer.
func (w Worker) hold() (hold capacity.Hold, ttl time.Duration, why string) {
	hold, err := capacity.HoldFor(w.P99, w.Batch)
	if err != nil {
		panic(err)
	}
	ttl, why = capacity.TimeToLive(w.Wait, w.Deliveries, hold)
	return hold, ttl, why
}

// container is where the payloads of the queue called name are.
func (w Worker) container(name string) string {
	if w.Payloads != "" {
		return w.Payloads
	}
	return "payloads-" + name
}

// checkRetention refuses payloads that could be gone before the message that
// points at them. It names the queue that needs them longest.
func (c *Config) checkRetention(report *problems) {
	longest, want := 0, ""
	for _, name := range sortedKeys(c.Queue.Queues) {
		_, ttl, life := c.Queue.Queues[name].hold()
		if days, why := capacity.MinRetentionDays(ttl, capacity.BatchWindow, c.Storage.Triage); days > longest {
			longest, want = days, fmt.Sprintf("at least %d days, or a live message of queue %q could point at nothing: %s, where a message lives for %s", days, name, why, life)
		}
	}
	if c.Storage.PayloadDays < longest {
		report.bad("storage.payloadDays", c.Storage.PayloadDays, want, strconv.Itoa(longest))
	}
}
