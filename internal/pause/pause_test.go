package pause

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestForWaits(t *testing.T) {
	t.Parallel()
	began := time.Now()
	require.NoError(t, For(t.Context(), 20*time.Millisecond))
	assert.GreaterOrEqual(t, time.Since(began), 20*time.Millisecond)
}

func TestForSaysWhyItEndedEarly(t *testing.T) {
	t.Parallel()
	gone := errors.New("the lock is lost")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	require.ErrorIs(t, For(ctx, time.Hour), gone)
}
