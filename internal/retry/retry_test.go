package retry

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refused are n refusals, the last with that text.
func refused(n int, text string) *pulumi.ErrorHookArgs {
	errs := make([]string, n)
	errs[0] = text
	return &pulumi.ErrorHookArgs{Name: "pool", FailedOperation: "create", Errors: errs}
}

func TestOnlyWhatPassesIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		again bool
	}{
		"Busy cluster":      {`Status=409 Code="OperationNotAllowed" Message="Operation is not allowed: another operation is in progress"`, true},
		"Pool is busy":      {`Code="OperationNotAllowed" Message="Operation is not allowed because there's an in progress create node pool operation"`, true},
		"Version":           {`Code="OperationNotAllowed" Message="Upgrading Kubernetes version 1.28.12 to 1.30.2 is not allowed. Available upgrades: [1.29.7]"`, false},
		"Quota":             {`Status=409 Code="OperationNotAllowed" Message="exceeding approved Total Regional Cores quota"`, false},
		"New identity":      {`Code="PrincipalNotFound" Message="Principal 1 does not exist in the directory"`, true},
		"New role":          {`Code="LinkedAuthorizationFailed"`, true},
		"New cluster role":  {`namespaces is forbidden: User does not have access to the resource in Azure. Update role assignment to allow access.`, true},
		"No cluster role":   {`namespaces is forbidden: User "x" cannot create resource`, false},
		"Busy account":      {`Code="RequestConflict"`, true},
		"Wrong property":    {`Status=400 Code="PropertyChangeNotAllowed"`, false},
		"Policy refuses it": {`Code="RequestDisallowedByPolicy"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			again, _, err := decide(t.Context(), refused(1, c.text), func(context.Context, time.Duration) error { return nil })
			require.NoError(t, err)
			assert.Equal(t, c.again, again)
		})
	}
}

// A role may take ten minutes; nothing waits for ever.
func TestRefusalsAreSatOutForAboutTwelveMinutes(t *testing.T) {
	t.Parallel()
	var waited []time.Duration
	sleep := func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	n, total, message := 1, time.Duration(0), ""
	for again := true; again; n++ {
		var err error
		again, message, err = decide(t.Context(), refused(n, "RequestConflict"), sleep)
		require.NoError(t, err)
		require.Less(t, n, 100)
	}
	for _, d := range waited {
		total += d
	}
	assert.Equal(t, []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute}, waited[:4])
	assert.Greater(t, total, 10*time.Minute)
	assert.Less(t, total, 15*time.Minute)
	assert.Equal(t, "create of pool was refused 9 times, at last with RequestConflict: another write to the account runs. Run again when that is over.", message)
}

func TestAnInterruptedWaitIsNoNewTry(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	again, _, err := decide(t.Context(), refused(1, "RequestConflict"), func(context.Context, time.Duration) error { return stopped })
	assert.False(t, again)
	assert.ErrorIs(t, err, stopped)
}
