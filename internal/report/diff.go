package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"onedoor/internal/policypack/results"
)

// Kind is what became of something between two runs.
type Kind string

// The kinds of change.
const (
	New           Kind = "new"            // fails, and did not
	Fixed         Kind = "fixed"          // failed or was waived, and does not fail
	Open          Kind = "still open"     // failed, and does
	NewlyWaived   Kind = "newly waived"   // failed or was not there, and is excused
	WaiverExpired Kind = "waiver expired" // was excused, and fails
	CoverageLost  Kind = "coverage lost"  // was judged, and is not: no longer checked, or the rule is gone
	Loosened      Kind = "rule loosened"  // stops less than it did
)

// kinds are all of them, the worst first.
var kinds = []Kind{New, WaiverExpired, CoverageLost, Loosened, NewlyWaived, Open, Fixed}

// worse are the kinds that an update must not bring unseen. A new waiver is for
// whoever approved it to defend; what was open before is no change.
var worse = []Kind{New, WaiverExpired, CoverageLost, Loosened}

// Change is one difference.
type Change struct {
	Kind     Kind   `json:"kind"`
	Rule     string `json:"rule"`
	Resource string `json:"resource,omitempty"`
	Path     string `json:"path,omitempty"`
	Text     string `json:"text"`
}

// Difference is what changed between two runs of the same stack.
type Difference struct {
	Old     results.Subject `json:"old"`
	New     results.Subject `json:"new"`
	Worse   bool            `json:"worse"`
	Changes []Change        `json:"changes"` // the worst kind first, then by rule and resource
}

// place is where a judgement was made.
type place struct{ rule, resource string }

// finding is what fails there; one resource can fail a rule by two properties.
type finding struct {
	place
	path string
}

// Compare tells what changed from before to after. Documents of two stacks, or
// of simulated and live Azure, are not comparable.
func Compare(before, after results.Document) (Difference, error) {
	b, a := before.Subject, after.Subject
	if b.Project != a.Project || b.Stack != a.Stack || b.Simulated != a.Simulated {
		return Difference{}, fmt.Errorf("%s/%s (%s) and %s/%s (%s): want two runs of one stack, both simulated or both live",
			b.Project, b.Stack, azure(b), a.Project, a.Stack, azure(a))
	}
	d := Difference{Old: b, New: a, Changes: []Change{}}
	d.findings(before, after)
	d.coverage(before, after)
	d.rules(before, after)
	slices.SortStableFunc(d.Changes, func(x, y Change) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, x.Kind), slices.Index(kinds, y.Kind)), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.Path, y.Path))
	})
	d.Worse = slices.ContainsFunc(d.Changes, func(c Change) bool { return slices.Contains(worse, c.Kind) })
	return d, nil
}

func (d *Difference) add(kind Kind, at finding, text string) {
	d.Changes = append(d.Changes, Change{kind, at.rule, at.resource, at.path, text})
}

// findings compares what fails or is excused.
func (d *Difference) findings(before, after results.Document) {
	old, now := failures(before), failures(after)
	for at, r := range now {
		was, known := old[at]
		switch {
		case r.State == results.Waived && (!known || was.State == results.Fail):
			d.add(NewlyWaived, at, r.Message+"; "+explain(r.Waiver))
		case r.State == results.Waived:
		case !known:
			d.add(New, at, r.Message)
		case was.State == results.Waived:
			d.add(WaiverExpired, at, r.Message+"; before: "+explain(was.Waiver))
		default:
			d.add(Open, at, r.Message)
		}
	}
	judged, there := checked(after), resourcesOf(after)
	for at, r := range old {
		if _, still := now[at]; still {
			continue
		}
		// Fixed is only what was judged again, or is no longer there. What could
		// not be judged is lost coverage.
		if judged[at.place] || !there[at.resource] && ruleOf(after, at.rule) {
			d.add(Fixed, at, r.Message)
		}
	}
}

// coverage finds what was judged and is not any more. A resource that is gone
// takes its judgements along; one that is there does not.
func (d *Difference) coverage(before, after results.Document) {
	now, there, said := checked(after), resourcesOf(after), map[place]results.Result{}
	for _, r := range after.Results {
		said[place{r.Rule, r.Resource}] = r
	}
	for at := range checked(before) {
		if now[at] || !there[at.resource] || !ruleOf(after, at.rule) { // that a whole rule is gone is said once, by rules
			continue
		}
		text := "was judged, and is not any more"
		if r, known := said[at]; known {
			text = fmt.Sprintf("was judged, and is %s: %s", r.State, r.Message)
		}
		d.add(CoverageLost, finding{place: at}, text)
	}
}

// rules finds rules that are gone or stop less.
func (d *Difference) rules(before, after results.Document) {
	old, now := firsts(before), firsts(after)
	for id, was := range old {
		is, known := now[id]
		at := finding{place: place{rule: id}}
		switch {
		case !known:
			d.add(CoverageLost, at, "the rule is gone")
		case was.Level == results.Mandatory && is.Level != results.Mandatory, was.Level == results.Advisory && is.Level == results.Disabled:
			d.add(Loosened, at, fmt.Sprintf("was %s, is %s", was.Level, is.Level))
		case severities[is.Severity] < severities[was.Severity]:
			d.add(Loosened, at, fmt.Sprintf("was of severity %s, is %s", was.Severity, is.Severity))
		}
	}
}

// severities in their order.
var severities = map[string]int{"low": 1, "medium": 2, "high": 3, "critical": 4}

func failures(d results.Document) map[finding]results.Result {
	out := map[finding]results.Result{}
	for _, r := range d.Results {
		if r.State == results.Fail || r.State == results.Waived {
			out[finding{place{r.Rule, r.Resource}, r.Evidence.Path}] = r
		}
	}
	return out
}

// checked are the places where something was decided.
func checked(d results.Document) map[place]bool {
	out := map[place]bool{}
	for _, r := range d.Results {
		if r.State == results.Pass || r.State == results.Fail || r.State == results.Waived {
			out[place{r.Rule, r.Resource}] = true
		}
	}
	return out
}

func resourcesOf(d results.Document) map[string]bool {
	out := map[string]bool{}
	for _, r := range d.Results {
		out[r.Resource] = true
	}
	return out
}

// firsts has one result of each rule.
func firsts(d results.Document) map[string]results.Result {
	out := map[string]results.Result{}
	for _, r := range d.Results {
		if _, known := out[r.Rule]; !known {
			out[r.Rule] = r
		}
	}
	return out
}

func ruleOf(d results.Document, id string) bool {
	return slices.ContainsFunc(d.Results, func(r results.Result) bool { return r.Rule == id })
}

// Print writes the difference for a person.
func (d Difference) Print(w io.Writer) {
	fmt.Fprintf(w, "%s/%s: commit %s to %s\n", d.New.Project, d.New.Stack, cmp.Or(d.Old.Commit, "unknown"), cmp.Or(d.New.Commit, "unknown"))
	of := map[Kind]int{}
	for _, c := range d.Changes {
		of[c.Kind]++
	}
	for _, kind := range kinds {
		if of[kind] == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s: %d\n", kind, of[kind])
		for _, c := range d.Changes {
			if c.Kind == kind {
				fmt.Fprintf(w, "  %s %s: %s\n", c.Rule, Short(c.Resource), c.Text)
			}
		}
	}
	if len(of) == 0 {
		fmt.Fprintln(w, "\nNothing changed.")
	}
}
