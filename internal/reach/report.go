package reach

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"text/tabwriter"

	"onedoor/internal/az/flows"
)

// Report is what there is to say about a plan.
type Report struct {
	Stack    string    `json:"stack"`
	OK       bool      `json:"ok"` // no finding fails
	Matrix   Matrix    `json:"matrix"`
	Findings []Finding `json:"findings"`
}

// Judge reports on the plan of a stack.
func Judge(stack string, resources []Resource) Report {
	m := New(resources)
	r := Report{Stack: stack, OK: true, Matrix: m.Matrix(), Findings: m.Proof(flows.Table)}
	for _, f := range r.Findings {
		r.OK = r.OK && !f.Fails()
	}
	return r
}

// marks are the states in a table for people.
var marks = map[State]string{Open: "yes", Partly: "part", Unnamed: "addr", Closed: ".", Unknown: "?", Absent: ""}

// legend explains the marks.
const legend = "yes: connects   part: some addresses or names   addr: by address, its name leads elsewhere\n.: closed   ?: the plan cannot tell   blank: not planned"

// Print writes the matrix for a person: a row for each destination, a column for
// each workload.
func (r Report) Print(w io.Writer) {
	fmt.Fprintf(w, "\nWho reaches what in %s.\n\n", r.Stack)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "  to\tport")
	for i := range r.Matrix.From {
		fmt.Fprint(table, "\t"+column(i))
	}
	for _, to := range r.Matrix.To {
		for i, from := range r.Matrix.From {
			c, _ := r.Matrix.Cell(from, to)
			if i == 0 {
				fmt.Fprintf(table, "\n  %s\t%s", to, c.Port)
			}
			fmt.Fprint(table, "\t"+marks[c.State])
		}
	}
	fmt.Fprintln(table)
	table.Flush()
	fmt.Fprintln(w)
	for i, from := range r.Matrix.From {
		fmt.Fprintf(w, "  %s from %s\n", column(i), from)
	}
	fmt.Fprintf(w, "\n%s\n", legend)
	for _, f := range r.Findings {
		fmt.Fprintf(w, "\n%s: %s", f.Kind, f.Text)
	}
	if len(r.Findings) > 0 {
		fmt.Fprintln(w)
	}
}

// column is the heading of a workload: A, B and so on, then by number.
func column(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return strconv.Itoa(i + 1)
}

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"cell": func(m Matrix, from, to string) Cell { c, _ := m.Cell(from, to); return c },
	"mark": func(s State) string { return marks[s] },
}).Parse(page))

// HTML writes the report as one page that needs nothing else.
func (r Report) HTML(w io.Writer) error { return pageTemplate.Execute(w, r) }
