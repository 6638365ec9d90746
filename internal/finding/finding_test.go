package finding_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/finding"
)

var codes = []finding.Code{
	{ID: "B", Severity: finding.Error, Title: "b", Remedy: "mend it", Page: "docs/b.md"},
	{ID: "A", Severity: finding.Warning, Title: "a"},
	{ID: "C", Severity: finding.Info, Title: "c"},
}

func make(fill func(*finding.Recorder)) finding.Report {
	r := finding.NewRecorder(codes)
	fill(r)
	judged, found := r.Results()
	return finding.Make("preflight", "dev", "sub", codes, judged, found)
}

func TestReports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fill         func(*finding.Recorder)
		exit         int
		ok, complete bool
		state        finding.State // of code B
	}{
		"NothingToLookAt":    {func(*finding.Recorder) {}, 0, true, true, finding.NotApplicable},
		"AllIsWell":          {func(r *finding.Recorder) { r.Judged("B") }, 0, true, true, finding.OK},
		"AnError":            {func(r *finding.Recorder) { r.Judged("B"); r.Found("B", "x", "wrong") }, 1, false, true, finding.Found},
		"AWarning":           {func(r *finding.Recorder) { r.Judged("B", "A"); r.Found("A", "x", "hm") }, 0, true, true, finding.OK},
		"HalfWasRead":        {func(r *finding.Recorder) { r.Judged("B"); r.NotChecked("y", "429", "B") }, 2, false, false, finding.Open},
		"ErrorAndHalfRead":   {func(r *finding.Recorder) { r.NotChecked("y", "429", "B"); r.Found("B", "x", "wrong") }, 1, false, false, finding.Found},
		"AnotherIsNotRead":   {func(r *finding.Recorder) { r.Judged("B"); r.NotChecked("y", "429", "A") }, 2, false, false, finding.OK},
		"WarningAndHalfRead": {func(r *finding.Recorder) { r.Judged("B"); r.Found("A", "x", "hm"); r.NotChecked("y", "429", "A") }, 2, false, false, finding.OK},
	} {
		report := make(c.fill)
		assert.Equal(t, c.exit, report.ExitCode(), name)
		assert.Equal(t, c.ok, report.OK, name)
		assert.Equal(t, c.complete, report.Complete, name)
		assert.Equal(t, c.state, report.State("B"), name)
	}
}

// Checks run at the same time and finish in any order.
func TestTheOrderIsThatOfTheCodes(t *testing.T) {
	t.Parallel()
	one := make(func(r *finding.Recorder) {
		r.Found("B", "y", "1")
		r.Found("A", "x", "2")
		r.Found("B", "x", "1")
		r.Found("B", "x", "1")
	})
	other := make(func(r *finding.Recorder) { r.Found("B", "x", "1"); r.Found("B", "y", "1"); r.Found("A", "x", "2") })
	assert.Equal(t, one, other, "what is said twice is said once")
	assert.Equal(t, "A", one.Checks[0].Code)
}

func TestPrint(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	make(func(r *finding.Recorder) { r.Found("B", "x", "wrong"); r.NotChecked("y", "429 TooManyRequests", "A") }).Print(&b)
	text := b.String()
	assert.Contains(t, text, "ERROR\n  B  x\n    wrong\n    fix: mend it (docs/b.md)")
	assert.Contains(t, text, "NOT CHECKED\n  A  y\n    429 TooManyRequests")
	assert.Less(t, strings.Index(text, "ERROR"), strings.Index(text, "NOT CHECKED"), "worst first")
	assert.Contains(t, text, "Problems: 1 errors, 0 warnings, 1 not checked.")
}

func TestACodeThatIsNotKnownIsAFault(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { finding.NewRecorder(codes).Found("Z", "x", "y") })
}
