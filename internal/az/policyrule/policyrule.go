// Package policyrule evaluates Azure Policy rules: the part of the language that
// this project's definitions use, and nothing beside it. Whatever it does not know
// it refuses by name, so that no rule is taken for harmless that was not
// understood. It knows no assignment and no scope.
// https://learn.microsoft.com/azure/governance/policy/concepts/definition-structure-policy-rule
package policyrule

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Verdict is what a condition or a rule says of a resource.
type Verdict int

// The verdicts. A value that is not known yet leaves a condition undecided, unless
// the others decide without it.
const (
	No Verdict = iota
	Undecided
	Yes
)

func of(b bool) Verdict {
	if b {
		return Yes
	}
	return No
}

func (v Verdict) not() Verdict { return Yes - v }

// Unknown stands for a value that is not known yet.
var Unknown = new(struct{ _ byte })

// Resource answers what a field of a resource is: a plain value, nil where there
// is none, or Unknown.
type Resource interface {
	Field(name string) any
}

// Rule is a rule that was understood.
type Rule struct {
	condition  condition
	effect     any
	parameters map[string]any // defaults by lower-case name
}

// condition is one node of a rule.
type condition func(r Resource, parameters map[string]any) Verdict

// Parse reads a rule as it stands in a definition, with the definition's
// parameters. Every problem is reported at once.
func Parse(rule, parameters map[string]any) (Rule, error) {
	p := parser{parameters: map[string]any{}}
	for name, v := range parameters {
		declared, _ := v.(map[string]any)
		p.parameters[strings.ToLower(name)] = declared["defaultValue"]
	}
	out := Rule{parameters: p.parameters}
	for _, key := range slices.Sorted(maps.Keys(rule)) {
		if key != "if" && key != "then" {
			p.fail(key, "unknown, want if and then")
		}
	}
	out.condition = p.condition("if", rule["if"])
	then, _ := rule["then"].(map[string]any)
	out.effect = then["effect"]
	p.value("then.effect", out.effect)
	if text, isText := out.effect.(string); isText && !isExpression(text) && !slices.ContainsFunc(effects, func(e string) bool { return strings.EqualFold(e, text) }) {
		p.fail("then.effect", fmt.Sprintf("got %q, want one of %s", text, strings.Join(effects, ", ")))
	}
	return out, errors.Join(p.problems...)
}

// effects are those that are known here. Only deny refuses a write.
var effects = []string{"audit", "deny", "disabled"}

// Denies tells whether the rule refuses the resource. given are the values of
// parameters that an assignment sets; the others have their defaults.
func (rule Rule) Denies(r Resource, given map[string]any) Verdict {
	parameters := maps.Clone(rule.parameters)
	for name, v := range given {
		parameters[strings.ToLower(name)] = v
	}
	effect, _ := resolve(rule.effect, parameters).(string)
	if !strings.EqualFold(effect, "deny") {
		return No
	}
	return rule.condition(r, parameters)
}

// parser collects what is wrong.
type parser struct {
	parameters map[string]any
	problems   []error
}

func (p *parser) fail(at, why string) {
	p.problems = append(p.problems, fmt.Errorf("policy rule: %s: %s", at, why))
}

// condition reads one node: a logical operator, or a field with an operator.
func (p *parser) condition(at string, v any) condition {
	object, isObject := v.(map[string]any)
	if !isObject || len(object) == 0 {
		p.fail(at, "want an object: allOf, anyOf, not, or a field with an operator")
		return nil
	}
	keys := slices.Sorted(maps.Keys(object))
	if len(keys) == 1 {
		switch keys[0] {
		case "not":
			inner := p.condition(at+".not", object["not"])
			return func(r Resource, ps map[string]any) Verdict { return inner(r, ps).not() }
		case "allOf", "anyOf":
			return p.several(at+"."+keys[0], object[keys[0]], keys[0] == "allOf")
		}
	}
	return p.comparison(at, object, keys)
}

// several reads a list of which all must hold, or any.
func (p *parser) several(at string, v any, all bool) condition {
	list, _ := v.([]any)
	if len(list) == 0 {
		p.fail(at, "want a list of at least one condition")
	}
	var parts []condition
	for i, item := range list {
		parts = append(parts, p.condition(fmt.Sprintf("%s[%d]", at, i), item))
	}
	return func(r Resource, ps map[string]any) Verdict {
		found := of(all)
		for _, part := range parts {
			if all {
				found = min(found, part(r, ps))
			} else {
				found = max(found, part(r, ps))
			}
		}
		return found
	}
}

// comparison reads a field with an operator.
func (p *parser) comparison(at string, object map[string]any, keys []string) condition {
	field, isText := object["field"].(string)
	if !isText {
		p.fail(at, fmt.Sprintf("got %s, want field with one of %s", strings.Join(keys, ", "), strings.Join(operatorNames(), ", ")))
		return nil
	}
	if !KnownField(field) {
		p.fail(at+".field", fmt.Sprintf("got %q, which is no alias that is known here", field))
	}
	var operators []string
	for _, key := range keys {
		if key != "field" {
			operators = append(operators, key)
		}
	}
	if len(operators) != 1 || operatorsByName[operators[0]] == nil {
		p.fail(at, fmt.Sprintf("got %q, want exactly one of %s", operators, strings.Join(operatorNames(), ", ")))
		return nil
	}
	name := operators[0]
	want := object[name]
	p.value(at+"."+name, want)
	if text, isText := want.(string); isText && strings.HasSuffix(strings.ToLower(name), "like") && strings.Count(text, "*") > 1 {
		p.fail(at+"."+name, fmt.Sprintf("got %q, want at most one wildcard", text))
	}
	operator := operatorsByName[name]
	return func(r Resource, ps map[string]any) Verdict {
		got := r.Field(field)
		if got == Unknown {
			return Undecided
		}
		return operator(got, resolve(want, ps))
	}
}

// operatorsByName compare what a field is with what a rule says. Texts are
// compared without regard to case, as Azure does.
// https://learn.microsoft.com/azure/governance/policy/concepts/definition-structure-policy-rule#conditions
var operatorsByName = map[string]func(got, want any) Verdict{
	"equals":    func(got, want any) Verdict { return of(same(got, want)) },
	"notEquals": func(got, want any) Verdict { return of(!same(got, want)) },
	"like":      func(got, want any) Verdict { return of(like(got, want)) },
	"notLike":   func(got, want any) Verdict { return of(!like(got, want)) },
	"in":        func(got, want any) Verdict { return of(among(got, want)) },
	"notIn":     func(got, want any) Verdict { return of(!among(got, want)) },
	"exists":    func(got, want any) Verdict { return of((got != nil) == same(want, true)) },
}

func operatorNames() []string { return slices.Sorted(maps.Keys(operatorsByName)) }

func same(a, b any) bool {
	return a != nil && b != nil && strings.EqualFold(fmt.Sprint(a), fmt.Sprint(b)) || a == nil && b == nil
}

// like matches a pattern with at most one wildcard.
func like(got, want any) bool {
	text, isText := got.(string)
	pattern, isPattern := want.(string)
	if !isText || !isPattern {
		return false
	}
	text, pattern = strings.ToLower(text), strings.ToLower(pattern)
	before, after, wild := strings.Cut(pattern, "*")
	if !wild {
		return text == pattern
	}
	return len(text) >= len(before)+len(after) && strings.HasPrefix(text, before) && strings.HasSuffix(text, after)
}

func among(got, want any) bool {
	list, _ := want.([]any)
	return slices.ContainsFunc(list, func(item any) bool { return same(got, item) })
}

func isExpression(text string) bool {
	return strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "[[")
}

// value checks the expressions of a value: a parameter, and nothing else.
func (p *parser) value(at string, v any) {
	text, isText := v.(string)
	if v == nil {
		p.fail(at, "want a value")
	}
	if !isText || !isExpression(text) {
		return
	}
	name, isParameter := parameterOf(text)
	if _, declared := p.parameters[name]; !isParameter || !declared {
		p.fail(at, fmt.Sprintf("got %q, want [parameters('name')] with one of the parameters %q", text, slices.SortedFunc(maps.Keys(p.parameters), cmp.Compare[string])))
	}
}

// parameterOf is the lower-case name in an expression that reads a parameter.
func parameterOf(text string) (string, bool) {
	inner, opened := strings.CutPrefix(text, "[parameters('")
	name, closed := strings.CutSuffix(inner, "')]")
	return strings.ToLower(name), opened && closed
}

// resolve is a value with its parameter put in.
func resolve(v any, parameters map[string]any) any {
	text, isText := v.(string)
	if !isText {
		return v
	}
	if name, isParameter := parameterOf(text); isParameter {
		return parameters[name]
	}
	return strings.Replace(text, "[[", "[", 1)
}
