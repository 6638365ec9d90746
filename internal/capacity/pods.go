package capacity

import "fmt"

// MaxReceivers is how many receivers a queue takes at once, and how many
// connections a namespace does.
// https://learn.microsoft.com/azure/service-bus-messaging/service-bus-quotas
const MaxReceivers = 5000

// Receivers is how many messages a replica waits for or holds at once: each of its
// items at once fetches a batch.
func Receivers(parallel, batch int) int { return parallel * batch }

// Connections says whether the replicas of all queues of a namespace stay below
// what it takes. A replica has one connection; receivers are counted as well,
// because each is a link of its own to the broker.
func Connections(replicas, receivers map[string]int) (total int, fits bool) {
	for queue, n := range replicas {
		total += n * receivers[queue]
	}
	return total, total < MaxReceivers
}

// Memory of a worker.
const (
	baseMiB      = 128 // of the program itself
	copiesOfItem = 3   // a payload is held once as read, once as encoded for the call, and its answer takes up to the same again
)

// LeastItemMiB is what a line of many and an answer may have where payloads may have
// less: embeddings are many times as large as their texts.
const LeastItemMiB = 4

// Memory is the memory that a replica needs, in MiB, when each of the items it
// works on at once has a payload of payloadMiB. What it has fetched and not begun
// is only a claim check, below 4 KiB.
func Memory(parallel, payloadMiB int) (mib int, why string) {
	item := max(payloadMiB, LeastItemMiB)
	mib = baseMiB + parallel*copiesOfItem*item
	return mib, fmt.Sprintf("%d MiB + %d at once x %d copies x %d MiB = %d MiB", baseMiB, parallel, copiesOfItem, item, mib)
}
