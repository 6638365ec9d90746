// Package finding is the form in which commands that ask Azure report: findings
// with stable codes, and for each code whether it was judged at all. It judges
// nothing itself and reads nothing.
package finding

import (
	"cmp"
	"slices"
	"strings"
)

// Severity says what a finding means for the command.
type Severity string

// The severities. Errors are problems; what could not be checked is never taken
// for good.
const (
	Error      Severity = "error"
	Warning    Severity = "warning"
	Info       Severity = "info"
	NotChecked Severity = "not checked"
)

// Severities are all of them, worst first.
var Severities = []Severity{Error, NotChecked, Warning, Info}

// Code is one thing that a command can find. Codes are never used again for
// another thing.
type Code struct {
	ID       string   `json:"id"`       // as in "PRE-QUOTA-01"
	Severity Severity `json:"severity"` // of what it finds
	Title    string   `json:"title"`    // what is right when nothing is found
	Page     string   `json:"page"`     // where it is explained, from the project's directory
	Reads    string   `json:"reads"`    // what is asked for, and the right that it takes
	Why      string   `json:"why"`
	Remedy   string   `json:"remedy"`
	Source   string   `json:"source"` // of the rule
}

// Finding is one thing found, or one that could not be judged.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Subject  string   `json:"subject"` // what it is about, as in a region or a resource's id
	Message  string   `json:"message"`
	Remedy   string   `json:"remedy"`
	Page     string   `json:"page"`
}

// State says how far a code was judged.
type State string

// The states. A code that found something and could not judge all is Found.
const (
	OK            State = "ok"
	Found         State = "found"
	Open          State = "not checked"
	NotApplicable State = "not applicable" // the stack has nothing that it is about
)

// Check is what became of a code.
type Check struct {
	Code   string `json:"code"`
	Title  string `json:"title"`
	State  State  `json:"state"`
	Judged int    `json:"judged"` // how many things were looked at
}

// Report is what a command found.
type Report struct {
	Command      string    `json:"command"`
	Stack        string    `json:"stack"`
	Subscription string    `json:"subscription"`
	OK           bool      `json:"ok"`       // no errors, and complete
	Complete     bool      `json:"complete"` // everything could be checked
	Checks       []Check   `json:"checks"`   // sorted by code
	Findings     []Finding `json:"findings"` // sorted by code, subject and message
}

// Make sorts findings into a report. judged says for each code how many things
// were looked at; a code that is not in it, and that nothing was found of, is not
// applicable.
func Make(command, stack, subscription string, codes []Code, judged map[string]int, findings []Finding) Report {
	r := Report{Command: command, Stack: stack, Subscription: subscription, OK: true, Complete: true, Checks: []Check{}, Findings: slices.Clone(findings)}
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Code, b.Code), strings.Compare(a.Subject, b.Subject), strings.Compare(a.Message, b.Message))
	})
	r.Findings = slices.Compact(r.Findings)
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	found, open := map[string]bool{}, map[string]bool{}
	for _, f := range r.Findings {
		switch f.Severity {
		case NotChecked:
			open[f.Code], r.Complete = true, false
		case Error:
			found[f.Code], r.OK = true, false
		case Warning, Info:
			found[f.Code] = true
		}
	}
	r.OK = r.OK && r.Complete
	for _, code := range codes {
		check := Check{Code: code.ID, Title: code.Title, Judged: judged[code.ID]}
		switch {
		case found[code.ID]:
			check.State = Found
		case open[code.ID]:
			check.State = Open
		case check.Judged > 0:
			check.State = OK
		default:
			check.State = NotApplicable
		}
		r.Checks = append(r.Checks, check)
	}
	slices.SortFunc(r.Checks, func(a, b Check) int { return strings.Compare(a.Code, b.Code) })
	return r
}

// The exit codes of a command that reports.
const (
	ExitOK         = 0
	ExitProblems   = 1 // errors were found, whatever else could not be checked
	ExitIncomplete = 2 // no errors, but not everything could be checked
)

// ExitCode is what the command ends with. Warnings do not make it fail.
func (r Report) ExitCode() int {
	switch {
	case r.Count(Error) > 0:
		return ExitProblems
	case !r.Complete:
		return ExitIncomplete
	default:
		return ExitOK
	}
}

// Count is how many findings have the severity.
func (r Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// State is what became of a code, NotApplicable for one that is not known.
func (r Report) State(code string) State {
	for _, c := range r.Checks {
		if c.Code == code {
			return c.State
		}
	}
	return NotApplicable
}
