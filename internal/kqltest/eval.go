package kqltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// eval is the value of an expression in a row.
func (r *runner) eval(e any, rel relation, row Row) any {
	switch e := e.(type) {
	case *literal:
		return e.value
	case *column:
		if !slices.Contains(rel.columns, e.name) {
			fail("no column %s among %s", e.name, rel.columns)
		}
		return row[e.name]
	case *index:
		object, _ := r.eval(e.of, rel, row).(map[string]any)
		key, _ := r.eval(e.key, rel, row).(string)
		return object[key]
	case *call:
		return r.call(e, rel, row)
	}
	fail("expression %T", e)
	return nil
}

func (r *runner) call(c *call, rel relation, row Row) any {
	if c.name == "column_ifexists" {
		if name, ok := c.args[0].(*literal); ok && slices.Contains(rel.columns, text(name.value)) {
			return row[text(name.value)]
		}
		return r.eval(c.args[1], rel, row)
	}
	if c.name == "in" {
		value := r.eval(c.args[0], rel, row)
		for _, item := range c.args[1].(*list).items {
			if equal(value, r.eval(item, rel, row)) {
				return true
			}
		}
		return false
	}
	args := make([]any, len(c.args))
	for i, arg := range c.args {
		args[i] = r.eval(arg, rel, row)
	}
	f, ok := scalars[c.name]
	if !ok {
		fail("function %s is not understood", c.name)
	}
	return f(r, args)
}

// scalars are the functions and operators of values.
var scalars map[string]func(r *runner, args []any) any

func init() {
	scalars = map[string]func(*runner, []any) any{
		"and":        func(_ *runner, a []any) any { return a[0] == true && a[1] == true },
		"or":         func(_ *runner, a []any) any { return a[0] == true || a[1] == true },
		"==":         func(_ *runner, a []any) any { return equal(a[0], a[1]) },
		"!=":         func(_ *runner, a []any) any { return !equal(a[0], a[1]) },
		"=~":         func(_ *runner, a []any) any { return strings.EqualFold(text(a[0]), text(a[1])) },
		"<":          func(_ *runner, a []any) any { return known(a) && compare(a[0], a[1]) < 0 },
		">":          func(_ *runner, a []any) any { return known(a) && compare(a[0], a[1]) > 0 },
		"<=":         func(_ *runner, a []any) any { return known(a) && compare(a[0], a[1]) <= 0 },
		">=":         func(_ *runner, a []any) any { return known(a) && compare(a[0], a[1]) >= 0 },
		"has":        func(_ *runner, a []any) any { return hasWord(text(a[0]), text(a[1])) },
		"startswith": func(_ *runner, a []any) any { return hasPrefixFold(text(a[0]), text(a[1])) },
		"+":          func(_ *runner, a []any) any { return arithmetic("+", a) },
		"-":          func(_ *runner, a []any) any { return arithmetic("-", a) },
		"*":          func(_ *runner, a []any) any { return arithmetic("*", a) },
		"/":          func(_ *runner, a []any) any { return arithmetic("/", a) },
		"ago":        func(r *runner, a []any) any { return r.Now.Add(-a[0].(time.Duration)) },
		"now":        func(r *runner, _ []any) any { return r.Now },
		"startofmonth": func(_ *runner, a []any) any {
			t := a[0].(time.Time)
			return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
		},
		"bin":          func(_ *runner, a []any) any { return a[0].(time.Time).Truncate(a[1].(time.Duration)) },
		"tostring":     func(_ *runner, a []any) any { return text(a[0]) },
		"tolower":      func(_ *runner, a []any) any { return strings.ToLower(text(a[0])) },
		"todatetime":   func(_ *runner, a []any) any { return toTime(a[0]) },
		"todouble":     func(_ *runner, a []any) any { return toDouble(a[0]) },
		"real":         func(_ *runner, a []any) any { return toDouble(a[0]) },
		"parse_json":   func(_ *runner, a []any) any { return parseJSON(a[0]) },
		"isempty":      func(_ *runner, a []any) any { return text(a[0]) == "" },
		"isnotempty":   func(_ *runner, a []any) any { return text(a[0]) != "" },
		"array_length": func(_ *runner, a []any) any { l, _ := a[0].([]any); return int64(len(l)) },
		"coalesce":     func(_ *runner, a []any) any { return coalesce(a) },
		"iff": func(_ *runner, a []any) any {
			if a[0] == true {
				return a[1]
			}
			return a[2]
		},
	}
}

// aggregate is the value of an aggregate over a group.
func (r *runner) aggregate(c *call, rel relation, rows []Row) any {
	values := func() []any { // of the first argument, by row
		out := make([]any, len(rows))
		for i, row := range rows {
			out[i] = r.eval(c.args[0], rel, row)
		}
		return out
	}
	switch c.name {
	case "count":
		return int64(len(rows))
	case "countif":
		return int64(len(slices.DeleteFunc(values(), func(v any) bool { return v != true })))
	case "dcount":
		return int64(len(set(values())))
	case "make_set":
		return set(values())
	case "sum", "sumif":
		var total any = 0.0
		for i, v := range values() {
			if c.name == "sumif" && r.eval(c.args[1], rel, rows[i]) != true || v == nil {
				continue
			}
			total = arithmetic("+", []any{total, v})
		}
		return total
	case "max", "min":
		var best any
		for _, v := range values() {
			if v != nil && (best == nil || (compare(v, best) > 0) == (c.name == "max")) {
				best = v
			}
		}
		return best
	}
	fail("aggregate %s is not understood", c.name)
	return nil
}

// set are the different values that are not empty.
func set(values []any) []any {
	out := []any{}
	for _, v := range values {
		if text(v) != "" && !slices.ContainsFunc(out, func(o any) bool { return equal(o, v) }) {
			out = append(out, v)
		}
	}
	return out
}

func known(values []any) bool { return !slices.Contains(values, nil) }

// equal compares as == does. A missing string is an empty one.
func equal(a, b any) bool {
	if x, ok := a.(string); ok || a == nil {
		if y, ok := b.(string); ok || b == nil {
			return x == y
		}
	}
	if x, ok := toNumber(a); ok {
		if y, ok := toNumber(b); ok {
			return x == y
		}
	}
	return reflect.DeepEqual(a, b)
}

// compare orders two values of one kind.
func compare(a, b any) int {
	switch x := a.(type) {
	case string:
		return cmp.Compare(x, text(b))
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return x.Compare(y)
		}
	case time.Duration:
		if y, ok := b.(time.Duration); ok {
			return cmp.Compare(x, y)
		}
	}
	x, okX := toNumber(a)
	y, okY := toNumber(b)
	if !okX || !okY {
		fail("cannot compare %T and %T", a, b)
	}
	return cmp.Compare(x, y)
}

// arithmetic is that of numbers: null if one is missing, whole if both are.
func arithmetic(op string, args []any) any {
	if !known(args) {
		return nil
	}
	x, okX := args[0].(int64)
	y, okY := args[1].(int64)
	if okX && okY {
		switch op {
		case "+":
			return x + y
		case "-":
			return x - y
		case "*":
			return x * y
		default:
			if y == 0 {
				return nil
			}
			return x / y
		}
	}
	a, okA := toNumber(args[0])
	b, okB := toNumber(args[1])
	if !okA || !okB {
		fail("cannot compute %T %s %T", args[0], op, args[1])
	}
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	default:
		return a / b
	}
}

func toNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func toDouble(v any) any {
	if f, ok := toNumber(v); ok {
		return f
	}
	if f, err := strconv.ParseFloat(text(v), 64); err == nil {
		return f
	}
	return nil
}

func toTime(v any) any {
	if t, ok := v.(time.Time); ok {
		return t
	}
	if t, err := time.Parse(time.RFC3339, text(v)); err == nil {
		return t.UTC()
	}
	return nil
}

func parseJSON(v any) any {
	var out any
	if json.Unmarshal([]byte(text(v)), &out) != nil {
		return v
	}
	return out
}

func coalesce(values []any) any {
	for _, v := range values {
		if v != nil && v != "" {
			return v
		}
	}
	return values[len(values)-1]
}

// text is a value as a string, "" for null.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any, []any:
		out, err := json.Marshal(v)
		if err != nil {
			fail("%w", err)
		}
		return string(out)
	}
	return fmt.Sprint(v)
}

// hasWord tells whether term is among the words of s, without regard to case.
func hasWord(s, term string) bool {
	isWord := func(c rune) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }
	fields := strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return !isWord(c) })
	return slices.Contains(fields, strings.ToLower(term))
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
