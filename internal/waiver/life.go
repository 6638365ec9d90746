package waiver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"onedoor/internal/policypack/results"
)

// Status is where a waiver is in its life.
type Status string

// The states. Active, Expiring and Orphan count.
const (
	Unapproved   Status = "unapproved"    // nobody approved it
	SelfApproved Status = "self-approved" // its owner did
	New          Status = "new"           // added or widened in the change that is judged
	Early        Status = "early"         // created on a day to come
	Active       Status = "active"
	Expiring     Status = "expiring" // Active, and it ends within WarnDays
	Expired      Status = "expired"
	Orphan       Status = "orphan" // Active, and names a rule or target that does not fail
)

// WarnDays is how long before its end a waiver is warned of: two weeks, to mend
// the fault or to have a new waiver approved.
const WarnDays = 14

// Failure is what a waiver can excuse.
type Failure struct {
	Rule string `json:"rule"`
	URN  string `json:"urn"`
}

// FailuresIn are those of runs of packs, sorted, each once.
func FailuresIn(runs []results.Run) []Failure {
	var out []Failure
	for _, run := range runs {
		for _, j := range run.Judgements {
			if j.State == results.Fail {
				out = append(out, Failure{j.Rule, j.URN})
			}
		}
	}
	return sorted(out)
}

// FailuresOf are those of a document, with those that it holds excused.
func FailuresOf(d results.Document) []Failure {
	var out []Failure
	for _, r := range d.Results {
		if r.State == results.Fail || r.State == results.Waived {
			out = append(out, Failure{r.Rule, r.Resource})
		}
	}
	return sorted(out)
}

func sorted(failures []Failure) []Failure {
	slices.SortFunc(failures, func(a, b Failure) int { return strings.Compare(a.Rule+"\x00"+a.URN, b.Rule+"\x00"+b.URN) })
	return slices.Compact(failures)
}

// Verdict is what became of a waiver.
type Verdict struct {
	Waiver
	Status Status
	Text   string    // why, and what to do; "" while Active
	Covers []Failure // what it excuses, or would
}

// Counts tells whether the waiver excuses what it covers.
func (v Verdict) Counts() bool {
	return v.Status == Active || v.Status == Expiring || v.Status == Orphan
}

// Review is the file on one day, for one run.
type Review []Verdict

// Run is what waivers are judged against.
type Run struct {
	Project, Stack string
	Failures       []Failure
	Today          time.Time
	// Base is the file that the change starts from: a waiver that excuses more
	// than it does there does not count, or a change could excuse itself. With nil
	// every waiver counts at once.
	Base *File
}

// Review tells what each waiver is worth for the run. One for other stacks alone
// is judged as well, but for what it covers.
func (f File) Review(run Run) Review {
	var out Review
	for _, w := range f.Waivers {
		v := Verdict{Waiver: w}
		v.judge(run, v.cover(run))
		out = append(out, v)
	}
	return out
}

// cover finds what the waiver excuses, and which of its rules and targets excuse
// nothing in the stack of the run.
func (v *Verdict) cover(run Run) (idle []string) {
	used := map[string]bool{}
	var here []string // targets in the stack
	for _, target := range v.Targets {
		p, err := parsePattern(target)
		if err != nil || p.stack != run.Stack || p.project != run.Project {
			continue // Parse lets no wrong pattern through
		}
		here = append(here, target)
		for _, f := range run.Failures {
			if p.match(f.URN) && slices.Contains(v.Rules, f.Rule) {
				used[target], used[f.Rule] = true, true
				v.Covers = append(v.Covers, f)
			}
		}
	}
	v.Covers = sorted(v.Covers)
	if len(here) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Concat(v.Rules, here), func(word string) bool { return used[word] })
}

func (v *Verdict) judge(run Run, idle []string) {
	today := run.Today.UTC().Truncate(24 * time.Hour)
	left := int(v.Expires.Sub(today).Hours() / 24)
	switch {
	case v.Approver == "":
		v.Status, v.Text = Unapproved, "nobody approved it; another person than "+v.Owner+" enters themselves as approver"
	case strings.EqualFold(v.Approver, v.Owner):
		v.Status, v.Text = SelfApproved, "its owner "+v.Owner+" approved it; another person has to"
	case left < 0:
		v.Status, v.Text = Expired, fmt.Sprintf("it ended on %s; mend the fault, or have a new waiver approved", v.Expires.Format(day))
	case v.Created.After(today):
		v.Status, v.Text = Early, fmt.Sprintf("it was created on %s, a day to come; a later day would make it last longer than %d days", v.Created.Format(day), MaxDays)
	case run.Base != nil && !slices.ContainsFunc(run.Base.Waivers, v.within):
		v.Status, v.Text = New, "this change adds or widens it; it counts once it is merged, in a change of its own"
	case len(idle) > 0:
		v.Status, v.Text = Orphan, "nothing fails for "+strings.Join(idle, ", ")+"; remove that from the waiver"
	case left <= WarnDays:
		v.Status, v.Text = Expiring, fmt.Sprintf("%d days are left; mend the fault, or have a new waiver approved", left)
	default:
		v.Status = Active
	}
}

// Excuses tells whether some failure of the run is excused.
func (r Review) Excuses() bool {
	return slices.ContainsFunc(r, func(v Verdict) bool { return v.Counts() && len(v.Covers) > 0 })
}

// Err is every waiver that fails the build. A new one does so by the failure
// that it does not excuse yet, if there is one.
func (r Review) Err() error {
	var wrong []error
	for _, v := range r {
		if v.Status != Active && v.Status != Expiring && v.Status != New {
			wrong = append(wrong, v.err())
		}
	}
	return errors.Join(wrong...)
}

// Warnings are of waivers that count, but not for long, and of new ones.
func (r Review) Warnings() []string {
	var out []string
	for _, v := range r {
		if v.Status == Expiring || v.Status == New {
			out = append(out, v.err().Error())
		}
	}
	return out
}

func (v Verdict) err() error { return fmt.Errorf("waiver %q is %s: %s", v.ID, v.Status, v.Text) }

// Results are the waivers for the document, one for each failure: the first that
// counts, or else the first that covers it, with the reason why it is void.
func (r Review) Results() []results.Waiver {
	var out []results.Waiver
	at := map[Failure]int{}
	for _, v := range r {
		for _, f := range v.Covers {
			w := results.Waiver{
				ID: v.ID, Rule: f.Rule, URN: f.URN, Owner: v.Owner, Approver: v.Approver, Ticket: v.Ticket, Reason: v.Reason,
				Expires: v.Expires.Format(day), CompensatingControl: v.CompensatingControl,
			}
			if !v.Counts() {
				w.Void = string(v.Status)
			}
			i, known := at[f]
			switch {
			case !known:
				at[f] = len(out)
				out = append(out, w)
			case out[i].Void != "" && w.Void == "":
				out[i] = w
			}
		}
	}
	return out
}
