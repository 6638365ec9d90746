package verify_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/finding"
	"onedoor/internal/policypack/results"
	"onedoor/internal/verify"
)

var design = verify.Design{Stack: "prod", Subscription: "sub", Accounts: []verify.Account{{ID: "/a", Name: "a"}, {ID: "/b", Name: "b"}}}

// evidence is what a result with these findings, all codes looked at, leaves.
func evidence(fill func(*finding.Recorder)) map[string]map[string]results.Judgement {
	r := finding.NewRecorder(verify.Codes)
	for _, c := range verify.Codes {
		r.Judged(c.ID)
	}
	fill(r)
	judged, found := r.Results()
	result := verify.Result{
		Report:   finding.Make("verify", "prod", "sub", verify.Codes, judged, found),
		Access:   []verify.Access{{Account: "/a", Principal: "1", Known: "identity gateway of the plan", Powers: []verify.Power{verify.Calls}}},
		Attempts: []verify.Attempt{{Place: "workers/text", As: "worker-text", Target: "a.example.com", Outcome: verify.RefusedByNetwork}, {Place: "workers/text", Target: "gateway", Control: true}},
	}
	out := map[string]map[string]results.Judgement{}
	for _, j := range result.Evidence(design).Judgements {
		if out[j.Rule] == nil {
			out[j.Rule] = map[string]results.Judgement{}
		}
		out[j.Rule][j.URN] = j
	}
	return out
}

func TestEvidenceOfWhatPasses(t *testing.T) {
	t.Parallel()
	got := evidence(func(*finding.Recorder) {})
	assert.Equal(t, results.Pass, got[verify.KeysOff]["/a"].State)
	assert.Equal(t, results.Pass, got[verify.KeysOff]["/b"].State)
	assert.Equal(t, "identity gateway of the plan calls models", got[verify.OnlyCallers]["/a"].Value, "it says who may")
	assert.Contains(t, got[verify.WaysRefused]["workers/text to a.example.com"].Value, "refused by the network")
	assert.NotContains(t, got[verify.WaysRefused], "workers/text to gateway", "the control is no judgement")
}

func TestEvidenceSignsNothingThatWasNotRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fill func(*finding.Recorder)
		a, b results.State
	}{
		"OneAccountWasNotRead": {func(r *finding.Recorder) { r.NotChecked("/a", "403", verify.KeysOff) }, results.NotChecked, results.Pass},
		"OneAccountIsWrong":    {func(r *finding.Recorder) { r.Found(verify.KeysOff, "/a", "on") }, results.Fail, results.Pass},
		"SomethingWasNotRead":  {func(r *finding.Recorder) { r.NotChecked("an identity", "403", verify.KeysOff) }, "", ""},
		"WrongAndNotAllWasRead": {func(r *finding.Recorder) {
			r.Found(verify.KeysOff, "/a", "on")
			r.NotChecked("x", "403", verify.KeysOff)
		}, results.Fail, ""},
	} {
		got := evidence(c.fill)[verify.KeysOff]
		assert.Equal(t, c.a, got["/a"].State, name)
		assert.Equal(t, c.b, got["/b"].State, name)
	}
}
