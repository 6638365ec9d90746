package capacity

import (
	"fmt"
	"time"
)

// Load is the work of one replica.
type Load struct {
	Parallel int           // items at once, 1 to MaxParallel
	Item     time.Duration // typical time of one item, from MinItem to MaxHold
	Tokens   int           // that the gateway's limit counts for one item: its prompt and the most that it may answer
	Calls    int           // of a model for one item
}

// Limits of a Load: beyond them the arithmetic is right and the work is not.
const (
	MaxParallel = 10                     // more items in one process share one connection to the bus, and die together
	MinItem     = 100 * time.Millisecond // no model answers faster
	MaxTokens   = 2_000_000              // the largest context that a model has, twice over
	MaxCalls    = 100
)

// Check says what is wrong with the load.
func (l Load) Check() error {
	switch {
	case l.Parallel < 1 || l.Parallel > MaxParallel:
		return fmt.Errorf("%d items at once, want 1 to %d", l.Parallel, MaxParallel)
	case l.Item < MinItem || l.Item > MaxHold:
		return fmt.Errorf("%s for an item, want %s to %s", l.Item, MinItem, MaxHold)
	case l.Tokens < 1 || l.Tokens > MaxTokens:
		return fmt.Errorf("%d tokens for an item, want 1 to %d", l.Tokens, MaxTokens)
	case l.Calls < 1 || l.Calls > MaxCalls:
		return fmt.Errorf("%d calls for an item, want 1 to %d", l.Calls, MaxCalls)
	}
	return nil
}

// Rate is what one replica uses in a minute. It is also the replica's budget: a
// worker never asks for more, so replicas can be added up.
type Rate struct {
	Items    int // whole items, rounded up
	Tokens   int
	Requests int
	Why      string
}

// Rate is the rate of the load, which was checked.
func (l Load) Rate() Rate {
	items := ceil(int64(l.Parallel)*int64(time.Minute), int64(l.Item))
	r := Rate{Items: items, Tokens: items * l.Tokens, Requests: items * l.Calls}
	r.Why = fmt.Sprintf("%d at once x 60 s / %s = %d items a minute x %d tokens = %d tokens a minute", l.Parallel, l.Item, r.Items, l.Tokens, r.Tokens)
	return r
}

// Backlog is how many messages there are for each replica when one of them waits
// as long as it may: what an autoscaler compares the length of a queue with.
func (l Load) Backlog(wait time.Duration) (messages int, why string) {
	messages = max(1, int(int64(l.Parallel)*int64(wait)/int64(l.Item)))
	return messages, fmt.Sprintf("%d at once x %s of waiting / %s an item = %d messages for a replica", l.Parallel, wait, l.Item, messages)
}

// ceil is a / b, rounded up. Both are above zero.
func ceil(a, b int64) int { return int((a + b - 1) / b) }
