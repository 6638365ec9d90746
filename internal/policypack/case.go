package policypack

import (
	"fmt"
	"strings"

	"onedoor/internal/policypack/results"
	"onedoor/internal/propvalue"
)

// Case is one resource before one rule. A rule that reports nothing passes it.
type Case struct {
	*Resource
	findings []Finding
	saw      results.Evidence // of what was judged right
	disabled []string
}

// Finding is what a rule has to say of a resource.
type Finding struct {
	State    results.State
	Reason   string
	Evidence results.Evidence
}

// NewCase is a case for a test of one rule.
func NewCase(r *Resource) *Case { return &Case{Resource: r} }

// Findings are what was found: every failure, or else why the case could not be
// decided, or else why the rule does not apply, or else that it passes.
func (c *Case) Findings() []Finding {
	for _, state := range []results.State{results.Fail, results.NotChecked, results.NotApplicable} {
		var out []Finding
		for _, f := range c.findings {
			if f.State == state {
				out = append(out, f)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return []Finding{{State: results.Pass, Evidence: c.saw}}
}

// State is that of the findings.
func (c *Case) State() results.State { return c.Findings()[0].State }

// Fail reports a value that is not as expected.
func (c *Case) Fail(v propvalue.Value, expected string) {
	c.Failf(v.Path(), v.Shown(), expected)
}

// Failf is Fail for what is not one value. got must hold nothing secret.
func (c *Case) Failf(path, got, expected string) {
	reason := fmt.Sprintf("%s is %s, want %s", orRoot(path), got, expected)
	c.findings = append(c.findings, Finding{results.Fail, reason, results.Evidence{Path: path, Value: got, Expected: expected}})
}

// Undecided reports that a value is not known, or not of the kind that it must be.
func (c *Case) Undecided(v propvalue.Value, expected string) {
	c.Undecidedf(v.Path(), expected, "%s is %s", orRoot(v.Path()), v.Shown())
}

// Undecidedf is Undecided for what is not one value.
func (c *Case) Undecidedf(path, expected, why string, args ...any) {
	c.findings = append(c.findings, Finding{results.NotChecked, fmt.Sprintf(why, args...), results.Evidence{Path: path, Value: propvalue.ShownUnknown, Expected: expected}})
}

// NotApplicable says why the rule has nothing to ask of the resource.
func (c *Case) NotApplicable(why string, args ...any) {
	c.findings = append(c.findings, Finding{State: results.NotApplicable, Reason: fmt.Sprintf(why, args...)})
}

// Must demands one of the values; texts are compared without regard to case, as
// Azure does. An absent value fails. It tells whether the demand is met.
func (c *Case) Must(v propvalue.Value, wants ...any) bool {
	return c.demand(v, oneOf(wants), false, func(got any) bool { return isOneOf(got, wants) })
}

// MustIfSet is Must for a value whose absence is as good.
func (c *Case) MustIfSet(v propvalue.Value, wants ...any) bool {
	return c.demand(v, oneOf(wants)+" or nothing", true, func(got any) bool { return isOneOf(got, wants) })
}

// MustText demands a text that holds accepts.
func (c *Case) MustText(v propvalue.Value, expected string, accepts func(string) bool) bool {
	return c.demand(v, expected, false, func(got any) bool { s, ok := got.(string); return ok && accepts(s) })
}

// MustNumber demands a number that accepts accepts.
func (c *Case) MustNumber(v propvalue.Value, expected string, accepts func(float64) bool) bool {
	return c.demand(v, expected, false, func(got any) bool { n, ok := got.(float64); return ok && accepts(n) })
}

// MustBeSet demands a value that is neither absent nor empty.
func (c *Case) MustBeSet(v propvalue.Value, expected string) bool {
	return c.demand(v, expected, false, func(got any) bool {
		switch got := got.(type) {
		case string:
			return got != ""
		case []any:
			return len(got) > 0
		case map[string]any:
			return len(got) > 0
		default:
			return true
		}
	})
}

func (c *Case) demand(v propvalue.Value, expected string, absentPasses bool, accepts func(any) bool) bool {
	switch v.State() {
	case propvalue.Unknown, propvalue.Mistyped:
		c.Undecided(v, expected)
		return false
	case propvalue.Absent:
		if !absentPasses {
			c.Fail(v, expected)
			return false
		}
	default:
		if !accepts(v.Plain(nil)) {
			c.Fail(v, expected)
			return false
		}
	}
	c.Saw(v, expected)
	return true
}

// Saw keeps a value as the evidence of a pass; the last one stays.
func (c *Case) Saw(v propvalue.Value, expected string) {
	c.saw = results.Evidence{Path: v.Path(), Value: v.Shown(), Expected: expected}
}

func isOneOf(got any, wants []any) bool {
	for _, want := range wants {
		a, isText := got.(string)
		b, wantsText := want.(string)
		if isText && wantsText && strings.EqualFold(a, b) || got == want {
			return true
		}
	}
	return false
}

func oneOf(wants []any) string {
	words := make([]string, len(wants))
	for i, w := range wants {
		words[i] = fmt.Sprint(w)
	}
	return strings.Join(words, " or ")
}

func orRoot(path string) string {
	if path == "" {
		return "the resource"
	}
	return path
}

// AllRulesOn judges the pack's own configuration, once for a stack.
func AllRulesOn(c *Case) {
	if len(c.disabled) > 0 {
		c.Failf("enforcementLevel", "disabled for "+strings.Join(c.disabled, ", "), "advisory or mandatory for every rule")
	}
}
