package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Subject is what was judged: without it results are of nothing in particular.
type Subject struct {
	Project      string `json:"project"`
	Stack        string `json:"stack"`
	Commit       string `json:"commit"`
	Dirty        bool   `json:"dirty"` // the working tree differed from the commit
	PlanSHA256   string `json:"planSha256"`
	ConfigSHA256 string `json:"configSha256"`
	Simulated    bool   `json:"simulated"`
}

// Waiver excuses one rule for one resource. Whether it has expired is for the
// caller to say, who has a clock.
type Waiver struct {
	ID       string `json:"id"`
	Rule     string `json:"-"`
	URN      string `json:"-"`
	Owner    string `json:"owner"`
	Approver string `json:"approver"`
	Ticket   string `json:"ticket"`
	Reason   string `json:"reason"`
	Expires  string `json:"expires"` // a date, as 2027-01-31

	CompensatingControl string `json:"compensatingControl"`

	// Void is why it does not count, as "expired"; "" while it does. The failure
	// stays one then, and carries the waiver for the reader.
	Void string `json:"void,omitempty"`
}

// Result is one judgement in the document.
type Result struct {
	Rule     string   `json:"rule"`
	Resource string   `json:"resource"` // URN; "" for a rule that found none to judge
	State    State    `json:"state"`
	Severity string   `json:"severity"`
	Level    Level    `json:"level"`
	Message  string   `json:"message"`
	Evidence Evidence `json:"evidence"`
	Controls []string `json:"controls"`
	Waiver   *Waiver  `json:"waiver"`
}

// Summary counts results by state.
type Summary struct {
	Rules         int `json:"rules"`
	Pass          int `json:"pass"`
	Fail          int `json:"fail"`
	Waived        int `json:"waived"`
	NotApplicable int `json:"notApplicable"`
	NotChecked    int `json:"notChecked"`
	Blocking      int `json:"blocking"` // failures of mandatory rules
}

// Document is policy.json, from which every other report is made.
type Document struct {
	Subject Subject  `json:"subject"`
	Packs   []Pack   `json:"packs"`
	Profile string   `json:"profile"` // "custom" when the packs' differ
	Results []Result `json:"results"` // by rule, then resource
	Summary Summary  `json:"summary"`
}

// Make puts runs and waivers together. A waiver that excuses nothing, or that
// its owner approved, is an error: the first hides that the fault is gone, the
// second that nobody looked.
func Make(subject Subject, runs []Run, waivers []Waiver) (Document, error) {
	if len(runs) == 0 {
		return Document{}, errors.New("no policy pack ran")
	}
	d := Document{Subject: subject, Profile: runs[0].Profile}
	used := make([]bool, len(waivers))
	for _, run := range runs {
		d.Packs = append(d.Packs, run.Pack)
		d.Summary.Rules += len(run.Rules)
		if run.Profile != d.Profile {
			d.Profile = "custom"
		}
		rules := map[string]Rule{}
		for _, rule := range run.Rules {
			rules[rule.ID] = rule
		}
		for _, j := range run.Judgements {
			rule, known := rules[j.Rule]
			if !known {
				return Document{}, fmt.Errorf("pack %q judged by rule %q, which it does not have", run.Pack.Name, j.Rule)
			}
			r := Result{j.Rule, j.URN, j.State, rule.Severity, rule.Level, j.Reason, j.Evidence, rule.Controls, nil}
			if i := slices.IndexFunc(waivers, func(w Waiver) bool { return w.Rule == j.Rule && w.URN == j.URN }); i >= 0 && j.State == Fail {
				used[i] = true
				r.Waiver = &waivers[i]
				if r.Waiver.Void == "" {
					r.State = Waived
				}
			}
			d.Results = append(d.Results, r)
			d.Summary.count(r)
		}
	}
	slices.SortStableFunc(d.Results, func(a, b Result) int {
		if c := strings.Compare(a.Rule, b.Rule); c != 0 {
			return c
		}
		return strings.Compare(a.Resource, b.Resource)
	})
	return d, checkWaivers(waivers, used)
}

func checkWaivers(waivers []Waiver, used []bool) error {
	var wrong []error
	for i, w := range waivers {
		if !used[i] {
			wrong = append(wrong, fmt.Errorf("waiver %q: rule %s does not fail for %s; remove the waiver", w.ID, w.Rule, w.URN))
		}
		if w.Void != "" {
			continue
		}
		if w.Owner == "" || w.Approver == "" || strings.EqualFold(w.Owner, w.Approver) {
			wrong = append(wrong, fmt.Errorf("waiver %q: owner %q, approver %q: want two people", w.ID, w.Owner, w.Approver))
		}
		if w.Reason == "" || w.Ticket == "" || w.Expires == "" {
			wrong = append(wrong, fmt.Errorf("waiver %q: reason, ticket and expiry are required", w.ID))
		}
	}
	return errors.Join(wrong...)
}

func (s *Summary) count(r Result) {
	switch r.State {
	case Pass:
		s.Pass++
	case Fail:
		s.Fail++
		if r.Level == Mandatory {
			s.Blocking++
		}
	case Waived:
		s.Waived++
	case NotApplicable:
		s.NotApplicable++
	case NotChecked:
		s.NotChecked++
	}
}
