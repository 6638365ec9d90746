// Package bypass_test tries ways round the doors on the recorded prod stack, and
// asks each layer that must refuse one, alone: what it says does not rest on the
// others.
package bypass_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"onedoor/cmd/embedded"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	batchdoor "onedoor/policies/batchdoor/rules"
	platform "onedoor/policies/platform/rules"
	"onedoor/tests/bad/replay"
)

func TestMain(m *testing.M) {
	embedded.Dispatch()
	os.Exit(m.Run())
}

// way is one way round the doors.
type way struct {
	Name      string          `yaml:"name"`
	Models    bool            `yaml:"models"` // it leads to a model
	Mutation  replay.Mutation `yaml:"mutation"`
	RefusedBy layers          `yaml:"refusedBy"`
	// Alone says why one layer must do for a way to a model.
	Alone string `yaml:"alone"`
}

// layers are what must refuse a way; an empty one is not asked.
type layers struct {
	Packs       []string  `yaml:"packs"`       // rules
	Network     network   `yaml:"network"`     // see there
	AzurePolicy []string  `yaml:"azurePolicy"` // logical names of the resources that are denied
	Roles       []attempt `yaml:"roles"`
	Gateway     []request `yaml:"gateway"`
}

func (l layers) count() int {
	n := 0
	for _, asked := range []bool{len(l.Packs) > 0, l.Network.asked(), len(l.AzurePolicy) > 0, len(l.Roles) > 0, len(l.Gateway) > 0} {
		if asked {
			n++
		}
	}
	return n
}

func ways(t testing.TB) []way {
	t.Helper()
	raw, err := os.ReadFile("../bypass.yaml")
	require.NoError(t, err)
	var out []way
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	require.NoError(t, d.Decode(&out))
	return out
}

func prod(t testing.TB) replay.Stack {
	t.Helper()
	s, err := replay.Load("../testdata/prod.preview.json")
	require.NoError(t, err)
	return s
}

func mutated(t testing.TB, w way) replay.Stack {
	t.Helper()
	s, err := prod(t).Mutate(w.Mutation)
	require.NoError(t, err)
	return s
}

// fewest is how many ways the project promises to try.
const fewest = 14

func TestWaysToModelsMeetTwoLayers(t *testing.T) {
	t.Parallel()
	all := ways(t)
	assert.GreaterOrEqual(t, len(all), fewest)
	names := map[string]bool{}
	for _, w := range all {
		assert.False(t, names[w.Name], "%s: the name is used twice", w.Name)
		names[w.Name] = true
		assert.NotEmpty(t, w.RefusedBy.Packs, "%s: the packs refuse every way", w.Name)
		if w.Models && w.Alone == "" {
			assert.GreaterOrEqual(t, w.RefusedBy.count(), 2, w.Name)
		}
	}
}

// Packs stop a first preview: nothing has been made by then.
func TestPacksRefuse(t *testing.T) {
	t.Parallel()
	packs := []policypack.Pack{batchdoor.New(), platform.New()}
	for _, w := range ways(t) {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			result := replay.Project{Dir: "../..", Packs: packs}.Preview(t, prod(t), w.Mutation)
			stopped := []string{}
			for _, v := range result.PolicyViolations {
				if v.Enforcement == string(results.Mandatory) {
					stopped = append(stopped, v.Policy)
				}
			}
			assert.Subset(t, stopped, w.RefusedBy.Packs)
		})
	}
}
