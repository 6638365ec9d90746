package change

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"onedoor/internal/policypack/results"
	"onedoor/internal/report"
)

// Print writes the report for a person: the first screen, then what changes
// property by property. What is created is counted; the file has all of it.
func (r *Report) Print(w io.Writer) {
	fmt.Fprintf(w, "\nChange of %s, from %s to %s.\n\n", r.Stack, r.Base, r.Head)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range r.summary() {
		fmt.Fprintf(table, "  %s\t%s\n", row.name, row.text)
	}
	table.Flush()
	for _, s := range r.sections() {
		if s.title == string(Created) || len(s.rows) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", s.title)
		for _, row := range s.rows {
			fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(row, "\n", "\n    "))
		}
	}
	if r.OK {
		fmt.Fprintln(w, "\nNothing stands against it.")
		return
	}
	fmt.Fprintln(w, "\nRefused:")
	for _, refusal := range r.Refusals {
		fmt.Fprintf(w, "  %s\n", refusal)
	}
}

// section is a list of what there is to say below the first screen, a row each;
// further lines of a row are its details.
type section struct {
	title string
	rows  []string
}

// sections are all details, what a reviewer must see first first.
func (r *Report) sections() []section {
	var out []section
	policy := section{title: "policy"}
	for _, c := range r.Policy.Changes {
		if c.Kind != report.Open {
			policy.rows = append(policy.rows, fmt.Sprintf("%s: %s %s: %s", c.Kind, c.Rule, report.Short(c.Resource), c.Text))
		}
	}
	for _, o := range r.OnlyBase {
		policy.rows = append(policy.rows, onlyBase(o))
	}
	reached := section{title: "reach"}
	for _, f := range r.Findings {
		reached.rows = append(reached.rows, fmt.Sprintf("%s: %s", f.Kind, f.Text))
	}
	for _, c := range r.Reach {
		reached.rows = append(reached.rows, fmt.Sprintf("%s to %s:%s was %s, is %s: %s", c.From, c.To, c.Port, c.Before, c.After, c.By))
	}
	out = append(out, policy, reached)
	for _, op := range Ops {
		s := section{title: string(op)}
		for _, c := range r.Changes {
			if c.Op == op {
				s.rows = append(s.rows, c.details())
			}
		}
		out = append(out, s)
	}
	return append(out, r.bill())
}

func onlyBase(o results.Result) string {
	return fmt.Sprintf("seen by the rules as they were alone: %s %s: %s", o.Rule, report.Short(o.Resource), o.Message)
}

// details are a resource with all its properties that change.
func (r Resource) details() string {
	var b strings.Builder
	b.WriteString(r.title() + because(r))
	if r.Loses != "" {
		b.WriteString("\nlost: " + r.Loses)
	}
	for _, p := range r.Properties {
		b.WriteString("\n" + p.String())
	}
	return b.String()
}

// bill lists what costs most while idle.
func (r *Report) bill() section {
	s := section{title: fmt.Sprintf("what the bill is made of, a month idle and at most, at prices of %s", r.Bill.After.AsOf)}
	for _, line := range r.Bill.After.Lines {
		if line.Idle == 0 && line.Most == 0 {
			continue
		}
		s.rows = append(s.rows, fmt.Sprintf("%s: %s, USD %s to %s", line.Name(), line.What, line.Idle.Whole(), line.Most.Whole()))
	}
	for _, missing := range r.Bill.After.Unpriced {
		s.rows = append(s.rows, missing+": unknown cost")
	}
	return s
}

// CommentLimit is how long Markdown makes a comment at most, in bytes. GitHub takes
// 65,536 characters, Azure DevOps 150,000.
// https://github.com/orgs/community/discussions/27190
const CommentLimit = 60_000

// Marker is the hidden line by which a stack's comment is found again.
func Marker(project, stack string) string {
	return fmt.Sprintf("<!-- onedoor change of %s/%s -->", project, stack)
}

// Markdown is the report as a comment on a pull request: the marker, the first
// screen, then as many of the details as there is room for. file names the file
// that has all of them.
func (r *Report) Markdown(file string) string {
	var b strings.Builder
	verdict := "nothing stands against it"
	if !r.OK {
		verdict = "refused"
	}
	note := ""
	if r.Simulated {
		note = " Planned against a simulated Azure."
	}
	fmt.Fprintf(&b, "%s\n### OneDoor: %s, %s\n\nFrom %s to %s.%s\n\n| | |\n|---|---|\n", Marker(r.Project, r.Stack), report.Cell(r.Stack), verdict, report.Cell(r.Base.String()), report.Cell(r.Head.String()), note)
	for _, row := range r.summary() {
		fmt.Fprintf(&b, "| %s | %s |\n", report.Cell(row.name), report.Cell(cut(row.text)))
	}
	for _, refusal := range r.Refusals {
		fmt.Fprintf(&b, "\n**Refused:** %s.\n", report.Cell(refusal))
	}
	end := fmt.Sprintf("\nAll of it is in `%s`.\n", file)
	for _, s := range r.sections() {
		s.markdown(&b, CommentLimit-len(end))
	}
	b.WriteString(end)
	return b.String()
}

// cut keeps one row of the first screen to a few lines.
func cut(text string) string {
	const most = 600
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// markdown writes the section, as many rows of it as keep b within limit.
func (s section) markdown(b *strings.Builder, limit int) {
	if len(s.rows) == 0 {
		return
	}
	const foot, more = "\n</details>\n", "- and %d more\n"
	head := fmt.Sprintf("\n<details><summary>%s: %d</summary>\n\n", s.title, len(s.rows))
	room := limit - b.Len() - len(head) - len(foot) - len(more) - 10
	var rows strings.Builder
	shown := 0
	for _, row := range s.rows {
		lines := strings.Split(row, "\n")
		var text strings.Builder
		fmt.Fprintf(&text, "- %s\n", report.Cell(lines[0]))
		for _, line := range lines[1:] {
			fmt.Fprintf(&text, "  - %s\n", report.Cell(line))
		}
		if rows.Len()+text.Len() > room {
			break
		}
		rows.WriteString(text.String())
		shown++
	}
	if left := len(s.rows) - shown; left > 0 {
		fmt.Fprintf(&rows, more, left)
	}
	if shown == 0 && room < 0 {
		return
	}
	b.WriteString(head + rows.String() + foot)
}
