package stacks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPolicyIsAssignedUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	cfg, err := Parse("dev", v)
	require.NoError(t, err)
	assert.True(t, cfg.Policy.Assign)
	set(t, v, "policy.assign", false)
	cfg, err = Parse("dev", v)
	require.NoError(t, err)
	assert.False(t, cfg.Policy.Assign)
}

// A guard of the subscription that forgets a batch group stops its stack.
func TestGuardNamesEveryBatchGroup(t *testing.T) {
	t.Parallel()
	const (
		groups = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/"
		own    = groups + "rg-onedoor-dev-batch-door"
		other  = groups + "rg-onedoor-prod-batch-door"
	)
	for name, c := range map[string]struct {
		groups []string
		want   string // "" for a legal neighbour
	}{
		"None":         {[]string{}, ""},
		"Both":         {[]string{own, other}, ""},
		"InOtherCase":  {[]string{groups + "RG-OneDoor-Dev-Batch-Door"}, ""},
		"OwnForgotten": {[]string{other}, "this stack's own batch group among them, or its deployments are refused: " + own},
		"NoGroup":      {[]string{own + "/providers/Microsoft.Storage/storageAccounts/a"}, "the id of a resource group"},
		"Elsewhere":    {[]string{own, "/subscriptions/99999999-2222-3333-4444-555555555555/resourceGroups/rg"}, "groups of the stack's own subscription"},
		"TooMany":      {append(make([]string, maxNotScopes), own), "at most 400 groups"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values(t, "dev")
			set(t, v, "policy.guard.batchGroups", c.groups)
			_, err := Parse("dev", v)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}
