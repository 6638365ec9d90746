package report_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/policypack/results"
	"onedoor/internal/report"
)

// result is one judgement of a mandatory rule of high severity.
func result(rule, resource string, state results.State) results.Result {
	r := results.Result{Rule: rule, Resource: resource, State: state, Severity: "high", Level: results.Mandatory, Message: "x is 1", Evidence: results.Evidence{Path: "x"}}
	if state == results.Pass {
		r.Message, r.Evidence = "", results.Evidence{}
	}
	if state == results.Waived {
		r.Waiver = &results.Waiver{ID: "W-1"}
	}
	return r
}

func with(r results.Result, change func(*results.Result)) results.Result {
	change(&r)
	return r
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const at = "urn:pulumi:prod::p::a:b:C::one"
	pass, fail, waived := result("A-01", at, results.Pass), result("A-01", at, results.Fail), result("A-01", at, results.Waived)
	blind, none := result("A-01", at, results.NotChecked), result("A-01", "", results.NotApplicable)
	neighbour := result("B-01", at, results.Pass) // the resource is there
	expired := with(fail, func(r *results.Result) { r.Waiver = &results.Waiver{ID: "W-1", Void: "expired"} })
	for name, c := range map[string]struct {
		old, now []results.Result
		want     []report.Kind
		worse    bool
	}{
		"nothing":                     {[]results.Result{pass}, []results.Result{pass}, nil, false},
		"new":                         {[]results.Result{pass}, []results.Result{fail}, []report.Kind{report.New}, true},
		"new with a new resource":     {[]results.Result{none}, []results.Result{fail}, []report.Kind{report.New}, true},
		"new property":                {[]results.Result{fail}, []results.Result{fail, with(fail, func(r *results.Result) { r.Evidence.Path = "y" })}, []report.Kind{report.New, report.Open}, true},
		"fixed":                       {[]results.Result{fail}, []results.Result{pass}, []report.Kind{report.Fixed}, false},
		"fixed by taking it away":     {[]results.Result{fail}, []results.Result{none}, []report.Kind{report.Fixed}, false},
		"no longer waived, but fixed": {[]results.Result{waived}, []results.Result{pass}, []report.Kind{report.Fixed}, false},
		"still open":                  {[]results.Result{fail}, []results.Result{fail}, []report.Kind{report.Open}, false},
		"newly waived":                {[]results.Result{fail}, []results.Result{waived}, []report.Kind{report.NewlyWaived}, false},
		"waived from the start":       {[]results.Result{pass}, []results.Result{waived}, []report.Kind{report.NewlyWaived}, false},
		"waived before":               {[]results.Result{waived}, []results.Result{waived}, nil, false},
		"waiver expired":              {[]results.Result{waived}, []results.Result{expired}, []report.Kind{report.WaiverExpired}, true},
		"waiver gone":                 {[]results.Result{waived}, []results.Result{fail}, []report.Kind{report.WaiverExpired}, true},
		"no longer checked":           {[]results.Result{pass}, []results.Result{blind}, []report.Kind{report.CoverageLost}, true},
		"failed, no longer checked":   {[]results.Result{fail, neighbour}, []results.Result{blind, neighbour}, []report.Kind{report.CoverageLost}, true},
		"resource no longer judged":   {[]results.Result{pass, neighbour}, []results.Result{none, neighbour}, []report.Kind{report.CoverageLost}, true},
		"failed, no longer judged":    {[]results.Result{fail, neighbour}, []results.Result{none, neighbour}, []report.Kind{report.CoverageLost}, true},
		"resource gone":               {[]results.Result{pass}, []results.Result{none}, nil, false},
		"rule gone":                   {[]results.Result{pass, neighbour}, []results.Result{neighbour}, []report.Kind{report.CoverageLost}, true},
		"checked at last":             {[]results.Result{blind}, []results.Result{pass}, nil, false},
		"level lower":                 {[]results.Result{pass}, []results.Result{with(pass, func(r *results.Result) { r.Level = results.Advisory })}, []report.Kind{report.Loosened}, true},
		"level higher":                {[]results.Result{with(pass, func(r *results.Result) { r.Level = results.Advisory })}, []results.Result{pass}, nil, false},
		"severity lower":              {[]results.Result{pass}, []results.Result{with(pass, func(r *results.Result) { r.Severity = "medium" })}, []report.Kind{report.Loosened}, true},
		"severity higher":             {[]results.Result{pass}, []results.Result{with(pass, func(r *results.Result) { r.Severity = "critical" })}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := report.Compare(results.Document{Results: c.old}, results.Document{Results: c.now})
			require.NoError(t, err)
			var got []report.Kind
			for _, change := range d.Changes {
				got = append(got, change.Kind)
				assert.NotEmpty(t, change.Text)
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.worse, d.Worse)
		})
	}
}

func TestCompareIsInOneOrderAndOfOneStack(t *testing.T) {
	t.Parallel()
	before, after := everyState(t), everyState(t)
	for i := range before.Results {
		if before.Results[i].Resource != "" {
			before.Results[i].State, before.Results[i].Waiver = results.Pass, nil
		}
	}
	d, err := report.Compare(before, after)
	require.NoError(t, err)
	var first bytes.Buffer
	d.Print(&first)
	for range 20 {
		again, err := report.Compare(before, after)
		require.NoError(t, err)
		require.Equal(t, d, again)
	}
	golden(t, "testdata/diff.txt", first.Bytes())
	for _, change := range []func(*results.Subject){
		func(s *results.Subject) { s.Stack = "dev" },
		func(s *results.Subject) { s.Project = "other" },
		func(s *results.Subject) { s.Simulated = false },
	} {
		other := everyState(t)
		change(&other.Subject)
		_, err := report.Compare(before, other)
		require.ErrorContains(t, err, "want two runs of one stack")
	}
	after.Subject.Commit = "4567def"
	_, err = report.Compare(before, after)
	require.NoError(t, err, "another commit is what it is for")
}
