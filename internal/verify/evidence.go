package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"onedoor/internal/finding"
	"onedoor/internal/policypack/results"
)

// Pack names verify where judgements are kept, beside the policy packs.
const Pack = "verify"

// version of the codes: raised when a code is added, or judges otherwise.
const version = "1.0.0"

// controls are those of the Microsoft cloud security benchmark that a code bears on.
// https://learn.microsoft.com/security/benchmark/azure/overview
var controls = map[string][]string{
	AccountExists:   {"MCSB AM-1"},
	KeysOff:         {"MCSB IM-1"},
	NetworkClosed:   {"MCSB NS-2"},
	SKUsApart:       {"MCSB AM-2", "MCSB AI-1"},
	OnlyCallers:     {"MCSB PA-7", "MCSB IM-3"},
	OnlySubmitters:  {"MCSB PA-7"},
	NobodyReopens:   {"MCSB PA-1", "MCSB PA-2"},
	NobodyGrants:    {"MCSB PA-1", "MCSB PA-2"},
	CallersHaveRole: {"MCSB PA-7"},
	NoDenials:       {},
	NoClassicAdmins: {"MCSB PA-1"},
	WaysRefused:     {"MCSB NS-1", "MCSB NS-2"},
}

// Evidence is the result in the form of policy packs' judgements, from which reports
// and OSCAL results are made. What was not read is not checked there; nothing that
// rests on it passes.
func (r Result) Evidence(design Design) results.Run {
	run := results.Run{Pack: results.Pack{Name: Pack, Version: version}, Profile: "live", Complete: r.Complete}
	for _, c := range Codes {
		rule := results.Rule{ID: c.ID, Severity: "medium", Level: results.Advisory, Controls: controls[c.ID]}
		if c.Severity == finding.Error {
			rule.Severity, rule.Level = "critical", results.Mandatory
		}
		run.Rules = append(run.Rules, rule)
		run.Judgements = append(run.Judgements, r.judgements(c, design)...)
	}
	slices.SortStableFunc(run.Judgements, func(a, b results.Judgement) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.URN, b.URN), strings.Compare(a.Reason, b.Reason))
	})
	return run
}

// judgements are those of a code: one for each finding, and a pass for each thing that
// was looked at without one, if all could be looked at.
func (r Result) judgements(c finding.Code, design Design) []results.Judgement {
	var out []results.Judgement
	said := map[string]bool{}
	whole := true
	for _, f := range r.Findings {
		if f.Code != c.ID {
			continue
		}
		j := results.Judgement{Rule: c.ID, URN: f.Subject, State: results.Fail, Reason: f.Message, Evidence: results.Evidence{Value: f.Message, Expected: c.Title}}
		switch f.Severity {
		case finding.NotChecked:
			j.State, j.Evidence.Value = results.NotChecked, ""
			whole = whole && slices.ContainsFunc(design.Accounts, func(a Account) bool { return a.ID == f.Subject })
		case finding.Info:
			j.State = results.Pass
		case finding.Error, finding.Warning:
		}
		said[f.Subject] = true
		out = append(out, j)
	}
	if r.State(c.ID) == finding.NotApplicable {
		return append(out, results.Judgement{Rule: c.ID, State: results.NotApplicable, Reason: "the plan has nothing that it is about"})
	}
	if !whole {
		return out
	}
	for _, thing := range r.things(c.ID, design) {
		if !said[thing.URN] {
			out = append(out, thing)
		}
	}
	return out
}

// things are what a code looks at, each as it passes.
func (r Result) things(code string, design Design) []results.Judgement {
	pass := func(subject, value string) results.Judgement {
		return results.Judgement{Rule: code, URN: subject, State: results.Pass, Evidence: results.Evidence{Value: value}}
	}
	var out []results.Judgement
	switch code {
	case NoClassicAdmins:
		return []results.Judgement{pass(design.Subscription, "none")}
	case WaysRefused:
		for _, a := range r.Attempts {
			if !a.Control {
				out = append(out, pass(a.Place+" to "+a.Target, fmt.Sprintf("%s, as %s: %s", a.Outcome, a.As, a.Detail)))
			}
		}
		return out
	}
	for _, account := range design.Accounts {
		value := "as planned"
		if slices.Contains([]string{OnlyCallers, OnlySubmitters, NobodyReopens, NobodyGrants}, code) {
			value = r.who(account.ID)
		}
		out = append(out, pass(account.ID, value))
	}
	return out
}

// who says in a line who may do what to an account.
func (r Result) who(account string) string {
	var out []string
	for _, a := range r.Access {
		if a.Account != account {
			continue
		}
		var powers []string
		for _, p := range a.Powers {
			powers = append(powers, string(p))
		}
		out = append(out, fmt.Sprintf("%s %s", cmp.Or(a.Known, a.Principal), strings.Join(powers, " and ")))
	}
	return strings.Join(out, "; ")
}
