package core

import (
	"fmt"
	"time"
)

// How many writes AKS takes: a burst for each cluster and each pool, and then one
// a minute (A403).
// https://learn.microsoft.com/azure/aks/quotas-skus-regions#throttling-limits-on-aks-resource-provider-apis
const (
	bucketSize   = 20
	bucketRefill = time.Minute // for one more
)

// Buckets count the writes that AKS still takes, refused ones included, by
// Key(id) of the cluster or pool. The zero value of a bucket is a full one.
type Buckets map[string]Bucket

// Bucket is one count.
type Bucket struct {
	used int           // tokens taken
	at   time.Duration // when used was right
}

// Take counts a write to a cluster or a pool. It refuses the write when there
// were too many, and says when the next is taken; other operations pass.
func (b Buckets) Take(now time.Duration, op Op) (refusal *Error, retryAt time.Duration) {
	typ, key := TypeOf(op.ID), Key(op.ID)
	if op.Method != Put || !isType(typ, clusterType) && !isType(typ, poolType) {
		return nil, 0
	}
	bucket := b[key]
	refilled := int((now - bucket.at) / bucketRefill)
	if bucket.used -= refilled; bucket.used <= 0 {
		bucket.used, bucket.at = 0, now
	} else {
		bucket.at += time.Duration(refilled) * bucketRefill
	}
	if bucket.used >= bucketSize {
		b[key] = bucket
		return refuse(TooManyRequests, op.ID, "write to "+op.ID, fmt.Sprintf("the %d. in a short time", bucketSize+1),
			fmt.Sprintf("at most %d at once and one more each minute", bucketSize), "send fewer, or wait as Retry-After says"), bucket.at + bucketRefill
	}
	bucket.used++
	b[key] = bucket
	return nil, 0
}
