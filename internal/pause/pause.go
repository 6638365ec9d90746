// Package pause waits in real time.
package pause

import (
	"context"
	"time"
)

// For waits d, or less when ctx ends: then it returns why.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
