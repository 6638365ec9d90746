package kqltest

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// Row is a row of a table, by column: a string, an int64, a float64, a bool, a
// time.Time, or a map[string]any or []any for a dynamic value. What is missing is
// null.
type Row map[string]any

// World is what a query is run over.
type World struct {
	Schema Schema
	Rows   map[string][]Row // by table
	Now    time.Time
	Window time.Duration // of every table, only rows that are so new are seen, as in a log alert
}

// Run answers a query by the semantics of Kusto, as far as this project's queries
// go: let (of tables), where, extend, project, distinct, summarize, join of kinds
// inner, leftouter, leftanti and fullouter on one column, union, order by, take,
// datatable, functions without parameters, and the scalar functions and
// aggregates in eval.go. Columns have no types: a value has. Anything else is an
// error, never a guess.
func Run(world World, text string) ([]Row, error) {
	_, rows, err := Ask(world, text)
	return rows, err
}

// Ask is Run, with the columns of the answer in their order.
func Ask(world World, text string) (columns []string, rows []Row, err error) {
	r := &runner{World: world, functions: map[string]string{}}
	for _, f := range world.Schema.Functions {
		r.functions[f.Name] = f.Text
	}
	rel, err := r.query(text)
	return rel.columns, rel.rows, err
}

// relation is rows with their columns in order.
type relation struct {
	columns []string
	rows    []Row
}

type runner struct {
	World
	functions map[string]string
}

// query runs a text with a scope of its own.
func (r *runner) query(text string) (rel relation, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(fault)
			if !ok {
				panic(p)
			}
			err = f.error
		}
	}()
	q, err := parse(text)
	if err != nil {
		return relation{}, err
	}
	lets := map[string]relation{}
	for _, l := range q.lets {
		lets[l.name] = r.tabular(l.expr.(*tabular), lets)
	}
	return r.tabular(q.body, lets), nil
}

func fail(format string, args ...any) { panic(fault{fmt.Errorf(format, args...)}) }

func (r *runner) tabular(t *tabular, lets map[string]relation) relation {
	rel := r.source(t.source, lets)
	for _, s := range t.steps {
		rel = r.step(rel, s, lets)
	}
	return rel
}

func (r *runner) source(source any, lets map[string]relation) relation {
	switch s := source.(type) {
	case *tabular:
		return r.tabular(s, lets)
	case *union:
		var all relation
		for _, part := range s.parts {
			all = all.plus(r.tabular(part, lets))
		}
		return all
	case *datatable:
		rel := relation{columns: s.columns}
		for i, value := range s.values {
			if i%len(s.columns) == 0 {
				rel.rows = append(rel.rows, Row{})
			}
			rel.rows[len(rel.rows)-1][s.columns[i%len(s.columns)]] = r.eval(value, relation{}, nil)
		}
		return rel
	case *call:
		if rel, ok := lets[s.name]; ok {
			return rel
		}
		if text, ok := r.functions[s.name]; ok {
			rel, err := r.query(text)
			if err != nil {
				fail("%s: %w", s.name, err)
			}
			return rel
		}
		return r.table(s.name)
	}
	fail("source %T", source)
	return relation{}
}

// table is a table, as far as the window lets it be seen.
func (r *runner) table(name string) relation {
	schema, ok := r.Schema.Tables[name]
	if !ok {
		fail("no table %s", name)
	}
	rel := relation{}
	for part := range strings.SplitSeq(strings.Trim(schema, "()"), ",") {
		column, _, _ := strings.Cut(strings.TrimSpace(part), ":")
		rel.columns = append(rel.columns, column)
	}
	for _, row := range r.Rows[name] {
		for column := range row {
			if !slices.Contains(rel.columns, column) {
				fail("a row of %s has a column %s, which the table lacks", name, column)
			}
		}
		at, ok := row["TimeGenerated"].(time.Time)
		if !ok {
			fail("a row of %s has no TimeGenerated", name)
		}
		if at.After(r.Now.Add(-r.Window)) && !at.After(r.Now) {
			rel.rows = append(rel.rows, row)
		}
	}
	return rel
}

func (a relation) plus(b relation) relation {
	out := relation{columns: slices.Clone(a.columns), rows: slices.Concat(a.rows, b.rows)}
	for _, column := range b.columns {
		if !slices.Contains(out.columns, column) {
			out.columns = append(out.columns, column)
		}
	}
	return out
}

func (r *runner) step(rel relation, s step, lets map[string]relation) relation {
	switch s.op {
	case "where":
		out := relation{columns: rel.columns}
		for _, row := range rel.rows {
			if r.eval(s.exprs[0].expr, rel, row) == true {
				out.rows = append(out.rows, row)
			}
		}
		return out
	case "extend":
		return r.extend(rel, s.exprs)
	case "project":
		return r.project(rel, s.exprs)
	case "distinct":
		return r.summarize(rel, nil, s.exprs)
	case "summarize":
		return r.summarize(rel, s.exprs, s.by)
	case "join":
		return join(rel, r.tabular(s.right, lets), s.kind, s.on)
	case "union":
		return rel.plus(r.tabular(s.right, lets))
	case "order":
		out := relation{columns: rel.columns, rows: slices.Clone(rel.rows)}
		sort.SliceStable(out.rows, func(i, j int) bool {
			if s.kind == "asc" {
				i, j = j, i
			}
			return compare(out.rows[j][s.on], out.rows[i][s.on]) < 0
		})
		return out
	case "take":
		return relation{columns: rel.columns, rows: rel.rows[:min(s.number, len(rel.rows))]}
	}
	fail("operator %s", s.op)
	return relation{}
}

// extend adds columns. A column may use one that stands before it in another
// extend, not in the same.
func (r *runner) extend(rel relation, exprs []named) relation {
	out := relation{columns: slices.Clone(rel.columns)}
	for _, e := range exprs {
		if !slices.Contains(out.columns, e.name) {
			out.columns = append(out.columns, e.name)
		}
	}
	for _, row := range rel.rows {
		next := maps.Clone(row)
		for _, e := range exprs {
			next[e.name] = r.eval(e.expr, rel, row)
		}
		out.rows = append(out.rows, next)
	}
	return out
}

func (r *runner) project(rel relation, exprs []named) relation {
	out := relation{}
	for _, e := range exprs {
		out.columns = append(out.columns, e.name)
	}
	for _, row := range rel.rows {
		next := Row{}
		for _, e := range exprs {
			next[e.name] = r.eval(e.expr, rel, row)
		}
		out.rows = append(out.rows, next)
	}
	return out
}

// group puts rows together that agree in all of by. keys are in the order of the
// first row of each.
func (r *runner) group(rel relation, by []named) (groups map[string][]Row, keys []string) {
	groups = map[string][]Row{}
	for _, row := range rel.rows {
		values := make([]any, len(by))
		for i, e := range by {
			values[i] = r.eval(e.expr, rel, row)
		}
		key := fmt.Sprintf("%q", values)
		if _, seen := groups[key]; !seen {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], row)
	}
	return groups, keys
}

// earliest keeps of each group the whole row in which a column is the least. Only
// columns can be grouped by.
func (r *runner) earliest(rel relation, of string, by []named) relation {
	for _, e := range by {
		if c, ok := e.expr.(*column); !ok || c.name != e.name {
			fail("arg_min by %s, which is no column", e.name)
		}
	}
	out := relation{columns: rel.columns}
	groups, keys := r.group(rel, by)
	for _, key := range keys {
		out.rows = append(out.rows, slices.MinFunc(groups[key], func(a, b Row) int {
			return compare(r.eval(&column{of}, rel, a), r.eval(&column{of}, rel, b))
		}))
	}
	return out
}

func (r *runner) summarize(rel relation, aggregates, by []named) relation {
	if len(aggregates) == 1 {
		if l, ok := aggregates[0].expr.(*least); ok {
			return r.earliest(rel, l.of, by)
		}
	}
	out := relation{}
	for _, e := range slices.Concat(by, aggregates) {
		out.columns = append(out.columns, e.name)
	}
	groups, keys := r.group(rel, by)
	if len(by) == 0 && len(keys) == 0 {
		keys = []string{""} // one row about nothing
	}
	for _, key := range keys {
		next := Row{}
		for _, e := range by {
			next[e.name] = r.eval(e.expr, rel, groups[key][0])
		}
		for _, e := range aggregates {
			c, ok := e.expr.(*call)
			if !ok {
				fail("%s is no aggregate", e.name)
			}
			next[e.name] = r.aggregate(c, rel, groups[key])
		}
		out.rows = append(out.rows, next)
	}
	return out
}

// join joins on a column of both. Columns of the right that the left has, too, get
// a 1 behind their names.
func join(left, right relation, kind, on string) relation {
	for _, side := range []relation{left, right} {
		if !slices.Contains(side.columns, on) {
			fail("join on %s: no such column among %s", on, side.columns)
		}
	}
	renamed := map[string]string{}
	out := relation{columns: slices.Clone(left.columns)}
	for _, column := range right.columns {
		renamed[column] = column
		if slices.Contains(left.columns, column) {
			renamed[column] = column + "1"
		}
		out.columns = append(out.columns, renamed[column])
	}
	with := func(l, r Row) Row {
		next := Row{}
		maps.Copy(next, l)
		for k, v := range r {
			next[renamed[k]] = v
		}
		return next
	}
	matched := map[int]bool{}
	var alone []Row
	for _, l := range left.rows {
		found := false
		for i, r := range right.rows {
			if l[on] != nil && l[on] == r[on] {
				found, matched[i] = true, true
				out.rows = append(out.rows, with(l, r))
			}
		}
		if !found {
			alone = append(alone, l)
		}
	}
	switch kind {
	case "inner":
	case "leftanti":
		return relation{left.columns, alone}
	case "leftouter", "fullouter":
		for _, l := range alone {
			out.rows = append(out.rows, with(l, nil))
		}
		for i, r := range right.rows {
			if kind == "fullouter" && !matched[i] {
				out.rows = append(out.rows, with(nil, r))
			}
		}
	default:
		fail("join of kind %s", kind)
	}
	return out
}
