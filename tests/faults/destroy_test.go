package faults

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/sim/core"
)

// A destroy that fails is run again until it ends; there is nothing to take over.
func TestTheNextDestroyMakesUpForFailures(t *testing.T) {
	t.Parallel()
	modes := []mode{refused, failedLate, answerLost}
	turns := 1 // full: each operation in each mode
	if full() {
		turns = len(modes)
	}
	for _, stack := range stacksOf() {
		for turn := range turns {
			t.Run(fmt.Sprint(stack, "/turn ", turn), func(t *testing.T) {
				t.Parallel()
				ref := undisturbed(t, stack)
				chosen := ref.order
				if !full() {
					chosen = killPoints(ref)
				}
				left := plan{}
				for i, urn := range chosen {
					left[urn] = modes[(i+turn)%len(modes)]
				}
				s := session(t, stack)
				_, err := s.Up(t.Context())
				require.NoError(t, err)
				for runs := 1; ; runs++ {
					require.Less(t, runs, 200)
					struck, _, err := under(t, s, left, core.Delete, func(ctx context.Context) (*engine.Result, error) { return s.Destroy(ctx, true) })
					t.Logf("run %d: %d struck, %d left", runs, len(struck), len(left)-len(struck))
					if len(struck) == 0 {
						require.NoError(t, err)
						break
					}
					requireFailed(t, err, struck, nil)
					for urn := range struck {
						delete(left, urn) // what goes with its parent is never asked for
					}
				}
				requireGone(t, s)
			})
		}
	}
}
