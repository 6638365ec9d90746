package report

import (
	"fmt"
	"strings"

	"onedoor/internal/policypack/results"
)

// shownFailures is how many failures the first screen lists; the rest is in the
// other reports. A comment on GitHub holds 65,536 characters.
const shownFailures = 50

// Markdown is the document for a pull request: the verdict, what failed and how
// to mend it, then what needs a look. What passed is a number.
func Markdown(d results.Document, c Catalog) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Policies of %s/%s (%s)\n\n**%s**\n\n", d.Subject.Project, d.Subject.Stack, azure(d.Subject), verdict(d))
	for _, n := range counts(d) {
		if n.Part {
			b.WriteString("of them ")
		}
		fmt.Fprintf(&b, "%s %d, ", n.State, n.N)
	}
	fmt.Fprintf(&b, "by %d rules.\n\n", d.Summary.Rules)
	rules := byRule(d, c)
	section(&b, "Failures", rules, results.Fail)
	section(&b, "Waived", rules, results.Waived)
	section(&b, "Not checked", rules, results.NotChecked)
	b.WriteString("## Subject\n\n| | |\n|---|---|\n")
	for _, l := range subject(d) {
		fmt.Fprintf(&b, "| %s | %s |\n", l.Name, Cell(l.Value))
	}
	return []byte(b.String())
}

// section lists the results in a state, none if there are none.
func section(b *strings.Builder, title string, rules []judged, state results.State) {
	var rows []string
	for _, rule := range rules {
		for _, r := range rule.With(state) {
			what := Cell(r.Message)
			if r.Waiver != nil {
				what += ". " + Cell(explain(r.Waiver))
			}
			if state == results.Fail {
				what += ". Fix: " + Cell(rule.Remedy)
			}
			rows = append(rows, fmt.Sprintf("| %s | %s, %s | %s | %s |\n", rule.ID, rule.Severity, r.Level, Cell(Short(r.Resource)), what))
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n| rule | severity, level | resource | what |\n|---|---|---|---|\n%s", title, strings.Join(rows[:min(len(rows), shownFailures)], ""))
	if more := len(rows) - shownFailures; more > 0 {
		fmt.Fprintf(b, "\n%d more are in report.html.\n", more)
	}
	b.WriteString("\n")
}

// Cell is text that cannot leave its cell of a Markdown table, nor be markup.
// Resource names and values come from the program that is judged.
func Cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", "&", "&amp;", "`", "'", "[", `\[`, "*", `\*`, "@", "&#64;").Replace(s)
}
