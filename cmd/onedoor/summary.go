package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"onedoor/internal/engine"
	"onedoor/internal/policypack/results"
)

// document is the summary of one operation.
type document struct {
	Stack     string                    `json:"stack"`
	Simulated bool                      `json:"simulated"`
	Operation engine.Operation          `json:"operation"`
	OK        bool                      `json:"ok"`
	Changes   map[string]int            `json:"changes"` // resources by op
	Kinds     map[string]map[string]int `json:"kinds"`   // resources by type and op
	Warnings  []engine.Diagnostic       `json:"warnings"`
	Errors    []engine.Diagnostic       `json:"errors"`
	Policy    *judged                   `json:"policy,omitempty"`
	File      string                    `json:"file,omitempty"`  // where the resources are
	Error     string                    `json:"error,omitempty"` // why it did not succeed
}

// judged is what the policy packs found.
type judged struct {
	Profile string          `json:"profile"`
	Summary results.Summary `json:"summary"`
	Waivers []excused       `json:"waivers,omitempty"`
	File    string          `json:"file"` // where each judgement is
}

func (j *judged) String() string {
	n := j.Summary
	return fmt.Sprintf("Policy (%s): %d rules, %d pass, %d fail, %d waived, %d not applicable, %d not checked: %s", j.Profile, n.Rules, n.Pass, n.Fail, n.Waived, n.NotApplicable, n.NotChecked, j.File)
}

// documentOf summarises an operation of a stack: what the engine did, nil when
// it was not started, and how it ended.
func documentOf(op engine.Operation, stack string, r *engine.Result, err error) *document {
	d := &document{
		Stack: stack, Simulated: true, Operation: op, OK: err == nil, Changes: map[string]int{}, Kinds: map[string]map[string]int{},
		Warnings: []engine.Diagnostic{}, Errors: []engine.Diagnostic{},
	}
	if err != nil {
		d.Error = err.Error()
	}
	if r == nil {
		return d
	}
	d.Changes = r.Changes
	for _, res := range r.Resources {
		if d.Kinds[res.Type] == nil {
			d.Kinds[res.Type] = map[string]int{}
		}
		d.Kinds[res.Type][res.Op]++
	}
	for _, g := range r.Diagnostics {
		switch g.Severity {
		case "warning":
			d.Warnings = append(d.Warnings, g)
		case "error":
			d.Errors = append(d.Errors, g)
		}
	}
	return d
}

// print writes the summary of what succeeded for a person.
func (d *document) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s of %s: %s.\n\n", d.Operation, d.Stack, counts(d.Changes))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range d.rows() {
		fmt.Fprintf(table, "  %s\t%s\n", row.kind, counts(row.changes))
	}
	table.Flush()
	for _, warning := range d.Warnings {
		fmt.Fprintf(w, "\nwarning: %s: %s", cmp.Or(engine.ShortName(warning.URN), d.Stack), warning.Message)
	}
	if len(d.Warnings) == 0 {
		fmt.Fprint(w, "\nNo warnings.")
	}
	if d.Policy != nil {
		fmt.Fprintf(w, "\n%s", d.Policy)
		for _, e := range d.Policy.Waivers {
			fmt.Fprintf(w, "\n  %s", e)
		}
	}
	fmt.Fprintf(w, "\nEvery resource with its inputs: %s\n%s\n", d.File, simulated)
}

type row struct {
	kind    string
	changes map[string]int
}

// rows are the kinds of resources in alphabetical order, components and the
// stack left out.
func (d *document) rows() []row {
	merged := map[string]map[string]int{}
	for typ, changes := range d.Kinds {
		if strings.HasPrefix(typ, "pulumi:") || strings.HasPrefix(typ, "onedoor:") {
			continue
		}
		kind := typ[strings.LastIndex(typ, ":")+1:]
		if merged[kind] == nil {
			merged[kind] = map[string]int{}
		}
		for op, n := range changes {
			merged[kind][op] += n
		}
	}
	var out []row
	for _, kind := range slices.Sorted(maps.Keys(merged)) {
		out = append(out, row{kind, merged[kind]})
	}
	return out
}

// counts writes what happened to how many resources.
func counts(changes map[string]int) string {
	if len(changes) == 0 {
		return "no resources"
	}
	var words []string
	for _, op := range slices.Sorted(maps.Keys(changes)) {
		words = append(words, fmt.Sprintf("%d %s", changes[op], op))
	}
	return strings.Join(words, ", ")
}
