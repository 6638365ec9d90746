package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"onedoor/internal/bill"
	"onedoor/internal/policypack/results"
	"onedoor/internal/reach"
	"onedoor/internal/report"
)

// Revision is a state of the project.
type Revision struct {
	Name   string `json:"name"`   // as the user gave it, or a word for the working tree
	Commit string `json:"commit"` // "" where there is no repository
	Dirty  bool   `json:"dirty"`  // files differ from the commit
}

func (r Revision) String() string {
	text := r.Name
	if r.Commit != "" && !strings.HasPrefix(r.Commit, r.Name) {
		text += " (" + r.Commit[:min(len(r.Commit), 12)] + ")"
	}
	if r.Dirty {
		text += " with changes"
	}
	return text
}

// Report is all that a reviewer needs to know of a change to a stack. Fields are
// only ever added.
type Report struct {
	Project   string   `json:"project"`
	Stack     string   `json:"stack"`
	Simulated bool     `json:"simulated"`
	Base      Revision `json:"base"`
	Head      Revision `json:"head"`
	// OK says that nothing stands against the change; else Refusals do.
	OK       bool     `json:"ok"`
	Refusals []string `json:"refusals"`

	Changes []Resource `json:"changes"`
	// Policy compares what the packs of the base judged of the base with what the
	// packs of the change judge of the change.
	Policy report.Difference `json:"policy"`
	// Blocking are the failures of mandatory rules in the change.
	Blocking int `json:"blocking"`
	// OnlyBase are failures that the packs of the base find in the change, and
	// neither in the base, nor its own packs in the change: a rule was loosened.
	OnlyBase []results.Result `json:"onlyBase"`
	Reach    []reach.Change   `json:"reach"`
	Findings []reach.Finding  `json:"findings"` // against the change's reach
	Capacity []Quantity       `json:"capacity"`
	Bill     Bills            `json:"bill"`
	Duration Path             `json:"duration"`
}

// Bills are what the stack costs a month, before and after.
type Bills struct {
	Before bill.Bill `json:"before"`
	After  bill.Bill `json:"after"`
}

// Judge fills Refusals and OK. acceptLoss lets changes pass that lose something for
// good, for who has read which.
func (r *Report) Judge(acceptLoss bool) {
	r.Refusals = []string{}
	refuse := func(format string, args ...any) {
		r.Refusals = append(r.Refusals, fmt.Sprintf(format, args...))
	}
	if n := len(Lost(r.Changes)); n > 0 && !acceptLoss {
		refuse("%s lost for good; see what, and repeat with --accept-loss if that is meant", count(n, "resource is", "resources are"))
	}
	if r.Blocking > 0 {
		refuse("%s of mandatory rules", count(r.Blocking, "failure", "failures"))
	}
	if r.Policy.Worse {
		refuse("the policy results are worse than before")
	}
	if n := len(r.OnlyBase); n > 0 {
		refuse("the rules as they were find %s that the rules as they become do not", count(n, "failure", "failures"))
	}
	if n := len(r.failing()); n > 0 {
		refuse("%s in who reaches what", count(n, "fault", "faults"))
	}
	r.OK = len(r.Refusals) == 0
}

// failing are the findings that refuse the plan.
func (r *Report) failing() []reach.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f reach.Finding) bool { return !f.Fails() })
}

// OnlyBase finds the failures of which a Report says that only the packs of the
// base see them: in judged, what those found in the change, but neither in base,
// what they found before, nor in head, what the change's own packs found.
func OnlyBase(base, judged, head results.Document) []results.Result {
	key := func(r results.Result) string {
		return strings.Join([]string{r.Rule, r.Resource, r.Evidence.Path}, "\x00")
	}
	seen := map[string]bool{}
	for _, d := range []results.Document{base, head} {
		for _, r := range d.Results {
			if r.State == results.Fail || r.State == results.Waived {
				seen[key(r)] = true
			}
		}
	}
	out := []results.Result{}
	for _, r := range judged.Results {
		if r.State == results.Fail && !seen[key(r)] {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b results.Result) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Resource, b.Resource))
	})
	return out
}

// count is a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
