// Package judged runs whole stacks under the policy packs.
package judged

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/policypack/results"
	"onedoor/tests/kit"
)

func TestMain(m *testing.M) {
	embedded.Dispatch()
	os.Exit(m.Run())
}

// What the program declares passes its own packs at the levels of its stacks, in a
// first preview, and again once everything is known.
func TestStacksKeepTheirPolicies(t *testing.T) {
	t.Parallel()
	for stack, profile := range map[string]string{"dev": "standard", "prod": "strict"} {
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			s := kit.Session(t, stack, kit.StackFiles()[stack])
			s.WithoutPolicies = false
			_, err := s.Preview(t.Context())
			require.NoError(t, err)
			first := s.Policy
			require.NotNil(t, first)
			assert.Equal(t, profile, first.Profile)
			assert.Zero(t, first.Summary.Fail)
			assert.True(t, first.Subject.Simulated)
			for _, r := range first.Results {
				assert.False(t, r.State == results.NotChecked && r.Severity == "critical", "%s of %s cannot wait for an update", r.Rule, r.Resource)
			}
			if stack == "dev" {
				return // what an update adds is shown on the larger stack
			}
			_, err = s.Up(t.Context())
			require.NoError(t, err)
			assert.Zero(t, s.Policy.Summary.Fail)
			assert.Zero(t, s.Policy.Summary.NotChecked, "after an update everything is known")
			assert.Equal(t, first.Subject.ConfigSHA256, s.Policy.Subject.ConfigSHA256)

			// An update of what exists shows the packs what patches have made.
			s.StackFile = kit.Changed(t, s.StackFile, map[string]any{"base.owner": "somebody@example.com"})
			_, err = s.Up(t.Context())
			require.NoError(t, err)
			assert.Zero(t, s.Policy.Summary.Fail)
		})
	}
}
