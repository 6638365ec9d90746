package bypass_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/tests/bad/replay"
)

// attempt is a call that a way ends in.
type attempt struct {
	Principal string `yaml:"principal"` // logical name of the identity that calls
	At        string `yaml:"at"`        // logical name of the model account
}

// grants are the role assignments that give a principal anything at a model account.
// Whoever has none can call nothing there, whatever roles allow.
func grants(t *testing.T, s replay.Stack, a attempt) []string {
	t.Helper()
	identity := one(t, s, replay.Selector{Type: "azure-native:managedidentity:UserAssignedIdentity", Name: a.Principal})
	account, known := write(t, one(t, s, replay.Selector{Type: "azure-native:cognitiveservices:Account", Name: a.At}))
	require.True(t, known)
	var out []string
	for _, r := range s.Resources {
		if replay.Unversioned(r.Type) != "azure-native:authorization:RoleAssignment" || !slices.Contains(r.PropertyDependencies["principalId"], identity.URN) {
			continue
		}
		scope, _ := r.Inputs["scope"].(string)
		if scope == engine.Unknown || below(account.id, scope) {
			out = append(out, r.Name)
		}
	}
	return out
}

func one(t *testing.T, s replay.Stack, by replay.Selector) engine.Resource {
	t.Helper()
	found, err := s.Select(by)
	require.NoError(t, err)
	require.Len(t, found, 1)
	return s.Resources[found[0]]
}

func TestRolesRefuse(t *testing.T) {
	t.Parallel()
	stack := prod(t)
	assert.NotEmpty(t, grants(t, stack, attempt{"identity-control-plane", "models-batch"}), "the control plane submits jobs")
	assert.NotEmpty(t, grants(t, stack, attempt{"identity-gateway", "models-swedencentral"}), "the gateway calls models")
	for _, w := range ways(t) {
		for _, a := range w.RefusedBy.Roles {
			t.Run(w.Name+" as "+a.Principal, func(t *testing.T) {
				t.Parallel()
				assert.Empty(t, grants(t, mutated(t, w), a))
			})
		}
	}
}
