package finding

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Print writes the report for a person: what was found first, then what became of
// every code.
func (r Report) Print(w io.Writer) {
	fmt.Fprintf(w, "%s of %s in subscription %s\n", r.Command, r.Stack, r.Subscription)
	for _, severity := range Severities {
		if r.Count(severity) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", strings.ToUpper(string(severity)))
		for _, f := range r.Findings {
			if f.Severity != severity {
				continue
			}
			fmt.Fprintf(w, "  %s  %s\n    %s\n", f.Code, f.Subject, f.Message)
			if severity == Error || severity == Warning {
				fmt.Fprintf(w, "    fix: %s (%s)\n", f.Remedy, f.Page)
			}
		}
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range r.Checks {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", c.Code, c.State, c.Title)
	}
	table.Flush()
	fmt.Fprintf(w, "\n%s\n", r.Verdict())
}

// Verdict is the report in a sentence.
func (r Report) Verdict() string {
	counts := fmt.Sprintf("%d errors, %d warnings, %d not checked", r.Count(Error), r.Count(Warning), r.Count(NotChecked))
	switch r.ExitCode() {
	case ExitProblems:
		return "Problems: " + counts + "."
	case ExitIncomplete:
		return "Partial: " + counts + ". What was not checked may be wrong."
	default:
		return "OK: " + counts + "."
	}
}
