package policypack

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// Severity is how much harm a violation can do.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // opens a way round the doors, or to data
	High     Severity = "high"     // removes a wall that others rely on
	Medium   Severity = "medium"   // weakens operation or evidence
	Low      Severity = "low"      // a matter of order
)

var severities = map[Severity]pulumirpc.PolicySeverity{
	Critical: pulumirpc.PolicySeverity_POLICY_SEVERITY_CRITICAL,
	High:     pulumirpc.PolicySeverity_POLICY_SEVERITY_HIGH,
	Medium:   pulumirpc.PolicySeverity_POLICY_SEVERITY_MEDIUM,
	Low:      pulumirpc.PolicySeverity_POLICY_SEVERITY_LOW,
}

// Rule is one requirement and how to judge it. Exactly one of Resource and Stack
// is set.
type Rule struct {
	ID        string   // never changes and is never used again: "BAT-01"
	Title     string   // the requirement, as a sentence that holds when it is kept
	Severity  Severity // together with the profile it decides the level
	Rationale string   // what goes wrong otherwise
	Remedy    string   // what to change
	Controls  []string // of the frameworks it serves, as "MCSB NS-2" or "CIS AKS 5.4.1"
	Sources   []string // links to what it rests on
	// Types are the tokens of the resources that are judged, without versions; one
	// "*" in a token stands for any text.
	Types []string

	// Resource judges one resource by its inputs alone.
	Resource func(c *Case)
	// Stack judges one resource among all others, when all are known.
	Stack func(s *Stack, c *Case)

	// Schema describes the rule's settings as JSON schema, by property; nil
	// without any. Configure receives them as JSON.
	Schema    map[string]any
	Configure func(settings []byte) error
}

// Judges tells whether the rule looks at resources of the type.
func (r *Rule) Judges(typ string) bool {
	return slices.ContainsFunc(r.Types, func(t string) bool {
		prefix, suffix, open := strings.Cut(t, "*")
		return t == typ || open && len(typ) >= len(prefix)+len(suffix) && strings.HasPrefix(typ, prefix) && strings.HasSuffix(typ, suffix)
	})
}

// Page is where the rule is documented, relative to the repository.
func (r *Rule) Page() string { return "docs/rules/" + r.ID + ".md" }

// Pack is a set of rules with a name.
type Pack struct {
	Name        string
	Version     string // semantic; a stricter rule is a minor version, a removed one a major
	Description string
	Rules       []Rule
}

var ruleID = regexp.MustCompile(`^[A-Z0-9]{2,4}-[0-9]{2}$`)

// Check finds what is wrong with the pack itself: it has no rules, or one is
// incomplete.
func (p Pack) Check() error {
	var wrong []string
	if len(p.Rules) == 0 {
		wrong = append(wrong, "it has no rules, so every stack would pass")
	}
	seen := map[string]bool{}
	for _, r := range p.Rules {
		bad := func(format string, args ...any) { wrong = append(wrong, r.ID+": "+fmt.Sprintf(format, args...)) }
		if !ruleID.MatchString(r.ID) {
			bad("the id must look like ABC-01")
		}
		if seen[r.ID] {
			bad("the id is used twice")
		}
		seen[r.ID] = true
		if r.Title == "" || r.Rationale == "" || r.Remedy == "" || len(r.Controls) == 0 || len(r.Types) == 0 {
			bad("title, rationale, remedy, controls and types are required")
		}
		if slices.ContainsFunc(r.Controls, func(control string) bool { return !strings.Contains(control, " ") }) {
			bad("a control is a framework and a number, as MCSB NS-2")
		}
		if _, known := severities[r.Severity]; !known {
			bad("severity %q: want critical, high, medium or low", r.Severity)
		}
		if (r.Resource == nil) == (r.Stack == nil) {
			bad("it must judge either a resource or a resource in its stack")
		}
		if (r.Schema == nil) != (r.Configure == nil) {
			bad("settings need both a schema and a function that takes them")
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("policy pack %q is not sound:\n  %s", p.Name, strings.Join(wrong, "\n  "))
	}
	return nil
}
