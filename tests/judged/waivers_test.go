package judged

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
	"onedoor/internal/policypack/results"
	"onedoor/tests/kit"
)

// waived is a waiver of dev for what fails in noModels.
const waived = `waivers:
  - id: SEC-7
    rules: [AOA-07]
    targets: ["urn:pulumi:dev::onedoor::*Deployment::models-*"]
    owner: ann@example.com
    approver: bob@example.com
    ticket: SEC-7
    reason: the list of models is under review
    created: 2026-11-01
    expires: 2027-01-31
    compensatingControl: nobody may deploy meanwhile
`

// noModels is a stack of dev for which no model is approved.
func noModels(t *testing.T) *embedded.Session {
	t.Helper()
	s := kit.Session(t, "dev", kit.StackFiles()["dev"])
	s.WithoutPolicies, s.PolicyDir, s.Waivers = false, t.TempDir(), filepath.Join(t.TempDir(), "waivers.yaml")
	require.NoError(t, os.WriteFile(s.Waivers, []byte(waived), 0o644))
	own := filepath.Join(s.Dir, "policies", "stacks", "dev")
	require.NoError(t, os.CopyFS(s.PolicyDir, os.DirFS(own)))
	file := filepath.Join(s.PolicyDir, "platform.json")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	strict := bytes.Replace(raw, []byte(`"exposure":`), []byte(`"models": ["none"], "exposure":`), 1)
	require.NotEqual(t, string(raw), string(strict))
	require.NoError(t, os.WriteFile(file, strict, 0o644))
	return s
}

func TestAWaivedFailureDoesNotStop(t *testing.T) {
	t.Parallel()
	s := noModels(t)
	s.Today = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	_, err := s.Up(t.Context())
	require.NoError(t, err)
	assert.Positive(t, s.Policy.Summary.Waived)
	assert.Zero(t, s.Policy.Summary.Fail)
	for _, r := range s.Policy.Results {
		if r.State == results.Waived {
			assert.Equal(t, "AOA-07", r.Rule)
			assert.Equal(t, []string{"ann@example.com", "bob@example.com", "2027-01-31", ""}, []string{r.Waiver.Owner, r.Waiver.Approver, r.Waiver.Expires, r.Waiver.Void})
		}
	}
}

func TestAWaiverThatDoesNotCountStops(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*testing.T, *embedded.Session)
		void   string
	}{
		"expired": {func(_ *testing.T, s *embedded.Session) { s.Today = time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC) }, "expired"},
		"new": {func(t *testing.T, s *embedded.Session) {
			s.Today = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
			s.BaseWaivers = filepath.Join(t.TempDir(), "base.yaml")
			require.NoError(t, os.WriteFile(s.BaseWaivers, []byte("waivers: []\n"), 0o644))
		}, "new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := noModels(t)
			var said bytes.Buffer
			s.Progress = io.MultiWriter(s.Progress, &said)
			c.change(t, s)
			_, err := s.Preview(t.Context())
			var failure *engine.Failure
			require.ErrorAs(t, err, &failure)
			require.Equal(t, engine.KindPolicy, failure.Kind)
			assert.Positive(t, s.Policy.Summary.Blocking)
			assert.Zero(t, s.Policy.Summary.Waived)
			for _, r := range s.Policy.Results {
				if r.State == results.Fail && r.Rule == "AOA-07" {
					require.NotNil(t, r.Waiver)
					assert.Equal(t, c.void, r.Waiver.Void, "%s of %s", r.Rule, r.Resource)
				}
			}
			assert.Contains(t, said.String(), "waiver SEC-7 is "+c.void)
		})
	}
}

func TestAWrongFileOfWaiversIsRefusedBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	s := noModels(t)
	require.NoError(t, os.WriteFile(s.Waivers, bytes.Replace([]byte(waived), []byte("AOA-07"), []byte("AOA-99"), 1), 0o644))
	_, err := s.Preview(t.Context())
	var mistake *engine.SetupError
	require.ErrorAs(t, err, &mistake, "the user can mend it")
	assert.ErrorContains(t, err, `"AOA-99"`)
	assert.Nil(t, s.Policy)
}
