package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"onedoor/internal/policypack/results"
)

// shown is the state of a result as reports call it. A waiver that does not
// count is named: who reads "fail" alone would look for one in vain.
func shown(r results.Result) string {
	if r.State == results.Fail && r.Waiver != nil {
		return r.Waiver.Void + " waiver"
	}
	return string(r.State)
}

// ranks order states, the worst first. A control without a known answer is
// worse off than one with an excuse.
var ranks = map[results.State]int{results.Fail: 0, results.NotChecked: 1, results.Waived: 2, results.Pass: 3, results.NotApplicable: 4}

// worst is the state of several results together.
func worst(rs []results.Result) results.State {
	return slices.MinFunc(rs, func(a, b results.Result) int { return cmp.Compare(ranks[a.State], ranks[b.State]) }).State
}

// judged is one rule with its results.
type judged struct {
	Rule
	Level   results.Level
	State   results.State // the worst
	Results []results.Result
}

// With are the results in one of the states.
func (j judged) With(states ...results.State) []results.Result {
	return slices.DeleteFunc(slices.Clone(j.Results), func(r results.Result) bool { return !slices.Contains(states, r.State) })
}

// byRule groups the results, in the order of the document. Severity is that of
// the run, not of today's catalogue.
func byRule(d results.Document, c Catalog) []judged {
	var out []judged
	for _, r := range d.Results {
		if len(out) == 0 || out[len(out)-1].ID != r.Rule {
			rule := c.Rule(r.Rule)
			rule.Severity, rule.Controls = r.Severity, r.Controls
			out = append(out, judged{Rule: rule, Level: r.Level})
		}
		last := &out[len(out)-1]
		last.Results = append(last.Results, r)
	}
	for i := range out {
		out[i].State = worst(out[i].Results)
	}
	return out
}

// controlled is one control with the rules that cover it.
type controlled struct {
	Control string
	State   results.State
	Rules   []judged
}

// byControl groups the rules by control, sorted by control.
func byControl(rules []judged) []controlled {
	of := map[string][]judged{}
	for _, rule := range rules {
		for _, control := range rule.Controls {
			of[control] = append(of[control], rule)
		}
	}
	var out []controlled
	for _, control := range slices.SortedFunc(maps.Keys(of), compareControls) {
		var all []results.Result
		for _, rule := range of[control] {
			all = append(all, rule.Results...)
		}
		out = append(out, controlled{control, worst(all), of[control]})
	}
	return out
}

// line is a fact about the subject.
type line struct{ Name, Value string }

// subject says what was judged, in the order in which reports print it.
func subject(d results.Document) []line {
	s := d.Subject
	commit := s.Commit
	if s.Dirty {
		commit += ", with changes that are not committed"
	}
	packs := make([]string, len(d.Packs))
	for i, p := range d.Packs {
		packs[i] = fmt.Sprintf("%s %s (sha256 %s)", p.Name, p.Version, p.SHA256)
	}
	return []line{
		{"Stack", s.Project + "/" + s.Stack},
		{"Azure", azure(s)},
		{"Commit", commit},
		{"Plan", "sha256 " + s.PlanSHA256},
		{"Configuration", "sha256 " + s.ConfigSHA256},
		{"Profile", d.Profile},
		{"Packs", strings.Join(packs, ", ")},
	}
}

func azure(s results.Subject) string {
	if s.Simulated {
		return "simulated"
	}
	return "live"
}

// count is how many results are in a state.
type count struct {
	State string
	N     int
	Part  bool // of the count before: failures whose waiver does not count
}

// counts are those of every state, zero included.
func counts(d results.Document) []count {
	n := map[results.State]int{}
	void := map[string]int{}
	for _, r := range d.Results {
		n[r.State]++
		if r.State == results.Fail && r.Waiver != nil {
			void[shown(r)]++
		}
	}
	out := []count{{State: string(results.Fail), N: n[results.Fail]}}
	for _, state := range slices.Sorted(maps.Keys(void)) {
		out = append(out, count{state, void[state], true})
	}
	for _, state := range []results.State{results.NotChecked, results.Waived, results.Pass, results.NotApplicable} {
		out = append(out, count{State: string(state), N: n[state]})
	}
	return out
}

// verdict is the one sentence that a reader looks for.
func verdict(d results.Document) string {
	switch s := d.Summary; {
	case s.Blocking > 0:
		return fmt.Sprintf("Refused: %d failures, %d of mandatory rules.", s.Fail, s.Blocking)
	case s.NotChecked > 0:
		return fmt.Sprintf("Not refused, but incomplete: %d judgements wait for values that a preview cannot know; %d advisory failures.", s.NotChecked, s.Fail)
	default:
		return fmt.Sprintf("Not refused: no mandatory rule fails; %d advisory failures.", s.Fail)
	}
}

// explain says why a waiver counts or does not.
func explain(w *results.Waiver) string {
	text := fmt.Sprintf("waiver %s until %s, owner %s, approver %s, ticket %s: %s; meanwhile: %s",
		w.ID, w.Expires, cmp.Or(w.Owner, "nobody"), cmp.Or(w.Approver, "nobody"), w.Ticket, w.Reason, w.CompensatingControl)
	if w.Void != "" {
		return w.Void + " " + text
	}
	return text
}

// urnParts are project, type and name of a URN, without its stack.
// https://www.pulumi.com/docs/iac/concepts/resources/names/#urns
func urnParts(urn string) (project, typ, name string, ok bool) {
	rest, found := strings.CutPrefix(urn, "urn:pulumi:")
	parts := strings.SplitN(rest, "::", 4)
	if !found || len(parts) != 4 {
		return "", "", "", false
	}
	return parts[1], parts[2], parts[3], true
}

// Short is a URN as people say it: "StorageAccount results".
func Short(urn string) string {
	_, typ, name, ok := urnParts(urn)
	if !ok {
		return cmp.Or(urn, "no resource")
	}
	return typ[strings.LastIndexAny(typ, ":$")+1:] + " " + name
}
