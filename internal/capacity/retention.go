package capacity

import (
	"fmt"
	"math"
	"time"
)

const day = 24 * time.Hour

// BatchWindow is how long Azure may take to complete a batch job.
// https://learn.microsoft.com/azure/ai-services/openai/how-to/batch
const BatchWindow = day

// MinRetentionDays is how many days a payload must be kept so that no live
// message ever points at nothing: the message's own life, the longest that a
// back end may work on it, the time that people have to look at dead letters,
// and one day because lifecycle rules run once a day.
func MinRetentionDays(ttl, window, triage time.Duration) (days int, why string) {
	days = int(math.Ceil(float64(ttl+window+triage)/float64(day))) + 1
	return days, fmt.Sprintf("(message %s + back end %s + dead-letter triage %s) in whole days + 1 = %d days", ttl, window, triage, days)
}
