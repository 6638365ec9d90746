package embedded

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/internal/policypack/results"
)

// A pack that writes its record and is not heard by the engine stops nothing.
func TestTheEngineMustHaveHeardThePacks(t *testing.T) {
	t.Parallel()
	failed := results.Judgement{Rule: "ST-01", URN: "urn:a", State: results.Fail}
	runs := []results.Run{{Pack: results.Pack{Name: "platform"}, Judgements: []results.Judgement{failed, {Rule: "ST-02", URN: "urn:a", State: results.Pass}}}}
	heard := &engine.Result{
		PolicySummaries:  []engine.PolicySummary{{Pack: "platform"}},
		PolicyViolations: []engine.PolicyViolation{{Pack: "platform", Policy: "ST-01", URN: "urn:a", Enforcement: "excepted"}},
	}
	require.NoError(t, agree(runs, heard))
	for name, c := range map[string]struct {
		change func(*engine.Result)
		want   string
	}{
		"NoSummary":       {func(r *engine.Result) { r.PolicySummaries = nil }, `policy pack "platform": the engine has no summary`},
		"OfOneResource":   {func(r *engine.Result) { r.PolicySummaries[0].URN = "urn:a" }, "the engine has no summary"},
		"AnotherRule":     {func(r *engine.Result) { r.PolicyViolations[0].Policy = "ST-02" }, "did not hear that ST-01 fails for urn:a"},
		"AnotherResource": {func(r *engine.Result) { r.PolicyViolations[0].URN = "urn:b" }, "did not hear that ST-01 fails for urn:a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deaf := &engine.Result{PolicySummaries: append([]engine.PolicySummary{}, heard.PolicySummaries...), PolicyViolations: append([]engine.PolicyViolation{}, heard.PolicyViolations...)}
			c.change(deaf)
			assert.ErrorContains(t, agree(runs, deaf), c.want)
		})
	}
}
